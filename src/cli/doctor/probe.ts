/** One question put to an endpoint, and what its answer shows; and which methods and block tags it answers. */
import * as Effect from "effect/Effect";
import type { Failure } from "../../Eth.js";
import * as Eth from "../../eth/index.js";
import { statementText, formatGasPrice } from "../../primitives/index.js";
import { Rpc } from "../../rpc/index.js";
import { unreached } from "../endpoint.js";

/** `unknown`: the endpoint did not answer, so nothing is shown either way. */
export type Status = "yes" | "no" | "unknown";

export interface Answer {
  readonly status: Status;
  readonly detail: string;
}

/** A probe with its answer. `id` is stable, for programs. */
export interface Finding extends Answer {
  readonly id: string;
  readonly group: string;
  readonly name: string;
}

export const yes = (detail = ""): Answer => ({ status: "yes", detail });
export const no = (detail: string): Answer => ({ status: "no", detail });
export const unknown = (detail: string): Answer => ({ status: "unknown", detail });

export const finding = (group: string, id: string, name: string, { status, detail }: Answer): Finding => ({
  ...{ id, group, name, status, detail },
});

/** Failures that say nothing about what the endpoint can do: no answer, or none that is a typed refusal. */
const silent: ReadonlySet<string> = new Set([...unreached, "NodeSyncing", "MalformedResponse", "InternalError"]);

/** The HTTP status of an answer that no JSON-RPC server gives, such as a web page; null where it may be a node's. */
export const pageStatus = (failure: Failure): number | null => {
  if (failure._tag !== "RpcError") return null;
  const { reason } = failure;
  const isPage =
    reason._tag === "MalformedResponse"
      ? reason.path === "" || reason.path === "id"
      : reason.code === null && (reason.httpStatus === 404 || reason.httpStatus === 405);
  return isPage ? reason.httpStatus : null;
};

/** A failed request as an answer. */
export const refusal = (failure: Failure): Answer => {
  const { statement } = failure._tag === "RpcError" ? failure.reason : failure;
  const detail = statementText({ ...statement, remedy: "" });
  return failure._tag === "RpcError" && silent.has(failure.reason._tag) ? unknown(detail) : no(detail);
};

/** Accounts that nobody uses: letters of the project's name as hex. */
export const someone = "0x70726566000000000000000000000000000000a1";
export const somewhere = "0x70726566000000000000000000000000000000b2";
/** The identity precompile returns what it is given. */
const identity = "0x0000000000000000000000000000000000000004";

/** The group of overrides. */
export const pretending = "what a simulation may pretend";

/** A probe of one group, by its method's name unless it has another; that it answers is enough, unless `read` wants more. */
const among =
  (group: string, prefix = "") =>
  <A>(
    method: string,
    ask: Effect.Effect<A, Failure, Rpc>,
    read: (answer: A) => Answer = () => yes(),
    name = method,
  ): Effect.Effect<Finding, never, Rpc> =>
    Effect.map(Effect.match(ask, { onSuccess: read, onFailure: refusal }), (answer) =>
      finding(group, `${prefix}${method}`, name, answer),
    );
const needed = among("the seven methods");
const beside = among("beside them");
const pending = among("pending state", "pending.");

const code = (block: "latest" | "pending") => Eth.getCode({ address: somewhere, block });
const count = (block: "latest" | "pending") => Eth.getTransactionCount({ address: someone, block });
const estimate = (block: "latest" | "pending") => Eth.estimateGas({ from: someone, to: somewhere, block });
const call = { from: someone, to: identity, data: "0x1234" } as const;
const echo = (block: "latest" | "pending") => Eth.call({ ...call, block });
const echoed = (data: string): Answer =>
  data === "0x1234" ? yes() : no(`the identity precompile returned ${data.slice(0, 66)}`);
const logs = (tag: "latest" | "pending") =>
  Rpc.use(({ request }) => request("eth_getLogs", [{ fromBlock: tag, toBlock: tag, address: somewhere }]));
const listed = (answer: unknown): Answer => (Array.isArray(answer) ? yes() : no("the answer is no list"));

/** Runtime code: `return 42`. */
const returns42 = "0x602a60005260206000f3";

/** The seven methods on `latest`, what helps beside them, and each again on `pending`. */
export const methodProbes: ReadonlyArray<Effect.Effect<Finding, never, Rpc>> = [
  needed("eth_getCode", code("latest")),
  needed("eth_getTransactionCount", count("latest")),
  needed("eth_call", echo("latest"), echoed),
  among("eth_call")(
    "eth_call.stateOverride",
    Eth.call({ from: someone, to: somewhere, block: "latest", stateOverrides: { [somewhere]: { code: returns42 } } }),
    (data) => (BigInt(data === "0x" ? 0 : data) === 42n ? yes() : no("the code given was not run")),
    "state override",
  ),
  needed("eth_estimateGas", estimate("latest"), (gas) => yes(`${gas} gas for an empty call`)),
  needed(
    "eth_simulateV1",
    Eth.simulateV1({ blocks: [{ calls: [{ ...call, gas: 100_000n }] }], block: "latest" }),
    (blocks) => echoed(blocks[0]?.calls[0]?.returnData ?? "nothing"),
  ),
  needed("eth_getLogs", logs("latest"), listed),
  needed("eth_getBlockReceipts", Eth.getBlockReceipts({ block: "latest" }), (receipts) =>
    yes(`${receipts.length} in the latest block`),
  ),
  beside("eth_chainId", Eth.chainId, (id) => yes(`chain ${id}`)),
  beside("eth_feeHistory", Eth.feeHistory({ blockCount: 4, newestBlock: "latest", rewardPercentiles: [50] })),
  beside("eth_getBlockByNumber", Eth.getBlock({ block: "latest" }), ({ number, baseFeePerGas }) =>
    yes(`latest is block ${number}${baseFeePerGas === null ? "" : `, base fee ${formatGasPrice(baseFeePerGas)}`}`),
  ),
  pending("eth_getCode", code("pending")),
  pending("eth_getTransactionCount", count("pending")),
  pending("eth_call", echo("pending"), echoed),
  pending("eth_estimateGas", estimate("pending")),
  pending("eth_simulateV1", Eth.simulateV1({ blocks: [{ calls: [] }], block: "pending" }), (blocks) =>
    yes(`simulates block ${blocks[0]?.number ?? "not said"}`),
  ),
  pending("eth_getLogs", logs("pending"), listed),
];
