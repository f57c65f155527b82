/** Which methods and block tags an endpoint answers. */
import * as Effect from "effect/Effect";
import type { RpcError } from "../../errors/rpc.js";
import { formatGasPrice } from "../../primitives/units.js";
import type { Verdict } from "../../errors/verdicts.js";
import * as Eth from "../../Eth.js";
import { Rpc } from "../../Rpc.js";
import { identity, no, probe, someone, somewhere, yes, type Answer, type Finding } from "./probe.js";

const needed = "the seven methods";
const beside = "beside them";
const pending = "pending state";

const raw = (method: string, params: ReadonlyArray<unknown>): Effect.Effect<unknown, RpcError | Verdict, Rpc> =>
  Effect.flatMap(Rpc, (rpc) => rpc.request(method, params));

const echo = (block: "latest" | "pending") => Eth.call({ from: someone, to: identity, data: "0x1234", block });
const echoed = (data: string): Answer =>
  data === "0x1234" ? yes() : no(`the identity precompile returned ${data.slice(0, 66)}`);
const logs = (tag: string) => raw("eth_getLogs", [{ fromBlock: tag, toBlock: tag, address: somewhere }]);
const listed = (answer: unknown): Answer => (Array.isArray(answer) ? yes() : no("the answer is no list"));
const answered = (): Answer => yes();

/** The seven methods on `latest`, what helps beside them, and each again on `pending`. */
export const methodProbes: ReadonlyArray<Effect.Effect<Finding, never, Rpc>> = [
  probe(needed, "eth_getCode", "eth_getCode", Eth.getCode({ address: somewhere, block: "latest" }), answered),
  probe(
    needed,
    "eth_getTransactionCount",
    "eth_getTransactionCount",
    Eth.getTransactionCount({ address: someone, block: "latest" }),
    answered,
  ),
  probe(needed, "eth_call", "eth_call", echo("latest"), echoed),
  probe(
    needed,
    "eth_estimateGas",
    "eth_estimateGas",
    Eth.estimateGas({ from: someone, to: somewhere, block: "latest" }),
    (gas) => yes(`${gas} gas for an empty call`),
  ),
  probe(
    needed,
    "eth_simulateV1",
    "eth_simulateV1",
    Eth.simulateV1({
      blocks: [{ calls: [{ from: someone, to: identity, data: "0x1234", gas: 100_000n }] }],
      block: "latest",
    }),
    (blocks) => echoed(blocks[0]?.calls[0]?.returnData ?? "nothing"),
  ),
  probe(needed, "eth_getLogs", "eth_getLogs", logs("latest"), listed),
  probe(needed, "eth_getBlockReceipts", "eth_getBlockReceipts", Eth.getBlockReceipts({ block: "latest" }), (receipts) =>
    yes(`${receipts.length} in the latest block`),
  ),
  probe(beside, "eth_chainId", "eth_chainId", Eth.chainId, (id) => yes(`chain ${id}`)),
  probe(
    beside,
    "eth_feeHistory",
    "eth_feeHistory",
    Eth.feeHistory({ blockCount: 4, newestBlock: "latest", rewardPercentiles: [50] }),
    answered,
  ),
  probe(beside, "eth_getBlockByNumber", "eth_getBlockByNumber", Eth.getBlock({ block: "latest" }), (block) =>
    yes(
      `latest is block ${block.number}${block.baseFeePerGas === null ? "" : `, base fee ${formatGasPrice(block.baseFeePerGas)}`}`,
    ),
  ),
  probe(pending, "pending.eth_getCode", "eth_getCode", Eth.getCode({ address: somewhere, block: "pending" }), answered),
  probe(
    pending,
    "pending.eth_getTransactionCount",
    "eth_getTransactionCount",
    Eth.getTransactionCount({ address: someone, block: "pending" }),
    answered,
  ),
  probe(pending, "pending.eth_call", "eth_call", echo("pending"), echoed),
  probe(
    pending,
    "pending.eth_estimateGas",
    "eth_estimateGas",
    Eth.estimateGas({ from: someone, to: somewhere, block: "pending" }),
    answered,
  ),
  probe(
    pending,
    "pending.eth_simulateV1",
    "eth_simulateV1",
    Eth.simulateV1({ blocks: [{ calls: [] }], block: "pending" }),
    (blocks) => yes(`simulates block ${blocks[0]?.number ?? "not said"}`),
  ),
  probe(pending, "pending.eth_getLogs", "eth_getLogs", logs("pending"), listed),
];
