/** The loop that asks: a first round, then whatever the rules want, until none applies. */
import * as Effect from "effect/Effect";
import type { AskRule } from "../primitives/names.js";
import { inRound } from "./ledger.js";

/** Why more is asked, when, and what; `S` is what is known so far. */
export interface Rule<S, R = never> {
  readonly because: AskRule;
  /** How often it may apply; once, where nothing is said. */
  readonly most?: (known: S) => number;
  /** Whether it begins anew, so that what was asked of the others is asked of what is new. */
  readonly isAnew?: boolean;
  /** Whether more has to be asked. Pure. */
  readonly applies: (known: S) => boolean;
  /** What is known then. Asks in rounds of its own. */
  readonly ask: (known: S) => Effect.Effect<S, never, R>;
}

/** A rule that asks in one round. */
export const rule = <S, R>({ ask, ...when }: Rule<S, R>): Rule<S, R> => ({
  ...when,
  ask: (known) => inRound(when.because, ask(known)),
});

/**
 * Asks by the first rule that applies, again and again. Of rules that apply at the same time the one that stands first
 * is asked, so that their order is part of what they say; each as often as it may, and once more where one began anew,
 * which bounds the rounds.
 */
export const rounds = Effect.fnUntraced(function* <S, R>(
  first: S,
  rules: ReadonlyArray<Rule<S, R>>,
): Effect.fn.Return<S, never, R> {
  const times = new Map<Rule<S, R>, number>();
  let known = first;
  for (;;) {
    const next = rules.find((one) => (times.get(one) ?? 0) < (one.most?.(known) ?? 1) && one.applies(known));
    if (next === undefined) return known;
    times.set(next, (times.get(next) ?? 0) + 1);
    if (next.isAnew === true) for (const one of rules) if (one.isAnew !== true) times.delete(one);
    known = yield* next.ask(known);
  }
});
