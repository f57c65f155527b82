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

describe("a scan asks more", () => {
  it.each<ScanRow>([
    ["nothing where all was answered", () => ({}), null],

    ["what a run is refused for", () => ({ asked: { run: refused(form) } }), "unsupportedPart"],
    [
      "not so of a deployment, which is refused by its name",
      () => ({ asked: { run: refused(ofDeployment), ...answeredCall } }),
      null,
    ],
    [
      "not so where that is remembered",
      () => ({ teach: lacking("any"), asked: { run: refused(form), ...answeredCall } }),
      null,
    ],
    ["not so where a gateway is in trouble", () => ({ asked: { run: refused(gateway) } }), null],
    ["not so where a run got lost", () => ({ asked: { run: refused(lost) } }), null],

    ["on the latest block, where one in flight is replaced", () => ({ ...replacing, asked: inFlight }), "replacement"],
    ["not so where that is the next nonce", () => ({ ...replacing, asked: { counts: counted([alice, 4, 4]) } }), null],
    ["not so where it is mined", () => ({ ...replacing, asked: { counts: counted([alice, 5, 6]) } }), null],
    ["not so where the nonce is ours", () => ({ asked: inFlight }), null],
    [
      "not so on the latest, but what is in flight",
      () => ({ ...replacing, tag: "latest", asked: inFlight }),
      "missingAnswer",
    ],
    [
      "not so where the caller names a block",
      () => ({ ...replacing, options: { block: "pending" }, asked: inFlight }),
      "missingAnswer",
    ],
    [
      "nothing of what is in flight where that was asked for",
      () => ({ ...replacing, tag: "latest", flying: [{ account: alice, nonces: [4] }], asked: inFlight }),
      null,
    ],

    ["on the latest block, where there is no pending one", () => ({ asked: { run: refused(noPending) } }), "noPending"],
    ["so where only the witness alone says so", () => ({ asked: { reader: refused(noPending) } }), "noPending"],
    [
      "so where a call says so, for the node runs its pool beside it",
      () => ({ asked: { ...called(ofPool), run: refused(unsupported) } }),
      "noPending",
    ],
    ["not so on the latest", () => ({ tag: "latest", asked: { run: refused(noPending) } }), null],
    [
      "not so where the caller names a block",
      () => ({ options: { block: "pending" }, asked: { run: refused(noPending) } }),
      null,
    ],
    ["not so where the run is refused otherwise", () => ({ asked: { run: refused(gone) } }), null],

    ["all anew on another chain than the known one", () => ({ teach: onMainnet, asked: elsewhere }), "endpointChanged"],
    [
      "so on another branch",
      () => ({ teach: onMainnet, asked: { header: header({ number: 100n, hash: other }) } }),
      "endpointChanged",
    ],
    [
      "so where a fee oracle lives that did not",
      () => ({ teach: withoutOracle, asked: saw({ ...roomy, account: () => account("0x01") }) }),
      "endpointChanged",
    ],
    ["not so where none lives", () => ({ teach: withoutOracle }), null],
    ["not so on the known chain", () => ({ teach: onMainnet }), null],
    ["not so where no chain was known", () => ({ asked: elsewhere }), null],
    [
      "not so where state is pretended",
      () => ({ teach: onMainnet, options: { stateOverrides: {} }, asked: elsewhere }),
      null,
    ],

    [
      "the witness alone, where the history does not make up for it",
      () => ({ isFamiliar: true, asked: { history: absent } }),
      "missingAnswer",
    ],
    [
      "so where only the history failed",
      () => ({ isFamiliar: true, asked: { history: absent, receipts: receipts() } }),
      "missingAnswer",
    ],
    [
      "so where the header does not",
      () => ({ isFamiliar: true, asked: { header: header({ number: 100n, baseFeePerGas: null }) } }),
      "missingAnswer",
    ],
    ["so where there is none", () => ({ isFamiliar: true, asked: { header: refused(lost) } }), "missingAnswer"],
    ["so where nobody saw the block", () => ({ isFamiliar: true, asked: { run: refused(lost) } }), "missingAnswer"],
    ["not so where it was asked", () => ({ isFamiliar: true, asked: { header: refused(lost), ...saw(roomy) } }), null],
    ["not so of an endpoint that is not known", () => ({ asked: { reader: null, header: refused(lost) } }), null],
    ["not so where both make up for it", () => ({ isFamiliar: true }), null],

    [
      "the chain's id alone, where nobody saw the block",
      () => ({ isFamiliar: true, asked: { run: refused(lost), reader: refused(lost) } }),
      "missingAnswer",
    ],
    ["not so where it was asked", () => ({ asked: { run: refused(lost), reader: refused(lost) } }), null],

    ["receipts, where the history tells no tip", () => ({ asked: { history: absent } }), "missingAnswer"],
    ["so where it has none", () => ({ asked: { history: history([[0.5, []]]) } }), "missingAnswer"],
    ["not so where its last block is empty", () => ({ asked: { history: history([[0, []]]) } }), null],
    ["not so where they were asked", () => ({ asked: { history: absent, receipts: receipts() } }), null],
    ["not so where the history was not asked", () => ({ asked: { history: null } }), null],

    [
      "by calls, where simulations are not supported",
      () => ({ asked: { run: refused(unsupported) } }),
      "missingAnswer",
    ],
    ["so where they are forbidden", () => ({ asked: { run: refused(forbidden) } }), "missingAnswer"],
    ["so where deployments are", () => ({ asked: { run: refused(ofDeployment) } }), "missingAnswer"],
    [
      "so where the block is too small and cannot be made larger",
      () => ({ teach: lacking("blockOverrides"), asked: { run: refused(new BlockGasLimitExceeded({})) } }),
      "missingAnswer",
    ],
    [
      "not so where it could be",
      () => ({ teach: lacking("hash"), asked: { run: refused(new BlockGasLimitExceeded({})) } }),
      null,
    ],
    [
      "not so of pretended state, which a call may refuse as well",
      () => ({ options: { stateOverrides: {} }, asked: { run: refused(ofDeployment) } }),
      null,
    ],
    [
      "not so of a pretended block",
      () => ({ options: { blockOverrides: {} }, asked: { run: refused(ofDeployment) } }),
      null,
    ],
    ["not so where calls were asked", () => ({ asked: { run: refused(unsupported), ...answeredCall } }), null],
    [
      "not so where nobody simulates",
      () => ({
        steps: new Set([...everyStep].filter((name) => name !== "simulate")),
        asked: { run: refused(unsupported) },
      }),
      null,
    ],

    ["with funds, where a sender has too little", () => ({ asked: { run: refused(poor) } }), "unfunded"],
    [
      "not so where the nonce is too high",
      () => ({ asked: { run: refused(new NonceTooHigh({ account: alice })) } }),
      null,
    ],

    ["with more gas, where the call took all of it", () => ({ asked: { run: ranDry() } }), "starved"],
    [
      "so where the node says that it needs more",
      () => ({ asked: { run: ranAs(did(), {}, { before: roomy }), estimate: Result.succeed(2n ** 24n + 1n) } }),
      "starved",
    ],
    [
      "not so where it needs no more",
      () => ({ asked: { run: ranAs(did(), {}, { before: roomy }), estimate: Result.succeed(2n ** 24n) } }),
      null,
    ],
    [
      "not so where the caller fixed the gas, but at a price",
      () => ({ inputs: [{ gas: 2n ** 24n }], asked: { run: ranDry({ inputs: [{ gas: 2n ** 24n }] }) } }),
      "unpriced",
    ],
    ["not so where the rules allow no more, but at a price", () => ({ asked: { run: ranAs(dry) } }), "unpriced"],

    ["by a call with more gas, which ran out of it", () => ({ asked: called(new OutOfGas({})) }), "starved"],
    ["so where the EVM halts", () => ({ asked: called(new VmHalt({})) }), "starved"],
    ["so where the node allows less", () => ({ asked: called(new GasAllowanceExceeded({})) }), "starved"],
    [
      "so where it fails and needs more",
      () => ({
        asked: { ...called(new ExecutionReverted({ data: hexOf("0x") })), estimate: Result.succeed(2n ** 24n + 1n) },
      }),
      "starved",
    ],
    [
      "not so where it needs no more",
      () => ({
        asked: { ...called(new ExecutionReverted({ data: hexOf("0x") })), estimate: Result.succeed(2n ** 24n) },
      }),
      null,
    ],
    [
      "not so where it works, whatever it needs",
      () => ({ asked: { ...called(new OutOfGas({})), ...answeredCall, estimate: Result.succeed(2n ** 24n + 1n) } }),
      null,
    ],
    [
      "not so where the caller fixed the gas",
      () => ({ inputs: [{ gas: 2n ** 24n }], asked: called(new OutOfGas({})) }),
      null,
    ],
    [
      "not so where a run answered",
      () => ({ asked: { ...called(new OutOfGas({})), run: ranAs(did(), {}, { before: roomy }) } }),
      null,
    ],
    [
      "not so where the rules allow no more",
      () => ({ asked: { ...called(new OutOfGas({})), ...saw(holding(rich)) } }),
      null,
    ],

    ["at a price, where a call failed without one", () => ({ asked: { run: ranAs(reverted) } }), "unpriced"],
    ["not so where it had a price", () => ({ asked: { run: ranAs(reverted, {}, { name: "atNextFee" }) } }), null],
    [
      "in a block as it is, where code may ask for its gas limit and blocks have no price",
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
      "not so where blocks have none",
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
      "not so where nobody tells it",
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

    ["the header, where an answer named a later block", () => ({ sealed: 101n }), "headMoved"],
    ["so where slots are long", () => ({ sealed: 101n, chain: { ...fast, blockTimeMs: 12_000 } }), "headMoved"],
    ["not so where it named that one", () => ({ sealed: 100n }), null],
    ["not so where none was named", () => ({ sealed: null }), null],
    ["not so on a fast chain", () => ({ sealed: 101n, chain: fast }), null],
    ["not so where there is no header", () => ({ sealed: 101n, asked: { header: refused(lost) } }), null],
  ])("%s", (_, given, name) => expect(first(scanRules, scanning(given()))).toBe(name));

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
  ])("%s", (_, given, name) => {
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

describe("a proof asks more", () => {
  it.each<ProofRow>([
    ["nothing where it stands", () => ({}), null],
    ["nothing where it stands on a pending block", () => ({ tag: "pending" }), null],

    ["the witness alone, where the exact run says nothing", () => silent(lost), "missingAnswer"],
    ["so where it has no answer of the witness", () => unwitnessed(false), "missingAnswer"],
    ["not so where it has", () => unwitnessed(true), null],
    ["not so where it was asked", () => ({ ...silent(lost), round: { run: refused(lost) } }), null],
    ["not so where its block is gone, and all is asked again", () => silent(gone), "headMoved"],

    ["on the latest block, where there is no pending one", () => posted, "noPending"],
    ["not so of a scan of our own, which chose it", () => ({ ...posted, isPosted: false }), null],
    ["not so where the caller names a block", () => ({ ...posted, options: { block: "pending" } }), null],
    ["not so where the chain is asked on the latest", () => ({ ...posted, chain: { blockTag: "latest" } }), null],
    ["not so on the latest", () => ({ ...posted, tag: "latest" }), null],
    ["not so where the run is refused otherwise", () => ({ ...posted, round: { run: refused(lost) } }), null],

    [
      "nothing of its worlds, which a scan of our own made so",
      () => ({ ...posted, isPosted: false, proof: { next: refused(form) } }),
      null,
    ],
    ["without the part that a world is refused for", () => ({ proof: { next: refused(form) } }), "unsupportedPart"],
    [
      "so where one world is simulated and the other is not supported",
      () => ({ proof: { next: refused(unsupported) } }),
      "unsupportedPart",
    ],
    ["so where it is the exact one", () => ({ round: { run: refused(form) } }), "unsupportedPart"],
    [
      "not so where none is supported",
      () => ({ round: { run: refused(unsupported) }, proof: { next: refused(unsupported) } }),
      null,
    ],

    ["anew, where the sender has paid in the pending state alone", () => pendingWith(rich - 1n), "headMoved (last)"],
    ["not so where it has got something", () => pendingWith(rich + 1n), null],
    ["not so where something of it is in flight", () => pendingWith(rich - 1n, flying), null],

    ["on a newer head, where a world stood on another", () => ({ proof: { next: moved } }), "headMoved"],
    ["so where its block is gone", () => ({ proof: { next: refused(gone) } }), "headMoved"],
    ["so where one of the sender's was mined", () => ({ state: { counts: new Map([[alice, 3]]) } }), "headMoved"],
    [
      "so where the nonce has a gap that no count tells of",
      () => ({ proof: { next: refused(new NonceTooHigh({ account: alice })) } }),
      "headMoved",
    ],
    ["so up to eight times", () => ({ proof: { next: moved }, state: { moves: 6 } }), "headMoved"],
    ["no more then", () => ({ proof: { next: moved }, state: { moves: 7 } }), null],
    ["so where another head is shown beside the runs", () => shown(newer), "headMoved"],
    ["so where it is one of the same number", () => shown(branch), "headMoved"],
    ["so on a pending block", () => ({ ...shown(newer), ...preconfirmed }), "headMoved"],
    ["not so where it is an earlier one", () => shown(older), null],
    ["not so on a block that the caller names", () => ({ ...shown(newer), ...ofNumber }), null],
    ["so where blocks come every two seconds", () => ({ ...shown(newer), chain: { blockTimeMs: 2_000 } }), "headMoved"],
    ["so, once, where they come while any answer travels", () => ({ ...shown(newer), ...rapid }), "headMoved"],
    ["not so then", () => ({ ...shown(newer), ...rapid, state: { moves: 1 } }), null],
    [
      "so then, where the caller wants it confirmed",
      () => ({ ...shown(newer), ...confirming(rapid), state: { moves: 1 } }),
      "headMoved",
    ],
    ["so where any other answer named a later block", () => ({ state: { sealed: 101n } }), "headMoved"],
    ["so where the pace is not known", () => ({ state: { sealed: 101n }, chain: { paceKnown: false } }), "headMoved"],
    ["not so on a fast chain", () => ({ state: { sealed: 101n }, chain: { blockTimeMs: 2_000 } }), null],
    ["not so where it is the head", () => ({ state: { sealed: 100n } }), null],

    ["the latest block behind the runs, where the caller wants it", () => confirming(), "confirmHead"],
    ["not so where it was asked", () => ({ ...confirming(), ...behind(header({ number: 100n })) }), null],
    ["not so where it was asked in vain", () => ({ ...confirming(), state: { shown: [refused(lost)] } }), null],
    ["not so on a block that the caller names", () => confirming(ofNumber), null],
    ["not so while an attempt does not stand", () => ({ ...confirming(), ...unanswering }), "incomparable"],
    ["on a newer head, where that is another one", () => ({ ...confirming(), ...behind(newer) }), "headMoved"],

    [
      "so up to three times where the pending state is ordered before us",
      () => ({ ...movedOnPending, options: { pending: "preconfirmed" }, state: { moves: 1 } }),
      "headMoved",
    ],

    ["once more, where a world is refused for its place", () => ({ proof: { next: refused(gateway) } }), "misplaced"],
    ["not so where the run itself stands", () => ({ proof: { ample: stood("ample", pinned) } }), null],

    ["once more, where a fork parts a bundle", parted, "forkBetween"],
    [
      "not so where one block holds them",
      () => ({ ...parted(), tag: "pending", options: { pending: "preconfirmed" } }),
      null,
    ],
    ["not so where it comes later", () => ({ ...parted(), round: { forks: { fork: null, next: 2n ** 40n } } }), null],
    ["not so of a single one", () => ({ ...parted(), inputs: [{}] }), null],

    ["once more, where a world got lost", () => unanswering, "incomparable"],
    ["so where the run with free gas did", () => ({ proof: { ample: refused(lost) } }), "incomparable"],
    [
      "so where it stood elsewhere",
      () => ({ proof: { ample: stood("ample", pinned, { before: holding(rich, { timestamp: 1n }) }) } }),
      "incomparable",
    ],
    ["so where the head got lost beside the runs", () => shown(refused(lost)), "incomparable"],
    ["so where it was not known before", () => ({ state: { head: null } }), "incomparable"],
    ["not so where nobody tells it", () => ({ ...shown(refused(lost)), state: { head: null } }), null],
    ["not so where the exact run says nothing either", () => ({ ...unanswering, round: { run: refused(lost) } }), null],

    ["what fails inside, where the run hides it", () => untraced, "hiddenCall"],
    ["at other limits, where its own are in doubt", () => unsettled, "doubtfulLimit"],
    ["so before further worlds", () => both(unsettled, wanting), "doubtfulLimit"],
    ["so before a nearer block", () => both(unsettled, closing), "doubtfulLimit"],
    ["further worlds, where these two differ", () => wanting, "worldsDiffer"],
    ["in a nearer block, where it fails in a later one", () => closing, "closing"],
    ["not so where there is no nearer one", () => both(closing, rest(0, false)), "worldsDiffer"],
    ["not so where it was seen to run there", () => both(closing, rest(1, true)), "worldsDiffer"],
    [
      "not so where the caller pretends the time",
      () => both(closing, { options: { blockOverrides: { time: 9n } } }),
      "worldsDiffer",
    ],
    ["whether it used what two forks have not in common", () => unused, "forkBetween (last)"],
    ["not so where that is known", () => ({ state: { isForkUsed: false } }), null],

    [
      "on a newer head first, where the sender has others in flight",
      () => ({ ...movedOnPending, ...flying }),
      "headMoved",
    ],
    [
      "once more, where the nonce has a gap that those in flight fill",
      () => ({ ...flying, proof: { next: refused(new NonceTooHigh({ account: alice })) } }),
      "incomparable",
    ],
    ["on a sealed block, where a pending one does not hold still", () => movedOnPending, "headMoved (last)"],
    [
      "so after three times where it is ordered before us",
      () => ({ ...movedOnPending, options: { pending: "preconfirmed" }, state: { moves: 2 } }),
      "headMoved (last)",
    ],
    ["not so where the caller names a block", () => ({ ...movedOnPending, options: { block: "pending" } }), null],
    ["not so where it holds still", () => ({ tag: "pending", state: { moves: 3 } }), null],
  ])("%s", (_, given, name) => {
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
  ])("%s", (_, given, name) => {
    const known = standing(given());
    expect(proofRules.filter(({ applies }) => applies(known)).length).toBeGreaterThan(1);
    expect(first(proofRules, known)).toBe(name);
  });
});

it("a sealed block is no answer while a pending one may hold still", () => {
  const known = standing({ ...movedOnPending, options: { pending: "preconfirmed" } });
  expect(proofRules.filter(({ applies }) => applies(known)).length).toBe(1);
});

describe("how often", () => {
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
    ["so if a block in front may be", { round: { run: refused(form) } }, { unsupportedPart: 32 }],
    [
      "three times where balances moved beneath runs that pretend them",
      {
        round: { counts: counted([alice, 4, 5]), reader: stood("readerOnly", pinned, { before: holding(rich + 1n) }) },
        proof: { next: stood("next", pinned, { plan: plan({ name: "next", block: pinned, pretended: true }) }) },
      },
      { incomparable: 3 },
    ],
    ["once where both are left out", { teach: lacking("hash", "entries"), proof: { next: refused(form) } }, {}],
  ])("%s", (_, given, changed) => expect(most(given)).toEqual({ ...each, ...once, ...changed }));
  it("a scan asks by each rule once, and begins anew on the latest block once more where the endpoint is another", () =>
    expect(scanRules.flatMap(({ because, most: often }) => (often === undefined ? [] : [because]))).toEqual([
      "replacement",
      "noPending",
    ]));
});

describe("rounds", () => {
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

  it("may be more by what is known", () =>
    expect(run({ ...doing("a", always), most: (done) => (done.length === 1 ? 2 : 1) })).toEqual(["a", "a"]));

  it("stand in the ledger by the rule that asked, each in one of its own", async () => {
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
