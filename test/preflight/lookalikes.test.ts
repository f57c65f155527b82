/** Address poisoning: who gets something and only looks like a known address is named, on real nodes, in a scan and in a proof. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Report } from "../../src/Report.js";
import { Token } from "../contracts/artifacts.js";
import { toText } from "../rooms/report.js";
import { calldata, other, owner, preflight, prove, scan, scenesFor, severe, type Scene } from "./scene.js";

const known = other.address.toLowerCase() as Hex;
const fake: Hex = `${known.slice(0, 6) as Hex}${"5a".repeat(16)}${known.slice(-4)}`;
const knownAddresses = { [other.address]: "Savings" };

describe.each(scenesFor("lookalikes"))("addresses that look like a known one, on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Token", "TKN", 18]);
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 10n ** 30n]) });
    await scene.mine();
  });
  afterAll(() => scene?.stop());

  const asks = (to: Hex) => [
    { from: owner.address, to, value: 5n },
    { from: owner.address, to: token, data: calldata(Token, "transfer", [to, 7n]) },
    { from: owner.address, to: token, data: calldata(Token, "approve", [to, 9n]) },
  ];
  const found = ({ findings }: Report) => findings.filter(({ code }) => code === "LookalikeAddress");
  const rowOf = ({ payees }: Report, account: Hex) => payees.find(({ address }) => address === account);

  it("are warnings as receiver and as spender, with both addresses and the name", async () => {
    const token20 = { token, tokenId: null };
    const gets = [
      { receives: [{ token: null, tokenId: null, amount: 5n }], rights: [] },
      { receives: [{ ...token20, amount: 7n }], rights: [] },
      { receives: [], rights: [{ kind: "erc20", account: owner.address.toLowerCase(), ...token20, amount: 9n }] },
    ];
    for (const [at, input] of asks(fake).entries()) {
      const report = await preflight(scene.url, input, { knownAddresses });
      expect([report.verdict, found(report).map(({ numbers }) => numbers.map(({ value }) => value))]).toEqual([
        "caution",
        [[fake, known, "Savings"]],
      ]);
      expect(rowOf(report, fake)).toEqual({ address: fake, ...gets[at] });
      const told = toText(report).replace(/\s+/g, " ");
      expect(told).toMatch(/looks like 0x[0-9a-fA-F]{40}, which you call "Savings", and is another account/);
      expect(found(await prove(scene.url, report))).toHaveLength(1);
    }
  });

  it("are not reported for the known address itself and for strangers; without the option nothing is looked up", async () => {
    for (const input of asks(other.address)) {
      const report = await scan(scene.url, input, { knownAddresses: [other.address] });
      expect([found(report), rowOf(report, known)?.address]).toEqual([[], known]);
    }
    const [input] = asks(fake);
    if (input === undefined) throw new Error("no input");
    const report = await preflight(scene.url, input);
    expect([report.verdict, severe(report), found(report)]).toEqual(["ready", [], []]);
  });
});
