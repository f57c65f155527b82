/** A trace as a report shows it: bounded whatever a node says, with the way to a failure. */
import { encodeFunctionData, erc20Abi } from "viem";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexAbis } from "../rooms/abi.js";
import { failedIn, frameOf, framesOf, isSameWork, isTraceOf, leastLeft, treeOf } from "../rooms/effects.js";
import { alice, bob, hexOf, outcome, token, word } from "../steps/parts.js";

const none = indexAbis([]);
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [bob, 5n] });
const reason = `0x08c379a0${word(32n)}${word(5n)}${"68656c6c6f".padEnd(64, "0")}`;
const frame = (changed: object = {}) => ({
  ...{ type: "CALL", from: alice, to: token, input: "0x", output: "0x", gasUsed: "0x5208", value: "0x0" },
  ...changed,
});
const failing = (changed: object = {}) => frame({ error: "execution reverted", output: "0xaa", ...changed });

type Tree = NonNullable<ReturnType<typeof treeOf>>;
const every = (tree: Tree | null): ReadonlyArray<Tree> => (tree === null ? [] : [tree, ...tree.calls.flatMap(every)]);
const depthOf = (tree: Tree): number => 1 + Math.max(0, ...tree.calls.map(depthOf));
const causes = (trace: unknown) => every(treeOf(trace, none)).filter(({ isCause }) => isCause);

describe("the call tree of a trace", () => {
  it("shows kind, contract, function, value, gas and reason", () => {
    const calls = [
      frame({ input: transfer }),
      frame({ type: "STATICCALL", input: "0x12345678", output: "0x01" }),
      frame({ type: "DELEGATECALL", input: "0xff", value: "0x9" }),
      frame({ type: "CREATE2", to: undefined, input: "0x60006000", error: "contract address collision" }),
      failing({ value: "0x7", output: reason }),
    ];
    const tree = treeOf(frame({ from: bob, gasUsed: "0x10000", calls }), none);
    expect(tree).toMatchObject({ from: bob, contract: token, gasUsed: 65_536n, reason: null, isCause: false, more: 0 });
    expect(tree?.calls.map((one) => [one.kind, one.function, one.value, one.reason])).toEqual([
      ["call", "transfer(address,uint256)", 0n, null],
      ["static", "0x12345678", 0n, null],
      ["delegate", null, 0n, null],
      ["creation", null, 0n, "contract address collision"],
      ["call", null, 7n, '"hello"'],
    ]);
    expect(tree?.calls[3]?.contract).toBeNull();
  });

  it.each<[string, unknown, ReadonlyArray<string>]>([
    ["none of what succeeds", frame({ calls: [failing()] }), []],
    ["the call itself", failing(), [token]],
    ["the last call inside", failing({ output: "0xbb", calls: [frame(), failing({ to: bob })] }), [bob]],
    ["the one whose words are repeated", failing({ calls: [failing({ to: bob }), frame()] }), [bob]],
    ["not one that was caught", failing({ calls: [failing({ to: bob, output: "0xbb" }), frame()] }), [token]],
    ["the deepest", failing({ calls: [failing({ calls: [failing({ to: bob })] })] }), [bob]],
  ])("marks %s as the cause", (_, trace, contracts) => {
    expect(causes(trace).map(({ contract }) => contract)).toEqual(contracts);
  });

  it("shows 256 calls, the path to the failure among them, and counts the others", () => {
    const wide = failing({ calls: [...Array.from({ length: 999 }, () => frame()), failing({ to: bob })] });
    const tree = treeOf(wide, none);
    expect([every(tree).length, tree?.more, causes(wide).length]).toEqual([256, 745, 1]);
    expect(tree?.calls.at(-1)?.contract).toBe(bob);
  });

  it("ends where the trace has no end", () => {
    const endless: Record<string, unknown> = failing();
    endless["calls"] = [endless];
    const tree = treeOf(endless, none);
    expect([tree === null ? 0 : depthOf(tree), failedIn(endless).length]).toEqual([33, 1_025]);
  });

  it.each<[string, object, object, boolean]>([
    ["the same", { output: "0xAB" }, { returnData: hexOf("0xab") }, true],
    ["another gas", {}, { gasUsed: 21_001n }, false],
    ["gas that nobody told", { gasUsed: undefined }, {}, false],
    ["another answer", { output: "0xac" }, { returnData: hexOf("0xab") }, false],
    ["a failure", { error: "out of gas" }, {}, false],
    ["a failure of what failed", { error: "out of gas" }, { status: "halted" }, true],
    ["a success of what failed", {}, { status: "reverted", returnData: null }, false],
  ])("is matched with an outcome: %s", (_, changed, of, isOne) => {
    expect(isTraceOf(frame(changed), outcome({ gasUsed: 21_000n, ...of }))).toBe(isOne);
  });

  it("stays bounded and never throws, whatever a node says", () => {
    const hex = fc.oneof(fc.constant("0x"), fc.constant(transfer), fc.string(), fc.constant(null));
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 40, depthSize: "max" },
        fc.jsonValue(),
        fc.record(
          {
            type: fc.oneof(
              fc.constantFrom("CALL", "CREATE", "DELEGATECALL", "STATICCALL", "SELFDESTRUCT"),
              fc.jsonValue(),
            ),
            from: fc.oneof(fc.constant(alice), fc.string()),
            to: fc.oneof(fc.constant(token), fc.jsonValue()),
            ...{ input: hex, output: hex, gasUsed: fc.oneof(fc.constant("0x5208"), fc.jsonValue()) },
            value: fc.oneof(fc.constant("0x1"), fc.jsonValue()),
            error: fc.oneof(fc.constant("execution reverted"), fc.string(), fc.constant(undefined)),
            calls: fc.oneof(fc.array(tie("node"), { maxLength: 8 }), fc.jsonValue()),
          },
          { requiredKeys: ["from"] },
        ),
      ),
    }));
    fc.assert(
      fc.property(node, (trace) => {
        const tree = treeOf(trace, none);
        expect(every(tree).length).toBeLessThanOrEqual(256);
        expect(tree === null).toBe(frameOf(trace) === null);
        expect(causes(trace).length).toBeLessThanOrEqual(1);
        for (const one of every(tree)) expect((one.reason ?? "").length).toBeLessThanOrEqual(2_100);
        expect(framesOf(trace).length).toBeLessThanOrEqual(4_096);
        expect(failedIn(trace).length).toBeLessThanOrEqual(1_025);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the comparison of a trace with one at less gas", () => {
  const call = (gas: number, used: number, changed: object = {}) =>
    frame({ gas: `0x${gas.toString(16)}`, gasUsed: `0x${used.toString(16)}`, ...changed });
  const burner = (gas: number, changed: object = {}) => call(gas, gas, { error: "out of gas", ...changed });
  const larger = frame({ calls: [burner(900_000), call(14_000, 2_000), call(2_300, 100)] });
  it.each<[string, object, boolean]>([
    ["the same calls, each with room", frame({ calls: [burner(90_000), call(5_000, 2_000), call(2_300, 100)] }), true],
    [
      "one that got as much as before",
      frame({ calls: [burner(90_000), call(14_000, 13_999), call(2_300, 100)] }),
      true,
    ],
    ["too little behind the failure", frame({ calls: [burner(90_000), call(4_000, 2_000), call(2_300, 100)] }), false],
    ["a call that is skipped", frame({ calls: [burner(90_000), call(5_000, 2_000)] }), false],
    ["a call that fails now", frame({ calls: [burner(90_000), burner(5_000), call(2_300, 100)] }), false],
    ["a call that succeeds now", frame({ calls: [call(90_000, 9), call(5_000, 2_000), call(2_300, 100)] }), false],
    [
      "other calldata",
      frame({ calls: [burner(90_000, { input: "0x01" }), call(5_000, 2_000), call(2_300, 100)] }),
      false,
    ],
    [
      "another answer",
      frame({ calls: [burner(90_000), call(5_000, 2_000, { output: "0x01" }), call(2_300, 1)] }),
      false,
    ],
    ["another value", frame({ calls: [burner(90_000), call(5_000, 2_000, { value: "0x1" }), call(2_300, 1)] }), false],
  ])("decides whether the work is the same: %s", (_, smaller, isSameNow) => {
    expect(isSameWork(larger, smaller, 3_000n)).toBe(isSameNow);
  });

  it("looks into no failed call, and never calls two traces of very many calls the same work", () => {
    const [deep, flat] = [burner(900_000, { calls: [call(9, 9)] }), burner(90_000)];
    expect(isSameWork(frame({ calls: [deep] }), frame({ calls: [flat] }), 1n)).toBe(true);
    const wide = frame({ calls: Array.from({ length: 5_000 }, () => call(9, 0)) });
    expect(isSameWork(wide, wide, 0n)).toBe(false);
  });

  it("finds the least gas that is left in an inner call, or at the end of the transaction", () => {
    const inside = call(1_000_000, 990_000, { calls: [burner(900_000)] });
    const leftOf = (rest: bigint) => leastLeft(frame({ calls: [inside] }), rest);
    expect([leftOf(20_000n), leftOf(5_000n), leastLeft(frame({ calls: [call(9, 9)] }), 7n)]).toEqual([
      10_000n,
      5_000n,
      7n,
    ]);
  });

  it("accepts whatever a node says without throwing", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.bigInt(), (a, b, spare) => {
        const calls = [a, frame({ calls: [b] })];
        isSameWork(frame({ calls }), frame({ calls: [b, a] }), spare);
        expect(leastLeft(frame({ calls }), spare)).toBeLessThanOrEqual(spare);
      }),
    );
  });
});
