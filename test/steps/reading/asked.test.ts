/** What calldata, its batches and a trace ask for beside what happened: told where nothing shows it, and of no honest look-alike. */
import { encodeAbiParameters, encodeFunctionData, encodePacked, erc20Abi, parseAbi, size, toHex, type Hex } from "viem";
import { describe, expect, it } from "vitest";
import { indexAbis } from "../../rooms/abi.js";
import { framesOf, isTraceOf } from "../../rooms/effects.js";
import { Address } from "../../rooms/primitives.js";
import type { OutcomeLog, Transfer } from "../../rooms/report.js";
import { FalseAnswers, NobodyCalled, withLost } from "../../rooms/steps.js";
import type { Transaction } from "../../../src/Transaction.js";
import { allowance, balanceOf, isApprovedForAll, unseen, type View } from "../../rooms/witness.js";
import { account, alice, answered, bob, bundle, hexOf, log, native, outcome, seeing, token, word } from "../parts.js";

const carol = Address.make(`0x${"ca".repeat(20)}`);
const batcher = Address.make(`0x${"ba".repeat(20)}`);
const empty = Address.make(`0x${"9c".repeat(20)}`);
const no = hexOf(`0x${word(0n)}`);
const yes = hexOf(`0x${word(1n)}`);
const abi = parseAbi([
  "function permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
  "function setApprovalForAll(address,bool)",
  "function mint(address,uint256)",
  "function execute((address,uint256,bytes)[])",
  "function execute(bytes32,bytes)",
  "function execute(address,uint256,bytes)",
  "function aggregate3((address,bool,bytes)[])",
  "function execTransactionFromModule(address,uint256,bytes,uint8)",
  "function multicall(bytes[])",
  "function multiSend(bytes)",
]);
const encoded = (functionName: string, args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi: [...erc20Abi, ...abi], functionName, args } as never);
const transfer = encoded("transfer", [bob, 5n]);
const approve = encoded("approve", [bob, 5n]);
const r = `0x${"11".repeat(32)}`;
const permit = encoded("permit", [alice, bob, 5n, 9n, 27, r, r]);

/** One call in each form of batch; `by` = in whose name it is made. */
type Form = readonly [name: string, by: typeof alice, wrap: (to: string, data: Hex) => Partial<Transaction>];
const forms: ReadonlyArray<Form> = [
  ["a batch of a 7702 account", alice, (to, data) => ({ to: alice, data: encoded("execute", [[[to, 0n, data]]]) })],
  ["an account's call", alice, (to, data) => ({ to: alice, data: encoded("execute", [to, 0n, data]) })],
  [
    "a 7579 account",
    alice,
    (to, data) => {
      const calls = encodeAbiParameters(
        [{ type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] }],
        [[[to, 0n, data]]] as never,
      );
      return { to: alice, data: encoded("execute", [`0x01${"00".repeat(31)}`, calls]) };
    },
  ],
  ["Multicall3", batcher, (to, data) => ({ to: batcher, data: encoded("aggregate3", [[[to, false, data]]]) })],
  ["a module", batcher, (to, data) => ({ to: batcher, data: encoded("execTransactionFromModule", [to, 0n, data, 0]) })],
  [
    "MultiSend",
    batcher,
    (to, data) => {
      const packed = encodePacked(
        ["uint8", "address", "uint256", "uint256", "bytes"],
        [0, to as Hex, 0n, BigInt(size(data)), data],
      );
      return { to: batcher, data: encoded("multiSend", [packed]) };
    },
  ],
];
const batch = (to: string, data: Hex): Partial<Transaction> =>
  ({ to: alice, data: encoded("execute", [[[to, 0n, data]]]) }) as never;

const moved = (changed: Partial<Transfer> = {}): Transfer => ({
  ...{ standard: "erc20", token, from: alice, to: bob, amount: 5n, tokenId: null, transaction: 0, evidence: "logged" },
  ...changed,
});
const approved = (spender = bob) =>
  log(
    token,
    ["8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925", word(alice), word(spender)],
    [word(5n)],
  );
const noted = log(token, ["ab".repeat(32), word(alice), word(bob)]);

interface Told {
  readonly transfers?: ReadonlyArray<Transfer>;
  readonly logs?: ReadonlyArray<OutcomeLog>;
  readonly returns?: string;
  readonly before?: View;
  readonly after?: View;
  readonly inner?: object;
  readonly isHarmless?: () => boolean;
  readonly traces?: ReadonlyArray<{ readonly trace: unknown; readonly tokens: ReadonlySet<typeof token> }>;
}
const balances = (mine: bigint, theirs = 0n, from = alice) =>
  seeing([balanceOf(token, from), answered(mine)], [balanceOf(token, bob), answered(theirs)]);
const allowing = (amount: bigint, owner = alice) => seeing([allowance(token, owner, bob), answered(amount)]);
const ranOf = (inputs: ReadonlyArray<Partial<Transaction>>, told: ReadonlyArray<Told>) =>
  bundle(...inputs).map((entry, index) => ({
    ...entry,
    transfers: told[index]?.transfers ?? [],
    outcome: {
      ...outcome({ returnData: hexOf(told[index]?.returns ?? "0x"), logs: [...(told[index]?.logs ?? [])] }),
      ...told[index]?.inner,
    },
  }));
const check = (input: Partial<Transaction>, told: Told) => {
  const { before = balances(9n), after = before, traces } = told;
  const facts = { before, after, codes: new Map(), ...(traces === undefined ? {} : { traces }) };
  return FalseAnswers.checkSilence(ranOf([input], [told]), {
    ...facts,
    ...(told.isHarmless && { isHarmless: told.isHarmless }),
  });
};
const figuresOf = (findings: ReturnType<typeof check>) =>
  findings.flatMap(({ numbers }) => numbers.filter(({ unit }) => unit !== "address").map(({ value }) => String(value)));

describe("a request inside a batch", () => {
  it.each(forms)("by %s has a finding where nothing moves, and none where it does", (_, by, wrap) => {
    const input = wrap(token, transfer);
    const before = balances(9n, 0n, by);
    expect(figuresOf(check(input, { before }))).toEqual(["transfer", "5", "0", "nobody saw what it returned"]);
    expect(check(input, { before, transfers: [moved({ from: by })] })).toEqual([]);
    expect(check(input, { before, after: balances(4n, 5n, by) })).toEqual([]);
  });
  it.each(forms)("by %s has a finding where nothing is granted, and none where it is", (_, by, wrap) => {
    const input = wrap(token, approve);
    expect(figuresOf(check(input, { before: allowing(0n, by) }))).toEqual([
      ...["approve", "5", "0", "nobody saw what it returned"],
    ]);
    expect(check(input, { before: allowing(0n, by), after: allowing(5n, by) })).toEqual([]);
  });

  it.each<[string, Partial<Transaction>, Told, number]>([
    ["a fee is taken", batch(token, transfer), { transfers: [moved({ amount: 4n })] }, 0],
    [
      "another is paid by another",
      batch(token, transfer),
      { transfers: [moved({ from: carol })], after: balances(9n, 5n) },
      1,
    ],
    ["it moves and comes back", batch(token, transfer), { transfers: [moved(), moved({ from: bob, to: alice })] }, 0],
    ["an event of another name tells of it", batch(token, transfer), { logs: [noted] }, 0],
    ["nothing is asked for", batch(token, encoded("transfer", [bob, 0n])), {}, 0],
    ["it is for the sender", batch(token, encoded("transfer", [alice, 5n])), {}, 0],
    ["it keeps no balances", batch(token, transfer), { before: unseen }, 0],
    ["one end was not seen", batch(token, transfer), { before: seeing([balanceOf(token, bob), answered(0n)]) }, 0],
    [
      "the right is spent",
      batch(token, approve),
      { before: allowing(0n), logs: [approved()], transfers: [moved()] },
      0,
    ],
    ["a right that nobody tells of is spent", batch(token, approve), { before: allowing(0n), transfers: [moved()] }, 0],
    ["the right is there", batch(token, approve), { before: allowing(5n) }, 0],
    ["another gets the right", batch(token, approve), { before: allowing(0n), logs: [approved(carol)] }, 1],
    ["no right is taken away", batch(token, encoded("approve", [bob, 0n])), { before: allowing(7n) }, 1],
    ["a permit gives nothing", batch(token, permit), { before: allowing(0n) }, 1],
    ["a permit was used before", batch(token, permit), { before: allowing(6n) }, 0],
    ["a permit was used, and its right", batch(token, permit), { before: allowing(6n), after: allowing(1n) }, 0],
    ["the call is known to have failed", batch(token, transfer), { inner: failing(transfer) }, 0],
    [
      "a call around it is known to have failed",
      batch(token, transfer),
      { inner: failing(batch(token, transfer).data) },
      0,
    ],
    [
      "a failure that is let pass is known",
      batch(token, transfer),
      { inner: failing(transfer), isHarmless: () => true },
      1,
    ],
    ["another call is known to have failed", batch(token, transfer), { inner: failing("0x12345678") }, 1],
    ["a failure that nobody can name is known", batch(token, transfer), { inner: failing(null) }, 0],
    ["the transaction fails", batch(token, transfer), { inner: { status: "reverted" } }, 0],
    ["a mint tells of another", batch(token, encoded("mint", [bob, 5n])), { logs: [approved(carol)] }, 0],
    ["a mint makes nothing", batch(token, encoded("mint", [bob, 5n])), {}, 1],
  ])("is judged where %s (findings: $3)", (_, input, told, count) => {
    expect(check(input, told)).toHaveLength(count);
  });
});

/** A call that failed, as an event told it. */
function failing(data: string | null | undefined) {
  return { inner: { failed: [{ by: alice, index: 0, to: token, data, call: null, revert: null }], unseen: 0 } };
}

describe("a request of the transaction itself", () => {
  it.each<[string, Hex, Told, number]>([
    ["moves nothing, and answers nothing", transfer, {}, 1],
    ["moves nothing, and answers true", transfer, { returns: yes }, 0],
    ["moves nothing, and answers false, which is told by itself", transfer, { returns: no }, 0],
    ["moves, and answers nothing", transfer, { transfers: [moved()] }, 0],
    ["moves in silence", transfer, { after: balances(4n, 5n) }, 0],
    ["is swallowed by a fallback", approve, { before: allowing(0n) }, 1],
    ["is a permit that a fallback swallows", permit, { before: allowing(0n) }, 1],
    ["is a permit that somebody used before", permit, { before: allowing(5n) }, 0],
    ["is no token's", transfer, { before: unseen }, 0],
    [
      "sets an operator who was one",
      encoded("setApprovalForAll", [bob, true]),
      { before: seeing([isApprovedForAll(token, alice, bob), answered(1n)]) },
      0,
    ],
  ])("%s", (_, data, told, count) => {
    expect(check({ to: token, data: hexOf(data) }, told)).toHaveLength(count);
  });
});

const frame = (changed: object = {}) => ({
  ...{ type: "CALL", from: alice, to: token, input: transfer, output: "0x", gasUsed: "0x5208", value: "0x0" },
  ...changed,
});
const shop = { to: batcher, data: hexOf("0x12345678") };
const traced = (calls: ReadonlyArray<unknown>, tokens: ReadonlyArray<typeof token> = [], output = "0x") => [
  { trace: frame({ to: batcher, input: shop.data, output, calls }), tokens: new Set(tokens) },
];

describe("a request that a tracer sees", () => {
  it.each<[string, object, Told, ReadonlyArray<string>]>([
    ["returns false", { output: no }, {}, ["it returned false"]],
    ["returns nothing", {}, {}, ["it returned nothing"]],
    ["returns true", { output: yes }, {}, []],
    ["fails", { error: "execution reverted" }, {}, ["it failed, and the caller ignored that"]],
    ["fails, and is made good", { error: "execution reverted" }, { transfers: [moved()] }, []],
    ["is a permit that fails", { input: permit, error: "execution reverted" }, { before: allowing(0n) }, []],
    ["returns false, and moves", { output: no }, { transfers: [moved()] }, []],
    ["runs in another's place", { type: "DELEGATECALL", output: no }, {}, []],
    ["is no token's by any read", { output: no }, { before: unseen }, []],
  ])("is judged where it %s", (_, changed, told, reasons) => {
    const found = check(shop, { ...told, traces: traced([frame(changed)]) });
    expect(figuresOf(found).filter((text) => text.startsWith("it "))).toEqual(reasons);
  });
  it("has a finding for a token that a read showed to be one", () => {
    const told = { before: unseen, traces: traced([frame({ output: no })], [token]) };
    expect(check(shop, told)).toHaveLength(1);
    expect([...FalseAnswers.doubted(told.traces[0]?.trace)]).toEqual([[token, balanceOf(token, alice)]]);
    expect([...FalseAnswers.doubted(traced([frame({ output: yes })])[0]?.trace)]).toEqual([]);
  });
  it("has a finding behind many others that are done, or asked of other contracts", () => {
    const done = Array.from({ length: 300 }, (_, n) =>
      frame({ input: encoded("transfer", [bob, BigInt(n + 1_000)]), output: yes }),
    );
    expect(check(shop, { traces: traced([...done, frame({ output: no })]) })).toHaveLength(1);
    const decoys = Array.from({ length: 4 }, () => frame({ to: carol, error: "execution reverted" }));
    const { trace } = traced([...decoys, frame({ output: no })])[0] ?? {};
    expect([...FalseAnswers.doubted(trace).keys()]).toEqual([carol, token]);
  });
  it("has one finding, with the answer, where the calldata has it, too", () => {
    const input = batch(token, transfer);
    const trace = frame({ to: alice, input: input.data, calls: [frame({ output: no })] });
    const found = check(input, { traces: [{ trace, tokens: new Set() }] });
    expect(figuresOf(found)).toEqual(["transfer", "5", "0", "it returned false"]);
    const honest = { ...trace, calls: [frame({ output: yes })] };
    expect(check(input, { traces: [{ trace: honest, tokens: new Set() }] })).toEqual([]);
  });
  it("is not read of a trace of another outcome, of a failed one, or of none", () => {
    const [whole] = traced([frame()]);
    expect(framesOf(whole?.trace)).toHaveLength(1);
    expect(isTraceOf(whole?.trace, { status: "success", returnData: hexOf("0x") })).toBe(true);
    expect(isTraceOf(whole?.trace, { status: "success", returnData: hexOf(yes) })).toBe(false);
    expect(isTraceOf(whole?.trace, { status: "reverted" })).toBe(false);
    for (const none of [null, "calls", [], frame({ error: "out of gas" }), { calls: [frame()] }, frame({ input: 5 })])
      expect(framesOf(none)).toEqual([]);
    expect(framesOf(frame({ calls: [null, frame({ error: "x", calls: [frame()] })] }))).toHaveLength(1);
    const endless: Record<string, unknown> = frame();
    endless["calls"] = [endless];
    expect(framesOf(endless).length).toBeLessThan(4_097);
  });
});

const code = (codes: Readonly<Record<string, string>>): View => ({
  ...unseen,
  account: (address) => account(codes[address] ?? "0x"),
});
const deposit = hexOf("0xd0e30db0");
const unknownCall = hexOf(`0x12345678${word(1n)}`);
const suffixed = hexOf(`0x626173650400${"8021".repeat(8)}`);

describe("a call of an address without code", () => {
  const checkNobody = (
    input: Partial<Transaction>,
    told: Told,
    views: readonly [View, View] = [code({}), code({})],
  ) => {
    const [before, after] = views;
    const facts = { before, after, codes: new Map(), run: null, ...(told.traces && { traces: told.traces }) };
    return NobodyCalled.check(ranOf([input], [told]), facts).map(({ severity }) => severity);
  };
  it.each<[string, Partial<Transaction>, Told, ReadonlyArray<string>]>([
    ["with a known function", batch(empty, transfer), {}, ["warning"]],
    ["with a function nobody knows, and nothing is paid", batch(empty, unknownCall), {}, ["info"]],
    ["that pays with a call", batch(empty, deposit), { transfers: [native(0, alice, empty, 5n)] }, ["warning"]],
    ["with a text", batch(empty, toHex("thank you")), { transfers: [native(0, alice, empty, 5n)] }, []],
    ["with a text as long as a call", batch(empty, toHex("thank you for the last three months!")), {}, []],
    [
      "that a wallet has signed with its name",
      batch(empty, suffixed),
      { transfers: [native(0, alice, empty, 5n)] },
      [],
    ],
    ["with a payment alone", batch(empty, "0x"), { transfers: [native(0, alice, empty, 5n)] }, []],
    ["that is a precompile", batch(`0x${"0".repeat(39)}2`, unknownCall), {}, []],
    ["that is a chain's own account", batch(`0x${"0".repeat(38)}fd`, transfer), {}, []],
    ["that is known to have failed", batch(empty, transfer), { inner: failing(transfer) }, []],
    ["by the transaction itself, which is another's to tell", { to: empty, data: hexOf(transfer) }, {}, []],
  ])("%s", (_, input, told, severities) => {
    expect(checkNobody(input, told)).toEqual(severities);
  });
  it("is none where code is there before or behind the calls, or nobody looked", () => {
    const there = code({ [empty]: "0x6000" });
    expect(checkNobody(batch(empty, transfer), {}, [there, there])).toEqual([]);
    expect(checkNobody(batch(empty, transfer), {}, [code({}), there])).toEqual([]);
    expect(checkNobody(batch(empty, transfer), {}, [there, code({})])).toEqual([]);
    expect(checkNobody(batch(empty, transfer), {}, [unseen, unseen])).toEqual([]);
  });
  it.each(forms)("by %s has its address looked at, and a finding", (_, __, wrap) => {
    const input = wrap(empty, transfer);
    expect(NobodyCalled.queries(bundle(input))).toEqual([{ kind: "account", address: empty }]);
    expect(checkNobody(input, {})).toEqual(["warning"]);
  });
  const idle = (changed: object = {}) => frame({ to: empty, gasUsed: "0x0", ...changed });
  it.each<[string, object, ReadonlyArray<string>]>([
    ["is asked for tokens", {}, ["warning"]],
    ["is to run in another's place", { type: "DELEGATECALL", input: unknownCall }, ["warning"]],
    ["is paid with a call", { input: deposit, value: "0x5" }, ["warning"]],
    ["is paid with a text", { input: toHex("thank you"), value: "0x5" }, []],
    ["is told of something", { input: unknownCall }, []],
    ["is a precompile", { to: `0x${"0".repeat(39)}4` }, []],
    ["runs something", { gasUsed: "0x1" }, []],
    ["answers", { output: yes }, []],
  ])("is judged where a tracer sees it and %s", (_, changed, severities) => {
    expect(checkNobody(shop, { traces: traced([idle(changed)]) })).toEqual(severities);
  });
  it("includes a clone of code that is missing, and no other code", () => {
    const clone = hexOf(`0x363d3d373d3d3d363d73${empty.slice(2)}5af43d82803e903d91602b57fd5bf3`);
    expect([NobodyCalled.cloned(clone), NobodyCalled.cloned(hexOf(`${clone}00`)), NobodyCalled.cloned(null)]).toEqual([
      ...[empty, null, null],
    ]);
  });
});

describe("an inner failure that a tracer alone shows", () => {
  const known = (data: string | null, to: string | null = token) =>
    [{ by: alice, index: 0, to, data, call: null, revert: null, evidence: "logged" }] as never;
  const lost = (calls: ReadonlyArray<object>, told: Told = {}, failed: ReadonlyArray<never> = []) =>
    withLost(
      failed,
      framesOf(traced(calls)[0]?.trace),
      told.transfers ?? [],
      indexAbis([]),
      new Set([Address.make(token)]),
    ).slice(failed.length);
  const refused = { input: "0x", value: "0x5", error: "execution reverted" };
  const ignored = { input: unknownCall, error: "execution reverted" };
  it.each<[string, ReadonlyArray<object>, Told, number]>([
    ["is a payment", [frame(refused)], {}, 1],
    ["is a creation", [frame({ type: "CREATE2", error: "contract address collision" })], {}, 1],
    ["is a call of a token, of which is told what it asks for", [frame({ error: "execution reverted" })], {}, 0],
    ["asks what is no token to move something", [frame({ to: bob, error: "execution reverted" })], {}, 1],
    [
      "is a payment behind one that was taken",
      [frame({ input: "0x", value: "0x5" }), frame({ ...refused, input: "0x" })],
      {},
      1,
    ],
    [
      "is a payment for something else than what is bought next",
      [frame({ ...ignored, value: "0x5" }), frame({ input: `${unknownCall}00`, value: "0x5" })],
      {},
      1,
    ],
    ["is a payment that is made again", [frame(refused), frame({ input: "0x", value: "0x5" })], {}, 0],
    ["is a payment in place of which tokens come", [frame({ ...refused, to: bob })], { transfers: [moved()] }, 0],
    [
      "is a payment in place of which less comes",
      [frame({ ...refused, to: bob })],
      { transfers: [moved({ amount: 1n })] },
      1,
    ],
    ["holds another that failed", [frame({ ...ignored, calls: [frame(refused)] })], {}, 1],
    ["is a call without value", [frame(ignored)], {}, 1],
    [
      "is one of three",
      [frame({ ...ignored, to: bob }), frame(ignored), frame({ ...ignored, error: undefined })],
      {},
      1,
    ],
    ["is a call that succeeds another time", [frame(ignored), frame({ input: unknownCall })], {}, 0],
    ["can change nothing", [frame({ ...ignored, type: "STATICCALL" })], {}, 0],
    ["is an answer", [frame({ ...ignored, output: yes })], {}, 0],
    ["is an error", [frame({ ...ignored, output: "0x12345678" })], {}, 1],
    ["is a precompile's", [frame({ ...ignored, to: `0x${"0".repeat(39)}8` })], {}, 0],
    ["is a permit's", [frame({ ...ignored, input: permit })], {}, 0],
  ])("%s", (_, calls, told, count) => {
    expect(lost(calls, told)).toHaveLength(count);
  });
  it("has one finding, with contract, function, value and reason", () => {
    const [found] = lost([frame({ ...refused, input: deposit, output: "0x12345678" })]);
    expect(found).toMatchObject({
      ...{
        by: alice,
        to: token,
        data: deposit,
        call: "deposit() (by selector: WETH9)",
        value: 5n,
        evidence: "estimated",
      },
      revert: { layers: [{ layer: { _tag: "Unknown" } }] },
    });
    const whole = [frame({ ...ignored, input: `${unknownCall}${unknownCall.slice(2)}` })];
    expect([lost([frame(ignored)], {}, known(unknownCall)), lost(whole, {}, known(unknownCall))]).toEqual([[], []]);
    expect([lost([frame(ignored)], {}, known(null)), lost([frame(refused)], {}, known("0x", bob))].flat()).toHaveLength(
      1,
    );
  });
});
