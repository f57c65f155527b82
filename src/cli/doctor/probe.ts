/**
 * Questions to an endpoint, each with what its answer shows: methods, overrides that take effect, rules and `pending`. Runs
 * are asked as a preflight asks them.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { indexAbis } from "../../abi/index.js";
import { lookup } from "../../Chains.js";
import { forkOf } from "../../chains/index.js";
import * as Eth from "../../Eth.js";
import { sent } from "../../eth/index.js";
import type { Failure } from "../../Eth.js";
import { askRun } from "../../pipeline/index.js";
import { statementText, formatGasPrice } from "../../primitives/index.js";
import { Rpc } from "../../rpc/index.js";
import { fatesOf, lacksTip, overrideNames, type Fate, type Plan, type Run } from "../../steps/index.js";
import * as Transaction from "../../Transaction.js";
import { unreached } from "../endpoint.js";

/** A probe with its answer. `id` is stable, for programs. */
export interface ProbeResult extends Readonly<Record<"id" | "group" | "name" | "detail", string>> {
  /** `unknown`: the endpoint did not answer, so nothing is shown either way. */
  readonly status: "yes" | "no" | "unknown";
}
type ProbeAnswer = Pick<ProbeResult, "status" | "detail">;

export const yes = (detail = ""): ProbeAnswer => ({ status: "yes", detail });
export const no = (detail: string): ProbeAnswer => ({ status: "no", detail });
export const unknown = (detail: string): ProbeAnswer => ({ status: "unknown", detail });

export const finding = (group: string, id: string, name: string, { status, detail }: ProbeAnswer): ProbeResult => ({
  ...{ id, group, name, status, detail },
});

/** Failures that say nothing about what the endpoint can do: no answer, or none that is a typed refusal. */
const silent: ReadonlySet<string> = new Set([...unreached, "NodeSyncing", "MalformedResponse", "InternalError"]);

/** The HTTP status of an answer that no JSON-RPC server gives, such as a web page; null where it may be a node's. */
export const pageStatus = (failure: Failure): number | null => {
  if (failure._tag !== "RpcError") return null;
  const { reason } = failure;
  const isPage =
    reason._tag === "MalformedResponse"
      ? reason.path === "" || reason.path === "id"
      : reason.code === null && (reason.httpStatus === 404 || reason.httpStatus === 405);
  return isPage ? reason.httpStatus : null;
};

/** A failed request as an answer. */
export const refusal = (failure: Failure): ProbeAnswer => {
  const { statement } = failure._tag === "RpcError" ? failure.reason : failure;
  const detail = statementText({ ...statement, remedy: "" });
  return failure._tag === "RpcError" && silent.has(failure.reason._tag) ? unknown(detail) : no(detail);
};

/** The same of a method: whoever says what speaks against a call has it. */
const heard = (failure: Failure): ProbeAnswer =>
  failure._tag === "RpcError" ? refusal(failure) : unknown(refusal(failure).detail);

/** Accounts that nobody uses: letters of the project's name as hex. */
export const someone = "0x70726566000000000000000000000000000000a1";
export const somewhere = "0x70726566000000000000000000000000000000b2";
/** The identity precompile returns what it is given. */
const identity = "0x0000000000000000000000000000000000000004";

/** The group of the methods that a preflight rests on. */
export const needed = "the seven methods";
/** The group of what runs show. */
export const simulating = "eth_simulateV1";
/** The group of overrides. */
export const pretending = "what a simulation may pretend";

/** A question of a group. */
const probe = <A>(
  group: string,
  id: string,
  ask: Effect.Effect<A, Failure, Rpc>,
  read: (answer: A) => ProbeAnswer = () => yes(),
  name = id,
): Effect.Effect<ProbeResult, never, Rpc> =>
  Effect.map(Effect.match(ask, { onSuccess: read, onFailure: heard }), (answer) => finding(group, id, name, answer));

const call = { from: someone, to: identity, data: "0x1234" } as const;
const echoed = (data: string): ProbeAnswer =>
  data === "0x1234" ? yes() : no(`the identity precompile returned ${data.slice(0, 66)}`);
const count = (block: "latest" | "pending") => Eth.getTransactionCount({ address: someone, block });
const history = Eth.feeHistory({ blockCount: 10, newestBlock: "latest", rewardPercentiles: [20, 50, 80] });

/** The seven methods on `latest`, what helps beside them, and what is asked on `pending`. */
export const methodProbes: ReadonlyArray<Effect.Effect<ProbeResult, never, Rpc>> = [
  probe(needed, "eth_getCode", Eth.getCode({ address: somewhere, block: "latest" })),
  probe(needed, "eth_getTransactionCount", count("latest")),
  probe(needed, "eth_call", Eth.call({ ...call, block: "latest" }), echoed),
  probe(needed, "eth_estimateGas", Eth.estimateGas({ from: someone, to: somewhere, block: "latest" }), (gas) =>
    yes(`${gas} gas for an empty call`),
  ),
  probe(
    needed,
    "eth_simulateV1",
    Eth.simulateV1({ blocks: [{ calls: [{ ...call, gas: 100_000n }] }], block: "latest" }),
    (blocks) => echoed(blocks[0]?.calls[0]?.returnData ?? "nothing"),
  ),
  // why: a filter without topics ends the process of Remix's node
  probe(needed, "eth_getLogs", Eth.getLogs({ address: somewhere, topics: [] })),
  probe(needed, "eth_getBlockReceipts", Eth.getBlockReceipts({ block: "latest" }), ({ length }) =>
    yes(`${length} in the latest block`),
  ),
  probe("beside them", "eth_chainId", Eth.chainId, (id) => yes(`chain ${id}`)),
  probe("beside them", "eth_feeHistory", history),
  probe("beside them", "eth_getBlockByNumber", Eth.getBlock({ block: "latest" }), ({ number, baseFeePerGas }) =>
    yes(`latest is block ${number}${baseFeePerGas === null ? "" : `, base fee ${formatGasPrice(baseFeePerGas)}`}`),
  ),
  probe("pending state", "pending.eth_getTransactionCount", count("pending"), undefined, "eth_getTransactionCount"),
  probe(
    "pending state",
    "pending.eth_simulateV1",
    Eth.simulateV1({ blocks: [{ calls: [] }], block: "pending" }),
    (blocks) => yes(`simulates block ${blocks[0]?.number ?? "not said"}`),
    "eth_simulateV1",
  ),
];

/** Wei per gas that every base fee is below. */
const much = 10n ** 15n;
const rich = { [someone]: { balance: much * 424_242n } } as const;

/** A call between accounts that nobody uses, in one run; a failure is an answer, too. */
const run = Effect.fnUntraced(function* (request: Eth.CallRequest, changes: Partial<Plan> = {}) {
  const transfer = { from: someone, to: somewhere, gas: 100_000n } as const;
  const { transactions } = yield* Effect.orDie(Transaction.check(transfer));
  const priced = { ...transfer, maxFeePerGas: much, maxPriorityFeePerGas: 0n, ...request };
  const plan: Plan = {
    ...{ name: "ample", block: "latest", before: [], after: [], blockOverrides: null, pretended: true },
    stateOverrides: rich,
    calls: [{ input: transactions[0], request: priced, gas: transfer.gas }],
    ...changes,
  };
  return yield* sent(askRun(plan, indexAbis([])));
});

/** Reads the answer of a run, else says why there was none. */
const seenIn = (ran: Result.Result<Run, Failure>, read: (run: Run) => ProbeAnswer): ProbeAnswer =>
  Result.isFailure(ran) ? refusal(ran.failure) : read(ran.success);

const rare = `0x${"5e".repeat(32)}` as const;
/** Values that no block of its own would have. */
const pretended: Eth.BlockOverrides = {
  time: 4_102_444_800n,
  gasLimit: 123_456_789n,
  feeRecipient: somewhere,
  prevRandao: rare,
  baseFeePerGas: 1_234_567n,
  blobBaseFee: 7_654_321n,
  beaconRoot: `0x${"be".repeat(32)}`,
};

const words: Readonly<Record<Fate, ProbeAnswer>> = {
  taken: yes(),
  ignored: no("the block that was executed has another"),
  fixed: no("opcode 0x44 is the difficulty on this chain, as before EIP-4399"),
};

/** Every override at once, by the table of proofs; where that is refused, without the number, which may not follow the head's. */
const overrides = Effect.fnUntraced(function* (head: Pick<Eth.Block, "number" | "difficulty"> | null) {
  const latest = head?.number ?? null;
  const values = head?.difficulty ? { ...pretended, difficulty: head.difficulty } : pretended;
  const pretend = (blockOverrides: Eth.BlockOverrides) =>
    run(
      {},
      {
        ...{ before: [{ kind: "environment" }], blockOverrides, checksRoot: true },
        stateOverrides: { ...rich, [somewhere]: { stateDiff: { [`0x${"00".repeat(32)}`]: rare } } },
      },
    );
  const whole = yield* pretend(latest === null ? values : { ...values, number: latest + 7n });
  const ran = Result.isFailure(whole) && latest !== null ? yield* pretend(values) : whole;
  const nonce = 1_000n;
  const numbered = yield* run({ nonce }, { stateOverrides: { [someone]: { ...rich[someone], nonce } } });
  return overrideNames.map((name) => {
    const from = name === "nonce" ? numbered : name === "number" ? whole : ran;
    const answer = seenIn(from, (seen) => {
      const fate = name === "nonce" ? "taken" : fatesOf(seen).get(name);
      return fate === undefined ? unknown("cannot be seen") : words[fate];
    });
    return finding(pretending, `override.${name}`, name, answer);
  });
});

/** Finds what `pending` is beside the latest block. */
const pendingOf = Effect.fnUntraced(function* (latest: bigint | null, chainId: number | null) {
  const block = yield* Effect.result(Eth.getBlock({ block: "pending" }));
  if (Result.isFailure(block)) {
    const { failure } = block;
    const isUnnumbered =
      failure._tag === "RpcError" &&
      failure.reason._tag === "MalformedResponse" &&
      failure.reason.path === "result.number";
    const answer = refusal(failure);
    if (!isUnnumbered) return { answer, pending: answer.status === "no" ? ("refused" as const) : null };
  }
  if (latest === null) return { answer: unknown("the latest block is not known"), pending: null };
  const number = Result.isSuccess(block) ? block.success.number : null;
  if (number !== null && number <= latest)
    return { answer: no("the latest block; transactions in flight are not in it"), pending: "latest" as const };
  const { pending, known } = lookup(chainId);
  const kind =
    pending === "preconfirmed"
      ? "ordered before you, by the chain's entry"
      : `a guess of the next block${known ? "" : ", as on every chain that has no entry"}`;
  return { answer: yes(`block ${String(number ?? "without a number")}: ${kind}`), pending };
});

/** By whose rules the block is executed. */
const rulesIn = ({ before, block }: Run): ProbeAnswer => {
  const { fork, by, agrees } = forkOf({ executed: before.environment?.fork ?? null, header: block, config: null });
  if (fork === null) return unknown("nothing tells the fork");
  const rules = `${fork}, by ${by === "executed" ? "what the block executes" : "its header"}`;
  return agrees ? yes(rules) : no(`${rules}, but something else speaks against it`);
};

/** Answers of a simulated call, each by its name. */
const readings: Readonly<Record<string, (run: Run) => ProbeAnswer>> = {
  validation: ({ plan }) => (plan.without?.has("validation") === true ? no("refused") : yes()),
  deployment: () => yes(),
  traceTransfers: ({ traced }) => (traced ? yes() : no("a transfer of ETH left no log")),
  maxUsedGas: ({ readings }) =>
    readings.at(-1)?.outcome.maxUsedGas == null ? no("a result does not carry it") : yes(),
};

const chainIdIn = ({ environment }: Run["before"]): number | null => {
  const chainId = Number(environment?.chainId ?? 0n);
  return Number.isSafeInteger(chainId) && chainId > 0 ? chainId : null;
};

/** Everything about simulations, and the facts that a new connection may be told. */
export const simulation = Effect.gen(function* () {
  const oracle = lookup(null).gasPriceOracle;
  const latest = yield* Effect.result(Eth.getBlock({ block: "latest" }));
  const ran = yield* run({ value: 1n }, { before: [{ kind: "environment" }, { kind: "account", address: oracle }] });
  const deployed = yield* run({ to: null, data: "0x00" });
  const fees = yield* Effect.result(history);
  const seen = Result.getOrNull(ran)?.before ?? null;
  const chainId = seen === null ? null : chainIdIn(seen);
  const number = Result.getOrNull(latest)?.number ?? null;
  const { answer, pending } = yield* pendingOf(number, chainId);
  return {
    findings: [
      ...Object.entries(readings).map(([name, read]) =>
        finding(simulating, name, name, seenIn(name === "deployment" ? deployed : ran, read)),
      ),
      ...(yield* overrides(Result.getOrNull(latest))),
      finding("rules and pending", "rules", "fork in force", seenIn(ran, rulesIn)),
      finding("rules and pending", "pending", "pending", answer),
    ],
    facts: {
      chainId,
      tellsTip: Result.isSuccess(fees) ? !lacksTip(fees, "normal") : null,
      noFeeOracle: seen?.account(oracle)?.codeSize === 0n ? oracle : null,
    },
    fork: seen?.environment?.fork ?? null,
    pending,
  };
});
