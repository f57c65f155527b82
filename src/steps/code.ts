/**
 * Who sends and who receives: contract, delegated account (EIP-7702), precompile, or nobody.
 *
 * Asks `eth_getCode`, one request per account; the witness reads the same inside the simulation,
 * before and after, because `eth_getCode` may lag behind the state that is simulated on and cannot
 * see what the bundle itself deploys.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { getContractAddress, type Address as ViemAddress } from "viem";
import * as Eth from "../Eth.js";
import type { Chain } from "../Chains.js";
import { fromError, note, type Finding } from "../errors/finding.js";
import type { Address, Hex } from "../errors/hex.js";
import type { RpcError } from "../errors/rpc.js";
import { InitCodeTooLarge, NoCode, SenderNotEoa, type Verdict } from "../errors/verdicts.js";
import type { Rpc } from "../Rpc.js";
import type { Transaction } from "../Transaction.js";
import type { Answer } from "../witness/answers.js";
import type { Query } from "../witness/queries.js";
import type { AccountCode, Code } from "./outputs.js";

type Failure = RpcError | Verdict;

/** What `eth_getCode` answered for each account. */
export type Codes = ReadonlyMap<Address, Result.Result<Hex, Failure>>;

/** What the witness saw of an account before and after; undefined where it saw nothing. */
export interface Seen {
  readonly before: Answer | undefined;
  readonly after: Answer | undefined;
}

/** Every account whose code matters, each once. */
export const accounts = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<Address> => [
  ...new Set(transactions.flatMap(({ from, to }) => (to === null ? [from] : [from, to]))),
];

/** What the witness should look at. */
export const queries = (transactions: ReadonlyArray<Transaction>): ReadonlyArray<Query> =>
  accounts(transactions).map((address) => ({ kind: "account", address }));

/** `eth_getCode` for every account at once; never fails, each answer stands for itself. */
export const ask = Effect.fnUntraced(function* (
  addresses: ReadonlyArray<Address>,
  block: Eth.BlockParameter,
): Effect.fn.Return<Codes, never, Rpc> {
  const answers = yield* Effect.forEach(
    addresses,
    (address) => Effect.map(Effect.result(Eth.getCode({ address, block })), (answer) => [address, answer] as const),
    { concurrency: "unbounded" },
  );
  return new Map(answers);
});

/** EIP-7702: `0xef0100` and the delegate's 20 bytes. */
const delegateOf = (code: string): Address | null =>
  /^0xef0100[0-9a-fA-F]{40}$/.test(code) ? (`0x${code.slice(8).toLowerCase()}` as Address) : null;

/** 0x01 to 0x11 (Prague's BLS12-381 included) and P256VERIFY at 0x100 (EIP-7951, RIP-7212). */
const isPrecompile = (account: Address): boolean => {
  const number = BigInt(account);
  return (number >= 1n && number <= 0x11n) || number === 0x100n;
};

/** The code one source saw: its first 23 bytes and whether there is more. */
interface Sight {
  readonly code: string;
  readonly measured: boolean;
}

const sights = (answer: Result.Result<Hex, Failure> | undefined, seen: Seen): ReadonlyArray<Sight> => {
  const read = (given: Answer | undefined): ReadonlyArray<Sight> =>
    given?.kind === "account"
      ? [{ code: given.codeSize > 23n ? `${given.codePrefix}..` : given.codePrefix, measured: true }]
      : [];
  const asked =
    answer !== undefined && Result.isSuccess(answer) ? [{ code: answer.success as string, measured: false }] : [];
  return [...read(seen.before), ...asked, ...read(seen.after)];
};

/** The kind of one account from everything that saw it: code anywhere counts, a contract before a delegation. */
export const decideAccount = (
  account: Address,
  answer: Result.Result<Hex, Failure> | undefined,
  seen: Seen,
): AccountCode => {
  const all = sights(answer, seen);
  const evidence = all.some(({ measured }) => measured) ? "measured" : all.length > 0 ? "estimated" : "unavailable";
  const none = { account, delegate: null, delegateHasCode: null, evidence } as const;
  const filled = all.filter(({ code }) => code.length > 2);
  if (filled.some(({ code }) => delegateOf(code) === null)) return { ...none, kind: "contract" };
  const delegate = filled.length === 0 ? null : delegateOf(filled[filled.length - 1]?.code ?? "");
  if (delegate !== null) return { ...none, kind: "delegated", delegate };
  if (isPrecompile(account)) return { ...none, kind: "precompile" };
  return { ...none, kind: all.length > 0 ? "nobody" : "unknown" };
};

/** Code and findings of one transaction. */
export interface Decision {
  readonly output: Code;
  readonly findings: ReadonlyArray<Finding>;
}

/**
 * Decides who the transaction is from and to.
 *
 * Blockers: `SenderNotEoa`, `NoCode`, `InitCodeTooLarge`. What could not be seen by anyone is
 * `unavailable`, with the error of `eth_getCode`.
 */
export const decide = (
  transaction: Transaction,
  index: number,
  codes: Codes,
  see: (account: Address) => Seen,
  options: {
    readonly nonce: number | null;
    readonly chain: Chain;
    readonly delegateHasCode: (delegate: Address) => boolean | null;
  },
): Decision => {
  const where = { step: "code", transaction: index } as const;
  const look = (account: Address): AccountCode => {
    const found = decideAccount(account, codes.get(account), see(account));
    return found.delegate === null ? found : { ...found, delegateHasCode: options.delegateHasCode(found.delegate) };
  };
  const from = look(transaction.from);
  const to = transaction.to === null ? null : look(transaction.to);
  const creates =
    to === null && options.nonce !== null
      ? (getContractAddress({
          from: transaction.from as ViemAddress,
          nonce: BigInt(options.nonce),
        }).toLowerCase() as Address)
      : null;
  const findings: Array<Finding> = [];
  const hasData = transaction.data.length > 2;
  for (const account of to === null || to.account === from.account ? [from] : [from, to]) {
    const answer = codes.get(account.account);
    if (account.kind === "unknown" && answer !== undefined && Result.isFailure(answer))
      findings.push(fromError(answer.failure, "unavailable", where));
    else if (account.kind === "unknown")
      findings.push(
        note(
          "EvidenceReduced",
          "unavailable",
          { verdict: "nobody could say who lives at the address", evidence: account.account },
          where,
        ),
      );
    else if (answer !== undefined && Result.isFailure(answer)) findings.push(fromError(answer.failure, "info", where));
  }
  if (from.kind === "contract") findings.push(fromError(new SenderNotEoa({ account: from.account }), "blocker", where));
  if (from.kind === "delegated") {
    findings.push(
      note(
        "AccountDelegated",
        "info",
        { verdict: "the sender delegates to a contract (EIP-7702)", evidence: `delegate ${from.delegate}` },
        where,
      ),
    );
  }
  if (to?.kind === "nobody" && hasData) findings.push(fromError(new NoCode({ account: to.account }), "blocker", where));
  if (to?.kind === "delegated" && to.delegateHasCode === false && hasData) {
    findings.push(
      note(
        "DelegateWithoutCode",
        "warning",
        {
          verdict: "the receiver delegates to an address without code; the calldata does nothing",
          evidence: `delegate ${to.delegate}`,
          remedy: "check the receiver",
        },
        where,
      ),
    );
  }
  if (to?.kind === "precompile" && transaction.value > 0n) {
    findings.push(
      note(
        "ValueToPrecompile",
        "warning",
        {
          verdict: "value is sent to a precompile and cannot be recovered",
          evidence: to.account,
          remedy: "check the receiver",
        },
        where,
      ),
    );
  }
  if (to === null) {
    const size = BigInt((transaction.data.length - 2) / 2);
    const limit = BigInt(options.chain.maxInitCodeSize);
    if (size > limit) findings.push(fromError(new InitCodeTooLarge({ size, limit }), "blocker", where));
  }
  return { output: { from, to, creates }, findings };
};
