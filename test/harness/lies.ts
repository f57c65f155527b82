/** What a lying endpoint may say, one lie each; and endpoints that are honest, but not at one height. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { numberToHex, type Hex } from "viem";
import * as Rpc from "../../src/Rpc.js";
import {
  BlockNotFound,
  ExecutionReverted,
  InsufficientFunds,
  MethodNotSupported,
  RateLimited,
  RpcError,
  type Verdict,
} from "../rooms/errors.js";
import { layerOf, nobody } from "../preflight/scene.js";
import { rawRequest } from "./anvil.js";
import { CurrentRun, type RunContext } from "../rooms/rpc.js";

export type Fields = Readonly<Record<string, unknown>>;

/** What an answer is replaced by; the node's own where it is returned as it is, a failure where it is an error. */
export interface Lie {
  readonly method: string | ReadonlyArray<string>;
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

export const more = (value: unknown, by: bigint) => {
  const sum = BigInt(String(value)) + by;
  return numberToHex(sum > 0n ? sum : 0n);
};
const logsOf = (call: Fields) => call["logs"] as ReadonlyArray<Fields>;
const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const padded = (address: string): string => address.slice(2).toLowerCase().padStart(64, "0");

/** Each log of the user's calls changed. */
const logged = (change: (log: Fields) => Fields): Lie =>
  simulated("user", (call) => ({ ...call, logs: logsOf(call).map(change) }));

/** Another word in the place of one that the witness read. */
const reading = (from: string, to: string): Lie =>
  simulated("witness", (call) => ({ ...call, returnData: String(call["returnData"]).replaceAll(from, to) }));

const answered = (method: Lie["method"], tell: Lie["tell"]): Lie => ({ method, tell });
const told =
  (change: (block: Fields) => Fields): Lie["tell"] =>
  (block) =>
    block === null ? null : change(block as Fields);

/** Of a block that is asked for by its number or tag; and of one that is asked for by its hash, too. */
const header = (about: string, change: (block: Fields) => Fields): Readonly<Record<string, Lie>> => ({
  [`a header with ${about}`]: answered("eth_getBlockByNumber", told(change)),
  [`a header with ${about}, by its hash too`]: answered(["eth_getBlockByNumber", "eth_getBlockByHash"], told(change)),
});

export interface Facts {
  readonly owner: Hex;
  readonly other: Hex;
  readonly token: Hex;
  readonly spender: Hex;
  /** Raw units that the owner holds before. */
  readonly held: bigint;
  readonly codeHash: Hex;
  readonly chainId: number;
}

/** Of nobody, for the names of the lies alone. */
export const noFacts: Facts = {
  ...{ owner: "0x", other: "0x", token: "0x", spender: "0x", codeHash: "0x" },
  ...{ held: 0n, chainId: 1 },
};

/** By name; of a transfer of the token, and of an approval of everything. */
export const liesAbout = ({ other, token, held, codeHash, owner, chainId }: Facts): Readonly<Record<string, Lie>> => ({
  "the call fails": simulated("user", (call) => ({
    ...{ ...call, status: "0x0", logs: [], returnData: "0x" },
    error: { code: 3, message: "execution reverted" },
  })),
  "it takes more gas": simulated("user", (call) => ({ ...call, gasUsed: more(call["gasUsed"], 999n) })),
  "it takes less gas": simulated("user", (call) => ({ ...call, gasUsed: more(call["gasUsed"], -999n) })),
  "no log": simulated("user", (call) => ({ ...call, logs: [] })),
  "a log twice": simulated("user", (call) => ({ ...call, logs: [...logsOf(call), ...logsOf(call)] })),
  "another amount in the log": logged((log) => ({ ...log, data: `0x${word(1n)}` })),
  "another receiver in the log": logged((log) => ({
    ...log,
    topics: (log["topics"] as ReadonlyArray<string>).map((topic) =>
      topic.endsWith(other.slice(2).toLowerCase()) ? `0x${padded(nobody)}` : topic,
    ),
  })),
  "another contract in the log": logged((log) => ({ ...log, address: nobody })),
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
  "another chain id in what is run": reading(word(BigInt(chainId)), word(7n)),
  ...header("another base fee", (block) => ({ ...block, baseFeePerGas: more(block["baseFeePerGas"], 8n) })),
  ...header("hardly a base fee", (block) => ({ ...block, baseFeePerGas: "0x1" })),
  ...header("another time", (block) => ({ ...block, timestamp: more(block["timestamp"], 1n) })),
  ...header("another gas limit", (block) => ({ ...block, gasLimit: more(block["gasLimit"], -7n) })),
  ...header("more gas used", (block) => ({ ...block, gasUsed: more(block["gasUsed"], 21_000n) })),
  ...header("another producer", (block) => ({ ...block, miner: nobody })),
  ...header("the rules of a later fork", (block) => ({ ...block, blockAccessListHash: `0x${"cd".repeat(32)}` })),
  ...header("another parent", (block) => ({ ...block, parentHash: `0x${"ab".repeat(32)}` })),
  ...header("another hash", (block) => ({ ...block, hash: `0x${"ab".repeat(32)}` })),
  ...header("a number that is not there yet", (block) => ({ ...block, number: more(block["number"], 90n) })),
  ...header("the next number", (block) => ({ ...block, number: more(block["number"], 1n) })),
  "a head that is older": answered("eth_getBlockByNumber", (block) => ({
    ...(block as Fields),
    number: more((block as Fields)["number"], -1n),
  })),
});

/** The head as a block of the liar's own on top of it, at half the base fee. */
export const inventedHead: Lie = answered("eth_getBlockByNumber", (block, [tag]) => {
  const { number, hash, baseFeePerGas } = block as Fields;
  const half = numberToHex(BigInt(String(baseFeePerGas)) / 2n);
  const own = { number: more(number, 1n), parentHash: hash, hash: `0x${"ef".repeat(32)}`, baseFeePerGas: half };
  return tag === "latest" ? { ...(block as Fields), ...own } : block;
});

const history = (change: (history: Fields) => Fields): Lie =>
  answered("eth_feeHistory", (told) => change(told as Fields));
const list = (value: unknown): ReadonlyArray<unknown> => value as ReadonlyArray<unknown>;

/** What one endpoint alone is asked: by name, and each harmless, for others are asked what it is good for. */
export const liesAlone: Readonly<Record<string, Lie>> = {
  "hardly any gas is enough": answered("eth_estimateGas", () => "0x5208"),
  "half the gas is enough": answered("eth_estimateGas", (gas) => `0x${(BigInt(String(gas)) / 2n).toString(16)}`),
  "no gas is enough": answered("eth_estimateGas", () => "0x0"),
  "it takes ten times the gas": answered("eth_estimateGas", (gas) => `0x${(BigInt(String(gas)) * 10n).toString(16)}`),
  "nobody pays anything": history((all) => ({
    ...all,
    baseFeePerGas: list(all["baseFeePerGas"]).map(() => "0x0"),
    reward: list(all["gasUsedRatio"]).map(() => ["0x0", "0x0", "0x0"]),
  })),
  "everybody tips a fortune": history((all) => ({
    ...all,
    gasUsedRatio: list(all["gasUsedRatio"]).map(() => 0.5),
    reward: list(all["gasUsedRatio"]).map(() => Array.from({ length: 3 }, () => "0x5d21dba000")),
  })),
  "the base fee is a fortune": history((all) => ({
    ...all,
    baseFeePerGas: list(all["baseFeePerGas"]).map(() => "0x2540be40000"),
  })),
  "a receipt tips a fortune": answered("eth_getBlockReceipts", (receipts) =>
    list(receipts).map((one) => ({ ...(one as Fields), effectiveGasPrice: "0x5d21dba000" })),
  ),
  "nothing is touched": answered("eth_createAccessList", () => ({ accessList: [], gasUsed: "0x5208" })),
  "the rules are others": answered("eth_config", (config) => ({
    ...(config as Fields),
    current: { precompiles: {}, systemContracts: {} },
    next: null,
  })),
};

/** All that a quorum asks of its members. */
const methods = [
  ...["eth_chainId", "eth_getBlockByNumber", "eth_getBlockByHash", "eth_simulateV1", "eth_estimateGas", "eth_getCode"],
  ...["eth_feeHistory", "eth_getBlockReceipts", "eth_getTransactionCount", "eth_getBalance", "eth_call", "eth_config"],
];

const failing =
  (failure: RpcError | Verdict): Lie["tell"] =>
  () =>
    failure;

/** What any question may be answered with. */
const junk: Readonly<Record<string, Lie["tell"]>> = {
  nothing: () => null,
  "an empty list": () => [],
  "an empty record": () => ({}),
  "no bytes": () => "0x",
  zero: () => "0x0",
  "the greatest word": () => `0x${"f".repeat(64)}`,
  "a text": () => "<html>",
  "much of nothing": () => Array.from({ length: 2_000 }, () => "0x00"),
  "a revert": failing(new ExecutionReverted({})),
  "a lack of funds": failing(new InsufficientFunds({ have: 1n, want: 2n })),
  "a refusal": failing(new RpcError({ method: "m", reason: new MethodNotSupported({ detail: "" }) })),
  "a lack of the block": failing(new RpcError({ method: "m", reason: new BlockNotFound({ detail: "" }) })),
  "a limit of rate": failing(
    new RpcError({ method: "m", reason: new RateLimited({ detail: "", retryAfterMs: null }) }),
  ),
};

/** Every question answered with every junk; and all questions with each. */
export const liesOfJunk: Readonly<Record<string, Lie>> = Object.fromEntries(
  Object.entries(junk).flatMap(([name, tell]) =>
    [...methods, methods].map((method) => [
      `${Array.isArray(method) ? "everything" : String(method)}: ${name}`,
      answered(method, tell),
    ]),
  ),
);

/** What no other endpoint is held to where two are compared: what each client makes, or words, in its own way. */
export const liesUnheld: Readonly<Record<string, Lie>> = {
  "a peak of gas beyond all": simulated("user", (call) => ({ ...call, maxUsedGas: "0xffffff" })),
  "hardly a peak of gas": simulated("user", (call) => ({ ...call, maxUsedGas: "0x1" })),
  "words of another failure": simulated("user", (call) =>
    call["status"] === "0x1" ? call : { ...call, error: { code: -32000, message: "insufficient funds for transfer" } },
  ),
  "movements that are not": simulated("user", (call) => ({
    ...call,
    logs: [
      ...logsOf(call),
      {
        ...{ address: `0x${"ee".repeat(20)}`, data: `0x${word(9n)}`, logIndex: "0x9", blockHash: `0x${word(1n)}` },
        topics: [
          "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
          ...[`0x${padded(nobody)}`, `0x${padded(`0x${"77".repeat(20)}`)}`],
        ],
      },
    ],
  })),
  ...Object.fromEntries(
    (
      [
        ["number", 3n],
        ["number", -3n],
        ["timestamp", 3_600n],
        ["gasLimit", -29_000_000n],
        ["baseFeePerGas", 10n ** 13n],
      ] as const
    ).map(([field, by]) => [
      `simulated blocks with another ${field} (${by})`,
      answered("eth_simulateV1", (blocks) =>
        (blocks as ReadonlyArray<Fields>).map((block) => ({ ...block, [field]: more(block[field], by) })),
      ),
    ]),
  ),
  ...Object.fromEntries(
    [1, 3, 7, 40].map((ahead) => [
      `a head ${ahead} ahead that is nobody's`,
      answered("eth_getBlockByNumber", (block, [tag]) => {
        const { number, hash, timestamp } = block as Fields;
        const own = { number: more(number, BigInt(ahead)), timestamp: more(timestamp, 12n * BigInt(ahead)) };
        return tag === "latest"
          ? { ...(block as Fields), ...own, parentHash: hash, hash: `0x${"ef".repeat(32)}` }
          : block;
      }),
    ]),
  ),
};

/** The node, its requests answered otherwise. */
const answering = (
  url: string,
  request: (node: Rpc.Rpc["Service"]) => Rpc.Rpc["Service"]["request"],
): Layer.Layer<Rpc.Rpc> =>
  Layer.effect(
    Rpc.Rpc,
    Effect.map(Rpc.Rpc, (node) => ({ ...node, request: request(node) })),
  ).pipe(Layer.provide(layerOf(url)));

/** Lies in this run only; null = in every answer. `told` counts the answers that were changed. */
export const liar = (
  url: string,
  { method, tell }: Lie,
  run: RunContext["run"],
  told: { count: number },
): Layer.Layer<Rpc.Rpc> =>
  answering(
    url,
    (node) => (asked, params) =>
      Effect.flatMap(Effect.service(CurrentRun), (current) => {
        const answer = node.request(asked, params);
        const isLied = [method].flat().includes(asked) && (run == null || current.run === run);
        if (!isLied) return answer;
        return Effect.flatMap(answer, (result) => {
          const lie = tell(result, params);
          if (JSON.stringify(lie) !== JSON.stringify(result)) told.count++;
          return lie instanceof Error ? Effect.fail(lie as RpcError | Verdict) : Effect.succeed(lie);
        });
      }),
  );

const heightOf = (url: string) => Effect.promise(async () => BigInt((await rawRequest(url, "eth_blockNumber")) as Hex));

const isTag = (block: unknown) => block === "latest" || block === "pending";

/**
 * The node as it was some blocks ago: its tags are older blocks, and it knows of none that is newer. Where it is not
 * `blind`, it serves newer ones by their hash all the same, as one behind a balancer does.
 */
export const lagging = (url: string, behind: bigint, blind = true): Layer.Layer<Rpc.Rpc> =>
  answering(
    url,
    (node) => (method, params) =>
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
      }),
  );

/** Answers no simulation; every other request as the node does. */
export const unable = (url: string): Layer.Layer<Rpc.Rpc> =>
  answering(
    url,
    (node) => (method, params) =>
      method === "eth_simulateV1"
        ? Effect.fail(new RpcError({ method, reason: new MethodNotSupported({ detail: "" }) }))
        : node.request(method, params),
  );

/** Never answers. */
export const silent = (url: string): Layer.Layer<Rpc.Rpc> => answering(url, () => () => Effect.never);
