/** Everyday calls whose events and balances differ for honest reasons are ready; a toll is not; rewards are shown as of the nearest block. */
import type { Abi, Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import type { Report } from "../../src/Report.js";
import { Compounding, LentShares, PotShares, QuietStake, Token } from "../contracts/artifacts.js";
import { calldata, other, owner, preflight, scenesFor, severe, type Scene } from "./scene.js";

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

describe.each(scenesFor("everyday calls"))("everyday token calls on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Token", "TKN", 18]);
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 10n ** 30n]) });
    await scene.mine();
  });
  afterAll(() => scene?.stop());

  const call = (to: Hex, artifact: Artifact, functionName: string, ...args: ReadonlyArray<unknown>) => ({
    from: owner.address,
    ...{ to, data: calldata(artifact, functionName, args) },
  });
  const run = async (...of: Parameters<typeof call>) => {
    await scene.send(owner, { ...call(...of), gas: 500_000n });
    await scene.mine();
  };
  const ready = async (...of: Parameters<typeof call>): Promise<Report> => {
    const report = await preflight(scene.url, call(...of));
    expect([of[2], report.verdict, severe(report)]).toEqual([of[2], "ready", []]);
    return report;
  };
  const differing = ({ findings }: Report) =>
    findings.filter(({ code }) => code === "TransferMismatch").map(({ severity }) => severity);
  /** A vault of the token that the owner may pay into, with something of its own. */
  const vaultOf = async (artifact: Artifact): Promise<Hex> => {
    const vault = await scene.deploy(artifact, [token]);
    await run(token, Token, "approve", vault, 10n ** 40n);
    await run(token, Token, "transfer", vault, 10n ** 20n);
    return vault;
  };

  it("are ready where shares are rounded, whatever the amount", async () => {
    const shares = await scene.deploy(PotShares, [0n]);
    const found: Array<string> = [];
    for (const amount of [10n ** 18n, 123_456_789n, 3n * 10n ** 17n + 7n, 999_999_999_999n])
      found.push(...differing(await ready(shares, PotShares, "transfer", other.address, amount)));
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found)).toEqual(new Set(["info"]));
  });

  it.each([100n, 3_000n])("are not taken for rounding where a toll takes %s parts of a million", async (toll) => {
    const shares = await scene.deploy(PotShares, [toll]);
    const report = await preflight(scene.url, call(shares, PotShares, "transfer", other.address, 10n ** 18n));
    expect([report.verdict, severe(report)]).toEqual(["caution", ["TransferMismatch/warning"]]);
  });

  it("are ready where events count interest on the way in and out", async () => {
    const lent = await vaultOf(LentShares);
    await ready(lent, LentShares, "supply", 219_000_000n);
    await run(lent, LentShares, "supply", 10n ** 12n);
    await scene.seal({ after: 1_000 });
    expect(differing(await ready(lent, LentShares, "supply", 219_000_000n))).toEqual(["info"]);
    expect(differing(await ready(lent, LentShares, "withdraw", 219_000_000n))).toEqual(["info"]);
  });

  it("are ready where a stake is booked without an event and paid back, and not where it is lost", async () => {
    const stake = await vaultOf(QuietStake);
    expect(differing(await ready(stake, QuietStake, "stake", 10n ** 18n))).toEqual(["info"]);
    await run(stake, QuietStake, "stake", 10n ** 18n);
    expect(differing(await ready(stake, QuietStake, "stake", 5n * 10n ** 17n))).toEqual(["info"]);
    expect(differing(await ready(stake, QuietStake, "withdraw", 10n ** 18n))).toEqual(["info"]);
    const lost = await preflight(scene.url, call(stake, QuietStake, "forfeit", 10n ** 18n));
    expect([lost.verdict, differing(lost)]).toEqual(["caution", ["warning"]]);
  });

  it("are ready for a token that is minted from its own address and burnt to it", async () => {
    const market = await vaultOf(Compounding);
    expect(differing(await ready(market, Compounding, "mint", 10n ** 18n))).toEqual(["info"]);
    await run(market, Compounding, "mint", 10n ** 18n);
    expect(differing(await ready(market, Compounding, "redeem", 25n * 10n ** 18n))).toEqual(["info"]);
  });

  it("show a reward as the nearest block pays it, for readers and policies", async () => {
    const stake = await vaultOf(QuietStake);
    await run(stake, QuietStake, "stake", 10n ** 18n);
    const claim = call(stake, QuietStake, "getReward");
    const report = await preflight(scene.url, claim);
    const [next, exact] = ["next", "exact"].map((name) => report.observed.worlds.find(({ run: its }) => its === name));
    const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { readonly timestamp: Hex };
    const due = ((next?.timestamp ?? 0n) - BigInt(head.timestamp)) * 10n ** 6n;
    expect(due).toBeGreaterThan(0n);
    expect(exact?.timestamp).toBeGreaterThan(next?.timestamp ?? 0n);
    const mine = report.balanceChanges.find(
      (one) => one.token === token && one.account === owner.address.toLowerCase(),
    );
    expect([mine?.delta, report.transfers.map(({ amount }) => amount)]).toEqual([due, [due]]);
    const policies = [Policy.minReceived(token, due + 10n ** 6n)];
    expect((await preflight(scene.url, claim, { policies })).verdict).toBe("blocked");
  });
});
