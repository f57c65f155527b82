/** What a lying endpoint may say, one lie each; and endpoints that are honest, but not at one height. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { numberToHex, type Hex } from "viem";
import * as Rpc from "../../src/Rpc.js";
import { BlockNotFound, MethodNotSupported, RpcError } from "../../src/errors/rpc.js";
import { layerOf, nobody } from "../preflight/scene.js";

type Fields = Readonly<Record<string, unknown>>;

/** What an answer is replaced by; the node's own where it is returned as it is. */
export interface Lie {
  readonly method: string;
  readonly tell: (result: unknown, params: ReadonlyArray<unknown>) => unknown;
}

/** Changes the calls of a simulation: those of the user, or those of the witness. */
const calls =
  (who: "user" | "witness", change: (call: Fields) => Fields): Lie["tell"] =>
  (result, [asked]) => {
    const entries = (asked as { readonly blockStateCalls: ReadonlyArray<Fields> }).blockStateCalls;
    const injected = new Set(
      entries.flatMap(({ stateOverrides = {} }) =>
        Object.entries(stateOverrides as Readonly<Record<string, Fields>>).flatMap(([address, { code }]) =>
          typeof code === "string" && code.length > 500 ? [address.toLowerCase()] : [],
        ),
      ),
    );
    const targets = entries
      .flatMap(({ calls: some = [] }) => some as ReadonlyArray<Fields>)
      .map(({ to }) => String(to));
    let index = 0;
    return (result as ReadonlyArray<Fields>).map((block) => ({
      ...block,
      calls: (block["calls"] as ReadonlyArray<Fields>).map((call) => {
        const isWitness = injected.has((targets[index++] ?? "").toLowerCase());
        return isWitness === (who === "witness") ? change(call) : call;
      }),
    }));
  };

const simulated = (who: "user" | "witness", change: (call: Fields) => Fields): Lie => ({
  method: "eth_simulateV1",
  tell: calls(who, change),
});

const more = (value: unknown, by: bigint) => numberToHex(BigInt(String(value)) + by);
const logsOf = (call: Fields) => call["logs"] as ReadonlyArray<Fields>;
const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const padded = (address: string): string => address.slice(2).toLowerCase().padStart(64, "0");

/** Another word in the place of one that the witness read. */
const reading = (from: string, to: string): Lie =>
  simulated("witness", (call) => ({ ...call, returnData: String(call["returnData"]).replaceAll(from, to) }));

const answered = (method: string, tell: Lie["tell"]): Lie => ({ method, tell });
const header = (change: (block: Fields) => Fields): Lie =>
  answered("eth_getBlockByNumber", (block) => change(block as Fields));

export interface Facts {
  readonly owner: Hex;
  readonly other: Hex;
  readonly token: Hex;
  readonly spender: Hex;
  /** Raw units that the owner holds before. */
  readonly held: bigint;
  readonly codeHash: Hex;
}

/** By name; of a transfer of the token, and of an approval of everything. */
export const liesAbout = ({ other, token, held, codeHash, owner }: Facts): Readonly<Record<string, Lie>> => ({
  "the call fails": simulated("user", (call) => ({
    ...{ ...call, status: "0x0", logs: [], returnData: "0x" },
    error: { code: 3, message: "execution reverted" },
  })),
  "it takes more gas": simulated("user", (call) => ({ ...call, gasUsed: more(call["gasUsed"], 999n) })),
  "it takes less gas": simulated("user", (call) => ({ ...call, gasUsed: more(call["gasUsed"], -999n) })),
  "no log": simulated("user", (call) => ({ ...call, logs: [] })),
  "a log twice": simulated("user", (call) => ({ ...call, logs: [...logsOf(call), ...logsOf(call)] })),
  "another amount in the log": simulated("user", (call) => ({
    ...call,
    logs: logsOf(call).map((log) => ({ ...log, data: `0x${word(1n)}` })),
  })),
  "another receiver in the log": simulated("user", (call) => ({
    ...call,
    logs: logsOf(call).map((log) => ({
      ...log,
      topics: (log["topics"] as ReadonlyArray<string>).map((topic) =>
        topic.endsWith(other.slice(2).toLowerCase()) ? `0x${padded(nobody)}` : topic,
      ),
    })),
  })),
  "another contract in the log": simulated("user", (call) => ({
    ...call,
    logs: logsOf(call).map((log) => ({ ...log, address: nobody })),
  })),
  "another return value": simulated("user", (call) => ({ ...call, returnData: `0x${word(0n)}` })),
  "ten times the balance of the token": reading(word(held), word(held * 10n)),
  "what is left of it, too": reading(word(held - 5n), word(held - 1n)),
  "no code at the token": reading(codeHash.slice(2).toLowerCase(), word(0n)),
  "an allowance that is hidden": reading("f".repeat(64), word(0n)),
  "a witness that saw nothing": simulated("witness", (call) => ({ ...call, returnData: "0x" })),
  "a witness that fails": simulated("witness", (call) => ({ ...call, status: "0x0", error: { code: 3, message: "" } })),
  "nothing at all was run": answered("eth_simulateV1", () => []),
  "code for the sender": answered("eth_getCode", (code, [address]) =>
    String(address).toLowerCase() === owner.toLowerCase() ? "0x6001" : code,
  ),
  "no code at all": answered("eth_getCode", () => "0x"),
  "code of another kind": answered("eth_getCode", (code, [address]) =>
    String(address).toLowerCase() === token ? `${String(code)}00` : code,
  ),
  "a nonce too high": answered("eth_getTransactionCount", (count) => more(count, 1n)),
  "a nonce too high where it is mined": answered("eth_getTransactionCount", (count, [, block]) =>
    block === "latest" ? more(count, 1n) : count,
  ),
  "a transaction in flight": answered("eth_getTransactionCount", (count, [, block]) =>
    block === "pending" ? more(count, 1n) : count,
  ),
  "another chain id": answered("eth_chainId", () => "0x7"),
  "a header with another base fee": header((block) => ({ ...block, baseFeePerGas: more(block["baseFeePerGas"], 8n) })),
  "a header with another time": header((block) => ({ ...block, timestamp: more(block["timestamp"], 1n) })),
  "a header with another gas limit": header((block) => ({ ...block, gasLimit: more(block["gasLimit"], -7n) })),
  "a header with another hash": header((block) => ({ ...block, hash: `0x${"ab".repeat(32)}` })),
  "a head that is not there yet": header((block) => ({ ...block, number: more(block["number"], 90n) })),
});

/** Lies in this run only; null = in every answer. `told` counts the answers that were changed. */
export const liar = (
  url: string,
  { method, tell }: Lie,
  run: Rpc.Run["run"],
  told: { count: number },
): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) => ({
      ...node,
      request: (asked: string, params: ReadonlyArray<unknown>) =>
        Effect.flatMap(Effect.service(Rpc.CurrentRun), (current) => {
          const answer = node.request(asked, params);
          const isLied = asked === method && (run == null || current.run === run);
          if (!isLied) return answer;
          return Effect.map(answer, (result) => {
            const lie = tell(result, params);
            if (JSON.stringify(lie) !== JSON.stringify(result)) told.count++;
            return lie;
          });
        }),
    })),
  ).pipe(Layer.provide(layerOf(url)));

const heightOf = (url: string) =>
  Effect.promise(async () => {
    const { rawRequest } = await import("./anvil.js");
    return BigInt((await rawRequest(url, "eth_blockNumber")) as Hex);
  });

const isTag = (block: unknown) => block === "latest" || block === "pending";

/**
 * The node as it was some blocks ago: its tags are older blocks, and it knows of none that is newer. Where it is not
 * `blind`, it serves newer ones by their hash all the same, as one behind a balancer does.
 */
export const lagging = (url: string, behind: bigint, blind = true): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) => {
      const request = (method: string, params: ReadonlyArray<unknown>) =>
        Effect.gen(function* () {
          const height = (yield* heightOf(url)) - behind;
          const asOf = numberToHex(height);
          const named = params.find(
            (one): one is { readonly blockHash: Hex } => typeof one === "object" && one !== null && "blockHash" in one,
          );
          if (named !== undefined && blind) {
            const block = (yield* node.request("eth_getBlockByHash", [named.blockHash, false])) as Fields | null;
            if (block === null || BigInt(String(block["number"])) > height)
              return yield* new RpcError({ method, reason: new BlockNotFound({ detail: "header not found" }) });
          }
          if (method === "eth_blockNumber") return asOf;
          return yield* node.request(
            method,
            params.map((one) => (isTag(one) ? asOf : one)),
          );
        });
      return { ...node, request };
    }),
  ).pipe(Layer.provide(layerOf(url)));

/** Answers no simulation; every other request as the node does. */
export const unable = (url: string): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) => ({
      ...node,
      request: (method: string, params: ReadonlyArray<unknown>) =>
        method === "eth_simulateV1"
          ? Effect.fail(new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }))
          : node.request(method, params),
    })),
  ).pipe(Layer.provide(layerOf(url)));

/** Never answers. */
export const silent = (url: string): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) => ({ ...node, request: () => Effect.never })),
  ).pipe(Layer.provide(layerOf(url)));
