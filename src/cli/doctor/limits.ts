/** How much an endpoint takes at once: a few questions, each as large as a large wallet would ask. */
import * as Effect from "effect/Effect";
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import { formatGas, grouped } from "../../primitives/units.js";
import * as Eth from "../../eth/index.js";
import { Rpc } from "../../rpc/index.js";
import { finding, no, refusal, someone, somewhere, unknown, yes, type Answer, type Failure } from "./probe.js";
import { simulate } from "./simulation.js";

/** What was found, and the limit that it amounts to; null = none. */
interface Limit {
  readonly answer: Answer;
  readonly most: number | null;
}
const limit = (answer: Answer, most: number | null): Limit => ({ answer, most });

const spans = [1_000, 10_000, 100_000];

/** The most blocks that a refusal names, of those that are fewer than were asked for. */
const namedBy = (failure: Failure, asked: number): number | null => {
  if (failure._tag !== "RpcError" || failure.reason._tag !== "LogRangeTooLarge") return null;
  const { suggested, max } = failure.reason;
  const named = suggested === null ? max : suggested.to - suggested.from + 1n;
  return named !== null && named > 0n && named < BigInt(asked) ? Number(named) : null;
};

/** Blocks of one `eth_getLogs`, of an address that has none: up to 100,000, in at most three questions. */
const logRange: Effect.Effect<Limit, never, Rpc> = Effect.gen(function* () {
  const rpc = yield* Rpc;
  const head = yield* Effect.result(Eth.getBlock({ block: "latest" }));
  if (Result.isFailure(head)) return limit(unknown("the latest block is not known"), null);
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
      if (status === "unknown") return limit(unknown(detail), most);
      const taken = named === null ? "" : `, ${grouped(named)} are not`;
      return limit(no(`${grouped(asked)} are refused${taken}: ${detail}`), named);
    }
    most = asked;
    // why: a chain that is short tells of no limit
    if (from === 0n) return limit(yes(`all ${grouped(asked)} that there are`), null);
  }
  return limit(yes(`at least ${grouped(most ?? 1)}`), most);
});

/** Runtime code: `return gas()`. */
const returnsGas = "0x5a60005260206000f3";
/** More than any chain's blocks hold. */
const muchGas = 1_000_000_000_000n;
const there = { [somewhere]: { code: returnsGas } } as const;

const seenGas = (answer: Result.Result<string, Failure>): Limit => {
  if (Result.isFailure(answer)) {
    const { status, detail } = refusal(answer.failure);
    return limit(status === "unknown" ? unknown(detail) : no(`${formatGas(muchGas)} are refused: ${detail}`), null);
  }
  if (!/^0x[0-9a-f]{64}$/i.test(answer.success)) return limit(no("the code given was not run"), null);
  const gas = BigInt(answer.success);
  if (gas === 0n || gas > muchGas) return limit(no("the gas that was seen is none"), null);
  return limit(yes(`of ${formatGas(muchGas)} a call sees ${formatGas(gas)}`), Number(gas));
};

/** Gas that the GAS opcode sees where far too much is asked for. */
const callGas: Effect.Effect<Limit, never, Rpc> = Effect.map(
  Effect.result(Eth.call({ from: someone, to: somewhere, gas: muchGas, block: "latest", stateOverrides: there })),
  seenGas,
);

/** The same in a simulation, in a block that would hold it. */
const simulationGas: Effect.Effect<Limit, never, Rpc> = Effect.map(
  Effect.result(simulate({ gas: muchGas }, { stateOverrides: there, blockOverrides: { gasLimit: muchGas * 2n } })),
  (answer) => seenGas(Result.map(answer, ({ returnData }) => returnData)),
);

/** Bytes of a request: what a bundle of large deployments may come to, and what every gateway should take. */
const sizes = [4_500_000, 1_000_000];

/** A request that is long by code which it pretends for an account that nobody calls. */
const bodyBytes: Effect.Effect<Limit, never, Rpc> = Effect.gen(function* () {
  let why = "";
  for (const bytes of sizes) {
    const code = `0x${"00".repeat(bytes / 2)}` as const;
    const ask = Eth.call({ from: someone, to: somewhere, block: "latest", stateOverrides: { [someone]: { code } } });
    const answer = yield* Effect.result(ask);
    if (Result.isSuccess(answer))
      return limit(why === "" ? yes(`at least ${grouped(bytes)}`) : no(`${grouped(bytes)} are taken, ${why}`), bytes);
    const { status, detail } = refusal(answer.failure);
    if (status === "unknown" && why === "" && bytes === sizes.at(-1)) return limit(unknown(detail), null);
    why = `${grouped(bytes)} are refused: ${detail}`;
  }
  return limit(no(why), null);
});

const names = {
  logRange: "blocks of one eth_getLogs",
  callGas: "gas of eth_call",
  simulationGas: "gas of eth_simulateV1",
  bodyBytes: "bytes of one request",
};

/** All of them, one after another. */
export const limits = Effect.map(
  Effect.all({ logRange, callGas, simulationGas, bodyBytes }, { concurrency: 1 }),
  (found) => ({
    findings: Rows.collect(found, (id, { answer }) => finding("limits", `limits.${id}`, names[id], answer)),
    limits: Rows.map(found, ({ most }) => most),
  }),
);
