/** Tests what an endpoint's `eth_simulateV1` really changes, not what it accepts. Asks as a preflight asks. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { indexAbis } from "../../abi/index.js";
import { lookup } from "../../Chains.js";
import { eip7825Cap, forkOf } from "../../chains/index.js";
import type { Failure } from "../../Eth.js";
import * as Eth from "../../eth/index.js";
import { askRun } from "../../pipeline/index.js";
import type { Rpc, KnownEndpoint } from "../../Rpc.js";
import { fatesOf, lacksTip, overrideNames, type Fate, type Plan, type Run } from "../../steps/index.js";
import * as Transaction from "../../Transaction.js";
import {
  finding,
  no,
  pretending,
  refusal,
  someone,
  somewhere,
  unknown,
  yes,
  type Answer,
  type Finding,
} from "./probe.js";

const group = "eth_simulateV1";
const item = (id: string, name: string, answer: Answer): Finding => finding(group, id, name, answer);

/** Wei per gas that every base fee is below. */
const much = 10n ** 15n;
const rich = { [someone]: { balance: much * 424_242n } } as const;
const elsewhere = "0x70726566000000000000000000000000000000c3";
/** Runtime code: `revert` with the bytes `deadbeef`. */
const reverts = "0x63deadbeef6000526004601cfd";

/** Calls between accounts that nobody uses, in one run; a failure is an answer, too. */
const run = (
  calls: ReadonlyArray<Eth.CallRequest>,
  changes: Partial<Plan> = {},
): Effect.Effect<Result.Result<Run, Failure>, never, Rpc> =>
  Effect.gen(function* () {
    const call = { from: someone, to: somewhere, gas: 100_000n } as const;
    const { transactions } = yield* Effect.orDie(Transaction.check(call));
    const plan: Plan = {
      ...{ name: "ample", block: "latest", before: [], after: [], blockOverrides: null, pretended: true },
      stateOverrides: rich,
      calls: calls.map((request) => ({
        input: transactions[0],
        request: { ...call, maxFeePerGas: much, maxPriorityFeePerGas: 0n, ...request },
        gas: call.gas,
      })),
      ...changes,
    };
    return yield* Effect.result(askRun(plan, indexAbis([])));
  });

/** Reads the answer of a run, else says why there was none. */
const seenIn = (ran: Result.Result<Run, Failure>, read: (run: Run) => Answer): Answer =>
  Result.isFailure(ran) ? refusal(ran.failure) : read(ran.success);

/** Something invalid is simulated with `validation`: refused is right, whatever the words. */
const mustRefuse = (kind: string, name: string, what: string, request: Eth.CallRequest) =>
  Effect.map(run([request]), (ran) => {
    const answer = seenIn(ran, ({ plan, readings }) =>
      plan.without?.has("validation") === true
        ? no("validation is refused")
        : readings[0]?.outcome.status === "success"
          ? no(`${what} was accepted`)
          : yes("refused as a failed call"),
    );
    const failure = Result.isFailure(ran) ? ran.failure : null;
    const why = failure?._tag === "RpcError" ? failure.reason._tag : failure?._tag;
    // why: a verdict, or parameters that are named invalid, are refusals; another failure is none of this request
    const isRefused = failure !== null && (failure._tag !== "RpcError" || why === "InvalidParams");
    return item(`validation.${kind}`, `validation: ${name}`, isRefused ? yes(`refused: ${why}`) : answer);
  });

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

const words: Readonly<Record<Fate, Answer>> = {
  taken: yes(),
  ignored: no("the block that was executed has another"),
  fixed: no("opcode 0x44 is the difficulty on this chain, as before EIP-4399"),
};

/** Every override at once, by the table of proofs; where that is refused, without the number, which may not follow the head's. */
const overrides = (latest: bigint | null): Effect.Effect<ReadonlyArray<Finding>, never, Rpc> =>
  Effect.gen(function* () {
    const pretend = (blockOverrides: Eth.BlockOverrides) =>
      run([{}], {
        ...{ before: [{ kind: "environment" }], blockOverrides, checksRoot: true },
        stateOverrides: { ...rich, [somewhere]: { stateDiff: { [`0x${"00".repeat(32)}`]: rare } } },
      });
    const whole = yield* pretend(latest === null ? pretended : { ...pretended, number: latest + 7n });
    const ran = Result.isFailure(whole) && latest !== null ? yield* pretend(pretended) : whole;
    const nonce = 1_000n;
    const numbered = yield* run([{ nonce }], { stateOverrides: { [someone]: { ...rich[someone], nonce } } });
    return overrideNames.map((name) => {
      const isNonce = name === "nonce";
      const from = isNonce ? numbered : name === "number" ? whole : ran;
      const answer = seenIn(from, (seen) => {
        const fate = isNonce ? "taken" : fatesOf(seen).get(name);
        return fate === undefined ? unknown("cannot be seen") : words[fate];
      });
      return finding(pretending, `override.${name}`, name, answer);
    });
  });

/** The number of the pending block; null where it has none. */
const pendingNumber = Effect.map(Eth.getBlock({ block: "pending" }), ({ number }) => number).pipe(
  Effect.catch((failure) =>
    failure._tag === "RpcError" &&
    failure.reason._tag === "MalformedResponse" &&
    failure.reason.path === "result.number"
      ? Effect.succeed(null)
      : Effect.fail(failure),
  ),
);

/** Finds what `pending` is beside the latest block. */
const pendingOf = (
  latest: bigint | null,
  chainId: number | null,
): Effect.Effect<readonly [Answer, KnownEndpoint["pending"]], never, Rpc> =>
  Effect.map(Effect.result(pendingNumber), (result) => {
    if (Result.isFailure(result)) {
      const answer = refusal(result.failure);
      return [answer, answer.status === "no" ? "refused" : null];
    }
    const number = result.success;
    if (latest === null) return [unknown("the latest block is not known"), null];
    if (number !== null && number <= latest)
      return [no("the latest block; transactions in flight are not in it"), "latest"];
    const { pending, known } = lookup(chainId);
    const words =
      pending === "preconfirmed"
        ? "ordered before you, by the chain's entry"
        : `a guess of the next block${known ? "" : ", as on every chain that has no entry"}`;
    return [yes(`block ${String(number ?? "without a number")}: ${words}`), pending];
  });

/** By whose rules the block is executed. */
const rulesIn = ({ before, block }: Run): Answer => {
  const { fork, by, agrees } = forkOf({ executed: before.environment?.fork ?? null, header: block, config: null });
  if (fork === null) return unknown("nothing tells the fork");
  const words = `${fork}, by ${by === "executed" ? "what the block executes" : "its header"}`;
  return agrees ? yes(words) : no(`${words}, but something else speaks against it`);
};

/** The last call of a run, which reverts. */
const revertIn = ({ block }: Run): Answer => {
  const { error, returnData, status } = block.calls.at(-1) ?? {};
  if (String(error?.data) === "0xdeadbeef") return yes("in error.data");
  if (String(returnData) === "0xdeadbeef") return yes("in returnData");
  return no(status === "failure" ? "lost" : "the revert was not seen");
};

/** More gas than any node has for one request. */
const plenty = 2n ** 40n;

/** How much gas a call has that asks for plenty. */
const gasCap: Effect.Effect<Answer, never, Rpc> = Effect.map(
  Effect.result(
    Eth.simulateV1({
      blocks: [{ calls: [{ from: someone, to: somewhere, gas: plenty }], blockOverrides: { gasLimit: plenty } }],
      returnFullTransactions: true,
      block: "latest",
    }),
  ),
  (result) => {
    if (Result.isFailure(result)) return unknown("the node refuses to say");
    const [transaction] = result.success[0]?.transactions ?? [];
    if (typeof transaction !== "object") return unknown("the node does not show with how much gas a call ran");
    const { gas } = transaction;
    if (gas >= plenty) return yes("no cap was seen");
    const words = `at most ${gas.toLocaleString("en")} gas`;
    return gas < eip7825Cap ? no(words) : yes(words);
  },
);

const latestBlock = Effect.map(Effect.result(Eth.getBlock({ block: "latest" })), Result.getOrNull);

/** Everything about simulations, and the facts that a new connection may be told. */
export const simulation = Effect.gen(function* () {
  const oracle = lookup(null).gasPriceOracle;
  const latest = (yield* latestBlock)?.number ?? null;
  const ran = yield* run([{ value: 1n, to: elsewhere }, {}], {
    before: [{ kind: "environment" }, { kind: "account", address: oracle }],
    stateOverrides: { ...rich, [somewhere]: { code: reverts } },
  });
  const after = (yield* latestBlock)?.number ?? null;
  const history = yield* Effect.result(
    Eth.feeHistory({ blockCount: 10, newestBlock: "latest", rewardPercentiles: [20, 50, 80] }),
  );
  const firstRun = Result.getOrNull(ran);
  const environment = firstRun?.before.environment ?? null;
  const chainId = environment === null ? null : Number(environment.chainId);
  const [pending, kind] = yield* pendingOf(latest, chainId);
  const baseFee = firstRun?.block.baseFeePerGas ?? 0n;
  return {
    findings: [
      item(
        "blockNumber",
        "simulated block is the next one",
        seenIn(ran, ({ block: { number } }) => {
          if (latest === null || after === null) return unknown("the latest block is not known");
          const text = `on block ${latest} it simulates block ${number}`;
          return number > latest && number <= after + 1n ? yes(text) : no(text);
        }),
      ),
      ...(yield* Effect.all([
        mustRefuse("nonce", "nonce", "a nonce 1,000 too high", { nonce: 1_000n }),
        firstRun !== null && baseFee < 2n
          ? Effect.succeed(
              item("validation.baseFee", "validation: base fee", unknown("the base fee is too low to fall below it")),
            )
          : mustRefuse("baseFee", "base fee", "a fee cap of 1 wei", { maxFeePerGas: 1n }),
        mustRefuse("funds", "funds", "a value the sender does not hold", { value: 10n ** 26n }),
      ])),
      item(
        "deployment",
        "deployments",
        seenIn(yield* run([{ to: null, data: "0x00" }]), () => yes()),
      ),
      item(
        "traceTransfers",
        "traceTransfers",
        seenIn(ran, ({ traced }) => (traced ? yes() : no("a transfer of ETH left no log"))),
      ),
      item(
        "maxUsedGas",
        "maxUsedGas",
        seenIn(ran, ({ block }) => (block.calls.at(-1)?.maxUsedGas == null ? no("a result does not carry it") : yes())),
      ),
      item("revertData", "revert data", seenIn(ran, revertIn)),
      item("gasCap", "gas of one simulation", yield* gasCap),
      ...(yield* overrides(latest)),
      finding("rules and pending", "rules", "fork in force", seenIn(ran, rulesIn)),
      finding("rules and pending", "pending", "pending", pending),
    ],
    facts: {
      chainId: chainId !== null && Number.isSafeInteger(chainId) && chainId > 0 ? chainId : null,
      tellsTip: Result.isSuccess(history) ? !lacksTip(history, "normal") : null,
      noFeeOracle: firstRun?.before.account(oracle)?.codeSize === 0n ? oracle : null,
    },
    fork: environment?.fork ?? null,
    pending: kind,
  };
});
