/** The recorded conversations of the reference client, and a server that answers from them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startNode, type Asked, type Server } from "./server.js";

export interface Exchange {
  /** `eth_call/call-revert-abi-error.io #1`. */
  readonly name: string;
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly response: {
    readonly result?: unknown;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  };
}

const root = fileURLToPath(new URL("../fixtures/execution-apis/", import.meta.url));

const exchangesOf = (name: string, text: string): ReadonlyArray<Exchange> => {
  const lines = text.split("\n");
  const requests = lines.filter((line) => line.startsWith(">> ")).map((line) => JSON.parse(line.slice(3)) as Asked);
  const responses = lines
    .filter((line) => line.startsWith("<< "))
    .map((line) => JSON.parse(line.slice(3)) as Exchange["response"]);
  if (requests.length !== responses.length || requests.length === 0) throw new Error(`${name}: not a conversation`);
  return requests.map(({ method, params }, index) => ({
    name: `${name} #${index + 1}`,
    method,
    params,
    response: responses[index] ?? {},
  }));
};

/** Every recorded exchange, in the order of the files. */
export const recorded = (): ReadonlyArray<Exchange> =>
  readdirSync(root)
    .filter((directory) => directory.startsWith("eth_"))
    .sort()
    .flatMap((directory) =>
      readdirSync(join(root, directory))
        .sort()
        .flatMap((file) => exchangesOf(`${directory}/${file}`, readFileSync(join(root, directory, file), "utf8"))),
    );

/** JSON with sorted keys: equal texts are equal values. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

/** Answers exactly the recorded requests with exactly the recorded answers, and nothing else. */
export const startReplay = (
  exchanges: ReadonlyArray<Pick<Exchange, "method" | "params" | "response">>,
): Promise<Server & { readonly asked: Array<Asked> }> => {
  const known = new Map(exchanges.map(({ method, params, response }) => [canonical([method, params]), response]));
  return startNode(({ method, params }) => {
    const response = known.get(canonical([method, params]));
    if (response === undefined) return { error: { code: -32099, message: `not recorded: ${method}` } };
    return response.error === undefined ? { result: response.result } : { error: response.error };
  });
};
