/** What decides without asking: bytecode, headers, differences, and what one request can read. */
import { describe, expect, it } from "vitest";
import { lookup, unknownChain, type Chain } from "../../src/Chains.js";
import type { Header } from "../../src/Eth.js";
import type { Address, Hash, Hex } from "../rooms/primitives.js";
import type { Report } from "../../src/Report.js";
import { totalSupply } from "../rooms/witness.js";
import { Token } from "../contracts/artifacts.js";
import {
  byHeader,
  isForAnother,
  isUntouched,
  keysOf,
  requestsFor,
  sweep,
  unionOf,
  type Reading,
  type ReadValue,
  type Touched,
} from "../rooms/watch.js";

/** What solc appends: `ipfs` with a hash that begins so, and its version. */
const metadata = (hash: string): string => `a2646970667358${"22"}1220${hash.padEnd(64, "0")}64736f6c634300081c0033`;

describe("a sweep", () => {
  it.each<readonly [what: string, code: Hex, isBeyondState: boolean]>([
    ["nothing", "0x", false],
    ["SLOAD, SSTORE, CALL, SELFBALANCE", "0x6000546000555af147", false],
    ["GAS, and no call", "0x5a10", true],
    ["GAS, and a call elsewhere", "0x5a5bf1", true],
    ["GAS before STATICCALL", "0x5afa", false],
    ["a call with some gas", "0x610bb8f1", true],
    ["a call with the stipend of a transfer", "0x6108fc908115020290f1", false],
    ["another after it", "0x6108fcf1f1", true],
    ["a call behind a jump from the stipend", "0x6108fc5bf1", true],
    ["TIMESTAMP", "0x42", true],
    ["NUMBER", "0x600043", true],
    ["PREVRANDAO", "0x44", true],
    ["COINBASE", "0x41", true],
    ["GASLIMIT", "0x45", true],
    ["BASEFEE", "0x48", true],
    ["BLOBBASEFEE", "0x4a", true],
    ["BLOCKHASH", "0x600040", true],
    ["SLOTNUM", "0x4b", true],
    ["GASPRICE", "0x3a", true],
    ["CREATE", "0xf0", true],
    ["CREATE2", "0xf5", true],
    ["SELFDESTRUCT", "0xff", true],
    ["TIMESTAMP as push data", "0x6042", false],
    ["32 bytes of push data", `0x7f${"42".repeat(32)}`, false],
    ["TIMESTAMP behind them", `0x7f${"42".repeat(32)}42`, true],
    ["TIMESTAMP in push data that the code ends in", "0x6242", false],
    ["TIMESTAMP behind STOP", "0x0042", false],
    ["TIMESTAMP behind INVALID, as in metadata", "0xfe42", false],
    ["TIMESTAMP behind a JUMPDEST that nothing jumps to", "0x005b42", false],
    ["the same, where it is jumped to", "0x6004565b0042", false],
    ["TIMESTAMP behind a JUMPDEST that is jumped to", "0x600456fe5b42", true],
    ["TIMESTAMP behind one that is jumped to where a word is not 0", "0x6000356007575b005b42", false],
    ["the same at the right place", "0x600035600757005b42", true],
    ["a jump out of push data into push data, which halts", "0x6005565b605b42", false],
    ["a jump back to where a function was called from", "0x60056008565b42005b56", true],
    ["a jump back, and TIMESTAMP in what nobody calls", "0x60056009565b005b425b56", false],
    ["a place that is worked out", "0x600360040156005b42", true],
    ["a place out of storage", "0x60005456005b42", true],
    ["a place out of calldata, behind a mask", "0x60003563ffffffff1656005b42", true],
    ["a place that is masked", "0x600b63ffffffff1656005b00", false],
    ["metadata whose hash holds a JUMPDEST and TIMESTAMP", `0x60005460005500fe${metadata("5b42")}`, false],
    ["the same, where that JUMPDEST is jumped to", `0x601356fe${metadata("00".repeat(5) + "5b42")}`, true],
    ["TIMESTAMP behind a JUMPDEST that is push data", "0x00605b42", false],
    ["TIMESTAMP behind JUMPI", "0x5742", true],
    ["TIMESTAMP behind JUMP", "0x5642", false],
    ["BALANCE", "0x3231", true],
    ["ADDRESS BALANCE", "0x3031", false],
    ["the same, masked", `0x3073${"ff".repeat(20)}1631`, false],
    ["the same, masked by another", `0x3073${"ff".repeat(19)}fe1631`, true],
    ["ADDRESS and BALANCE of another", "0x30323131", true],
    ["ADDRESS and BALANCE behind a JUMPDEST", "0x305b31", true],
    ["an opcode that nobody knows", "0x0c", true],
    ["the same behind RETURN", "0xf30c", false],
  ])("of %s", (_, code, isBeyondState) => expect(sweep(code).isBeyondState).toBe(isBeyondState));

  it("of a token is the same, whatever the hash of its metadata", () => {
    const runtime = `0x${Token.bytecode.slice(Token.bytecode.indexOf("fe6080") + 2)}`;
    const found = Array.from({ length: 256 }, (_, index) => {
      const hash = `5b42${index.toString(16).padStart(2, "0")}5b${((index * 31) % 256).toString(16).padStart(2, "0")}`;
      return sweep(`${runtime}fe${metadata(hash)}` as Hex).isBeyondState;
    });
    expect(new Set(found)).toEqual(new Set([false]));
  });

  it("that would take too long takes every place for one that is jumped to", () => {
    // why: each round leaves another place on the stack, of which only so many are remembered
    const places = Array.from({ length: 40 }, () => "5b").join("");
    const branch = (to: number) => `60003561${to.toString(16).padStart(4, "0")}57`;
    const pushes = Array.from({ length: 40 }, (_, index) => `60${(3 + index).toString(16).padStart(2, "0")}`);
    const at = (index: number) => 44 + index * 10;
    const body = pushes.map((push, index) => `5b${branch(at(index + 1))}${push}`).join("");
    const code = `0x61002c56${places.slice(2)}00${body}5b00005b42` as Hex;
    const started = performance.now();
    expect(sweep(code).isBeyondState).toBe(true);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("tells whether it may read what it owns itself", () => {
    expect(["0x3031", "0x47", "0x30"].map((code) => sweep(code as Hex).readsOwnBalance)).toEqual([true, true, false]);
  });
});

const address = (name: number): Address => `0x${name.toString(16).padStart(40, "0")}`;
const now = 1_800_000_000_000;
const header = (changes: Partial<Header> = {}): Header =>
  ({
    ...{ number: 5n, timestamp: 1_799_999_995n, gasLimit: 30_000_000n, gasUsed: 15_000_000n, baseFeePerGas: 100n },
    ...{ blobGasUsed: null, extraData: null },
    ...changes,
  }) as Header;
const reportOf = (cap: bigint | null, chainId: number, nextFork: bigint | null = null): Report =>
  ({
    chainId,
    transactions: [
      {
        input: { from: `0x${"01".repeat(20)}` },
        request: { gas: 21_000n, ...(cap === null ? { gasPrice: 100n } : { maxFeePerGas: cap }) },
      },
    ],
    observed: { rules: { nextFork } },
  }) as never;

describe("a header", () => {
  const ethereum = lookup(1);
  it.each<
    readonly [what: string, is: string, cap: bigint | null, changes: Partial<Header>, chain: Chain, fork: bigint | null]
  >([
    ["that changes nothing", "quiet", 100n, {}, ethereum, null],
    ["whose child costs exactly the cap", "quiet", 112n, { gasUsed: 30_000_000n }, ethereum, null],
    ["whose child costs more than the cap", "lost", 111n, { gasUsed: 30_000_000n }, ethereum, null],
    ["the same, of a gas price", "lost", null, { gasUsed: 30_000_000n }, ethereum, null],
    ["the same, on a chain that nobody described", "prove", 111n, { gasUsed: 30_000_000n }, unknownChain, null],
    ["without a base fee", "prove", 100n, { baseFeePerGas: null }, ethereum, null],
    ["of a block too small for the call", "prove", 100n, { gasLimit: 20_000n, gasUsed: 10_000n }, ethereum, null],
    ["of two minutes ago", "prove", 100n, { timestamp: 1_799_999_880n }, ethereum, null],
    ["before a fork that the next block may activate", "prove", 100n, {}, ethereum, 1_800_000_007n],
    ["before a fork that is further off", "quiet", 100n, {}, ethereum, 1_800_000_008n],
  ])("%s: %s", (_, is, cap, changes, chain, fork) =>
    expect(byHeader(reportOf(cap, 1, fork), header(changes), chain, now).is).toBe(is),
  );
  it("of a chain that mines on demand may be old", () =>
    expect(byHeader(reportOf(100n, 31337), header({ timestamp: 1n }), unknownChain, now).is).toBe("quiet"));
});

describe("a block of another producer", () => {
  const [one, two, three] = [1, 2, 3].map((name) => address(name)) as [Address, Address, Address];
  const provenBy = (world: Address | null, observed: Address | null): Report =>
    ({ observed: { worlds: [{ run: "next", feeRecipient: world }], feeRecipient: observed } }) as never;
  it.each<
    readonly [
      what: string,
      isOther: boolean,
      world: Address | null,
      miner: Address | null,
      touched: ReadonlyArray<Address>,
    ]
  >([
    ["that is nobody whom the call meets", false, one, two, [three]],
    ["whom the call meets", true, one, two, [two, three]],
    ["than the one whom the call meets", true, one, two, [one]],
    ["that is the same", false, one, one, [one]],
    ["that nobody names", true, one, null, [three]],
    ["where neither is known", false, null, null, [three]],
  ])("%s: %s", (_, isOther, world, miner, touched) =>
    expect(isForAnother(provenBy(world, null), header({ miner }), new Set(touched))).toBe(isOther),
  );
  it("is known by the head that was observed, where the world does not tell", () =>
    expect(isForAnother(provenBy(null, one), header({ miner: two }), new Set([one]))).toBe(true));
});

const slot = (name: number): Hash => `0x${name.toString(16).padStart(64, "0")}`;
const touching = (account: number, count: number): Touched => ({
  accounts: new Set([address(account)]),
  payees: new Set(),
  supplies: new Map(),
  slots: new Map([[address(7), new Set(Array.from({ length: count }, (_, index) => slot(account * 10_000 + index)))]]),
  calls: [],
  senders: new Set([address(account)]),
});

/** Something that was read. */
const one = { kind: "word", word: "1" } as const;

describe("what reports hang on", () => {
  it("is asked once where several hang on it", () => {
    const both = unionOf([touching(1, 3), touching(1, 5), touching(2, 1)]);
    expect(keysOf(both)).toHaveLength(1 + 2 + 6 + 2);
  });
  it("is asked in more requests where it is more than one can read, and not at all where it is too much", () => {
    const sets = [touching(1, 1_500), touching(2, 1_500), touching(3, 10), touching(4, 9_000)];
    const requests = requestsFor(sets).map(keysOf);
    expect(requests).toHaveLength(2);
    const asked = new Set(requests.flat());
    expect(sets.map((set) => keysOf(set).every((key) => asked.has(key)))).toEqual([true, true, true, false]);
    expect(requestsFor(sets.slice(2, 3))).toHaveLength(1);
  });
  it("is untouched where somebody is only paid who has more than before, unless it was nothing", () => {
    const set: Touched = { ...touching(1, 0), slots: new Map(), payees: new Set([address(1)]) };
    const held = (balance: bigint, codeHash: Hash = "0x00", codePrefix: Hex = "0x"): Reading =>
      new Map(
        keysOf(set).map((key) => [
          key,
          key.startsWith("account") ? { kind: "account", balance, codeHash, codePrefix } : one,
        ]),
      );
    expect(isUntouched(set, held(5n), held(70n))).toBe(true);
    expect(isUntouched({ ...set, payees: new Set() }, held(5n), held(70n))).toBe(false);
    expect(isUntouched(set, held(0n), held(70n))).toBe(false);
    expect(isUntouched(set, held(5n), held(0n))).toBe(false);
    expect(isUntouched(set, held(5n), held(5n, "0x01"))).toBe(false);
    expect(isUntouched(set, held(5n), held(5n, "0x00", "0xef0100"))).toBe(false);
  });
  it("is untouched so long as the same amounts are all there is of a token", () => {
    const key = `call ${address(9)} 0x18160ddd`;
    const set: Touched = {
      ...touching(1, 0),
      ...{ accounts: new Set(), slots: new Map(), senders: new Set() },
      calls: [totalSupply(address(9))],
    };
    const held = (supply: bigint, success = true): Reading =>
      new Map<string, ReadValue>([
        ["block", one],
        [key, { kind: "call", success, size: 32n, data: `0x${supply.toString(16).padStart(64, "0")}` }],
      ]);
    const moves = (amounts: ReadonlyArray<bigint> | null, from: Parameters<typeof held>, to: Parameters<typeof held>) =>
      !isUntouched({ ...set, supplies: new Map(amounts === null ? [] : [[key, amounts]]) }, held(...from), held(...to));
    expect(moves(null, [100n], [101n])).toBe(true);
    expect(moves([], [100n], [101n])).toBe(false);
    expect(moves([50n], [100n], [101n])).toBe(false);
    expect(moves([101n], [100n], [101n])).toBe(false);
    expect(moves([100n], [100n], [101n])).toBe(true);
    expect(moves([50n, 100n], [101n], [100n])).toBe(true);
    expect(moves([100n], [100n], [100n, false])).toBe(true);
    expect(moves([100n], [100n], [0n])).toBe(true);
  });
  it("is untouched only where all of it was read, before and now, and is the same", () => {
    const set = touching(1, 1);
    const held: Reading = new Map(keysOf(set).map((key) => [key, one]));
    expect(isUntouched(set, held, held)).toBe(true);
    for (const key of keysOf(set)) {
      const [other, missing] = [new Map(held).set(key, { kind: "word", word: "2" }), new Map(held)];
      missing.delete(key);
      expect([
        isUntouched(set, held, other),
        isUntouched(set, held, missing),
        isUntouched(set, missing, missing),
      ]).toEqual([...[false, false, false]]);
    }
  });
});
