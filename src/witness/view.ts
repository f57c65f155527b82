/**
 * Answers of the witness at one moment of a run, by what was asked: typed, unwrapped, and with one way of
 * not being known, `null` (not asked, no gas left, or unreadable).
 */
import type { Address, Hex } from "../primitives/hex.js";
import { decodeAnswers, type WitnessAnswer } from "./answers.js";
import type { CallQuery, Query } from "./queries.js";

/** Answers of the witness. */
export interface View {
  /** The block that is executed. */
  readonly environment: WitnessAnswer<"environment"> | null;
  /** The answer on an account; null where it did not look. */
  readonly account: (address: Address) => WitnessAnswer<"account"> | null;
  /** The answer to a STATICCALL, a failed one included. */
  readonly call: (query: CallQuery) => WitnessAnswer<"call"> | null;
}

/** The view where nobody looked. */
export const unseen: View = { environment: null, account: () => null, call: () => null };

/** True if the first of two alike tells more; one may have had less gas or room. */
const tellsMore = (answer: WitnessAnswer<"call">, other: WitnessAnswer<"call">): boolean =>
  answer.success === other.success ? answer.data.length > other.data.length : answer.success;

/** Answers by what was called. */
export const callsOf = (all: Iterable<readonly [CallQuery, WitnessAnswer<"call">]>): View["call"] => {
  const answers = new Map<string, Map<string, WitnessAnswer<"call">>>();
  for (const [query, answer] of all) {
    const [to, data] = [query.to.toLowerCase(), query.data.toLowerCase()];
    const own = answers.get(to) ?? new Map<string, WitnessAnswer<"call">>();
    const known = own.get(data);
    if (known === undefined || tellsMore(answer, known)) answers.set(to, own.set(data, answer));
  }
  return ({ to, data }) => answers.get(to.toLowerCase())?.get(data.toLowerCase()) ?? null;
};

/** The view out of what a witness call returned; null when the bytes are not its answer to these queries. */
export const viewOf = (queries: ReadonlyArray<Query>, returnData: Hex): View | null => {
  const answers = decodeAnswers(queries, returnData);
  if (answers === null) return null;
  let environment: WitnessAnswer<"environment"> | null = null;
  const accounts = new Map<string, WitnessAnswer<"account">>();
  const calls: Array<readonly [CallQuery, WitnessAnswer<"call">]> = [];
  for (const [index, query] of queries.entries()) {
    const answer = answers[index];
    if (answer?.kind === "environment") environment = answer;
    else if (answer?.kind === "account" && query.kind === "account") accounts.set(query.address.toLowerCase(), answer);
    else if (answer?.kind === "call" && query.kind === "call") calls.push([query, answer]);
  }
  return { environment, account: (address) => accounts.get(address.toLowerCase()) ?? null, call: callsOf(calls) };
};

/** Returns what the witness saw, by the result of its call; null where it did not answer. */
export const seenIn = (
  queries: ReadonlyArray<Query>,
  result: { readonly status: string; readonly returnData: Hex } | undefined,
): View | null => {
  if (queries.length === 0) return unseen;
  return result?.status === "success" ? viewOf(queries, result.returnData) : null;
};

/** True if a query was answered. */
export const knows = (view: View, query: Query): boolean => {
  if (query.kind === "environment") return view.environment !== null;
  return (query.kind === "account" ? view.account(query.address) : view.call(query)) !== null;
};

/** An address without code answers every call with nothing. */
const hasSaid = (answer: WitnessAnswer<"call"> | null): boolean =>
  answer !== null && answer.success && answer.data.length > 2;

/** Returns what `first` saw, else what `second` did; a call that said nothing there may have been answered here. */
export const either = (first: View, second: View): View => ({
  environment: first.environment ?? second.environment,
  account: (address) => first.account(address) ?? second.account(address),
  call: (query) => {
    const answer = first.call(query);
    if (hasSaid(answer)) return answer;
    const other = second.call(query);
    return answer === null || hasSaid(other) ? other : answer;
  },
});
