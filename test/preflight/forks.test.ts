/** The rules of several forks, on geth: what is valid is never blocked, what is not never cleared, and gas suffices. */
import * as Effect from "effect/Effect";
import * as ManagedRuntime from "effect/ManagedRuntime";
import { encodeDeployData, getContractAddress, pad, type Abi, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MethodNotSupported, RpcError } from "../rooms/errors.js";
import * as Preflight from "../../src/Preflight.js";
import type { BundleReport } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import { findGethOrWarn, startGethAsIs, type Forks } from "../harness/geth.js";
import {
  calldata,
  cleared,
  codesOf,
  layerOf,
  other,
  owner,
  preflight,
  preflightOn,
  severe,
  signAll,
  startGethScene,
  tampered,
  third,
  type AnyInput,
  type Receipt,
  type Scene,
} from "./scene.js";
import { creation } from "../harness/creation.js";
import { counted } from "../watch/watched.js";

const bin = findGethOrWarn("the rules of other forks");
const fresh = (n: number): Hex => `0x00000000000000000000000000000000f0e1${n.toString(16).padStart(4, "0")}`;
/** Adds one to each of so many words. */
const counting = (words: number): Hex =>
  creation(`61${words.toString(16).padStart(4, "0")}5b60019003805460010181558060035700`);
const starting = (forks: Forks) => startGethScene(bin ?? "", { forks });

/** Signs as cleared, mines, and expects what was said. */
const minedAs = async (scene: Scene, report: BundleReport) => {
  const hashes: Array<Hex> = [];
  for (const raw of await signAll(await cleared(report))) hashes.push(await scene.broadcast(raw));
  await scene.mine();
  for (const [index, hash] of hashes.entries()) {
    const receipt = await scene.receipt(hash);
    const { outcome, gas } = report.transactions[index] ?? report.transactions[0];
    expect([receipt.status, BigInt(receipt.gasUsed)]).toEqual(["0x1", outcome.gasUsed]);
    expect(receipt.logs.map(({ address }) => address)).toEqual(outcome.logs.map(({ address }) => address));
    expect(gas.limit ?? 0n).toBeGreaterThanOrEqual(BigInt(receipt.gasUsed));
  }
};

describe.skipIf(bin === null)("a report under Amsterdam", () => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    scene = await starting({ osakaTime: 0, amsterdamTime: 0 });
    token = await scene.deploy(artifacts.Token, ["Token", "TKN", 18]);
    await scene.send(owner, { to: token, data: calldata(artifacts.Token, "mint", [owner.address, 10n ** 24n]) });
    await scene.mine();
  }, 60_000);
  afterAll(() => scene?.stop());
  const from = owner.address;

  it.each<[string, () => AnyInput]>([
    ["a transfer", () => ({ from, to: other.address, value: 1n })],
    ["a transfer to a new account", () => ({ from, to: fresh(1), value: 1n })],
    ["a transfer to oneself", () => ({ from, to: from, value: 1n })],
    [
      "a token to a new holder",
      () => ({ from, to: token, data: calldata(artifacts.Token, "transfer", [fresh(2), 5n]) }),
    ],
    [
      "a bundle",
      () => [
        { from, to: fresh(4), value: 1n },
        { from, to: token, data: calldata(artifacts.Token, "transfer", [fresh(4), 5n]) },
        { from, to: fresh(4), value: 1n },
      ],
    ],
  ])("is ready for %s, and right about it", async (_, input) => {
    const report = await preflight(scene.url, input());
    expect([report.verdict, severe(report)]).toEqual(["ready", []]);
    expect(report.observed.rules).toMatchObject({ fork: "amsterdam", by: "executed", agrees: true, txGasCap: null });
    await minedAs(scene, report);
  });

  it("shows a transfer to a new account once, with its log", async () => {
    const report = await preflight(scene.url, { from, to: fresh(9), value: 7n });
    expect(report.transfers).toMatchObject([{ token: null, from: from.toLowerCase(), to: fresh(9), amount: 7n }]);
    expect(report.transactions[0].outcome.gasUsed).toBe(204_600n);
  });

  it("is blocked for a transfer to a new account with 21,000 gas, which is valid and fails", async () => {
    const report = await preflight(scene.url, { from, to: fresh(10), value: 1n, gas: 21_000n });
    expect([report.verdict, severe(report)]).toEqual(["blocked", expect.arrayContaining(["OutOfGas/blocker"])]);
    const hash = await scene.broadcast(
      await owner.signTransaction({
        ...{ chainId: scene.chainId, type: "eip1559", to: fresh(10), value: 1n, gas: 21_000n },
        ...{ nonce: await scene.count(from), maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n },
      }),
    );
    await scene.mine();
    expect((await scene.receipt(hash)).status).toBe("0x0");
  });

  it("gives a transfer enough gas for a receiver that only others' pending transactions create", async () => {
    await scene.send(third, { to: fresh(11), value: 1n });
    const report = await preflight(scene.url, { from, to: fresh(11), value: 1n });
    expect([report.verdict, codesOf(report)]).toEqual(["ready", ["GasLimitWidened/info"]]);
    expect(report.transactions[0].gas.limit ?? 0n).toBeGreaterThanOrEqual(204_600n);
    await scene.mine();
  });
});

// its `--dev` has the opcodes and prices of the fork after Amsterdam, and the blocks and rules of Osaka
describe.skipIf(bin === null)("a report where executed rules and header are of two forks", () => {
  let node: Awaited<ReturnType<typeof startGethAsIs>>;
  let from: Hex;
  let gold: Hex;
  let silver: Hex;
  let pair: Hex;
  let router: Hex;
  let caller: Hex;
  let hidden: Hex;
  const send = async (request: { readonly to?: Hex | undefined; readonly data?: Hex; readonly value?: Hex }) => {
    return await mined(await rawRequest(node.url, "eth_sendTransaction", [{ from, gas: "0xf00000", ...request }]));
  };
  const mined = async (hash: unknown) => {
    for (let tries = 0; tries < 200; tries++) {
      // while it indexes its transactions it answers with an error
      const asked = rawRequest(node.url, "eth_getTransactionReceipt", [hash]) as Promise<Receipt | null>;
      const receipt = await asked.catch(() => null);
      if (receipt?.status === "0x1") return receipt;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error("not mined");
  };
  const deploy = async (artifact: { abi: Abi; bytecode: Hex }, args: ReadonlyArray<unknown> = []): Promise<Hex> =>
    (await send({ data: encodeDeployData({ ...artifact, args: [...args] }) })).contractAddress ?? "0x";
  const ether = 10n ** 18n;
  const mint = (token: Hex, to: Hex, amount: bigint) =>
    send({ to: token, data: calldata(artifacts.Token, "mint", [to, amount]) });
  beforeAll(async () => {
    node = await startGethAsIs(bin ?? "", ["--dev.gaslimit", "60000000"]);
    from = node.account;
    gold = await deploy(artifacts.Token, ["Gold", "GLD", 18]);
    silver = await deploy(artifacts.Token, ["Silver", "SLV", 18]);
    pair = await deploy(artifacts.Pair, [gold, silver]);
    router = await deploy(artifacts.Router, [gold]);
    hidden = await deploy({ abi: [], bytecode: creation("4b5f5260205ff3") });
    caller = await deploy({ abi: [], bytecode: creation(`5f5f5f5f73${hidden.slice(2)}5afa5000`) });
    for (const token of [gold, silver]) {
      await mint(token, pair, 1_000n * ether);
      await mint(token, from, 1_000n * ether);
    }
    await send({ to: pair, data: calldata(artifacts.Pair, "mint", [from]) });
  }, 60_000);
  afterAll(() => node?.stop());

  const pay = () => ({ from, to: gold, data: calldata(artifacts.Token, "transfer", [fresh(0x77), 5n]) });
  const approve = () => ({ from, to: gold, data: calldata(artifacts.Token, "approve", [router, 10n * ether]) });
  const swap = () => ({
    ...{ from, to: router },
    data: calldata(artifacts.Router, "exactInput", [pair, ether, 1n, from, 2n ** 40n]),
  });
  const uncertain = ({ findings }: BundleReport) =>
    findings.flatMap(({ code, severity }) => (code === "RulesUncertain" ? [severity] : []));

  it.each<[string, () => AnyInput]>([
    ["a transfer", () => ({ from, to: other.address, value: 1n })],
    ["a transfer to a new account", () => ({ from, to: fresh(0x78), value: 1n })],
    [
      "several transfers",
      () => [
        { from, to: other.address, value: 1n },
        { from, to: third.address, value: 1n },
      ],
    ],
    ["a token to a new holder", pay],
    ["a deployment", () => ({ from, data: encodeDeployData({ ...artifacts.Token, args: ["New", "NEW", 18] }) })],
    ["a deployment of what would use it when it is called", () => ({ from, data: creation("4b5f5260205ff3") })],
    ["a payment in both", () => [{ from, to: other.address, value: 1n }, pay()]],
  ])("is ready for %s, which uses nothing in which they differ", async (_, input) => {
    const report = await preflight(node.url, input());
    expect([report.verdict, severe(report), uncertain(report)]).toEqual(["ready", [], ["info"]]);
    expect(report.observed.rules).toMatchObject({ fork: "amsterdam", agrees: false, maxInitCodeSize: 131_072 });
  });

  it("is ready for an approval with the swap that needs it, and a swap behind it", async () => {
    const both = await preflight(node.url, [approve(), swap()]);
    await send(approve());
    const alone = await preflight(node.url, swap());
    for (const report of [both, alone])
      expect([severe(report).filter((code) => !code.startsWith("Approval")), uncertain(report)]).toEqual([
        [],
        ["info"],
      ]);
    expect(alone.verdict).toBe("ready");
  });

  it.each<[string, () => AnyInput]>([
    ["more gas than Osaka gives", () => ({ from, to: other.address, value: 1n, gas: 17_000_000n })],
    ["an instruction of the later one", () => ({ from, to: hidden, data: "0x01" })],
    ["one in a contract that another calls", () => ({ from, to: caller, data: "0x01" })],
    ["one behind a payment", () => [pay(), { from, to: caller, data: "0x01" }]],
    ["one in what a deployment runs", () => ({ from, data: "0x4b5f5500" })],
  ])("is caution for %s, and our own rules block nothing", async (_, input) => {
    const report = await preflight(node.url, input());
    expect([report.verdict, uncertain(report)]).toEqual(["caution", ["warning"]]);
  });

  it("is caution on a node without access lists where code calls other code, and nowhere else", async () => {
    const refusal = new RpcError({ method: "eth_createAccessList", reason: new MethodNotSupported({ detail: "" }) });
    const layer = tampered(node.url, ({ method }) => (method === "eth_createAccessList" ? refusal : null));
    const report = await preflightOn(layer, swap());
    expect([report.verdict, uncertain(report)]).toEqual(["caution", ["warning"]]);
    expect(uncertain(await preflightOn(layer, pay()))).toEqual(["info"]);
  });

  it("is caution for code that the bundle itself deploys, which is not known before", async () => {
    const count = Number(await rawRequest(node.url, "eth_getTransactionCount", [from, "pending"]));
    const to = getContractAddress({ from, nonce: BigInt(count) });
    const report = await preflight(node.url, [
      { from, data: creation("4b5f5260205ff3") },
      { from, to, data: "0x01" },
    ]);
    expect([report.verdict, uncertain(report)]).toEqual(["caution", ["warning"]]);
  });

  it("is caution for code that a factory deploys, though the access list hides the factory", async () => {
    const factory = await deploy({ abi: [], bytecode: creation("365f5f37365f5ff000") });
    const door = await deploy({ abi: [], bytecode: creation(`365f5f375f5f365f5f73${factory.slice(2)}5af100`) });
    const to = getContractAddress({ from: factory, nonce: 1n });
    const layer = tampered(node.url, ({ method }) =>
      method === "eth_createAccessList" ? (answer) => ({ ...(answer as object), accessList: [] }) : null,
    );
    const report = await preflightOn(layer, [
      { from, to: door, data: creation("4b5f5260205ff3") },
      { from, to, data: "0x01" },
    ]);
    expect([report.transactions[1]?.outcome.status, uncertain(report)]).toEqual(["success", ["warning"]]);
  });

  /** The rounds, and what was asked for this alone, in each. */
  const cost = ({ ledger }: BundleReport) => [
    ledger.rounds,
    ...ledger.requests.flatMap(({ method, because, round }) =>
      method === "eth_createAccessList" || because === "forkBetween" ? [`${round} ${method}`] : [],
    ),
  ];
  // what the scan asks is the same, and serves for both
  const beside = "1 eth_createAccessList";
  /** Preflights one after the other on one connection: rounds and requests, and what is said of the rules. */
  const onOne = async (use: (told: (input: AnyInput) => Promise<ReadonlyArray<unknown>>) => Promise<void>) => {
    const runtime = ManagedRuntime.make(layerOf(node.url));
    const told = async (input: AnyInput) => {
      const report = await runtime.runPromise(Preflight.preflight(input as never));
      return [...cost(report), ...uncertain(report)];
    };
    await use(told).finally(() => runtime.dispose());
  };

  it("needs no further request where code calls no other, or none runs", () =>
    onOne(async (told) => {
      const ether = { from, to: fresh(0x79), value: 1n };
      for (const input of [ether, pay(), ether, pay()]) expect(await told(input)).toEqual([2, "info"]);
    }));

  it("needs a round of codes where code calls other code, and none once they were read", async () => {
    await send(approve());
    await onOne(async (told) => {
      const [rounds, ...asked] = await told(swap());
      expect([rounds, asked[0], asked.at(-1)]).toEqual([3, beside, "info"]);
      expect(asked.slice(1, -1).every((one) => one === "3 eth_getCode")).toBe(true);
      expect(asked.length).toBeGreaterThan(2);
      for (const input of [swap(), swap()]) expect(await told(input)).toEqual([2, beside, "info"]);
    });
  });

  it("remembers which code uses a difference, too", () =>
    onOne(async (told) => {
      const input = { from, to: caller, data: "0x01" } as const;
      expect(await told(input)).toEqual([3, beside, "3 eth_getCode", "warning"]);
      expect(await told(input)).toEqual([2, beside, "warning"]);
    }));

  it("reads codes again where another account is reached, or one whose code changed", async () => {
    // why: of a call without calldata the scan asks none
    const late = "2 eth_createAccessList";
    // calls whom its slot names, which anybody sets
    const pointer = await deploy({ abi: [], bytecode: creation("3615600a575f355f55005b5f5f5f5f5f545afa5000") });
    const point = (to: Hex) => send({ to: pointer, data: pad(to) });
    const still = await deploy({ abi: [], bytecode: creation("5b00") });
    await send({ to: third.address, value: "0xde0b6b3a7640000" });
    const delegating = async (to: Hex) => {
      const chainId = Number(await rawRequest(node.url, "eth_chainId", []));
      const nonce = Number(await rawRequest(node.url, "eth_getTransactionCount", [third.address, "latest"]));
      const authorization = await third.signAuthorization({ address: to, chainId, nonce: nonce + 1 });
      const raw = await third.signTransaction({
        ...{ type: "eip7702", chainId, nonce, to: other.address, gas: 500_000n },
        ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n, authorizationList: [authorization] },
      });
      const hash = await rawRequest(node.url, "eth_sendRawTransaction", [raw]);
      await mined(hash);
    };
    const ask = { from, to: pointer };
    await onOne(async (told) => {
      await point(still);
      expect(await told(ask)).toEqual([3, late, "3 eth_getCode", "info"]);
      expect(await told(ask)).toEqual([2, late, "info"]);
      await point(hidden);
      expect(await told(ask)).toEqual([3, late, "3 eth_getCode", "warning"]);
      await point(third.address);
      expect(await told(ask)).toEqual([3, late, "3 eth_getCode", "info"]);
      expect(await told(ask)).toEqual([2, late, "info"]);
      await delegating(hidden);
      expect((await told(ask))[0]).toBe(3);
      expect((await told(ask)).at(-1)).toBe("warning");
      await point(still);
      expect((await told(ask)).at(-1)).toBe("info");
    });
  });
});

describe.skipIf(bin === null)("a report under other fork rules", () => {
  const on = async (forks: Forks, work: (scene: Scene) => Promise<void>) => {
    const scene = await starting(forks);
    try {
      await work(scene);
    } finally {
      await scene.stop();
    }
  };
  const send = (gas: bigint) => ({ from: owner.address, to: other.address, value: 1n, gas });

  it("takes the block as the limit before Osaka, and is ready for a call that needs more than 2^24 gas", () =>
    on({}, async (scene) => {
      expect((await preflight(scene.url, send(16_777_217n))).verdict).toBe("ready");
      const counters = await scene.deploy({ abi: [], bytecode: counting(900) });
      const report = await preflight(scene.url, { from: owner.address, to: counters, data: "0x01" });
      expect([report.verdict, severe(report)]).toEqual(["ready", []]);
      expect(report.observed.rules).toMatchObject({ fork: "beforeOsaka", txGasCap: null });
      await minedAs(scene, report);
    }));

  it("shows a fork before the clearance expires, and is right on both sides of it", () =>
    on({ osakaTime: 0, amsterdamTime: 25 }, async (scene) => {
      const to = fresh(1);
      const before = await preflight(scene.url, { from: owner.address, to, value: 1n });
      expect([before.verdict, severe(before)]).toEqual(["caution", expect.arrayContaining(["ForkAhead/warning"])]);
      expect(before.observed.rules.nextFork).not.toBeNull();
      await scene.seal({ after: 30 });
      const after = await preflight(scene.url, { from: owner.address, to, value: 1n });
      expect(severe(after)).not.toContain("ForkAhead/warning");
      expect([after.observed.rules.fork, after.transactions[0].outcome.gasUsed]).toEqual(["amsterdam", 204_600n]);
    }));

  it("asks once more, with its blocks on one side, where a fork appears while a posted report is proven", () =>
    on({ osakaTime: 0, amsterdamTime: 30 }, async (scene) => {
      const pay = { from: owner.address, to: other.address, value: 1n };
      const posted = await preflight(scene.url, [pay, pay, pay]);
      const { layer, asked } = counted(layerOf(scene.url));
      const [first, second] = await Effect.runPromise(
        Effect.all([Preflight.prove(posted), Preflight.prove(posted)]).pipe(Effect.provide(layer)),
      );
      for (const { verdict, findings } of [first, second])
        expect([verdict, findings.map(({ code }) => code)]).toEqual(["caution", expect.arrayContaining(["ForkAhead"])]);
      // the second knows the fork from the first
      expect(asked.filter((purpose) => purpose === "exact")).toHaveLength(3);
    }));

  it("does not mention a fork that is far away", () =>
    on({ osakaTime: 0, amsterdamTime: 100_000 }, async (scene) => {
      const report = await preflight(scene.url, send(30_000n));
      expect([report.verdict, codesOf(report)]).toEqual(["ready", []]);
      expect(report.observed.rules).toMatchObject({ fork: "osaka", nextFork: expect.any(BigInt) as bigint });
    }));
});
