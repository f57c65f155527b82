/** Histories of unusual shapes on real nodes: whatever was sent, and however it differs, it is told as what it is. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Settled } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { ahead, sendAll, settledOn, sign, type History } from "../harness/histories.js";
import { findGethOrWarn } from "../harness/geth.js";
import {
  calldata,
  nobody,
  other,
  owner,
  preflight,
  scenesFor,
  startGethScene,
  third,
  type AnyInput,
  type Scene,
} from "../preflight/scene.js";

const from = owner.address;
const transferTopic = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Init code that tells of the time in an event of its own address. */
const telling: Hex = "0x4260005260206000a000";
/** Tells of the block's producer. */
const naming = creation("4160005260206000a000");
/** Mints the next collectible. */
const minting = creation(`600054600101806000553360007f${transferTopic}60006000a400`);
/** Init code of a token, which mints one to its maker. */
const minted: Hex = `0x60016000523360007f${transferTopic}60206000a360206000f3`;
/** A token of which everybody holds as much as the clock says; each transfer tells of one more. */
const clock = creation(
  `604436146010574260005260206000f35b6001600052600435337f${transferTopic}60206000a3600160005260206000f3`,
);

const told = ({ class: name, transactions, balances, balancesUntold }: Settled) => ({
  ...{ name, balances: [balancesUntold, ...balances.differences] },
  transactions: transactions.map((one) => (one.state === "mined" ? one.differences : one.state)),
});

describe.each(scenesFor("unusual histories"))("a settlement of what was mined otherwise, on %s", (node, start) => {
  let scene: Scene;
  let token: Hex;
  let named: Hex;
  let vesting: Hex;
  let nft: Hex;
  let gate: Hex;
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(artifacts.Token, ["Token", "TKN", 18]);
    named = await scene.deploy({ abi: [], bytecode: naming });
    vesting = await scene.deploy(artifacts.Vesting, [token, 1000n]);
    gate = await scene.deploy(artifacts.Gate);
    nft = await scene.deploy({ abi: [], bytecode: minting });
    await scene.send(owner, { to: token, data: calldata(artifacts.Token, "mint", [from, 10n ** 24n]) });
    await scene.mine();
  }, 60_000);
  afterAll(() => scene?.stop());

  const expectClass = async (history: History, name: Settled["class"]) => {
    const settled = await settledOn(scene, history);
    expect(told(settled)).toEqual({ ...told(settled), name });
    return settled;
  };
  const said = (input: AnyInput) => preflight(scene.url, input);
  const sent = async (input: AnyInput, seal?: Parameters<Scene["seal"]>[0]): Promise<History> => {
    const report = await said(input);
    const hashes = await sendAll(scene, await sign(report));
    await (seal === undefined ? scene.mine() : scene.seal(seal));
    return { report, hashes };
  };

  const give = () => ({ from, to: token, data: calldata(artifacts.Token, "transfer", [nobody, 3n]) });
  const slot: Hex = `0x${"00".repeat(32)}`;
  const gasPrice = 3n * 10n ** 9n;
  const shapes: Readonly<Record<string, () => AnyInput | Promise<AnyInput>>> = {
    "of type 0": () => ({ ...give(), gasPrice }),
    "of type 1": () => ({ ...give(), gasPrice, accessList: [{ address: token, storageKeys: [slot] }] }),
    "of type 2 with an access list": () => ({ ...give(), accessList: [{ address: token, storageKeys: [slot] }] }),
    "of type 4": async () => ({
      ...give(),
      authorizationList: [
        await third.signAuthorization({
          ...{ address: gate, chainId: scene.chainId, nonce: await scene.count(third.address) },
        }),
      ],
    }),
    "to oneself": () => ({ from, to: from, value: 5n }),
    "of a token to oneself": () => ({ ...give(), data: calldata(artifacts.Token, "transfer", [from, 3n]) }),
    "a deployment that tells": () => ({ from, data: "0x3060005260206000a000" }),
    "a token that mints as it is made": () => ({ from, data: minted }),
    "a failure that was said": () => ({
      ...{ from, to: token, gas: 90_000n },
      data: calldata(artifacts.Token, "transferFrom", [other.address, from, 10n ** 30n]),
    }),
    "a deployment whose failure was said": () => ({ from, data: "0x60006000fd", gas: 90_000n }),
    "a bundle of kinds": () => [
      { ...give(), gasPrice },
      { from, to: from, value: 5n },
      { from, data: "0x6001600c60003960016000f300" },
    ],
  };
  // anvil simulates no deployment, so that nothing is said of one
  const unsaid = (name: string) => node === "anvil" && /deployment|made|kinds/.test(name);
  it.each(Object.keys(shapes).filter((name) => !unsaid(name)))("is `same` for %s", async (name) => {
    await expectClass(await sent(await (shapes[name] ?? expect.fail())()), "same");
  });

  it("is contextDependent for a call that emits the block's producer", async () => {
    await expectClass(await sent({ from, to: named }), "contextDependent");
  });

  it.each([
    ["the number of the block", "43"],
    ["the hash of the block before", "6001430340"],
  ])("is contextDependent for a call that emits %s", async (_, reading) => {
    const at = await scene.deploy({ abi: [], bytecode: creation(`${reading}60005260206000a000`) });
    await expectClass(await sent({ from, to: at }), "contextDependent");
  });

  // anvil has no hashes of blocks that it simulates
  it.skipIf(node === "anvil")("is contextDependent for the hash of the block before, with others between", async () => {
    const at = await scene.deploy({ abi: [], bytecode: creation("600143034060005260206000a000") });
    const report = await said({ from, to: at });
    await scene.mine();
    const hashes = await sendAll(scene, await sign(report));
    await scene.mine();
    await expectClass({ report, hashes }, "contextDependent");
  });

  it("is contextDependent for the clock alone, with a price that barely suffices", async () => {
    const { baseFeePerGas } = (await scene.ask("eth_feeHistory", ["0x1", "latest", []])) as {
      readonly baseFeePerGas: ReadonlyArray<Hex>;
    };
    const maxFeePerGas = BigInt(baseFeePerGas.at(-1) ?? 0) + 1n;
    const input = {
      from,
      to: vesting,
      data: calldata(artifacts.Vesting, "release"),
      maxFeePerGas,
      maxPriorityFeePerGas: 1n,
    };
    await expectClass(await sent(input, { after: 60 }), "contextDependent");
  });

  it.skipIf(node === "anvil")(
    "is contextDependent for a deployment that emits the clock, in a later block than the transaction before it",
    async () => {
      const report = await said([
        { from, to: from, value: 1n },
        { from, data: telling },
      ]);
      const [one, two] = await sign(report);
      const first = await sendAll(scene, [one ?? "0x"]);
      await scene.mine();
      const second = await sendAll(scene, [two ?? "0x"]);
      await scene.seal({ after: 60 });
      await expectClass({ report, hashes: [...first, ...second] }, "contextDependent");
    },
  );

  it("is ordering for a collectible of another number, because others came first", async () => {
    const report = await said({ from, to: nft, data: "0x01" });
    await ahead({ scene }, { to: nft, data: "0x01" });
    await scene.mine();
    const hashes = await sendAll(scene, await sign(report));
    await scene.mine();
    await expectClass({ report, hashes }, "ordering");
  });

  it("is unknown for a token of which everybody holds more with every second", async () => {
    const at = await scene.deploy({ abi: [], bytecode: clock });
    const history = await sent(
      { from, to: at, data: calldata(artifacts.Token, "transfer", [other.address, 1n]) },
      { after: 60 },
    );
    const settled = await expectClass(history, "unknown");
    expect(settled.balances.differences.map((one) => one.class)).toContain("unknown");
  });
});

const bin = findGethOrWarn("a node that runs no more gas than a part of a block");

it.skipIf(bin === null)(
  "does not blame the simulator where the node's gas cap is a part of the block",
  async () => {
    const scene = await startGethScene(bin ?? "", { args: ["--rpc.gascap", "6000000"] });
    const token = await scene.deploy(artifacts.Token, ["Token", "TKN", 18]);
    const vesting = await scene.deploy(artifacts.Vesting, [token, 1000n]);
    const endless = await scene.deploy({ abi: [], bytecode: creation("5b600056") });
    const report = await preflight(scene.url, {
      ...{ from, to: vesting, data: calldata(artifacts.Vesting, "release") },
    });
    await ahead({ scene }, { to: endless, data: "0x01" }, 5_950_000n);
    const hashes = await sendAll(scene, await sign(report));
    // a busy machine may build a block before its pool has both
    do await scene.seal({ after: 60 });
    while ((await scene.ask("eth_getTransactionReceipt", [hashes[0]])) === null);
    const settled = await settledOn(scene, { report, hashes });
    expect(told(settled)).toEqual({ ...told(settled), name: "contextDependent" });
    await scene.stop();
  },
  60_000,
);
