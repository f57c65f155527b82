/** What contracts could take beside what they do take, balances read twice, and tokens that change their name, on real nodes. */
import { numberToHex, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import * as Report from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { MethodNotSupported, RpcError } from "../rooms/errors.js";
import {
  calldata,
  layerOf,
  other,
  owner,
  preflight,
  preflightOn,
  scan,
  scenesFor,
  severe,
  tampered,
  third,
  type Scene,
} from "./scene.js";
import { sendingFrom } from "./troupe.js";

const me = owner.address.toLowerCase() as Hex;
const you = other.address.toLowerCase() as Hex;
const permit2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";

const rowsOf = ({ exposure }: Report.Report) =>
  exposure?.rows.map(({ spender, account, token, tokenId, by, amount }) => [
    spender,
    account,
    token,
    tokenId,
    by,
    amount,
  ]);
const codesOf = (report: Report.Report) => severe(report).map((code) => code.split("/")[0]);

for (const [name, start] of scenesFor("exposure")) {
  describe(`exposure, on ${name}`, () => {
    let scene: Scene;
    let at: Readonly<
      Record<"token" | "spare" | "nft" | "multi" | "taker" | "knowing" | "fee" | "rebasing" | "open", Hex>
    >;
    let sold: Readonly<Record<"token" | "named" | "fixed" | "market", Hex>>;
    let changing: ReadonlyArray<Hex>;
    let sending: Awaited<ReturnType<typeof sendingFrom>>;
    const token = (of: Hex, call: string, ...args: ReadonlyArray<unknown>) => ({
      from: me,
      to: of,
      data: calldata(artifacts.Token, call, args),
    });
    const take = (amount: bigint) => ({
      from: me,
      to: at.taker,
      data: calldata(artifacts.Taker, "take", [at.token, amount]),
    });
    const run = (input: object, policies: ReadonlyArray<Policy.Policy> = [], tokens: ReadonlyArray<Hex> = []) =>
      preflight(scene.url, input as never, { policies, tokens });

    beforeAll(async () => {
      scene = await start();
      sending = await sendingFrom(scene);
      const { deploy, send, mined } = sending;
      const named = (symbol: string) => [symbol, symbol, 18];
      at = {
        token: await deploy(artifacts.Token, named("AAA")),
        spare: await deploy(artifacts.Token, named("BBB")),
        nft: await deploy(artifacts.Nft),
        multi: await deploy(artifacts.Multi),
        taker: await deploy(artifacts.Taker),
        knowing: await deploy(artifacts.KnowingToken),
        fee: await deploy(artifacts.FeeToken),
        rebasing: await deploy(artifacts.RebasingToken),
        open: await deploy(artifacts.OpenDelegate),
      };
      const [conduit, fixed] = [await deploy(artifacts.Conduit), await deploy(artifacts.Conduit)];
      sold = {
        ...{ fixed, market: await deploy(artifacts.ConduitMarket, [conduit, fixed]) },
        token: await deploy(artifacts.Token, named("CCC")),
        named: await deploy(artifacts.Token, named("DDD")),
      };
      for (const of of [sold.token, sold.named])
        await send({ to: of, data: calldata(artifacts.Token, "mint", [me, 10_000n]) });
      await send({ to: sold.token, data: calldata(artifacts.Token, "approve", [conduit, 2n ** 256n - 1n]) });
      await send({ to: sold.named, data: calldata(artifacts.Token, "approve", [fixed, 900n]) });
      changing = [await deploy(artifacts.ChangingToken, [false]), await deploy(artifacts.ChangingToken, [true])];
      for (const of of [at.token, at.spare, at.knowing, at.fee, at.rebasing])
        await send({ to: of, data: calldata(artifacts.Token, "mint", [me, 10_000n]) });
      await send({ to: at.token, data: calldata(artifacts.Token, "approve", [at.taker, 700n]) });
      await send({ to: at.spare, data: calldata(artifacts.Token, "approve", [at.taker, 2n ** 255n]) });
      await send({ to: at.nft, data: calldata(artifacts.Nft, "mint", [me, 1n]) });
      await send({ to: at.nft, data: calldata(artifacts.Nft, "mint", [me, 2n]) });
      await send({ to: at.nft, data: calldata(artifacts.Nft, "setApprovalForAll", [at.taker, true]) });
      await mined();
    }, 60_000);
    afterAll(() => scene.stop());

    it("is the part of allowances that is there, of the bundle's tokens and named ones", async () => {
      const report = await run(take(100n), [], [at.spare, at.nft]);
      expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
      expect(new Set(rowsOf(report))).toEqual(
        new Set([
          [at.taker, me, at.spare, null, "allowance", 10_000n],
          [at.taker, me, at.nft, null, "operator", 2n],
          [at.taker, me, at.token, null, "allowance", 600n],
        ]),
      );
      expect(report.exposure).toMatchObject({ pairs: 3, unread: 0 });
      expect(Report.summary(report)).toMatch(
        /could take at least 0\.00000000000001 BBB .* beside, and 2 more such holdings/,
      );
      expect(Report.toText(report)).toContain("3 pairs of a contract and a token checked");
      expect(Report.toHtml(report)).toContain("What else contracts could take");
      expect(Report.fromJson(Report.toJson(report))).toBeTruthy();
    });

    it("is empty in a scan, and of a plain payment", async () => {
      expect((await scan(scene.url, take(1n))).exposure).toBeNull();
      expect((await run({ from: me, to: you, value: 1n })).exposure).toEqual({ rows: [], pairs: 0, unread: 0 });
    });

    it("blocks by the policy alone, which is unknown where something was not looked at", async () => {
      const by = async (policy: Policy.Policy, tokens: ReadonlyArray<Hex> = []) => {
        const report = await run(take(100n), [policy], tokens);
        return [report.verdict, ...codesOf(report)];
      };
      expect(await by(Policy.maxExposure(at.token, 600n))).toEqual(["ready"]);
      expect(await by(Policy.maxExposure(at.token, 599n))).toEqual(["blocked", "PolicyViolation"]);
      expect(await by(Policy.maxExposure(at.spare, 9_999n))).toEqual(["blocked", "PolicyViolation"]);
      expect(await by(Policy.maxExposure(at.nft, 1n))).toEqual(["blocked", "PolicyViolation"]);
      expect(await by(Policy.any(Policy.maxExposure(at.spare, 1n), Policy.maxExposure(at.nft, 2n)))).toEqual(["ready"]);
      const many = Array.from({ length: 64 }, (_, place): Hex => `0x${(place + 1).toString(16).padStart(40, "7")}`);
      expect(await by(Policy.maxExposure(at.token, 600n), many)).toEqual(["unknown", "PolicyUnknown"]);
      const cut = await run(take(100n), [], many);
      expect([cut.verdict, cut.exposure?.pairs, cut.exposure?.unread]).toEqual(["ready", 64, 1]);
    });

    it("counts the value that a contract could keep, and shows the value that it gives back", async () => {
      const half = { from: me, to: at.taker, value: 1_000n, data: calldata(artifacts.Taker, "half", []) };
      const report = await run(half);
      expect(rowsOf(report)).toEqual([[at.taker, me, null, null, "value", 1_000n]]);
      expect(Report.summary(report)).toContain("could take at least 500 wei beside");
      expect((await run(half, [Policy.maxExposure("native", 999n)])).verdict).toBe("blocked");
      expect((await run(half, [Policy.maxExposure("native", 1_000n)])).verdict).toBe("ready");
    });

    it("counts everything for an unknown delegate, and nothing for one that the caller trusts", async () => {
      const nonce = await scene.count(third.address);
      const authorization = await third.signAuthorization({ contractAddress: at.open, chainId: scene.chainId, nonce });
      const input = { from: me, to: you, value: 1n, authorizationList: [authorization] };
      const account = third.address.toLowerCase();
      const balance = await scene.balance(account);
      expect(rowsOf(await run(input))).toEqual([[at.open, account, null, null, "delegate", balance]]);
      const trusted = await preflight(scene.url, input, { delegateTargets: [at.open] });
      expect(rowsOf(trusted)).toEqual([]);
    });

    describe("to a market that moves tokens by a conduit", () => {
      const sell = (how: "sell" | "sellFixed" | "sellOwn") => ({
        from: me,
        to: sold.market,
        data: calldata(artifacts.ConduitMarket, how, [how === "sellFixed" ? sold.named : sold.token, 100n]),
      });
      /** As on a node without a tracer. */
      const untraced = () =>
        tampered(scene.url, ({ method }) =>
          method === "debug_traceCall"
            ? new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) })
            : null,
        );
      const most = (amount: bigint, of = sold.token) => ({ policies: [Policy.maxExposure(of, amount)] });

      it("is unknown where nobody looked at the conduit, with a tracer and without", async () => {
        for (const layer of [layerOf(scene.url), untraced()]) {
          const report = await preflightOn(layer, sell("sell"), most(10_000n));
          expect([report.verdict, codesOf(report)]).toEqual(["unknown", ["PolicyUnknown"]]);
          expect(report.exposure).toMatchObject({ moved: [{ account: me, token: sold.token }] });
          expect(Report.toText(report)).toMatch(/1\s+were not; 0x[0-9a-fA-F]{40} was moved by/);
          const silent = await preflightOn(layer, sell("sell"));
          expect([silent.verdict, codesOf(silent)]).toEqual(["ready", []]);
        }
      });

      it("counts the conduit where the code of the market names it", async () => {
        for (const layer of [layerOf(scene.url), untraced()]) {
          const report = await preflightOn(layer, sell("sellFixed"), most(799n, sold.named));
          expect([report.verdict, codesOf(report)]).toEqual(["blocked", ["PolicyViolation"]]);
          expect(rowsOf(report)).toContainEqual([sold.fixed, me, sold.named, null, "allowance", 800n]);
          expect((await preflightOn(layer, sell("sellFixed"), most(800n, sold.named))).verdict).toBe("ready");
        }
      });

      it("passes an honest market with a right of its own, also where that is given and used up at once", async () => {
        const approve = (amount: bigint) => token(sold.token, "approve", sold.market, amount);
        const { send, mined } = sending;
        for (const layer of [layerOf(scene.url), untraced()]) {
          const once = await preflightOn(layer, [approve(100n), sell("sellOwn")], most(900n));
          expect([once.verdict, codesOf(once)]).toEqual(["ready", []]);
        }
        await send(approve(100n));
        await mined();
        for (const layer of [layerOf(scene.url), untraced()]) {
          const report = await preflightOn(layer, sell("sellOwn"), most(900n));
          expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
        }
      });
    });

    it.runIf(name === "anvil")("counts an allowance to Permit2 by what Permit2 allows", async () => {
      await scene.ask("anvil_setCode", [permit2, artifacts.Permit2.deployedBytecode]);
      const { send, mined } = sending;
      await send({ to: at.fee, data: calldata(artifacts.Token, "approve", [permit2, 2n ** 255n]) });
      await mined();
      const zero = await run(take(0n), [], [at.fee]);
      expect(rowsOf(zero)?.filter(([, , of]) => of === at.fee)).toEqual([]);
      await send({
        to: permit2,
        data: calldata(artifacts.Permit2, "approve", [at.fee, at.taker, 40n, 2 ** 47]),
      });
      await mined();
      const some = await run(take(0n), [], [at.fee]);
      expect(rowsOf(some)?.filter(([, , of]) => of === at.fee)).toEqual([
        [at.taker, me, at.fee, null, "allowance", 40n],
      ]);
    });

    const kinds = [
      [0, "ready", []],
      [1, "unknown", ["PolicyUnknown", "TokenLies"]],
      [2, "unknown", ["PolicyUnknown", "TokenLies"]],
      [3, "unknown", ["PolicyUnknown", "TokenLies"]],
      [4, "unknown", ["PolicyUnknown", "TokenLies"]],
      [5, "unknown", ["BalanceUnconfirmed"]],
    ] as const;
    it.each(kinds)("a token that knows the witness (%i) is %s under a policy", async (kind, verdict, codes) => {
      const { send, mined } = sending;
      await send({ to: at.knowing, data: calldata(artifacts.KnowingToken, "set", [BigInt(kind)]) });
      await mined();
      const report = await run(token(at.knowing, "transfer", you, 5n), [Policy.maxSpent(at.knowing, 5n)]);
      expect([report.verdict, [...new Set(codesOf(report))].sort()]).toEqual([verdict, codes]);
    });

    describe("of a sender with next to nothing", () => {
      const rich = "0xffffffffffffffffffff";
      const set = (balance: string) => (name === "anvil" ? scene.ask("anvil_setBalance", [me, balance]) : undefined);
      afterEach(() => set(rich));

      it.runIf(name === "anvil").each(kinds)("is judged the same (%i)", async (kind, verdict, codes) => {
        const { send, mined } = sending;
        await send({ to: at.knowing, data: calldata(artifacts.KnowingToken, "set", [BigInt(kind)]) });
        await mined();
        const call = token(at.knowing, "transfer", you, 5n);
        const { funds } = await run(call);
        await set(numberToHex((funds[0]?.required ?? 0n) + 1_000n));
        await mined();
        const report = await run(call, [Policy.maxSpent(at.knowing, 5n)]);
        expect([report.verdict, [...new Set(codesOf(report))].sort()]).toEqual([verdict, codes]);
        expect(report.ledger.rounds).toBe(2);
      });
    });

    it("leaves honest odd tokens ready under a policy, for receivers without money, too", async () => {
      const poor = "0x00000000000000000000000000000000dead0077";
      for (const of of [at.token, at.fee, at.rebasing]) {
        const report = await run(token(of, "transfer", poor, 100n), [
          Policy.maxSpent(of, 100n),
          Policy.minReceived(of, 1n, poor),
        ]);
        const fine = codesOf(report).filter((code) => code !== "TransferMismatch");
        expect([of, fine]).toEqual([of, []]);
        expect(report.ledger.rounds).toBe(2);
      }
    });

    it("shows amounts in smallest units where decimals and symbols differ between simulated blocks", async () => {
      for (const of of changing) {
        const report = await run(token(of, "transfer", you, 1_000n));
        expect([report.verdict, codesOf(report)]).toEqual(["caution", ["TokenChanges"]]);
        expect(Report.summary(report)).toContain("smallest units of");
        expect(report.tokens.find((info) => info.token === of)).toMatchObject({ symbol: null, decimals: null });
      }
    });
  });
}
