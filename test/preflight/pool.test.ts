/** What a pool makes of requests that the chain would take: second ones, poor ones, ones in another order, ones that are there already. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import { RpcError, Timeout } from "../rooms/errors.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import { Aggregator, Gate, Token, Vault } from "../contracts/artifacts.js";
import {
  calldata,
  cleared,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  preflight,
  preflightOn,
  scan,
  scenesFor,
  severe,
  signAll,
  spare,
  tampered,
  third,
  type Scene,
} from "./scene.js";
import { furnish, passing, transferOf } from "./furnished.js";

const fresh = privateKeyToAccount(generatePrivateKey());
const lower = (address: string) => address.toLowerCase();

describe.each(scenesFor("the pool"))("a preflight beside in-flight transactions on %s", (bed, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  const opening = () => ({ from: owner.address, to: gate, abi: Gate.abi, functionName: "open" });

  it("lets a delegated sender send one at a time", async () => {
    const wallet = await scene.deploy(Aggregator);
    const nonce = await scene.count(third.address);
    const theirs = await third.signAuthorization({ address: wallet, chainId: scene.chainId, nonce });
    const setup = await preflight(scene.url, { from: owner.address, to: other.address, authorizationList: [theirs] });
    const set = setup.findings.find(({ code }) => code === "DelegationSet");
    expect(set?.numbers).toContainEqual({ name: "its own transactions in flight", unit: "text", value: "not known" });
    for (const raw of await signAll(await cleared(setup))) await scene.broadcast(raw);
    await scene.mine();
    const next = nonce + 1;
    const one = { from: third.address, to: other.address, value: 1n };
    const alone = await preflight(scene.url, one);
    expect([alone.verdict, (await cleared(alone)).waits]).toEqual(["ready", []]);
    const two = await preflight(scene.url, [one, one]);
    expect([two.verdict, severe(two)]).toEqual(["caution", ["OneInFlight/warning"]]);
    const wait = { transaction: 1, account: lower(third.address), nonce: next + 1 };
    expect((await cleared(two)).waits).toEqual([wait]);
    await scene.send(third, { to: other.address, value: 1n });
    const second = await preflight(scene.url, one);
    expect([second.verdict, codesOf(second)]).toEqual(["caution", expect.arrayContaining(["OneInFlight/warning"])]);
    expect((await cleared(second)).waits).toEqual([{ ...wait, transaction: 0 }]);
    await scene.mine();
  });

  it("lets a sender that delegates its own account continue behind its authorisation, one at a time", async () => {
    const wallet = await scene.deploy(Aggregator);
    const nonce = await scene.count(spare.address);
    const own = await spare.signAuthorization({ address: wallet, chainId: 0, nonce: nonce + 1 });
    const one = { from: spare.address, to: other.address, value: 1n };
    const bundle = [{ ...one, authorizationList: [own] }, one];
    const report = await preflight(scene.url, bundle);
    expect([report.verdict, severe(report)]).toEqual(["caution", ["OneInFlight/warning", "DelegationSet/warning"]]);
    const denied = await preflight(scene.url, bundle, { policies: [Policy.denyDelegated] });
    expect(severe(denied)).toContain("PolicyViolation/blocker");
    expect(report.transactions.map((each) => each.nonce.value)).toEqual([nonce, nonce + 2]);
    for (const [index, raw] of (await signAll(await cleared(report))).entries()) {
      await scene.untilNext(spare.address, nonce + 2 * index);
      await scene.broadcast(raw);
      await scene.mine();
    }
    expect(await scene.count(spare.address)).toBe(nonce + 3);
  });

  // why: anvil checks no nonce where it simulates
  it.runIf(bed === "geth")(
    "makes a sender with an authorisation in flight wait, also behind its own transaction",
    async () => {
      const wallet = await scene.deploy(Aggregator);
      const [young, sponsored] = [generatePrivateKey(), generatePrivateKey()].map((key) =>
        privateKeyToAccount(key),
      ) as [typeof owner, typeof owner];
      const theirs = await sponsored.signAuthorization({ address: wallet, chainId: scene.chainId, nonce: 0 });
      for (const { address } of [young, sponsored]) await scene.send(owner, { to: address, value: 10n ** 17n });
      await scene.mine();
      await scene.send(owner, { to: other.address, authorizationList: [theirs] });
      const own = await young.signAuthorization({ address: wallet, chainId: scene.chainId, nonce: 1 });
      await scene.send(young, { to: other.address, authorizationList: [own] });
      for (const [from, nonce] of [
        [sponsored.address, 0],
        [young.address, 1],
      ] as const)
        for (const input of [{}, { nonce }]) {
          const report = await preflight(scene.url, { from, to: other.address, value: 1n, ...input });
          expect(report.transactions[0].nonce.value).toBe(nonce);
          expect([report.verdict, codesOf(report)]).toEqual([
            "unknown",
            expect.arrayContaining(["AuthorizationInFlight/unavailable"]),
          ]);
          expect(codesOf(report).filter((code) => code.startsWith("Nonce"))).toEqual([]);
        }
      await scene.mine();
      for (const [from, nonce] of [
        [sponsored.address, 1],
        [young.address, 2],
      ] as const) {
        const report = await preflight(scene.url, { from, to: other.address, value: 1n });
        expect([report.verdict, report.transactions[0].nonce.value]).toEqual(["ready", nonce]);
      }
    },
  );

  it("makes a sender whom the bundle itself pays wait for the payment, with the required sum", async () => {
    const nonce = await scene.count(owner.address);
    const report = await preflight(scene.url, [
      { from: owner.address, to: fresh.address, value: 10n ** 17n },
      { from: fresh.address, to: other.address, value: 10n ** 15n },
    ]);
    expect([report.verdict, severe(report)]).toEqual(["caution", ["IncomeNotMined/warning"]]);
    expect(report.funds[1]).toMatchObject({ balance: 0n, required: 0n, shortfall: 0n });
    expect(Report.toText(report, { full: true, width: 200 })).toContain("beside what the bundle itself brings in");
    const needed = report.findings.find(({ code }) => code === "IncomeNotMined");
    const cost = report.funds[1]?.terms.reduce((sum, { amount }) => (amount > 0n ? sum + amount : sum), 0n);
    expect(needed?.numbers).toContainEqual({ name: "required without income", unit: "wei", value: cost });
    expect((await cleared(report)).waits).toEqual([
      { transaction: 1, account: lower(owner.address), nonce: nonce + 1 },
    ]);
  });

  it("is ready for several senders where the other order does the same, else they wait", async () => {
    const independent = await preflight(scene.url, [
      transferOf(token),
      { from: other.address, to: gate, abi: Gate.abi, functionName: "close" },
    ]);
    expect([independent.verdict, severe(independent)]).toEqual(["ready", []]);
    const order = independent.observed.worlds.find(({ run }) => run === "reordered");
    expect(order?.agrees).toBe(true);
    const nonce = await scene.count(owner.address);
    const dependent = await preflight(scene.url, [opening(), passing(gate)]);
    expect([dependent.verdict, severe(dependent)]).toEqual(["caution", ["OrderNotHeld/warning"]]);
    expect((await cleared(dependent)).waits).toEqual([
      { transaction: 1, account: lower(owner.address), nonce: nonce + 1 },
    ]);
    const plain = await preflight(scene.url, [
      { from: owner.address, to: nobody, value: 1n },
      { from: other.address, to: nobody, value: 1n },
    ]);
    expect([plain.verdict, plain.ledger.requests.some(({ run }) => run === "reordered")]).toEqual(["ready", false]);
    const refused = new RpcError({ method: "eth_simulateV1", reason: new Timeout({ detail: "", afterMs: 1 }) });
    const unseen = tampered(scene.url, ({ purpose }) => (purpose === "reordered" ? refused : null));
    const untold = await preflightOn(unseen, [transferOf(token), { ...passing(gate), functionName: "close" }]);
    expect([untold.verdict, severe(untold)]).toEqual(["caution", ["OrderNotHeld/warning"]]);
  });

  it("warns of what nodes refuse by their settings, except where the chain's entry names other nodes", async () => {
    const free = { from: owner.address, to: third.address, value: 1n, maxPriorityFeePerGas: 0n };
    const warned = await preflight(scene.url, free);
    expect([warned.verdict, severe(warned)]).toEqual(["caution", ["NodeMayRefuse/warning"]]);
    const entry = Layer.merge(layerOf(scene.url), Chains.layerWith(scene.chainId, { nodeLimitsKnown: false }));
    const told = await Effect.runPromise(Preflight.preflight(free).pipe(Effect.provide(entry)));
    expect([told.verdict, codesOf(told)]).toEqual(["ready", expect.arrayContaining(["NodeMayRefuse/info"])]);
  });

  it("reports the same call in flight already, in one further round of its own", async () => {
    const vault = await scene.deploy(Vault);
    await scene.send(owner, { to: token, data: calldata(Token, "approve", [vault, 5n]) });
    await scene.send(owner, { to: vault, data: calldata(Vault, "deposit", [token, 5n]) });
    await scene.mine();
    const data = calldata(Vault, "withdraw", [token]);
    const call = { from: owner.address, to: vault, data };
    const hash = await scene.send(owner, call);
    const again = await scan(scene.url, call);
    expect(again.verdict).toBe("blocked");
    const said = again.findings.find(({ code }) => code === "AlreadySent");
    expect(said?.numbers).toEqual([{ name: "in flight", unit: "hash", value: hash }]);
    // the call, the same at a price, and what is in flight
    expect(again.ledger.rounds).toBe(3);
    expect((await preflight(scene.url, call)).findings.filter(({ code }) => code === "AlreadySent")).toHaveLength(1);
    const another = await scan(scene.url, { ...call, data: `${data}00` });
    expect([another.verdict, codesOf(another).includes("AlreadySent/warning")]).toEqual(["blocked", false]);
    await scene.mine();
    const late = await scan(scene.url, call);
    expect([late.verdict, late.ledger.rounds]).toEqual(["blocked", 2]);
  });

  it("keeps the scan's knowledge in a proof that the deadline cut off", async () => {
    const late = new RpcError({ method: "eth_simulateV1", reason: new Timeout({ detail: "", afterMs: 1 }) });
    const layer = tampered(scene.url, ({ purpose }) => (["exact", "next"].includes(purpose) ? late : null));
    const [scanned, report] = [await scan(scene.url, transferOf(token)), await preflightOn(layer, transferOf(token))];
    expect([report.verdict, report.stage, severe(report)]).toEqual(["unknown", "scanned", ["Timeout/unavailable"]]);
    const [one, kept] = [scanned.transactions[0], report.transactions[0]];
    expect([kept.code, kept.outcome, kept.nonce]).toEqual([one.code, one.outcome, one.nonce]);
    expect([report.transfers, report.digest !== null]).toEqual([scanned.transfers, true]);
    expect(report.ledger.requests.some(({ run }) => run === "exact" || run === "ample")).toBe(true);
  });
});
