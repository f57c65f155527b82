/** An answer through its schema, once; what does not fit is `MalformedResponse` with the field's path. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type * as SchemaIssue from "effect/SchemaIssue";
import { MalformedResponse, RpcError } from "../errors/rpc.js";

/** The decoder of one method's `result`. */
export type Decoder<A> = (result: unknown) => Result.Result<A, RpcError>;

const step = (path: string, key: PropertyKey): string =>
  typeof key === "number" ? `${path}[${key}]` : `${path}.${String(key).slice(0, 128)}`;

/** The path of the first thing wrong, e.g. `result[0].calls[1].status`. */
const pathOf = (issue: SchemaIssue.Issue, root: string): string => {
  let path = root;
  let current: SchemaIssue.Issue = issue;
  for (;;) {
    switch (current._tag) {
      case "Pointer":
        path = current.path.reduce(step, path);
        current = current.issue;
        continue;
      case "Filter":
      case "Encoding":
        current = current.issue;
        continue;
      case "Composite": {
        current = current.issues[0];
        continue;
      }
      case "AnyOf": {
        const only: SchemaIssue.Issue | undefined = current.issues.find((inner) => inner._tag !== "InvalidType");
        if (only === undefined) return path;
        current = only;
        continue;
      }
      default:
        return path;
    }
  }
};

export const malformed = (method: string, path: string, detail: string = ""): RpcError =>
  new RpcError({ method, reason: new MalformedResponse({ path, detail }) });

/** Compiles the decoder of a method's `result`. */
export const decoder = <A>(method: string, schema: Schema.ConstraintDecoder<A>, root = "result"): Decoder<A> => {
  const decode = Schema.decodeUnknownResult(schema);
  return (result) => Result.mapError(decode(result), ({ issue }) => malformed(method, pathOf(issue, root)));
};
