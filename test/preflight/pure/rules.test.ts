/** Rule by rule: when a scan and a proof ask more, when they do not, and which of two comes first. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { describe, expect, it } from "vitest";
import { BlockGasLimitExceeded, GasAllowanceExceeded, PendingUnavailable, VmHalt } from "../../../src/Errors.js";
import { Rpc } from "../../../src/Rpc.js";
import type { Memory } from "../../../src/testing.js";
import {
  ExecutionReverted,
  InsufficientFunds,
  InvalidParams,
  MethodNotPermitted,
  MethodNotSupported,
  NonceTooHigh,
  OutOfGas,
  RpcError,
  SimBlockOrder,
} from "../../rooms/errors.js";
import { everyStep, proofRules, rounds, rule, scanRules, undoubted, type Rule } from "../../rooms/pipeline.js";
import { Hash } from "../../rooms/primitives.js";
import { unseen, type View } from "../../rooms/witness.js";
import { account, alice, bob, hexOf, unanswered } from "../../steps/parts.js";
import { absent, header, history, receipts } from "../../steps/reading/facts.js";
import { asked, inFork, namesOf, pinned, ranAs, scanning, standing, stood } from "./between.js";
import { counted, did, holding, named, plan, rich } from "./world.js";

type Scan = NonNullable<Parameters<typeof scanning>[0]>;
type Asked = NonNullable<Scan["asked"]>;
type Proving = NonNullable<Parameters<typeof standing>[0]>;

const simulation = (reason: RpcError["reason"]) => new RpcError({ method: "eth_simulateV1", reason });
const form = simulation(new InvalidParams({ detail: "nonsense", code: -32602 }));
const gateway = simulation(new InvalidParams({ detail: "Bad Request", httpStatus: 400 }));
const ofDeployment = simulation(new InvalidParams({ detail: "missing field `to`", code: -32602 }));
const unsupported = simulation(new MethodNotSupported({ detail: "", code: -32601 }));
const forbidden = simulation(new MethodNotPermitted({ detail: "403", httpStatus: 403 }));
const noPending = simulation(new PendingUnavailable({ detail: "no pending state" }));
const ofPool = new RpcError({ method: "eth_call", reason: new PendingUnavailable({ detail: "nonce too high" }) });
const gone = simulation(new SimBlockOrder({ detail: "" }));
const poor = new InsufficientFunds({ account: alice });
const lost = unanswered("eth_simulateV1");
const refused = (failure: RpcError | InsufficientFunds | OutOfGas | NonceTooHigh | BlockGasLimitExceeded) =>
  Result.fail(failure);

const reverted = did({ status: "reverted", failure: new ExecutionReverted({ data: hexOf("0x") }) });
const dry = did({ status: "halted", gasUsed: 2n ** 24n });
const other = Hash.make(`0x${"cd".repeat(32)}`);

/** The name of the first rule that applies; null = none does. */
const first = <S>(rules: ReadonlyArray<Rule<S, Rpc>>, known: S): string | null =>
  namesOf(rules)[rules.findIndex(({ applies }) => applies(known))] ?? null;

const lacking =
  (...parts: ReadonlyArray<"any" | "hash" | "entries" | "blockOverrides">) =>
  (memory: Memory) =>
    memory.learn("lacks", new Map(parts.map((part) => [part, form])));
const onMainnet = (memory: Memory) => memory.learn("chainId", 1);
const withoutOracle = (memory: Memory) => {
  onMainnet(memory);
  memory.learn("noFeeOracle", scanning().subject.chain.gasPriceOracle);
};

/** One is in flight, and the caller's nonce is its. */
const replacing: Scan = { inputs: [{ nonce: 4 }] };
const inFlight: Asked = { counts: counted([alice, 4, 5]) };
/** The witness alone saw this. */
const saw = (view: View): Asked => ({ reader: Result.succeed(named("readerOnly", [], { before: view })) });
const elsewhere = saw(holding(rich, { chainId: 5n }));
const roomy = inFork("amsterdam");
/** Nothing is simulated, and this is what the call said. */
const called = (first: Parameters<typeof refused>[0] | VmHalt | GasAllowanceExceeded | ExecutionReverted): Asked => ({
  run: refused(unsupported),
  called: { first: Result.fail(first), view: null },
  ...saw(roomy),
});
const answeredCall: Asked = { called: { first: Result.succeed(hexOf("0x")), view: null } };
const ranDry = (given: Scan = {}) => ranAs(dry, given, { before: roomy });

const fast = { paceKnown: true, blockTimeMs: 2_000 } as const;
type ScanRow = readonly [string, () => Scan, string | null];

describe("the next question of a scan", () => {
  it.each<ScanRow>([
    ["everything was answered", () => ({}), null],

    ["a run is refused for its form", () => ({ asked: { run: refused(form) } }), "unsupportedPart"],
    ["a deployment is refused by its name", () => ({ asked: { run: refused(ofDeployment), ...answeredCall } }), null],
    [
      "the endpoint is known to lack parts",
      () => ({ teach: lacking("any"), asked: { run: refused(form), ...answeredCall } }),
      null,
    ],
    ["a gateway is in trouble", () => ({ asked: { run: refused(gateway) } }), null],
    ["a run got lost", () => ({ asked: { run: refused(lost) } }), null],

    ["one in flight is replaced", () => ({ ...replacing, asked: inFlight }), "replacement"],
    ["the replaced nonce is the next one", () => ({ ...replacing, asked: { counts: counted([alice, 4, 4]) } }), null],
    ["the replaced nonce is mined", () => ({ ...replacing, asked: { counts: counted([alice, 5, 6]) } }), null],
    ["the nonce in flight is our choice", () => ({ asked: inFlight }), null],
    [
      "a replacement is on the latest block already",
      () => ({ ...replacing, tag: "latest", asked: inFlight }),
      "missingAnswer",
    ],
    [
      "a replacement is on a block that the caller names",
      () => ({ ...replacing, options: { block: "pending" }, asked: inFlight }),
      "missingAnswer",
    ],
    [
      "a replacement is on the latest block, with those in flight read",
      () => ({ ...replacing, tag: "latest", flying: [{ account: alice, nonces: [4] }], asked: inFlight }),
      null,
    ],

    ["there is no pending block", () => ({ asked: { run: refused(noPending) } }), "noPending"],
    [
      "only the witness-only run finds no pending block",
      () => ({ asked: { reader: refused(noPending) } }),
      "noPending",
    ],
    [
      "a call fails for the pool that the node runs beside it",
      () => ({ asked: { ...called(ofPool), run: refused(unsupported) } }),
      "noPending",
    ],
    [
      "there is no pending block, and the scan is on the latest",
      () => ({ tag: "latest", asked: { run: refused(noPending) } }),
      null,
    ],
    [
      "there is no pending block, and the caller names it",
      () => ({ options: { block: "pending" }, asked: { run: refused(noPending) } }),
      null,
    ],
    ["the run's block is gone", () => ({ asked: { run: refused(gone) } }), null],

    ["another chain answers than the known one", () => ({ teach: onMainnet, asked: elsewhere }), "endpointChanged"],
    [
      "another branch answers than the known one",
      () => ({ teach: onMainnet, asked: { header: header({ number: 100n, hash: other }) } }),
      "endpointChanged",
    ],
    [
      "a fee oracle lives where none was known",
      () => ({ teach: withoutOracle, asked: saw({ ...roomy, account: () => account("0x01") }) }),
      "endpointChanged",
    ],
    ["no fee oracle lives where none was known", () => ({ teach: withoutOracle }), null],
    ["the known chain answers", () => ({ teach: onMainnet }), null],
    ["no chain was known", () => ({ asked: elsewhere }), null],
    [
      "another chain answers under pretended state",
      () => ({ teach: onMainnet, options: { stateOverrides: {} }, asked: elsewhere }),
      null,
    ],

    ["a known endpoint gives no history", () => ({ isFamiliar: true, asked: { history: absent } }), "missingAnswer"],
    [
      "a known endpoint gives no history, and receipts were read",
      () => ({ isFamiliar: true, asked: { history: absent, receipts: receipts() } }),
      "missingAnswer",
    ],
    [
      "a known endpoint's header has no base fee",
      () => ({ isFamiliar: true, asked: { header: header({ number: 100n, baseFeePerGas: null }) } }),
      "missingAnswer",
    ],
    [
      "a known endpoint's header is lost",
      () => ({ isFamiliar: true, asked: { header: refused(lost) } }),
      "missingAnswer",
    ],
    ["a known endpoint's run is lost", () => ({ isFamiliar: true, asked: { run: refused(lost) } }), "missingAnswer"],
    [
      "a known endpoint's header is lost, and the witness-only run answered",
      () => ({ isFamiliar: true, asked: { header: refused(lost), ...saw(roomy) } }),
      null,
    ],
    ["an unknown endpoint's header is lost", () => ({ asked: { reader: null, header: refused(lost) } }), null],
    ["a known endpoint gives history and header", () => ({ isFamiliar: true }), null],

    [
      "both runs of a known endpoint are lost",
      () => ({ isFamiliar: true, asked: { run: refused(lost), reader: refused(lost) } }),
      "missingAnswer",
    ],
    [
      "both runs of an unknown endpoint are lost",
      () => ({ asked: { run: refused(lost), reader: refused(lost) } }),
      null,
    ],

    ["there is no history for the tip", () => ({ asked: { history: absent } }), "missingAnswer"],
    ["the history has no tips", () => ({ asked: { history: history([[0.5, []]]) } }), "missingAnswer"],
    ["the history's last block is empty", () => ({ asked: { history: history([[0, []]]) } }), null],
    ["there is no history, and receipts were read", () => ({ asked: { history: absent, receipts: receipts() } }), null],
    ["the history was not asked", () => ({ asked: { history: null } }), null],

    ["simulations are not supported", () => ({ asked: { run: refused(unsupported) } }), "missingAnswer"],
    ["simulations are forbidden", () => ({ asked: { run: refused(forbidden) } }), "missingAnswer"],
    ["simulated deployments are refused", () => ({ asked: { run: refused(ofDeployment) } }), "missingAnswer"],
    [
      "a block is too small and cannot be made larger",
      () => ({ teach: lacking("blockOverrides"), asked: { run: refused(new BlockGasLimitExceeded({})) } }),
      "missingAnswer",
    ],
    [
      "a block is too small and could be larger",
      () => ({ teach: lacking("hash"), asked: { run: refused(new BlockGasLimitExceeded({})) } }),
      null,
    ],
    [
      "a deployment is refused under pretended state",
      () => ({ options: { stateOverrides: {} }, asked: { run: refused(ofDeployment) } }),
      null,
    ],
    [
      "a deployment is refused in a pretended block",
      () => ({ options: { blockOverrides: {} }, asked: { run: refused(ofDeployment) } }),
      null,
    ],
    [
      "simulations are not supported, and a call answered",
      () => ({ asked: { run: refused(unsupported), ...answeredCall } }),
      null,
    ],
    [
      "simulations are not supported, and that step is left out",
      () => ({
        steps: new Set([...everyStep].filter((name) => name !== "simulate")),
        asked: { run: refused(unsupported) },
      }),
      null,
    ],

    ["a sender has too little", () => ({ asked: { run: refused(poor) } }), "unfunded"],
    ["the nonce is too high", () => ({ asked: { run: refused(new NonceTooHigh({ account: alice })) } }), null],

    ["the call took all its gas", () => ({ asked: { run: ranDry() } }), "starved"],
    [
      "the estimate is above the run's gas",
      () => ({ asked: { run: ranAs(did(), {}, { before: roomy }), estimate: Result.succeed(2n ** 24n + 1n) } }),
      "starved",
    ],
    [
      "the estimate is the run's gas",
      () => ({ asked: { run: ranAs(did(), {}, { before: roomy }), estimate: Result.succeed(2n ** 24n) } }),
      null,
    ],
    [
      "the call took all of the caller's gas",
      () => ({ inputs: [{ gas: 2n ** 24n }], asked: { run: ranDry({ inputs: [{ gas: 2n ** 24n }] }) } }),
      "unpriced",
    ],
    ["the call took all the gas that the rules allow", () => ({ asked: { run: ranAs(dry) } }), "unpriced"],

    ["a call ran out of gas", () => ({ asked: called(new OutOfGas({})) }), "starved"],
    ["a call halts", () => ({ asked: called(new VmHalt({})) }), "starved"],
    ["a call needs more than the node allows", () => ({ asked: called(new GasAllowanceExceeded({})) }), "starved"],
    [
      "a call fails and the estimate is above its gas",
      () => ({
        asked: { ...called(new ExecutionReverted({ data: hexOf("0x") })), estimate: Result.succeed(2n ** 24n + 1n) },
      }),
      "starved",
    ],
    [
      "a call fails and the estimate is its gas",
      () => ({
        asked: { ...called(new ExecutionReverted({ data: hexOf("0x") })), estimate: Result.succeed(2n ** 24n) },
      }),
      null,
    ],
    [
      "a call works, whatever the estimate",
      () => ({ asked: { ...called(new OutOfGas({})), ...answeredCall, estimate: Result.succeed(2n ** 24n + 1n) } }),
      null,
    ],
    [
      "a call ran out of the caller's gas",
      () => ({ inputs: [{ gas: 2n ** 24n }], asked: called(new OutOfGas({})) }),
      null,
    ],
    [
      "a call ran out of gas, and a run answered",
      () => ({ asked: { ...called(new OutOfGas({})), run: ranAs(did(), {}, { before: roomy }) } }),
      null,
    ],
    [
      "a call ran out of the gas that the rules allow",
      () => ({ asked: { ...called(new OutOfGas({})), ...saw(holding(rich)) } }),
      null,
    ],

    ["a run without a price failed", () => ({ asked: { run: ranAs(reverted) } }), "unpriced"],
    ["a run with a price failed", () => ({ asked: { run: ranAs(reverted, {}, { name: "atNextFee" }) } }), null],
    [
      "a run failed whose code may ask for the gas limit, and blocks have no price",
      () => ({
        asked: {
          run: ranAs(reverted),
          history: null,
          codes: new Map([[bob, Result.succeed("0x45505f5ffd" as const)]]),
          header: header({ number: 100n, baseFeePerGas: 0n }),
          ...saw(inFork("osaka", { baseFeePerGas: 0n })),
        },
      }),
      "unpriced",
    ],
    [
      "a run failed, and blocks have no price",
      () => ({
        asked: {
          run: ranAs(reverted),
          history: null,
          codes: new Map([[bob, Result.succeed("0x5f5ffd" as const)]]),
          header: header({ number: 100n, baseFeePerGas: 0n }),
          ...saw(inFork("osaka", { baseFeePerGas: 0n })),
        },
      }),
      null,
    ],
    [
      "a run failed, and nobody gives a base fee",
      () => ({
        asked: {
          run: ranAs(reverted, {}, { before: unseen }),
          header: refused(lost),
          history: null,
          reader: refused(lost),
        },
      }),
      null,
    ],

    ["an answer named a later block", () => ({ sealed: 101n }), "headMoved"],
    [
      "an answer named a later block on a chain of long slots",
      () => ({ sealed: 101n, chain: { ...fast, blockTimeMs: 12_000 } }),
      "headMoved",
    ],
    ["an answer named the same block", () => ({ sealed: 100n }), null],
    ["no answer named a block", () => ({ sealed: null }), null],
    ["an answer named a later block on a fast chain", () => ({ sealed: 101n, chain: fast }), null],
    [
      "an answer named a later block, and the header is lost",
      () => ({ sealed: 101n, asked: { header: refused(lost) } }),
      null,
    ],
  ])("is $2 where %s", (_, given, name) => expect(first(scanRules, scanning(given()))).toBe(name));

  it.each<readonly [string, () => Scan, string]>([
    [
      "a refused part before a replacement",
      () => ({ ...replacing, asked: { ...inFlight, run: refused(form) } }),
      "unsupportedPart",
    ],
    [
      "a refused part before no pending state",
      () => ({ asked: { run: refused(form), reader: refused(noPending) } }),
      "unsupportedPart",
    ],
    [
      "a refused part before another chain",
      () => ({ teach: onMainnet, asked: { run: refused(form), ...elsewhere } }),
      "unsupportedPart",
    ],
    [
      "a replacement before no pending state",
      () => ({ ...replacing, asked: { ...inFlight, run: refused(noPending) } }),
      "replacement",
    ],
    [
      "a replacement before another chain",
      () => ({ ...replacing, teach: onMainnet, asked: { ...inFlight, ...elsewhere } }),
      "replacement",
    ],
    [
      "no pending state before another chain",
      () => ({ teach: onMainnet, asked: { run: refused(noPending), ...elsewhere } }),
      "noPending",
    ],
    [
      "another chain before what is missing",
      () => ({ teach: onMainnet, asked: { history: absent, ...elsewhere } }),
      "endpointChanged",
    ],
    ["what is missing before funds", () => ({ asked: { history: absent, run: refused(poor) } }), "missingAnswer"],
    ["what is missing before more gas", () => ({ asked: { history: absent, run: ranDry() } }), "missingAnswer"],
    ["funds before more gas", () => ({ asked: { ...called(new OutOfGas({})), run: refused(poor) } }), "unfunded"],
    ["more gas before a price", () => ({ asked: { run: ranDry() } }), "starved"],
    ["a price before the header", () => ({ sealed: 101n, asked: { run: ranAs(reverted) } }), "unpriced"],
  ])("is $2: %s", (_, given, name) => {
    const known = scanning(given());
    expect(scanRules.filter(({ applies }) => applies(known)).length).toBeGreaterThan(1);
    expect(first(scanRules, known)).toBe(name);
  });
});

const moved = stood("next", pinned, { before: holding(rich, { number: 102n }) });
const [newer, branch, older] = [
  header({ number: 101n, hash: other }),
  header({ number: 100n, hash: other }),
  header({ number: 99n, hash: other }),
];
/** The latest header beside the runs. */
const shown = (beside: ReturnType<typeof header>): Proving => ({
  proof: { beside, header: beside === older ? header({ number: 100n }) : beside },
});
const preconfirmed = { tag: "pending", options: { pending: "preconfirmed" } } as const;
const ofNumber = { tag: 90n, options: { block: 90n } } as const;
const rapid = { chain: { blockTimeMs: 250 } } as const;
const confirming = (given: Proving = {}): Proving => ({ ...given, options: { ...given.options, confirmHead: true } });
const unanswering: Proving = { proof: { next: refused(lost) } };
const posted: Proving = { isPosted: true, tag: "pending", round: { run: refused(noPending) } };
/** A bundle on the latest block, whose transactions a fork parts. */
const parted = (): Proving => {
  const inputs = [{}, {}];
  const [exact] = standing({ inputs }).claim.worlds.rows;
  return { inputs, round: { forks: { fork: null, next: BigInt(exact.context.time ?? 0) + 1n } } };
};
/** Nobody asked the witness alone, and the exact run is refused, or has no answer of it. */
const silent = (failure: Parameters<typeof refused>[0]): Proving => ({
  round: { run: refused(failure), reader: null },
});
const unwitnessed = (witnessed: boolean): Proving => {
  const [{ block }] = standing().claim.worlds.rows;
  return { round: { run: stood("exact", block, { witnessed }), reader: null } };
};
const wanting: Proving = { ran: { next: reverted } };
/** What runs in the next block, and no more in `exact`. */
const closing: Proving = { ran: { exact: reverted } };
const untraced: Proving = { state: { open: [{ kind: "hiddenCall" }] } };
const unsettled: Proving = { state: { open: [{ kind: "gasInDoubt" }] } };
const unused: Proving = { state: { open: [{ kind: "forkUsed" }] } };
const both = (...all: ReadonlyArray<Proving>): Proving => ({
  ...Object.assign({}, ...all),
  state: Object.assign({}, ...all.map(({ state }) => state), { open: all.flatMap(({ state }) => state?.open ?? []) }),
});
/** The rest of a bracket, in which the transactions failed further out. */
const rest = (reach: number, isSeen: boolean): Proving => ({
  state: { bracket: { kind: "rest", reach, isSeen, failed: null, draw: { prevRandao: "0x", chance: "0x" } } },
});
/** A latest header that was asked behind the runs. */
const behind = (shown: ReturnType<typeof header>): Proving => ({ state: { shown: shown === null ? [] : [shown] } });
/** One of alice's is in flight, in front of the one that is proven. */
const flying: Proving = { round: { counts: counted([alice, 4, 5]) } };
const movedOnPending: Proving = { tag: "pending", proof: { next: refused(gone) } };

/** The witness in the pending state saw so much of the sender's; on the sealed head it is `rich`. */
const pendingWith = (balance: bigint, changed: Proving = {}): Proving => {
  const { round, ...others } = changed;
  const run = stood("exact", "pending", { before: holding(balance) });
  return { tag: "pending", round: { run, ...round }, ...others };
};

type ProofRow = readonly [string, () => Proving, string | null];

describe("the next question of a proof", () => {
  it.each<ProofRow>([
    ["the attempt stands", () => ({}), null],
    ["the attempt stands on a pending block", () => ({ tag: "pending" }), null],

    ["the exact run gives no answer", () => silent(lost), "missingAnswer"],
    ["the exact run has no answer of the witness", () => unwitnessed(false), "missingAnswer"],
    ["the exact run has the witness's answer", () => unwitnessed(true), null],
    [
      "the exact run gives no answer, and the witness-only run was asked",
      () => ({ ...silent(lost), round: { run: refused(lost) } }),
      null,
    ],
    ["the exact run's block is gone", () => silent(gone), "headMoved"],

    ["a posted report finds no pending block", () => posted, "noPending"],
    ["our own scan finds no pending block", () => ({ ...posted, isPosted: false }), null],
    [
      "a posted report finds no pending block, and the caller names it",
      () => ({ ...posted, options: { block: "pending" } }),
      null,
    ],
    [
      "a posted report finds no pending block, on a chain that is asked on the latest",
      () => ({ ...posted, chain: { blockTag: "latest" } }),
      null,
    ],
    ["a posted report finds no pending block, and stands on the latest", () => ({ ...posted, tag: "latest" }), null],
    ["a posted report's run is refused otherwise", () => ({ ...posted, round: { run: refused(lost) } }), null],

    [
      "our own scan finds no pending block, and the second block is refused",
      () => ({ ...posted, isPosted: false, proof: { next: refused(form) } }),
      null,
    ],
    ["the second block is refused for its form", () => ({ proof: { next: refused(form) } }), "unsupportedPart"],
    [
      "the second block is not supported, and the exact one ran",
      () => ({ proof: { next: refused(unsupported) } }),
      "unsupportedPart",
    ],
    ["the exact block is refused for its form", () => ({ round: { run: refused(form) } }), "unsupportedPart"],
    [
      "neither block is supported",
      () => ({ round: { run: refused(unsupported) }, proof: { next: refused(unsupported) } }),
      null,
    ],

    ["the sender has less in pending state", () => pendingWith(rich - 1n), "headMoved (last)"],
    ["the sender has more in pending state", () => pendingWith(rich + 1n), null],
    ["the sender has less in pending state, with transactions in flight", () => pendingWith(rich - 1n, flying), null],

    ["the second block stood on another head", () => ({ proof: { next: moved } }), "headMoved"],
    ["the second block's head is gone", () => ({ proof: { next: refused(gone) } }), "headMoved"],
    ["one of the sender's transactions was mined", () => ({ state: { counts: new Map([[alice, 3]]) } }), "headMoved"],
    [
      "the nonce has a gap that no count shows",
      () => ({ proof: { next: refused(new NonceTooHigh({ account: alice })) } }),
      "headMoved",
    ],
    ["the head moved, and did six times before", () => ({ proof: { next: moved }, state: { moves: 6 } }), "headMoved"],
    ["the head moved, and did seven times before", () => ({ proof: { next: moved }, state: { moves: 7 } }), null],
    ["a newer head is shown beside the runs", () => shown(newer), "headMoved"],
    ["another head of the same number is shown", () => shown(branch), "headMoved"],
    ["a newer head is shown to a run on a pending block", () => ({ ...shown(newer), ...preconfirmed }), "headMoved"],
    ["an older head is shown", () => shown(older), null],
    ["a newer head is shown to a run on a block that the caller names", () => ({ ...shown(newer), ...ofNumber }), null],
    [
      "a newer head is shown where blocks come every two seconds",
      () => ({ ...shown(newer), chain: { blockTimeMs: 2_000 } }),
      "headMoved",
    ],
    ["a newer head is shown where blocks come faster than answers", () => ({ ...shown(newer), ...rapid }), "headMoved"],
    [
      "a newer head is shown again where blocks come faster than answers",
      () => ({ ...shown(newer), ...rapid, state: { moves: 1 } }),
      null,
    ],
    [
      "a newer head is shown again there, and the caller wants it confirmed",
      () => ({ ...shown(newer), ...confirming(rapid), state: { moves: 1 } }),
      "headMoved",
    ],
    ["another answer named a later block", () => ({ state: { sealed: 101n } }), "headMoved"],
    [
      "another answer named a later block, on a chain of unknown pace",
      () => ({ state: { sealed: 101n }, chain: { paceKnown: false } }),
      "headMoved",
    ],
    [
      "another answer named a later block, on a fast chain",
      () => ({ state: { sealed: 101n }, chain: { blockTimeMs: 2_000 } }),
      null,
    ],
    ["another answer named the same block", () => ({ state: { sealed: 100n } }), null],

    ["the caller wants the head confirmed", () => confirming(), "confirmHead"],
    ["the head was confirmed", () => ({ ...confirming(), ...behind(header({ number: 100n })) }), null],
    ["the confirmation got lost", () => ({ ...confirming(), state: { shown: [refused(lost)] } }), null],
    ["the caller wants a block of their own confirmed", () => confirming(ofNumber), null],
    [
      "the caller wants the head confirmed, and a run got lost",
      () => ({ ...confirming(), ...unanswering }),
      "incomparable",
    ],
    ["the confirmation shows a newer head", () => ({ ...confirming(), ...behind(newer) }), "headMoved"],

    [
      "pending state that is ordered before us moved on, once before",
      () => ({ ...movedOnPending, options: { pending: "preconfirmed" }, state: { moves: 1 } }),
      "headMoved",
    ],

    ["the second block is refused for its place", () => ({ proof: { next: refused(gateway) } }), "misplaced"],
    ["the run with ample gas stands", () => ({ proof: { ample: stood("ample", pinned) } }), null],

    ["a fork parts the bundle", parted, "forkBetween"],
    [
      "a fork is near, and one block holds the bundle",
      () => ({ ...parted(), tag: "pending", options: { pending: "preconfirmed" } }),
      null,
    ],
    ["a fork comes much later", () => ({ ...parted(), round: { forks: { fork: null, next: 2n ** 40n } } }), null],
    ["a fork is near a single transaction", () => ({ ...parted(), inputs: [{}] }), null],

    ["a run got lost", () => unanswering, "incomparable"],
    ["the run with ample gas got lost", () => ({ proof: { ample: refused(lost) } }), "incomparable"],
    [
      "the run with ample gas stood elsewhere",
      () => ({ proof: { ample: stood("ample", pinned, { before: holding(rich, { timestamp: 1n }) }) } }),
      "incomparable",
    ],
    ["the head got lost beside the runs", () => shown(refused(lost)), "incomparable"],
    ["the head was not known before", () => ({ state: { head: null } }), "incomparable"],
    [
      "the head was not known before, and got lost beside the runs",
      () => ({ ...shown(refused(lost)), state: { head: null } }),
      null,
    ],
    ["a run and the exact run got lost", () => ({ ...unanswering, round: { run: refused(lost) } }), null],

    ["the run hides an inner failure", () => untraced, "hiddenCall"],
    ["gas limits are in doubt", () => unsettled, "doubtfulLimit"],
    ["gas limits are in doubt, and the blocks differ", () => both(unsettled, wanting), "doubtfulLimit"],
    ["gas limits are in doubt, and the later block fails", () => both(unsettled, closing), "doubtfulLimit"],
    ["the blocks differ", () => wanting, "worldsDiffer"],
    ["the later block fails", () => closing, "closing"],
    ["the later block fails, and there is no nearer one", () => both(closing, rest(0, false)), "worldsDiffer"],
    ["the later block fails, and a nearer one ran", () => both(closing, rest(1, true)), "worldsDiffer"],
    [
      "the later block fails, whose time the caller pretends",
      () => both(closing, { options: { blockOverrides: { time: 9n } } }),
      "worldsDiffer",
    ],
    ["the use of differing fork rules is not known", () => unused, "forkBetween (last)"],
    ["the use of differing fork rules is known", () => ({ state: { isForkUsed: false } }), null],

    ["the head moved, with others of the sender in flight", () => ({ ...movedOnPending, ...flying }), "headMoved"],
    [
      "the nonce has a gap that those in flight fill",
      () => ({ ...flying, proof: { next: refused(new NonceTooHigh({ account: alice })) } }),
      "incomparable",
    ],
    ["pending state does not hold still", () => movedOnPending, "headMoved (last)"],
    [
      "pending state that is ordered before us does not hold still, twice before",
      () => ({ ...movedOnPending, options: { pending: "preconfirmed" }, state: { moves: 2 } }),
      "headMoved (last)",
    ],
    [
      "pending state does not hold still, and the caller names it",
      () => ({ ...movedOnPending, options: { block: "pending" } }),
      null,
    ],
    ["pending state holds still", () => ({ tag: "pending", state: { moves: 3 } }), null],
  ])("is $2 where %s", (_, given, name) => {
    const known = standing(given());
    expect(first(proofRules, known)).toBe(name);
    // an attempt lacks one thing, so that the order of these says nothing
    const place = (name: string) => proofRules.findIndex(({ because }) => because === name);
    const lacks = proofRules.slice(place("missingAnswer") + 1, place("hiddenCall"));
    expect(lacks.filter(({ applies }) => applies(known)).length).toBeLessThan(2);
  });

  it.each<readonly [string, () => Proving, string]>([
    [
      "the witness alone before another state",
      () => ({ ...posted, round: { run: refused(noPending), reader: null } }),
      "missingAnswer",
    ],
    ["no pending state before whether a fork was used", () => both(posted, unused), "noPending"],
    ["no pending state before what fails inside", () => both(posted, untraced), "noPending"],
    [
      "a refused part before what fails inside",
      () => both({ proof: { next: refused(form) } }, untraced),
      "unsupportedPart",
    ],
    ["a newer head before what fails inside", () => both({ proof: { next: moved } }, untraced), "headMoved"],
    [
      "a refused place before what fails inside",
      () => both({ proof: { next: refused(gateway) } }, untraced),
      "misplaced",
    ],
    ["a fork that parts a bundle before what fails inside", () => both(parted(), untraced), "forkBetween"],
    ["a world that got lost before what fails inside", () => both(unanswering, untraced), "incomparable"],
    ["a world that got lost before limits in doubt", () => both(unanswering, unsettled), "incomparable"],
    ["a world that got lost before whether a fork was used", () => both(unanswering, unused), "incomparable"],
    ["what fails inside before limits in doubt", () => both(untraced, unsettled), "hiddenCall"],
    ["what fails inside before further worlds", () => both(untraced, wanting), "hiddenCall"],
    ["limits in doubt before whether a fork was used", () => both(unsettled, unused), "doubtfulLimit"],
    ["a nearer block before further worlds", () => closing, "closing"],
    ["further worlds before the latest block behind them", () => both(confirming(), wanting), "worldsDiffer"],
    ["whether a fork was used before that", () => both(confirming(), unused), "forkBetween (last)"],
    ["further worlds before whether a fork was used", () => both(wanting, unused), "worldsDiffer"],
    ["whether a fork was used before a sealed block", () => both(movedOnPending, unused), "forkBetween (last)"],
    ["what fails inside before a sealed block", () => both(movedOnPending, untraced), "hiddenCall"],
  ])("is $2: %s", (_, given, name) => {
    const known = standing(given());
    expect(proofRules.filter(({ applies }) => applies(known)).length).toBeGreaterThan(1);
    expect(first(proofRules, known)).toBe(name);
  });
});

it("a latest block is no answer while a pending one may hold still", () => {
  const known = standing({ ...movedOnPending, options: { pending: "preconfirmed" } });
  expect(proofRules.filter(({ applies }) => applies(known)).length).toBe(1);
});

describe("the limit of questions", () => {
  const most = (given: Proving) =>
    Object.fromEntries(
      namesOf(proofRules).map((name, place) => [name, proofRules[place]?.most?.(standing(given)) ?? 1]),
    );
  const each = {
    missingAnswer: 32,
    headMoved: 32,
    hiddenCall: 32,
    doubtfulLimit: 32,
    closing: 2,
    worldsDiffer: 32,
    confirmHead: 32,
    "forkBetween (last)": 32,
    "doubtfulLimit (last)": 32,
  };
  const once = {
    noPending: 1,
    unsupportedPart: 1,
    misplaced: 1,
    forkBetween: 1,
    incomparable: 1,
    "headMoved (last)": 1,
  };
  it.each<readonly [string, Proving, object]>([
    ["once, but for what belongs to each attempt", {}, {}],
    ["once in all, where limits were widened in between", { settled: undoubted }, {}],
    [
      "for each part that is refused, if a block's hash may be",
      { proof: { next: refused(form) } },
      { unsupportedPart: 32 },
    ],
    [
      "for each part that is refused, if a block in front may be",
      { round: { run: refused(form) } },
      { unsupportedPart: 32 },
    ],
    [
      "three times where balances moved beneath runs that pretend them",
      {
        round: { counts: counted([alice, 4, 5]), reader: stood("readerOnly", pinned, { before: holding(rich + 1n) }) },
        proof: { next: stood("next", pinned, { plan: plan({ name: "next", block: pinned, pretended: true }) }) },
      },
      { incomparable: 3 },
    ],
    ["once where both are left out", { teach: lacking("hash", "entries"), proof: { next: refused(form) } }, {}],
  ])("is %s", (_, given, changed) => expect(most(given)).toEqual({ ...each, ...once, ...changed }));
  it("a scan asks by each rule once, and begins again on the latest block once for another endpoint", () =>
    expect(scanRules.flatMap(({ because, most: often }) => (often === undefined ? [] : [because]))).toEqual([
      "replacement",
      "noPending",
    ]));
});

describe("rounds of questions", () => {
  /** What was done, in turn. */
  type Done = ReadonlyArray<string>;
  const doing = (name: string, applies: (done: Done) => boolean, often?: number): Rule<Done> => ({
    because: "headMoved",
    ...(often === undefined ? {} : { most: () => often }),
    applies,
    ask: (done) => Effect.succeed([...done, name]),
  });
  const always = () => true;
  const run = (...rules: ReadonlyArray<Rule<Done>>) => Effect.runSync(rounds<Done, never>([], rules));

  it.each<readonly [string, ReadonlyArray<Rule<Done>>, Done]>([
    ["ask nothing where none applies", [doing("a", () => false)], []],
    ["ask by each rule once", [doing("a", always)], ["a"]],
    ["ask by each rule as often as it may", [doing("a", always, 3)], ["a", "a", "a"]],
    ["ask by no rule that may never", [doing("a", always, 0)], []],
    ["ask by the first of two", [doing("a", always), doing("b", always)], ["a", "b"]],
    ["end when none applies", [doing("a", (done) => done.length < 2, 9)], ["a", "a"]],
    [
      "begin again at the first after each",
      [doing("a", (done) => done.at(-1) === "b", 9), doing("b", always, 2)],
      ["b", "a", "b", "a"],
    ],
    ["count two rules of one name apart", [doing("a", always), doing("b", (done) => done.length === 1)], ["a", "b"]],
  ])("%s", (_, rules, done) => expect(run(...rules)).toEqual(done));

  it("may be more as more is known", () =>
    expect(run({ ...doing("a", always), most: (done) => (done.length === 1 ? 2 : 1) })).toEqual(["a", "a"]));

  it("stand in the ledger by the rule that asked, each in its own", async () => {
    const asking = (because: "headMoved" | "unfunded") =>
      rule<number, Rpc>({
        because,
        applies: always,
        ask: (count) => Effect.as(Effect.ignore(Rpc.use(({ request }) => request("eth_blockNumber", []))), count + 1),
      });
    const { known, lines } = await asked(standing(), rounds<number, Rpc>(0, [asking("headMoved"), asking("unfunded")]));
    expect([known, lines]).toEqual([2, ["1 headMoved eth_blockNumber", "2 unfunded eth_blockNumber"]]);
  });
});
