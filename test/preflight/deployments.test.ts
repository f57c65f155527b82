/** Bundles that bring contracts into being and call them: whoever lives at an address when it is called decides. */
import { concatHex, getContractAddress, keccak256, numberToHex, size, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BundleReport } from "../../src/Report.js";
import { creation } from "../harness/creation.js";
import {
  cleared,
  other,
  owner,
  preflight,
  scenesFor,
  severe,
  signAll,
  third,
  type AnyInput,
  type Scene,
} from "./scene.js";

/** Adds one to its first word. */
const child = creation("5f546001015f5500");
/** Creates what its calldata says. */
const factoryRuntime = "365f5f37365f5ff05f5260205ff3";
/** Creates the same for every payment. */
const paidRuntime = `${(0x5f + size(child)).toString(16)}${child.slice(2)}5f5260${size(child).toString(16).padStart(2, "0")}60${(32 - size(child)).toString(16).padStart(2, "0")}5ff05000`;
/** The deterministic-deployment proxy at 0x4e59…956c on many chains: a salt, then the code. */
const proxyRuntime =
  "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";
/** What CREATE3 puts in between: makes of its calldata a contract at an address that no code has a part in. */
const betweenCode: Hex = creation("365f5f37365f5ff000");
const create3Runtime = `74${betweenCode.slice(2)}5f525f6015600b5ff5365f5f375f5f365f5f855af15000`;
const salt = numberToHex(7, { size: 32 });

describe.each(scenesFor("bundles that deploy"))("calls of contracts that the bundle deploys, on %s", (name, start) => {
  let scene: Scene;
  let factory: Hex;
  let proxy: Hex;
  let create3: Hex;
  let paid: Hex;
  beforeAll(async () => {
    scene = await start();
    factory = await scene.deploy({ abi: [], bytecode: creation(factoryRuntime) });
    proxy = await scene.deploy({ abi: [], bytecode: creation(proxyRuntime) });
    create3 = await scene.deploy({ abi: [], bytecode: creation(create3Runtime) });
    paid = await scene.deploy({ abi: [], bytecode: creation(paidRuntime) });
  }, 60_000);
  afterAll(() => scene?.stop());
  const from = owner.address;
  const lower = (address: string) => address.toLowerCase() as Hex;
  const created = (by: Hex, nonce = 1n) => lower(getContractAddress({ from: by, nonce }));
  const created2 = (by: Hex, bytecode: Hex) =>
    lower(getContractAddress({ from: by, opcode: "CREATE2", salt, bytecode }));
  const call = (to: Hex) => ({ from, to, data: "0x12345678" as Hex });
  const viaFactory = () => ({ from, to: factory, data: child });
  const viaProxy = (code: Hex) => ({ from, to: proxy, data: concatHex([salt, code]) });
  const inside = () => {
    const made = created2(proxy, creation(factoryRuntime));
    return { made, grandchild: created(made) };
  };
  const bundles: ReadonlyArray<readonly [string, () => ReadonlyArray<AnyInput & object>]> = [
    ["a factory by CREATE", () => [viaFactory(), call(created(factory)), call(created(factory))]],
    ["a factory for a payment", () => [{ from, to: paid, value: 1n }, call(created(paid)), call(created(paid))]],
    ["the proxy by CREATE2", () => [viaProxy(child), call(created2(proxy, child)), call(created2(proxy, child))]],
    [
      "a factory that the proxy made",
      () => [
        viaProxy(creation(factoryRuntime)),
        { from, to: inside().made, data: child },
        call(inside().grandchild),
        call(inside().grandchild),
      ],
    ],
    [
      "CREATE3",
      () => {
        const between = getContractAddress({
          ...{ from: create3, opcode: "CREATE2", salt: numberToHex(0, { size: 32 }) },
          bytecode: betweenCode,
        });
        return [{ from, to: create3, data: child }, call(created(lower(between))), call(created(lower(between)))];
      },
    ],
  ];

  const minedAs = async (report: BundleReport) => {
    const hashes: Array<Hex> = [];
    for (const raw of await signAll(await cleared(report))) hashes.push(await scene.broadcast(raw));
    await scene.mine();
    for (const hash of hashes) expect((await scene.receipt(hash)).status).toBe("0x1");
  };

  it.each(bundles)(
    "are ready, and mined so, where %s creates the contract and it is called twice",
    async (_, inputs) => {
      const report = await preflight(scene.url, inputs() as never);
      expect([report.verdict, severe(report)]).toEqual(["ready", []]);
      expect(report.transactions.map(({ code }) => code.to?.kind)).toEqual(inputs().map(() => "contract"));
      await minedAs(report);
    },
  );

  it("are ready where the sender deploys and the node simulates that, else unknown", async () => {
    const nonce = await scene.count(from, "pending");
    const made = lower(getContractAddress({ from, nonce: BigInt(nonce) }));
    const report = await preflight(scene.url, [{ from, data: child }, call(made), call(made)]);
    if (name === "anvil") {
      expect(report.verdict).toBe("unknown");
      expect(severe(report).filter((code) => code.endsWith("/blocker"))).toEqual([]);
      expect(severe(report)).toContain("DeploymentNotSimulated/unavailable");
    } else {
      expect([report.verdict, severe(report)]).toEqual(["ready", []]);
      await minedAs(report);
    }
  });

  it("have only the warning about its pool where a delegated sender creates the contract", async () => {
    const list = [
      await third.signAuthorization({
        address: proxy,
        chainId: scene.chainId,
        nonce: await scene.count(third.address),
      }),
    ];
    const raw = await owner.signTransaction({
      ...{ type: "eip7702", chainId: scene.chainId, authorizationList: list, to: other.address, gas: 200_000n },
      ...{ nonce: await scene.count(from, "pending"), maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n },
    });
    await scene.broadcast(raw);
    await scene.mine();
    const delegated = lower(third.address);
    const by = { from: delegated, data: "0x12345678" as Hex };
    const through = { from: delegated, to: proxy, data: concatHex([salt, creation("5f5400")]) };
    const outside = created2(proxy, creation("5f5400"));
    const report = await preflight(scene.url, [through, { ...by, to: outside }, { ...by, to: outside }]);
    expect([report.verdict, [...new Set(severe(report))]]).toEqual(["caution", ["OneInFlight/warning"]]);
  });

  it("are blocked where nobody lives at the address yet, whatever comes to live there later", async () => {
    const next = lower(getContractAddress({ from: factory, nonce: 2n }));
    const nowhere: Hex = `0x${keccak256("0x01").slice(26)}`;
    const indexes = (report: BundleReport) =>
      report.findings.flatMap(({ code, transaction }) => (code === "NoCode" ? [transaction] : []));
    const early = await preflight(scene.url, [call(proxy), call(next), viaFactory(), call(next)]);
    const never = await preflight(scene.url, [viaFactory(), call(nowhere), call(next)]);
    const alone = await preflight(scene.url, call(nowhere));
    expect([early, never, alone].map(({ verdict }) => verdict)).toEqual(["blocked", "blocked", "blocked"]);
    expect([early, never, alone].map(indexes)).toEqual([[1], [1], [0]]);
  });
});
