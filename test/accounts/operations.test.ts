/** The report of a user operation made before its signature exists, held against what the chain has after it was signed and sent. */
import { runSync } from "effect/Effect";
import { Policy, Report as Reports } from "evm-preflight";
import { createPreflight, guardProvider, type GuardOptions } from "evm-preflight/promise";
import { concatHex, decodeAbiParameters, hashTypedData, numberToHex, padHex, type Address, type Hex } from "viem";
import { getUserOperationTypedData } from "viem/account-abstraction";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AccountDouble } from "../contracts/artifacts.js";
import { keys } from "../preflight/scene.js";
import { diceOf } from "../harness/families/kit.js";
import { rejection } from "../guard/reasons.js";
import { drawn } from "../harness/parts.js";
import { hasEntryPoints } from "../signing/parts.js";
import { encode, entryPoints, kitsFor, structOf, stub, versions, type Account } from "./operationsKit.js";
import type { OperationsKit, UserOperation, Version } from "./operationsKit.js";

const isThere = hasEntryPoints("user operations");
const many = drawn(20);

type Report = Awaited<ReturnType<ReturnType<typeof createPreflight>["signature"]>>;
const userOperationEvent = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f";
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const told = (report: Report): string =>
  `${report.verdict}, ${report.because}; ${report.findings.map(({ severity, code, numbers }) => `${severity} ${code} ${numbers.map(({ name, value }) => `${name} ${String(value)}`).join(", ")}`).join("; ")}`;

/** What an EntryPoint says of an operation in a receipt. */
const eventIn = (receipt: Awaited<ReturnType<OperationsKit["handle"]>>, hash: Hex) => {
  const log = receipt.logs.find(({ topics }) => topics[0] === userOperationEvent && topics[1] === hash);
  if (log === undefined) return null;
  const [nonce, success, cost, gas] = decodeAbiParameters(
    [{ type: "uint256" }, { type: "bool" }, { type: "uint256" }, { type: "uint256" }],
    log.data,
  );
  return { nonce, success, cost, gas };
};

const usual = { callGasLimit: 120_000n, verificationGasLimit: 150_000n, preVerificationGas: 60_000n };

describe.skipIf(!isThere).each(kitsFor("user operations"))("user operations on %s", (name, start) => {
  let kit: OperationsKit;
  let preflight: ReturnType<typeof createPreflight>;
  const accounts = new Map<string, Account>();
  let seed = 0;
  beforeAll(async () => {
    kit = await start();
    preflight = createPreflight({ url: kit.scene.url });
  }, 240_000);
  afterAll(async () => {
    await preflight?.dispose();
    await kit?.stop();
  });

  const accountOf = async (version: Version, kind: "deployed" | "fresh" | "delegated" | "double") => {
    seed++;
    if (kind === "fresh") return kit.account(version, seed, "fresh");
    const known = accounts.get(`${version}/${kind}`);
    if (known !== undefined) return known;
    const made = kind === "double" ? await kit.double(version, seed) : await kit.account(version, seed, kind);
    accounts.set(`${version}/${kind}`, made);
    return made;
  };

  const operationOf = async (
    account: Account,
    callData: Hex = encode("execute", ["0x00000000000000000000000000000000000bEEf1", 10n ** 15n, "0x"]),
    over: Partial<UserOperation> = {},
    key = 0n,
  ): Promise<UserOperation> => ({
    ...{ sender: account.address, nonce: await kit.nonce(account, key), callData, signature: stub },
    ...usual,
    ...(account.kind === "fresh" ? { verificationGasLimit: 450_000n } : {}),
    ...(await kit.fees()),
    ...account.init,
    ...over,
  });

  const ask = (version: Version, operation: UserOperation, more: object = {}): Promise<Report> =>
    preflight.preflight({ entryPoint: entryPoints[version], operation, ...more } as never) as never;

  it.each(versions)("of EntryPoint %s are hashed as it hashes them", { timeout: 120_000 }, async (version) => {
    const account = await accountOf(version, "deployed");
    const plain = await operationOf(account);
    const paid = await kit.vouched(version, plain);
    const keys = version === "0.8" || version === "0.9" ? [await accountOf(version, "delegated")] : [];
    const marked = await Promise.all(
      keys.map(async (key) => ({ ...(await operationOf(key)), factory: "0x7702" as Hex, factoryData: "0x" as Hex })),
    );
    const beside =
      version === "0.9"
        ? [{ ...paid, paymasterData: paid.paymasterData?.slice(0, 130) as Hex, paymasterSignature: stub }]
        : [];
    for (const operation of [
      plain,
      paid,
      { ...plain, ...(await accountOf(version, "fresh")).init },
      ...marked,
      ...beside,
    ]) {
      const report = await ask(version, operation);
      expect(report.signing?.operation?.hash, told(report)).toBe(await kit.hashOnChain(version, operation));
      if (!("factory" in operation && operation.factory === "0x7702"))
        expect(report.signing?.operation?.hash).toBe(kit.hash(version, operation));
    }
  });

  it.each(versions)("of EntryPoint %s do what their reports said", { timeout: 15_000 * many }, async (version) => {
    const dice = diceOf(version.charCodeAt(2) * 100);
    const kinds = (["deployed", "fresh", "delegated", "double"] as const).filter(
      (kind) => kind !== "delegated" || version === "0.8" || version === "0.9",
    );
    for (let round = 0; round < (name === "anvil" ? 3 : many); round++) {
      const kind = dice.of(kinds.filter((one) => one !== "double" || version !== "0.6"));
      const account = await accountOf(version, kind);
      const to = numberToHex(2n ** 150n + BigInt(seed), { size: 20 });
      const amount = 1n + BigInt(dice.below(1_000_000));
      const action = kind === "fresh" ? "pay" : dice.of(["pay", "transfer", "approve"] as const);
      const callData =
        action === "pay"
          ? encode("execute", [to, amount, "0x"])
          : encode("execute", [kit.token, 0n, encode(action, [to, amount])]);
      if (kind === "double" && action === "transfer") await kit.mint(account.address);
      const key = kind === "fresh" ? 0n : BigInt(dice.below(3));
      const bare = await operationOf(account, callData, {}, key);
      const operation = dice.below(3) === 0 ? await kit.vouched(version, bare) : bare;
      const report = await ask(version, operation, {
        ...(kind === "fresh" || dice.below(2) === 0 || kind === "double" ? { signer: account.key.address } : {}),
      });
      const words = `${version} ${round} ${kind} ${action} ${operation.paymaster ?? operation.paymasterAndData ?? ""}: ${told(report)}`;
      const allowance = () =>
        kit.read(kit.token, "function allowance(address, address) view returns (uint256)", [account.address, to]);
      const readings = async () => [
        await kit.scene.balance(to),
        await kit.read(kit.token, "function balanceOf(address) view returns (uint256)", [to]),
        await allowance(),
        await kit.scene.balance(account.address),
      ];
      const before = await readings();
      const signed = await kit.sign(account, operation);
      const receipt = await kit.handle(version, [signed]);
      const after = await readings();
      const hash = kit.hash(version, operation);
      const event = eventIn(receipt, hash);
      expect(event?.success, words).toBe(true);
      if (event === null) continue;
      if (name === "anvil") {
        expect(report.verdict, words).toBe("unknown");
        continue;
      }
      expect(["ready", "caution"], words).toContain(report.verdict);
      // the paymaster of 0.6 counts the operations of each account, which bundlers want a stake for where it is yet to be made
      const isCounted = version === "0.6" && kind === "fresh" && operation !== bare;
      if (action !== "approve") expect(report.verdict, words).toBe(isCounted ? "caution" : "ready");
      const own = report.signing?.operation;
      expect(own, words).toMatchObject({
        hash,
        success: true,
        entryPoint: entryPoints[version].toLowerCase(),
        version,
      });
      // the code in place of ECRECOVER takes a few units more, and 2,700 where it asks the true one for a paymaster's signature
      const more = (own?.actualGasUsed ?? 0n) - event.gas;
      expect([words, more >= 0n && more < 3_000n, more]).toEqual([words, true, more]);
      expect(own?.actualGasCost, words).toBeLessThanOrEqual(own?.prefund ?? 0n);
      // the price of gas is that of the block
      const price = (event.cost * 1_000n) / event.gas;
      const toldPrice = ((own?.actualGasCost ?? 0n) * 1_000n) / (own?.actualGasUsed ?? 1n);
      expect(Number(toldPrice - price) / Number(price), words).toBeLessThan(0.13);
      expect((own?.nonce.key ?? 0n) * 2n ** 64n + (own?.nonce.sequence ?? 0n)).toBe(event.nonce);
      expect(await kit.nonce(account, key)).toBe(event.nonce + 1n);
      const deltaOf = (token: string | null, of: string) =>
        report.balanceChanges
          .filter((change) => same(change.account, of) && same(change.token ?? "", token ?? ""))
          .reduce((sum, { delta }) => sum + delta, 0n);
      const row = report.approvals.findLast((one) => same(one.owner, account.address) && same(one.spender, to));
      const expected = [
        (before[0] ?? 0n) + deltaOf(null, to),
        (before[1] ?? 0n) + deltaOf(kit.token, to),
        row?.after ?? before[2],
        (before[3] ?? 0n) + deltaOf(null, account.address),
      ];
      expect([words, expected]).toEqual([words, after]);
      expect(report.transfers.filter(({ to: payee }) => same(payee, report.signing?.stand.taker ?? ""))).toEqual([]);
      const { taker, stranger } = report.signing?.stand ?? {};
      expect(report.payees.filter(({ address }) => address === taker || address === stranger)).toEqual([]);
      expect(report.balanceChanges.filter(({ account: its }) => its === taker || its === stranger)).toEqual([]);
      const cleared = await preflight.ready(report);
      const [asked] = cleared.signs;
      if (asked?.kind !== "userOperation") throw new Error("no user operation");
      expect([asked.digest, asked.entryPoint, asked.chainId]).toEqual([hash, own?.entryPoint, kit.scene.chainId]);
      expect(asked.signer.toLowerCase()).toBe(account.key.address.toLowerCase());
    }
  });

  interface Broken {
    readonly what: string;
    readonly versions?: ReadonlyArray<Version>;
    readonly make: (version: Version) => Promise<{
      readonly operation: UserOperation;
      readonly account: Account;
      readonly more?: object;
    }>;
    readonly verdict: Report["verdict"];
    /** Codes that are found, and words that stand in their numbers. */
    readonly codes: ReadonlyArray<string>;
    readonly words: ReadonlyArray<string>;
    /** It would be taken all the same: the library only cannot know. */
    readonly isGood?: boolean;
  }

  const later = ["0.7", "0.8", "0.9"] as const;
  const withInit = (version: Version, data: Hex): Partial<UserOperation> =>
    version === "0.6" ? { initCode: concatHex([kit.bad, data]) } : { factory: kit.bad, factoryData: data };
  const made = (mode: bigint, at: Address): Hex =>
    concatHex(["0x354a0e51", numberToHex(mode, { size: 32 }), padHex(at, { size: 32 })]);
  const broken =
    (kind: "deployed" | "fresh", over: (account: Account, version: Version) => Partial<UserOperation>) =>
    async (version: Version) => {
      const account = await accountOf(version, kind);
      const operation = await operationOf(account);
      return { account, operation: { ...operation, ...over(account, version) }, more: { signer: account.key.address } };
    };
  const doubled =
    (options: Parameters<OperationsKit["double"]>[2], over: Partial<UserOperation> = {}) =>
    async (version: Version) => {
      const account = await kit.double(version, ++seed, options);
      return { account, operation: await operationOf(account, undefined, over) };
    };
  const paidBy =
    (
      at: (version: Version) => Promise<Address | undefined>,
      times?: readonly [bigint, bigint],
      over: Partial<UserOperation> = {},
    ) =>
    async (version: Version) => {
      const account = await accountOf(version, "deployed");
      const operation = await kit.vouched(version, await operationOf(account), await at(version), times);
      return { account, operation: { ...operation, ...over } };
    };
  /** With the largest limit, in thousands, that the EntryPoint refuses with this code. */
  const edge = (of: string) => async (version: Version) => {
    const account = await accountOf(version, "deployed");
    const operation = await operationOf(account);
    for (let limit = 80_000n; limit > 10_000n; limit -= 1_000n) {
      const less = { ...operation, verificationGasLimit: limit };
      if (told(await ask(version, less)).includes(of)) return { account, operation: less };
    }
    throw new Error(`no limit gives ${of}`);
  };
  const honest = async (): Promise<undefined> => undefined;

  const rows: ReadonlyArray<Broken> = [
    {
      ...{ what: "whose account is there already", versions: ["0.6", "0.7", "0.8"], verdict: "blocked" },
      make: async (version) => {
        const account = await accountOf(version, "deployed");
        const fresh = await kit.account(version, seed, "fresh", 0n);
        return { account, operation: { ...(await operationOf(account)), ...fresh.init } };
      },
      ...{ codes: ["OperationFails"], words: ["AA10", "the factory"] },
    },
    {
      ...{
        what: "whose factory reverts",
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA13", "the factory"],
      },
      make: broken("fresh", ({ address }, version) => withInit(version, made(0n, address))),
    },
    {
      ...{ what: "whose factory names another account", verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["AA14", "the factory"] },
      make: broken("fresh", (_, version) => withInit(version, made(1n, kit.bad))),
    },
    {
      ...{ what: "whose factory makes no account", verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["AA15", "the factory"] },
      make: broken("fresh", ({ address }, version) => withInit(version, made(1n, address))),
    },
    {
      ...{
        what: "whose account is not there",
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA20", "the account"],
      },
      make: broken("fresh", (_, version) =>
        version === "0.6" ? { initCode: "0x" } : { factory: undefined as never, factoryData: undefined as never },
      ),
    },
    {
      ...{ what: "whose account has too little", verdict: "blocked" },
      ...{ codes: ["OperationFails", "OperationPrefund"], words: ["AA21", "the account"] },
      make: async (version) => {
        const account = await kit.account(version, ++seed, "fresh", 10n);
        return { account, operation: await operationOf(account), more: { signer: account.key.address } };
      },
    },
    {
      ...{ what: "whose account pays nothing", versions: later, verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["AA21", "the account"], make: doubled({ mode: 3 }) },
    },
    {
      ...{
        what: "that is expired",
        versions: later,
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA22", "the account"],
      },
      make: doubled({ times: 1_000n << 160n }),
    },
    {
      ...{
        what: "that is not due",
        versions: later,
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA22", "the account"],
      },
      make: doubled({ times: (2n ** 40n) << 208n }),
    },
    {
      ...{
        what: "whose block is over",
        versions: ["0.9"],
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA27", "the account"],
      },
      make: doubled({ times: ((2n ** 47n + 1n) << 208n) | ((2n ** 47n + 2n) << 160n) }),
    },
    {
      ...{ what: "whose account reverts", versions: later, verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["AA23", "Locked", "the account"] },
      make: async (version) => ({ ...(await doubled({ mode: 2 })(version)), more: {} }),
    },
    {
      ...{ what: "by another key", verdict: "unknown", codes: ["SignatureNotAssumed"], words: ["AA24"], isGood: true },
      make: async (version) => ({
        ...(await broken("deployed", () => ({}))(version)),
        more: { signer: "0x00000000000000000000000000000000000000aa" },
      }),
    },
    {
      ...{ what: "of an account that asks no ecrecover", versions: later, verdict: "unknown" },
      ...{ codes: ["SignatureNotAssumed"], words: ["AA24", "the account"], isGood: true },
      make: doubled({ mode: 1 }, { signature: `0x${"11".repeat(32)}` }),
    },
    {
      ...{ what: "of an account that is to be made, by nobody who is named", verdict: "unknown" },
      ...{ codes: ["SignatureNotAssumed"], words: ["name the signer"], isGood: true },
      make: async (version) => ({ ...(await broken("fresh", () => ({}))(version)), more: {} }),
    },
    {
      ...{
        what: "whose nonce is used",
        verdict: "blocked",
        codes: ["SignatureUsed", "OperationFails"],
        words: ["AA25"],
      },
      make: async (version) => {
        const account = await accountOf(version, "deployed");
        await kit.handle(version, [await kit.sign(account, await operationOf(account))]);
        const operation = await operationOf(account);
        return { account, operation: { ...operation, nonce: operation.nonce - 1n } };
      },
    },
    {
      ...{
        what: "whose nonce comes later",
        verdict: "unknown",
        codes: ["SignatureNotYet"],
        words: ["an earlier nonce"],
      },
      make: async (version) => {
        const account = await accountOf(version, "deployed");
        const operation = await operationOf(account);
        return { account, operation: { ...operation, nonce: operation.nonce + 3n } };
      },
    },
    {
      ...{
        what: "with little gas to verify",
        versions: later,
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA26", "the account", "verificationGasLimit", "enough"],
      },
      make: edge("AA26"),
    },
    {
      ...{
        what: "with little gas to verify",
        versions: ["0.6"],
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA40", "the account", "verificationGasLimit", "enough"],
      },
      make: edge("AA40"),
    },
    {
      ...{
        what: "with little gas to make its account",
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA13", "verificationGasLimit"],
      },
      make: broken("fresh", () => ({ verificationGasLimit: 70_000n })),
    },
    {
      ...{ what: "with hardly any gas to verify", verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["verificationGasLimit", "10000"] },
      make: broken("deployed", () => ({ verificationGasLimit: 10_000n })),
    },
    {
      ...{
        what: "with gas that overflows",
        verdict: "blocked",
        codes: ["OperationFails", "OperationPrefund"],
        words: ["AA94", "the operation's fields"],
      },
      make: broken("deployed", () => ({ verificationGasLimit: 2n ** 121n })),
    },
    {
      ...{
        what: "with little gas to act",
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["the account", "callGasLimit", "11000"],
      },
      make: broken("deployed", () => ({ callGasLimit: 11_000n })),
    },
    {
      ...{
        what: "whose call reverts",
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["ERC20InsufficientBalance", "the account's call"],
      },
      make: broken("deployed", ({ address }) => ({
        callData: encode("execute", [kit.token, 0n, encode("transfer", [address, 10n ** 40n])]),
      })),
    },
    {
      ...{ what: "whose paymaster is not there", versions: ["0.6", "0.7", "0.8"], verdict: "blocked" },
      ...{ codes: ["OperationFails", "OperationPrefund"], words: ["AA31", "the paymaster"] },
      make: async (version) => {
        const { account, operation } = await paidBy(honest)(version);
        const nobody = numberToHex(2n ** 151n + 7n, { size: 20 });
        const { paymasterAndData = "0x" } = operation;
        return {
          account,
          operation:
            version === "0.6"
              ? { ...operation, paymasterAndData: `${nobody}${paymasterAndData.slice(42)}` as Hex }
              : { ...operation, paymaster: nobody },
        };
      },
    },
    {
      ...{ what: "whose paymaster has too little", verdict: "blocked" },
      ...{ codes: ["OperationFails", "OperationPrefund"], words: ["AA31", "the paymaster"] },
      make: paidBy((version) => kit.paymaster(version, 0, 10n)),
    },
    {
      ...{
        what: "whose paymaster's time is over",
        verdict: "blocked",
        codes: ["OperationFails"],
        words: ["AA32", "the paymaster"],
      },
      make: paidBy(honest, [1_000n, 0n]),
    },
    {
      ...{ what: "whose paymaster refuses", versions: later, verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["AA33", "out of business", "the paymaster"] },
      make: paidBy((version) => kit.paymaster(version, 2)),
    },
    {
      ...{
        what: "whose paymaster signed something else",
        verdict: "unknown",
        codes: ["SignatureNotAssumed"],
        words: ["AA34"],
      },
      make: paidBy(honest, undefined, { callGasLimit: 140_000n }),
    },
    {
      ...{ what: "with little gas for its paymaster", versions: ["0.8", "0.9"], verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["the paymaster", "paymasterVerificationGasLimit", "9000"] },
      make: async (version) => {
        const account = await accountOf(version, "deployed");
        const low = { paymasterVerificationGasLimit: 9_000n };
        return { account, operation: { ...(await paidBy(honest)(version)).operation, ...low } };
      },
    },
    {
      ...{ what: "whose paymaster fails afterwards", versions: later, verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["the paymaster", "no thanks"] },
      make: paidBy((version) => kit.paymaster(version, 1)),
    },
    {
      ...{ what: "of a key that delegates to nothing", versions: ["0.8", "0.9"], verdict: "blocked" },
      ...{ codes: ["OperationFails"], words: ["the EntryPoint"] },
      make: broken("fresh", () => ({ factory: "0x7702", factoryData: "0x" })),
    },
    {
      ...{ what: "for another chain", verdict: "blocked", codes: ["ChainIdMismatch"], words: [], isGood: true },
      make: async (version) => ({
        ...(await broken("deployed", () => ({}))(version)),
        more: { chainId: 10 },
      }),
    },
  ];

  describe.skipIf(name === "anvil").each(rows)(
    "$what",
    ({ versions: of = versions, make, verdict, codes, words, isGood }) => {
      it.each(of)("in EntryPoint %s", { timeout: 60_000 }, async (version) => {
        const { operation, account, more = {} } = await make(version);
        const abis = [AccountDouble.abi];
        const report = await (preflight.preflight as never as (input: object, options: object) => Promise<Report>)(
          { entryPoint: entryPoints[version], operation, ...more },
          { abis },
        );
        const found = report.findings.filter(({ severity }) => severity === "blocker" || severity === "unavailable");
        expect([told(report), report.verdict]).toEqual([told(report), verdict]);
        expect(found.map(({ code }) => code).sort(), told(report)).toEqual([...codes].sort());
        for (const word of words)
          expect(
            found.flatMap(({ numbers }) => numbers.map(({ name: of, value }) => `${of} ${String(value)}`)).join(" "),
            told(report),
          ).toContain(word);
        expect(report.findings.map(({ code }) => code)).toContain("BundlerRulesUnseen");
        await expect(preflight.ready(report)).rejects.toThrow();
        if (isGood === true) return;
        const hash = operation.factory === "0x7702" ? null : kit.hash(version, operation);
        const receipt = await kit.handle(version, [hash === null ? operation : await kit.sign(account, operation)]);
        expect(hash === null ? false : (eventIn(receipt, hash)?.success ?? false), told(report)).toBe(false);
      });
    },
  );

  describe.skipIf(name === "anvil")("and what stands beside them", () => {
    const askAll = (inputs: ReadonlyArray<object>): Promise<Report> => preflight.preflight(inputs as never) as never;
    const inputOf = (version: Version, operation: object, more: object = {}) => ({
      ...{ entryPoint: entryPoints[version], operation },
      ...more,
    });

    it.each(["0.8", "0.9"] as const)("of EntryPoint %s carry an authorisation that is not signed", async (version) => {
      const key = privateKeyToAccount(numberToHex(2n ** 190n + BigInt(++seed), { size: 32 }));
      await kit.fund(key.address, 10n ** 18n);
      const account: Account = { version, address: key.address, key, init: {}, kind: "delegated" };
      const entry = { address: kit.simple7702[version] as Address, chainId: kit.scene.chainId, nonce: 0 };
      const operation = await operationOf(account, undefined, {
        factory: "0x7702",
        factoryData: "0x",
        authorization: entry,
      });
      const report = await ask(version, operation);
      expect([told(report), report.verdict]).toEqual([told(report), "caution"]);
      expect(report.signing?.operation?.success).toBe(true);
      const digest = report.signing?.sign.digest ?? "0x";
      const signed = { ...operation, signature: await key.sign({ hash: digest }) };
      const authorization = await key.signAuthorization(entry);
      const receipt = await kit.handle(version, [signed], { authorizationList: [authorization as never] });
      const event = eventIn(receipt, digest);
      expect(event?.success, told(report)).toBe(true);
      const more = (report.signing?.operation?.actualGasUsed ?? 0n) - (event?.gas ?? 0n);
      // a real authorisation leaves the account warm
      expect([more >= 0n && more < 3_000n, more]).toEqual([true, more]);
      const { signs } = await preflight.ready(report);
      expect(signs.map(({ kind }) => kind)).toContain("userOperation");
      // what no hash has is handed out, too
      const [signing] = report.signings;
      if (signing?.sign.kind !== "userOperation") throw new Error("no operation");
      const { eip7702Auth } = signing.sign.operation;
      const other = { ...(eip7702Auth as object), address: kit.bad };
      for (const more of [
        { authorization: eip7702Auth, eip7702Auth: other },
        { authorization: eip7702Auth, eip7702Auth: null },
        { nonce: "0x00" },
      ]) {
        const changed = { ...signing, sign: { ...signing.sign, operation: { ...signing.sign.operation, ...more } } };
        await expect(
          preflight.ready({ ...report, signing: changed, signings: [changed] } as never),
          JSON.stringify(more),
        ).rejects.toThrow();
      }
    });

    it("are no fault of the node where two are the same, by two signers", async () => {
      const own = createPreflight({ url: kit.scene.url });
      const account = await accountOf("0.7", "deployed");
      const input = inputOf("0.7", await operationOf(account));
      const twice = [input, { ...input, signer: kit.voucher.address }];
      const report = (await own.preflight(twice as never)) as never as Report;
      expect([told(report), report.verdict]).toEqual([told(report), "blocked"]);
      expect(report.findings.map(({ code }) => code)).toContain("SignatureUsed");
      const alone = (await own.preflight(input as never)) as never as Report;
      expect([told(alone), alone.verdict]).toEqual([told(alone), "ready"]);
      await own.dispose();
    });

    it.each(versions)("of EntryPoint %s run one behind the other", async (version) => {
      const account = await accountOf(version, "deployed");
      const first = await operationOf(account);
      const second = { ...first, nonce: first.nonce + 1n };
      const report = await askAll([inputOf(version, first), inputOf(version, second)]);
      expect([told(report), report.verdict]).toEqual([told(report), "ready"]);
      expect(report.signings.map(({ operation }) => operation?.success)).toEqual([true, true]);
      const later = await askAll([inputOf(version, second), inputOf(version, first)]);
      expect([told(later), later.verdict]).toEqual([told(later), "unknown"]);
      const receipt = await kit.handle(version, [await kit.sign(account, first)]);
      const next = await kit.handle(version, [await kit.sign(account, second)]);
      for (const [at, its] of [receipt, next].entries()) {
        const event = eventIn(its, report.signings[at]?.sign.digest ?? "0x");
        const more = (report.signings[at]?.operation?.actualGasUsed ?? 0n) - (event?.gas ?? 0n);
        expect([more >= 0n && more < 100n, more]).toEqual([true, more]);
      }
    });

    it("are held to policies about fees, gas and delegation", async () => {
      const account = await accountOf("0.7", "deployed");
      const operation = await operationOf(account);
      const { preVerificationGas, maxFeePerGas, verificationGasLimit, callGasLimit } = operation;
      const gas = preVerificationGas + verificationGasLimit + callGasLimit;
      const judged = async (one: UserOperation, policy: Policy.Policy): Promise<string> => {
        const input = inputOf("0.7", one);
        return (await preflight.userOperation(input as never, { policies: [policy] })).verdict;
      };
      expect(await judged(operation, Policy.maxFee(gas * maxFeePerGas))).toBe("ready");
      expect(await judged(operation, Policy.maxFee(gas * maxFeePerGas - 1n))).toBe("blocked");
      expect(await judged(operation, Policy.maxGas(gas))).toBe("ready");
      expect(await judged(operation, Policy.maxGas(gas - 1n))).toBe("blocked");
      // whoever bundles it is paid for gas that nobody uses
      const dear = { ...operation, preVerificationGas: 10n ** 17n / maxFeePerGas };
      expect(await judged(dear, Policy.maxFee(10n ** 16n))).toBe("blocked");
      const paid = await kit.vouched("0.7", operation);
      expect(await judged(paid, Policy.maxFee(1n))).toBe("ready");
      expect(await judged(paid, Policy.maxGas(gas))).toBe("blocked");
      expect(await judged(operation, Policy.denyDelegated)).toBe("ready");
      const key = inputOf("0.8", await operationOf(await accountOf("0.8", "delegated")));
      const denied = await preflight.userOperation(key as never, { policies: [Policy.denyDelegated] });
      expect([denied.verdict, denied.findings.map(({ code }) => code)]).toEqual([
        "blocked",
        expect.arrayContaining(["PolicyViolation"]),
      ]);
    });

    it("are unknown where a limit is enough but for the simulation", async () => {
      const account = await accountOf("0.8", "deployed");
      const paid = await kit.vouched("0.8", await operationOf(account));
      const passes = async (limit: bigint): Promise<string> =>
        (await ask("0.8", { ...paid, paymasterVerificationGasLimit: limit })).verdict;
      let [low, high] = [5_000n, 200_000n];
      while (high - low > 100n) {
        const middle = (low + high) / 2n;
        if ((await passes(middle)) === "ready") high = middle;
        else low = middle;
      }
      // the paymaster's own signature is asked for by way of the code in place of ECRECOVER: 2,700 gas
      expect([await passes(high - 1_000n), await passes(high - 5_000n)]).toEqual(["unknown", "blocked"]);
      const tight = { ...paid, paymasterVerificationGasLimit: high - 1_000n };
      const receipt = await kit.handle("0.8", [await kit.sign(account, tight)]);
      expect(eventIn(receipt, kit.hash("0.8", tight))?.success).toBe(true);
    });

    it("hide no deposit that goes to somebody else", async () => {
      const account = await accountOf("0.8", "deployed");
      const taken = 10n ** 16n;
      await kit.deposit("0.8", account.address, 10n ** 17n);
      const callData = encode("execute", [
        entryPoints["0.8"],
        0n,
        encode("withdrawTo", ["0x00000000000000000000000000000000000bEEf2", taken]),
      ]);
      const report = await ask("0.8", await operationOf(account, callData));
      expect([told(report), report.verdict]).toEqual([told(report), "caution"]);
      expect(report.findings.map(({ code }) => code)).toContain("TransferMismatch");
      expect(report.transfers.map(({ amount }) => amount)).toContain(taken);
    });

    it.each([
      ["code in place of ECRECOVER", "60013b15601557600060006000600034335af150005b00", 0x17],
      ["a purse that nobody has", "323160501c15601757600060006000600034335af150005b00", 0x19],
    ])("are not ready where a callee keeps the money unless it sees %s", async (_, runtime, size) => {
      const bytecode =
        `0x60${size.toString(16).padStart(2, "0")}600c60003960${size.toString(16).padStart(2, "0")}6000f3${runtime}` as const;
      const callee = await kit.scene.deploy({ abi: [], bytecode });
      const account = await accountOf("0.8", "deployed");
      const report = await ask("0.8", await operationOf(account, encode("execute", [callee, 10n ** 15n, "0x"])));
      expect([told(report), report.verdict]).toEqual([told(report), "unknown"]);
      expect(told(report)).toContain("do something else where no signature is assumed");
    });

    it("take two rounds where the signer is named and the chain is known", async () => {
      const account = await kit.account("0.8", ++seed, "deployed");
      const connected = createPreflight({ url: kit.scene.url });
      const input = () => operationOf(account).then((one) => inputOf("0.8", one, { signer: account.key.address }));
      await connected.preflight((await input()) as never);
      const { ledger, verdict } = await connected.preflight((await input()) as never);
      const requests = ledger.requests.map(({ method, run, because }) => `${method} ${run ?? ""} ${because ?? ""}`);
      expect([verdict, ledger.rounds, requests.length <= 14], requests.join(", ")).toEqual(["ready", 2, true]);
      await connected.dispose();
    });

    it("of more gas than a block has are ready, one behind the other", { timeout: 120_000 }, async () => {
      const account = await kit.account("0.8", ++seed, "deployed");
      const base = await operationOf(account, undefined, { callGasLimit: 9_000_000n });
      const all = Array.from({ length: 12 }, (_, at) => ({ ...base, nonce: base.nonce + BigInt(at) }));
      const report = await askAll(all.map((one) => inputOf("0.8", one, { signer: account.key.address })));
      expect([told(report), report.verdict]).toEqual([told(report), "ready"]);
      // what is paid again for the ones in front follows the base fee, and is told as it was
      const own = report.signings.flatMap(({ operation }) => operation ?? []);
      const refills = own.slice(0, -1).reduce((sum, { actualGasCost }) => sum + (actualGasCost ?? 0n), 0n);
      const paid = report.transfers
        .filter(({ to, token }) => token === null && same(to, entryPoints["0.8"]))
        .reduce((sum, { amount }) => sum + amount, 0n);
      expect(paid).toBe((own[0]?.prefund ?? 0n) - (own[0]?.deposit ?? 0n) + refills);
      const change = report.balanceChanges.find((row) => row.token === null && same(row.account, account.address));
      expect(change?.delta).toBe(-paid - 12n * 10n ** 15n);
      for (const [at, operation] of all.entries()) {
        const receipt = await kit.handle("0.8", [await kit.sign(account, operation)], { gas: 12_000_000n });
        expect(eventIn(receipt, report.signings[at]?.sign.digest ?? "0x")?.success).toBe(true);
      }
    });

    it("stand behind the transaction that pays for them", async () => {
      const account = await kit.account("0.8", ++seed, "fresh", 0n);
      const [payer] = keys;
      if (payer === undefined) throw new Error("no key");
      const operation = await operationOf(account);
      const funding = { from: payer.address, to: account.address, value: 10n ** 18n };
      const report = await askAll([funding, inputOf("0.8", operation, { signer: account.key.address })]);
      expect([told(report), report.verdict]).toEqual([told(report), "ready"]);
      expect(report.transactions).toHaveLength(1);
      expect(report.signings[0]?.operation?.success).toBe(true);
    });

    it("tell from when until when account and paymaster take them", async () => {
      const now = await kit.now();
      const account = await kit.double("0.9", ++seed, { times: ((now - 100n) << 208n) | ((now + 5_000n) << 160n) });
      const report = await ask("0.9", await operationOf(account));
      expect(report.signing, told(report)).toMatchObject({ from: now - 99n, until: now + 5_000n });
      const paid = await kit.vouched("0.9", await operationOf(account), undefined, [now + 4_000n, now - 50n]);
      const other = await ask("0.9", paid);
      expect(other.signing?.operation, told(other)).toMatchObject({
        ...{ validAfter: now - 50n, validUntil: now + 4_000n, validIn: "seconds" },
      });
      const blocks = (flag: bigint) => 2n ** 47n + flag;
      const counted = await kit.double("0.9", ++seed, { times: (blocks(1n) << 208n) | (blocks(900_000n) << 160n) });
      const third = await ask("0.9", await operationOf(counted));
      expect(third.signing?.operation, told(third)).toMatchObject({
        validAfter: 1n,
        validUntil: 900_000n,
        validIn: "blocks",
      });
      expect(third.signing).toMatchObject({ from: null, until: null });
    });

    it("are scanned first and proven later, and what was changed is noticed", async () => {
      const account = await accountOf("0.7", "deployed");
      const input = inputOf("0.7", await operationOf(account));
      const scanned = await preflight.scan(input as never);
      const report = (await preflight.prove(scanned as never)) as never as Report;
      expect([told(report), report.verdict]).toEqual([told(report), "ready"]);
      await preflight.ready(report);
      const stored = runSync(Reports.fromJson(JSON.parse(JSON.stringify(Reports.toJson(report))) as never)) as Report;
      expect(stored.signings).toEqual(report.signings);
      const again = (await preflight.prove(stored as never)) as never as Report;
      expect([told(again), again.verdict]).toEqual([told(again), "ready"]);
      const [signing] = report.signings;
      if (signing?.sign.kind !== "userOperation") throw new Error("no operation");
      const { sign, stand } = signing;
      const changed = [
        { ...signing, sign: { ...sign, operation: { ...sign.operation, callData: "0x" } } },
        { ...signing, sign: { ...sign, operation: { ...sign.operation, signature: "0x" } } },
        { ...signing, sign: { ...sign, entryPoint: entryPoints["0.8"], version: "0.8" as const } },
        { ...signing, sign: { ...sign, chainId: 1 } },
        { ...signing, stand: { ...stand, taker: account.address } },
        { ...signing, account: account.key.address },
      ];
      for (const other of changed)
        await expect(
          preflight.ready({ ...report, signing: other, signings: [other] } as never),
          JSON.stringify(other, (_, value: unknown) => String(value)),
        ).rejects.toThrow();
    });

    it("of EntryPoint 0.9 may wait for their paymaster's signature", async () => {
      const account = await accountOf("0.9", "deployed");
      const paid = await kit.vouched("0.9", await operationOf(account));
      const times = (paid.paymasterData ?? "0x").slice(0, 130) as Hex;
      const waiting = { ...paid, paymasterData: times, paymasterSignature: stub };
      const without = await ask("0.9", waiting);
      expect([told(without), without.verdict]).toEqual([told(without), "unknown"]);
      const report = await ask("0.9", waiting, { paymasterSigner: kit.voucher.address });
      expect([told(report), report.verdict]).toEqual([told(report), "ready"]);
      const real = { ...waiting, paymasterSignature: `0x${(paid.paymasterData ?? "0x").slice(130)}` as Hex };
      const receipt = await kit.handle("0.9", [await kit.sign(account, real)]);
      expect(eventIn(receipt, report.signing?.sign.digest ?? "0x")?.success).toBe(true);
      const early = await ask("0.8", await kit.vouched("0.8", await operationOf(await accountOf("0.8", "deployed"))), {
        paymasterSigner: kit.voucher.address,
      });
      expect([told(early), early.verdict]).toEqual([told(early), "unknown"]);
    });

    it("are told in words", async () => {
      const account = await accountOf("0.9", "deployed");
      const report = await ask("0.9", await kit.vouched("0.9", await operationOf(account)));
      const words = Reports.toText(report);
      for (const word of [
        "a user operation of an account (ERC-4337)",
        "EntryPoint",
        "version 0.9",
        "succeed",
        "at most",
        "the paymaster",
      ])
        expect(words).toContain(word);
      expect(words).not.toContain(report.signing?.stand.taker.slice(2) ?? "0x");
    });

    it.each(["0.6", "0.8"] as const)(
      "of EntryPoint %s pass a policy that names everybody whom they touch, and no other",
      async (version) => {
        const account = await accountOf(version, "deployed");
        const payee = "0x00000000000000000000000000000000000bEEf1";
        const judged = async (...addresses: ReadonlyArray<Address>): Promise<Report> =>
          preflight.preflight(inputOf(version, await operationOf(account), { signer: account.key.address }) as never, {
            policies: [Policy.onlyTouches(addresses)],
          }) as never;
        const passed = await judged(entryPoints[version], payee);
        expect([told(passed), passed.verdict]).toEqual([told(passed), "ready"]);
        const refused = await judged(entryPoints[version]);
        expect([refused.verdict, codesOf(refused)]).toEqual([
          "blocked",
          expect.arrayContaining([expect.stringMatching(/^Policy/)]),
        ]);
      },
    );

    it("come in each form, and are the same", async () => {
      const account = await accountOf("0.7", "deployed");
      const operation = await kit.vouched("0.7", await operationOf(account));
      const hash = kit.hash("0.7", operation);
      const json = JSON.parse(
        JSON.stringify(operation, (_, value: unknown) => (typeof value === "bigint" ? numberToHex(value) : value)),
      ) as object;
      const { sender, nonce, callData, signature } = operation;
      const forms: ReadonlyArray<object> = [
        inputOf("0.7", json),
        inputOf("0.7", { ...structOf("0.7", operation), sender, nonce, callData, signature }),
        { entryPoint: "0.7", operation },
        { method: "eth_sendUserOperation", params: [json, entryPoints["0.7"]] },
      ];
      for (const form of forms) {
        const report = (await preflight.preflight(form as never)) as never as Report;
        expect([told(report), report.signing?.sign.digest]).toEqual([told(report), hash]);
        expect(report.verdict).toBe("ready");
      }
    });

    const typedOf = (version: Version, operation: object, point: Address = entryPoints[version]) =>
      getUserOperationTypedData({
        ...{ chainId: kit.scene.chainId, entryPointAddress: point },
        userOperation: operation as never,
      });
    const askTyped = (typedData: object, signer: Address): Promise<Report> =>
      preflight.signature({ typedData, signer } as never);
    const codesOf = ({ findings }: Report) => findings.map(({ code }) => code).sort();

    it.each(["0.8", "0.9"] as const)(
      "of EntryPoint %s are the same as typed data, and the guard signs that",
      async (version) => {
        for (const kind of ["deployed", "delegated", "fresh"] as const) {
          const account = await accountOf(version, kind);
          const more = kind === "delegated" ? { factory: "0x7702" as Hex, factoryData: "0x" as Hex } : {};
          const paid = await operationOf(account, undefined, more);
          const operation = kind === "deployed" ? await kit.vouched(version, paid) : paid;
          const digest = await kit.hashOnChain(version, operation);
          // who makes the typed data of a key that delegates names its code
          const code = { address: kit.simple7702[version] };
          const typed = typedOf(version, { ...operation, ...(kind === "delegated" ? { authorization: code } : {}) });
          expect(hashTypedData(typed as never)).toBe(digest);
          const signer = account.key.address;
          const [direct, report] = [await ask(version, operation, { signer }), await askTyped(typed, signer)];
          expect([kind, told(report), report.verdict]).toEqual([kind, told(direct), "ready"]);
          expect(report.signing).toMatchObject({ kind: "userOperation", account: account.address.toLowerCase() });
          const { actualGasUsed: gas = null, actualGasCost: _, ...own } = report.signing?.operation ?? {};
          expect(direct.signing?.operation).toMatchObject(own);
          // code in place of ECRECOVER that knows one digest less
          expect((direct.signing?.operation?.actualGasUsed ?? 0n) - (gas ?? 0n)).toBeLessThan(100n);
          const [sign] = (await preflight.ready(report)).signs;
          if (sign?.kind !== "userOperation" || sign.typedData === undefined) throw new Error("no typed data");
          expect([sign.digest, hashTypedData(sign.typedData as never)]).toEqual([digest, digest]);
          const stored = runSync(
            Reports.fromJson(JSON.parse(JSON.stringify(Reports.toJson(report))) as never),
          ) as Report;
          expect(((await preflight.prove(stored as never)) as never as Report).verdict).toBe("ready");
          const message = { ...(sign.typedData["message"] as object), nonce: "77" };
          const changed = { ...report.signing, sign: { ...sign, typedData: { ...sign.typedData, message } } };
          await expect(
            preflight.ready({ ...report, signing: changed, signings: [changed] } as never),
          ).rejects.toThrow();
          const asked: Array<string> = [];
          const wallet = {
            request: async ({ method, params = [] }: { method: string; params?: ReadonlyArray<unknown> }) => {
              if (method === "eth_chainId") return numberToHex(kit.scene.chainId);
              asked.push(method);
              return account.key.signTypedData(JSON.parse(String(params[1])) as never);
            },
          };
          const guarded = (prove: object, options: GuardOptions = {}) =>
            guardProvider(
              wallet as never,
              {
                ...{ node: { url: kit.scene.url }, onCaution: "refuse", signatures: { prove }, ...options },
              } as never,
            ) as unknown as typeof wallet;
          const json = JSON.stringify(typed, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));
          const request = { method: "eth_signTypedData_v4", params: [signer, json] };
          for (const prove of [{ kinds: ["erc2612"] }, { spenders: [] }, { policies: [Policy.maxFee(1n)] }]) {
            const isPaid = "policies" in prove && kind === "deployed";
            if (!isPaid)
              expect((await rejection(guarded(prove).request(request)))._tag).toMatch(/^(GuardRefused|NotCleared)$/);
          }
          expect(asked).toEqual([]);
          const payee = "0x00000000000000000000000000000000000bEEf1";
          // a payment to the EntryPoint of whatever size is more than what is held back
          for (const amount of [10n ** 17n, 1n])
            for (const data of [encode("depositTo", [kit.bad]), "0x"] as const) {
              const callData = encode("execute", [entryPoints[version], amount, data]);
              const unsigned = await operationOf(account, callData, more);
              const paying = kind === "deployed" ? await kit.vouched(version, unsigned) : unsigned;
              const other = JSON.stringify(
                typedOf(version, { ...paying, ...(kind === "delegated" ? { authorization: code } : {}) }),
                (_, part: unknown) => (typeof part === "bigint" ? String(part) : part),
              );
              const hidden = { ...request, params: [signer, other] };
              const refusal = await rejection(guarded({ spenders: [payee] }, { onCaution: "send" }).request(hidden));
              expect(refusal._tag).toMatch(/^(GuardRefused|NotCleared)$/);
              expect(asked).toEqual([]);
            }
          // the code of an account that is made controls it
          const control = report.payees.filter(({ rights }) => rights.some(({ kind: of }) => of === "control"));
          expect(control.length > 0).toBe(kind === "fresh");
          const spenders = [payee, ...control.map(({ address }) => address)];
          const signature = (await guarded({ kinds: ["userOperation"], spenders }).request(request)) as Hex;
          expect(asked).toEqual(["eth_signTypedData_v4"]);
          const receipt = await kit.handle(version, [{ ...operation, signature }]);
          expect(eventIn(receipt, digest)?.success, told(report)).toBe(true);
        }
      },
    );

    it("are unknown as typed data that does not tell all of it, and blocked where it fails by what is told", async () => {
      const account = await accountOf("0.8", "deployed");
      const operation = await operationOf(account);
      const signer = account.key.address;
      const typed = typedOf("0.8", operation);
      const onOther = { ...typed, domain: { ...typed.domain, chainId: 10 } };
      const blocked = await askTyped(onOther, signer);
      expect([told(blocked), blocked.verdict]).toEqual([told(blocked), "blocked"]);
      expect(codesOf(blocked)).toContain("ChainIdMismatch");
      for (const point of [entryPoints["0.6"], entryPoints["0.7"], kit.bad]) {
        const report = await askTyped(typedOf("0.8", operation, point), signer);
        expect([told(report), report.verdict]).toEqual([
          expect.stringContaining("no EntryPoint that is known"),
          "unknown",
        ]);
      }
      // an account that hashes once more takes no signature of typed data, though one of the operation
      const double = await kit.double("0.8", ++seed, { mode: 1 });
      const refused = await askTyped(typedOf("0.8", await operationOf(double)), double.key.address);
      expect([told(refused), refused.verdict]).toEqual([expect.stringContaining("AA24"), "unknown"]);
      const locked = await kit.double("0.8", ++seed, { mode: 2 });
      const reverted = await askTyped(typedOf("0.8", await operationOf(locked)), locked.key.address);
      expect([told(reverted), reverted.verdict]).toEqual([expect.stringContaining("AA23"), "unknown"]);
      // a key that is yet to delegate: the authorisation is not in there
      const key = privateKeyToAccount(numberToHex(2n ** 191n + BigInt(++seed), { size: 32 }));
      await kit.fund(key.address, 10n ** 18n);
      const waiting: Account = { version: "0.8", address: key.address, key, init: {}, kind: "delegated" };
      const code = { address: kit.simple7702["0.8"] };
      const own = { ...(await operationOf(waiting)), factory: "0x7702", factoryData: "0x", authorization: code };
      for (const { authorization, factory, ...one } of [own, { ...own, factory: undefined }]) {
        const all = { ...one, ...(factory === undefined ? {} : { factory, authorization }) };
        const report = await askTyped(typedOf("0.8", all), key.address);
        expect([told(report), report.verdict]).toEqual([told(report), "unknown"]);
        expect(codesOf(report)).not.toContain("OperationFails");
      }
      const broken = [
        { callData: encode("execute", [kit.token, 0n, encode("transfer", [account.address, 10n ** 40n])]) },
        { callGasLimit: 11_000n },
        { verificationGasLimit: 10_000n },
        { nonce: operation.nonce - 1n },
      ];
      for (const change of broken) {
        const report = await askTyped(typedOf("0.8", { ...operation, ...change }), signer);
        const direct = await ask("0.8", { ...operation, ...change }, { signer });
        expect([report.verdict, told(report)]).toEqual(["blocked", told(direct)]);
      }
    });

    it.each(["0.8", "0.9"] as const)(
      "of EntryPoint %s are unknown as typed data that may name another delegate than the account has",
      async (version) => {
        const account = await accountOf(version, "delegated");
        const more = { factory: "0x7702" as Hex, factoryData: "0x" as Hex };
        const operation = await operationOf(account, undefined, more);
        for (const address of [kit.simple7702[version === "0.8" ? "0.9" : "0.8"], kit.bad] as const) {
          const report = await askTyped(
            typedOf(version, { ...operation, authorization: { address } }),
            account.address,
          );
          expect([told(report), report.verdict]).toEqual([
            expect.stringContaining("delegates to other code"),
            "unknown",
          ]);
        }
      },
    );

    it("are unknown as typed data where nobody tells whether they name a factory or a delegate", async () => {
      const request = async ({ method, params }: { method: string; params?: unknown }) => {
        if (method === "eth_getCode") throw new Error("no code today");
        return kit.scene.ask(method, (params ?? []) as never);
      };
      const blind = createPreflight({ provider: { request } as never });
      const account = await accountOf("0.9", "delegated");
      const more = { factory: "0x7702" as Hex, factoryData: "0x" as Hex };
      const operation = await operationOf(account, undefined, more);
      const typedData = typedOf("0.9", { ...operation, authorization: { address: kit.simple7702["0.9"] } });
      const report = (await blind.signature({ typedData, signer: account.address } as never)) as never as Report;
      expect([told(report), report.verdict]).toEqual([
        expect.stringContaining("the account's code could not be read"),
        "unknown",
      ]);
      await blind.dispose();
    });

    it("of EntryPoint 0.6 and 0.7 stay unknown where their hash alone is to be signed", async () => {
      for (const version of ["0.6", "0.7"] as const) {
        const account = await accountOf(version, "deployed");
        const raw = kit.hash(version, await operationOf(account));
        const report = await preflight.signature({ message: { raw }, signer: account.key.address });
        expect([report.verdict, codesOf(report as never)]).toEqual([
          "unknown",
          expect.arrayContaining(["SignatureUnknown"]),
        ]);
      }
    });
  });
});
