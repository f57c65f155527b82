/**
 * Contracts that behave only when they believe that they are watched. For every clue: never is the honest
 * outcome promised, without a blocker, where the chain then sees the other one.
 */
import { type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageOf, type BundleReport } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { calldata, cleared, other, preflight, scan, scenesFor, signAll, type Scene } from "./scene.js";
import { sendingFrom } from "./troupe.js";

const clues = [
  "Coinbase",
  "GasPrice",
  "BaseFee",
  "GasLeft",
  "Timestamp",
  "PrevRandao",
  "SenderBalance",
  "CodeAt",
  "Number",
  "PrevRandaoParity",
  "TimestampParity",
  "CoinbaseBalance",
  "BlockGasLimit",
  "ParentHash",
] as const;
type Clue = (typeof clues)[number];

/** Found out: no clearance, for the worlds differ. */
const diverged = ({ verdict, findings }: BundleReport): boolean =>
  (verdict === "blocked" || verdict === "unknown") &&
  findings.some(({ code, severity }) => `${code}/${severity}` === "SimulationDiverged/blocker" || code === "NotYet");

describe.each(scenesFor("contracts that know when they are watched"))("spoofing contracts on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  let spoofer: Hex;
  beforeAll(async () => {
    scene = await start();
    const { send, deploy, mined } = await sendingFrom(scene);
    token = await deploy(artifacts.Token, ["Gold", "GLD", 18]);
    await mined();
    spoofer = await deploy(artifacts.Spoofer, [token, 0, 0n]);
    await send({ to: token, data: calldata(artifacts.Token, "mint", [other.address, 10_000n]) });
    await mined();
  });
  afterAll(() => scene?.stop());

  const set = async (clue: Clue, trigger: bigint) => {
    const { send, mined } = await sendingFrom(scene);
    await send({ to: spoofer, data: calldata(artifacts.Spoofer, "set", [clues.indexOf(clue), trigger]) });
    await mined();
  };
  const claim = () => ({ from: other.address, to: spoofer, data: calldata(artifacts.Spoofer, "claim") });
  const gate = () => ({ from: other.address, to: spoofer, data: calldata(artifacts.Spoofer, "gate") });
  const gainIn = ({ balanceChanges }: BundleReport) =>
    balanceChanges.find((change) => change.token === token && change.account === other.address.toLowerCase())?.delta;

  /** What a simulator looks like by each clue, from the honest look of a first scan. */
  const triggers: Readonly<Record<string, (seen: BundleReport) => readonly [clue: Clue, trigger: bigint]>> = {
    "no fee recipient": () => ["Coinbase", 0n],
    "the latest fee recipient": ({ observed }) => ["Coinbase", BigInt(observed.feeRecipient ?? "0x0")],
    "no gas price": () => ["GasPrice", 0n],
    "no base fee": () => ["BaseFee", 0n],
    "the base fee it will have": ({ observed }) => [
      // blocks that are nearly empty make the next base fee lower by an eighth
      "BaseFee",
      ((observed.baseFeePerGas ?? 0n) * 90n) / 100n,
    ],
    "more gas than anybody gives": () => ["GasLeft", 5_000_000n],
    "the time it will have": ({ observed }) => ["Timestamp", (observed.timestamp ?? 0n) + 5n],
    "an even random number": () => ["PrevRandaoParity", 0n],
    "an odd random number": () => ["PrevRandaoParity", 1n],
    "no random number": () => ["PrevRandao", 0n],
    "a sender that has not paid for gas": ({ funds }) => ["SenderBalance", funds[0]?.balance ?? 0n],
    "a fee recipient without money": () => ["CoinbaseBalance", 0n],
  };

  /** These make the runs differ, and the difference is named. */
  const telling = [
    ...["the latest fee recipient", "no gas price", "no base fee", "the base fee it will have"],
    ...["an even random number", "an odd random number"],
  ];

  const held = async () =>
    BigInt(
      (await scene.ask("eth_call", [
        { to: token, data: calldata(artifacts.Token, "balanceOf", [other.address]) },
        "latest",
      ])) as string,
    );

  /** The claim is blocked because its runs differ, or what is promised of it is what the chain does. */
  const isFoundOutOrKept = async (report: BundleReport, clue: Clue): Promise<void> => {
    // a claim that fails in one of the worlds promises nothing
    if (diverged(report) || report.transactions[0].outcome.status !== "success") return;
    const before = await held();
    for (const raw of await signAll(await cleared(report))) await scene.broadcast(raw);
    await scene.mine();
    expect((await held()) - before, clue).toBe(gainIn(report));
  };

  const approveAgain = async () => {
    const { send, mined } = await sendingFrom(scene, other);
    await send({ to: token, data: calldata(artifacts.Token, "approve", [spoofer, 1000n]) });
    await mined();
  };

  it.each(Object.entries(triggers))("are found out, or gain nothing: %s", async (name, look) => {
    await approveAgain();
    const [clue, trigger] = look(await scan(scene.url, claim()));
    await set(clue, trigger);
    const report = await preflight(scene.url, claim());
    if (telling.includes(name)) {
      expect(diverged(report)).toBe(true);
      const found = report.findings.find(({ code }) => code === "SimulationDiverged" || code === "NotYet");
      expect(found && `${messageOf(found)} ${found.numbers.map(({ value }) => String(value)).join()}`).toMatch(
        new RegExp(`${token}|success and reverted|reverted and success`),
      );
    }
    await isFoundOutOrKept(report, clue);
    const gated = await preflight(scene.url, gate());
    if (diverged(gated)) return;
    const [{ outcome } = { outcome: { status: "unknown" } }] = gated.transactions;
    if (outcome.status === "reverted") return expect(gated.verdict).toBe("blocked");
    const [raw] = await signAll(await cleared(gated));
    const hash = await scene.broadcast(raw ?? "0x");
    await scene.mine();
    expect((await scene.receipt(hash)).status, clue).toBe("0x1");
  });

  it("find no witness at a place that they could guess", async () => {
    await approveAgain();
    for (const guess of [0xca11bde05977b3631167028862be2a173976ca11n, 1n << 100n, BigInt(spoofer) + 1n]) {
      await set("CodeAt", guess);
      const report = await preflight(scene.url, claim());
      expect([gainIn(report), report.stage]).toEqual([-1000n, "proven"]);
    }
  });
});
