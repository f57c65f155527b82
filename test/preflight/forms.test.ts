/** Transactions as people hold them, on nodes: each is proven as it is, and what came signed is sent as it came. */
import * as Effect from "effect/Effect";
import { createPublicClient, createWalletClient, http, keccak256, numberToHex, parseGwei, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import { rawRequest } from "../harness/anvil.js";
import {
  cleared,
  codesOf,
  nobody,
  other,
  owner,
  preflight,
  prove,
  refusedWith,
  scenesFor,
  severe,
  type Scene,
} from "./scene.js";

const fees = { maxFeePerGas: parseGwei("20"), maxPriorityFeePerGas: parseGwei("1") };
const gasPrice = parseGwei("20");

const signed = (fields: object): Promise<Hex> => owner.signTransaction(fields as never);

describe.each(scenesFor("forms"))("a transaction given in another form, on %s", (name, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
  }, 60_000);
  afterAll(() => scene?.stop());

  const chain = () => ({
    ...{ id: scene.chainId, name: "test", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 } },
    rpcUrls: { default: { http: [scene.url] } },
  });
  const fields = async () =>
    ({
      ...{ to: nobody, value: 1n, gas: 60_000n, chainId: scene.chainId, nonce: await scene.count(owner.address) },
    }) as const;

  it("keeps its digest for a request of ready, and for what viem prepares", async () => {
    const first = await preflight(scene.url, { from: owner.address, to: nobody, value: 1n });
    const { requests, digest, raw } = await cleared(first);
    expect(raw).toBeUndefined();
    const [again] = [await preflight(scene.url, { from: owner.address, ...requests[0] })];
    expect([again.verdict, again.digest]).toEqual(["ready", digest]);
    const client = createWalletClient({ account: owner, chain: chain(), transport: http(scene.url) });
    const prepared = await client.prepareTransactionRequest({ to: nobody, value: 1n });
    const report = await preflight(scene.url, prepared as never);
    expect([report.verdict, severe(report), report.transactions[0].request?.nonce]).toEqual([
      "ready",
      [],
      prepared.nonce,
    ]);
  });

  it("is proven as signed bytes of each type, returned unchanged, and mined as reported", async () => {
    const access = { accessList: [{ address: nobody, storageKeys: [] }] } as const;
    const delegation = { contractAddress: nobody, chainId: scene.chainId } as const;
    const signings: ReadonlyArray<() => Promise<Hex>> = [
      async () => signed({ ...(await fields()), type: "legacy", gasPrice }),
      async () => signed({ ...(await fields()), type: "eip2930", gasPrice, ...access }),
      async () => signed({ ...(await fields()), type: "eip1559", ...fees }),
      async () => {
        const authorization = await other.signAuthorization({ ...delegation, nonce: await scene.count(other.address) });
        return signed({
          ...(await fields()),
          type: "eip7702",
          ...fees,
          authorizationList: [authorization],
        });
      },
    ];
    for (const sign of signings) {
      const raw = await sign();
      const report = await preflight(scene.url, raw as never);
      const [{ input, request }] = report.transactions;
      expect([
        raw.slice(0, 4),
        ["ready", "caution"].includes(report.verdict),
        severe(report).filter((code) => code.endsWith("unavailable")),
      ]).toEqual([raw.slice(0, 4), true, []]);
      expect([input.from, request?.nonce, request?.gas]).toEqual([
        owner.address.toLowerCase(),
        await scene.count(owner.address),
        60_000n,
      ]);
      const stored = await Effect.runPromise(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(report)))));
      const clearance = await cleared(stored as typeof report);
      expect(clearance.raw).toEqual([raw]);
      const hash = await rawRequest(scene.url, "eth_sendRawTransaction", [clearance.raw?.[0]]);
      expect(hash).toBe(keccak256(raw));
      await scene.mine();
    }
  });

  it("is not cleared where somebody exchanged the signed bytes in the report", async () => {
    const sign = async (value: bigint) => signed({ ...(await fields()), ...fees, value });
    const report = await preflight(scene.url, (await sign(1n)) as never);
    const [first] = report.transactions;
    for (const raw of [
      await sign(2n),
      await other.signTransaction({ ...(await fields()), ...fees } as never),
      "0x02" as const,
    ]) {
      const changed = { ...report, transactions: [{ ...first, input: { ...first.input, origin: { raw } } }] as const };
      expect(await refusedWith(changed)).toMatchObject({ _tag: "NotProven", missing: [{ reason: "Altered" }] });
    }
  });

  it("is proven as bytes that bind no chain, with a warning and no chain in the request", async () => {
    const { chainId: _, ...unbound } = await fields();
    const raw = await signed({ ...unbound, type: "legacy", gasPrice });
    const report = await preflight(scene.url, raw as never);
    expect([report.verdict, severe(report)]).toEqual(["caution", ["ChainUnbound/warning"]]);
    const stored = await Effect.runPromise(Report.fromJson(JSON.parse(JSON.stringify(Report.toJson(report)))));
    for (const each of [report, stored as typeof report, await prove(scene.url, report)]) {
      const clearance = await cleared(each);
      expect([clearance.raw, "chainId" in clearance.requests[0]]).toEqual([[raw], false]);
    }
    const bound = { ...report.transactions[0], request: { ...report.transactions[0].request, chainId: scene.chainId } };
    expect(await refusedWith({ ...report, transactions: [bound] } as never)).toMatchObject({ _tag: "NotProven" });
  });

  it("is reported as already mined, as the node, viem and the bytes show it", async () => {
    const raw = await signed({ ...(await fields()), ...fees });
    const hash = keccak256(raw);
    await rawRequest(scene.url, "eth_sendRawTransaction", [raw]);
    await scene.mine();
    const result = await rawRequest(scene.url, "eth_getTransactionByHash", [hash]);
    const fetched = await createPublicClient({ transport: http(scene.url) }).getTransaction({ hash });
    for (const form of [result, fetched]) {
      const report = await preflight(scene.url, form as never);
      expect([report.verdict, report.because]).toEqual(["blocked", "the transaction is already mined"]);
      expect(codesOf(report)).toContain("NonceTooLow/blocker");
    }
    expect((await preflight(scene.url, raw as never)).because).toBe("the nonce is already used");
  });

  it("is a bundle as calls, and unknown where the calls must be one transaction", async () => {
    const calls = [
      { to: nobody, value: "0x1" },
      { to: other.address, value: "0x2" },
    ];
    const asked = { version: "2.0.0", from: owner.address, chainId: numberToHex(scene.chainId), calls };
    const each = (atomicRequired: boolean) =>
      preflight(scene.url, { method: "wallet_sendCalls", params: [{ ...asked, atomicRequired }] } as never);
    const [apart, atomic] = [await each(false), await each(true)];
    expect([apart.verdict, apart.transactions.length]).toEqual([name === "anvil" ? "ready" : apart.verdict, 2]);
    expect([atomic.verdict, severe(atomic)]).toEqual(["unknown", ["AtomicNotProven/unavailable"]]);
    expect((await prove(scene.url, atomic)).verdict).toBe("unknown");
  });
});
