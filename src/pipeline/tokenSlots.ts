/** Storage slots of the balances and allowances that a caller pretends, found in one simulation. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { wordOf } from "../abi/words.js";
import type { BlockParameter } from "../eth/parameters.js";
import * as Questions from "../eth/questions.js";
import { asked, each, one, sent, type Ask } from "../eth/round.js";
import { readSimulation, type SimulatedBlock } from "../eth/simulation.js";
import { keccak256 } from "../primitives/bytes.js";
import { isHash, type Hash } from "../primitives/hex.js";
import type { ReportOptions } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import { candidatesOf, getterOf, pretendedIn, type PretendedAmount } from "../steps/reading/pretended.js";
import { inRound } from "./rounds.js";

/** The highest bit, which a token may use for something else than the amount, as USDC does. */
const flag = 2n ** 255n;

interface Placed {
  readonly row: PretendedAmount;
  readonly slot: Hash;
  readonly value: bigint;
}

/** The overrides with these words in the storage of their tokens; beside a whole storage of the caller's, or into it. */
const withWords = (given: ReportOptions["stateOverrides"], words: ReadonlyArray<Placed>) => {
  const state: Record<string, NonNullable<typeof given>[string]> = { ...given };
  for (const { row, slot, value } of words) {
    const account = state[row.token] ?? {};
    const kind = account.state == null ? "stateDiff" : "state";
    state[row.token] = { ...account, [kind]: { ...account[kind], [slot]: wordOf(value) } };
  }
  return state;
};

/** The word that a call returns; null where it fails, or returns another size. */
const wordIn = (block: SimulatedBlock | undefined, place: number): bigint | null => {
  const { status, returnData = "0x" } = block?.calls[place] ?? {};
  return status === "success" && isHash(returnData) ? BigInt(returnData) : null;
};

/** Asks in a round in front of the others. */
const inFront = <A>(ask: Ask<A>) => inRound("tokenSlots", sent(asked({ step: "chain" }, ask)));

/** All getters, asked twice: with a word of its own in each slot that comes into question, and with the amount in all of them. */
const probe = (options: ReportOptions, all: ReadonlyArray<Placed>, block: BlockParameter) => {
  const calls = pretendedIn(options)
    .map(getterOf)
    .map(({ to, data, gas }) => ({ to, data, gas }));
  const entries = [all, all.map((placed) => ({ ...placed, value: placed.row.amount }))];
  const blocks = entries.map((words) => ({ stateOverrides: withWords(options.stateOverrides, words), calls }));
  return Effect.orElseSucceed(
    Effect.flatMap(Effect.flatMap(inFront(one(Questions.simulation({ blocks, block }))), Effect.fromResult), (answer) =>
      readSimulation(answer, { blocks }),
    ),
    () => null,
  );
};

/**
 * The options with the amounts that they pretend in `stateOverrides`, as far as their slots are found: a token tells the
 * word of one slot, and then the amount. Whether it tells the amount in the runs is checked there (`checkPretended`).
 */
export const withTokenSlots = Effect.fnUntraced(function* (
  options: ReportOptions,
  given: BlockParameter,
): Effect.fn.Return<ReportOptions, never, Rpc> {
  const rows = pretendedIn(options);
  const all = rows.flatMap((row, place) =>
    candidatesOf(row).map((slot) => ({ row, place, slot, value: BigInt(keccak256(slot)) | flag })),
  );
  const first = yield* probe(options, all, given);
  // why: an endpoint without pending state has the latest block
  const block = first === null && given === "pending" ? "latest" : given;
  const told = block === given ? first : yield* probe(options, all, block);
  const found = all.flatMap((placed) => {
    const { row, place, value } = placed;
    const [marker, amount] = [wordIn(told?.[0], place), wordIn(told?.[1], place)];
    const isTold = marker !== null && (marker | flag) === value && amount === row.amount;
    return isTold ? [{ ...placed, value: amount, isPart: marker !== value }] : [];
  });
  const parts = found.filter(({ isPart }) => isPart);
  const askFlags = each(parts, ({ row, slot }) => one(Questions.storage({ address: row.token, slot, block })));
  const words = parts.length === 0 ? [] : yield* inFront(askFlags);
  // why: what the highest bit stands for, where a token hides it, is not to be changed
  const flags = words.map((word) => Result.isSuccess(word) && BigInt(word.success) < flag);
  const kept = found.filter((placed) => !placed.isPart || flags[parts.indexOf(placed)] === true);
  return { ...options, stateOverrides: withWords(options.stateOverrides, kept) };
});
