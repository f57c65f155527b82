/** Bundles and rounds of any kind, for what holds of all of them. */
import * as Result from "effect/Result";
import fc from "fast-check";
import { ExecutionReverted, InsufficientFunds, NonceTooLow } from "../../rooms/errors.js";
import type { Transaction } from "../../../src/Transaction.js";
import { unseen } from "../../rooms/witness.js";
import { alice, bob, hexOf, log, token, unanswered, word } from "../../steps/parts.js";
import { topics } from "../../steps/reading/arbitrary.js";
import { absent, gwei, header, history } from "../../steps/reading/facts.js";
import { counted, did, holding, named, run, type Told } from "./world.js";

const lost = Result.fail(unanswered("eth_simulateV1"));
const perhaps = <A>(some: fc.Arbitrary<A>) => fc.option(some, { nil: null });

/** A transaction of alice or bob: any target, any fields fixed by the caller. */
const input: fc.Arbitrary<Partial<Transaction>> = fc.record({
  from: fc.constantFrom(alice, bob),
  to: fc.constantFrom(alice, bob, token, null),
  data: fc.constantFrom(...["0x", "0x12345678", `0xa9059cbb${word(bob)}${word(9n)}`].map(hexOf)),
  value: fc.bigInt(0n, 10n ** 18n),
  gas: perhaps(fc.bigInt(21_000n, 200_000n)),
  nonce: perhaps(fc.nat(70)),
  maxPriorityFeePerGas: perhaps(fc.bigInt(0n, gwei)),
});
/** Some are legacy, some fix the cap: never both. */
const priced = fc
  .tuple(input, fc.constantFrom("ours", "capped", "legacy"), fc.bigInt(gwei / 2n, 4n * gwei))
  .map(([one, kind, price]): Partial<Transaction> => {
    if (kind === "legacy") return { ...one, gasPrice: price, maxPriorityFeePerGas: null };
    return kind === "capped" ? { ...one, maxFeePerGas: price, maxPriorityFeePerGas: null } : one;
  });
/** One to `most` transactions. */
export const inputs = (most = 8): fc.Arbitrary<ReadonlyArray<Partial<Transaction>>> =>
  fc.array(priced, { minLength: 1, maxLength: most });

const reverted = new ExecutionReverted({ data: hexOf("0x") });
const reading = fc.oneof(
  fc.bigInt(21_000n, 100_000n).map((gasUsed) => did({ gasUsed, maxUsedGas: gasUsed })),
  fc.constant(did({ maxUsedGas: null, returnData: hexOf(`0x${word(0n)}`) })),
  fc.constant(did({ logs: [log(token, [topics.transfer, word(alice), word(bob)], [word(5n)])] })),
  fc.constant(did({ logs: [log(token, [topics.approval, word(alice), word(bob)], [word(2n ** 255n)])] })),
  fc.constant(did({ status: "reverted", failure: reverted })),
);

const balances = fc.constantFrom(0n, 10n ** 15n, 10n ** 18n, 10n ** 30n);

/** The answers to so many transactions, some of which got lost. */
export const rounds = (count: number): fc.Arbitrary<Partial<Told>> =>
  fc
    .record({
      readings: fc.array(reading, { minLength: count, maxLength: count }),
      balance: balances,
      counts: fc.tuple(fc.nat(64), fc.nat(5)),
      missing: fc.subarray(["reader", "estimate", "fees", "codes", "counts", "witness"] as const),
      run: fc.constantFrom("answered", "answered", "answered", "refused", "poor", "lost"),
      estimate: fc.bigInt(21_000n, 200_000n),
    })
    .map(({ readings, balance, counts: [latest, flying], missing, run: how, estimate }): Partial<Told> => {
      const before = missing.includes("witness") ? unseen : holding(balance);
      const refusal = how === "poor" ? new InsufficientFunds({ account: alice }) : new NonceTooLow({ account: alice });
      const answer = run(readings, { before, witnessed: before !== unseen });
      return {
        run: how === "answered" ? Result.succeed(answer) : how === "lost" ? lost : Result.fail(refusal),
        reader: missing.includes("reader")
          ? lost
          : Result.succeed(named("readerOnly", [], { before: holding(balance) })),
        estimate: missing.includes("estimate") ? lost : Result.succeed(estimate),
        ...(missing.includes("fees")
          ? { history: absent, receipts: absent, header: absent }
          : { history: history([[0.5, [1n, 2n, 3n]]]), receipts: null, header: header({ number: 100n }) }),
        ...(missing.includes("codes") ? { codes: new Map([[alice, lost]]) } : {}),
        counts: missing.includes("counts")
          ? new Map([[alice, { latest: lost, pending: Result.succeed(latest) }]])
          : counted([alice, latest, latest + flying], [bob, 0, 0]),
      };
    });

/** A bundle and what could be learned of it. */
export const worlds = (most = 8) =>
  inputs(most).chain((cases) => rounds(cases.length).map((round) => ({ inputs: cases, round })));
