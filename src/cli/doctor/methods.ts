/** Which methods and block tags an endpoint answers. */
import * as Effect from "effect/Effect";
import type { RpcError } from "../../errors/rpc.js";
import { formatGasPrice } from "../../primitives/units.js";
import type { Verdict } from "../../errors/verdicts.js";
import * as Eth from "../../Eth.js";
import { Rpc } from "../../Rpc.js";
import { identity, no, probe, someone, somewhere, yes, type Answer, type Finding } from "./probe.js";

type Tag = "latest" | "pending";

const raw = (method: string, params: ReadonlyArray<unknown>): Effect.Effect<unknown, RpcError | Verdict, Rpc> =>
  Effect.flatMap(Rpc, (rpc) => rpc.request(method, params));

const answered = (): Answer => yes();
const among =
  (group: string, prefix = "") =>
  <A>(
    method: string,
    ask: Effect.Effect<A, RpcError | Verdict, Rpc>,
    read: (answer: A) => Answer = answered,
  ): Effect.Effect<Finding, never, Rpc> =>
    probe(group, `${prefix}${method}`, method, ask, read);

const needed = among("the seven methods");
const beside = among("beside them");
const pending = among("pending state", "pending.");

const code = (block: Tag) => Eth.getCode({ address: somewhere, block });
const count = (block: Tag) => Eth.getTransactionCount({ address: someone, block });
const estimate = (block: Tag) => Eth.estimateGas({ from: someone, to: somewhere, block });
const call = { from: someone, to: identity, data: "0x1234" } as const;
const echo = (block: Tag) => Eth.call({ ...call, block });
const echoed = (data: string): Answer =>
  data === "0x1234" ? yes() : no(`the identity precompile returned ${data.slice(0, 66)}`);
const logs = (tag: Tag) => raw("eth_getLogs", [{ fromBlock: tag, toBlock: tag, address: somewhere }]);
const listed = (answer: unknown): Answer => (Array.isArray(answer) ? yes() : no("the answer is no list"));

/** The seven methods on `latest`, what helps beside them, and each again on `pending`. */
export const methodProbes: ReadonlyArray<Effect.Effect<Finding, never, Rpc>> = [
  needed("eth_getCode", code("latest")),
  needed("eth_getTransactionCount", count("latest")),
  needed("eth_call", echo("latest"), echoed),
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
