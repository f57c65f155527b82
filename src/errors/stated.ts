/** Classes of errors that say what happened as data: each has its statement, and `message` is made of it. */
import type * as Cause from "effect/Cause";
import * as Schema from "effect/Schema";
import { statementText, type Statement } from "../primitives/statement.js";

/** What every error of ours has beside its fields. */
export interface Stated {
  /** What happened, the numbers with their units, what to do. `message` is the same in one line. */
  readonly statement: Statement;
}

/** `class A extends derived<A, Facts>()("A", fields, facts) {}`: a tagged error with getters for what its fields tell. */
export const derived =
  <Self, Facts extends Stated>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields,
    facts: { readonly [K in keyof Facts]: (error: Schema.TaggedStruct<Tag, Fields>["Type"] & Facts) => Facts[K] },
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError & Facts> => {
    const base = Schema.TaggedError<Stated>()(tag, fields);
    const getters = { ...facts, message: ({ statement }: Stated) => statementText(statement) };
    for (const [name, read] of Object.entries<(error: never) => unknown>(getters))
      Object.defineProperty(base.prototype, name, {
        configurable: true,
        get(this: never) {
          return read(this);
        },
      });
    // the getters are those of `Facts`
    return base as never;
  };

/** `class A extends stated<A>()("A", fields, (error) => say(…)) {}` */
export const stated =
  <Self>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields,
    statement: (error: Schema.TaggedStruct<Tag, Fields>["Type"]) => Statement,
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError & Stated> =>
    derived<Self, Stated>()<Tag, Fields>(tag, fields, { statement });
