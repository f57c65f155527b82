/** The names of forks, of the pipeline's steps and of its simulated runs, as the ledger and the report use them. */
import * as Schema from "effect/Schema";

/** The forks whose rules differ for who sends a transaction, as far as what executes can tell them apart. */
export const Fork = Schema.Literals(["beforeOsaka", "osaka", "amsterdam"]);
export type Fork = typeof Fork.Type;

/** The built-in steps, which a pipeline can leave out, in the order of their findings. */
export const builtInSteps = ["code", "simulate", "estimate", "nonce", "fee", "assets", "approvals", "funds"] as const;
/** A built-in step by its name. */
export type BuiltInStep = (typeof builtInSteps)[number];
/** Everything of ours that finds, in the order of findings. */
export const stepNames = ["chain", ...builtInSteps, "policy", "proof"] as const;
// why: only of patterns with this flag does a JSON schema tell
const ownName = /^[A-Za-z0-9][\w.-]{0,39}\/[A-Za-z0-9][\w.-]{0,59}$/u;
/** A name that users give to a step or a finding of their own: whose it is, a slash, what it is (`acme/sanctions`). */
export type OwnName = `${string}/${string}`;

/** True if it can be the name of a user's step or finding. */
export const isOwnName = (value: unknown): value is OwnName => typeof value === "string" && ownName.test(value);
export const OwnName = Schema.String.pipe(Schema.check(Schema.isPattern(ownName)), Schema.refine(isOwnName));
/** The problem with a name that cannot be one. */
export const ownNameProblem =
  "must be like acme/sanctions: letters, digits, `.`, `_` and `-` on both sides of one slash, a letter or digit first";

/** A step by its name: one of ours, or a user's. */
export const StepName = Schema.Union([Schema.Literals(stepNames), OwnName]);
export type StepName = typeof StepName.Type;

/**
 * The runs, each one `eth_simulateV1`. `ample`: the calls before anything is chosen, at no base fee.
 * `readerOnly`: the witness without the calls, at the real base fee. `funded`: as `ample`, with the senders given
 * what they lack. `gas`: at another gas limit. `exact`: the exact requests. `reserved`: as `exact`, with the
 * nonces pretended that the state does not have yet. `next`: the exact requests on the sealed head, in the block that
 * comes next; where pending state did not hold still, or is none, `exact` stands there, too. `between`: the exact requests in an ordinary block between
 * those of `next` and `exact`, on the state of `next`. `twin`: in a later block that has the producer and the gas limit of `next`, and its base
 * fee or one behind empty blocks. `exactOnLatest`: as `exact`, on the state of `next`. `atNextFee`: as `exact`, at the base fee of `next`; in a scan as `ample`, at the base
 * fee that the block will have, where a call failed without one. `reordered`: the
 * exact requests of several senders, the last sender first. `oneBlockEach`: the exact requests on sealed state, each in a block
 * of its own, where `exact` has them in one. `pinned`: another run once more on a block that all endpoints of a quorum
 * have, where their heads differ.
 */
export const runNames = [
  "ample",
  "readerOnly",
  "funded",
  "gas",
  "exact",
  "reserved",
  "next",
  "between",
  "twin",
  "exactOnLatest",
  "atNextFee",
  "reordered",
  "oneBlockEach",
  "pinned",
] as const;
/** A simulated run by its name; see {@link runNames}. */
export const RunName = Schema.Literals(runNames);
export type RunName = typeof RunName.Type;

/** The key of a world, and of its run: the name, with its place where several have the name. */
export type WorldName = RunName | `${"between" | "twin" | "gas"} ${number}`;

/**
 * Why more is asked than at first. `noPending`: the endpoint has no pending state, and everything is asked on the latest
 * block. `replacement`: a transaction in flight is replaced, which the pending state holds already. `endpointChanged`: it
 * is no longer what it was remembered to be. `unsupportedPart`: it refuses a part of a request. `gasCapped`: it had too little
 * gas for all that a simulation asks, or may have had. `missingAnswer`: what was
 * left out, or was asked in vain, and nothing makes up for. `unfunded`: a sender cannot pay. `starved`, `unpriced`: a call
 * failed that may have lacked gas, or a block's price or gas limit. `speculated`: a proof's requests, sent beside the scan. `doubtfulLimit`: the outcome may hang on the gas limit. `proof`: what
 * was chosen is proven. `headMoved`: the runs stood on more than one state, or an answer named a later block than the header. `confirmHead`: whether
 * the latest block is still the one that they stood on, where the caller wants to know. `misplaced`: a run was refused for the block it
 * was put in. `forkBetween`: a fork lies between the transactions of a bundle, or between two worlds. `incomparable`: a world
 * of the proof said nothing, or not on the state as it is. `closing`: the transactions run in the next block and fail in a later one. `worldsDiffer`: whether the state or the price made the difference. `hiddenCall`: what
 * fails inside without a word. `alreadySent`: whether a call that fails is in flight. `revertTrace`: where it fails.
 * `settlement`: what follows from the receipts. `quorumPinned`: endpoints of a quorum, on a block that all of them have.
 * `tokenSlots`: where tokens keep the balances and allowances that the caller pretends, in front of all else. `batch`: how an
 * account sends a batch of calls, in front of all else; and which of them fails, behind it.
 */
export const askRules = [
  ...(["noPending", "replacement", "endpointChanged", "unsupportedPart", "missingAnswer", "unfunded"] as const),
  ...([
    "gasCapped",
    "starved",
    "unpriced",
    "doubtfulLimit",
    "speculated",
    "proof",
    "headMoved",
    "misplaced",
    "forkBetween",
  ] as const),
  ...([
    "incomparable",
    "closing",
    "confirmHead",
    "worldsDiffer",
    "hiddenCall",
    "alreadySent",
    "revertTrace",
    "settlement",
    "quorumPinned",
    "tokenSlots",
    "unsigned",
    "batch",
  ] as const),
] as const;
/** A rule for requests after the first round; see {@link askRules}. */
export const AskRule = Schema.Literals(askRules);
export type AskRule = typeof AskRule.Type;

/** Parts of every simulation that an endpoint may refuse or ignore. */
export const SimulationPart = Schema.Literals(["validation", "traceTransfers", "blockOverrides"]);
export type SimulationPart = typeof SimulationPart.Type;

/**
 * Values that code reads of the block that it runs in, by its instructions; `others` = it runs code that was not seen.
 * The gas price and the balance of an account count as `basefee`, for they follow from it; `beaconroot` = it names the
 * contract of beacon roots (EIP-4788).
 */
export const BlockRead = Schema.Literals([
  ...(["blockhash", "coinbase", "timestamp", "number", "prevrandao", "gaslimit", "basefee", "blobbasefee"] as const),
  "beaconroot",
  "others",
]);
export type BlockRead = typeof BlockRead.Type;

/** The forks of `eth_config` (EIP-7910) where nobody says anything. */
export const unknownForks: {
  /** The fork of the block that comes next; null = nothing that tells it. */
  readonly fork: typeof Fork.Type | null;
  /** When the next one activates, epoch seconds; null = none is planned. */
  readonly next: bigint | null;
} = { fork: null, next: null };

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

const seconds = (value: unknown): bigint | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? BigInt(value) : null;

/** Reads the answer of `eth_config`, whatever it is: Osaka brought P256VERIFY (EIP-7951), Amsterdam the builders' deposits. */
export const forksIn = (config: unknown): typeof unknownForks => {
  const current = field(config, "current");
  const has = (list: string, name: string) => field(field(current, list), name) !== undefined;
  if (typeof field(current, "precompiles") !== "object") return unknownForks;
  const fork = has("systemContracts", "BUILDER_DEPOSIT_CONTRACT_ADDRESS")
    ? "amsterdam"
    : has("precompiles", "P256VERIFY")
      ? "osaka"
      : "beforeOsaka";
  return { fork, next: seconds(field(field(config, "next"), "activationTime")) };
};

/** The options of a run by name, whose rows `report/options.ts` has: the only list of them. */
export const optionNames = [
  "traceReverts",
  "confirmHead",
  "speculate",
  "delegateTargets",
  "knownAddresses",
  "tokens",
  "accounts",
  "worlds",
  "abis",
  "block",
  "pending",
  "stateOverrides",
  "tokenOverrides",
  "blockOverrides",
  "policies",
  "tolerance",
  "priceBump",
  "feeLevel",
  "deadline",
  "maxAge",
  "feeHorizon",
] as const;
