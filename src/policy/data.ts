/** Policies as they are written down: JSON with a `policy` field, checked strictly. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { Address } from "../primitives/hex.js";

// A file made by hand may hold small amounts as numbers; anything above 2^53 must be a decimal string.
const amount = Schema.Union([
  Schema.String.pipe(Schema.check(Schema.isPattern(/^(?:0|[1-9][0-9]{0,77})$/))),
  Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))),
]);
const token = Schema.Union([Schema.Literal("native"), Address]);

const named = <Name extends string>(name: Name) => Schema.Struct({ policy: Schema.Literal(name) });

/** One policy, written down; `all` and `any` hold others. */
const PolicyData = Schema.Union([
  Schema.Struct({
    policy: Schema.Literals(["maxSpent", "minReceived"]),
    token,
    amount,
    account: Schema.optionalKey(Address),
  }),
  named("noNewApprovals"),
  named("noUnlimitedApprovals"),
  named("denyDelegated"),
  Schema.Struct({ policy: Schema.Literal("onlyTouches"), addresses: Schema.Array(Address) }),
  Schema.Struct({ policy: Schema.Literal("maxFee"), wei: amount }),
  Schema.Struct({ policy: Schema.Literal("maxGas"), gas: amount }),
  Schema.Struct({ policy: Schema.Literals(["all", "any"]), policies: Schema.Array(Schema.Unknown) }),
]);
export type PolicyData = typeof PolicyData.Type;

const decode = Schema.decodeUnknownResult(PolicyData, { onExcessProperty: "error" });

/** Reads one policy's data, not what it holds; null for anything else. */
export const readData = (data: unknown): PolicyData | null => Result.getOrElse(decode(data), () => null);
