/** What an endpoint's `eth_simulateV1` really does: not what it accepts, what it changes. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { shortAddress } from "../../primitives/text.js";
import * as Eth from "../../Eth.js";
import type { Rpc } from "../../Rpc.js";
import {
  no,
  probe,
  refusal,
  someone,
  somewhere,
  unknown,
  yes,
  type Answer,
  type Failure,
  type Finding,
} from "./probe.js";

const group = "eth_simulateV1";
const rich = { [someone]: { balance: 10n ** 18n } };

/** Runtime code: `return 42`. */
const returns42 = "0x602a60005260206000f3";
/** Runtime code: `return block.timestamp`. */
const returnsTime = "0x4260005260206000f3";
/** Runtime code: `revert` with the bytes `deadbeef`. */
const reverts = "0x63deadbeef6000526004601cfd";
const word = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;

type Call = NonNullable<Eth.BlockStateCall["calls"]>[number];

/** One empty call between accounts that nobody uses, but for what is said otherwise. */
const simulate = (
  said: Call = {},
  entry: Omit<Eth.BlockStateCall, "calls"> = {},
  flags: { readonly validation?: boolean; readonly traceTransfers?: boolean } = {},
) =>
  Effect.flatMap(
    Eth.simulateV1({
      blocks: [{ ...entry, calls: [{ from: someone, to: somewhere, gas: 100_000n, ...said }] }],
      block: "latest",
      ...flags,
    }),
    ([block]) => {
      const call = block?.calls[0];
      return call === undefined
        ? Effect.die("an answer that does not match the request is refused before")
        : Effect.succeed(call);
    },
  );

type Ran = Eth.CallResult;

/** Something invalid was simulated with `validation`: refused is right, whatever the words. */
const mustRefuse = (what: string, id: string, name: string, ask: Effect.Effect<Ran, Failure, Rpc>) =>
  probe(
    group,
    id,
    name,
    ask,
    (call) => (call.status === "failure" ? yes("refused as a failed call") : no(`${what} was accepted`)),
    (failure) => {
      const answer = refusal(failure);
      if (answer.status === "unknown") return answer;
      const unsupported = failure._tag === "RpcError" && failure.reason._tag.startsWith("MethodNot");
      return unsupported ? answer : yes(`refused: ${failure._tag === "RpcError" ? failure.reason._tag : failure._tag}`);
    },
  );

const free = { blockOverrides: { baseFeePerGas: 0n } };

const baseFee: Effect.Effect<Finding, never, Rpc> = Effect.flatMap(
  Effect.result(
    Effect.map(Eth.simulateV1({ blocks: [{ calls: [] }], block: "latest", validation: true }), ([block]) => block),
  ),
  (result): Effect.Effect<Finding, never, Rpc> => {
    const id = "validation.baseFee";
    const name = "validation: base fee";
    const known = Result.isSuccess(result) ? result.success?.baseFeePerGas : null;
    if (Result.isFailure(result)) return Effect.succeed({ id, group, name, ...refusal(result.failure) });
    if (known === null || known === undefined || known < 2n)
      return Effect.succeed({ id, group, name, ...unknown("the base fee is too low to fall below it") });
    return mustRefuse(
      "a fee cap of 1 wei",
      id,
      name,
      simulate({ maxFeePerGas: 1n, maxPriorityFeePerGas: 0n }, { stateOverrides: rich }, { validation: true }),
    );
  },
);

const traced = (call: Ran): Answer => {
  const log = call.logs.find(({ topics }) => topics.length === 3);
  return log === undefined
    ? no("a transfer of ETH left no log")
    : yes(`logs by ${/^0xe{40}$/i.test(log.address) ? "0xeeee…eeee" : shortAddress(log.address)}`);
};

const numbering: Effect.Effect<Finding, never, Rpc> = probe(
  group,
  "blockNumber",
  "simulated block is the next one",
  Effect.all(
    [
      Effect.option(Eth.getBlock({ block: "latest" })),
      Eth.simulateV1({ blocks: [{ calls: [] }], block: "latest" }),
      Effect.option(Eth.getBlock({ block: "latest" })),
    ],
    { concurrency: 1 },
  ),
  ([before, [block], after]) => {
    if (before._tag === "None" || after._tag === "None" || block === undefined)
      return unknown("the latest block is not known");
    const text = `on block ${before.value.number} it simulates block ${block.number}`;
    return block.number > before.value.number && block.number <= after.value.number + 1n ? yes(text) : no(text);
  },
);

/** Overrides, validation, transfers and what a result carries. */
export const simulationProbes: ReadonlyArray<Effect.Effect<Finding, never, Rpc>> = [
  numbering,
  mustRefuse(
    "a nonce 1,000 too high",
    "validation.nonce",
    "validation: nonce",
    simulate({ nonce: 1_000n }, { stateOverrides: rich, ...free }, { validation: true }),
  ),
  baseFee,
  mustRefuse(
    "a value the sender does not hold",
    "validation.funds",
    "validation: funds",
    simulate({ value: 10n ** 26n }, free, { validation: true }),
  ),
  probe(
    group,
    "stateOverride",
    "state override",
    simulate({}, { stateOverrides: { [somewhere]: { code: returns42 } } }),
    (call) => (call.returnData === word(42n) ? yes() : no("the code given was not run")),
  ),
  probe(
    group,
    "blockOverride",
    "block override",
    simulate({}, { stateOverrides: { [somewhere]: { code: returnsTime } }, blockOverrides: { time: 4_102_444_800n } }),
    (call) => (call.returnData === word(4_102_444_800n) ? yes() : no("the time given was not used")),
  ),
  probe(
    group,
    "traceTransfers",
    "traceTransfers",
    simulate({ value: 1n }, { stateOverrides: rich, ...free }, { traceTransfers: true }),
    traced,
  ),
  probe(group, "maxUsedGas", "maxUsedGas", simulate(), (call) =>
    call.maxUsedGas === null ? no("a result does not carry it") : yes(),
  ),
  probe(
    group,
    "revertData",
    "revert data",
    simulate({}, { stateOverrides: { [somewhere]: { code: reverts } } }),
    (call) =>
      String(call.error?.data) === "0xdeadbeef"
        ? yes("in error.data")
        : String(call.returnData) === "0xdeadbeef"
          ? yes("in returnData")
          : no(call.status === "failure" ? "lost" : "the revert was not seen"),
  ),
];

/** The same question for the fallback, `eth_call`. */
export const callOverride: Effect.Effect<Finding, never, Rpc> = probe(
  "eth_call",
  "eth_call.stateOverride",
  "state override",
  Eth.call({
    from: someone,
    to: somewhere,
    block: "latest",
    stateOverrides: { [somewhere]: { code: returns42 } },
  }),
  (data) => (data === word(42n) ? yes() : no("the code given was not run")),
);
