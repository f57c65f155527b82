/** Hash and sender of a shown transaction, by its own fields. */
import fc from "fast-check";
import { concat, keccak256, parseSignature, toHex, toRlp, type Hex, type TransactionSerializable } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { runs } from "../harness/parts.js";
import { authenticate, type ShownTransaction } from "../rooms/transaction.js";
import { accountArbitrary, lower, requestArbitrary, shownOf } from "./requests.js";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
const to = `0x${"22".repeat(20)}` as const;
const common = { chainId: 1, nonce: 7, gas: 21_000n, to, value: 5n };
const signed = {
  unprotected: await account.signTransaction({ ...common, chainId: undefined, type: "legacy", gasPrice: 3n }),
  legacy: await account.signTransaction({ ...common, type: "legacy", gasPrice: 3n }),
  eip1559: await account.signTransaction({ ...common, type: "eip1559", ...fees }),
  lettered: await account.signTransaction({ ...common, to: `0x${"ab".repeat(20)}`, type: "eip1559", ...fees }),
  eip7702: await account.signTransaction({
    ...{ ...common, ...fees, type: "eip7702" },
    authorizationList: [{ address: to, chainId: 0, nonce: 1, r: `0x${"03".padStart(64, "0")}`, s: "0x04", yParity: 1 }],
  }),
} as const;

describe("the hash and sender of a shown transaction", () => {
  it("follow from its own fields, for any type", async () => {
    await fc.assert(
      fc.asyncProperty(requestArbitrary, accountArbitrary, async (request, signer) => {
        const raw = await signer.signTransaction(request as TransactionSerializable);
        expect(authenticate(shownOf(raw))).toMatchObject({ hash: keccak256(raw), sender: lower(signer.address) });
      }),
      { numRuns: runs(300) },
    );
  });
  it.each(Object.entries(signed))("are those of its bytes, for %s", (_, raw) => {
    expect(authenticate(shownOf(raw))).toMatchObject({ hash: keccak256(raw), sender: lower(account.address) });
  });

  const half = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
  it.each<[what: string, raw: keyof typeof signed, change: Partial<ShownTransaction>]>([
    ["a deposit of an OP stack", "eip1559", { type: "0x7e" }],
    ["a type of another chain's", "eip1559", { type: "0x64" }],
    ["no type, yet fields of one", "eip1559", { type: null }],
    ["no signature", "eip1559", { r: null }],
    ["an empty signature", "eip1559", { r: 0n, s: 0n }],
    ["neither parity", "eip1559", { v: null, yParity: null }],
    ["two parities", "eip1559", { v: 0n, yParity: 1n }],
    ["a parity that is none", "eip1559", { v: 27n, yParity: null }],
    ["the upper half of s", "eip1559", { s: half + 1n }],
    ["no chain", "eip1559", { chainId: null }],
    ["no fee cap", "eip1559", { maxFeePerGas: null }],
    ["no access list", "eip1559", { accessList: null }],
    ["no authorisations", "eip7702", { authorizationList: null }],
    ["a deployment with authorisations", "eip7702", { to: null }],
    ["no price", "legacy", { gasPrice: null }],
    ["another chain than its signature's", "legacy", { chainId: 5n }],
    ["the chain 0 in its signature", "legacy", { v: 35n, chainId: null }],
    ["the parity of a typed one", "legacy", { v: 1n }],
    ["input that is no bytes", "legacy", { input: "0xzz" }],
  ])("are not verifiable with %s", (_, raw, change) => {
    expect(authenticate({ ...shownOf(signed[raw]), ...change })).toBeNull();
  });

  it.each<[what: string, raw: keyof typeof signed, change: Partial<ShownTransaction>]>([
    ["the price that was paid beside its caps", "eip1559", { gasPrice: 99n }],
    ["an address in capitals", "lettered", { to: `0x${"AB".repeat(20)}` }],
    ["no type", "legacy", { type: null }],
    ["no chain beside one in its signature", "legacy", { chainId: null }],
    ["a chain that is told beside an unprotected one", "unprotected", { chainId: 1n }],
    ["the parity in v alone", "eip1559", { yParity: null }],
  ])("are the same with %s", (_, raw, change) => {
    const shown = shownOf(signed[raw]);
    expect(authenticate({ ...shown, ...change })).toEqual(authenticate(shown));
  });

  // why: a chain skips such an authorisation, and takes the transaction
  it.each<[what: string, change: Partial<NonNullable<ShownTransaction["authorizationList"]>[number]>]>([
    ["for a chain beyond 2^53", { chainId: 2n ** 64n }],
    ["of the last nonce", { nonce: 2n ** 64n - 1n }],
    ["whose parity is none", { yParity: 5n }],
    ["without a signature", { r: 0n, s: 0n }],
    ["for an address in capitals", { address: `0x${"AB".repeat(20)}` }],
  ])("are those of its bytes with an authorisation %s", async (_, change) => {
    const shown = shownOf(signed.eip7702);
    const [first] = shown.authorizationList ?? [];
    const authorization = { ...(first ?? expect.fail()), ...change };
    const { address, chainId, nonce, yParity, r, s } = authorization;
    const scalar = (value: bigint) => (value === 0n ? "0x" : toHex(value));
    const tuple = [scalar(chainId), address, ...[nonce, yParity, r, s].map(scalar)] as ReadonlyArray<Hex>;
    const fields = [...[1n, 7n, 1n, 2n, 21_000n].map(scalar), to, scalar(5n), "0x" as const, [], [tuple]] as const;
    const hashOf = (...signature: ReadonlyArray<bigint>) =>
      keccak256(concat(["0x04", toRlp([...fields, ...signature.map(scalar)] as Parameters<typeof toRlp>[0])]));
    const own = parseSignature(await account.sign({ hash: hashOf() }));
    const sealed = { r: BigInt(own.r), s: BigInt(own.s), v: BigInt(own.yParity), yParity: BigInt(own.yParity) };
    expect(authenticate({ ...shown, ...sealed, authorizationList: [authorization] })).toMatchObject({
      hash: hashOf(sealed.yParity, sealed.r, sealed.s),
      sender: lower(account.address),
    });
  });

  it.each<[what: string, raw: keyof typeof signed, change: Partial<ShownTransaction>]>([
    ["another amount", "legacy", { value: 6n }],
    ["another target", "eip1559", { to: `0x${"33".repeat(20)}` }],
    ["other data", "eip1559", { input: "0x00" }],
    ["another nonce", "eip7702", { nonce: 8n }],
    ["other authorisations", "eip7702", { authorizationList: [] }],
    ["another tip", "eip1559", { maxPriorityFeePerGas: 2n }],
    ["the other parity", "eip1559", { v: null, yParity: 1n - (shownOf(signed.eip1559).yParity ?? 0n) }],
  ])("differ or are not verifiable with %s", (_, raw, change) => {
    const shown = shownOf(signed[raw]);
    expect(authenticate({ ...shown, ...change })?.hash).not.toBe(authenticate(shown)?.hash);
  });
});
