/** Batches of calls, told before anything is signed, then signed for real and mined: on real accounts' code. */
import * as Effect from "effect/Effect";
import {
  concatHex,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  http,
  numberToHex,
  parseAbi,
  type Address,
  type Hex,
  type TransactionSerializable,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Preflight, Report } from "evm-preflight";
import { guardProvider, type SettledCalls } from "evm-preflight/promise";
import { guard } from "evm-preflight/viem";
import { drawn, runs } from "../harness/parts.js";
import { cleared, layerOf, preflight, proveOn, severe, type Receipt } from "../preflight/scene.js";
import { kitsFor, type Kit, type Reading } from "../signing/kit.js";
import { hasBeds, openBatches } from "../signing/parts.js";

const abi = parseAbi([
  "function transfer(address to, uint256 amount) returns (bool)",
  "function approve(address spender, uint256 amount) returns (bool)",
  "function transferFrom(address from, address to, uint256 amount) returns (bool)",
]);
type Name = "transfer" | "approve" | "transferFrom";
const data = (functionName: Name, args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi, functionName, args } as never);

interface Call {
  readonly to: Address;
  readonly value?: bigint;
  readonly data?: Hex;
}

/** Numbers that look drawn, the same in each run. */
const drawnBy = (seed: number) => {
  let state = BigInt(seed) * 2_654_435_761n + 12_345n;
  return (below: number): number => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n;
    return Number((state >> 33n) % BigInt(below));
  };
};

/** An address where nobody lives, other than the burn addresses. */
const stranger = (seed: number): Address => concatHex(["0x77", numberToHex(2n ** 140n + BigInt(seed), { size: 19 })]);

/** Accounts: without code, with that of ERC-4337's own account, of MetaMask, and one that gets another code with each batch. */
const ways = ["plain", "simple", "metamask", "delegating"] as const;
type Way = (typeof ways)[number];

describe.runIf(hasBeds("batches of calls on real accounts' code")).each(kitsFor("batches of calls"))(
  "on %s",
  (_, start) => {
    let kit: Kit;
    let owners: Readonly<Record<Way, PrivateKeyAccount>>;
    /** Code of OpenZeppelin's, MetaMask's and ERC-4337's, to delegate to. */
    let delegates: ReadonlyArray<Address>;
    beforeAll(async () => {
      kit = await start();
      owners = {
        plain: await kit.account(1),
        simple: await kit.account(2, "simple"),
        metamask: await kit.account(3, "metamask"),
        delegating: await kit.account(4),
      };
      for (const { address } of Object.values(owners)) await kit.fill(address);
      delegates = [await kit.scene.deploy(openBatches()), kit.delegates.metamask, kit.delegates.simple];
    }, 120_000);
    afterAll(() => kit?.stop());

    const told = (batch: object, options?: Preflight.Options) =>
      Effect.runPromise(
        Preflight.callBatch(batch as never, { deadline: "1 minute", ...options }).pipe(
          Effect.provide(layerOf(kit.scene.url)),
        ),
      );

    /** Signs what `ready` hands out, an authorisation first, and mines it. */
    const mined = async (report: Report.BundleReport, owner: PrivateKeyAccount) => {
      let [proven, clearance] = [report, await cleared(report)];
      if (clearance.signs.length > 0) {
        const [sign] = clearance.signs;
        if (sign?.kind !== "authorization") throw new Error("no authorisation to sign");
        const { address, chainId, nonce } = sign;
        const signature = await owner.signAuthorization({ address, chainId, nonce });
        const whole = await Effect.runPromise(Report.withAuthorizations(report, [signature]));
        proven = await proveOn(layerOf(kit.scene.url), whole);
        clearance = await cleared(proven);
      }
      const hashes: Array<Hex> = [];
      for (const request of clearance.requests)
        hashes.push(await kit.scene.broadcast(await owner.signTransaction(request as TransactionSerializable)));
      await kit.scene.mine();
      const receipts: Array<Receipt> = [];
      for (const hash of hashes) receipts.push(await receiptOf(hash));
      return { proven, receipts };
    };

    /** A freshly started geth says that it still indexes. */
    const receiptOf = async (hash: Hex): Promise<Receipt> => {
      for (let tries = 0; ; tries++) {
        const receipt = await kit.scene
          .receipt(hash)
          .catch((error: unknown) => (tries < 50 ? null : Promise.reject(error)));
        if (receipt !== null) return receipt;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };

    /** Calls that succeed; `mayRepeat`: the same right and the same receiver may come again. */
    const callsBy = (seed: number): ReadonlyArray<Call> => {
      const draw = drawnBy(seed);
      const tokens = [kit.tokens.opened, kit.tokens.solmate, kit.tokens.usdc, kit.tokens.v2, kit.tokens.dai];
      return Array.from({ length: 1 + draw(6) }, (_, index): Call => {
        const to = stranger(seed * 100 + draw(3));
        const token = tokens[draw(tokens.length)]?.address ?? to;
        const kind = draw(4);
        if (kind === 0) return { to, value: BigInt(1 + draw(1_000_000)) };
        if (kind === 1)
          return { to: token, data: data("approve", [stranger(seed * 100 + 50 + index), 1 + draw(1_000)]) };
        return { to: token, data: data("transfer", [to, 1 + draw(1_000_000)]) };
      });
    };

    const many = drawn(runs(20));
    it.each(ways)(
      `does as told, ${many} batches drawn: %s`,
      async (way) => {
        const owner = owners[way];
        const from = owner.address.toLowerCase() as Address;
        for (let round = 0; round < many; round++) {
          const calls = callsBy(1_000 * (1 + ways.indexOf(way)) + round);
          const delegate = delegates[round % delegates.length];
          const report = await told({
            ...{ from, calls, version: "2.0.0", chainId: kit.scene.chainId, atomicRequired: way !== "plain" },
            ...(way === "delegating" ? { delegate } : {}),
          });
          const about = `${way} ${round}: ${report.verdict} ${report.because} ${severe(report).join()}`;
          expect(["ready", "caution"], about).toContain(report.verdict);
          if (way === "delegating") expect(severe(report), about).toContain("DelegationSet/warning");
          expect(report.transactions.length, about).toBe(way === "plain" ? calls.length : 1);
          if (way !== "plain")
            expect(report.transactions[0].input, about).toMatchObject({
              from,
              to: from,
              value: 0n,
              origin: { batch: "made" },
            });

          // what moves is measured beside the library
          const accounts = [...new Set([from, ...report.transfers.map(({ to }) => to)])];
          const assets = [null, ...new Set(report.transfers.flatMap(({ token }) => token ?? []))];
          const reading = (of: Address, token: Address | null): Reading =>
            token === null ? { kind: "native", of } : { kind: "balance", token, of };
          const places = accounts.flatMap((of) => assets.map((token) => ({ of, token })));
          const before = await Promise.all(places.map(({ of, token }) => kit.read(reading(of, token))));
          const nonce = await kit.scene.count(from);
          const { proven, receipts } = await mined(report, owner);
          expect(
            receipts.map(({ status }) => status),
            about,
          ).toEqual(receipts.map(() => "0x1"));
          const cost = receipts.reduce(
            (sum, { gasUsed, effectiveGasPrice: price }) => sum + BigInt(gasUsed) * BigInt(price),
            0n,
          );
          const after = await Promise.all(places.map(({ of, token }) => kit.read(reading(of, token))));
          for (const [place, { of, token }] of places.entries()) {
            const moved = proven.transfers.reduce(
              (sum, row) =>
                row.token !== token || row.amount === null
                  ? sum
                  : sum + (row.to === of ? row.amount : 0n) - (row.from === of ? row.amount : 0n),
              0n,
            );
            const paid = of === from && token === null ? cost : 0n;
            expect((after[place] ?? 0n) - (before[place] ?? 0n), `${about} ${of} ${token}`).toBe(moved - paid);
          }
          // the amounts of the calls are what moved
          const asked = calls.reduce((sum, { value = 0n }) => sum + value, 0n);
          const native = proven.transfers.filter(({ token }) => token === null);
          expect(
            native.reduce((sum, { amount }) => sum + (amount ?? 0n), 0n),
            about,
          ).toBe(asked);
          for (const approval of proven.approvals) {
            const { token, owner: of, spender } = approval;
            expect(await kit.read({ kind: "allowance", token, owner: of, spender }), about).toBe(approval.after);
          }
          expect(
            receipts.map(({ gasUsed }) => BigInt(gasUsed)),
            about,
          ).toEqual(proven.transactions.map(({ outcome }) => outcome.gasUsed));
          const [payer] = proven.funds;
          expect(cost <= (payer?.required ?? 0n), about).toBe(true);
          const isDelegating = proven.transactions[0].input.authorizationList !== null;
          expect(await kit.scene.count(from), about).toBe(nonce + receipts.length + (isDelegating ? 1 : 0));
        }
      },
      12_000 * many,
    );

    /** Calls that fail, by name. */
    const broken = (): ReadonlyArray<readonly [name: string, call: Call]> => [
      ["too much of a token", { to: kit.tokens.opened.address, data: data("transfer", [stranger(9), 10n ** 40n]) }],
      [
        "no allowance",
        { to: kit.tokens.usdc.address, data: data("transferFrom", [kit.stranger.address, stranger(9), 5n]) },
      ],
      ["more than there is", { to: stranger(9), value: 10n ** 22n }],
      ["no such function", { to: kit.tokens.solmate.address, data: "0x12345678" }],
      ["nobody to allow", { to: kit.tokens.opened.address, data: data("approve", [`0x${"0".repeat(40)}`, 5n]) }],
      ["wei for who takes none", { to: kit.tokens.dai.address, value: 1n, data: data("transfer", [stranger(9), 5n]) }],
    ];

    it.each(ways.filter((way) => way !== "plain"))(
      "names the call that fails, and none is made: %s",
      async (way) => {
        const owner = owners[way];
        const from = owner.address;
        const good: ReadonlyArray<Call> = [
          { to: stranger(8), value: 3n },
          { to: kit.tokens.opened.address, data: data("transfer", [stranger(8), 5n]) },
          { to: kit.tokens.usdc.address, data: data("approve", [stranger(7), 9n]) },
        ];
        for (const [round, [what, call]] of broken().entries()) {
          const place = round % 4;
          const calls = [...good.slice(0, place), call, ...good.slice(place)];
          const report = await told({
            ...{ from, calls, atomicRequired: true },
            ...(way === "delegating" ? { delegate: delegates[round % delegates.length] } : {}),
          });
          const about = `${way}, ${what}: ${report.verdict} ${report.because}`;
          expect(report.verdict, about).toBe("blocked");
          const found = report.findings.find(({ code }) => code === "BatchCallFails");
          expect(found?.numbers.slice(0, 3), about).toMatchObject([
            { name: "call", value: BigInt(place + 1) },
            { name: "of", value: 4n },
            { name: "to", value: call.to.toLowerCase() },
          ]);
          if (way === "delegating") continue;
          // and so it is on the chain
          const [{ input }] = report.transactions;
          const hash = await kit.scene.pool(owner, { to: from, data: input.data, gas: 900_000n });
          await kit.scene.mine();
          expect((await receiptOf(hash)).status, about).toBe("0x0");
        }
      },
      120_000,
    );

    it("is unknown by name where no one transaction is known", async () => {
      const calls: ReadonlyArray<Call> = [
        { to: stranger(5), value: 1n },
        { to: stranger(6), value: 2n },
      ];
      const from = owners.plain.address;
      const nonce = await kit.scene.count(from);
      const right = { address: kit.delegates.simple, chainId: kit.scene.chainId, nonce: nonce + 1 };
      const rows: ReadonlyArray<readonly [batch: object, because: RegExp]> = [
        [{ from, calls, atomicRequired: true }, /no code that makes calls/],
        [{ from, calls, delegate: kit.delegates.bare }, /form .* is not known/],
        [{ from, calls, delegate: kit.tokens.opened.address }, /form .* is not known/],
        [{ from, calls, delegate: stranger(4) }, /form .* is not known/],
        [{ from, calls, delegate: `0x${"0".repeat(40)}` }, /no code that makes calls/],
        [{ from, calls, authorization: { ...right, nonce } }, /not for the nonce/],
        [{ from, calls, authorization: { ...right, chainId: 7 } }, /another chain/],
        [{ from, calls: [...calls, { data: "0x00" }], delegate: kit.delegates.simple }, /no receiver/],
        [
          { from, calls: [{ ...calls[0], gas: 50_000n }, calls[1]], delegate: kit.delegates.simple },
          /fields of a transaction/,
        ],
      ];
      for (const [batch, because] of rows) {
        const report = await told(batch);
        const found = report.findings.find(({ code }) => code === "AtomicNotProven");
        expect([report.verdict, found?.severity], `${because} ${report.because} ${severe(report)}`).toEqual([
          "unknown",
          "unavailable",
        ]);
        expect(String(found?.numbers[0]?.value)).toMatch(because);
        expect(report.transactions.length).toBe((batch as { readonly calls: ReadonlyArray<Call> }).calls.length);
        await expect(cleared(report)).rejects.toMatchObject({ _tag: "NotProven" });
        expect((await proveOn(layerOf(kit.scene.url), report)).verdict).toBe("unknown");
      }
      // a right authorisation, signed or not, is taken
      for (const authorization of [right, await owners.plain.signAuthorization(right)]) {
        const report = await told({ from, calls, authorization });
        expect([report.verdict, report.transactions.length], report.because).toEqual(["caution", 1]);
        expect((await cleared(report)).requests.length).toBe("r" in authorization ? 1 : 0);
      }
      // one of another account gives this one no code
      const other = await owners.simple.signAuthorization(right);
      const strange = await told({ from, calls, authorization: other });
      expect([strange.verdict, strange.transactions.length]).toEqual(["unknown", 2]);
    });

    it("warns of a paymaster, and takes a batch of any account that need not be one", async () => {
      const calls: ReadonlyArray<Call> = [
        { to: stranger(5), value: 1n },
        { to: stranger(6), value: 2n },
      ];
      const capabilities = { paymasterService: { url: "http://127.0.0.1:1", optional: true } };
      for (const from of [owners.plain.address, owners.simple.address])
        expect(severe(await told({ from, calls, capabilities }))).toEqual(["PaymasterNotSimulated/warning"]);
      const bare = await kit.account(9, "bare");
      const report = await told({ from: bare.address, calls });
      // the pools take one transaction at a time of such an account
      expect([report.verdict, severe(report), report.transactions.length]).toEqual([
        "caution",
        ["OneInFlight/warning"],
        2,
      ]);
      expect((await told({ from: bare.address, calls, atomicRequired: true })).verdict).toBe("unknown");
    });

    it("is the same batch in each form, and stays what it is when it is proven again", async () => {
      const from = owners.simple.address;
      const calls = [
        { to: stranger(5), value: "0x1" },
        { to: stranger(6), value: "0x2" },
      ];
      const batch = { version: "2.0.0", from, calls, chainId: numberToHex(kit.scene.chainId), atomicRequired: true };
      const asked = { method: "wallet_sendCalls", params: [batch] };
      const reports = [
        await told(batch),
        ...(await Promise.all([asked, [batch], [asked]].map((input) => preflight(kit.scene.url, input as never)))),
      ];
      const [first, second] = reports;
      expect(second?.transactions[0].input).toEqual(first?.transactions[0].input);
      expect(reports.slice(0, 2).map(({ verdict }) => verdict)).toEqual(["ready", "ready"]);
      // among others in a list it is a bundle, which is not proven as one
      expect(reports.slice(2).map(({ verdict }) => verdict)).toEqual(["unknown", "unknown"]);
      if (first === undefined) throw new Error("no report");
      const stored = await Effect.runPromise(Report.fromJson(Report.toJson(first)));
      const again = await proveOn(layerOf(kit.scene.url), stored as Report.BundleReport);
      expect([again.verdict, again.transactions[0].input]).toEqual(["ready", first.transactions[0].input]);
    });

    /** A wallet that answers as the node does, and sends a batch as it likes; it says the chain, and which requests reached it. */
    const walletOf = (send: () => Promise<Hex>) => {
      const passed: Array<unknown> = [];
      const hashes: Array<Hex> = [];
      const request = async ({
        method,
        params = [],
      }: {
        readonly method: string;
        readonly params?: ReadonlyArray<unknown>;
      }) => {
        if (method === "wallet_getCallsStatus")
          return { status: 200, receipts: hashes.map((transactionHash) => ({ transactionHash })) };
        if (method !== "wallet_sendCalls") return kit.scene.ask(method, params);
        passed.push(params[0]);
        hashes.push(await send());
        return { id: "0x01" };
      };
      return { passed, request };
    };

    it("passes a guard where one transaction was proven, and is compared with what was mined", async () => {
      const owner = owners.simple;
      const calls = [
        { to: stranger(5), value: "0x1" },
        { to: kit.tokens.opened.address, data: data("transfer", [stranger(6), 2n]) },
      ];
      const request = {
        ...{
          version: "2.0.0",
          from: owner.address,
          calls,
          chainId: numberToHex(kit.scene.chainId),
          atomicRequired: true,
        },
      };
      const batch = calls.map(({ to, value = "0x0", data = "0x" }) => ({ target: to, value: BigInt(value), data }));
      const own = parseAbi([
        "struct Call { address target; uint256 value; bytes data; }",
        "function executeBatch(Call[] calls)",
      ]);
      const sent = encodeFunctionData({ abi: own, functionName: "executeBatch", args: [batch] } as never);
      const settled: Array<SettledCalls> = [];
      const asked = { method: "wallet_sendCalls", params: [request] } as never;
      const honest = walletOf(() => kit.scene.pool(owner, { to: owner.address, data: sent }));
      const guarded = guardProvider(honest, { onSettled: (one) => settled.push(one) });
      expect(await guarded.request(asked)).toEqual({ id: "0x01" });
      expect(honest.passed).toEqual([request]);
      await kit.scene.mine();
      await guarded.request({ method: "wallet_getCallsStatus", params: ["0x01"] } as never);
      expect(settled).toMatchObject([{ class: "same", differences: [] }]);

      // a wallet that leaves a call out
      const less = encodeFunctionData({ abi: own, functionName: "executeBatch", args: [batch.slice(0, 1)] } as never);
      const cheating = walletOf(() => kit.scene.pool(owner, { to: owner.address, data: less }));
      const watched = guardProvider(cheating, { onSettled: (one) => settled.push(one) });
      await watched.request(asked);
      await kit.scene.mine();
      await watched.request({ method: "wallet_getCallsStatus", params: ["0x01"] } as never);
      expect(settled[1]).toMatchObject({ class: "unknown" });

      // an account that takes no batch, a call that fails, and what no page may name
      const silent = walletOf(() => Promise.reject(new Error("reached")));
      const refusing = guardProvider(silent);
      const codeOf = (more: object) =>
        refusing.request({ method: "wallet_sendCalls", params: [{ ...request, ...more }] } as never).then(
          () => "passed",
          (error: { readonly _tag: string; readonly code: number }) => `${error._tag} ${error.code}`,
        );
      expect(await codeOf({ from: owners.plain.address })).toBe("GuardRefused 5760");
      expect(
        await codeOf({
          calls: [calls[0], { to: kit.tokens.opened.address, data: data("transfer", [stranger(6), 10n ** 40n]) }],
        }),
      ).toBe("NotCleared 3");
      expect(await codeOf({ delegate: kit.delegates.simple })).toBe("GuardRefused 5700");
      expect(await codeOf({ authorization: {} })).toBe("GuardRefused 5700");
      expect(await codeOf({ capabilities: { paymasterService: { url: "x" } } })).toBe("GuardRefused 5700");
      expect(await codeOf({ capabilities: { paymasterService: { url: "x", optional: true } } })).toBe(
        "NotCleared -32003",
      );
      expect(silent.passed).toEqual([]);
    });

    it("is one transaction of a local account that is delegated", async () => {
      const chain = defineChain({
        ...{ id: kit.scene.chainId, name: "test", rpcUrls: { default: { http: [kit.scene.url] } } },
        nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
      });
      const transport = http(kit.scene.url);
      const calls = [
        { to: stranger(5), value: 3n },
        { to: kit.tokens.opened.address, data: data("transfer", [stranger(6), 4n]) },
      ];
      const asking = (account: PrivateKeyAccount) =>
        guard(createWalletClient({ account, chain, transport }), {}).sendCalls({ calls, forceAtomic: true } as never);
      await expect(asking(owners.plain)).rejects.toMatchObject({
        cause: { _tag: "GuardRefused", code: 5760 },
      });
      const account = owners.metamask;
      const nonce = await kit.scene.count(account.address);
      const before = await kit.read({ kind: "native", of: stranger(5) });
      const { id } = await asking(account);
      // one hash, the chain, and the mark by which viem knows them
      expect(id.length).toBe(2 + 3 * 64);
      await kit.scene.mine();
      expect((await receiptOf(id.slice(0, 66) as Hex)).status).toBe("0x1");
      expect(await kit.scene.count(account.address)).toBe(nonce + 1);
      expect((await kit.read({ kind: "native", of: stranger(5) })) - before).toBe(3n);
    });
  },
);
