/** Rules of bundlers (ERC-7562) as a node's tracer shows them kept or broken: honest operations of each EntryPoint, and doubles that break one. */
import { createPreflight } from "evm-preflight/promise";
import { encodeFunctionData, parseEther, type Address, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bystander, RuleAccount, RuleFactory, RulePaymaster } from "../contracts/artifacts.js";
import { faults, startProxy, type Proxy } from "../harness/proxy.js";
import { keys } from "../preflight/scene.js";
import { hasEntryPoints } from "../signing/parts.js";
import { encode, entryPoints, kitsFor, stub, versions } from "./operationsKit.js";
import type { Account, OperationsKit, UserOperation, Version } from "./operationsKit.js";

const isThere = hasEntryPoints("rules of bundlers");
type Report = Awaited<ReturnType<ReturnType<typeof createPreflight>["signature"]>>;
const said = (report: Report): string =>
  `${report.verdict}, ${report.because}; ${report.findings.map(({ severity, code, numbers }) => `${severity} ${code} ${numbers.map(({ name, value }) => `${name} ${String(value)}`).join(", ")}`).join("; ")}`;

/** The rules that a report names, each with its entity and with what it does. */
const brokenIn = (report: Report): ReadonlyArray<string> =>
  report.findings
    .filter(({ code }) => code === "BundlerRuleBroken")
    .map(({ numbers }) => {
      const of = (name: string) => numbers.find((figure) => figure.name === name)?.value;
      return [of("by"), of("rule"), of("does"), ...[of("allowed with a stake of")].filter(Boolean)]
        .map(String)
        .join(" · ");
    });
const notSeenIn = (report: Report) =>
  report.findings.find(({ code }) => code === "BundlerRulesUnseen")?.numbers.map(({ value }) => value);
const books = "reputation, mempool, tips";

const [, start] = kitsFor("rules of bundlers").find(([name]) => name === "geth") ?? [];

describe.skipIf(!isThere || start === undefined)("rules of bundlers on geth", () => {
  let kit: OperationsKit;
  let preflight: ReturnType<typeof createPreflight>;
  let other: Address;
  let seed = 7_000;
  beforeAll(async () => {
    if (start === undefined) throw new Error("no geth");
    kit = await start();
    preflight = createPreflight({ url: kit.scene.url });
    other = await kit.scene.deploy(Bystander);
  }, 240_000);
  afterAll(async () => {
    await preflight?.dispose();
    await kit?.stop();
  });

  const operationOf = async (account: Account, over: Partial<UserOperation> = {}): Promise<UserOperation> => ({
    ...{ sender: account.address, nonce: await kit.nonce(account), signature: stub },
    callData: encode("execute", ["0x00000000000000000000000000000000000bEEf1", 10n ** 15n, "0x"]),
    ...{ callGasLimit: 120_000n, verificationGasLimit: 450_000n, preVerificationGas: 60_000n },
    ...(await kit.fees()),
    ...account.init,
    ...over,
  });
  const ask = (version: Version, operation: UserOperation, signer: Address): Promise<Report> =>
    preflight.preflight({ entryPoint: entryPoints[version], operation, signer } as never) as never;

  describe.each(versions)("EntryPoint %s", (version) => {
    const kinds = (["deployed", "fresh", "delegated"] as const).filter(
      (kind) => kind !== "delegated" || version === "0.8" || version === "0.9",
    );
    it.each(kinds)("an honest account, %s, keeps them, also with a paymaster", { timeout: 60_000 }, async (kind) => {
      const account = await kit.account(version, ++seed, kind);
      const plain = await operationOf(account);
      for (const operation of [plain, await kit.vouched(version, plain)]) {
        const report = await ask(version, operation, account.key.address);
        // the paymaster of 0.6 counts the operations of each account, which is not there yet
        const isCounted = version === "0.6" && kind === "fresh" && operation !== plain;
        expect([said(report), brokenIn(report)]).toEqual([
          said(report),
          isCounted ? ["the paymaster · STO-022 · writes storage · the factory or the paymaster"] : [],
        ]);
        expect(report.verdict, said(report)).toBe(isCounted ? "caution" : "ready");
        expect(notSeenIn(report), said(report)).toEqual([books]);
      }
    });
  });

  /** What each double does: see `RuleBreaker`. */
  const rules: ReadonlyArray<readonly [how: number, rule: string]> = [
    [1, "OP-011 · TIMESTAMP"],
    [2, "OP-011 · NUMBER"],
    [3, "OP-011 · ORIGIN"],
    [4, "OP-011 · BLOCKHASH"],
    [8, "OP-012 · GAS"],
    [9, "OP-020 · out of gas"],
    [11, "STO-010 · writes storage"],
    [12, "OP-041 · uses an account without code"],
    [13, "OP-061 · CALL with value"],
    [14, "OP-054 · calls the EntryPoint"],
    [15, "OP-062 · uses a precompile"],
    [16, "OP-011 · PREVRANDAO"],
    [17, "OP-011 · COINBASE"],
    [18, "OP-011 · BASEFEE"],
    [19, "OP-011 · GASLIMIT"],
    [20, "OP-011 · GASPRICE"],
    [22, "OP-011 · INVALID"],
    [23, "OP-011 · SELFDESTRUCT"],
    [26, "OP-054 · reads the code of the EntryPoint"],
  ];
  /** The rules that a stake of the entity lifts. */
  const staked: ReadonlyArray<readonly [how: number, rule: string]> = [
    [6, "OP-080 · SELFBALANCE"],
    [7, "OP-080 · BALANCE"],
    [10, "STO-033 · reads storage"],
  ];
  /** With a few of what one entity alone may do, or may not. */
  const ofEntity = {
    account: [
      [5, "OP-011 · CREATE"],
      [21, "OP-031 · CREATE2"],
      [24, null],
      [25, null],
      [27, null],
      [28, null],
    ],
    factory: [
      [5, "OP-011 · CREATE · the factory"],
      [21, "OP-031 · CREATE2 · the factory"],
      [24, "STO-022 · reads storage · the factory"],
      [25, null],
      [27, "STO-031 · writes storage · the factory"],
      [28, "STO-032 · reads storage · the factory"],
    ],
    paymaster: [
      [5, "OP-011 · CREATE"],
      [21, "OP-031 · CREATE2"],
      [24, null],
      [25, "OP-054 · calls the EntryPoint"],
      [27, "STO-031 · writes storage · the paymaster"],
      [28, "STO-032 · reads storage · the paymaster"],
    ],
  } as const satisfies Readonly<Record<string, ReadonlyArray<readonly [how: number, rule: string | null]>>>;
  const rowsOf = (
    entity: keyof typeof ofEntity,
  ): ReadonlyArray<readonly [how: number, told: ReadonlyArray<string>]> => [
    // the others are told alike, whosever they are
    ...rules
      .filter(([how]) => entity === "account" || how < 3 || (how > 7 && how < 15))
      .map(([how, rule]) => [how, [`the ${entity} · ${rule}`]] as const),
    ...staked.map(([how, rule]) => [how, [`the ${entity} · ${rule} · the ${entity}`]] as const),
    ...ofEntity[entity].map(([how, rule]) => [how, rule === null ? [] : [`the ${entity} · ${rule}`]] as const),
  ];

  const [owner] = keys;
  const doubled = async (version: Version, how: number): Promise<Account> => {
    const address = await kit.scene.deploy(RuleAccount, [owner?.address, BigInt(how), other]);
    await kit.fund(address, parseEther("1"));
    return { version, address, key: kit.voucher, kind: "delegated", init: {} };
  };
  const addStake = async (of: Address, version: Version): Promise<void> => {
    const data = encodeFunctionData({ abi: RulePaymaster.abi, functionName: "stake", args: [entryPoints[version]] });
    const hash = await kit.scene.pool(kit.bundler, { to: of, data, value: 10n ** 18n, gas: 1_000_000n });
    await kit.scene.mine();
    expect((await kit.scene.receipt(hash)).status).toBe("0x1");
  };
  const payingFor = async (version: Version, how: number, isStaked = false): Promise<Partial<UserOperation>> => {
    const paymaster = await kit.scene.deploy(RulePaymaster, [BigInt(how), other]);
    await kit.fund(paymaster, 10n ** 9n);
    await kit.deposit(version, paymaster, parseEther("1"));
    if (isStaked) await addStake(paymaster, version);
    const limits = { paymasterVerificationGasLimit: 200_000n, paymasterPostOpGasLimit: 1n };
    return { paymaster, paymasterData: "0x", ...limits };
  };
  const madeBy = async (version: Version, how: number, isStaked = false): Promise<Account> => {
    const factory = await kit.scene.deploy(RuleFactory, [BigInt(how), other]);
    await kit.fund(factory, 10n ** 9n);
    if (isStaked) await addStake(factory, version);
    const address = (await kit.scene.ask("eth_call", [
      {
        to: factory,
        data: encodeFunctionData({
          ...{ abi: RuleFactory.abi, functionName: "predict", args: [owner?.address ?? "0x", 0n] },
        }),
      },
      "latest",
    ])) as Hex;
    const factoryData = encodeFunctionData({
      ...{ abi: RuleFactory.abi, functionName: "make", args: [owner?.address ?? "0x", 0n, entryPoints[version]] },
    });
    const sender: Address = `0x${address.slice(26)}`;
    await kit.fund(sender, parseEther("1"));
    return { version, address: sender, key: kit.voucher, kind: "delegated", init: { factory, factoryData } };
  };
  const large = { verificationGasLimit: 2_500_000n };
  const check = async (
    version: Version,
    operation: UserOperation,
    told: ReadonlyArray<string>,
    verdict?: string,
  ): Promise<Report> => {
    const report = await ask(version, operation, owner?.address ?? "0x");
    expect([said(report), brokenIn(report)]).toEqual([said(report), told]);
    expect([report.verdict, report.signing?.operation?.success], said(report)).toEqual([
      verdict ?? (told.length === 0 ? "ready" : "caution"),
      true,
    ]);
    expect(notSeenIn(report), said(report)).toEqual([books]);
    return report;
  };

  it.each(rowsOf("account"))("account %i: %j", { timeout: 60_000 }, async (how, told) => {
    const account = await doubled("0.8", how);
    const report = await check("0.8", await operationOf(account), told);
    const [finding] = report.findings.filter(({ code }) => code === "BundlerRuleBroken");
    if (finding !== undefined)
      expect(finding).toMatchObject({
        ...{ severity: "warning", evidence: "measured" },
        numbers: expect.arrayContaining([
          expect.objectContaining({ name: "entity", value: account.address }),
        ]) as unknown,
      });
  });
  it.each(rowsOf("factory"))("factory %i: %j", { timeout: 60_000 }, async (how, told) => {
    // in the run of the calls alone, other code stands at the EntryPoint, which this factory calls
    const verdict = how === 14 || how === 25 ? "unknown" : undefined;
    await check("0.8", await operationOf(await madeBy("0.8", how), large), told, verdict);
  });
  it.each(rowsOf("paymaster"))("paymaster %i: %j", { timeout: 60_000 }, async (how, told) => {
    await check("0.8", await operationOf(await doubled("0.8", 0), await payingFor("0.8", how)), told);
  });
  it.each(["0.7", "0.9"] as const)("each entity is named with EntryPoint %s", { timeout: 60_000 }, async (version) => {
    const account = await madeBy(version, 1);
    await check(version, await operationOf(account, { ...large, ...(await payingFor(version, 2)) }), [
      "the factory · OP-011 · TIMESTAMP",
      "the paymaster · OP-011 · NUMBER",
    ]);
  });
  it.each([5, 6, 7, 10, 21, 24, 27, 28])("a stake lifts what it may: %i", { timeout: 60_000 }, async (how) => {
    await check("0.8", await operationOf(await madeBy("0.8", how, true), large), []);
    if (how === 5 || how === 21) return;
    await check("0.8", await operationOf(await doubled("0.8", 0), await payingFor("0.8", how, true)), []);
  });

  it.each(["0.8", "0.9"] as const)(
    "a key that is yet to delegate keeps them: %s",
    { timeout: 60_000 },
    async (version) => {
      const [, , key] = keys;
      if (key === undefined) throw new Error("no key");
      const entry = { address: kit.simple7702[version] ?? other, chainId: kit.scene.chainId, nonce: 0 };
      const account: Account = { version, address: key.address, key, kind: "delegated", init: {} };
      const made = {
        factory: "0x7702",
        factoryData: "0x",
        authorization: { ...entry, nonce: await kit.scene.count(key.address) },
      };
      const report = await ask(version, await operationOf(account, made as never), key.address);
      expect([report.signing?.operation?.success, brokenIn(report), notSeenIn(report)], said(report)).toEqual([
        true,
        [],
        [books],
      ]);
    },
  );

  describe("a node", () => {
    const tracersIn = (proxy: Proxy): ReadonlyArray<unknown> =>
      proxy.seen.flatMap(({ method, params }) =>
        method === "debug_traceCall" ? [(params as ReadonlyArray<{ readonly tracer?: string }>)[2]?.tracer] : [],
      );
    const renamed = (params: unknown, tracer = "erc7562Tracers"): unknown =>
      JSON.parse(JSON.stringify(params).replace('"erc7562Tracer"', `"${tracer}"`)) as unknown;
    const twice = async (proxy: Proxy): Promise<ReadonlyArray<Report>> => {
      const own = createPreflight({ url: proxy.url });
      const account = await doubled("0.8", 1);
      const input = { entryPoint: entryPoints["0.8"], signer: owner?.address };
      const reports: Array<Report> = [];
      for (let time = 0; time < 2; time++)
        reports.push((await own.preflight({ ...input, operation: await operationOf(account) } as never)) as never);
      await own.dispose();
      return reports;
    };
    const unseen = [`opcodes, code, storage, ${books}`];

    it("without the tracer tells the times, and is not asked again", { timeout: 60_000 }, async () => {
      const proxy = await startProxy({ target: kit.scene.url, rewrite: (_, params) => renamed(params) });
      const reports = await twice(proxy);
      for (const report of reports)
        expect([report.verdict, brokenIn(report), notSeenIn(report)], said(report)).toEqual(["ready", [], unseen]);
      expect(reports.map(({ signing }) => signing?.operation?.validIn)).toEqual(["seconds", "seconds"]);
      expect([...tracersIn(proxy)].sort()).toEqual([
        ...["callTracer", "callTracer", "erc7562Tracer", "prestateTracer", "prestateTracer"],
      ]);
      await proxy.stop();
    });
    it("that answers with another tracer's form keeps the other trace", { timeout: 60_000 }, async () => {
      const proxy = await startProxy({ target: kit.scene.url, rewrite: (_, params) => renamed(params, "4byteTracer") });
      const reports = await twice(proxy);
      for (const report of reports)
        expect([report.verdict, brokenIn(report), notSeenIn(report)], said(report)).toEqual(["ready", [], unseen]);
      expect(reports.map(({ signing }) => signing?.operation?.validIn)).toEqual(["seconds", "seconds"]);
      expect(tracersIn(proxy).filter((tracer) => tracer === "erc7562Tracer")).toHaveLength(1);
      await proxy.stop();
    });
    it("that takes too long for it is not asked again", { timeout: 60_000 }, async () => {
      const proxy = await startProxy({ target: kit.scene.url });
      proxy.failAt("debug_traceCall", faults.hang, 2);
      const [first, second] = await twice(proxy);
      expect([first, second].map((report) => report && notSeenIn(report))).toEqual([unseen, unseen]);
      expect([first?.signing?.operation?.validIn, second?.signing?.operation?.validIn]).toEqual(["seconds", "seconds"]);
      expect(tracersIn(proxy).slice(0, 3)).toEqual(["prestateTracer", "callTracer", "erc7562Tracer"]);
      expect(tracersIn(proxy).filter((tracer) => tracer === "erc7562Tracer")).toHaveLength(1);
      await proxy.stop();
    });
    it("with the tracer is asked for nothing beside it the second time", { timeout: 60_000 }, async () => {
      const proxy = await startProxy({ target: kit.scene.url });
      for (const report of await twice(proxy)) expect(brokenIn(report)).toEqual(["the account · OP-011 · TIMESTAMP"]);
      expect([...tracersIn(proxy)].sort()).toEqual([
        ...["callTracer", "erc7562Tracer", "erc7562Tracer", "prestateTracer", "prestateTracer"],
      ]);
      await proxy.stop();
    });
  });
});
