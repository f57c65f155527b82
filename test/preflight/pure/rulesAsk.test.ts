/** Rule by rule: what is asked when it applies, of which run, on which block, in which round, and what is known then. */
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { GasAllowanceExceeded, PendingUnavailable } from "../../../src/Errors.js";
import type { Rpc } from "../../../src/Rpc.js";
import { rpcError } from "../../../src/testing.js";
import {
  ExecutionReverted,
  InsufficientFunds,
  InvalidParams,
  MethodNotSupported,
  RpcError,
  SimBlockOrder,
} from "../../rooms/errors.js";
import {
  attemptOf,
  comparisonOf,
  everyDoubt,
  proofRules,
  scanRules,
  figuresOf,
  undoubted,
  type ProofState,
  type Rule,
} from "../../rooms/pipeline.js";
import { Hash } from "../../rooms/primitives.js";
import { alice, bob, hexOf, token, unanswered } from "../../steps/parts.js";
import { absent, header, parent } from "../../steps/reading/facts.js";
import { asked, inFork, namesOf, pinned, ranAs, scanning, simulating, standing, stood } from "./between.js";
import { counted, did, holding, named, rich } from "./world.js";

const simulation = (reason: RpcError["reason"]) => new RpcError({ method: "eth_simulateV1", reason });
const form = simulation(new InvalidParams({ detail: "nonsense", code: -32602 }));
const unsupported = simulation(new MethodNotSupported({ detail: "", code: -32601 }));
const noPending = simulation(new PendingUnavailable({ detail: "no pending state" }));
const poor = new InsufficientFunds({ account: alice });
const lost = unanswered("eth_simulateV1");
const other = Hash.make(`0x${"cd".repeat(32)}`);
const reverted = did({ status: "reverted", failure: new ExecutionReverted({ data: hexOf("0x") }) });
const dry = did({ status: "halted", gasUsed: 2n ** 24n });

/** The rule of a name. */
const ruleOf = <S>(rules: ReadonlyArray<Rule<S, Rpc>>, name: string): Rule<S, Rpc> => {
  const found = rules[namesOf(rules).indexOf(name)];
  if (found === undefined) throw new Error(`there is no rule ${name}`);
  return found;
};
const byScan = (name: string, given: Parameters<typeof scanning>[0], answers: Parameters<typeof asked>[2] = {}) => {
  const before = scanning(given);
  const one = ruleOf(scanRules, name);
  expect(one.applies(before)).toBe(true);
  return asked(before, one.ask(before), answers).then((told) => ({ ...told, before }));
};
const byProof = (name: string, given: Parameters<typeof standing>[0], answers: Parameters<typeof asked>[2] = {}) => {
  const before = standing(given);
  const one = ruleOf(proofRules, name);
  expect(one.applies(before)).toBe(true);
  return asked(before, one.ask(before), answers).then((told) => ({ ...told, before }));
};
const times = (count: number, line: string) => Array.from({ length: count }, () => line);
const simulated = { eth_simulateV1: simulating() };

/** A first round, on this block. */
const wholeRound = (because: string, block: "latest" | "pending") =>
  [
    ...times(2, `eth_getCode ${block}`),
    ...["ample", "readerOnly"].map((run) => `eth_simulateV1 ${run} ${block}`),
    ...[`eth_estimateGas ${block}`, "eth_getTransactionCount latest", "eth_getTransactionCount pending"],
    ...["eth_feeHistory latest", "eth_getBlockReceipts latest", "eth_getBlockByNumber latest", "eth_chainId"],
  ].map((line) => `1 ${because} ${line}`);
/** What the pool holds of alice. */
const ofPool = (because: string) =>
  [
    "txpool_contentFrom",
    "eth_getTransactionBySenderAndNonce",
    "eth_getBlockByNumber pending",
    "eth_getBalance latest",
  ].map((line) => `1 ${because} ${line}`);

interface Simulated {
  readonly blockStateCalls: ReadonlyArray<{ readonly calls: ReadonlyArray<{ readonly gas?: string }> }>;
}
/** The gas of all calls of a simulation. */
const gasIn = (wire: ReadonlyArray<ReadonlyArray<unknown>>): ReadonlyArray<bigint> => {
  const [request] = wire[0] ?? [];
  return (request as Simulated).blockStateCalls.flatMap(({ calls }) => calls.map(({ gas }) => BigInt(gas ?? 0)));
};

describe("a further round of a scan", () => {
  it("tries without each part, and without all of them, beside the witness", async () => {
    const given = { asked: { run: Result.fail(form) } };
    const { lines, known, before } = await byScan("unsupportedPart", given);
    expect(lines).toEqual([
      ...times(4, "1 unsupportedPart eth_simulateV1 ample pending"),
      ...times(5, "1 unsupportedPart eth_simulateV1 readerOnly pending"),
    ]);
    expect(figuresOf(known.round)).toBe(figuresOf(before.round));
    // what the caller pretends is not left out
    const pretending = { ...given, options: { blockOverrides: { number: 7n } } };
    expect((await byScan("unsupportedPart", pretending)).lines).toHaveLength(7);
  });

  it("asks everything, with in-flight transactions, on the latest block where one is replaced", async () => {
    const { lines, known } = await byScan("replacement", {
      inputs: [{ nonce: 4 }],
      asked: { counts: counted([alice, 4, 5]) },
    });
    expect(lines).toEqual([...wholeRound("replacement", "latest"), ...ofPool("replacement")].sort());
    expect([known.round.block, known.flying, known.round.findings]).toEqual([
      "latest",
      [{ account: alice, nonces: [4] }],
      [],
    ]);
    expect(known.round.pools.size).toBe(1);
  });

  it("asks everything on the latest block where there is no pending one, and reports it", async () => {
    const given = { asked: { run: Result.fail(noPending) } };
    const { lines, known } = await byScan("noPending", given);
    expect(lines).toEqual(wholeRound("noPending", "latest").sort());
    expect([known.round.block, known.round.findings.map(({ code, severity }) => [code, severity])]).toEqual([
      "latest",
      [["PendingUnavailable", "info"]],
    ]);
  });

  it("asks everything of another endpoint than the known one, as of a new one", async () => {
    const teach = (memory: ReturnType<typeof scanning>["memory"]) => memory.learn("chainId", 5);
    const { lines, known } = await byScan("endpointChanged", { teach });
    expect(lines).toEqual(wholeRound("endpointChanged", "pending").sort());
    expect([known.memory.recall("chainId"), known.plans.known.chainId, known.isNamed]).toEqual([null, null, true]);
    // the block that the caller names stays
    const named = await byScan("endpointChanged", { teach, options: { block: "latest" } });
    expect(named.lines).toEqual(wholeRound("endpointChanged", "latest").sort());
    // the tag is that of the chain that is asked for
    const latest = await byScan("endpointChanged", { teach, inputs: [{ chainId: 137 }] });
    expect(latest.known.round.block).toBe("latest");
  });

  it.each<readonly [string, Parameters<typeof scanning>[0], ReadonlyArray<string>]>([
    [
      "the witness alone, and the chain's id, of a known endpoint where nobody saw the block",
      { isFamiliar: true, asked: { run: Result.fail(lost) } },
      ["eth_chainId", "eth_simulateV1 readerOnly pending"],
    ],
    [
      "the witness alone where no base fee was told",
      { isFamiliar: true, asked: { header: Result.fail(lost) } },
      ["eth_simulateV1 readerOnly pending"],
    ],
    ["receipts where the history tells no tip", { asked: { history: absent } }, ["eth_getBlockReceipts latest"]],
    [
      "calls where nothing is simulated",
      { asked: { run: Result.fail(unsupported) } },
      ["eth_call pending", "eth_call pending"],
    ],
    [
      "the pool, where the latest block was asked for and one in flight is replaced",
      { tag: "latest", inputs: [{ nonce: 4 }], asked: { counts: counted([alice, 4, 5]) } },
      ofPool("").map((line) => line.slice(3)),
    ],
  ])("asks %s, and no more", async (_, given, wanted) => {
    const { lines, known } = await byScan("missingAnswer", given);
    expect(lines).toEqual(wanted.map((line) => `1 missingAnswer ${line}`).sort());
    expect(known.isNamed).toBe(given?.isFamiliar !== true || wanted.includes("eth_chainId"));
  });

  it("adds to the answers before it", async () => {
    const given = { isFamiliar: true, asked: { run: Result.fail(lost), history: absent } };
    const { known } = await byScan("missingAnswer", given, { ...simulated, eth_chainId: () => "0x1" });
    const { round: has } = known;
    expect([has.namedChainId, has.runs.get("readerOnly")?._tag, has.receipts?._tag, has.called]).toEqual([
      Result.succeed(1),
      "Success",
      "Failure",
      null,
    ]);
    expect(known.round.counts).toEqual(scanning().round.counts);
  });

  it("reads the header again of several nodes at once, and keeps the later one", async () => {
    const { lines, known, before } = await byScan("headMoved", { sealed: 101n });
    expect(lines).toEqual(times(4, "1 headMoved eth_getBlockByNumber latest"));
    expect(known.round.header).toBe(before.round.header);
  });

  it("runs with funds, and keeps that only where it ran", async () => {
    const given = { asked: { run: Result.fail(poor) } };
    const { lines, known } = await byScan("unfunded", given, simulated);
    expect(lines).toEqual(["1 unfunded eth_simulateV1 funded pending"]);
    expect([figuresOf(known.round)?._tag, known.round.unfunded]).toEqual(["Success", poor]);
    const still = (await byScan("unfunded", given)).known;
    expect([figuresOf(still.round), still.round.unfunded]).toEqual([Result.fail(poor), null]);
  });

  const roomy = inFork("amsterdam");
  it("runs with as much gas as a block has, and keeps that only where it ran", async () => {
    const given = { asked: { run: ranAs(dry, {}, { before: roomy }) } };
    const { lines, known, wire } = await byScan("starved", given, simulated);
    expect(lines).toEqual(["1 starved eth_simulateV1 ample pending"]);
    expect(gasIn(wire)).toContain(30_000_000n);
    expect(figuresOf(known.round)).not.toEqual(given.asked.run);
    const lost = await byScan("starved", given);
    expect(lost.known).toBe(lost.before);
  });

  it("calls with as much gas as a block has, where nothing is simulated", async () => {
    const called = { first: Result.fail(new GasAllowanceExceeded({})), view: null };
    const reader = Result.succeed(named("readerOnly", [], { before: roomy }));
    const { lines, known, wire } = await byScan(
      "starved",
      { asked: { run: Result.fail(unsupported), called, reader } },
      { eth_call: () => "0x" },
    );
    expect(lines).toEqual(["1 starved eth_call pending"]);
    expect(wire[0]?.[0]).toMatchObject({ gas: "0x1c9c380" });
    expect(known.round.called).toEqual({ first: Result.succeed("0x"), view: null });
  });

  it("runs at a price, and keeps that only where it worked", async () => {
    const given = { asked: { run: ranAs(reverted) } };
    const { lines, known, wire } = await byScan("unpriced", given, simulated);
    expect(lines).toEqual(["1 unpriced eth_simulateV1 atNextFee pending"]);
    // in a block of the chain's gas limit, not in a scan's roomy one
    expect(JSON.stringify(wire[0])).toMatch(/"gasLimit":"0x[0-9a-f]{7}"/);
    expect([figuresOf(known.round), known.round.estimate]).toMatchObject([{ success: { name: "atNextFee" } }, null]);
    const failing = await byScan("unpriced", given, { eth_simulateV1: simulating("0x0") });
    expect(failing.known).toBe(failing.before);
    const lost = await byScan("unpriced", given);
    expect(lost.known).toBe(lost.before);
    // the priced run pretends the balances
    const familiar = { isFamiliar: true, ...given };
    expect((await byScan("unpriced", familiar, simulated)).lines).toEqual([
      "1 unpriced eth_simulateV1 atNextFee pending",
      "1 unpriced eth_simulateV1 readerOnly pending",
    ]);
  });
});

/** An attempt, its worlds on these blocks; the witness alone, where the exact run says nothing. */
const attemptOn = (because: string, exact: string, next: string, round = 1) =>
  [
    ...[`${because} eth_simulateV1 exact ${exact}`, `${because} eth_simulateV1 next ${next}`, `${because} eth_config`],
    ...["latest", "pending"].map((block) => `${because} eth_getTransactionCount ${block}`),
    `${because} eth_getBlockByNumber latest`,
  ]
    .map((line) => `${round} ${line}`)
    .sort();
const askedHeader = "1 headMoved eth_getBlockByNumber latest";
const gone = simulation(new SimBlockOrder({ detail: "" }));
const gateway = simulation(new InvalidParams({ detail: "Bad Request", httpStatus: 400 }));
const call = { to: token, data: hexOf("0x12345678") };
const failing = <E>(failure: E) => Result.fail(failure);

const gasRuns = ({ proof: { runs } }: ProofState) => [...runs.keys()].filter((key) => key.startsWith("gas "));

describe("an attempt of a proof", () => {
  const [{ block }] = standing().claim.worlds.rows;
  // what executes is of Amsterdam, whose headers have the hash of an access list
  const signed = header({ number: 100n, requestsHash: parent, blockAccessListHash: null });
  it.each<readonly [string, Parameters<typeof standing>[0], ReadonlyArray<string>]>([
    ["leaves nothing open where the runs tell all", {}, []],
    ["leaves the gas open where a run took all of it", { ran: { exact: dry } }, ["gasInDoubt"]],
    ["leaves no gas open where other limits are proven already", { ran: { exact: dry }, settled: undoubted }, []],
    [
      "leaves the calls inside open that may have failed unseen",
      { ran: { exact: did({ inner: { failed: [], unseen: 1 } }) } },
      ["hiddenCall"],
    ],
    [
      "leaves the fork open where the signs of it contradict each other",
      { round: { run: stood("exact", block, { before: inFork("amsterdam") }), header: signed } },
      ["forkUsed"],
    ],
  ])("%s", async (_, given, open) => {
    const state = standing(given);
    const { known } = await asked(state, attemptOf(state, state.claim, state.proof, "proof"));
    expect(known.open.map(({ kind }) => kind)).toEqual(open);
  });

  it("is not confirmed while it does not stand", () => {
    const state = standing({ options: { confirmHead: true }, proof: { next: failing(lost) } });
    expect(everyDoubt(state).map(({ kind }) => kind)).toEqual(["incomparable"]);
  });
});

it("the figures of a scan come from the priced run, then from the funded one", () => {
  const runOf = (name: "ample" | "funded" | "atNextFee") => [name, Result.succeed(named(name, [did()]))] as const;
  const told = (...names: ReadonlyArray<"ample" | "funded" | "atNextFee">) =>
    Result.getOrThrow(figuresOf({ runs: new Map(names.map(runOf)) }) ?? failing(lost)).name;
  expect([told("ample", "funded", "atNextFee"), told("ample", "funded"), told("ample")]).toEqual([
    "atNextFee",
    "funded",
    "ample",
  ]);
});

describe("a further round of a proof", () => {
  it("runs on the latest block where there is no pending one, and reports it", async () => {
    const given = { tag: "pending", isPosted: true, round: { run: failing(noPending) } } as const;
    const { lines, known } = await byProof("noPending", given);
    const posted = ["eth_getCode latest", "eth_getCode latest", "eth_simulateV1 readerOnly pinned"];
    const wanted = attemptOn("noPending", "pinned", "pinned").filter((line) => !line.startsWith("2"));
    const all = ["debug_traceCall pinned", ...posted].map((line) => `1 noPending ${line}`);
    expect(lines).toEqual([...wanted, ...all].sort());
    expect([known.claim.report.observed.blockTag, known.moves, [...known.counts]]).toEqual(["latest", 0, []]);
    expect(known.findings.map(({ code, severity }) => [code, severity])).toEqual([["PendingUnavailable", "info"]]);
  });

  it("asks the counts and the latest header behind the runs, which must be no older", async () => {
    const { order } = await byProof("incomparable", { proof: { next: failing(lost) } });
    const place = (word: string) => order.findIndex((line) => line.includes(word));
    expect(order.findLastIndex((line) => line.includes("eth_simulateV1"))).toBeLessThan(
      place("eth_getTransactionCount"),
    );
    expect(place("eth_getBlockByNumber")).toBe(order.length - 1);
  });

  it("leaves out what a run was refused for", async () => {
    const ofHash = await byProof("unsupportedPart", { proof: { next: failing(form) } });
    expect(ofHash.lines).toEqual(attemptOn("unsupportedPart", "latest", "latest"));
    expect([...(ofHash.known.memory.recall("lacks")?.keys() ?? [])]).toEqual(["hash"]);
    const ofEntries = await byProof("unsupportedPart", { tag: "pending", round: { run: failing(form) } });
    expect(ofEntries.lines).toEqual(attemptOn("unsupportedPart", "pending", "pinned"));
    expect([...(ofEntries.known.memory.recall("lacks")?.keys() ?? [])]).toEqual(["entries"]);
    expect(ofEntries.known.moves).toBe(0);
  });

  it("runs on a newer head, which is read first, and counts its moves", async () => {
    const { lines, known, before } = await byProof("headMoved", {
      proof: { next: failing(gone) },
      state: { moves: 1 },
    });
    expect(lines).toEqual([askedHeader, ...attemptOn("headMoved", "pinned", "pinned", 2)]);
    expect([known.moves, known.pending, known.ran]).toEqual([
      2,
      [],
      [...before.proof.runs.values()].map(Result.getOrNull),
    ]);
  });

  it("reads the header after the move where only a state before us moved, too", async () => {
    const moved = stood("next", "pending", { before: holding(rich, { number: 102n }) });
    const given = { tag: "pending", options: { pending: "preconfirmed" }, proof: { next: moved } } as const;
    const { lines, known } = await byProof("headMoved", given);
    expect(lines).toEqual([askedHeader, ...attemptOn("headMoved", "pending", "pending", 2)]);
    expect(known.moves).toBe(1);
  });

  it("runs on the header shown beside the runs, where that is newer", async () => {
    const newer = header({ number: 101n, hash: other });
    const beside = await byProof("headMoved", { proof: { beside: newer, header: newer } });
    expect(beside.lines).toEqual(attemptOn("headMoved", "pinned", "pinned"));
    expect([beside.known.head, beside.known.claim.worlds.rows[1].block]).toEqual([
      newer,
      { blockHash: other, requireCanonical: true },
    ]);
    // behind them alike, and what was confirmed before says nothing of what is asked anew
    const behind = await byProof("headMoved", {
      options: { confirmHead: true },
      state: { shown: newer === null ? [] : [newer] },
    });
    expect(behind.lines).toEqual(attemptOn("headMoved", "pinned", "pinned"));
    expect([behind.known.head, behind.known.shown]).toEqual([newer, []]);
    // several nodes at once, where an answer named a later one than any that was shown
    const named = await byProof("headMoved", { proof: { beside: newer, header: newer }, state: { sealed: 102n } });
    expect(named.lines).toEqual([...times(4, askedHeader), ...attemptOn("headMoved", "pinned", "pinned", 2)]);
  });

  it("reads the latest block behind the runs", async () => {
    const { lines, known } = await byProof("confirmHead", { options: { confirmHead: true } });
    expect(lines).toEqual(["1 confirmHead eth_getBlockByNumber latest"]);
    expect([known.shown.map(({ _tag }) => _tag), everyDoubt(known)]).toEqual([["Failure"], []]);
  });

  it("runs on a newer head where a run stood on another, or one of the sender's was mined", async () => {
    const moved = stood("next", pinned, { before: holding(rich, { number: 102n }) });
    expect((await byProof("headMoved", { proof: { next: moved } })).lines).toContain(askedHeader);
    const options = { pending: "preconfirmed" } as const;
    const { lines, known } = await byProof("headMoved", {
      tag: "pending",
      options,
      state: { counts: new Map([[alice, 3]]) },
    });
    expect([lines.includes(askedHeader), known.counts]).toEqual([
      true,
      new Map([
        [alice, 4],
        [bob, 0],
      ]),
    ]);
  });

  it.each([
    ["misplaced", { proof: { next: failing(gateway) } }],
    ["incomparable", { proof: { next: failing(lost) } }],
  ] as const)("runs once more unchanged: %s", async (because, given) => {
    const { lines, known } = await byProof(because, given);
    expect([lines, known.moves]).toEqual([attemptOn(because, "pinned", "pinned"), 0]);
  });

  it("runs once more where a fork parts a bundle, with the parts placed otherwise", async () => {
    const inputs = [{}, {}];
    const [exact] = standing({ inputs }).claim.worlds.rows;
    const next = BigInt(exact.context.time ?? 0) + 1n;
    const { lines } = await byProof("forkBetween", { inputs, round: { forks: { fork: null, next } } });
    expect(lines).toEqual(attemptOn("forkBetween", "pinned", "pinned"));
  });

  it("asks the witness alone where the exact run gives no answer, and builds the attempt on it", async () => {
    const given = { tag: "pending", round: { run: failing(lost), reader: null } } as const;
    const { lines, known, before } = await byProof("missingAnswer", given);
    expect(lines).toEqual(["1 missingAnswer eth_simulateV1 readerOnly pending"]);
    const { proof, claim } = known;
    expect([...proof.runs.keys()].sort()).toEqual(["exact", "next", "readerOnly"]);
    expect([claim, proof.runs.get("exact")]).toEqual([before.claim, before.proof.runs.get("exact")]);
    expect(known.answers).not.toBe(before.answers);
    // what that says counts for whether the attempt stands, and is asked as often as its runs were
    const away = { eth_simulateV1: () => rpcError({ code: -32_000, message: "header not found" }) };
    for (const [because, count] of [
      ["proof", 1],
      ["headMoved", 4],
    ] as const) {
      const on = { round: { run: failing(lost), reader: null }, state: { because } };
      const gone = await byProof("missingAnswer", on, away);
      expect(gone.lines).toEqual(times(count, "1 missingAnswer eth_simulateV1 readerOnly pinned"));
      expect([gone.before, gone.known].map((state) => everyDoubt(state).map(({ kind }) => kind))).toEqual([
        ["unread"],
        ["headMoved"],
      ]);
    }
  });

  it("traces inner failures on the latest block", async () => {
    const [one] = standing({ inputs: [call] }).bundle;
    const outcome = { ...one.outcome, inner: { failed: [], unseen: 1 } };
    for (const tag of ["pending", "latest"] as const) {
      const given = {
        tag,
        inputs: [call],
        state: { open: [{ kind: "hiddenCall" }], bundle: [{ ...one, outcome }] },
      } as const;
      const { lines, known } = await byProof("hiddenCall", given);
      expect([lines, known.open]).toEqual([["1 hiddenCall debug_traceCall latest"], []]);
    }
  });

  it("runs at other limits where its own are in doubt, also in the next block where they are used up there", async () => {
    const given = { inputs: [call], round: { codes: new Map() }, state: { open: [{ kind: "gasInDoubt" }] } } as const;
    const { lines, known } = await byProof("doubtfulLimit", given);
    expect(lines).toEqual(times(3, "1 doubtfulLimit eth_simulateV1 gas pinned"));
    expect([known.gas.limits, gasRuns(known)]).toEqual([null, ["gas 0", "gas 1", "gas 2"]]);
    const { plan } = Result.getOrThrow(ranAs(dry));
    const next = Result.succeed(named("next", [dry], { plan: { ...plan, name: "next", block: pinned } }));
    const twice = await byProof("doubtfulLimit", { ...given, proof: { next } });
    expect([twice.lines, gasRuns(twice.known).length]).toEqual([
      times(6, "1 doubtfulLimit eth_simulateV1 gas pinned"),
      6,
    ]);
  });

  it("asks everything in a nearer block where it fails in a later one", async () => {
    const { known, lines } = await byProof("closing", { ran: { exact: reverted } });
    expect(lines.filter((line) => /exact|next/.test(line))).toEqual(
      ["exact", "next"].map((run) => `1 closing eth_simulateV1 ${run} pinned`),
    );
    const { bracket, claim } = known;
    expect([bracket.kind, claim.worlds.reach, known.ran.length > 0]).toEqual(["rest", 0, true]);
    const [exact, next] = claim.worlds.rows;
    expect([exact.ahead, exact.context.time, exact.context.number]).toEqual([
      [],
      next.context.time,
      next.context.number,
    ]);
    expect(exact.context.feeRecipient).not.toBe(next.context.feeRecipient);
    // what it differs by from what failed is its number and time alone
    expect(claim.worlds.draw).toEqual(bracket.kind === "rest" && bracket.draw);
  });

  it("runs in further blocks where the two differ", async () => {
    const given = { ran: { next: reverted } };
    const { lines, known } = await byProof("worldsDiffer", given);
    expect(lines).toEqual(["atNextFee", "exactOnLatest"].map((run) => `1 worldsDiffer eth_simulateV1 ${run} pinned`));
    expect([known.proof.runs.has("exactOnLatest"), comparisonOf(known)?.isOpen]).toEqual([true, false]);
    // where other limits are to be proven, or its own are in doubt, nothing is compared
    const widened = standing({ ...given, state: { gas: { ...undoubted, limits: [60_000n] } } });
    const doubted = standing({ ...given, state: { open: [{ kind: "gasInDoubt" }] } });
    expect([comparisonOf(widened), comparisonOf(doubted), everyDoubt(widened)]).toEqual([null, null, []]);
  });

  it("lists touched accounts where two forks may part them, and assumes use where no list comes", async () => {
    const answers = { ...standing({ inputs: [call] }).answers, rules: { fork: "amsterdam", by: "executed" } };
    const block = { requestsHash: parent, blockAccessListHash: null, slotNumber: null };
    const state = {
      open: [{ kind: "forkUsed" }],
      answers: { ...answers, header: block } as unknown as ProofState["answers"],
    } as const;
    // whoever is called without code calls nobody
    const empty = await byProof("forkBetween (last)", { inputs: [call], state });
    expect([empty.lines, empty.known.isForkUsed]).toEqual([[], false]);
    const unread = { ...state, answers: { ...state.answers, codes: new Map() } };
    const { lines, known } = await byProof("forkBetween (last)", { inputs: [call], state: unread });
    expect([lines, known.isForkUsed]).toEqual([["1 forkBetween eth_createAccessList latest"], true]);
    const other = await byProof("forkBetween (last)", { inputs: [call], state: { open: state.open } });
    expect([other.lines, other.known.isForkUsed]).toEqual([[], true]);
  });

  it("runs on a latest block where a pending one does not hold still, and keeps what that showed", async () => {
    const given = { tag: "pending", proof: { next: failing(gone) }, state: { moves: 2 } } as const;
    const { lines, known, before } = await byProof("headMoved (last)", given);
    expect(lines).toEqual([askedHeader, ...attemptOn("headMoved", "pinned", "pinned", 2)]);
    expect([known.claim.report.observed.blockTag, known.moves]).toEqual(["latest", 0]);
    expect(known.pending).toEqual([before]);
  });
});
