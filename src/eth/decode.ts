/** An answer through its shape, once; what does not fit is `MalformedResponse` with the field's path. */
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import type * as SchemaIssue from "effect/SchemaIssue";
import { MalformedResponse, RpcError } from "../errors/rpc.js";
import type { Shape } from "./shape.js";

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

/** The decoder of a method's `result`: the schema judges what the plain reading does not take. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(
  method: string,
  { schema, read }: Shape<S>,
  root = "result",
): Decoder<S["Type"]> => {
  const judge = Schema.decodeUnknownResult(schema);
  return (result) => {
    const answer = read(result);
    return answer === undefined
      ? Result.mapError(judge(result), ({ issue }) => malformed(method, pathOf(issue, root)))
      : Result.succeed(answer);
  };
};
