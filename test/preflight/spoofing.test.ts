/**
 * Contracts that behave only when they believe that they are watched. For every clue: never is the honest
 * outcome promised, without a blocker, where the chain then sees the other one.
 */
import { hexToBigInt, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageOf, type Report } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import {
  calldata,
  cleared,
  codesOf,
  other,
  owner,
  preflight,
  prove,
  scan,
  scenesFor,
  signAll,
  type Scene,
} from "./scene.js";
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
const diverged = ({ verdict, findings }: Report): boolean =>
  (verdict === "blocked" || verdict === "unknown") &&
  findings.some(({ code, severity }) => `${code}/${severity}` === "SimulationDiverged/blocker" || code === "NotYet");

describe.each(scenesFor("contracts that know when they are watched"))("on %s", (_, start) => {
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
  const gainIn = ({ balanceChanges }: Report) =>
    balanceChanges.find((change) => change.token === token && change.account === other.address.toLowerCase())?.delta;

  /** What a simulator looks like by each clue, from the honest look of a first scan. */
  const triggers: Readonly<Record<string, (seen: Report) => readonly [clue: Clue, trigger: bigint]>> = {
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

  const held = async () =>
    BigInt(
      (await scene.ask("eth_call", [
        { to: token, data: calldata(artifacts.Token, "balanceOf", [other.address]) },
        "latest",
      ])) as string,
    );

  /** The claim is blocked because its runs differ, or what is promised of it is what the chain does. */
  const isFoundOutOrKept = async (clue: Clue): Promise<boolean> => {
    const report = await preflight(scene.url, claim());
    // a claim that fails in one of the worlds promises nothing
    if (diverged(report) || report.transactions[0].outcome.status !== "success") return true;
    const before = await held();
    for (const raw of await signAll(await cleared(report))) await scene.broadcast(raw);
    await scene.mine();
    expect((await held()) - before, clue).toBe(gainIn(report));
    return false;
  };

  const approveAgain = async () => {
    const { send, mined } = await sendingFrom(scene, other);
    await send({ to: token, data: calldata(artifacts.Token, "approve", [spoofer, 1000n]) });
    await mined();
  };

  it.each(Object.entries(triggers))("%s is found out, or makes no difference", async (_name, look) => {
    await approveAgain();
    const [clue, trigger] = look(await scan(scene.url, claim()));
    await set(clue, trigger);
    await isFoundOutOrKept(clue);
    const gated = await preflight(scene.url, gate());
    if (diverged(gated)) return;
    const [{ outcome } = { outcome: { status: "unknown" } }] = gated.transactions;
    if (outcome.status === "reverted") return expect(gated.verdict).toBe("blocked");
    const [raw] = await signAll(await cleared(gated));
    const hash = await scene.broadcast(raw ?? "0x");
    await scene.mine();
    expect((await scene.receipt(hash)).status, clue).toBe("0x1");
  });

  it.each([
    "the latest fee recipient",
    "no gas price",
    "no base fee",
    "the base fee it will have",
    "an even random number",
    "an odd random number",
  ])("%s makes the runs differ, and the difference is named", async (name) => {
    await approveAgain();
    const [clue, trigger] = triggers[name]?.(await scan(scene.url, claim())) ?? (["Coinbase", 0n] as const);
    await set(clue, trigger);
    const report = await preflight(scene.url, claim());
    expect(diverged(report), name).toBe(true);
    const found = report.findings.find(({ code }) => code === "SimulationDiverged" || code === "NotYet");
    expect(found && `${messageOf(found)} ${JSON.stringify(found.numbers.map(({ value }) => String(value)))}`).toMatch(
      new RegExp(`${token}|success and reverted|reverted and success`),
    );
  });

  it("a witness whose place could be guessed is not there", async () => {
    for (const guess of [0xca11bde05977b3631167028862be2a173976ca11n, 1n << 100n, BigInt(spoofer) + 1n]) {
      await set("CodeAt", guess);
      const report = await preflight(scene.url, claim());
      expect([gainIn(report), report.stage]).toEqual([-1000n, "proven"]);
    }
  });

  it("what looks at the block in whatever way does on chain what was promised, or is blocked", async () => {
    const latest = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { number: Hex; hash: Hex };
    const cases: ReadonlyArray<readonly [Clue, bigint]> = [
      ["Number", hexToBigInt(latest.number) + 50n],
      ["Number", 0n],
      ["BlockGasLimit", 1_000_000_000n],
      ["BlockGasLimit", 0n],
      ["ParentHash", hexToBigInt(latest.hash)],
      ["Timestamp", 2n ** 60n],
      ["TimestampParity", 0n],
      ["TimestampParity", 1n],
      ["SenderBalance", 0n],
    ];
    for (const [clue, trigger] of cases) {
      await approveAgain();
      await set(clue, trigger);
      await isFoundOutOrKept(clue);
    }
  });
});

describe.each(scenesFor("honest contracts that read the block"))("honest contracts on %s", (node, start) => {
  let scene: Scene;
  afterAll(() => scene?.stop());

  it("are not flagged: an auction, a vesting, a swap with a deadline, an event of the whole context", async () => {
    scene = await start();
    const { send, deploy, mined } = await sendingFrom(scene);
    const token = await deploy(artifacts.Token, ["Gold", "GLD", 18]);
    const other = await deploy(artifacts.Token, ["Silver", "SLV", 18]);
    const context = await deploy(artifacts.ContextReader);
    await mined();
    const swap = await deploy(artifacts.Swap, [token, other]);
    // a price that falls to nothing within a day, seen after an hour; a grant that has run for a day
    const auction = await deploy(artifacts.Auction, [token, 10n ** 15n, 10n ** 15n / 86_400n]);
    const vesting = await deploy(artifacts.Vesting, [token, 10n ** 9n]);
    await send({ to: token, data: calldata(artifacts.Token, "mint", [swap, 10n ** 20n]) });
    await send({ to: other, data: calldata(artifacts.Token, "mint", [swap, 10n ** 20n]) });
    await send({ to: token, data: calldata(artifacts.Token, "mint", [owner.address, 10n ** 19n]) });
    await send({ to: token, data: calldata(artifacts.Token, "approve", [swap, 10n ** 19n]) });
    await mined();
    if (node === "anvil") await scene.ask("evm_increaseTime", [3600]);
    for (let seconds = 0; seconds < 3; seconds++) await scene.mine();
    const head = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as { timestamp: Hex };
    const deadline = hexToBigInt(head.timestamp) + 1200n;
    const inputs = {
      auction: { from: owner.address, to: auction, data: calldata(artifacts.Auction, "buy"), value: 10n ** 15n },
      swap: {
        from: owner.address,
        to: swap,
        data: calldata(artifacts.Swap, "swap", [10n ** 18n, 1n, deadline]),
      },
      context: { from: owner.address, to: context, data: calldata(artifacts.ContextReader, "read") },
    };
    for (const [name, input] of Object.entries(inputs)) {
      const report = await preflight(scene.url, input);
      expect([report.verdict, report.stage, report.findings.map(({ code }) => code)], name).toEqual([
        "ready",
        "proven",
        expect.not.arrayContaining(["SimulationDiverged", "OutcomeChanged"]),
      ]);
    }
    // a claim grows with time: between the two runs by about 13 seconds' worth, against the tolerance given
    const release = { from: owner.address, to: vesting, data: calldata(artifacts.Vesting, "release") };
    if (node === "anvil") {
      // an hour's grant: 13 seconds of it are within the default tolerance of half a percent
      const old = await preflight(scene.url, release);
      expect([old.verdict, old.stage, old.findings]).toEqual(["ready", "proven", []]);
      return;
    }
    const young = await preflight(scene.url, release);
    expect([young.verdict, codesOf(young)]).toEqual(["caution", ["ChanceDependent/warning"]]);
    const tolerant = await prove(scene.url, young, { tolerance: 0.999 });
    expect(tolerant.findings.filter(({ severity }) => severity === "blocker")).toEqual([]);
  });
});
