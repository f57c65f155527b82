/**
 * The steps one by one, each asking only its own questions, for a single transaction (the first of a
 * list): the same questions, choices and checks as in a scan, on a bundle of one. They fail with the first
 * blocker or the first answer that is missing.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import { InvalidTransaction } from "../../errors/input.js";
import type { RpcError } from "../../errors/rpc.js";
import { gap, NotProven, type Verdict } from "../../errors/verdicts.js";
import type { Finding } from "../../report/finding.js";
import { gapReason } from "../../report/ready.js";
import type { Fee as FeePart, Gas, Nonce as NoncePart, Outcome, Parties } from "../../report/parts.js";
import { chainsInUse } from "../../eth/chains.js";
import { Rpc } from "../../rpc/index.js";
import * as Code from "../../steps/code.js";
import * as Estimate from "../../steps/estimate.js";
import * as Fee from "../../steps/fee.js";
import * as Nonce from "../../steps/nonce.js";
import { checkPretended } from "../../steps/reading/pretended.js";
import type { Bundle, Filled } from "../../steps/reading/bundle.js";
import * as Transactions from "../../Transaction.js";
import { answersOf, checkOutcomes, type ActiveSteps, type Answers } from "../answers.js";
import { choose } from "../choose.js";
import * as Options from "../prepare.js";
import { counted } from "../rounds.js";
import { askScan } from "../scan.js";

/** The output, or the first thing that stands against it. */
const orFail = <A>(output: A, findings: ReadonlyArray<Finding>): Effect.Effect<A, Verdict | RpcError> => {
  const against =
    findings.find(({ severity }) => severity === "blocker") ??
    findings.find(({ severity }) => severity === "unavailable");
  if (against === undefined) return Effect.succeed(output);
  return Effect.fail(
    against.error ??
      new NotProven({ missing: [gap(gapReason(against), against.sentence, against.code, against.remedy)] }),
  );
};

/** One step of a scan by itself: `steps` are asked, the rest stays unknown. */
const single = <A>(
  name: string,
  steps: ReadonlyArray<Parameters<ActiveSteps["has"]>[0]>,
  make: (
    entry: Filled,
    bundle: Bundle<Filled>,
    answers: Answers,
  ) => readonly [output: A, findings: ReadonlyArray<Finding>],
): Transactions.TakesInput<Options.Options, Effect.Effect<A, InvalidTransaction | Verdict | RpcError, Rpc>> =>
  Effect.fn(name)(function* (input: unknown, runOptions: Options.Options = {}) {
    const { memory, defaults } = yield* Rpc;
    const { bundle: all, options: given, signed } = yield* Options.prepare(input, runOptions, defaults);
    if (signed !== null)
      return yield* new InvalidTransaction({
        field: "typedData",
        problem: "is a signature, of which `signature` makes a report",
      });
    const chains = yield* chainsInUse;
    const named = all[0].input.chainId;
    const chain = chains(named ?? memory.recall("chainId"));
    const block = given.block ?? chain.blockTag;
    const isRun = steps.includes("simulate");
    const options = isRun ? yield* counted(Options.withTokens(given, block)) : given;
    const looks = isRun ? Options.withPretended([], options) : [];
    const subject = { bundle: Arr.of(all[0]), options, chain, wanted: [], looks, steps: new Set(steps) };
    const round = yield* counted(Options.assuming({ bundle: subject.bundle, options }, () => askScan(subject, block)));
    const answers = answersOf(round, chains, options, named);
    const bundle = choose(subject.bundle, answers);
    const [output, findings] = make(bundle[0], bundle, answers);
    return yield* orFail(output, [...findings, ...(isRun ? checkPretended(options, answers.before) : [])]);
  });

/** Reads who sends and receives. JSON-RPC: `eth_getCode`. Fails with `SenderNotEoa`, `NoCode`, `InitCodeTooLarge`. */
export const checkCode = single<typeof Parties.Type>("Preflight.checkCode", ["code"], (entry, bundle, answers) => [
  entry.code,
  Code.check(entry, answers),
]);

/** Simulates a transaction. JSON-RPC: `eth_simulateV1`. Fails with `ExecutionReverted`, `VmHalt`, or node refusals. */
export const simulate = single<Outcome>(
  "Preflight.simulate",
  ["simulate", "funds", "reader"],
  (entry, bundle, answers) => [entry.outcome, checkOutcomes(bundle, answers)],
);

/**
 * How much gas to allow: the limit that `scan` chooses. JSON-RPC: `eth_estimateGas`, `eth_simulateV1`,
 * `eth_getCode`. The estimate or the simulation may be missing, not both.
 */
export const estimateGas = single<Gas>(
  "Preflight.estimateGas",
  ["code", "simulate", "estimate", "funds", "reader"],
  (entry, bundle, answers) => [
    Estimate.read(entry, answers),
    [
      ...checkOutcomes(bundle, answers).filter(({ severity }) => severity === "blocker" || entry.gas.value === null),
      ...Estimate.check(entry, answers),
    ],
  ],
);

/** Which nonce to sign. JSON-RPC: `eth_getTransactionCount` on `latest` and `pending`. Fails with `NonceTooLow`, `NonceTooHigh`. */
export const resolveNonce = single<NoncePart>("Preflight.resolveNonce", ["nonce"], (entry, bundle, answers) => [
  Nonce.read(entry, answers, bundle),
  Nonce.check(entry, answers, bundle),
]);

/**
 * Quotes the price per gas. JSON-RPC: `eth_feeHistory`, `eth_getBlockReceipts`, `eth_getBlockByNumber`, and
 * `eth_simulateV1` of an empty block for its base fee. Fails with `FeeCapTooLow`.
 */
export const quoteFee = single<FeePart>("Preflight.quoteFee", ["fee", "reader"], (entry, _, answers) => [
  Fee.read(entry, answers.quote),
  [...Fee.checkSources(answers.quote), ...Fee.check(entry, answers.quote)],
]);
