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
import { fromError, note, type Finding } from "../report/finding.js";
import type { Address, Hex } from "../primitives/hex.js";
import type { RpcError } from "../errors/rpc.js";
import { InitCodeTooLarge, NoCode, SenderNotEoa, type Verdict } from "../errors/verdicts.js";
import type { Rpc } from "../Rpc.js";
import type { Transaction } from "../Transaction.js";
import { authorityOf } from "../transaction/signer.js";
import type { Answer } from "../witness/answers.js";
import type { Query } from "../witness/queries.js";
import type { AccountCode, Code } from "../report/parts.js";

type Failure = RpcError | Verdict;

/** What `eth_getCode` answered for each account. */
export type Codes = ReadonlyMap<Address, Result.Result<Hex, Failure>>;

/** What the witness saw of an account before and after the bundle; undefined where it saw nothing. */
export interface Seen {
  readonly before: Answer | undefined;
  readonly after: Answer | undefined;
  /** Whether code that is only there after the bundle was there for this transaction. */
  readonly appears: Appearance;
}

/** When code came to an address: before a transaction ran, only after it, or nobody can tell. */
export type Appearance = "before" | "after" | "unclear";

/** What a bundle itself may put at addresses, by transaction. */
export interface Makers {
  /** Where each deployment puts its contract; null for calls and unknown nonces. */
  readonly creates: ReadonlyArray<Address | null>;
  /** The accounts whose authorisations each transaction carries. */
  readonly authorities: ReadonlyArray<ReadonlyArray<Address>>;
  /** Whether each transaction can run code at all. */
  readonly runs: ReadonlyArray<boolean>;
}

/** Where a deployment with this nonce puts its contract; null for calls. */
export const createdBy = (transaction: Transaction, nonce: number | null): Address | null =>
  transaction.to === null && nonce !== null
    ? (getContractAddress({ from: transaction.from as ViemAddress, nonce: BigInt(nonce) }).toLowerCase() as Address)
    : null;

/** What the transactions of a bundle may bring into being. */
export const makersOf = (transactions: ReadonlyArray<Transaction>, nonces: ReadonlyArray<number | null>): Makers => ({
  creates: transactions.map((transaction, index) => createdBy(transaction, nonces[index] ?? null)),
  authorities: transactions.map(({ authorizationList }) =>
    (authorizationList ?? []).flatMap((entry) => authorityOf(entry) ?? []),
  ),
  runs: transactions.map(({ to, data }) => to === null || data.length > 2),
});

/**
 * Whether code that an account has only after the bundle was there when transaction `index` called it.
 * A call to an empty address runs nothing, so it cannot have put the code there itself; its own
 * authorisations take effect before it runs.
 */
export const appearanceOf = (account: Address, index: number, { creates, authorities, runs }: Makers): Appearance => {
  const makes = (at: number): boolean => creates[at] === account || authorities[at]?.includes(account) === true;
  if (authorities[index]?.includes(account) === true) return "before";
  const at = creates.findIndex((_, position) => makes(position));
  if (at !== -1) return at < index ? "before" : "after";
  if (!runs.slice(0, index).some(Boolean)) return "after";
  return runs.slice(index + 1).some(Boolean) ? "unclear" : "before";
};

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
  /^0xef0100[0-9a-fA-F]{40}$/.test(code) ? `0x${code.slice(8).toLowerCase()}` : null;

/** 0x01 to 0x11 (Prague's BLS12-381 included) and P256VERIFY at 0x100 (EIP-7951, RIP-7212). */
const isPrecompile = (account: Address): boolean => {
  const number = BigInt(account);
  return (number >= 1n && number <= 0x11n) || number === 0x100n;
};

const codeIn = (given: Answer | undefined): string | null =>
  given?.kind !== "account" ? null : given.codeSize > 23n ? `${given.codePrefix}..` : given.codePrefix;

const isCode = (code: string | null): code is string => code !== null && code.length > 2;

/**
 * The kind of one account from everything that saw it. What the witness read in the very state that was
 * simulated decides; where `eth_getCode` claims code that was not there, the call ran nothing and nobody
 * can say what it would do: `unknown`.
 */
export const decideAccount = (
  account: Address,
  answer: Result.Result<Hex, Failure> | undefined,
  { before, after, appears }: Seen,
): AccountCode => {
  const asked = answer !== undefined && Result.isSuccess(answer) ? (answer.success as string) : null;
  const [had, has] = [codeIn(before), appears === "after" ? null : codeIn(after)];
  const none = { account, delegate: null, delegateHasCode: null } as const;
  const kindOf = (code: string, evidence: AccountCode["evidence"]): AccountCode => {
    const delegate = delegateOf(code);
    return delegate === null
      ? { ...none, kind: "contract", evidence }
      : { ...none, kind: "delegated", delegate, evidence };
  };
  const unclear = { ...none, kind: "unknown", evidence: "unavailable" } as const;
  // an authorisation of the bundle may change a delegation: the later word counts
  if (isCode(had)) return kindOf(isCode(has) && delegateOf(had) !== null ? has : had, "measured");
  if (isCode(has)) return appears === "unclear" ? unclear : kindOf(has, "measured");
  if (isCode(asked)) return had === null ? kindOf(asked, "estimated") : unclear;
  if (had === null && has === null && asked === null)
    return isPrecompile(account) ? { ...none, kind: "precompile", evidence: "assumed" } : unclear;
  const evidence = had === null && has === null ? "estimated" : "measured";
  return { ...none, kind: isPrecompile(account) ? "precompile" : "nobody", evidence };
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
  const creates = createdBy(transaction, options.nonce);
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
          {
            verdict: "who lives at the address when it is called is not known: the sources disagree or do not say",
            evidence: account.account,
            remedy: "ask again, or another node",
          },
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
    // why: chains that nobody described may allow more; there the node's own simulation decides
    const severity = options.chain.known ? "blocker" : "warning";
    if (size > limit) findings.push(fromError(new InitCodeTooLarge({ size, limit }), severity, where));
  }
  return { output: { from, to, creates }, findings };
};
