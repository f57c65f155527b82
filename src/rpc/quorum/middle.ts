/** Which of several answers nobody else could have moved: the same of enough providers, else the nearest to the middle; of forks, the earliest that enough tell of. Pure. */
import * as Result from "effect/Result";
import { forksIn } from "../../primitives/names.js";
import { isRecord } from "../../primitives/record.js";
import { environmentIn, simulationParts } from "./simulated.js";
import type { Answer } from "./verdict.js";

/** An answer, and who runs the endpoint that gave it. */
export interface Vote {
  readonly provider: string;
  readonly answer: Answer;
}

/** Failures of an endpoint, not of the question: another may answer it. */
const passing = new Set(["Transport", "Timeout", "UpstreamUnavailable", "RateLimited", "Unauthorized", "NodeSyncing"]);

const plain = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part)) ?? "undefined";

/** What kind of answer it is: a result, a verdict or a refusal by its tag; null = none, the endpoint failed. */
export const kindOf = (answer: Answer): string | null => {
  if (Result.isSuccess(answer)) return "result";
  const { failure } = answer;
  if (failure._tag !== "RpcError") return failure._tag;
  return passing.has(failure.reason._tag) ? null : `RpcError ${failure.reason._tag}`;
};

/** The whole answer as one text; of refusals, which each node words in its own way, the kind alone. Null = no answer. */
export const textOf = (answer: Answer): string | null => {
  const kind = kindOf(answer);
  if (kind === null || (Result.isFailure(answer) && answer.failure._tag === "RpcError")) return kind;
  return `${kind} ${plain(Result.isSuccess(answer) ? answer.success : { ...answer.failure })}`;
};

/** How many run those endpoints. */
export const providersOf = (votes: ReadonlyArray<{ readonly provider: string }>): number =>
  new Set(votes.map(({ provider }) => provider)).size;

/** Those of at least `agree` providers who answer alike by `nameOf`; null where there are none, or two such groups. */
export const sharedBy = <V extends Vote>(
  votes: ReadonlyArray<V>,
  agree: number,
  nameOf: (answer: Answer) => string | null,
): ReadonlyArray<V> | null => {
  const groups = new Map<string, ReadonlyArray<V>>();
  for (const vote of votes) {
    const name = nameOf(vote.answer);
    if (name !== null) groups.set(name, [...(groups.get(name) ?? []), vote]);
  }
  const shared = [...groups.values()].filter((group) => providersOf(group) >= agree);
  return shared.length === 1 ? (shared[0] ?? null) : null;
};

/** The greatest number that more than `others` providers reach, so that these alone cannot have raised it; null = none. */
export const reachedBy = <N extends number | bigint>(
  claims: ReadonlyArray<readonly [provider: string, value: N]>,
  others: number,
): N | null => {
  const providers = new Set<string>();
  for (const [provider, value] of claims.toSorted(([, a], [, b]) => (a > b ? -1 : a < b ? 1 : 0))) {
    providers.add(provider);
    if (providers.size > others) return value;
  }
  return null;
};

/** A part of an answer: a quantity as its number, else its text. */
type Leaves = ReadonlyMap<string, number | string>;

/** More digits are no quantity that nodes choose, but a hash, an address or data. */
const quantity = /^0x[0-9a-fA-F]{1,32}$/;
const opaque = /^0x[0-9a-fA-F]*$/;

const mostLeaves = 20_000;

const leavesOf = (params: ReadonlyArray<unknown>, answer: Answer): Leaves => {
  const leaves = new Map<string, number | string>();
  // why: what was reverted with is the reason; a result's own data was compared, or is each node's
  const isFailed = Result.isFailure(answer);
  const add = (path: string, value: unknown): void => {
    if (leaves.size >= mostLeaves) return;
    if (Array.isArray(value)) value.forEach((part: unknown, index) => add(`${path}.${index}`, part));
    else if (isRecord(value)) for (const [name, part] of Object.entries(value)) add(`${path}.${name}`, part);
    else if (typeof value === "bigint" || typeof value === "number") leaves.set(path, Number(value));
    else if (typeof value === "string" && quantity.test(value)) leaves.set(path, Number(value));
    else if (typeof value === "string" && (isFailed || !opaque.test(value))) leaves.set(path, value);
  };
  add("", Result.isSuccess(answer) ? answer.success : { ...answer.failure });
  if (Result.isFailure(answer)) return leaves;
  add("witness", environmentIn(params, answer.success));
  // why: one block further most of what a simulation says is the same, so that who says otherwise stands alone
  for (const [path, text] of simulationParts(params, answer.success, { isOpen: true, isMoved: true })) {
    if (leaves.size >= mostLeaves) break;
    leaves.set(`said ${path}`, text);
  }
  return leaves;
};

/** How far a part is from the middle, in blocks: by how much honest nodes differ from one block to the next. */
const distance = (path: string, value: number, middle: number): number => {
  if (/(number|block)$/i.test(path)) return Math.abs(value - middle);
  if (/\.time(stamp)?$/.test(path)) return Math.abs(value - middle) / 12;
  return 8 * Math.abs(Math.log1p(Math.max(value, 0)) - Math.log1p(Math.max(middle, 0)));
};

/**
 * The answers, the nearest to the middle of all first: each quantity beside the median, each word beside what most say.
 * Where fewer than half lie, none stands nearer than an honest one that lies by more than honest ones differ.
 */
export const byMiddle = <V extends Vote>(params: ReadonlyArray<unknown>, votes: ReadonlyArray<V>): ReadonlyArray<V> => {
  const all = votes.map((vote) => ({ vote, leaves: leavesOf(params, vote.answer), far: 0 }));
  for (const path of new Set(all.flatMap(({ leaves }) => [...leaves.keys()]))) {
    const values = all.map(({ leaves }) => leaves.get(path));
    const numbers = values.filter((value) => typeof value === "number").sort((a, b) => a - b);
    const middle = numbers[(numbers.length - 1) >> 1] ?? 0;
    const isUsual = (value: unknown): boolean => values.filter((other) => other === value).length * 2 > values.length;
    const hasUsual = values.some(isUsual);
    for (const [index, one] of all.entries()) {
      const value = values[index];
      if (typeof value === "number" && numbers.length * 2 > values.length) one.far += distance(path, value, middle);
      else if (hasUsual && !isUsual(value)) one.far += 1;
    }
  }
  const name = ({ vote }: (typeof all)[number]): string => textOf(vote.answer) ?? "";
  return all
    .toSorted((a, b) => a.far - b.far || (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0))
    .map(({ vote }) => vote);
};

/**
 * One answer to `eth_config` that can be read, with the earliest fork still to come (`now` in epoch ms) that more than
 * `others` providers tell of: these alone can neither hide nor invent one. A node that was not updated knows of none, so
 * that no difference is a lie. Who does not serve the method says nothing; null where no more than `others` say anything.
 */
export const earliestFork = (votes: ReadonlyArray<Vote>, now: number, others: number): Answer | null => {
  const readable = votes.flatMap((vote) => {
    const config = Result.isSuccess(vote.answer) ? vote.answer.success : null;
    const { fork, next } = forksIn(config);
    return isRecord(config) && fork !== null ? [{ ...vote, config, next }] : [];
  });
  const [first] = byMiddle([], readable);
  if (first === undefined || providersOf(readable) <= others) return null;
  const coming = readable.flatMap(({ provider, next }) => (next === null ? [] : [[provider, next] as const]));
  const ahead = coming.filter(([, next]) => next * 1_000n > BigInt(now));
  const earliest = reachedBy(
    (ahead.length > others ? ahead : coming).map(([provider, next]) => [provider, -next] as const),
    others,
  );
  const next = readable.find((one) => one.next !== null && one.next === (earliest === null ? null : -earliest));
  return Result.succeed({ ...first.config, next: next?.config["next"] ?? null });
};
