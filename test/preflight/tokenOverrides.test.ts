/** Balances and allowances that a caller pretends, by token: found in every usual layout of storage, and never in a wrong slot, on real nodes. */
import { getAddress, maxUint256, type Abi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BundleReport, Report } from "../../src/Report.js";
import { MethodNotSupported, RpcError } from "../rooms/errors.js";
import * as Layouts from "../contracts/artifacts.js";
import {
  calldata,
  codesOf,
  nobody,
  other,
  owner,
  preflight,
  preflightOn,
  prove,
  readiness,
  scan,
  scenesFor,
  tampered,
  third,
  type Scene,
} from "./scene.js";

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

const poor = third.address;
const amount = 1_234_567n;
const requestsOf = ({ ledger }: Report) =>
  ledger.requests.filter(({ because, step }) => because === "tokenSlots" || step === "chain").length;

/** Layouts in which the slot is found. */
const found: Readonly<Record<string, Artifact>> = {
  "Solidity's first slots": Layouts.LayoutFirst,
  "behind nine values": Layouts.LayoutNinth,
  "behind gaps of upgradeable contracts": Layouts.LayoutUpgradeable,
  "allowances by spender": Layouts.LayoutBySpender,
  "the first value of a struct": Layouts.LayoutInStruct,
  "Vyper's order": Layouts.LayoutVyper,
  "Vyper's order, by spender": Layouts.LayoutVyperBySpender,
  "Solady's seeds": Layouts.LayoutSolady,
  "an ERC-7201 namespace": Layouts.LayoutNamespaced,
  "a diamond's namespace": Layouts.LayoutDiamond,
  "a flag in the highest bit that is not set": Layouts.LayoutFlagged,
  "wrapped ether": Layouts.WETH9,
  "a token as most are": Layouts.Token,
};
/** Layouts of which no slot holds the balance alone. Allowances are in the usual place. */
const never: Readonly<Record<string, Artifact>> = {
  "two amounts in a slot": Layouts.LayoutPacked,
  shares: Layouts.LayoutShares,
  "shares that do not overflow": Layouts.LayoutWideShares,
  "balances with a history": Layouts.LayoutCheckpoints,
  "a sum of two": Layouts.LayoutSum,
  "a balance that another entry decides on": Layouts.LayoutReflected,
  "a token with two faces": Layouts.LayoutTwoFaced,
  "another contract's storage": Layouts.LayoutElsewhere,
  "a hash that no compiler makes": Layouts.LayoutHidden,
};

describe.each(scenesFor("pretended balances"))("tokenOverrides on %s", (_, start) => {
  let scene: Scene;
  const deployed = new Map<Artifact, Hex>();
  beforeAll(async () => {
    scene = await start();
    for (const artifact of [...Object.values(found), ...Object.values(never)])
      deployed.set(artifact, await scene.deploy(artifact, artifact === Layouts.Token ? ["Token", "TKN", 18] : []));
  }, 120_000);
  afterAll(() => scene?.stop());

  const at = (artifact: Artifact): Hex => deployed.get(artifact) ?? "0x";
  const abi = Layouts.LayoutFirst;
  const sending = (token: Hex, much = amount) => ({
    from: poor,
    to: token,
    data: calldata(abi, "transfer", [other.address, much]),
  });
  const taking = (token: Hex) => ({
    from: poor,
    to: token,
    data: calldata(abi, "transferFrom", [owner.address, other.address, amount]),
  });
  const moved = ({ balanceChanges }: BundleReport) => balanceChanges.map(({ before, delta }) => [before, delta]);
  const notPretended = ({ findings }: Report) =>
    findings
      .filter(({ code }) => code === "TokenNotPretended")
      .map(({ severity, numbers }) => [severity, ...numbers.map(({ value }) => value)]);

  it.each(Object.entries(found))("pretend balance and allowance of %s in one request", async (name, artifact) => {
    const token = at(artifact);
    const tokenOverrides = {
      balances: [{ token: getAddress(token), owner: owner.address, amount: amount + 5n }],
      allowances: [{ token, owner: owner.address, spender: poor, amount }],
    };
    const report = await preflight(scene.url, taking(token), { tokenOverrides });
    expect([report.verdict, notPretended(report), report.stage]).toEqual(["caution", [], "proven"]);
    expect(codesOf(report)).toContain("StatePretended/warning");
    expect(moved(report)).toContainEqual([amount + 5n, -amount]);
    const { requests } = report.ledger;
    const storage = name.startsWith("a flag") ? ["eth_getStorageAt"] : [];
    const isInFront = ({ because, round }: (typeof requests)[number]) => because === "tokenSlots" || round === 1;
    expect(requests.filter(isInFront).map(({ method }) => method)).toEqual(["eth_simulateV1", ...storage]);
    const slots = Object.entries(report.options.stateOverrides ?? {});
    expect(slots.map(([account, { stateDiff }]) => [account, Object.values(stateDiff ?? {}).map(BigInt)])).toEqual([
      [token.toLowerCase(), [amount + 5n, amount]],
    ]);
    const refused = await readiness(report);
    expect(refused).toMatchObject({ _tag: "Failure", failure: { missing: [{ reason: "StatePretended" }] } });
  });

  it.each(Object.entries(never))("pretend no balance of %s, and the report says so", async (name, artifact) => {
    const token = at(artifact);
    const tokenOverrides = { balances: [{ token, owner: poor, amount }] };
    for (const run of [scan, preflight]) {
      const report = await run(scene.url, sending(token, 0n), { tokenOverrides });
      expect([report.verdict, report.stage]).toEqual(["unknown", run === scan ? "scanned" : "proven"]);
      const had = ["a balance that another", "a token with two"].some((begin) => name.startsWith(begin)) ? 7n : 0n;
      expect(notPretended(report)).toEqual([["unavailable", token.toLowerCase(), poor.toLowerCase(), amount, had]]);
    }
  });

  it("use a proxy's own storage, and give two proxies of a token a balance each", async () => {
    const proxies = await Promise.all(
      [Layouts.LayoutNinth].map((code) => scene.deploy(Layouts.LayoutProxy, [at(code)])),
    );
    const [proxy = "0x"] = proxies;
    const second = await scene.deploy(Layouts.LayoutProxy, [at(Layouts.LayoutVyper)]);
    const balances = [
      { token: proxy, owner: poor, amount: 7n },
      { token: second, owner: poor, amount: 9n },
      { token: second, owner: other.address, amount: 11n },
    ];
    const report = await preflight(scene.url, [sending(proxy, 7n), sending(second, 9n)] as const, {
      tokenOverrides: { balances },
    });
    expect([report.verdict, notPretended(report)]).toEqual(["caution", []]);
    expect(report.transactions.map(({ outcome }) => outcome.status)).toEqual(["success", "success"]);
    expect(moved(report)).toContainEqual([11n, 9n]);
  });

  it("keep a flag in the balance's slot, and pretend no balance there", async () => {
    const token = await scene.deploy(Layouts.LayoutFlagged);
    await scene.send(owner, { to: token, data: calldata(Layouts.LayoutFlagged, "bar", [poor]), gas: 200_000n });
    await scene.mine();
    const report = await preflight(scene.url, sending(token, 0n), {
      tokenOverrides: { balances: [{ token, owner: poor, amount }] },
    });
    expect(notPretended(report)).toEqual([["unavailable", token.toLowerCase(), poor.toLowerCase(), amount, 0n]]);
    const high = [{ token: at(Layouts.LayoutFlagged), owner: poor, amount: maxUint256 }];
    expect(
      notPretended(
        await scan(scene.url, sending(at(Layouts.LayoutFlagged), 0n), { tokenOverrides: { balances: high } }),
      ),
    ).toHaveLength(1);
  });

  it("pretend no balance of an account without code, or one that reverts", async () => {
    for (const token of [nobody, await scene.deploy(Layouts.Reverter)] as const) {
      const balances = [{ token, owner: poor, amount }];
      const report = await scan(
        scene.url,
        { from: owner.address, to: other.address, value: 1n },
        { tokenOverrides: { balances } },
      );
      expect([report.verdict, notPretended(report)]).toEqual([
        "unknown",
        [["unavailable", token.toLowerCase(), poor.toLowerCase(), amount, "nothing was read"]],
      ]);
    }
  });

  it("need no request without an amount, and find nothing where the node does not simulate", async () => {
    const input = { from: owner.address, to: other.address, value: 1n };
    const plain = await preflight(scene.url, input);
    const none = await preflight(scene.url, input, { tokenOverrides: { balances: [] } });
    expect([none.verdict, none.ledger.requests.length]).toEqual(["ready", plain.ledger.requests.length]);
    const balances = [{ token: at(Layouts.LayoutFirst), owner: poor, amount }];
    const refused = new RpcError({ method: "eth_simulateV1", reason: new MethodNotSupported({ detail: "" }) });
    const refusing = tampered(scene.url, ({ method }) => (method === "eth_simulateV1" ? refused : null));
    const blind = await preflightOn(refusing, input, { tokenOverrides: { balances } });
    expect([blind.verdict, notPretended(blind)]).toEqual([
      "unknown",
      [expect.arrayContaining(["unavailable", amount])],
    ]);
  });

  it("keep a caller's whole storage and code, and a proof finds the slots again", async () => {
    const token = at(Layouts.LayoutFirst);
    const word = `0x${"00".repeat(31)}01` as const;
    const stateOverrides = { [token]: { state: { [word]: word } } };
    const balances = [{ token, owner: poor, amount }];
    const report = await preflight(scene.url, sending(token), { stateOverrides, tokenOverrides: { balances } });
    expect([report.verdict, notPretended(report)]).toEqual(["caution", []]);
    expect(Object.keys(report.options.stateOverrides?.[token.toLowerCase()] ?? {})).toEqual(["state"]);
    const again = await prove(scene.url, report, {
      tokenOverrides: { balances: [{ token, owner: poor, amount: amount * 2n }] },
    });
    expect([notPretended(again), moved(again)]).toEqual([[], expect.arrayContaining([[amount * 2n, -amount]])]);
    expect(requestsOf(again)).toBeGreaterThan(0);
  });
});
