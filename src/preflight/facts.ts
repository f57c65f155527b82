/** What a round brings home: every answer as it came, standing for itself, before anything is decided. */
import * as Result from "effect/Result";
import type { Finding } from "../report/finding.js";
import type { Address, Hex } from "../primitives/hex.js";
import type { RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import type * as Eth from "../Eth.js";
import type { Codes } from "../steps/code.js";
import type { L1Subject } from "../steps/reading/l1Fee.js";
import type { FeeFacts } from "../steps/fee.js";
import type { Counts } from "../steps/nonce.js";
import type { Lookup, Simulated } from "../steps/simulate.js";
import type { Answer } from "../witness/answers.js";

/** A request that could not be answered. */
export type Failure = RpcError | Verdict;

/** What a node without simulation said through `eth_call`. */
export interface Called {
  /** One per transaction; null where it depends on an earlier one and could not be asked. */
  readonly calls: ReadonlyArray<Result.Result<Hex, Failure> | null>;
  /** The witness's answers; null when it could not be injected. */
  readonly lookup: Lookup | null;
}

/** One round's answers. */
export interface Facts {
  readonly block: Eth.BlockParameter;
  readonly chainId: Result.Result<number, Failure>;
  readonly codes: Codes;
  readonly counts: ReadonlyMap<Address, Counts>;
  readonly fees: FeeFacts;
  /** Of the first transaction; null where it was not asked. */
  readonly estimate: Result.Result<bigint, Failure> | null;
  /** The simulated block with the user's calls. */
  readonly main: Result.Result<Simulated, Failure>;
  /** The block with the witness alone. */
  readonly probe: Result.Result<Simulated, Failure>;
  /** Set in the tier without simulation. */
  readonly called: Called | null;
  /** The gas limit that each call ran with. */
  readonly gasGiven: ReadonlyArray<bigint>;
  /** Whether the main run pretended something about the senders: their balance, or their nonce. */
  readonly pretended: boolean;
  /** The refusal that was answered by pretending to have the funds; null when there was none. */
  readonly refusal: Failure | null;
  /** What the witness was asked L1 fees about, by transaction. */
  readonly l1Subjects: ReadonlyArray<L1Subject | null>;
  /** What was found on the way: sources that had to be replaced. */
  readonly findings: ReadonlyArray<Finding>;
}

const successOf = <A>(result: Result.Result<A, Failure>): A | null =>
  Result.isSuccess(result) ? result.success : null;

const nothing: Lookup = () => undefined;

/** What the facts say about the world, whichever request said it. */
export interface World {
  readonly main: Simulated | null;
  readonly probe: Simulated | null;
  /** What the witness read before the user's calls: in the main run, else in the probe. */
  readonly before: Lookup;
  readonly after: Lookup;
  /** What the witness read about fees beyond gas. */
  readonly fees: Lookup;
  /** Real native balances before the bundle, wei: never from a run in which they were pretended. */
  readonly balances: (accounts: ReadonlyArray<Address>) => ReadonlyMap<Address, bigint>;
  readonly environment: Extract<Answer, { readonly kind: "environment" }> | null;
  readonly chainId: number | null;
  readonly header: Eth.Block | null;
  /** Base fee of the simulated block, wei per gas; from the probe, for the main run may pretend none. */
  readonly baseFeePerGas: bigint | null;
  readonly blockGasLimit: bigint | null;
}

const environmentIn = (lookup: Lookup | null | undefined): World["environment"] => {
  const answer = lookup?.({ kind: "environment" });
  return answer?.kind === "environment" ? answer : null;
};

const safe = (value: bigint | undefined): number | null =>
  value !== undefined && value > 0n && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;

/** Reads the facts. `realBaseFee`: whether the main run's own base fee is the chain's (in `prove`) or pretended (in `scan`). */
export const readWorld = (facts: Facts, realBaseFee: boolean): World => {
  const [main, probe] = [successOf(facts.main), successOf(facts.probe)];
  const called = facts.called?.lookup;
  const environment = environmentIn(main?.before) ?? environmentIn(probe?.before) ?? environmentIn(called);
  const real = environmentIn(probe?.before) ?? (realBaseFee ? environmentIn(main?.before) : null);
  const header = successOf(facts.fees.header);
  const before: Lookup = (query) => main?.before(query) ?? probe?.before(query) ?? called?.(query);
  const honest: Lookup = facts.pretended ? (query) => probe?.before(query) : before;
  return {
    main,
    probe,
    before,
    after: main?.after ?? nothing,
    fees: probe?.before ?? nothing,
    balances: (accounts) =>
      new Map(
        accounts.flatMap((address) => {
          const seen = honest({ kind: "account", address });
          return seen?.kind === "account" ? [[address, seen.balance] as const] : [];
        }),
      ),
    environment,
    chainId: safe(environment?.chainId) ?? successOf(facts.chainId),
    header,
    baseFeePerGas: real?.baseFeePerGas ?? probe?.block.baseFeePerGas ?? null,
    blockGasLimit: real?.gasLimit ?? probe?.block.gasLimit ?? header?.gasLimit ?? null,
  };
};
