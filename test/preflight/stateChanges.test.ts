/** Control that changes hands in silence, and honest changes beside it, on real nodes. */
import { encodeAbiParameters, keccak256, pad, toHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import * as Effect from "effect/Effect";
import {
  Bids,
  Facets,
  FirstSlotProxy,
  Governed,
  InnerBeacon,
  Keeper,
  KeyAccount,
  OuterBeacon,
  Rememberer,
  Slots,
  TwiceBeaconProxy,
} from "../contracts/artifacts.js";
import { calldata, other, owner, preflight, scenesFor, third, type Scene } from "./scene.js";

const thief = `0x${keccak256(toHex("thief")).slice(26)}` as const;
const stranger = "0x5115115115115115115115115115115115115115";
const numbered = (slot: number) => pad(toHex(slot));

const controls = (report: Report.Report) =>
  report.findings
    .filter(({ code }) => code === "ContractControlChanged" || code === "OwnershipChanged")
    .map(({ severity, numbers }) => [severity, String(numbers.at(-1)?.value).toLowerCase()]);
const changed = ({ stateChanges }: Report.Report) =>
  stateChanges.map(({ slot, holds, before, after, seen }) => [slot, holds, before, after, seen]);

/** A delegation, as it is signed; anvil takes the code itself. */
const delegate = async (scene: Scene, to: Hex): Promise<void> => {
  const nonce = await scene.count(third.address);
  const authorization = await third.signAuthorization({ address: to, chainId: scene.chainId, nonce: nonce + 1 });
  const raw = await third.signTransaction({
    ...{ type: "eip7702", chainId: scene.chainId, nonce, to: third.address, gas: 200_000n },
    ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n, authorizationList: [authorization] },
  });
  await scene.broadcast(raw);
  await scene.mine();
};

describe.each(scenesFor("state changes"))("on %s", (_, start) => {
  let scene: Scene;
  let codes: readonly [Hex, Hex];
  beforeAll(async () => {
    scene = await start();
    codes = [await scene.deploy(InnerBeacon), await scene.deploy(Slots, [stranger])];
  });
  afterAll(() => scene?.stop());
  const run = (from: Hex, to: Hex, data: Hex, value = 0n) => preflight(scene.url, { from, to, data, value });

  it("tells of an owner in the first slot that goes without an event, once, and blocks nothing that is named", async () => {
    const keeper = await scene.deploy(Keeper, [owner.address]);
    for (const [name, args, next] of [
      ["setOwner", [stranger], stranger],
      ["claim", [], thief],
      ["claimSeen", [], thief],
    ] as const) {
      const report = await run(owner.address, keeper, calldata(Keeper, name, args));
      expect([report.verdict, controls(report)]).toEqual(["caution", [["warning", next]]]);
      expect(changed(report)).toEqual([
        [
          numbered(0),
          "owner",
          expect.stringContaining(owner.address.slice(2).toLowerCase()),
          expect.any(String),
          "lens",
        ],
      ]);
    }
    const told = await run(owner.address, keeper, calldata(Keeper, "transferOwnership", [stranger]));
    expect([told.verdict, controls(told)]).toEqual(["caution", [["warning", stranger]]]);
    expect(told.stateChanges).toHaveLength(1);
    // of a contract that is somebody else's it is data
    const passing = await run(other.address, keeper, calldata(Keeper, "setOwner", [stranger]));
    expect([passing.verdict, controls(passing), passing.stateChanges.length]).toEqual(["ready", [], 1]);
  });
  it("tells of a governor behind any slot by its getter, and blocks where nothing names the new one", async () => {
    const governed = await scene.deploy(Governed, [owner.address]);
    const set = await run(owner.address, governed, calldata(Governed, "setGovernance", [stranger]));
    expect([set.verdict, controls(set)]).toEqual(["caution", [["warning", stranger]]]);
    expect(changed(set)).toEqual([[null, "owner", pad(owner.address).toLowerCase(), pad(stranger), "view"]]);
    const taken = await run(owner.address, governed, calldata(Governed, "claim"));
    expect([taken.verdict, controls(taken)]).toEqual(["blocked", [["blocker", thief]]]);
    const gained = await run(other.address, governed, calldata(Governed, "setGovernance", [other.address]));
    expect([gained.verdict, controls(gained)]).toEqual(["ready", []]);
    expect((await run(owner.address, governed, calldata(Governed, "work"))).stateChanges).toEqual([]);
  });
  it("leaves who is outbid and paid back, and who only remembers a contract, as they were", async () => {
    const bids = await scene.deploy(Bids);
    await scene.send(owner, { to: bids, data: calldata(Bids, "bid"), value: 5n });
    await scene.mine();
    const bundle = await preflight(scene.url, [
      { from: other.address, to: bids, data: calldata(Bids, "bid"), value: 9n },
      { from: owner.address, to: stranger, value: 1n },
    ]);
    expect(controls(bundle)).toEqual([]);
    const rememberer = await scene.deploy(Rememberer);
    await scene.send(owner, { to: rememberer, data: calldata(Rememberer, "remember", [codes[0]]) });
    await scene.mine();
    const report = await run(owner.address, rememberer, calldata(Rememberer, "remember", [codes[1]]));
    expect([report.verdict, controls(report)]).toEqual(["ready", []]);
    expect(changed(report)).toEqual([[numbered(0), null, pad(codes[0]), pad(codes[1]), "lens"]]);
  });
  it.each([0, 1])("tells of a proxy whose code stands in slot %i", async (slot) => {
    const proxy = await scene.deploy(FirstSlotProxy, [BigInt(slot), codes[0]]);
    const report = await run(owner.address, proxy, calldata(FirstSlotProxy, "upgrade", [BigInt(slot), codes[1]]));
    expect([report.verdict, controls(report)]).toEqual(["caution", [["warning", codes[1].toLowerCase()]]]);
    // what the code before answered of an owner, and the one behind does not, is told as unseen
    expect(changed(report)).toContainEqual([
      numbered(slot),
      "implementation",
      pad(codes[0]).toLowerCase(),
      pad(codes[1]).toLowerCase(),
      "lens",
    ]);
  });
  it("tells of a beacon's beacon, and of a diamond's facet", async () => {
    const inner = await scene.deploy(InnerBeacon);
    const proxy = await scene.deploy(TwiceBeaconProxy, [await scene.deploy(OuterBeacon, [inner])]);
    const twisted = await run(owner.address, proxy, calldata(TwiceBeaconProxy, "twist", [inner, codes[1]]));
    expect([twisted.verdict, controls(twisted)]).toEqual(["caution", [["warning", codes[1].toLowerCase()]]]);
    const still = await run(owner.address, proxy, calldata(TwiceBeaconProxy, "work"));
    expect([still.verdict, still.stateChanges]).toEqual(["ready", []]);
    const diamond = await scene.deploy(Facets, [codes[0]]);
    const swapped = await run(owner.address, diamond, calldata(Facets, "swap", [codes[1]]));
    expect([swapped.verdict, controls(swapped)]).toEqual(["caution", [["warning", codes[1].toLowerCase()]]]);
    expect((await run(owner.address, diamond, calldata(Facets, "work"))).verdict).toBe("ready");
  });
  it("tells of a key that a delegated account gets in a batch, and of none where it only works", async () => {
    await delegate(scene, await scene.deploy(KeyAccount));
    const mode = `0x0100000000000000000000000000000000000000000000000000000000000000`;
    const batch = (...calls: ReadonlyArray<readonly [to: Hex, data: Hex]>) => {
      const type = { type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] };
      const data = encodeAbiParameters([type], [calls.map(([to, inner]) => [to, 0n, inner])]);
      return calldata(KeyAccount, "execute", [mode, data]);
    };
    const self = third.address;
    const work = await run(self, self, batch([stranger, "0x"], [self, calldata(KeyAccount, "bump")]));
    expect([work.verdict, controls(work)]).toEqual(["ready", []]);
    for (const to of [self, pad("0x", { size: 20 })]) {
      const report = await run(self, self, batch([stranger, "0x"], [to, calldata(KeyAccount, "addKey", [thief])]));
      expect([report.verdict, controls(report)]).toEqual(["caution", [["warning", thief]]]);
      expect(changed(report)).toEqual([[null, "key", null, pad(thief), "calldata"]]);
    }
  });
  it("keeps them through JSON, shows them in full text, and leaves the digest alone", async () => {
    const keeper = await scene.deploy(Keeper, [owner.address]);
    const report = await run(owner.address, keeper, calldata(Keeper, "claim"));
    const back = await Effect.runPromise(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(report)))));
    expect(back.stateChanges).toEqual(report.stateChanges);
    expect(Report.toText(report, { full: true })).toContain("Storage that says who acts");
    expect(Report.toHtml(report)).toContain("Storage that says who acts");
    expect(back.digest).toBe(report.digest);
  });
});
