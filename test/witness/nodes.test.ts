/** The witness on real nodes: what it reads, that it cannot be starved or flooded, that nobody notices it. */
import * as fc from "fast-check";
import { encodeFunctionData, keccak256, numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Address, Hex as BrandedHex } from "../rooms/primitives.js";
import {
  allowance,
  balanceOf,
  balanceOf1155,
  encodeQueries,
  gasFor,
  getL1Fee,
  getOperatorFee,
  isIsthmus,
  metadataGas,
  name,
  ownerOf,
  readString,
  readUint256,
  staticCall,
  symbol,
  witnessBytecode,
  type WitnessAnswer,
  type Query,
} from "../rooms/witness.js";
import * as artifacts from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import { held, modes, nobody, setTheScene, stranger, type Cast } from "./cast.js";
import { ask, nodes, placed, unwatched, user, watched, type Scene } from "./scene.js";

// What fails under STATICCALL and a cap of 200,000 gas; a megabyte costs 2.2 million of memory.
const refusing: ReadonlyArray<string> = [
  ...["Reverts", "BurnsAllGas", "Invalid", "Megabyte", "RevertsMegabyte"],
  ...["Writes", "SelfDestructs", "CallsBack", "Logs", "Creates"],
];

const balances = (cast: Cast): ReadonlyArray<Query> =>
  Object.values(cast.hostile).flatMap((token): Array<Query> => [
    balanceOf(token, user),
    allowance(token, user, cast.vault),
    name(token),
    balanceOf(cast.token, user),
  ]);

interface Header {
  readonly hash: string;
  readonly number: string;
  readonly timestamp: string;
  readonly gasLimit: string;
}

/** What may differ between two askings of the same state. */
const timeless = (answers: ReadonlyArray<WitnessAnswer> | null) =>
  answers?.map((answer) => (answer.kind === "environment" ? { ...answer, gasLeft: 0n } : answer)) ?? null;

describe.each(nodes)("the witness on %s", (_, start) => {
  let scene: Scene;
  let cast: Cast;

  beforeAll(async () => {
    scene = await start();
    cast = await setTheScene(scene);
  }, 60_000);
  afterAll(() => scene?.stop());

  it("reads the environment it runs in", async () => {
    const header = (await rawRequest(scene.url, "eth_getBlockByNumber", ["latest", false])) as Header;
    const { before } = await watched(scene, [{ kind: "environment" }], cast.transfer);
    const [environment] = before ?? [];
    if (environment?.kind !== "environment") throw new Error(`got ${environment?.kind}`);
    expect(environment.chainId).toBe(BigInt((await rawRequest(scene.url, "eth_chainId")) as string));
    expect(environment.gasLimit).toBe(BigInt(header.gasLimit));
    expect(environment.gasPrice).toBe(environment.baseFeePerGas);
    expect(environment.baseFeePerGas > 0n).toBe(true);
    expect(environment.timestamp >= BigInt(header.timestamp)).toBe(true);
    expect(environment.gasLeft > 0n && environment.gasLeft < gasFor([{ kind: "environment" }])).toBe(true);
    // anvil simulates the base block's own number on `latest`, geth the next.
    const ahead = environment.number - BigInt(header.number);
    expect([0n, 1n]).toContain(ahead);
    if (ahead === 1n) expect(environment.parentHash).toBe(header.hash);
  });

  it("reads accounts: EOA, contract, delegation, the zero address", async () => {
    const placement = placed();
    const delegated = "0x2222222222222222222222222222222222222222" as Address;
    const designator = `0xef0100${cast.token.slice(2)}` as Hex;
    const queries: ReadonlyArray<Query> = [user, cast.token, delegated, nobody].map((address) => ({
      kind: "account",
      address,
    }));
    const [eoa, contract, , none] = (await ask(scene, queries)) ?? [];
    const balance = BigInt((await rawRequest(scene.url, "eth_getBalance", [user, "latest"])) as string);
    const code = (await rawRequest(scene.url, "eth_getCode", [cast.token, "latest"])) as Hex;
    expect(eoa).toMatchObject({ kind: "account", balance, codeSize: 0n, codePrefix: "0x" });
    expect(contract).toMatchObject({
      balance: 0n,
      codeHash: keccak256(code),
      codeSize: BigInt((code.length - 2) / 2),
      codePrefix: code.slice(0, 48),
    });
    expect(none).toMatchObject({ balance: 0n, codeHash: `0x${"00".repeat(32)}`, codeSize: 0n, codePrefix: "0x" });
    const overrides = {
      [placement.address]: { code: witnessBytecode },
      [delegated]: { code: designator },
    };
    const call = { from: placement.sender, to: placement.address, data: encodeQueries(queries) };
    const data = (await rawRequest(scene.url, "eth_call", [call, "latest", overrides])) as string;
    expect(data).toContain(designator.slice(2));
  });

  it("reads tokens, approvals and oracles", async () => {
    const queries = [
      balanceOf(cast.token, user),
      allowance(cast.token, user, cast.vault),
      symbol(cast.token),
      symbol(cast.bytes32),
      ownerOf(cast.nft, 7n),
      ownerOf(cast.nft, 8n),
      balanceOf1155(cast.multi, user, 3n),
      balanceOf(nobody, user),
      getL1Fee("0x0102" as BrandedHex, cast.oracle),
      getOperatorFee(1000n, cast.oracle),
      isIsthmus(cast.oracle),
      staticCall(cast.oracle, "0x105d0b81"),
    ];
    const answers = (await ask(scene, queries)) ?? [];
    expect(readUint256(answers[0])).toBe(held);
    expect(readUint256(answers[1])).toBe(500n);
    expect(readString(answers[2])).toBe("GLD");
    expect(readString(answers[3])).toBe("MKL");
    expect(readUint256(answers[4])).toBe(BigInt(user));
    expect(answers[5]).toMatchObject({ kind: "call", success: false, size: 36n });
    expect(readUint256(answers[6])).toBe(9n);
    expect(answers[7]).toEqual({ kind: "call", success: true, size: 0n, data: "0x" });
    expect(readUint256(answers[7])).toBeNull();
    expect(readUint256(answers[8])).toBe(5n + 3n * 70n);
    expect(readUint256(answers[9])).toBe(1000n * 7n * 100n + 11n);
    expect([readUint256(answers[10]), readUint256(answers[11])]).toEqual([1n, 1n]);
  });

  it("measures movements between before and after", async () => {
    const queries = [balanceOf(cast.token, user), balanceOf(cast.token, stranger), { kind: "account", address: user }];
    const { before, user: result, after } = await watched(scene, queries as Query[], cast.transfer);
    expect(result.status).toBe("0x1");
    expect([readUint256(before?.[0]), readUint256(before?.[1])]).toEqual([held, 0n]);
    expect([readUint256(after?.[0]), readUint256(after?.[1])]).toEqual([held - 100n, 100n]);
    const [paid, left] = [before?.[2], after?.[2]];
    if (paid?.kind !== "account" || left?.kind !== "account") throw new Error("account answers expected");
    expect(paid.balance - left.balance > BigInt(result.gasUsed)).toBe(true);
  });

  it("answers every honest query beside every hostile one, with exactly the gas of gasFor", async () => {
    const queries = balances(cast);
    const answers = (await ask(scene, queries)) ?? [];
    expect(answers.map(({ kind }) => kind)).toEqual(queries.map(() => "call"));
    for (const [index, mode] of modes.entries()) {
      const answer = answers[index * 4];
      expect(readUint256(answers[index * 4 + 3]), `beside ${mode}`).toBe(held);
      if (answer?.kind !== "call") throw new Error(`${mode}: ${answer?.kind}`);
      expect(answer.success, mode).toBe(!refusing.includes(mode));
      expect(answer.data.length <= 66, mode).toBe(true);
      if (mode === "Honest" || mode === "Reenters") expect(readUint256(answer)).toBe(held);
      if (mode === "Short") expect([answer.size, readUint256(answer)]).toEqual([31n, null]);
      if (mode === "Empty") expect([answer.size, readUint256(answer)]).toEqual([0n, null]);
      if (mode === "Maximum") expect(readUint256(answer)).toBe(2n ** 256n - 1n);
      if (mode === "PerOrigin") expect(readUint256(answer)).toBe(held + 1n);
    }
  });

  it("caps a megabyte that the token could pay for", async () => {
    const token = cast.hostile.Megabyte;
    const reverting = cast.hostile.RevertsMegabyte;
    const queries = [token, reverting].map((to) => ({ ...balanceOf(to, user), gas: 5_000_000 }));
    const answers = await ask(scene, [...queries, balanceOf(cast.token, user)]);
    expect(answers?.[0]).toMatchObject({ success: true, size: 1_048_576n });
    expect(answers?.[1]).toMatchObject({ success: false, size: 1_048_576n });
    expect([readUint256(answers?.[0]), readUint256(answers?.[2])]).toEqual([held, held]);
  });

  it("gives fewer answers with less gas, never other ones", async () => {
    const queries: ReadonlyArray<Query> = [
      { kind: "environment" },
      { kind: "account", address: user },
      balanceOf(cast.token, user),
      balanceOf(cast.hostile.BurnsAllGas, user),
      { ...balanceOf(cast.token, user), gas: metadataGas },
      { kind: "account", address: cast.token },
      name(cast.token),
    ];
    const full = timeless(await ask(scene, queries)) ?? [];
    expect(full.some(({ kind }) => kind === "unavailable")).toBe(false);
    const enough = Number(gasFor(queries));
    const counts = new Set<number>();
    const intrinsic = 21_000 + 8 * encodeQueries(queries).length;
    const gases = [
      ...Array.from({ length: 60 }, (_, step) => intrinsic + 1000 + step * 997),
      ...[0.3, 0.5, 0.7, 0.9].map((share) => share * enough),
    ];
    for (const gas of gases) {
      const answers = timeless(await ask(scene, queries, BigInt(Math.floor(gas))));
      if (answers === null) continue;
      const known = answers.findIndex(({ kind }) => kind === "unavailable");
      const count = known === -1 ? answers.length : known;
      counts.add(count);
      expect(answers.slice(0, count)).toEqual(full.slice(0, count));
      expect(answers.slice(count).every(({ kind }) => kind === "unavailable")).toBe(true);
    }
    expect(counts.size).toBeGreaterThan(3);
  });

  it("does not start a call whose return data it could not pay to keep", async () => {
    const flood = { ...balanceOf(cast.hostile.Megabyte, user), gas: 2_600_000, returnCap: 1_048_576 };
    const queries = [balanceOf(cast.token, user), flood];
    const short = await ask(scene, queries, 3_500_000n);
    expect(readUint256(short?.[0])).toBe(held);
    expect(short?.[1]).toEqual({ kind: "unavailable" });
    const whole = (await ask(scene, queries))?.[1];
    if (whole?.kind !== "call") throw new Error(`got ${whole?.kind}`);
    expect([whole.size, whole.data.length]).toEqual([1_048_576n, 2 + 2 * 1_048_576]);
    expect(readUint256(whole)).toBe(held);
  });

  it("makes a call with its whole gas or not at all", async () => {
    // The token answers with the gas it has; the cap is so large that a missing 64th is beyond all margins.
    const query = { ...balanceOf(cast.hostile.PerGas, user), gas: 5_000_000 };
    const whole = readUint256((await ask(scene, [query]))?.[0]);
    expect(whole).toBeGreaterThan(4_990_000n);
    const seen = new Set<bigint | null>();
    for (let gas = 5_000_000n; gas < gasFor([query]); gas += 3001n) {
      const [answer] = (await ask(scene, [query], gas)) ?? [];
      expect(["call", "unavailable"]).toContain(answer?.kind);
      seen.add(readUint256(answer));
    }
    expect([...seen]).toEqual([null, whole]);
  });

  it("does not change what the user's call does, for any queries", async () => {
    const everything = [...balances(cast), { kind: "environment" } as const];
    const alone = new Map<string, unknown>();
    for (const [key, call] of cast.calls) {
      alone.set(key, await unwatched(scene, call));
      const { before, user: result, after } = await watched(scene, everything.slice(0, 24), call);
      expect(result, key).toEqual(alone.get(key));
      expect(
        before?.some(({ kind }) => kind === "unavailable"),
        key,
      ).toBe(false);
      expect(
        after?.some(({ kind }) => kind === "unavailable"),
        key,
      ).toBe(false);
    }
    const query: fc.Arbitrary<Query> = fc.oneof(
      fc.constantFrom(...everything),
      fc
        .record({
          token: fc.constantFrom(...Object.values(cast.hostile)),
          gas: fc.integer({ min: 0, max: 2_000_000 }),
          cap: fc.nat(5000),
        })
        .map(({ token, gas, cap }): Query => ({ ...balanceOf(token, user), gas, returnCap: cap })),
      fc
        .record({ to: fc.constantFrom(cast.token, cast.vault, user, nobody), data: fc.uint8Array({ maxLength: 100 }) })
        .map(({ to, data }): Query => {
          const hex = `0x${Buffer.from(data).toString("hex")}` as BrandedHex;
          return { kind: "call", to, data: hex, gas: 50_000, returnCap: 64 };
        }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...cast.calls),
        fc.array(query, { maxLength: 12 }),
        async ([key, call], queries) => {
          const { before, user: result, after } = await watched(scene, queries, call, 15_000_000n);
          expect(result).toEqual(alone.get(key));
          expect(before?.length).toBe(queries.length);
          expect(after?.length).toBe(queries.length);
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);

  it("stands where no contract could expect it", async () => {
    const spoofer = await scene.deploy(artifacts.Spoofer, [cast.token, 7, BigInt(placed().address)]);
    const call = {
      to: spoofer,
      data: encodeFunctionData({ abi: artifacts.Spoofer.abi, functionName: "claim" }),
    };
    const { user: result } = await watched(scene, [balanceOf(cast.token, user)], call);
    const flags = result.logs.filter(({ address }) => address.toLowerCase() === spoofer).map(({ data }) => data);
    expect(flags).toEqual([numberToHex(0, { size: 32 })]);
  });
});
