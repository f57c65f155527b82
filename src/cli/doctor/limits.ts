/** How much an endpoint takes at once: a few questions, each as large as a large wallet would ask. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { formatGas, grouped } from "../../primitives/units.js";
import * as Eth from "../../Eth.js";
import { Rpc } from "../../Rpc.js";
import { no, refusal, someone, somewhere, unknown, yes, type Answer, type Failure, type Finding } from "./probe.js";

/** A finding, and the limit that it found; null = none. */
export interface Limit {
  readonly finding: Finding;
  readonly most: number | null;
}

const group = "limits";
const limit = (id: string, name: string, answer: Answer, most: number | null): Limit => ({
  finding: { id: `limits.${id}`, group, name, ...answer },
  most,
});

const spans = [1_000, 10_000, 100_000];

/** The most blocks that a refusal names, of those that are fewer than were asked for. */
const namedBy = (failure: Failure, asked: number): number | null => {
  if (failure._tag !== "RpcError" || failure.reason._tag !== "LogRangeTooLarge") return null;
  const { suggested, max } = failure.reason;
  const named = suggested === null ? max : suggested.to - suggested.from + 1n;
  return named !== null && named > 0n && named < BigInt(asked) ? Number(named) : null;
};

/** Blocks of one `eth_getLogs`, of an address that has none: up to 100,000, in at most three questions. */
export const logRange: Effect.Effect<Limit, never, Rpc> = Effect.gen(function* () {
  const about = ["logRange", "blocks of one eth_getLogs"] as const;
  const rpc = yield* Rpc;
  const head = yield* Effect.result(Eth.getBlock({ block: "latest" }));
  if (Result.isFailure(head)) return limit(...about, unknown("the latest block is not known"), null);
  const latest = head.success.number ?? 0n;
  let most: number | null = null;
  for (const span of spans) {
    const from = latest >= BigInt(span) ? latest - BigInt(span) + 1n : 0n;
    const filter = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${latest.toString(16)}`, address: somewhere };
    const answer = yield* Effect.result(rpc.request("eth_getLogs", [filter]));
    const asked = Number(latest - from + 1n);
    if (Result.isFailure(answer)) {
      const named = namedBy(answer.failure, asked) ?? most;
      const { status, detail } = refusal(answer.failure);
      if (status === "unknown") return limit(...about, unknown(detail), most);
      return limit(
        ...about,
        no(`${grouped(asked)} are refused${named === null ? "" : `, ${grouped(named)} are not`}: ${detail}`),
        named,
      );
    }
    most = asked;
    // why: a chain that is short tells of no limit
    if (from === 0n) return limit(...about, yes(`all ${grouped(asked)} that there are`), null);
  }
  return limit(...about, yes(`at least ${grouped(most ?? 1)}`), most);
});

/** Runtime code: `return gas()`. */
const returnsGas = "0x5a60005260206000f3";
/** More than any chain's blocks hold. */
const muchGas = 1_000_000_000_000n;
const there = { [somewhere]: { code: returnsGas } } as const;

const seenGas = (id: string, name: string, answer: Result.Result<string, Failure>): Limit => {
  if (Result.isFailure(answer)) {
    const { status, detail } = refusal(answer.failure);
    return limit(
      id,
      name,
      status === "unknown" ? unknown(detail) : no(`${formatGas(muchGas)} are refused: ${detail}`),
      null,
    );
  }
  if (!/^0x[0-9a-f]{64}$/i.test(answer.success)) return limit(id, name, no("the code given was not run"), null);
  const gas = BigInt(answer.success);
  if (gas === 0n || gas > muchGas) return limit(id, name, no("the gas that was seen is none"), null);
  return limit(id, name, yes(`of ${formatGas(muchGas)} a call sees ${formatGas(gas)}`), Number(gas));
};

/** Gas that the GAS opcode sees where far too much is asked for. */
export const callGas: Effect.Effect<Limit, never, Rpc> = Effect.map(
  Effect.result(Eth.call({ from: someone, to: somewhere, gas: muchGas, block: "latest", stateOverrides: there })),
  (answer) => seenGas("callGas", "gas of eth_call", answer),
);

/** The same in a simulation, in a block that would hold it. */
export const simulationGas: Effect.Effect<Limit, never, Rpc> = Effect.map(
  Effect.result(
    Eth.simulateV1({
      blocks: [
        {
          calls: [{ from: someone, to: somewhere, gas: muchGas }],
          stateOverrides: there,
          blockOverrides: { gasLimit: muchGas * 2n },
        },
      ],
      block: "latest",
    }),
  ),
  (answer) =>
    seenGas(
      "simulationGas",
      "gas of eth_simulateV1",
      Result.map(answer, ([block]) => block?.calls[0]?.returnData ?? "0x"),
    ),
);

/** Bytes of a request: what a bundle of large deployments may come to, and what every gateway should take. */
const sizes = [4_500_000, 1_000_000];

/** A request that is long by code which it pretends for an account that nobody calls. */
export const bodySize: Effect.Effect<Limit, never, Rpc> = Effect.gen(function* () {
  const about = ["bodyBytes", "bytes of one request"] as const;
  let why = "";
  for (const bytes of sizes) {
    const code = `0x${"00".repeat(bytes / 2)}` as const;
    const ask = Eth.call({ from: someone, to: somewhere, block: "latest", stateOverrides: { [someone]: { code } } });
    const answer = yield* Effect.result(ask);
    if (Result.isSuccess(answer))
      return limit(
        ...about,
        why === "" ? yes(`at least ${grouped(bytes)}`) : no(`${grouped(bytes)} are taken, ${why}`),
        bytes,
      );
    const { status, detail } = refusal(answer.failure);
    if (status === "unknown" && why === "" && bytes === sizes.at(-1)) return limit(...about, unknown(detail), null);
    why = `${grouped(bytes)} are refused: ${detail}`;
  }
  return limit(...about, no(why), null);
});
