/** The two readings of batches beside each other: what is shown of the calls within calldata is what is judged. */
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  pad,
  parseAbi,
  parseAbiParameters,
  size,
  toFunctionSelector,
  toFunctionSignature,
  type Hex,
} from "viem";
import { describe, expect, it } from "vitest";
import { batchForms, callIn, callsIn, callsWithin, declared, innerCalls, innerLines } from "../../rooms/abi.js";
import { effectsIn } from "../../rooms/effects.js";
import { at } from "./arbitrary.js";

const [alice, self, one, other, nobody] = [at("a"), at("1"), at("2"), at("3"), at("0")];
const [first, second] = ["0x11223344", `0x55667788${"ab".repeat(40)}`] as const;
const zero = pad("0x");
const mode = (start: Hex) => pad(start, { size: 32, dir: "right" });
const executions = (...calls: ReadonlyArray<readonly [Hex, Hex]>) =>
  encodeAbiParameters(
    [{ type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] }],
    [calls.map(([to, data]) => [to, 0n, data] as never)],
  );
const packed = (operation: number, to: Hex, data: Hex) =>
  encodePacked(["uint8", "address", "uint256", "uint256", "bytes"], [operation, to, 0n, BigInt(size(data)), data]);
const making = concatHex([other, first]);
const whole = concatHex(["0x8dd7712f", second]);
const of6 = [one, 0n, "0x", whole, 0n, 0n, 0n, 0n, 0n, "0x", "0x"];
const of7 = [one, 0n, making, second, zero, 0n, zero, "0x", "0x"];
const request = [alice, one, 0n, 0n, 0, second, "0x"];
const pairs = [
  [one, first],
  [other, second],
] as const;
const lists = [
  [one, other],
  [0n, 0n],
  [first, second],
];
const settingUp = encodeFunctionData({
  abi: parseAbi(["function setup(address[],uint256,address,bytes,address,address,uint256,address)"]),
  args: [[alice], 1n, other, second, nobody, nobody, 0n, nobody],
});
const safe = [one, 0n, second, 1];
const proposal = ["x", [zero], ...safe];

/** Arguments of every function whose calls are shown, in its own order; none = it holds no calls to addresses. */
const samples: Readonly<Record<string, ReadonlyArray<ReadonlyArray<unknown>>>> = {
  "aggregate((address,bytes)[])": [[pairs]],
  "blockAndAggregate((address,bytes)[])": [[pairs]],
  "tryAggregate(bool,(address,bytes)[])": [[false, pairs]],
  "tryBlockAndAggregate(bool,(address,bytes)[])": [[true, pairs]],
  "aggregate3((address,bool,bytes)[])": [[pairs.map(([to, data]) => [to, true, data])]],
  "aggregate3Value((address,bool,uint256,bytes)[])": [[pairs.map(([to, data]) => [to, false, 0n, data])]],
  "multicall(bytes[])": [[[first, second]]],
  "multicall(uint256,bytes[])": [[1n, [first, second]]],
  "multicall(bytes32,bytes[])": [[zero, [first, second]]],
  "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)": [
    [...safe, 0n, 0n, 0n, nobody, nobody, "0x"],
    [one, 0n, second, 0, 0n, 0n, 0n, nobody, nobody, "0x"],
    [one, 0n, second, 7, 0n, 0n, 0n, nobody, nobody, "0x"],
  ],
  ...Object.fromEntries(
    [
      ...["execTransactionFromModule", "execTransactionFromModuleReturnData", "executeNextTx", "executeUserOp"],
      ...["executeUserOpWithErrorString", "execute"],
    ].map((name) => [`${name}(address,uint256,bytes,uint8)`, [safe]]),
  ),
  ...Object.fromEntries(
    ["execTransactionWithRole", "execTransactionWithRoleReturnData"].flatMap((name) => [
      [`${name}(address,uint256,bytes,uint8,bytes32,bool)`, [[...safe, zero, true]]],
      [`${name}(address,uint256,bytes,uint8,uint16,bool)`, [[...safe, 1, false]]],
    ]),
  ),
  "executeProposal(string,bytes32[],address,uint256,bytes,uint8)": [proposal],
  "executeProposalWithIndex(string,bytes32[],address,uint256,bytes,uint8,uint256)": [[...proposal, 0n]],
  "setup(address[],uint256,address,bytes,address,address,uint256,address)": [
    [[alice], 1n, one, second, nobody, nobody, 0n, nobody],
    [[alice], 1n, nobody, "0x", nobody, nobody, 0n, nobody],
  ],
  "setup(address[],uint256,address,bytes,address,uint256,address)": [
    [[alice], 1n, one, second, nobody, 0n, nobody],
    [[alice], 1n, nobody, "0x", nobody, 0n, nobody],
  ],
  ...Object.fromEntries(
    [
      ...["createProxyWithNonce", "createProxyWithNonceL2", "createChainSpecificProxyWithNonce"],
      "createChainSpecificProxyWithNonceL2",
    ].map((name) => [`${name}(address,bytes,uint256)`, [[one, settingUp, 1n]]]),
  ),
  "createProxyWithCallback(address,bytes,uint256,address)": [[one, settingUp, 1n, alice]],
  "createProxy(address,bytes)": [[one, settingUp]],
  "handleOps((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address)": [
    [[of6, of6], alice],
  ],
  "handleOps((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address)": [[[of7], alice]],
  "handleAggregatedOps(((address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)[],address,bytes)[],address)":
    [[[[[of6], alice, "0x"]], alice]],
  "handleAggregatedOps(((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[],address,bytes)[],address)":
    [[[[[of7, of7], alice, "0x"]], alice]],
  "execute(address,uint256,bytes)": [[one, 0n, second]],
  "execute(address,uint256,bytes,bytes32,bytes32)": [[one, 0n, second, zero, zero]],
  "executeBatch(address[],uint256[],bytes[])": [lists],
  "executeBatch(address[],uint256[],bytes[],bytes32,bytes32)": [[...lists, zero, zero]],
  "execute(address[],uint256[],bytes[],bytes32)": [[...lists, zero]],
  "executeBatch(address[],bytes[])": [[lists[0], lists[2]]],
  "execute((address,uint256,bytes)[])": [[pairs.map(([to, data]) => [to, 0n, data])]],
  "executeBatch((address,uint256,bytes)[])": [[pairs.map(([to, data]) => [to, 0n, data])]],
  ...Object.fromEntries(
    ["executeCalls", "batchCall", "executeBatchCall"].map((name) => [
      `${name}((address,uint256,bytes)[])`,
      [[pairs.map(([to, data]) => [to, 0n, data])]],
    ]),
  ),
  "execute((address,uint256,bytes)[],bytes)": [[pairs.map(([to, data]) => [to, 0n, data]), "0x"]],
  "execute(address[],uint256[],bytes[])": [lists],
  "executeWithoutChainIdValidation(bytes[])": [[[first, second]]],
  "multicall((address,bytes)[])": [[pairs]],
  "batch(bytes[],bool)": [
    [[first, second], true],
    [[first, second], false],
  ],
  ...Object.fromEntries(
    ["execute", "executeFromExecutor"].map((name) => [
      `${name}(bytes32,bytes)`,
      [
        [mode("0x00"), encodePacked(["address", "uint256", "bytes"], [one, 0n, second])],
        [mode("0xff01"), encodePacked(["address", "bytes"], [one, second])],
        [mode("0x0101"), executions([one, first], [nobody, second])],
        [
          mode("0x01000000000078210002"),
          encodeAbiParameters([{ type: "bytes[]" }], [pairs.map((each) => executions(each))]),
        ],
      ],
    ]),
  ),
  "relay(address,uint256,bytes)": [[one, 0n, second]],
  "call(address,address,uint256,bytes)": [[one, alice, 0n, second]],
  "batch((address,address,uint256,bytes)[])": [[pairs.map(([to, data]) => [to, alice, 0n, data])]],
  "multicall((address,bytes,uint256,bool,bytes32)[])": [[pairs.map(([to, data]) => [to, data, 0n, true, zero])]],
  "executeBySender((address,uint256,bytes)[])": [[pairs.map(([to, data]) => [to, 0n, data])]],
  "multiCall(address,(address,uint256,bytes)[])": [[alice, pairs.map(([to, data]) => [to, 0n, data])]],
  "executeBatch_y6U(address[],uint256[],bytes[])": [lists],
  "execute_ncC(address,uint256,bytes)": [[one, 0n, second]],
  "multicall(address[],bytes[])": [[lists[0], lists[2]]],
  "execute((address,address,uint256,uint256,uint48,bytes,bytes))": [[request]],
  "executeBatch((address,address,uint256,uint256,uint48,bytes,bytes)[],address)": [[[request, request], alice]],
  "execute((address,address,uint256,uint256,uint256,bytes),bytes)": [[[alice, one, 0n, 0n, 0n, second], "0x"]],
  "multiSend(bytes)": [[concatHex([packed(0, one, first), packed(1, other, second)])]],
  // commands name no account to call
  "execute(bytes,bytes[])": [],
  "execute(bytes,bytes[],uint256)": [],
};

describe("the functions with a sample", () => {
  it("include every function whose calls are shown", () => {
    const functions = declared.split("\n").flatMap((line) => line.split("|")[1]?.split(";") ?? []);
    const signatures = functions.flatMap((declaration) =>
      declaration === "" ? [] : toFunctionSignature(`function ${declaration}`),
    );
    const shown = signatures.filter((signature) => toFunctionSelector(signature) in batchForms);
    expect(Object.keys(samples).sort()).toEqual([...new Set(shown)].sort());
    // what a SafeL2 announces is no function, and its event is shown in its place
    const selectors: ReadonlyArray<string> = shown.map((signature) => toFunctionSelector(signature));
    const unnamed = Object.keys(batchForms).filter((selector) => !selectors.includes(selector));
    // nor is one shown as a call that may run as a DELEGATECALL
    expect(unnamed.sort()).toEqual(["0x1cff79cd", "0x66753cd2", "0xb648d364"]);
  });
  it("are marked as not all read where the selector leaves call or DELEGATECALL open", () => {
    const read = (signature: string, ...args: ReadonlyArray<unknown>) => {
      const abi = parseAbi([`function ${signature}`] as never) as never;
      return callsIn({ from: alice, to: self, data: encodeFunctionData({ abi, args } as never) as Hex });
    };
    const found = read("execute(address,bytes)", one, second);
    expect([found.read.map(({ to }) => to), found.either.map(({ to }) => to)]).toEqual([[self, one], [self]]);
    expect([found.isUnread, found.isCut]).toEqual([false, false]);
    // within another call it is that of the contract which makes it
    const within = read("execute(address,uint256,bytes)", other, 0n, found.read[0]?.data ?? "0x");
    expect([within.either.map(({ to }) => to), within.isUnread]).toEqual([[other], false]);
    const cut = callsIn({ from: alice, to: self, data: (found.read[0]?.data ?? "0x").slice(0, 138) as Hex });
    expect([cut.either, cut.isUnread]).toEqual([[], true]);
    const single = encodePacked(["address", "uint256", "bytes"], [one, 0n, second]);
    const isUnread = (start: Hex) => read("execute(bytes32,bytes)", mode(start), single).isUnread;
    expect((["0x00", "0xfe", "0x02", "0x7f"] as const).map(isUnread)).toEqual([false, false, true, true]);
  });
  it.each(
    Object.entries(samples).flatMap(([signature, all]) => all.map((args, place) => [signature, place, args] as const)),
  )("are judged the same in every form: %s, %i", (signature, _, args) => {
    const data = encodeFunctionData({
      abi: parseAbi([`function ${signature}`] as never) as never,
      args,
    } as never) as `0x${string}`;
    const shown = innerCalls(data, [], { address: self }).calls.map((call) => ({
      to: (call.to ?? self).toLowerCase(),
      data: call.data,
      isDelegate: call.isDelegate,
    }));
    const judged = [...callsWithin({ from: alice, to: self, data })].map((call) => ({
      to: call?.to,
      data: call?.data,
      isDelegate: call?.as !== undefined,
    }));
    expect(shown).toEqual(judged);
    expect(shown.length > 0).toBe(!args.includes(nobody) || args.includes(second));
  });
});

describe("a right that only calldata asks for", () => {
  const coder = parseAbi([
    "function approve(address,uint256)",
    "function multiSend(bytes)",
    "function execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
    "function tryAggregate(bool,(address,bytes)[])",
    "function execute(bytes,bytes[])",
  ]);
  const [safe, library, multicall, router, spender] = [at("b"), at("c"), at("d"), at("e"), at("f")];
  type Made = readonly [to: Hex, data: Hex];
  const executing = ([to, data]: Made, operation: number): Made => [
    safe,
    encodeFunctionData({
      abi: coder,
      functionName: "execTransaction",
      args: [to, 0n, data, operation, 0n, 0n, 0n, nobody, nobody, "0x"],
    }),
  ];
  const holders: Readonly<Record<string, (made: Made) => Made>> = {
    multiSend: (made) => {
      const batch = concatHex([packed(0, one, first), packed(0, ...made)]);
      return executing([library, encodeFunctionData({ abi: coder, functionName: "multiSend", args: [batch] })], 1);
    },
    execTransaction: (made) => executing(made, 0),
    tryAggregate: (made) => {
      const calls = [[one, first] as const, made];
      return [multicall, encodeFunctionData({ abi: coder, functionName: "tryAggregate", args: [false, calls] })];
    },
  };
  const permit = encodeAbiParameters(
    parseAbiParameters("((address, uint160, uint48, uint48), address, uint256), bytes"),
    [[[other, 5n, 4_000_000_000, 0], spender, 1n], "0x1234"],
  );
  const plan = (commands: Hex, inputs: ReadonlyArray<Hex>): Made => [
    router,
    encodeFunctionData({ abi: coder, functionName: "execute", args: [commands, inputs] }),
  ];
  const rights: Readonly<Record<string, Made>> = {
    approve: [other, encodeFunctionData({ abi: coder, functionName: "approve", args: [spender, 5n] })],
    permit: plan("0x0a", [permit]),
    "permit in a plan": plan("0x21", [encodeAbiParameters(parseAbiParameters("bytes, bytes[]"), ["0x8a", [permit]])]),
  };
  const levelsOf: Readonly<Record<string, number>> = { approve: 0, multiSend: 2, "permit in a plan": 2 };
  const ways = Object.keys(holders).flatMap((outer) => Object.keys(holders).map((inner) => [outer, inner] as const));

  it.each(Object.keys(rights).flatMap((right) => ways.map((way) => [right, ...way] as const)))(
    "%s is shown and judged within %s within %s",
    (right, inner, outer) => {
      const made = [inner, outer].reduce<Made | undefined>((held, by) => held && holders[by]?.(held), rights[right]);
      const [to, data] = made ?? [nobody, "0x"];
      const shown = innerLines(callIn(data, [], { address: to }) ?? { calls: [], more: 0 });
      // four levels are shown, and what is deeper is said to be there
      const levels = [right, inner, outer].reduce((sum, each) => sum + (levelsOf[each] ?? 1), 0);
      const isShown = shown.some(({ text }) => text.toLowerCase().includes(spender.slice(-4)));
      const isCut = shown.some(({ text }) => text.endsWith("not read"));
      expect([isShown, isCut]).toEqual([levels <= 4, levels > 4]);
      const { read, isUnread } = callsIn({ from: alice, to, data });
      const told = effectsIn([{ index: 0, calls: { read } }], "request").map((each) => [
        each.token,
        each.spender,
        each.claim,
      ]);
      expect([told, isUnread]).toEqual([[[other, spender, 5n]], false]);
    },
  );
});
