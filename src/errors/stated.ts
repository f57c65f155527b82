/** Classes of errors that say what happened as data: each has its statement, and `message` is made of it. */
import type * as Cause from "effect/Cause";
import * as Schema from "effect/Schema";
import { Address, nullable } from "../primitives/hex.js";
import { say, statementText, type Figure, type Statement } from "../primitives/statement.js";

/** Wei, gas, wei per gas or a count; null = the source did not say. */
export const amount = nullable(Schema.BigInt);
export const account = nullable(Address);
/** The node's answer as it came, when a node said it; null when our own rule decided. */
export const raw = nullable(Schema.Json);

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

type Kept<Tag extends string, Fields extends Schema.Struct.Fields> = Schema.TaggedStruct<Tag, Fields>["Type"];
/** What is always said, or what its fields say. */
export type Told<Error, A> = A | ((error: Error) => A);

/** What an error has to tell: always the same, or by its fields. */
export const toldBy = <Error, A extends string | object>(told: Told<Error, A>, error: Error): A =>
  typeof told === "function" ? (told as (error: Error) => A)(error) : told;

/** `class A extends stated<A>()("A", fields, sentence, (error) => figures, remedy) {}`, sentence and remedy by the fields, too. */
export const stated =
  <Self>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields,
    sentence: Told<Kept<Tag, Fields>, string>,
    figures: (error: Kept<Tag, Fields>) => ReadonlyArray<Figure | null>,
    remedy: Told<Kept<Tag, Fields>, string>,
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError & Stated> =>
    derived<Self, Stated>()<Tag, Fields>(tag, fields, {
      statement: (error) => say(toldBy(sentence, error), figures(error), toldBy(remedy, error)),
    });

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
