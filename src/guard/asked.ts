/** One request to a guard, and whether the guard has a say in it. Pure. */
import { safely } from "../primitives/index.js";

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

/** As it was asked, once and for all: what was judged is passed on, whatever becomes of the caller's object meanwhile. */
export const snapshot = (asked: Asked): Asked => {
  const { params, ...others } = asked;
  // guard: a request that is changed while it is proven
  const copy = safely(() => JSON.parse(JSON.stringify(params ?? [])) as unknown, null);
  return { ...others, params: copy };
};

/** Its parameters; none where they are no list. */
export const paramsOf = ({ params }: Asked): ReadonlyArray<unknown> => (Array.isArray(params) ? params : []);
