/** Policies as they are written down: JSON with a `policy` field, checked strictly. */
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import * as SchemaIssue from "effect/SchemaIssue";
import * as Schema from "effect/Schema";
import { Address, Hex, isAddress } from "../primitives/hex.js";
import { no, type Checked } from "../primitives/problem.js";
import { isRecord } from "../primitives/record.js";
import { escapeText, quoteText } from "../primitives/text.js";

// A file made by hand may hold small amounts as numbers; anything above 2^53 must be a decimal string.
const amount = Schema.Union([
  Schema.String.check(
    Schema.isPattern(/^(?:0|[1-9][0-9]{0,77})$/, { expected: "a whole number of raw units, wei or gas, in decimal" }),
  ),
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
]);
const token = Schema.declare((value): value is "native" | Address => value === "native" || isAddress(value), {
  expected: '"native" or an address',
});
const selector = Hex.check(
  Schema.isPattern(/^0x[0-9a-fA-F]{8}$/, { expected: "the four bytes of a function, 0x and eight hex digits" }),
);
const moved = { token, amount, account: Schema.optionalKey(Address) };

/** One policy, written down, by its name; `all` and `any` hold others. */
const kinds = {
  maxSpent: Schema.Struct({ policy: Schema.Literal("maxSpent"), ...moved }),
  minReceived: Schema.Struct({ policy: Schema.Literal("minReceived"), ...moved }),
  maxExposure: Schema.Struct({ policy: Schema.Literal("maxExposure"), ...moved }),
  noNewApprovals: Schema.Struct({ policy: Schema.Literal("noNewApprovals") }),
  noUnlimitedApprovals: Schema.Struct({ policy: Schema.Literal("noUnlimitedApprovals") }),
  denyDelegated: Schema.Struct({ policy: Schema.Literal("denyDelegated") }),
  noInnerFailures: Schema.Struct({
    policy: Schema.Literal("noInnerFailures"),
    allow: Schema.optionalKey(Schema.Array(Schema.Struct({ to: Address, selector: Schema.optionalKey(selector) }))),
  }),
  onlyTouches: Schema.Struct({ policy: Schema.Literal("onlyTouches"), addresses: Schema.Array(Address) }),
  maxFee: Schema.Struct({ policy: Schema.Literal("maxFee"), wei: amount }),
  maxGas: Schema.Struct({ policy: Schema.Literal("maxGas"), gas: amount }),
  all: Schema.Struct({ policy: Schema.Literal("all"), policies: Schema.Array(Schema.Unknown) }),
  any: Schema.Struct({ policy: Schema.Literal("any"), policies: Schema.Array(Schema.Unknown) }),
};
export type PolicyData = (typeof kinds)[keyof typeof kinds]["Type"];

// why: by the one that is meant, so that its own mistake is told
const readers = Rows.map(kinds, (kind) =>
  Schema.decodeUnknownResult<Schema.Decoder<PolicyData>>(kind, { onExcessProperty: "error" }),
);
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1();
const isName = (name: unknown): name is keyof typeof kinds => typeof name === "string" && Object.hasOwn(kinds, name);

/** Reads one policy's data, not what it holds. */
export const readData = (data: unknown, field: string): Checked<PolicyData> => {
  if (!isRecord(data)) return no(field, "must be an object with a policy's name under `policy`");
  const policy = data["policy"];
  if (!isName(policy))
    return no(
      `${field}.policy`,
      `${typeof policy === "string" ? `${quoteText(policy, 60)} is no policy` : "is missing"}; there are ${Object.keys(kinds).join(", ")}`,
    );
  return Result.mapError(readers[policy](data), ({ issue }) => {
    const [{ message, path = [] } = { message: "is wrong" }] = issuesOf(issue).issues;
    const at = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${escapeText(String(part), 40)}`));
    return {
      field: `${field}${at.join("")}`,
      problem: message === "Missing key" ? "is missing" : escapeText(message, 512),
    };
  });
};
