/**
 * The report as JSON and back. Bigints are decimal strings; decoded ABI values are not stored but
 * read again from their bytes and ABI item, so `fromJson` of `toJson` is the same report.
 */
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import * as SchemaIssue from "effect/SchemaIssue";
import { ReportVersion } from "../errors/input.js";
import { plainJson, withJson } from "../primitives/json.js";
import type { RunName } from "../primitives/names.js";
import { isRecord } from "../primitives/record.js";
import { inOwnCurrency } from "./chain.js";
import { oldestVersion, Report, reportVersion } from "./schema.js";

const codec = Schema.toCodecJson(Report);
const decode = Schema.decodeUnknownEffect(codec);

/** Deeper than any report (ABI tuples included), far from the end of the stack. */
const maxDepth = 256;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const children = (value: object): ReadonlyArray<unknown> => Object.values(value);

/** True if arrays and objects nest at most `maxDepth` deep; level by level, so that it cannot overflow itself. */
const isShallow = (json: unknown): boolean => {
  let level: ReadonlyArray<object> = [json].filter(isObject);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return false;
    level = [...new Set(level.flatMap((one) => children(one).filter(isObject)))];
  }
  return true;
};

/**
 * The report as plain JSON, bigints as decimal strings. `JSON.stringify(report)` writes the same fields of a report as it came;
 * a copy made by spread or `structuredClone` needs this function.
 */
export const toJson = (report: Report): Schema.Json => plainJson(report) as Schema.Json;

/** The `version` that the JSON names, where it names one. */
const versionIn = (json: unknown): number | null => {
  const version = isObject(json) && "version" in json ? json.version : null;
  return Number.isSafeInteger(version) ? (version as number) : null;
};

/** The names of runs in reports of version 4, and their names now. */
const renamed: Readonly<Record<string, RunName>> = {
  ...{ bare: "ample", alone: "readerOnly", swap: "exactOnLatest" },
  ...{ priced: "atNextFee", order: "reordered", apart: "oneBlockEach" },
};

/** `part`, the runs in its list `name` by their names now. */
const withRuns = (part: unknown, name: string): unknown => {
  if (!isRecord(part) || !Array.isArray(part[name])) return part;
  const rows = part[name].map((row: unknown) => {
    const run = isRecord(row) ? row["run"] : null;
    return typeof run === "string" && Object.hasOwn(renamed, run) ? { ...(row as object), run: renamed[run] } : row;
  });
  return { ...part, [name]: rows };
};

/**
 * The JSON of a report of version 4 in the shape of version 5; fields that came later have their defaults on decoding.
 * Pure. Its `version` stays 4, so that it is not taken for one of ours, and so does its digest.
 */
export const upgrade = (json: unknown): unknown =>
  isRecord(json)
    ? { ...json, observed: withRuns(json["observed"], "worlds"), ledger: withRuns(json["ledger"], "requests") }
    : json;

/**
 * A report from its JSON, checked field by field. One of version 4 keeps its `version`: it can be shown, compared, settled
 * and proven again, but `ready` refuses it.
 *
 * Fails with `ReportVersion` when the report is older or newer; that is checked first. Fails with `SchemaError`,
 * which names the field, when anything is missing, mistyped or nested too deep. What the
 * report claims is not believed: `ready` computes verdict, digest and age again.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Preflight, Report, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.preflight({
 *   from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
 *   to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
 *   value: 1n,
 * }).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * const stored = JSON.stringify(Report.toJson(report));
 * const read = await Effect.runPromise(Report.fromJson(JSON.parse(stored)));
 * console.log(read.digest === report.digest); // true
 * ```
 */
export const fromJson = Effect.fn("Report.fromJson")(function* (
  json: unknown,
): Effect.fn.Return<Report, Schema.SchemaError | ReportVersion> {
  const found = versionIn(json);
  if (found !== null && (found < oldestVersion || found > reportVersion))
    return yield* new ReportVersion({ found, supported: reportVersion });
  if (!isShallow(json))
    return yield* Effect.fail(
      new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: `nested deeper than ${maxDepth} levels` })),
    );
  return withJson(inOwnCurrency(yield* decode(found === oldestVersion ? upgrade(json) : json)));
});
