/** The same answers give the same report, whenever and in whatever order they come: recorded once, replayed many times. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { emptyTape, layerRecorder, layerReplay, type Tape } from "../../src/testing.js";
import { Aggregator, GasReader, Gate, Swap, Token } from "../contracts/artifacts.js";
import { nested } from "../harness/accuracy/cases.js";
import { furnish, transferOf } from "./furnished.js";
import { calldata, layerOf, nobody, other, owner, scenesFor, type AnyInput, type Scene } from "./scene.js";

/** Of each kind; REPLAYS sets how many, 200 in the long proof. */
const replays = Number(process.env["REPLAYS"] ?? 10);

/** A replay whose requests go out late, and whose answers come late, each by a time of its own. */
const delayed = (tape: Tape): Layer.Layer<Rpc.Rpc> => {
  const someTime = Effect.suspend(() => Effect.sleep(Math.random() * 3));
  const replay = layerReplay(structuredClone(tape));
  return Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) =>
      Rpc.Rpc.of({
        ...node,
        request: (method, params) =>
          someTime.pipe(
            Effect.andThen(Effect.result(node.request(method, params))),
            Effect.tap(someTime),
            Effect.flatMap(Effect.fromResult),
          ),
      }),
    ),
  ).pipe(Layer.provideMerge(replay));
};

/** A report without what is the clock's, and what is another's for not being the node. */
const told = (report: Report): string =>
  JSON.stringify(
    {
      ...report,
      observed: { ...report.observed, at: 0 },
      ledger: {
        rounds: report.ledger.rounds,
        requests: report.ledger.requests.map(({ round, method, step, run, tries }) => [
          round,
          method,
          step,
          run,
          tries,
        ]),
      },
    },
    (_, value: unknown) => (typeof value === "bigint" ? String(value) : value),
  );

describe.each(scenesFor("replays"))("on %s", (_, start) => {
  let scene: Scene;
  let inputs: Readonly<Record<string, AnyInput>>;
  beforeAll(async () => {
    const furnished = await furnish(start);
    ({ scene } = furnished);
    const { token, gate } = furnished;
    const gold = await scene.deploy(Token, ["Gold", "GLD", 18]);
    const pool = await scene.deploy(Swap, [token, gold]);
    const [aggregator, gasReader] = [await scene.deploy(Aggregator), await scene.deploy(GasReader)];
    for (const at of [token, gold])
      await scene.send(owner, { to: at, data: calldata(Token, "mint", [pool, 10n ** 24n]) });
    await scene.send(owner, { to: token, data: calldata(Token, "approve", [pool, 10n ** 24n]) });
    await scene.mine();
    const inner = { target: gasReader, callData: calldata(GasReader, "need", [400_007n]) };
    inputs = {
      "a transfer of ether": { from: owner.address, to: nobody, value: 1n },
      "a token transfer": transferOf(token),
      "a swap": { from: owner.address, to: pool, data: calldata(Swap, "swap", [10n ** 18n, 1n, 4_000_000_000n]) },
      "a bundle of two senders": [
        transferOf(token),
        { from: other.address, to: gate, abi: Gate.abi, functionName: "open" },
        { from: owner.address, to: nobody, value: 2n },
      ],
      "a call whose gas is in doubt": {
        from: owner.address,
        to: aggregator,
        data: nested(aggregator, inner, 40, true),
      },
    };
  });
  afterAll(() => scene?.stop());

  it(
    `${replays} of each kind give the recorded report, ledger and all`,
    async () => {
      for (const [name, input] of Object.entries(inputs)) {
        const tape = emptyTape();
        // why: twenty at once on a busy machine take longer than one of them may
        const asked = Preflight.preflight(input as never, { deadline: "5 minutes" });
        const recorded = await Effect.runPromise(Effect.provide(asked, layerRecorder(layerOf(scene.url), tape)));
        expect(recorded.verdict, name).toBe("ready");
        const again = await Effect.runPromise(
          Effect.forEach(Array.from({ length: replays }), () => Effect.provide(asked, delayed(tape)), {
            concurrency: 20,
          }),
        );
        const others = again.map(told).filter((text) => text !== told(recorded));
        expect([name, others.length, others[0]?.slice(0, 2_000)]).toEqual([name, 0, undefined]);
      }
    },
    120_000 + replays * 500,
  );
});
