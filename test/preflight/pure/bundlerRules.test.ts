/** The rules of bundlers (ERC-7562) read off traces: each rule broken and kept, by entity and stake, and whatever a node says. */
import fc from "fast-check";
import { encodePacked, keccak256, numberToHex, padHex, toHex, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { rulesBroken, type Ruled } from "../../rooms/pipeline.js";

const at = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [entryPoint, creator, account, factory, paymaster, other] = ["e", "c", "a", "f", "b", "d"].map(at) as [
  ...[Hex, Hex, Hex, Hex, Hex, Hex],
];
const ruled: Ruled = { entryPoint, creator, entities: { account, factory, paymaster }, staked: new Set() };
const withStake = (...staked: ReadonlyArray<"account" | "factory" | "paymaster">): Ruled => ({
  ...ruled,
  staked: new Set(staked),
});
const unmade: Ruled = { ...ruled, entities: { ...ruled.entities, paymaster: null } };

const slots = (changed: object = {}) => ({
  reads: {},
  writes: {},
  transientReads: {},
  transientWrites: {},
  ...changed,
});
const call = (from: Hex, to: Hex | null, changed: object = {}) => ({
  ...{ type: "CALL", from, ...(to === null ? {} : { to }), gas: "0xffff", gasUsed: "0x1", input: "0x", value: "0x0" },
  ...{ usedOpcodes: {}, accessedSlots: slots(), contractSize: {}, extCodeAccessInfo: [], outOfGas: false },
  ...changed,
});
const using = (...codes: ReadonlyArray<number>) => ({
  usedOpcodes: Object.fromEntries(codes.map((code) => [toHex(code), 1])),
});
const sized = (of: Hex, contractSize: number) => ({ contractSize: { [of]: { contractSize, opcode: 0xfa } } });
const made = () => call(factory, account, { type: "CREATE2", input: "0x60", ...using(0x54) });

interface Parts {
  readonly byFactory?: object;
  readonly byAccount?: object;
  readonly byPaymaster?: object;
  readonly keccak?: ReadonlyArray<unknown>;
  readonly behind?: ReadonlyArray<object>;
}
/** The bundler's call: the account is made where a factory does something, then it validates, and the paymaster. */
const traceOf = ({ byFactory, byAccount = {}, byPaymaster = {}, keccak = [], behind = [] }: Parts) => ({
  ...call(at("9"), entryPoint),
  // the EntryPoint itself may do all of it
  ...{ ...using(0x32, 0x42, 0x43, 0x48, 0x5a), ...sized(at("9"), 0) },
  keccak,
  calls: [
    ...(byFactory === undefined
      ? []
      : [call(entryPoint, creator, { calls: [call(creator, factory, { calls: [made()], ...byFactory })] })]),
    call(entryPoint, account, byAccount),
    call(entryPoint, paymaster, byPaymaster),
    call(entryPoint, entryPoint, { ...using(0x42, 0x31, 0xfe), calls: [call(account, other, { value: "0x5" })] }),
    ...behind,
  ],
});
const told = (parts: Parts, by = ruled) =>
  rulesBroken(traceOf(parts), by).broken.map(({ entity, rule, what, stakes }) =>
    [entity, rule, what, ...stakes].join(" "),
  );

const slotOf = (key: Hex, n = 0n): Hex =>
  numberToHex(BigInt(keccak256(encodePacked(["bytes32", "uint256"], [padHex(key), 3n]))) + n, { size: 32 });
const preimage = (key: Hex): Hex => encodePacked(["bytes32", "uint256"], [padHex(key), 3n]);
const slot = numberToHex(5n, { size: 32 });
const reading = (of: Hex) => ({ accessedSlots: slots({ reads: { [of]: [slot] } }) });
const writing = (of: Hex) => ({ accessedSlots: slots({ writes: { [of]: 1 } }) });

describe("opcodes", () => {
  it.each([
    [0x32, "OP-011 ORIGIN"],
    [0x3a, "OP-011 GASPRICE"],
    [0x40, "OP-011 BLOCKHASH"],
    [0x41, "OP-011 COINBASE"],
    [0x42, "OP-011 TIMESTAMP"],
    [0x43, "OP-011 NUMBER"],
    [0x44, "OP-011 PREVRANDAO"],
    [0x45, "OP-011 GASLIMIT"],
    [0x48, "OP-011 BASEFEE"],
    [0x49, "OP-011 BLOBHASH"],
    [0x4a, "OP-011 BLOBBASEFEE"],
    [0xfe, "OP-011 INVALID"],
    [0xff, "OP-011 SELFDESTRUCT"],
    [0x5a, "OP-012 GAS"],
  ])("%i is told of each entity as %s, whatever its stake", (code, rule) => {
    const all = withStake("account", "factory", "paymaster");
    for (const by of [ruled, all]) {
      expect(told({ byFactory: { ...using(code) } }, by)).toEqual([`factory ${rule}`]);
      expect(told({ byAccount: using(code) }, by)).toEqual([`account ${rule}`]);
      expect(told({ byPaymaster: using(code) }, by)).toEqual([`paymaster ${rule}`]);
    }
  });
  it.each([
    [0x31, "BALANCE"],
    [0x47, "SELFBALANCE"],
  ])("%i is told without a stake", (code, name) => {
    expect(told({ byPaymaster: using(code) })).toEqual([`paymaster OP-080 ${name} paymaster`]);
    expect(told({ byPaymaster: using(code) }, withStake("account"))).toHaveLength(1);
    expect(told({ byPaymaster: using(code) }, withStake("paymaster"))).toEqual([]);
  });
  it("all others are fine", () => {
    const others = Array.from({ length: 256 }, (_, code) => code).filter(
      (code) => told({ byAccount: using(code) }).length === 0,
    );
    expect(others).toHaveLength(256 - 16);
  });
  it("are told of what an entity calls, and once", () => {
    const inner = call(account, other, { ...using(0x42), calls: [call(other, at("7"), using(0x42))] });
    const { broken } = rulesBroken(traceOf({ byAccount: { calls: [inner, inner] } }), ruled);
    expect(broken.map(({ entity, at: where }) => [entity, where])).toEqual([
      ["account", other],
      ["account", at("7")],
    ]);
  });
  it("are told of what fails, and an unassigned one as what it is", () => {
    const failing = (error: string, codes: ReadonlyArray<number>) =>
      told({ byAccount: { calls: [call(account, other, { error, ...using(...codes) })] } });
    expect(failing("execution reverted", [0x42])).toEqual(["account OP-011 TIMESTAMP"]);
    expect(failing("invalid opcode: opcode 0xc not defined", [0x0c])).toEqual(["account OP-013 an unassigned opcode"]);
    expect(failing("invalid opcode: INVALID", [0xfe])).toEqual(["account OP-011 INVALID"]);
  });
});

describe("creations", () => {
  const creates = (from: Hex, type: string, to: Hex | null) => ({ calls: [call(from, to, { type, input: "0x60" })] });
  it("a factory makes the account, once", () => {
    expect(told({ byFactory: {} })).toEqual([]);
    expect(
      told({ byFactory: { calls: [made(), call(factory, null, { type: "CREATE2", error: "collision" })] } }),
    ).toEqual(["factory OP-031 CREATE2 factory"]);
    expect(
      told({ byFactory: { calls: [call(factory, other, { calls: [call(other, account, { type: "CREATE2" })] })] } }),
    ).toEqual([]);
    expect(told({ byFactory: creates(factory, "CREATE2", other) })).toEqual(["factory OP-031 CREATE2 factory"]);
    expect(told({ byFactory: creates(factory, "CREATE", account) })).toEqual(["factory OP-011 CREATE factory"]);
    expect(told({ byFactory: creates(factory, "CREATE2", other) }, withStake("factory"))).toEqual([]);
  });
  it("an account makes others with CREATE while it is made", () => {
    expect(told({ byFactory: {}, byAccount: creates(account, "CREATE", other) })).toEqual([]);
    expect(told({ byFactory: {}, byAccount: creates(account, "CREATE2", other) })).toEqual([
      "account OP-031 CREATE2 factory",
    ]);
    expect(told({ byAccount: creates(account, "CREATE", other) })).toEqual(["account OP-011 CREATE"]);
    expect(told({ byAccount: creates(account, "CREATE", other) }, withStake("account", "factory"))).toHaveLength(1);
  });
  it("a paymaster makes none", () => {
    expect(told({ byFactory: {}, byPaymaster: creates(paymaster, "CREATE2", account) })).toEqual([
      "paymaster OP-031 CREATE2",
    ]);
  });
});

describe("calls and code", () => {
  it("the EntryPoint takes payments alone", () => {
    const deposit = (of: Hex): Hex => `0xb760faf9${padHex(of).slice(2)}`;
    const to = (from: Hex, input: Hex, more: object = {}) => [call(from, entryPoint, { input, value: "0x5", ...more })];
    const broken = "OP-054 calls the EntryPoint";
    expect(told({ byAccount: { calls: to(account, "0x") } })).toEqual([]);
    expect(told({ byAccount: { calls: to(account, deposit(account)) } })).toEqual([]);
    expect(told({ byFactory: { calls: [made(), ...to(factory, deposit(account))] } })).toEqual([]);
    expect(told({ byAccount: { calls: to(account, deposit(other)) } })).toEqual([`account ${broken}`]);
    expect(told({ byAccount: { calls: to(account, "0x", { type: "DELEGATECALL" }) } })).toEqual([`account ${broken}`]);
    expect(told({ byAccount: { calls: to(account, "0x1b2e01b8") } })).toEqual([`account ${broken}`]);
    expect(told({ byPaymaster: { calls: to(paymaster, "0x") } })).toEqual([`paymaster ${broken}`]);
    expect(told({ byFactory: { calls: [made(), ...to(factory, "0x")] } })).toEqual([`factory ${broken}`]);
    // what the EntryPoint does itself is its own
    expect(told({ byAccount: { calls: to(account, "0x", { ...using(0x42), ...writing(slot) }) } })).toEqual([]);
    expect(told({ byAccount: { extCodeAccessInfo: [entryPoint] } })).toEqual([
      "account OP-054 reads the code of the EntryPoint",
    ]);
    expect(told({ byAccount: sized(entryPoint, 9) })).toEqual([]);
  });
  it("nothing else is paid", () => {
    const value = { value: "0x1" };
    expect(told({ byAccount: { calls: [call(account, other, value)] } })).toEqual(["account OP-061 CALL with value"]);
    expect(told({ byAccount: { calls: [call(account, other, { ...value, type: "DELEGATECALL" })] } })).toEqual([]);
    expect(told({ byAccount: { calls: [call(account, other, { ...value, type: "SELFDESTRUCT" })] } })).toEqual([]);
  });
  it("accounts have code, but for the one that is made", () => {
    expect(told({ byAccount: sized(other, 0) })).toEqual(["account OP-041 uses an account without code"]);
    expect(told({ byAccount: sized(other, 1) })).toEqual([]);
    expect(told({ byFactory: sized(account, 0) })).toEqual([]);
    for (const number of [1, 9, 0x100])
      expect(told({ byAccount: sized(numberToHex(number, { size: 20 }), 0) })).toEqual([]);
    for (const number of [0x0a, 0x0b, 0x11])
      expect(told({ byAccount: sized(numberToHex(number, { size: 20 }), 0) })).toEqual([
        "account OP-062 uses a precompile",
      ]);
    for (const number of [0, 0x12, 0xff])
      expect(told({ byAccount: sized(numberToHex(number, { size: 20 }), 0) })).toHaveLength(1);
  });
  it("nothing inside runs out of gas", () => {
    expect(told({ byAccount: { calls: [call(account, other, { outOfGas: true, error: "out of gas" })] } })).toEqual([
      "account OP-020 out of gas",
    ]);
    expect(told({ byAccount: { outOfGas: true, error: "out of gas" } })).toEqual([]);
  });
  it("code in place of ECRECOVER is nobody's", () => {
    const shim = numberToHex(1, { size: 20 });
    const inside = call(shim, at("5"), { ...using(0x42), outOfGas: true });
    const calls = [call(account, shim, { ...using(0x5a), ...sized(at("5"), 0), outOfGas: true, calls: [inside] })];
    expect(told({ byAccount: { calls } })).toEqual([]);
  });
});

describe("storage", () => {
  const keccak = [account, factory, paymaster].map(preimage);
  it("of the account is everybody's", () => {
    expect(told({ byAccount: writing(slot) })).toEqual([]);
    expect(told({ byPaymaster: { calls: [call(paymaster, account, writing(slot))] } })).toEqual([]);
    const borrowed = call(account, other, { type: "DELEGATECALL", ...writing(slot) });
    expect(told({ byAccount: { calls: [borrowed] } })).toEqual([]);
    expect(told({ byAccount: { calls: [call(account, other, { calls: [{ ...borrowed, from: other }] })] } })).toEqual([
      "account STO-010 writes storage",
    ]);
  });
  it.each([
    ["reads", reading, "STO-033 reads storage account"],
    ["writes", writing, "STO-010 writes storage"],
  ])("of others is nobody's who %s it", (_, use, rule) => {
    expect(told({ byAccount: { calls: [call(account, other, use(slot))] } })).toEqual([`account ${rule}`]);
    expect(told({ byAccount: { calls: [call(account, other, use(slot))] } }, withStake("account"))).toEqual(
      use === reading ? [] : [`account ${rule}`],
    );
    const transient = use === reading ? { transientReads: { [slot]: 1 } } : { transientWrites: { [slot]: 1 } };
    const inside = [call(account, other, { accessedSlots: slots(transient) })];
    expect(told({ byAccount: { calls: inside } })).toEqual([`account ${rule}`]);
  });
  it("that belongs to the account is everybody's where the account is there", () => {
    const uses = (of: Hex) => ({ calls: [call(account, other, writing(of))] });
    for (const of of [slotOf(account), slotOf(account, 128n), padHex(account)])
      expect(told({ byAccount: uses(of), keccak })).toEqual([]);
    for (const of of [slotOf(account, 129n), slotOf(account, -1n), slotOf(other)])
      expect(told({ byAccount: uses(of), keccak })).toEqual(["account STO-010 writes storage"]);
    expect(told({ byAccount: uses(slotOf(account)), keccak: [] })).toHaveLength(1);
    expect(told({ byFactory: {}, byAccount: uses(slotOf(account)), keccak })).toEqual([
      "account STO-022 writes storage factory",
    ]);
    expect(told({ byFactory: {}, byAccount: uses(slotOf(account)), keccak }, withStake("factory"))).toEqual([]);
    // in a token, say, whose balance of the account a paymaster takes
    const byPaymaster = uses(slotOf(account));
    expect(told({ byFactory: {}, byPaymaster, keccak })).toEqual([
      "paymaster STO-022 writes storage factory paymaster",
    ]);
    for (const by of ["factory", "paymaster"] as const)
      expect(told({ byFactory: {}, byPaymaster, keccak }, withStake(by))).toEqual([]);
  });
  it("of an entity is its own where it has a stake", () => {
    expect(told({ byPaymaster: writing(slot) })).toEqual(["paymaster STO-031 writes storage paymaster"]);
    expect(told({ byPaymaster: writing(slot) }, withStake("paymaster"))).toEqual([]);
    expect(told({ byFactory: reading(slot) })).toEqual(["factory STO-031 reads storage factory"]);
    const inside = { calls: [call(paymaster, other, writing(slotOf(paymaster, 4n)))] };
    expect(told({ byPaymaster: inside, keccak })).toEqual(["paymaster STO-032 writes storage paymaster"]);
    expect(told({ byPaymaster: inside, keccak }, withStake("paymaster"))).toEqual([]);
    expect(told({ byPaymaster: writing(slotOf(account)), keccak })).toEqual([]);
    expect(told({ byFactory: {}, byPaymaster: writing(slotOf(account)), keccak })).toEqual([
      "paymaster STO-022 writes storage factory paymaster",
    ]);
    expect(told({ byFactory: {}, byPaymaster: writing(slotOf(account)), keccak }, withStake("paymaster"))).toEqual([]);
  });
});

describe("what was seen", () => {
  const isWhole = (parts: Parts, by = ruled) => rulesBroken(traceOf(parts), by).isWhole;
  it("is all where account and paymaster were, and nobody else", () => {
    expect([isWhole({}), isWhole({ byFactory: {} })]).toEqual([true, true]);
    // another creator than the EntryPoint's, and a paymaster that the operation does not name
    expect([isWhole({ byFactory: {} }, { ...ruled, creator: other }), isWhole({}, unmade)]).toEqual([false, false]);
    const { calls, ...top } = traceOf({});
    const first = { ...top, calls: calls.slice(0, 1) };
    expect([rulesBroken(first, ruled).isWhole, rulesBroken(first, unmade).isWhole]).toEqual([false, true]);
    expect(rulesBroken({ ...top, to: other, calls }, ruled)).toEqual({ broken: [], isWhole: false });
  });
  it("ends where the EntryPoint calls itself", () => {
    expect(told({ behind: [call(entryPoint, account, using(0x42))] })).toEqual([]);
  });
  it("is not all where a call is not told in the tracer's form, and what else breaks a rule is told", () => {
    const { usedOpcodes: _, ...bare } = call(account, other);
    const parts = { byAccount: { ...using(0x42), calls: [bare, 5] } };
    expect([told(parts), isWhole(parts)]).toEqual([["account OP-011 TIMESTAMP"], false]);
    expect(isWhole({ byAccount: { accessedSlots: slots({ reads: { nothing: [] } }) } })).toBe(false);
  });
  it("is bounded", () => {
    const wide = { byAccount: { calls: Array.from({ length: 5_000 }, () => call(account, other)) } };
    expect(isWhole(wide)).toBe(false);
    let deep = call(account, other);
    for (let depth = 0; depth < 2_000; depth++) deep = call(account, other, { calls: [deep] });
    expect(isWhole({ byAccount: { calls: [deep] } })).toBe(false);
    const reads = Object.fromEntries(
      Array.from({ length: 4_000 }, (_, number) => [numberToHex(2n ** 250n + BigInt(number), { size: 32 }), [slot]]),
    );
    const frames = Array.from({ length: 3 }, () => call(account, other, { accessedSlots: slots({ reads }) }));
    const keccak = Array.from(
      { length: 4_000 },
      (_, number) => `${preimage(account)}${number.toString(16).padStart(8, "0")}`,
    );
    expect(isWhole({ byAccount: { calls: frames }, keccak })).toBe(false);
    expect(told({ byAccount: { calls: frames } })).toHaveLength(8);
  });

  const leaf = fc.oneof(
    fc.anything(),
    fc.constantFrom(entryPoint, creator, account, factory, paymaster, other, "0x", "CALL", "CREATE2", slot, "0x42", -1),
  );
  const fields = ["type", "from", "to", "input", "value", "error", "usedOpcodes", "accessedSlots", "contractSize"];
  const more = ["extCodeAccessInfo", "outOfGas", "keccak", "calls", "output"];
  const wild = fc.letrec((tie) => ({
    calls: fc.oneof({ maxDepth: 4 }, leaf, fc.array(fc.oneof(tie("frame"), leaf), { maxLength: 4 })),
    frame: fc
      .tuple(
        fc.constantFrom(entryPoint, creator, account, factory, paymaster),
        fc.constantFrom(entryPoint, creator, account, factory, paymaster, other),
        tie("calls"),
        fc.dictionary(fc.constantFrom(...fields, ...more), leaf, { maxKeys: 3 }),
        fc.uniqueArray(fc.nat(255), { maxLength: 3 }),
      )
      .map(([from, to, calls, changed, codes]) => call(from, to, { ...using(...codes), calls, ...changed })),
  }));
  it("of anything is rules of entities, at addresses, and no more than eight", () => {
    const entities = ["factory", "account", "paymaster"];
    const check = (trace: unknown) => {
      const seen = rulesBroken(trace, ruled);
      expect(typeof seen.isWhole).toBe("boolean");
      expect(seen.broken.length).toBeLessThanOrEqual(8);
      for (const { entity, rule, what, at: where, slot: of, stakes } of seen.broken) {
        expect([...stakes, entity].every((one) => entities.includes(one))).toBe(true);
        expect(rule).toMatch(/^(OP|STO)-0\d\d$/);
        expect(what.length).toBeLessThan(50);
        expect(where).toMatch(/^0x[0-9a-f]{40}$/);
        expect(of ?? slot).toMatch(/^0x[0-9a-fA-F]{64}$/);
      }
    };
    fc.assert(fc.property(fc.anything(), check));
    fc.assert(
      fc.property(wild["calls"] as fc.Arbitrary<unknown>, leaf, (calls, keccak) =>
        check(call(at("9"), entryPoint, { calls, keccak })),
      ),
      { numRuns: 1_000 },
    );
  });
});
