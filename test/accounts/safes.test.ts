/**
 * Transactions of real Safes, preflighted before anybody has signed, then signed by the owners' keys and executed: outcome,
 * movements and nonce are as told. And such as cannot be executed, or do more than they seem to, each named.
 */
import { createPreflight } from "evm-preflight/promise";
import { runSync } from "effect/Effect";
import * as Result from "effect/Result";
import fc from "fast-check";
import { hashTypedData, numberToHex, toHex, type Address, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Delegate, SlotWriter, Token, AllowingGuard, AmountGuard, KeyGuard } from "../contracts/artifacts.js";
import { fromJson, toJson, toText } from "../../src/Report.js";
import { diceOf } from "../harness/families/kit.js";
import { findGethOrWarn } from "../harness/geth.js";
import { drawn, isWhole } from "../harness/parts.js";
import {
  owner as deployer,
  other as relayer,
  startAnvilScene,
  startGethScene,
  type Receipt,
  type Scene,
} from "../preflight/scene.js";
import { safeIn, typedOf } from "../rooms/signing.js";
import { hasBeds } from "../signing/parts.js";
import {
  encode,
  fieldsOf,
  makers,
  multiSendCode,
  safeTypes,
  versions,
  zero,
  type Makers,
  type SafeFields,
  type Version,
} from "./safeKit.js";

const isThere = hasBeds("transactions of Safes", "@safe-global/safe-smart-account");
/** How many transactions of each version are drawn, and the versions of which each broken one is tried. */
const [many, tried] = isWhole ? [drawn(20), versions] : [5, versions.slice(-1)];
const ether = 10n ** 18n;
/** Canonical addresses of MultiSendCallOnly. */
const multiSends: Readonly<Record<Version, Address>> = {
  "1.3.0": "0x40A2aCCbd92BCA938b02010E17A5b8929b49130D",
  "1.4.1": "0x9641d764fc13c8B624c04430C7356C1C7C8102e2",
  "1.5.0": "0xA83c336B20401Af773B6219BA5027174338D1836",
};
const codesOfMultiSends = (): ReadonlyArray<readonly [Address, Hex]> =>
  versions.map((version) => [multiSends[version], multiSendCode(version)]);

const startAnvil = async (): Promise<Scene> => {
  const scene = await startAnvilScene();
  for (const [at, code] of codesOfMultiSends()) await scene.ask("anvil_setCode", [at, code]);
  return scene;
};
const geth = isThere ? findGethOrWarn("transactions of Safes on geth") : null;
const nodes: ReadonlyArray<readonly [name: string, start: () => Promise<Scene>]> = [
  ["anvil", startAnvil],
  ...(geth === null
    ? []
    : ([
        [
          "geth",
          () =>
            startGethScene(geth, {
              alloc: Object.fromEntries(codesOfMultiSends().map(([at, code]) => [at, { code, balance: "0x0" }])),
            }),
        ],
      ] as const)),
];

type Report = Awaited<ReturnType<ReturnType<typeof createPreflight>["signature"]>>;
const said = ({ verdict, because, findings }: Report): string =>
  `${verdict}: ${because} ${findings.map(({ code, severity }) => `${code}/${severity}`).join()}`;
const codes = (report: Report): ReadonlyArray<string> =>
  report.findings.filter(({ severity }) => severity !== "info").map(({ code }) => code);
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const deltaOf = (report: Report, account: string, token: string | null): bigint =>
  report.balanceChanges
    .filter((row) => same(row.account, account) && same(row.token ?? "native", token ?? "native"))
    .reduce((sum, { delta }) => sum + delta, 0n);

/** The message that the owners sign. */
const messageOf = ({ signing }: Report): SafeFields => {
  if (signing?.sign.kind !== "typedData") throw new Error("no typed data");
  return signing.sign.typedData["message"] as unknown as SafeFields;
};

/** The topics of ExecutionSuccess and ExecutionFailure. */
const executed = { success: "0x442e715f626346e8", failure: "0x23428b18acfb3ea6" };
const hasEvent = ({ logs }: Receipt, kind: keyof typeof executed): boolean =>
  logs.some(({ topics }) => topics[0]?.startsWith(executed[kind]) === true);

describe.skipIf(!isThere).each(nodes)("transactions of Safes on %s", (_, start) => {
  let scene: Scene;
  let kit: Makers;
  let token: Hex;
  let preflight: ReturnType<typeof createPreflight>;
  beforeAll(async () => {
    scene = await start();
    kit = await makers(scene);
    token = await scene.deploy(Token, ["Gold", "GLD", 18]);
    preflight = createPreflight({ url: scene.url });
  }, 120_000);
  afterAll(async () => {
    await preflight?.dispose();
    await scene?.stop();
  });

  const ask = async (safe: Address, transaction: unknown, more: object = {}): Promise<Report> =>
    preflight.preflight({ safe, transaction, ...more } as never);

  interface House {
    readonly safe: Address;
    readonly keys: ReadonlyArray<PrivateKeyAccount>;
    readonly version: Version;
  }
  const house = async (version: Version, count = 3, threshold = 2, isL2 = false): Promise<House> => {
    const keys: Array<PrivateKeyAccount> = [];
    for (let nth = 0; nth < count; nth++) keys.push(await kit.key());
    const safe = await kit.safe(
      version,
      keys.map(({ address }) => address),
      threshold,
      isL2,
    );
    await kit.send(deployer, token, encode("mint", [safe, 1_000n]));
    return { safe, keys, version };
  };
  /** Owners whose signatures the clearance asks for, having signed exactly what it hands out. */
  const signed = async ({ keys }: House, report: Report) => {
    const { signs } = await preflight.ready(report);
    return Promise.all(
      signs.map(async (sign) => {
        const key = keys.find(({ address }) => same(address, sign.signer));
        if (key === undefined || sign.kind !== "typedData") throw new Error(`no key of ${sign.signer}`);
        expect(hashTypedData(sign.typedData as never)).toBe(sign.digest);
        return { owner: sign.signer, bytes: await key.signTypedData(sign.typedData as never) };
      }),
    );
  };
  const executeBy = async (of: House, report: Report, fields: SafeFields, by = deployer as PrivateKeyAccount) => {
    const mine = of.keys.some(({ address }) => address === by.address) ? [kit.approvedBy(by.address)] : [];
    return kit.execute(of.safe, fields, [], by, [...(await signed(of, report)), ...mine]);
  };
  /** The Safe's own transaction to itself, mined. */
  const govern = async (of: House, data: Hex): Promise<void> => {
    const fields = fieldsOf({ to: of.safe, data, nonce: await kit.nonceOf(of.safe) });
    const receipt = await kit.execute(of.safe, fields, of.keys.slice(0, 2), deployer);
    if (!hasEvent(receipt, "success")) throw new Error("not governed");
  };

  describe.each(versions)("Safe %s", (version) => {
    it(`does what the report said, ${many} times`, { timeout: 12_000 * Math.max(20, many) }, async () => {
      const dice = diceOf(Number(version.replaceAll(".", "")));
      const houses = [
        await house(version, 3, 2),
        await house(version, 2, 1, true),
        await house(version, 5, 4),
        await house(version, 1, 1),
      ];
      for (let nth = 0; nth < many; nth++) {
        const of = dice.of(houses);
        const nonce = await kit.nonceOf(of.safe);
        const to = dice.address() as Address;
        const [wei, units] = [BigInt(dice.below(1_000_000)), BigInt(dice.below(20))];
        const isLate = dice.below(3) === 0;
        const calls = [
          { to, value: String(wei), data: "0x" },
          { to: token, value: "0", data: encode("transfer", [to, units]) },
        ];
        const kind = dice.below(5);
        const plain = dice.of([
          fieldsOf({ to, nonce, value: String(wei) }),
          fieldsOf({ to: token, nonce, data: encode("transfer", [to, units]) }),
          fieldsOf({ to: of.safe, nonce }),
        ]);
        const paying = { gasPrice: "1", baseGas: "50000", refundReceiver: relayer.address, safeTxGas: "200000" };
        const fields = { ...plain, ...(isLate ? { safeTxGas: "150000" } : {}), ...(dice.below(4) === 0 ? paying : {}) };
        const domain = { chainId: scene.chainId, verifyingContract: of.safe };
        const transaction =
          kind === 0
            ? { version: "1.0", chainId: String(scene.chainId), meta: {}, transactions: calls }
            : kind === 1
              ? { types: safeTypes, primaryType: "SafeTx", domain, message: fields }
              : kind === 2
                ? {
                    ...{ ...fields, safe: of.safe, isExecuted: false, confirmationsRequired: 2, confirmations: [] },
                    safeTxHash: hashTypedData({
                      types: safeTypes,
                      primaryType: "SafeTx",
                      domain,
                      message: fields as never,
                    }),
                  }
                : kind === 3
                  ? { data: fields, signatures: new Map() }
                  : { ...fields, nonce: undefined };
        const executor = dice.below(3) === 0 ? relayer : null;
        const report = await ask(of.safe, transaction, executor === null ? {} : { executor: executor.address });
        const isReady = report.verdict === "ready";
        expect(isReady, `${nth}: ${said(report)}`).toBe(true);
        const { signing } = report;
        expect([signing?.safe?.version, signing?.account, signing?.safe?.hash]).toEqual([
          version,
          of.safe,
          signing?.sign.digest,
        ]);
        expect(signing?.nonce).toEqual({ value: BigInt(nonce), used: false });
        // what was signed is what is executed
        const message = messageOf(report);
        const before = {
          ...{ safe: await scene.balance(of.safe), to: await scene.balance(to) },
          relayer: kind === 0 ? 0n : await scene.balance(relayer.address),
          units: BigInt(await kit.read(token, "balanceOf", [to])),
        };
        const receipt = await executeBy(of, report, message, deployer);
        expect(receipt.status).toBe("0x1");
        expect(hasEvent(receipt, "success")).toBe(true);
        expect(await kit.nonceOf(of.safe)).toBe(nonce + 1);
        expect((await scene.balance(to)) - before.to).toBe(deltaOf(report, to, null));
        expect(BigInt(await kit.read(token, "balanceOf", [to])) - before.units).toBe(deltaOf(report, to, token));
        const spent = (await scene.balance(of.safe)) - before.safe;
        // the refund is by gas × price, and the bytes of signatures differ
        const slack = message.gasPrice === "0" ? 0n : 30_000n;
        const off = spent - deltaOf(report, of.safe, null);
        expect(off <= slack && off >= -slack, `${spent} and not ${deltaOf(report, of.safe, null)}`).toBe(true);
        const used = report.carriers.at(-1)?.outcome.gasUsed ?? 0n;
        const most = used + 12_000n * BigInt(of.keys.length);
        expect(BigInt(receipt.gasUsed) <= most, `${receipt.gasUsed} above ${most}`).toBe(true);
      }
    });

    it("is right about owners of every kind", { timeout: 120_000 }, async () => {
      const [key, poor] = [await kit.key(), await kit.key()];
      const delegated = await kit.key(1n);
      const authorization = await delegated.signAuthorization({
        ...{ address: await scene.deploy(Delegate), chainId: scene.chainId, nonce: 0 },
      });
      await scene.pool(deployer, { to: delegated.address, authorizationList: [authorization], gas: 200_000n });
      await scene.mine();
      const inner = await kit.safe(version, [key.address], 1);
      const of: House = {
        ...{ version, keys: [key, poor, delegated] },
        safe: await kit.safe(version, [inner, poor.address, delegated.address], 3),
      };
      const to = (await kit.key()).address;
      const fields = fieldsOf({ to, nonce: 0, value: String(ether) });
      const report = await ask(of.safe, fields);
      expect(report.verdict, said(report)).toBe("ready");
      const asked = report.signing?.safe?.missing.map((one) => one.toLowerCase());
      expect(asked).toEqual([inner, poor.address, delegated.address].map((one) => one.toLowerCase()).sort());
      expect(deltaOf(report, of.safe, null)).toBe(-ether);
      // the Safe that is an owner approves by a transaction of its own, which is preflighted as such
      const hash = report.signing?.sign.digest ?? "0x";
      const approval = fieldsOf({ to: of.safe, nonce: 0, data: encode("approveHash", [hash]) });
      const nested = await ask(inner, approval);
      expect(nested.verdict, said(nested)).toBe("ready");
      expect(hasEvent(await kit.execute(inner, approval, [key], deployer), "success")).toBe(true);
      // what is approved on the chain is known
      const then = await ask(of.safe, fields, { executor: delegated.address });
      expect(then.signing?.safe?.approved).toEqual([inner]);
      expect(then.signing?.safe?.missing).toEqual([poor.address.toLowerCase()]);
      const receipt = await kit.execute(of.safe, fields, [poor, delegated], deployer, [kit.approvedBy(inner)]);
      expect(hasEvent(receipt, "success")).toBe(true);
      expect(await scene.balance(to)).toBe(ether);
    });

    it("counts confirmations that are their owner's, and those alone", { timeout: 60_000 }, async () => {
      const of = await house(version, 3, 3);
      const [first, second, third] = of.keys as [PrivateKeyAccount, PrivateKeyAccount, PrivateKeyAccount];
      const fields = fieldsOf({ to: deployer.address, nonce: 0 });
      const domain = { chainId: scene.chainId, verifyingContract: of.safe };
      const typed = { types: safeTypes, primaryType: "SafeTx" as const, domain, message: fields as never };
      const safeTxHash = hashTypedData(typed);
      const text = await second.signMessage({ message: { raw: safeTxHash } });
      const confirmations = [
        { owner: first.address, signature: await first.signTypedData(typed) },
        // as eth_sign signs it, v is 4 more
        {
          owner: second.address,
          signature: `${text.slice(0, 130)}${(parseInt(text.slice(130), 16) + 4).toString(16)}`,
        },
        { owner: third.address, signature: await first.signTypedData(typed) },
      ];
      const report = await ask(of.safe, { ...fields, safeTxHash, confirmations });
      expect(report.verdict, said(report)).toBe("ready");
      expect([...(report.signing?.safe?.approved ?? [])].sort()).toEqual(
        [first, second].map(({ address }) => address.toLowerCase()).sort(),
      );
      const { signs } = await preflight.ready(report);
      expect(signs.map(({ signer }) => signer)).toEqual([third.address.toLowerCase()]);
    });

    it("of one owner, asks for his signature alone", { timeout: 60_000 }, async () => {
      const of = await house(version);
      const [, second] = of.keys as [PrivateKeyAccount, PrivateKeyAccount];
      const message = fieldsOf({ to: deployer.address, nonce: 0, value: "5" });
      const domain = { chainId: scene.chainId, verifyingContract: of.safe };
      const typedData = { types: safeTypes, primaryType: "SafeTx", domain, message };
      const report = await preflight.signature({ typedData, signer: second.address });
      expect(report.verdict, said(report)).toBe("ready");
      expect(report.signing?.safe?.approvers).toContain(second.address.toLowerCase());
      const { signs } = await preflight.ready(report);
      expect(signs.map(({ signer }) => signer)).toEqual([second.address.toLowerCase()]);
      const other = await preflight.signature({ typedData, signer: deployer.address });
      expect([other.verdict, codes(other)]).toEqual(["blocked", expect.arrayContaining(["SignerIsNotOwner"])]);
    });

    it("is asked again and proven as it was", { timeout: 60_000 }, async () => {
      const of = await house(version);
      const made = await ask(of.safe, fieldsOf({ to: deployer.address, nonce: 0, value: "5" }));
      const report = runSync(fromJson(JSON.parse(JSON.stringify(toJson(made))))) as Report;
      expect(report).toEqual(made);
      expect(toText(report)).toContain("2 of 3 owners");
      const again = await preflight.prove(report);
      expect([again.verdict, again.digest], said(again)).toEqual(["ready", report.digest]);
      // a report whose Safe was changed by hand is none
      const { signing, signings, ...rest } = report;
      const change = (one: (typeof signings)[number]) => ({
        ...one,
        ...(one.safe === undefined ? {} : { safe: { ...one.safe, approvers: one.safe.approvers.slice(1) } }),
      });
      type Own = (typeof signings)[number];
      const [one] = signings[0]?.safe?.approvers ?? [];
      const changes: ReadonlyArray<(one: Own) => Own> = [
        change,
        ...[{ missing: [] }, { missing: [zero] }, { approved: [zero] }, { threshold: 1n }, { approved: [one] }].map(
          (part) => (own: Own) => ({ ...own, ...(own.safe && { safe: { ...own.safe, ...part } }) }) as Own,
        ),
        ({ sign, ...own }) => {
          if (sign.kind !== "typedData") throw new Error("no typed data");
          const message = { ...(sign.typedData["message"] as object), note: "nothing at all" };
          return { ...own, sign: { ...sign, typedData: { ...sign.typedData, message } } } as Own;
        },
      ];
      for (const by of changes) {
        const altered = { ...rest, signings: signings.map(by), ...(signing && { signing: by(signing) }) } as Report;
        await expect(preflight.ready(altered), String(by)).rejects.toThrow();
      }
      // an owner more, in the meantime
      await govern(of, encode("addOwnerWithThreshold", [deployer.address, 3n]));
      const late = await preflight.prove(report);
      expect(late.verdict, said(late)).not.toBe("ready");
    });

    type Broken = readonly [
      name: string,
      make: (of: House) => unknown,
      verdict: Report["verdict"],
      code: string,
      prepare?: (of: House) => Promise<void>,
    ];
    const changed = { threshold: 0, nonce: 0 };
    const to = "0x00000000000000000000000000000000dead0002";
    const nonce = 0;
    const setUp =
      (data: (of: House) => Hex, by = changed) =>
      (of: House) =>
        fieldsOf({ to: of.safe, nonce: by.nonce, data: data(of) });
    const guardedBy = (artifact: Parameters<Scene["deploy"]>[0]) => async (of: House) =>
      govern(of, encode("setGuard", [await scene.deploy(artifact)]));
    let writer: Address = zero;
    beforeAll(async () => {
      writer = await scene.deploy(SlotWriter);
    });
    const writes = (slot: bigint, value: bigint) => () =>
      fieldsOf({ to: writer, nonce, operation: 1, data: encode("write", [slot, value]) });
    const broken: ReadonlyArray<Broken> = [
      [
        "more ether than it holds",
        () => fieldsOf({ to, nonce, value: String(100n * ether) }),
        "blocked",
        "ExecutionReverted",
      ],
      [
        "more ether than it holds, with gas of its own",
        () => fieldsOf({ to, nonce, value: String(100n * ether), safeTxGas: "100000" }),
        ...(["blocked", "SafeExecutionFails"] as const),
      ],
      [
        "more tokens than it holds",
        () => fieldsOf({ to: token, nonce, data: encode("transfer", [to, 5_000n]) }),
        ...(["blocked", "ExecutionReverted"] as const),
      ],
      [
        "too little gas for the call inside",
        () =>
          fieldsOf({
            to: token,
            nonce,
            data: encode("transfer", [to, 5n]),
            safeTxGas: "5000",
            gasPrice: "1",
            refundReceiver: to,
          }),
        ...(["blocked", "SafeExecutionFails"] as const),
      ],
      [
        "more gas of its own than a transaction may have",
        () => fieldsOf({ to, nonce, safeTxGas: "40000000" }),
        ...(["unknown", "SignatureNotAssumed"] as const),
      ],
      [
        "less gas of its own than the call inside takes",
        () => {
          const calls = Array.from({ length: 9 }, (_, at) => encode("mint", [numberToHex(at + 9, { size: 20 }), 1n]));
          const packed = calls.map(
            (data) => `00${token.slice(2)}${"0".repeat(64)}${"44".padStart(64, "0")}${data.slice(2)}`,
          );
          const data = encode("multiSend", [`0x${packed.join("")}`]);
          return fieldsOf({ to: multiSends[version], nonce, operation: 1, data, safeTxGas: "1" });
        },
        ...(["caution", "SafeGasTooLow"] as const),
      ],
      ["a later nonce", () => fieldsOf({ to, nonce: 7 }), "caution", "SafeNonceQueued"],
      [
        "a later nonce, with what is not there yet",
        () => fieldsOf({ to, nonce: 7, value: String(100n * ether) }),
        ...(["unknown", "SafeNonceQueued"] as const),
      ],
      ["a nonce that is passed", () => fieldsOf({ to, nonce }), "blocked", "SignatureUsed", (of) => govern(of, "0x")],
      [
        "another hash",
        () => ({ ...fieldsOf({ to, nonce }), safeTxHash: numberToHex(5, { size: 32 }) }),
        ...(["blocked", "SafeHashDisagrees"] as const),
      ],
      [
        "the hash of a transfer, and the fields of something else",
        (of) => ({
          ...fieldsOf({ to: writer, nonce, operation: 1, data: encode("write", [0n, 5n]) }),
          safeTxHash: hashTypedData({
            ...{ types: safeTypes, primaryType: "SafeTx", message: fieldsOf({ to, nonce }) as never },
            domain: { chainId: scene.chainId, verifyingContract: of.safe },
          }),
        }),
        ...(["blocked", "SafeHashDisagrees"] as const),
      ],
      [
        "a guard that refuses the amount",
        () => fieldsOf({ to, nonce: 1, value: String(2n * ether) }),
        ...(["unknown", "SafeGuardRefuses", guardedBy(AmountGuard)] as const),
      ],
      [
        "a guard that refuses approvals",
        () => fieldsOf({ to, nonce: 1 }),
        ...(["unknown", "SafeGuardRefuses", guardedBy(KeyGuard)] as const),
      ],
      [
        "code that nobody knows, which changes the threshold",
        ...([writes(4n, 1n), "blocked", "UnknownDelegateCall"] as const),
      ],
      ["code that nobody knows, which changes the singleton", writes(0n, 1n), "blocked", "UnknownDelegateCall"],
      [
        "code that nobody knows, which sets a guard",
        ...([
          writes(0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8n, 0x1234n),
          "blocked",
          "SafeControlChanges",
        ] as const),
      ],
      [
        "code that nobody knows, in a batch",
        (of) => {
          const data = encode("write", [4n, 1n]).slice(2);
          const size = numberToHex(data.length / 2, { size: 32 }).slice(2);
          const packed = `0x01${writer.slice(2)}${"0".repeat(64)}${size}${data}`;
          return fieldsOf({
            to: kit.by[of.version].multiSend,
            nonce,
            operation: 1,
            data: encode("multiSend", [packed]),
          });
        },
        ...(["blocked", "UnknownDelegateCall"] as const),
      ],
      [
        "a new owner",
        setUp(() => encode("addOwnerWithThreshold", [to, 1n])),
        ...(["caution", "SafeControlChanges"] as const),
      ],
      [
        "another owner in one's place",
        setUp(({ keys }) => encode("swapOwner", [numberToHex(1, { size: 20 }), keys[0]?.address, to])),
        ...(["caution", "SafeControlChanges"] as const),
      ],
      ["a lower threshold", setUp(() => encode("changeThreshold", [1n])), "caution", "SafeControlChanges"],
      ["a new module", setUp(() => encode("enableModule", [to])), "caution", "SafeControlChanges"],
      ["a new fallback handler", setUp(() => encode("setFallbackHandler", [to])), "caution", "SafeControlChanges"],
      ["a refund to whoever executes", () => fieldsOf({ to, nonce, gasPrice: "1" }), "caution", "SafePaysExecutor"],
      [
        "a refund at a price that nobody simulates",
        () => fieldsOf({ to, nonce, gasPrice: String(10n ** 18n), baseGas: "1", safeTxGas: "100", refundReceiver: to }),
        ...(["unknown", "SignatureNotAssumed"] as const),
      ],
      [
        "a refund that it cannot pay",
        () => fieldsOf({ to, nonce, gasPrice: "1", baseGas: String(10n ** 24n), refundReceiver: to }),
        ...(["blocked", "ExecutionReverted"] as const),
      ],
      [
        "a refund in tokens that it has not",
        () => fieldsOf({ to, nonce, gasPrice: "1", gasToken: token, refundReceiver: to }),
        ...(["blocked", "ExecutionReverted"] as const),
      ],
      [
        "an unlimited approval",
        () => fieldsOf({ to: token, nonce, data: encode("approve", [to, 2n ** 256n - 1n]) }),
        ...(["caution", "ApprovalUnlimited"] as const),
      ],
      ["fields of another chain", () => ({ ...fieldsOf({ to, nonce }), chainId: "5" }), "blocked", "ChainIdMismatch"],
      [
        "typed data of another chain",
        (of) => ({
          ...{ types: safeTypes, primaryType: "SafeTx", message: fieldsOf({ to, nonce }) },
          domain: { chainId: 5, verifyingContract: of.safe },
        }),
        ...(["blocked", "ChainIdMismatch"] as const),
      ],
    ];
    const cases = (tried.includes(version) ? broken : broken.slice(0, 1)).map(
      ([name, make, verdict, code, prepare]) => ({ name, make, verdict, code, prepare }),
    );
    it.each(cases)("names $name", { timeout: 60_000 }, async ({ make, verdict, code, prepare }) => {
      const of = await house(version);
      await prepare?.(of);
      const report = await ask(of.safe, make(of));
      expect([report.verdict, codes(report)], said(report)).toEqual([verdict, expect.arrayContaining([code])]);
      expect(report.signing?.account).toBe(of.safe);
      if (verdict !== "caution") await expect(preflight.ready(report)).rejects.toThrow();
    });

    it("is ready where a guard allows it", { timeout: 60_000 }, async () => {
      const of = await house(version);
      await guardedBy(AllowingGuard)(of);
      const fields = fieldsOf({ to, nonce: 1, value: "7" });
      const report = await ask(of.safe, fields);
      expect(report.verdict, said(report)).toBe("ready");
      expect(report.signing?.safe?.guard).not.toBeNull();
      expect(hasEvent(await executeBy(of, report, fields), "success")).toBe(true);
    });

    it("runs a queue in its order, and none with a hole", { timeout: 60_000 }, async () => {
      const of = await house(version);
      const paid = fieldsOf({ to: token, nonce, data: encode("mint", [of.safe, 5_000n]) });
      const spent = fieldsOf({ to: token, nonce: 1, data: encode("transfer", [to, 5_500n]) });
      const both = [spent, paid].map((transaction) => ({ safe: of.safe, transaction }));
      const report = await preflight.preflight(both as never);
      expect(report.verdict, said(report)).toBe("ready");
      expect(report.signings.map(({ nonce: own }) => own?.value)).toEqual([0n, 1n]);
      expect(deltaOf(report, of.safe, token)).toBe(-500n);
      // the tracer runs both on the state that the approvals make
      expect(report.findings.map(({ code }) => code)).not.toContain("CallsNotSeen");
      const hole = { safe: of.safe, transaction: fieldsOf({ to, nonce: 2 }) };
      const holed = await preflight.preflight([both[1], hole] as never);
      expect([holed.verdict, codes(holed)], said(holed)).toEqual([
        "unknown",
        expect.arrayContaining(["SignatureUnknown"]),
      ]);
    });
  });

  it("is unknown where it is no Safe that is known", { timeout: 60_000 }, async () => {
    const of = await house("1.4.1");
    const proxy = await kit.copyOf(of.safe);
    // a real proxy, set up by a real Safe, whose code is then one that says of itself what is not
    const liar = await kit.safe("1.4.1", [deployer.address], 1);
    const { to, data } = await kit.lyingTo(liar);
    const fields = fieldsOf({ to, data, operation: 1, nonce: 0 });
    expect(hasEvent(await kit.execute(liar, fields, [], deployer, [kit.approvedBy(deployer.address)]), "success")).toBe(
      true,
    );
    for (const safe of [deployer.address.toLowerCase() as Address, token, proxy, liar]) {
      const report = await ask(safe, { ...fieldsOf({ to: deployer.address, nonce: 0 }), nonce: null });
      expect([report.verdict, codes(report)], said(report)).toEqual([
        "unknown",
        expect.arrayContaining(["SignatureUnknown"]),
      ]);
    }
  });

  it("takes several Safes at once, beside other things", { timeout: 60_000 }, async () => {
    const [one, two] = [await house("1.3.0"), await house("1.5.0", 2, 1, true)];
    const to = "0x00000000000000000000000000000000dead0003";
    const input = [
      { safe: one.safe, transaction: fieldsOf({ to, nonce: 0, value: "7" }) },
      { safe: two.safe, transaction: fieldsOf({ to, nonce: 0, value: "8" }) },
      { from: deployer.address, to, value: 9n },
    ];
    const report = await preflight.preflight(input as never);
    expect(report.verdict, said(report)).toBe("ready");
    expect([one.safe, two.safe, to].map((account) => deltaOf(report, account, null))).toEqual([-7n, -8n, 24n]);
    const { signs, requests } = await preflight.ready(report);
    expect([signs.length, requests.length]).toEqual([3, 1]);
  });

  it("says of another contract's event what it says of any", { timeout: 60_000 }, async () => {
    const of = await house("1.4.1");
    // emits ExecutionSuccess of its caller and the word behind it: CALLER, MSTORE, CALLDATALOAD, MSTORE, LOG1
    const runtime = `335f525f356020527f442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e60405fa100`;
    const size = numberToHex(runtime.length / 2).slice(2);
    const liar = await scene.deploy({ abi: [], bytecode: `0x60${size}600c60003960${size}6000f3${runtime}` });
    const data: Hex = `0x${deployer.address.slice(2).padStart(64, "0")}`;
    const report = await ask(of.safe, fieldsOf({ to: liar, nonce: 0, data }));
    const found = report.findings.filter(({ code }) => code === "EventUnexplained");
    expect(found.map(({ numbers }) => numbers[0]?.value)).toEqual([liar.toLowerCase()]);
  });

  it("tells no purse of whoever executes", { timeout: 60_000 }, async () => {
    const of = await house("1.4.1", 1, 1);
    const [key] = of.keys as [PrivateKeyAccount];
    const report = await ask(of.safe, fieldsOf({ to: key.address, nonce: 0, value: "7" }));
    const row = report.balanceChanges.find(({ account }) => same(account, key.address));
    expect([report.verdict, row?.delta, row?.before, row?.after], said(report)).toEqual(["ready", 7n, null, null]);
  });

  it("is unknown beside a transaction of one of its owners", { timeout: 60_000 }, async () => {
    const key = await kit.key(1n);
    const safe = await kit.safe("1.4.1", [key.address], 1);
    const transaction = fieldsOf({ to: deployer.address, nonce: 0 });
    const report = await preflight.preflight([
      { safe, transaction },
      { from: key.address, to: deployer.address, value: 1n },
    ] as never);
    expect([report.verdict, codes(report)], said(report)).toEqual([
      "unknown",
      expect.arrayContaining(["SignatureUnknown"]),
    ]);
  });
});

it("says which field is wrong", async () => {
  const preflight = createPreflight({ url: "http://127.0.0.1:9" });
  const safe = "0x00000000000000000000000000000000000005af";
  const wrong: ReadonlyArray<readonly [input: object, field: string]> = [
    [{ safe: "0x12", transaction: {} }, "safe"],
    [{ safe, transaction: {} }, "transaction.to"],
    [{ safe, transaction: { to: safe, value: "1.5" } }, "transaction.value"],
    [{ safe, transaction: { to: safe, operation: 300 } }, "transaction.operation"],
    [{ safe, transaction: { to: safe, nonce: -1 } }, "transaction.nonce"],
    [{ safe, transaction: { to: safe, safe: zero } }, "transaction.safe"],
    [{ safe, transaction: { to: safe, safeTxHash: "0x1" } }, "transaction.safeTxHash"],
    [{ safe, transaction: { to: safe, confirmations: [{ signature: "0x" }] } }, "transaction.confirmations[0].owner"],
    [{ safe, transaction: { to: safe }, executor: "me" }, "executor"],
    [{ safe, transaction: { to: safe }, owner: safe }, "owner"],
    [{ safe, transaction: { transactions: [{ to: "0x1" }] } }, "transaction.transactions[0].to"],
    [{ safe, transaction: { transactions: [{ value: "5", data: "0x6001" }] } }, "transaction.transactions[0].to"],
    [
      { safe, transaction: { transactions: [{ to: safe }, { to: safe, nonce: 5 }] } },
      "transaction.transactions[1].nonce",
    ],
    [{ safe, transaction: { to: safe, chainId: 5 }, chainId: 1 }, "transaction"],
    [{ safe, transaction: { to: safe, chainId: "x" } }, "transaction.chainId"],
    [
      {
        safe,
        transaction: { transactions: [1, 2].map(() => ({ to: safe, value: "0", data: `0x${"ab".repeat(80_000)}` })) },
      },
      "transaction.data",
    ],
  ];
  for (const [input, field] of wrong)
    await expect(preflight.preflight(input as never), field).rejects.toMatchObject({ field });
  await preflight.dispose();
});

describe("a Safe's transaction as callers give it", () => {
  const safe = "0x00000000000000000000000000000000000005af";
  const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => toHex(all));
  const number = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  const written = number.chain((value) => fc.constantFrom<unknown>(value, String(value), toHex(value)));
  const fields = fc.record({
    ...{ to: hex(20), value: written, data: fc.integer({ min: 0, max: 90 }).chain(hex) },
    ...{ operation: fc.constantFrom<unknown>(0, 1, "0", "1", 1n), safeTxGas: written, baseGas: written },
    ...{ gasPrice: written, gasToken: hex(20), refundReceiver: hex(20), nonce: written },
  });

  it("has the hash that viem gives it, in whatever form its numbers are", () => {
    fc.assert(
      fc.property(fields, fc.integer({ min: 1, max: 2 ** 40 }), (given, chainId) => {
        const read = Result.getOrThrow(safeIn({ safe, transaction: given }));
        const { digest } = Result.getOrThrow(typedOf(read, BigInt(chainId), read.nonce ?? -1n, null));
        const domain = { chainId, verifyingContract: safe } as const;
        expect(digest).toBe(
          hashTypedData({ types: safeTypes, primaryType: "SafeTx", domain, message: given as never }),
        );
      }),
    );
  });

  it("is read or refused, whatever it is", () => {
    const names = [...safeTypes.SafeTx.map(({ name }) => name), "confirmations", "signatures", "safeTxHash", "data"];
    const foreign = fc.dictionary(fc.constantFrom(...names, "transactions", "primaryType", "types"), fc.anything());
    fc.assert(
      fc.property(fc.oneof(foreign, fc.anything()), fc.anything(), (transaction, executor) => {
        const read = safeIn({ safe, transaction, executor });
        expect(Result.isResult(read)).toBe(true);
        if (Result.isFailure(read)) expect(read.failure.problem).not.toBe("");
      }),
    );
  });
});
