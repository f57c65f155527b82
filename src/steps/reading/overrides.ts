/**
 * The overrides of a simulation in one table: what is asked of each in a run, what was seen of it, and which code it can
 * matter to. Proofs, reports and `doctor` judge an endpoint by it. Pure.
 */
import { OverrideIgnored, RpcError } from "../../errors/rpc.js";
import type * as Eth from "../../eth/index.js";
import type { Hash, Hex } from "../../primitives/hex.js";
import type { BlockRead } from "../../primitives/names.js";
import { wordOf } from "../../abi/words.js";
import { code, fromError } from "../../report/finding.js";
import { readUint256 } from "../../witness/answers.js";
import type { Placement } from "../../witness/placement.js";
import { staticCall } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";
import { beaconRoots } from "./blockReads.js";
import type { Plan } from "./plan.js";

/** Values of the block and of the state that may be overridden. */
export type Override =
  | Exclude<keyof Eth.BlockOverrides, "timestamp" | "difficulty" | "withdrawals">
  | Exclude<keyof Eth.StateOverrides[string], "state" | "stateDiff" | "movePrecompileToAddress">
  | "storage";

/** A run as far as it tells of overrides. */
export interface OverrideRun {
  readonly plan: Plan;
  readonly block: Pick<Eth.SimulatedBlock, "number" | "difficulty">;
  readonly before: View;
  /** The placement of the witness; null = not known. */
  readonly at: Placement | null;
  /** True if the account of the witness had no code. */
  readonly isCodeless: boolean;
}

/** Code: without calldata it returns its first word of storage, else BLOBBASEFEE. */
const readerCode: Hex = "0x36600c575f545f5260205ff35b4a5f5260205ff3";
const firstSlot: Hash = wordOf(0);
const readerGas = 50_000;

const rootQuery = (time: Eth.BlockOverrides["time"]) => staticCall(beaconRoots, wordOf(BigInt(time ?? 0)), readerGas);
const blobQuery = ({ reader }: Placement) => staticCall(reader, "0x01", readerGas);
const storageQuery = ({ reader }: Placement) => staticCall(reader, "0x", readerGas);
/** A word that no storage holds. */
const rareWord = ({ sender }: Placement): Hash => wordOf(BigInt(sender));

/** The kind of storage override that accounts of a plan have; null = none has any. */
const storageIn = ({ stateOverrides }: Plan): "state" | "stateDiff" | null => {
  const accounts = Object.values(stateOverrides ?? {});
  return (["state", "stateDiff"] as const).find((kind) => accounts.some((account) => account[kind] != null)) ?? null;
};

/** The fate of an override in a run: `fixed` = the chain itself lets nobody vary it. */
export type Fate = "taken" | "ignored" | "fixed";

/** The reads of its block by the code that is called; null = no code is called. */
type Called = ReadonlyArray<BlockRead> | null;

const isRead = (called: Called, reads: ReadonlyArray<BlockRead>): boolean =>
  reads.some((read) => called?.includes(read) === true);

/** A value of the block, and the reads of code that it can matter to. */
const ofBlock = (
  reads: ReadonlyArray<BlockRead>,
  key: keyof Eth.BlockOverrides,
  seen: (run: OverrideRun) => unknown,
): (typeof rows)[Override] => ({
  pair: (run) => [run.plan.blockOverrides?.[key], seen(run)],
  matters: (called) => isRead(called, reads),
});
const always = () => true;

const rows: {
  readonly [Name in Override]: {
    /** The value asked for and the value seen; null or undefined as either: it was not asked, or cannot be seen. */
    readonly pair: (run: OverrideRun) => readonly [asked: unknown, seen: unknown];
    /** True if it can matter, where a run did not take it. */
    readonly matters: (called: Called, run: OverrideRun) => boolean;
  };
} = {
  number: {
    // why: NUMBER may be another chain's (Arbitrum), the answer's own is not
    pair: ({ plan: { blockOverrides }, block, before }) => [
      blockOverrides?.number,
      block.number === blockOverrides?.number ? block.number : before.environment?.number,
    ],
    // why: of a sealed state the number tells which block it is of
    matters: (called, { plan }) => plan.block !== "pending" || isRead(called, ["number", "blockhash", "others"]),
  },
  time: ofBlock(["timestamp", "others"], "time", ({ before }) => before.environment?.timestamp),
  feeRecipient: ofBlock(["coinbase", "others"], "feeRecipient", ({ before }) => before.environment?.feeRecipient),
  gasLimit: ofBlock(["gaslimit", "others"], "gasLimit", ({ before }) => before.environment?.gasLimit),
  baseFeePerGas: ofBlock(["basefee", "others"], "baseFeePerGas", ({ before }) => before.environment?.baseFeePerGas),
  prevRandao: ofBlock(["prevrandao", "others"], "prevRandao", ({ before }) => before.environment?.prevRandao),
  blobBaseFee: ofBlock(["blobbasefee", "others"], "blobBaseFee", ({ at, before }) =>
    at === null ? null : (readUint256(before.call(blobQuery(at))) ?? "none"),
  ),
  beaconRoot: {
    pair: ({ plan: { checksRoot, blockOverrides }, before }) => {
      const answer = checksRoot === true ? before.call(rootQuery(blockOverrides?.time)) : null;
      // why: where the chain has no such contract, nobody can read the root
      const isNone = checksRoot !== true || (answer?.success === true && answer.size === 0n);
      return isNone ? [null, null] : [blockOverrides?.beaconRoot ?? "refused", answer?.data ?? "none"];
    },
    matters: (called) => isRead(called, ["beaconroot"]),
  },
  // why: the witness is paid by one; a node that ignores it refuses the run
  balance: { pair: ({ before }) => [true, before.environment && true], matters: always },
  // why: no instruction reads it, and senders' are held against it by the node's own validation
  nonce: { pair: () => [null, null], matters: always },
  // why: the witness is one
  code: { pair: ({ before, isCodeless }) => [true, isCodeless ? false : before.environment && true], matters: always },
  storage: {
    pair: ({ plan, at, before }) =>
      at === null || storageIn(plan) === null
        ? [null, null]
        : [rareWord(at), before.call(storageQuery(at))?.data ?? "none"],
    matters: (called) => called !== null,
  },
};

/** Every override. */
export const overrideNames = Object.keys(rows) as ReadonlyArray<Override>;

/** The fate of each override that was asked in a run and can be seen. */
export const fatesOf = (run: OverrideRun): ReadonlyMap<Override, Fate> => {
  const { block, before } = run;
  const difficulty = block.difficulty ?? 0n;
  // why: where a block has a difficulty, opcode 0x44 gives that (EIP-4399)
  const isDifficulty = difficulty > 0n && BigInt(before.environment?.prevRandao ?? 0) === difficulty;
  const fates = new Map<Override, Fate>();
  for (const name of overrideNames) {
    const [asked, seen] = rows[name].pair(run);
    // why: of a witness that is silent nothing else can be said
    const isSilent = before.environment === null && name !== "code";
    if (isSilent || asked == null || seen == null) continue;
    const isTaken = asked === seen || String(asked).toLowerCase() === String(seen).toLowerCase();
    fates.set(name, isTaken ? "taken" : name === "prevRandao" && isDifficulty ? "fixed" : "ignored");
  }
  return fates;
};

/** Queries for overrides that the witness's other queries do not show, and the account that it reads there. */
export const overrideReader = (plan: Plan, at: Placement) => {
  const kind = storageIn(plan);
  const { blobBaseFee, time } = plan.blockOverrides ?? {};
  const queries = [...(blobBaseFee == null ? [] : [blobQuery(at)]), ...(kind === null ? [] : [storageQuery(at)])];
  const storage = kind === null ? {} : { [kind]: { [firstSlot]: rareWord(at) } };
  return {
    queries: [...queries, ...(plan.checksRoot === true ? [rootQuery(time)] : [])],
    state: queries.length === 0 ? {} : { [at.reader]: { code: readerCode, ...storage } },
  };
};

/**
 * The chain does not have EIP-4399 (BNB Smart Chain, for example): code sees the difficulty in place of randomness, and
 * the simulations have that of the latest block.
 * @warning where the called code has the opcode
 */
export const DifficultyNotVaried = code("proof", ["info", "warning"], "DifficultyNotVaried", [
  "opcode 0x44 is the block's difficulty on this chain, which the simulations do not vary",
  "limit the loss with policies if the contract draws lots by it",
]);

/** That overrides had no effect. */
export const ignoring = (overrides: ReadonlyArray<Override>): RpcError =>
  new RpcError({ method: "eth_simulateV1", reason: new OverrideIgnored({ detail: "", overrides }) });

/**
 * Reports values that an endpoint did not vary in the runs of a proof; where no code is called, none that code alone
 * can see. `further` = those that are known to have had no effect, whatever the runs show.
 */
export const checkOverrides = (
  runs: ReadonlyArray<OverrideRun>,
  called: Called,
  further: ReadonlyArray<Override> = [],
) => {
  const judged = runs.map((run) => ({ run, fates: fatesOf(run) }));
  const where = { step: "proof", evidence: "measured" } as const;
  /** Each override with this fate in a run, and true if it can matter there. */
  const having = (fate: Fate) => {
    const found = new Map<Override, boolean>();
    for (const name of overrideNames)
      for (const { run, fates } of judged)
        if (fates.get(name) === fate || (fate === "ignored" && further.includes(name)))
          found.set(name, found.get(name) === true || rows[name].matters(called, run));
    return [...found];
  };
  const ignored = having("ignored");
  const told = (isDeciding: boolean, severity: "unavailable" | "info") => {
    const overrides = ignored.flatMap(([name, decides]) => (decides === isDeciding ? name : []));
    return overrides.length === 0 ? [] : [fromError(ignoring(overrides), severity, where)];
  };
  const decided = told(true, "unavailable");
  if (called === null) return decided;
  const severity = called.includes("prevrandao") ? "warning" : "info";
  const fixed = having("fixed").map(() => DifficultyNotVaried[severity]({ evidence: "measured" }));
  return [...decided, ...told(false, "info"), ...fixed];
};
