/** What a proof does with what it measures: limits, older reports, delegations, names remembered. */
import * as Effect from "effect/Effect";
import * as TestClock from "effect/testing/TestClock";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Address } from "../rooms/primitives.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import {
  calldata,
  codesOf,
  layerOf,
  other,
  owner,
  preflight,
  prove,
  roundsIn,
  scan,
  scenesFor,
  third,
  type Scene,
} from "./scene.js";
import { sendingFrom } from "./troupe.js";

const me = owner.address.toLowerCase() as Hex;
const you = other.address.toLowerCase() as Hex;

describe.each(scenesFor("proofs of movements"))("on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  let rebasing: Hex;
  let spoof: Hex;
  let delegate: Hex;
  beforeAll(async () => {
    scene = await start();
    const { send, deploy, mined } = await sendingFrom(scene);
    token = await deploy(artifacts.Token, ["Gold", "GLD", 18]);
    rebasing = await deploy(artifacts.RebasingToken);
    spoof = await deploy(artifacts.SpoofToken);
    delegate = await deploy(artifacts.Delegate);
    await mined();
    for (const to of [token, rebasing, spoof])
      await send({ to, data: calldata(artifacts.Token, "mint", [me, 1_000_000n]) });
    await mined();
  });
  afterAll(() => scene?.stop());

  const transfer = (of: Hex, amount: bigint) => ({
    from: me,
    to: of,
    data: calldata(artifacts.Token, "transfer", [you, amount]),
  });

  it("more parties than are measured are said to be cut, the senders' own come first", async () => {
    const parties = Array.from({ length: 400 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, "c")}`);
    const airdrop = { from: me, to: spoof, data: calldata(artifacts.SpoofToken, "airdrop", [me, parties, 5n]) };
    const report = await preflight(scene.url, airdrop, { policies: [Policy.noNewApprovals] });
    expect([report.stage, roundsIn(report)]).toEqual(["proven", 2]);
    const cut = report.findings.find(({ code }) => code === "PartiesCut");
    expect(cut?.numbers).toMatchObject([{ name: "not measured", unit: "count" }]);
    const own = report.balanceChanges.find((change) => change.account === me && change.token === spoof);
    expect([own?.delta, own?.evidence]).toEqual([0n, "measured"]);
    const evidences = report.balanceChanges.map(({ evidence }) => evidence);
    expect(evidences.filter((evidence) => evidence === "measured").length).toBeGreaterThan(250);
    expect(evidences.filter((evidence) => evidence === "logged").length).toBeGreaterThan(50);
    expect(codesOf(report)).toContain("PolicyUnknown/unavailable");
  });

  it("an older report is told that the outcome changed, beyond the tolerance only", async () => {
    const earlier = await preflight(scene.url, transfer(rebasing, 1000n));
    const { send, mined } = await sendingFrom(scene, other);
    const index = async (percent: bigint) => {
      await send({ to: rebasing, data: calldata(artifacts.RebasingToken, "rebase", [10n ** 16n * percent]) });
      await mined();
    };
    await index(150n);
    const changed = await prove(scene.url, earlier);
    expect(codesOf(changed)).toContain("OutcomeChanged/warning");
    const tolerated = await prove(scene.url, earlier, { tolerance: 0.9 });
    expect(codesOf(tolerated)).not.toContain("OutcomeChanged/warning");
    const path = `balanceChanges[${me}/${rebasing}]`;
    const differences = Report.diff(earlier, changed);
    expect(differences.find((difference) => difference.path === path)?.by).not.toBe(0n);
    await index(100n);
  });

  it("a scan measures the balances that policies judge by, in its one round", async () => {
    const input = transfer(token, 100n);
    const held = await scan(scene.url, input, {
      policies: [Policy.maxSpent(token, 100n), Policy.maxSpent("native", 0n)],
    });
    expect([held.verdict, held.stage, held.ledger.rounds, codesOf(held)]).toEqual(["ready", "scanned", 1, []]);
    expect(held.balanceChanges.find((change) => change.account === me && change.token === token)?.evidence).toBe(
      "measured",
    );
    const violated = await scan(scene.url, input, { policies: [Policy.maxSpent(token, 99n)] });
    expect([violated.verdict, violated.ledger.rounds]).toEqual(["blocked", 1]);
  });

  it("a delegation is named, with who gives it to whom, and measured", async () => {
    const nonce = await scene.count(third.address);
    const sign = async (address: Hex, at = nonce) =>
      third.signAuthorization({ address, chainId: scene.chainId, nonce: at });
    const carrying = async (address: Hex, at?: number) => {
      const { v: __, yParity, ...signed } = await sign(address, at);
      return { from: me, to: you, value: 1n, authorizationList: [{ ...signed, yParity: yParity ?? 0 }] };
    };
    const set = await preflight(scene.url, await carrying(delegate));
    expect(codesOf(set)).toEqual(["DelegationSet/warning"]);
    expect(set.findings[0]?.numbers.map(({ value }) => value)).toEqual(
      expect.arrayContaining([third.address.toLowerCase(), delegate]),
    );
    expect(set.findings[0]?.evidence).toBe("measured");
    const empty = await preflight(scene.url, await carrying("0x00000000000000000000000000000000deadbeef"));
    expect(codesOf(empty)).toEqual(["DelegateWithoutCode/warning", "DelegationSet/warning"]);
    const stale = await preflight(scene.url, await carrying(delegate, nonce + 7));
    expect(codesOf(stale)).toContain("DelegationIneffective/warning");
    const denied = await preflight(scene.url, await carrying(delegate), { policies: [Policy.denyDelegated] });
    expect(denied.verdict).toBe("blocked");
  });

  it("names and symbols are remembered as long as the caller says, and asked again after", async () => {
    const input = transfer(token, 1n);
    const run = (layer: ReturnType<typeof Preflight.layerTokenCache>) =>
      Effect.gen(function* () {
        const first = yield* Preflight.preflight(input);
        const second = yield* Preflight.preflight(input);
        return [first, second].map((report) => ({ tokens: report.tokens, rounds: roundsIn(report) }));
      }).pipe(Effect.provide(layer), Effect.provide(layerOf(scene.url)), Effect.runPromise);
    const [first, second] = await run(Preflight.layerTokenCache({ timeToLive: "1 minute" }));
    expect(first).toEqual({ tokens: [{ token, name: "Gold", symbol: "GLD", decimals: 18 }], rounds: 2 });
    expect(second).toEqual(first);
  });
});

describe("the cache of names", () => {
  const info = (digit: string) => ({
    token: `0x${digit.repeat(40)}` as Address,
    name: digit,
    symbol: digit,
    decimals: 1,
  });
  const tokens = ["1", "2", "3"].map((digit) => info(digit).token);

  it("forgets by time and by number, and knows chains apart", () =>
    Effect.gen(function* () {
      const cache = yield* Preflight.TokenCache;
      yield* cache.keep(1, ["1", "2", "3"].map(info));
      expect((yield* cache.recall(1, tokens)).map(({ name }) => name)).toEqual(["2", "3"]);
      expect(yield* cache.recall(10, tokens)).toEqual([]);
      yield* TestClock.adjust("59 seconds");
      expect(yield* cache.recall(1, tokens)).toHaveLength(2);
      yield* TestClock.adjust("1 seconds");
      expect(yield* cache.recall(1, tokens)).toEqual([]);
    }).pipe(
      Effect.provide(Preflight.layerTokenCache({ timeToLive: "1 minute", capacity: 2 })),
      Effect.provide(TestClock.layer()),
      Effect.runPromise,
    ));

  it("remembers nothing unless asked to", () =>
    Effect.gen(function* () {
      const cache = yield* Preflight.TokenCache;
      yield* cache.keep(1, [info("1")]);
      expect(yield* cache.recall(1, tokens)).toEqual([]);
    }).pipe(Effect.runPromise));
});
