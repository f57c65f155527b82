/** One request to a guard, and whether the guard has a say in it. Pure. */

/** One request, as EIP-1193 has it. */
export interface Asked {
  readonly method: string;
  readonly params?: unknown;
}

/** Whether a wallet is asked to connect and to sign something with that (EIP-7846). */
export const isConnecting = ({ method, params }: Asked): boolean =>
  method === "wallet_connect" && JSON.stringify(params ?? null).includes('"capabilities"');

/**
 * Whether a guard has a say: by name, in whichever namespace, what signs or sends, on another's behalf too, or gives a right
 * to do so; and what tells of calls that were sent. Everything else passes.
 */
export const isJudged = (asked: Asked): boolean =>
  /(^|_)(re)?(sign|send|submit|post|broadcast|invoke|grant|swap|upgrade|requestExecution)/i.test(asked.method) ||
  asked.method === "wallet_getCallsStatus" ||
  isConnecting(asked);
