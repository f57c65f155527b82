/** What an endpoint's `eth_simulateV1` really does: not what it accepts, what it changes. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import * as Eth from "../../eth/index.js";
import type { Hex } from "../../primitives/hex.js";
import { shortAddress } from "../../primitives/text.js";
import type { Rpc } from "../../rpc/index.js";
import {
  finding,
  no,
  probing,
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
const probe = probing(group);
const rich = { [someone]: { balance: 10n ** 18n } };
const free = { blockOverrides: { baseFeePerGas: 0n } };

/** Runtime code: `return 42`. */
const returns42 = "0x602a60005260206000f3";
/** Runtime code: `return block.timestamp`. */
const returnsTime = "0x4260005260206000f3";
/** Runtime code: `revert` with the bytes `deadbeef`. */
const reverts = "0x63deadbeef6000526004601cfd";
const running = (code: Hex) => ({ stateOverrides: { [somewhere]: { code } } });

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;
const ran42 = (data: string): Answer => (data === word(42n) ? yes() : no("the code given was not run"));

type Call = NonNullable<Eth.BlockStateCall["calls"]>[number];

/** One empty call between accounts that nobody uses, but for what is said otherwise. */
export const simulate = (
  said: Call = {},
  entry: Omit<Eth.BlockStateCall, "calls"> = {},
  flags: { readonly validation?: boolean; readonly traceTransfers?: boolean } = {},
): Effect.Effect<Eth.CallResult, Failure, Rpc> =>
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

/** Something invalid is simulated with `validation`: refused is right, whatever the words. */
const mustRefuse = (what: string, kind: string, name: string, said: Call, entry: Omit<Eth.BlockStateCall, "calls">) =>
  probe(
    `validation.${kind}`,
    `validation: ${name}`,
    simulate(said, entry, { validation: true }),
    (call) => (call.status === "failure" ? yes("refused as a failed call") : no(`${what} was accepted`)),
    (failure) => {
      const answer = refusal(failure);
      if (answer.status === "unknown") return answer;
      const unsupported = failure._tag === "RpcError" && failure.reason._tag.startsWith("MethodNot");
      return unsupported ? answer : yes(`refused: ${failure._tag === "RpcError" ? failure.reason._tag : failure._tag}`);
    },
  );

const baseFee: Effect.Effect<Finding, never, Rpc> = Effect.flatMap(
  Effect.result(Eth.simulateV1({ blocks: [{ calls: [] }], block: "latest", validation: true })),
  (simulated) => {
    const told = (answer: Answer) =>
      Effect.succeed(finding(group, "validation.baseFee", "validation: base fee", answer));
    if (Result.isFailure(simulated)) return told(refusal(simulated.failure));
    if ((simulated.success[0]?.baseFeePerGas ?? 0n) < 2n)
      return told(unknown("the base fee is too low to fall below it"));
    const cheap = { maxFeePerGas: 1n, maxPriorityFeePerGas: 0n };
    return mustRefuse("a fee cap of 1 wei", "baseFee", "base fee", cheap, { stateOverrides: rich });
  },
);

const numbering: Effect.Effect<Finding, never, Rpc> = probe(
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
  mustRefuse("a nonce 1,000 too high", "nonce", "nonce", { nonce: 1_000n }, { stateOverrides: rich, ...free }),
  baseFee,
  mustRefuse("a value the sender does not hold", "funds", "funds", { value: 10n ** 26n }, free),
  probe("stateOverride", "state override", simulate({}, running(returns42)), ({ returnData }) => ran42(returnData)),
  probe(
    "blockOverride",
    "block override",
    simulate({}, { ...running(returnsTime), blockOverrides: { time: 4_102_444_800n } }),
    (call) => (call.returnData === word(4_102_444_800n) ? yes() : no("the time given was not used")),
  ),
  probe(
    "traceTransfers",
    "traceTransfers",
    simulate({ value: 1n }, { stateOverrides: rich, ...free }, { traceTransfers: true }),
    ({ logs }) => {
      const log = logs.find(({ topics }) => topics.length === 3);
      return log === undefined
        ? no("a transfer of ETH left no log")
        : yes(`logs by ${/^0xe{40}$/i.test(log.address) ? "0xeeee…eeee" : shortAddress(log.address)}`);
    },
  ),
  probe("maxUsedGas", "maxUsedGas", simulate(), (call) =>
    call.maxUsedGas === null ? no("a result does not carry it") : yes(),
  ),
  probe("revertData", "revert data", simulate({}, running(reverts)), ({ error, returnData, status }) =>
    String(error?.data) === "0xdeadbeef"
      ? yes("in error.data")
      : String(returnData) === "0xdeadbeef"
        ? yes("in returnData")
        : no(status === "failure" ? "lost" : "the revert was not seen"),
  ),
];

/** The same question for the fallback, `eth_call`. */
export const callOverride: Effect.Effect<Finding, never, Rpc> = probing("eth_call")(
  "eth_call.stateOverride",
  "state override",
  Eth.call({ from: someone, to: somewhere, block: "latest", ...running(returns42) }),
  ran42,
);
