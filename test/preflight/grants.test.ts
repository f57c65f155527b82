/** Rights that are no ERC-20's or ERC-721's, and rights that are used without a word, on real nodes. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import type * as Report from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { calldata, other, owner, preflight, scenesFor, severe, type Scene } from "./scene.js";
import { sendingFrom } from "./troupe.js";

const me = owner.address.toLowerCase() as Hex;
const you = other.address.toLowerCase() as Hex;
const zero = "0x0000000000000000000000000000000000000000";

const rights = (report: Report.Report) =>
  report.approvals.map(({ standard, owner: by, spender, tokenId, before, after, unlimited, evidence }) => [
    ...[standard, by, spender, tokenId, before, after, unlimited, evidence],
  ]);

for (const [name, start] of scenesFor("rights of other standards")) {
  describe(`rights and movements beside ERC-20, on ${name}`, () => {
    let scene: Scene;
    let at: Readonly<
      Record<"claims" | "grants" | "punks" | "auth" | "unfamiliar" | "quiet" | "nft" | "vault" | "sink", Hex>
    >;
    beforeAll(async () => {
      scene = await start();
      const { deploy, send, mined } = await sendingFrom(scene);
      at = {
        claims: await deploy(artifacts.Claims),
        grants: await deploy(artifacts.Grants),
        punks: await deploy(artifacts.Punks),
        auth: await deploy(artifacts.Auth),
        unfamiliar: await deploy(artifacts.Unfamiliar),
        quiet: await deploy(artifacts.QuietAllowance),
        nft: await deploy(artifacts.Nft),
        vault: await deploy(artifacts.Vault),
        // returns nothing, whatever it is called with
        sink: await deploy({ abi: [], bytecode: "0x6001600c60003960016000f300" }),
      };
      const { claims, nft, quiet, unfamiliar } = at;
      for (const id of [3n, 4n])
        await send({ to: claims, data: calldata(artifacts.Claims, "mint", [id === 3n ? me : you, id, 100n]) });
      await send({ to: nft, data: calldata(artifacts.Nft, "mint", [me, 1n]) });
      await send({ to: nft, data: calldata(artifacts.Nft, "mint", [unfamiliar, 2n]) });
      await send({ to: nft, data: calldata(artifacts.Nft, "setApprovalForAll", [unfamiliar, true]) });
      await send({ to: quiet, data: calldata(artifacts.QuietAllowance, "approve", [unfamiliar, 100n]) });
      await send({ to: quiet, data: calldata(artifacts.QuietAllowance, "approve", [you, 50n]) });
      await mined();
    }, 60_000);
    afterAll(() => scene.stop());

    const policies = [Policy.noNewApprovals, Policy.noUnlimitedApprovals];
    const run = (to: Hex, artifact: Parameters<typeof calldata>[0], call: string, ...args: ReadonlyArray<unknown>) =>
      preflight(scene.url, { from: me, to, data: calldata(artifact, call, args) }, { policies });
    const judged = (report: Report.Report, by = policies) => by.map(({ evaluate }) => evaluate(report)._tag);

    it("show an operator and an approval of ERC-6909 as rights, measured on both sides", async () => {
      const operator = await run(at.claims, artifacts.Claims, "setOperator", you, true);
      expect(rights(operator)).toEqual([["erc6909", me, you, null, 0n, 1n, true, "measured"]]);
      expect(judged(operator)).toEqual(["Fail", "Fail"]);
      const some = await run(at.claims, artifacts.Claims, "approve", at.vault, 3n, 5n);
      expect(rights(some)).toEqual([["erc6909", me, at.vault, 3n, 0n, 5n, false, "measured"]]);
      expect(judged(some)).toEqual(["Fail", "Pass"]);
      const back = await run(at.claims, artifacts.Claims, "setOperator", you, false);
      expect([rights(back), judged(back)]).toEqual([
        [["erc6909", me, you, null, 0n, 0n, false, "measured"]],
        ["Pass", "Pass"],
      ]);
    });

    it("show a transfer of ERC-6909 as a movement, measured by its id", async () => {
      const input = { from: me, to: at.claims, data: calldata(artifacts.Claims, "transfer", [you, 3n, 40n]) };
      const most = [Policy.maxSpent(at.claims, 39n), Policy.maxSpent(at.claims, 40n)];
      const report = await preflight(scene.url, input, { policies: most });
      expect(report.transfers).toMatchObject([
        { standard: "erc6909", token: at.claims, from: me, to: you, amount: 40n, tokenId: 3n },
      ]);
      expect(report.balanceChanges.filter(({ token }) => token !== null)).toMatchObject([
        { account: me, tokenId: 3n, before: 100n, after: 60n, evidence: "measured" },
        { account: you, tokenId: 3n, before: 0n, after: 40n, evidence: "measured" },
      ]);
      expect(judged(report, most)).toEqual(["Fail", "Pass"]);
    });

    it("show operators of ERC-777, delegated credit and authorisations as rights, measured on both sides", async () => {
      const operator = await run(at.grants, artifacts.Grants, "authorizeOperator", you);
      expect(rights(operator)).toEqual([["erc777", me, you, null, 0n, 1n, true, "measured"]]);
      const credit = await run(at.grants, artifacts.Grants, "approveDelegation", you, 9n);
      expect(rights(credit)).toEqual([["aaveDebt", me, you, null, 0n, 9n, false, "measured"]]);
      const authorised = await run(at.grants, artifacts.Grants, "setAuthorization", you, true);
      expect(rights(authorised)).toEqual([["morpho", me, you, null, 0n, 1n, true, "measured"]]);
      expect([operator, credit, authorised].map((report) => judged(report))).toEqual([
        ["Fail", "Fail"],
        ["Fail", "Pass"],
        ["Fail", "Fail"],
      ]);
    });

    it("show an offer of a CryptoPunk as a right that no policy passes", async () => {
      const gift = await run(at.punks, artifacts.Punks, "offerPunkForSaleToAddress", 8n, 0n, you);
      expect(rights(gift)).toEqual([["cryptopunks", me, you, 8n, null, 1n, false, "logged"]]);
      const open = await run(at.punks, artifacts.Punks, "offerPunkForSale", 8n, 0n);
      expect(rights(open)).toEqual([["cryptopunks", me, zero, 8n, null, 1n, false, "logged"]]);
      for (const report of [gift, open]) {
        expect(judged(report)).toEqual(["Unknown", "Unknown"]);
        expect(severe(report)).toContain("ApprovalGranted/warning");
      }
    });

    it("show a right of an unknown kind, which passes no policy on new ones, and warns nobody", async () => {
      const entrusted = await run(at.unfamiliar, artifacts.Unfamiliar, "entrust", you);
      expect(entrusted.findings.map(({ code, severity }) => `${code}/${severity}`)).toContain("EventUnexplained/info");
      expect(judged(entrusted)).toEqual(["Unknown", "Pass"]);
      const data = calldata(artifacts.Unfamiliar, "entrust", [you]);
      const plain = await preflight(scene.url, { from: me, to: at.unfamiliar, data });
      expect([plain.verdict, severe(plain)]).toEqual(["ready", []]);
      const abis = [artifacts.Unfamiliar.abi];
      const explained = await preflight(scene.url, { from: me, to: at.unfamiliar, data }, { policies, abis });
      expect(judged(explained)).toEqual(["Pass", "Pass"]);
      // answers no allowance, and says nothing
      const silent = calldata(artifacts.Token, "approve", [you, 5n]);
      const asked = await preflight(scene.url, { from: me, to: at.sink, data: silent }, { policies });
      expect(judged(asked)[0]).toBe("Unknown");
    });

    it("show an owner that solmate's contracts announce", async () => {
      const given = await run(at.auth, artifacts.Auth, "setOwner", you);
      expect(severe(given)).toContain("OwnershipChanged/warning");
      const kept = await run(at.auth, artifacts.Auth, "setAuthority", you);
      expect(severe(kept)).toContain("OwnershipChanged/warning");
    });

    it("show an allowance that is spent without an event, and as no new right", async () => {
      const deposit = [at.quiet, at.vault, 60n];
      const paid = await run(at.unfamiliar, artifacts.Unfamiliar, "deposit", ...deposit);
      expect(rights(paid)).toEqual([["erc20", me, at.unfamiliar, null, 100n, 40n, false, "measured"]]);
      expect(severe(paid).filter((code) => !code.startsWith("Policy"))).toEqual([]);
      expect(judged(paid)[1]).toBe("Pass");
      const data = calldata(artifacts.QuietAllowance, "transferFrom", [me, you, 20n]);
      const taken = await preflight(scene.url, { from: you, to: at.quiet, data });
      expect(rights(taken)).toEqual([["erc20", me, you, null, 50n, 30n, false, "measured"]]);
    });

    if (name === "anvil")
      it("show what is spent inside Permit2, to the called contract and to the taker there", async () => {
        const permit2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";
        await scene.ask("anvil_setCode", [permit2, artifacts.Permit2.deployedBytecode]);
        const { deploy, send, mined } = await sendingFrom(scene);
        const spender = await deploy(artifacts.Permit2Spender);
        await send({ to: at.quiet, data: calldata(artifacts.QuietAllowance, "approve", [permit2, 80n]) });
        for (const by of [spender, you])
          await send({
            to: permit2,
            data: calldata(artifacts.Permit2, "approve", [at.quiet, by, 60n, 4_000_000_000n]),
          });
        await mined();
        const pulled = await run(spender, artifacts.Permit2Spender, "pull", permit2, me, you, 40n, at.quiet);
        const told = [["erc20", me, permit2, null, 80n, 40n, false, "measured"]];
        expect(rights(pulled)).toEqual(
          expect.arrayContaining([...told, ["permit2", me, spender, null, 60n, 20n, false, "measured"]]),
        );
        expect(severe(pulled)).toEqual([]);
        const data = calldata(artifacts.Permit2, "transferFrom", [me, you, 40n, at.quiet]);
        const taken = await preflight(scene.url, { from: you, to: permit2, data });
        expect(rights(taken)).toEqual(
          expect.arrayContaining([...told, ["permit2", me, you, null, 60n, 20n, false, "measured"]]),
        );
      });

    it("show an allowance of the whole supply or more as unlimited", async () => {
      const approve = (amount: bigint) => run(at.quiet, artifacts.QuietAllowance, "approve", at.vault, amount);
      expect((await Promise.all([999n, 1000n, 2n ** 128n - 1n].map(approve))).map((report) => judged(report))).toEqual([
        ["Fail", "Pass"],
        ["Fail", "Fail"],
        ["Fail", "Fail"],
      ]);
    });

    it("give a warning for tokens sent to their own contract, and none for other receivers", async () => {
      const send = (to: Hex) => run(at.quiet, artifacts.QuietAllowance, "transfer", to, 5n);
      expect(severe(await send(at.quiet))).toEqual(["TokensStranded/warning"]);
      expect(severe(await send(you))).toEqual([]);
    });

    it("do not offset one NFT by another", async () => {
      const data = calldata(artifacts.Unfamiliar, "trade", [at.nft, 1n, at.unfamiliar, 2n]);
      const most = [Policy.maxSpent(at.nft, 0n), Policy.maxSpent(at.nft, 1n)];
      const report = await preflight(scene.url, { from: me, to: at.unfamiliar, data }, { policies: most });
      expect(report.transactions[0]?.outcome.status).toBe("success");
      expect(judged(report, most)).toEqual(["Fail", "Pass"]);
    });
  });
}
