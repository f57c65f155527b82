/** Numbers as people type them: decimal or hex, and amounts with a unit. Exact, or refused. */
import * as Result from "effect/Result";
import { isHash, escapeText } from "../primitives/index.js";
import { BlockName } from "../report/index.js";

const decimals: Readonly<Record<string, number>> = { ether: 18, eth: 18, gwei: 9, wei: 0 };

const excerpt = (value: unknown): string => escapeText(typeof value === "string" ? value : String(value), 60);

/** Says what an invalid number may have been meant to be, as the end of a complaint; empty where nobody can tell. */
const hint = (value: string): string => {
  if (/^\s*[-\u2212]/.test(value)) return "; it cannot be negative";
  const [, whole = "", digits = "", unit = ""] = /^(\d{1,78}),(\d{1,78})(\s*[a-z]*)$/i.exec(value) ?? [];
  if (digits !== "")
    return digits.length === 3
      ? `; a decimal has a point, and thousands have nothing between them: ${whole}.${digits}${unit} or ${whole}${digits}${unit}`
      : `; a decimal has a point: did you mean ${whole}.${digits}${unit}?`;
  return /^\.\d{1,78}\s*[a-z]*$/i.test(value) ? `; did you mean 0${value}?` : "";
};

/** A count without unit, such as gas or a nonce: `21000`, `"21000"`, `"0x5208"`. */
export const count = (value: unknown): Result.Result<bigint, string> => {
  if (typeof value === "bigint") return Result.succeed(value);
  if (typeof value === "number")
    return Number.isSafeInteger(value) && value >= 0
      ? Result.succeed(BigInt(value))
      : Result.fail(
          Number.isInteger(value) && value > 0
            ? "is a number too large for JSON to keep exact; write it as a string"
            : `must be a whole number from 0, got ${excerpt(value)}`,
        );
  if (typeof value !== "string") return Result.fail("must be a number or a string");
  return /^(?:\d+|0x[0-9a-fA-F]+)$/.test(value) && value.length <= 80
    ? Result.succeed(BigInt(value))
    : Result.fail(`must be a decimal or 0x number, got "${excerpt(value)}"${hint(value)}`);
};

/** Wei: a count, or an amount with a unit: `0.1ether`, `2 gwei`, `5wei`. */
export const wei = (value: unknown): Result.Result<bigint, string> => {
  if (typeof value !== "string") return count(value);
  const match = /^(\d{1,78})(?:\.(\d{1,78}))?\s*(ether|eth|gwei|wei)$/i.exec(value);
  if (match === null)
    return /^\d+\.\d+$/.test(value)
      ? Result.fail(`needs a unit: ${excerpt(value)}ether, ${excerpt(value)}gwei`)
      : Result.mapError(
          count(value),
          () =>
            `must be wei (decimal or 0x) or an amount such as 0.1ether or 2gwei, got "${excerpt(value)}"${hint(value)}`,
        );
  const [, whole = "", fraction = "", unit = "wei"] = match;
  const places = decimals[unit.toLowerCase()] ?? 0;
  if (fraction.length > places) {
    const larger = ["gwei", "ether"].filter((name) => (decimals[name] ?? 0) >= fraction.length);
    const suggestion = larger.map((name) => `${excerpt(`${whole}.${fraction}`)}${name}`).join(" or ");
    return Result.fail(
      `has more decimals than ${unit.toLowerCase()} can hold (${places})${suggestion === "" ? "" : `; did you mean ${suggestion}?`}`,
    );
  }
  return Result.succeed(BigInt(`${whole}${fraction.padEnd(places, "0")}`));
};

/**
 * Wei as a person types it: always with its unit, for a bare number may be meant in any. Zero needs none, and 0x is wei
 * wherever the chain writes it.
 */
export const amount =
  (units: ReadonlyArray<string>) =>
  (value: string): Result.Result<bigint, string> =>
    /^\d+(?:\.\d+)?$/.test(value) && !/^[0.]+$/.test(value)
      ? Result.fail(
          `needs a unit: ${units
            // why: nothing is smaller than a wei
            .filter((unit) => unit !== "wei" || !value.includes("."))
            .map((unit) => `${excerpt(value)}${unit}`)
            .join(" or ")}`,
        )
      : wei(value);

/** Returns the trimmed texts between commas. */
export const list = (value: string): ReadonlyArray<string> => value.split(",").map((part) => part.trim());

/** A safe integer, such as a nonce or a chain id. */
export const integer = (value: unknown): Result.Result<number, string> =>
  Result.flatMap(count(value), (parsed) =>
    parsed <= BigInt(Number.MAX_SAFE_INTEGER) ? Result.succeed(Number(parsed)) : Result.fail("is too large"),
  );

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** ms from `500ms`, `10s`, `1m`. */
export const duration = (value: string): Result.Result<number, string> => {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Result.fail(`needs a unit: ${excerpt(value)}s or ${excerpt(value)}ms`);
  const match = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m)$/.exec(value);
  const ms = match === null ? 0 : Number(match[1]) * (milliseconds[match[2] ?? ""] ?? 1);
  return ms > 0
    ? Result.succeed(ms)
    : Result.fail(`must be a time above 0 such as 500ms, 10s or 1m, got "${excerpt(value)}"${hint(value)}`);
};

const tags = BlockName.members[0].literals;

/** `latest`, `123`, `0x7b`, or a block hash. */
export const block = (value: string): Result.Result<typeof BlockName.Type, string> => {
  const tag = tags.find((name) => name === value);
  if (tag !== undefined) return Result.succeed(tag);
  if (isHash(value)) return Result.succeed(value);
  return Result.mapError(
    count(value),
    () => `must be ${tags.join(", ")}, a number or a block hash, got "${excerpt(value)}"${hint(value)}`,
  );
};
