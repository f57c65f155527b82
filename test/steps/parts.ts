/** Small parts for the tests of single steps: cases and what is known of them, views, and findings in short. */
import type * as Arr from "effect/Array";
import type { Chain } from "../../src/Chains.js";
import { unknownChain } from "../rooms/chains.js";
import { noExtraFees } from "../rooms/chains.js";
import { RpcError, Transport } from "../rooms/errors.js";
import { Address, Hash, Hex } from "../rooms/primitives.js";
import type { AccountCode, Finding, Outcome, OutcomeLog, Parties, Transfer } from "../rooms/report.js";
import { bundleOf, type Case, type Filled } from "../rooms/steps.js";
import type { Transaction } from "../../src/Transaction.js";
import type { WitnessAnswer, Query, View } from "../rooms/witness.js";

export const alice = Address.make("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");
export const bob = Address.make("0x70997970c51812dc3a010c7d01b50e0d17dc79c8");
export const token = Address.make("0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48");

export const hexOf = (text: string): Hex => Hex.make(text as `0x${string}`);
/** 32 bytes of a number or an address, without `0x`. */
export const word = (value: bigint | string): string =>
  (typeof value === "bigint" ? value.toString(16) : value.slice(2)).padStart(64, "0");

export const transaction = (changed: Partial<Transaction> = {}): Transaction => ({
  from: alice,
  to: bob,
  data: Hex.make("0x"),
  value: 0n,
  chainId: null,
  gas: null,
  nonce: null,
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
  gasPrice: null,
  accessList: null,
  authorizationList: null,
  blobVersionedHashes: null,
  maxFeePerBlobGas: null,
  item: null,
  ...changed,
});

/** Transactions as the cases of one bundle. */
export const bundle = (...inputs: ReadonlyArray<Partial<Transaction>>) =>
  bundleOf(inputs.map(transaction) as unknown as Arr.NonEmptyReadonlyArray<Transaction>);

/** One transaction as a bundle of one. */
export const caseOf = (changed: Partial<Transaction> = {}): Case => bundle(changed)[0];

export const outcome = (changed: Partial<Outcome> = {}): Outcome => ({
  status: "success",
  gasUsed: 50_000n,
  maxUsedGas: 50_000n,
  returnData: Hex.make("0x"),
  result: null,
  logs: [],
  trace: null,
  revert: null,
  failure: null,
  evidence: "measured",
  ...changed,
});

export const gas = (value: bigint | null, changed: Partial<Filled["gas"]> = {}): Filled["gas"] => ({
  ...{ value, by: "us", evidence: "measured", estimate: null, refusal: null },
  ...changed,
});

export const fee = (maxFeePerGas: bigint | null, changed: Partial<Filled["fee"]> = {}): Filled["fee"] => ({
  value: { gasPrice: null, maxFeePerGas, maxPriorityFeePerGas: 0n },
  ...{ by: "us", evidence: "measured", tipSource: "minimum", tipNamed: null, horizonSeconds: 60, shortenedFrom: null },
  ...changed,
});

const lives = (account: Address, kind: AccountCode["kind"]): AccountCode => ({
  ...{ account, kind, delegate: null, delegateHasCode: null, evidence: "measured" },
});
/** Who is at the two ends: a sender without code, and a receiver of the given kind. */
export const parties = ({ from, to }: Transaction, kind: AccountCode["kind"] = "nobody"): typeof Parties.Type => ({
  from: lives(from, "nobody"),
  to: to === null ? null : lives(to, kind),
  creates: null,
});

/** A case of which everything is chosen; what is not said is of no matter. */
export const filled = (one: Case, changed: Partial<Filled> = {}): Filled => ({
  ...one,
  outcome: outcome(),
  transfers: [],
  nonce: { value: one.index, by: "us", evidence: "estimated" },
  gas: gas(60_000n),
  fee: fee(2n),
  code: parties(one.input),
  charged: { extra: noExtraFees, findings: [] },
  request: null,
  ...changed,
});

export const chain = (changed: Partial<Chain> = {}): Chain => ({
  ...unknownChain,
  known: true,
  txGasCapKnown: true,
  ...changed,
});

/** A native movement. */
export const native = (transactionIndex: number, from: Address, to: Address, amount: bigint): Transfer => ({
  ...{ standard: "native", token: null, from, to, amount, tokenId: null, transaction: transactionIndex },
  evidence: "logged",
});

/** A log of `data` words under topics without `0x`. */
export const log = (address: Address, topics: ReadonlyArray<string>, data: ReadonlyArray<string> = []): OutcomeLog => ({
  ...{ address, topics: topics.map((topic) => Hash.make(`0x${topic}`)), data: hexOf(`0x${data.join("")}`) },
  decoded: null,
});

/** What the witness saw of an account with this code. */
export const account = (code = "0x", balance = 0n): WitnessAnswer<"account"> => ({
  ...{ kind: "account", balance, codeHash: Hash.make(`0x${"00".repeat(32)}`) },
  codeSize: BigInt((code.length - 2) / 2),
  codePrefix: hexOf(code.slice(0, 48)),
});

/** What a STATICCALL answered: these bytes. */
export const answer = (data: string, success = true): WitnessAnswer<"call"> => ({
  ...{ kind: "call", success, size: BigInt((data.length - 2) / 2), data: hexOf(data) },
});
/** What a STATICCALL answered: one word. */
export const answered = (...values: ReadonlyArray<bigint | string>): WitnessAnswer<"call"> =>
  answer(`0x${values.map(word).join("")}`);

export const environment = (changed: Partial<WitnessAnswer<"environment">> = {}): WitnessAnswer<"environment"> => ({
  ...{ kind: "environment", chainId: 1n, number: 101n, parentHash: Hash.make(`0x${"ab".repeat(32)}`) },
  ...{ timestamp: 1_790_000_000n, baseFeePerGas: 10n ** 9n, feeRecipient: Address.make(`0x${"fe".repeat(20)}`) },
  ...{ prevRandao: Hash.make(`0x${"00".repeat(32)}`), gasLimit: 30_000_000n, gasPrice: 0n, gasLeft: 0n, fork: "osaka" },
  ...changed,
});

const keyOf = (query: Query): string =>
  (query.kind === "environment"
    ? ""
    : query.kind === "account"
      ? query.address
      : `${query.to}${query.data}`
  ).toLowerCase();

/** A query and its answer. */
export type Row = readonly [Query, WitnessAnswer<Query["kind"]>];
/** A view in which exactly these queries were answered. */
export const seeing = (...rows: ReadonlyArray<Row>): View => {
  const answers = new Map(rows.map(([query, seen]) => [keyOf(query), seen]));
  const found = <K extends (typeof rows)[number][1]["kind"]>(query: Query, kind: K) => {
    const seen = answers.get(keyOf(query));
    return seen?.kind === kind ? (seen as Extract<typeof seen, { readonly kind: K }>) : null;
  };
  return {
    environment: found({ kind: "environment" }, "environment"),
    account: (address) => found({ kind: "account", address }, "account"),
    call: (query) => found(query, "call"),
  };
};

/** A view in which these accounts have this code, and every other none. */
export const inhabited = (codes: Readonly<Record<string, string>>): View => ({
  environment: null,
  account: (address) => account(codes[address] ?? "0x"),
  call: () => null,
});

/** A request that got no answer. */
export const unanswered = (method: string): RpcError => new RpcError({ method, reason: new Transport({ detail: "" }) });

/** `code/severity` of every finding, in order. */
export const codes = (findings: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  findings.map(({ code, severity }) => `${code}/${severity}`);
