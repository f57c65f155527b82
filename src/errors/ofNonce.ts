/** What the failures of the nonce protocol have in common. */
import type * as Cause from "effect/Cause";
import * as Schema from "effect/Schema";
import type { Statement } from "../primitives/statement.js";
import { derived, type Stated } from "./stated.js";

/** What every failure of the nonce protocol has beside its fields. */
export interface OfNonce extends Stated {
  /** Whether a transaction may have been, or may yet be, broadcast under the nonce. */
  readonly mayBeSent: boolean;
}

/** A failure after which nothing is sent. */
export const unsent =
  <Self>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields,
    statement: (error: Schema.TaggedStruct<Tag, Fields>["Type"]) => Statement,
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError & OfNonce> =>
    derived<Self, OfNonce>()<Tag, Fields>(tag, fields, { mayBeSent: () => false, statement });

/** `chainId:address:key`. */
export const lane = Schema.String;
