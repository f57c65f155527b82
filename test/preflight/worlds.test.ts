/** The worlds of a proof on nodes that take less, by another policy of the chain, and for policies of the caller. */
import * as Effect from "effect/Effect";
import type { Layer } from "effect/Layer";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classify, InvalidParams, RpcError } from "../rooms/errors.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import type { Rpc } from "../../src/Rpc.js";
import { Swap, Token } from "../contracts/artifacts.js";
import { furnish, passing, turn } from "./furnished.js";
import {
  calldata,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  preflight,
  scenesFor,
  spare,
  tampered,
  third,
  type Scene,
} from "./scene.js";
import { creation } from "../harness/creation.js";

const refusal = new RpcError({ method: "eth_simulateV1", reason: new InvalidParams({ detail: "not taken" }) });
const send = { from: owner.address, to: nobody, value: 1n } as const;
const statesOf = ({ observed }: Report) => observed.worlds.map(({ run, state }) => [run, state]);

describe.each(scenesFor("the worlds of a proof"))("the two simulated blocks of a proof on %s", (_, start) => {
  let scene: Scene;
  let gate: Hex;
  beforeAll(async () => {
    ({ scene, gate } = await furnish(start));
  });
  afterAll(() => scene?.stop());
  const twice = (layer: Layer<Rpc>) =>
    Effect.runPromise(
      Effect.provide(
        Effect.forEach([0, 1], () => Preflight.preflight(send)),
        layer,
      ),
    );

  it.each([
    ["not taken", -32602],
    ["invalid argument 1: json: cannot unmarshal object into Go value of type string", -32602],
    ["blockHash is not supported", -32004],
    ["not available", -32004],
  ])(
    "stand on `pending` both where a node simulates on tags alone, which is learned once: %j",
    async (message, code) => {
      const failure = classify({ method: "eth_simulateV1", error: { code, message } }) as RpcError;
      const layer = tampered(scene.url, ({ method, params }) =>
        method === "eth_simulateV1" && typeof params[1] === "object" ? failure : null,
      );
      const [first, second] = await twice(layer);
      for (const report of [first, second]) {
        expect([report?.verdict, report && codesOf(report), report && statesOf(report)]).toEqual([
          "ready",
          ["SealedStateUnseen/info"],
          [
            ["exact", "pending"],
            ["next", "pending"],
          ],
        ]);
      }
      expect([first?.ledger.rounds, second?.ledger.rounds]).toEqual([3, 2]);
    },
  );

  it("share only their number where a node takes one block at a time", async () => {
    const layer = tampered(scene.url, ({ method, params }) =>
      method === "eth_simulateV1" &&
      (params[0] as { readonly blockStateCalls: ReadonlyArray<unknown> }).blockStateCalls.length > 1
        ? refusal
        : null,
    );
    const [, second] = await twice(layer);
    const [exact, next] = second?.observed.worlds ?? [];
    expect([second?.verdict, second?.ledger.rounds]).toEqual(["ready", 2]);
    expect(((exact?.timestamp ?? 0n) - (next?.timestamp ?? 0n)) % 2n).not.toBe(0n);
    expect([exact?.feeRecipient === next?.feeRecipient, exact?.gasLimit === next?.gasLimit]).toEqual([false, false]);
  });

  it("show the receiver whom the caller named as producer of the blocks", async () => {
    await scene.seal({ feeRecipient: spare.address });
    const report = await preflight(scene.url, { ...send, to: spare.address });
    expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
  });

  it("share no parity, and no highest bit of the producer, in any draw", async () => {
    for (let draws = 0; draws < 5; draws++) {
      const { observed } = await preflight(scene.url, send);
      const [exact = [], next = []] = observed.worlds.map(({ number, timestamp, gasLimit, feeRecipient }) => [
        ...[number, timestamp, gasLimit, BigInt(feeRecipient ?? 0)].map((value) => (value ?? 0n) & 1n),
        BigInt(feeRecipient ?? 0) >> 159n,
      ]);
      expect(exact.map((bit) => bit ^ 1n)).toEqual(next);
    }
  });

  it("both have the caller's block overrides", async () => {
    // a node fills up to a number ahead with blocks of its own
    const number = BigInt((await scene.ask("eth_blockNumber", [])) as string) + 5n;
    const time = 4_000_000_000n;
    const report = await preflight(scene.url, send, { blockOverrides: { number, time } });
    expect(report.observed.worlds.map((world) => [world.number, world.timestamp])).toEqual([
      [number, time],
      [number, time],
    ]);
    expect([report.verdict, codesOf(report)]).toEqual(["caution", ["StatePretended/warning"]]);
  });

  it("stand on `pending` both where that is ordered before us", async () => {
    await turn({ scene, gate }, "open");
    const guessed = await preflight(scene.url, passing(gate));
    expect([guessed.verdict, codesOf(guessed)]).toEqual(["caution", ["DependsOnPending/warning"]]);
    const told = await preflight(scene.url, passing(gate), { pending: "preconfirmed" });
    expect([told.verdict, statesOf(told)]).toEqual([
      "ready",
      [
        ["exact", "pending"],
        ["next", "pending"],
      ],
    ]);
    await scene.mine();
  });

  it("both have to pass every policy", async () => {
    // gives its value back once any calldata has set its first word, else keeps it
    const runtime = "361561000b5760015f55005b5f54601257005b5f5f5f5f34335af100";
    const bait = await scene.deploy({ abi: [], bytecode: creation(runtime) });
    await scene.send(third, { to: bait, data: "0x01" });
    const value = 10n ** 18n;
    const report = await preflight(
      scene.url,
      { from: other.address, to: bait, value },
      { policies: [Policy.maxSpent("native", value / 2n)] },
    );
    expect(report.verdict).toBe("blocked");
    expect(codesOf(report)).toEqual(expect.arrayContaining(["PolicyViolation/blocker"]));
    await scene.mine();
  });

  it("may differ in an amount that a policy bounds, where others' pending trades are expected", async () => {
    const [silver, gold] = [await scene.deploy(Token, ["S", "S", 18]), await scene.deploy(Token, ["G", "G", 18])];
    const pool = await scene.deploy(Swap, [silver, gold]);
    const some = 10n ** 21n;
    for (const [token, to] of [
      [silver, pool],
      [gold, pool],
      [silver, other.address],
      [silver, third.address],
    ] as const)
      await scene.send(owner, { to: token, data: calldata(Token, "mint", [to, some]) });
    for (const trader of [other, third])
      await scene.send(trader, { to: silver, data: calldata(Token, "approve", [pool, some]) });
    await scene.mine();
    const trade = (amount: bigint) => calldata(Swap, "swap", [amount, 1n, 4_000_000_000n]);
    await scene.send(third, { to: pool, data: trade(some / 20n) });
    const mine = { from: other.address, to: pool, data: trade(10n ** 18n) } as const;
    const on = (...policies: ReadonlyArray<Policy.Policy>) => preflight(scene.url, mine, { policies });
    const told = async (...policies: ReadonlyArray<Policy.Policy>) => {
      const report = await on(...policies);
      return [report.verdict, codesOf(report).filter((code) => /Pending|Policy/.test(code))];
    };
    const least = (amount: bigint) => Policy.minReceived(gold, amount);
    const spent = Policy.maxSpent(silver, 10n ** 18n);
    expect(await told()).toEqual(["caution", ["DependsOnPending/warning"]]);
    // what leaves is bounded, what arrives is what differs
    expect(await told(spent)).toEqual(["caution", ["DependsOnPending/warning"]]);
    expect(await told(Policy.any(spent, least(8n * 10n ** 17n)))).toEqual(["caution", ["DependsOnPending/warning"]]);
    expect(await told(least(8n * 10n ** 17n))).toEqual(["ready", ["DependsOnPending/info"]]);
    expect(await told(Policy.all(spent, least(8n * 10n ** 17n)))).toEqual(["ready", ["DependsOnPending/info"]]);
    // enough in the block that is sealed, too little behind the pending trade
    expect(await told(least(95n * 10n ** 16n))).toEqual([
      "blocked",
      expect.arrayContaining(["PolicyViolation/blocker"]),
    ]);
    await scene.mine();
  });

  it("show what a call returns differently than in its scan", async () => {
    // keeps the first word of any calldata, and returns it to whoever gives none
    const runtime = "3615600a575f355f55005b5f545f5260205ff3";
    const box = await scene.deploy({ abi: [], bytecode: creation(runtime) });
    const put = (value: bigint) =>
      scene.send(third, { to: box, data: `0x${value.toString(16).padStart(64, "0")}` }).then(() => scene.mine());
    await put(5n);
    const open = { from: other.address, to: box, data: "0x" } as const;
    const scanned = await Effect.runPromise(Effect.provide(Preflight.scan(open), layerOf(scene.url)));
    const prove = () => Effect.runPromise(Effect.provide(Preflight.prove(scanned), layerOf(scene.url)));
    expect((await prove()).verdict).toBe("ready");
    await put(9n);
    const changed = await prove();
    expect([changed.verdict, codesOf(changed)]).toEqual(["caution", ["OutcomeChanged/warning"]]);
  });

  it("run on a report from outside after its head was read, in one more round", async () => {
    const scanned = await Effect.runPromise(Effect.provide(Preflight.scan(send), layerOf(scene.url)));
    const proven = await Effect.runPromise(Effect.provide(Preflight.prove(scanned), layerOf(scene.url)));
    expect(proven.ledger.rounds - scanned.ledger.rounds).toBe(2);
    const again = await Effect.runPromise(Effect.provide(Preflight.prove(proven), layerOf(scene.url)));
    const [[, before], [, after]] = [proven, again].map(({ observed }) => observed.worlds) as [
      Report["observed"]["worlds"],
      Report["observed"]["worlds"],
    ];
    // the time is the chain's, however often it is proven
    expect(Number(after?.timestamp) - Number(before?.timestamp)).toBeLessThan(10);
  });
});
