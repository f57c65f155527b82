/** A lane of nonces: one sequence of one account on one chain. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { type Address, isHash, isRecord, safely } from "../primitives/index.js";
import { InvalidLane } from "../errors/index.js";
import type { Counts } from "./laneRules.js";

/** One sequence of nonces. `key` 0, or left out, is the account's own nonce. */
export interface Lane {
  /** The chain. */
  readonly chainId: number;
  /** Checksummed or not; the same account either way. */
  readonly address: Address | `0x${string}`;
  /** The key of a two-dimensional nonce (ERC-4337, EIP-8130), below 2^192. Its counts have to be given by the caller. */
  readonly key?: bigint;
}

/** A checked lane. `id` = `chainId:address:key`, the address in lower case: the same for every replica. */
export interface LaneId {
  /** `chainId:address:key`, the address in lower case. */
  readonly id: string;
  /** The chain. */
  readonly chainId: number;
  /** The account that signs, lower-case. */
  readonly address: Address;
  /** The key of a two-dimensional nonce; 0 = the account's own nonce. */
  readonly key: bigint;
}

const invalid = (field: string, problem: string) => Result.fail(new InvalidLane({ field, problem }));

const isTime = (ms: unknown): boolean => typeof ms === "number" && Number.isFinite(ms) && ms >= 0;
const aTime = [isTime, "must be a finite number of ms, 0 or more"] as const;

/** A day, ms. */
const longestWait = 86_400_000;

const isSync = (sync: unknown): boolean => {
  if (typeof sync === "boolean") return true;
  if (!isRecord(sync) || Object.keys(sync).some((name) => name !== "timeout")) return false;
  const timeout = sync["timeout"] ?? 1;
  return Number.isSafeInteger(timeout) && Number(timeout) > 0 && Number(timeout) <= longestWait;
};

const isFunction = (value: unknown): boolean => typeof value === "function";
const isCount = (count: unknown): boolean => typeof count === "bigint" && count >= 0n;

/** True if these are the counts of an account. */
export const areCounts = (counts: unknown): counts is Counts =>
  isRecord(counts) && isCount(counts["latest"]) && isCount(counts["pending"]);

/** Options that callers give beside a lane, and what each of them has to be. */
const beside = {
  settleMs: aTime,
  waitMs: aTime,
  ttl: aTime,
  everyMs: [(ms) => isTime(ms) && ms !== 0, "must be a finite number of ms above 0"],
  width: [(width) => width === 1 || width === 2, "is 1 or 2"],
  delegated: [(it) => typeof it === "boolean", "must be true or false"],
  sign: [isFunction, "must be a function"],
  send: [isFunction, "must be a function"],
  sync: [isSync, "must be true, false or { timeout }, a whole number of ms from 1 to a day"],
  counts: [areCounts, "must be { latest, pending }, bigints from 0 on"],
  /** `counts`, where a call reads them again and again. */
  countsBy: [isFunction, "must be a function that gives { latest, pending }"],
  nonce: [isCount, "must be a bigint from 0 on"],
  replaces: [isHash, "must be a hash of 32 bytes"],
} satisfies Readonly<Record<string, readonly [fits: (value: unknown) => boolean, problem: string]>>;

/** The options that a call takes beside its lane, by the rows that judge them. */
export type Takes = ReadonlyArray<keyof typeof beside>;

/** Options that can be right: nothing is null. */
export type Given<O> = { readonly [K in keyof O]?: NonNullable<O[K]> };

/** The options that a call takes, read once and judged; what is null is absent, and others are not looked at. */
export const besideLane = <O extends object>(
  options: O | null | undefined,
  takes: Takes,
): Result.Result<Given<O>, InvalidLane> =>
  safely(
    () => {
      const all: unknown = options ?? {};
      if (!isRecord(all)) return invalid("options", "must be an object");
      const given: Record<string, unknown> = {};
      for (const row of takes) {
        const name = row === "countsBy" ? "counts" : row;
        const value = all[name];
        if (value === undefined || value === null) continue;
        const [fits, problem] = beside[row];
        if (!fits(value)) return invalid(name, problem);
        given[name] = value;
      }
      return Result.succeed(given as Given<O>);
    },
    invalid("options", "cannot be read"),
  );

/**
 * Runs what a function of the caller's gives, asked for whenever this runs; a promise, or nothing, is a defect: the
 * runtime would drop the fiber, and run no finaliser.
 */
export const askedBy = <A, E, R>(ask: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const given = ask();
    return Effect.isEffect(given)
      ? given
      : Effect.die(new TypeError("a function that has to give an Effect gave none"));
  });

/** The counts that a function of the caller's gives, asked for whenever this runs and looked at. */
export const countsBy = <E, R>(counts: (lane: LaneId) => Effect.Effect<Counts, E, R>, lane: LaneId) =>
  Effect.filterOrFail(
    askedBy(() => counts(lane)),
    areCounts,
    () => new InvalidLane({ field: "counts", problem: "must give { latest, pending }, bigints from 0 on" }),
  );

/** Names that other libraries have for it. */
const elsewhere = ["from", "account", "sender"] as const;
const missing = (lane: object) => {
  const alias = elsewhere.find((name) => name in lane);
  return invalid("address", alias === undefined ? "is missing" : `is missing; say address for ${alias}`);
};

/** Checks a lane and brings it into the one form that all replicas agree on. */
export const laneOf = (lane: Lane): Result.Result<LaneId, InvalidLane> =>
  safely(() => read(lane), invalid("lane", "cannot be read"));

const read = (lane: Lane): Result.Result<LaneId, InvalidLane> => {
  if (typeof lane !== "object" || lane === null)
    return invalid("chainId", "is missing: a lane is { chainId, address }");
  const { chainId, address, key = 0n } = lane;
  if (chainId === undefined || chainId === null) return invalid("chainId", "is missing");
  if (!Number.isSafeInteger(chainId) || chainId <= 0) return invalid("chainId", "a chain id is a positive integer");
  if (address === undefined || address === null) return missing(lane);
  if (typeof address !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(address))
    return invalid("address", "an address has 20 bytes of hex");
  if (typeof key !== "bigint" || key < 0n || key >= 1n << 192n)
    return invalid("key", "a nonce key has at most 192 bits");
  const lower = address.toLowerCase() as Address;
  return Result.succeed({ id: `${chainId}:${lower}:${key}`, chainId, address: lower, key });
};
