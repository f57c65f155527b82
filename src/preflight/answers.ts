/** What a round of questions brought home: every answer standing for itself, and what they say together. Pure. */
import type { Chain, Lookup } from "../Chains.js";
import type { FeeSubject } from "../chains/feeModel.js";
import type * as Eth from "../Eth.js";
import type { Address, Hex } from "../primitives/hex.js";
import type { Finding } from "../report/finding.js";
import type { Observed, ReportOptions } from "../report/schema.js";
import type { Codes } from "../steps/code.js";
import type { Counts } from "../steps/nonce.js";
import { failureOf, successOf, type Failure, type Heard } from "../steps/reading/heard.js";
import { quoteOf, type FeeFacts, type Quote } from "../steps/reading/quote.js";
import type { Run } from "../steps/simulate.js";
import { either, unseen, type View } from "../witness/view.js";

/** What a node without simulation said through `eth_call`. */
export interface Called {
  /** Of the first transaction; the others depend on it and could not be asked. */
  readonly first: Heard<Hex>;
  /** The witness's answers; null when it could not be injected. */
  readonly view: View | null;
}

/** Every answer of one round; null = not asked. */
export interface Round {
  readonly block: Observed["blockTag"];
  /** By `eth_chainId`. */
  readonly namedChainId: Heard<number> | null;
  readonly codes: Codes;
  readonly counts: ReadonlyMap<Address, Counts>;
  readonly fees: FeeFacts;
  /** Of the first transaction. */
  readonly estimate: Heard<bigint> | null;
  /** The run that the report's figures are from. */
  readonly run: Heard<Run> | null;
  /** The witness alone, at the real base fee. */
  readonly alone: Heard<Run> | null;
  /** Set where the node does not simulate. */
  readonly called: Called | null;
  /** The refusal for want of funds that was answered by giving the senders some; null when there was none. */
  readonly unfunded: Failure | null;
  /** What the witness was asked L1 fees about. */
  readonly subjectOf: (one: { readonly index: number }) => FeeSubject | null;
  /** What was found on the way: sources that had to be replaced. */
  readonly findings: ReadonlyArray<Finding>;
}

/** The round, and what it says of the world, whichever request said it. */
export interface Answers extends Omit<Round, "run" | "alone"> {
  readonly run: Run | null;
  /** Why there is no run; null when there is one, or none was asked. */
  readonly refused: Failure | null;
  readonly alone: Run | null;
  /** Why the witness alone got no answer. */
  readonly aloneRefused: Failure | null;
  /** What the witness saw before the user's calls, and after them. */
  readonly before: View;
  readonly after: View;
  /** What it read at the chain's fee oracles. */
  readonly oracles: View;
  /** Native balances before the bundle, wei: never from a run in which they were pretended. */
  readonly balanceOf: (account: Address) => bigint | null;
  readonly chain: Chain;
  readonly chainId: number | null;
  /** The latest block. */
  readonly header: Eth.Block | null;
  /** Base fee of the simulated block, wei per gas: the real one, for a run may pretend none. */
  readonly simulatedBaseFee: bigint | null;
  readonly blockGasLimit: bigint | null;
  readonly quote: Quote;
  /** Seconds for which fees shall hold. */
  readonly horizonSeconds: number;
}

const safe = (value: bigint | undefined): number | null =>
  value !== undefined && value > 0n && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;

/** Whether a run pretends that gas is free, so that it says nothing of the base fee, the block's gas limit, or what gas cost. */
export const isFree = ({ name }: Run): boolean => name === "bare" || name === "funded";

/** What a round says; `named` = the chain that the input names. */
export const answersOf = (round: Round, chains: Lookup, options: ReportOptions, named: number | null): Answers => {
  const [run, alone] = [successOf(round.run), successOf(round.alone)];
  const called = round.called?.view ?? unseen;
  const before = either(either(run?.before ?? unseen, alone?.before ?? unseen), called);
  const honest = run?.plan.pretended === true ? (alone?.before ?? unseen) : before;
  const real = alone?.before.environment ?? (run === null || isFree(run) ? null : run.before.environment);
  const header = successOf(round.fees.header);
  const chainId = safe(before.environment?.chainId) ?? successOf(round.namedChainId);
  const chain = chains(chainId ?? named);
  const simulatedBaseFee = real?.baseFeePerGas ?? alone?.block.baseFeePerGas ?? null;
  return {
    ...round,
    run,
    refused: failureOf(round.run),
    alone,
    aloneRefused: failureOf(round.alone),
    before,
    after: run?.after ?? unseen,
    oracles: alone?.before ?? unseen,
    balanceOf: (account) => honest.account(account)?.balance ?? null,
    chain,
    chainId,
    header,
    simulatedBaseFee,
    blockGasLimit: real?.gasLimit ?? alone?.block.gasLimit ?? header?.gasLimit ?? null,
    quote: quoteOf(round.fees, {
      chain,
      level: options.feeLevel,
      horizonSeconds: options.feeHorizonSeconds,
      simulatedBaseFee,
      parentHash: before.environment?.parentHash ?? null,
    }),
    horizonSeconds: options.feeHorizonSeconds,
  };
};
