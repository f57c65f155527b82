/**
 * The recorded parameters as the typed ones that `Eth` takes. A strict mapping: a field it does not
 * know is an error, so that a request built equal says that every recorded field was carried.
 */
import * as Effect from "effect/Effect";
import * as Eth from "../../src/Eth.js";
import type { Rpc } from "../../src/Rpc.js";
import type { Exchange } from "../harness/replay.js";

type Json = Record<string, unknown>;
type Convert = (value: never) => unknown;

const same = (value: unknown) => value;
const big = (value: string) => BigInt(value);

const object =
  (fields: Record<string, Convert | readonly [rename: string, Convert]>) =>
  (value: Json): Json =>
    Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const field = fields[key];
        if (field === undefined) throw new Error(`unknown recorded field ${key}`);
        const [name, convert] = typeof field === "function" ? ([key, field] as const) : field;
        return [name, convert(inner as never)];
      }),
    );
const list = (convert: Convert) => (values: ReadonlyArray<unknown>) => values.map((value) => convert(value as never));
const record = (convert: Convert) => (value: Json) =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, convert(inner as never)]));

const call = object({
  from: same,
  to: same,
  gas: big,
  maxFeePerGas: big,
  maxPriorityFeePerGas: big,
  maxFeePerBlobGas: big,
  value: big,
  input: same,
  nonce: big,
  type: big,
  blobVersionedHashes: same,
  authorizationList: list(
    object({ address: same, chainId: big, nonce: big, r: same, s: same, yParity: big }) as Convert,
  ) as Convert,
});
const stateOverrides = record(
  object({
    balance: big,
    nonce: big,
    code: same,
    state: same,
    stateDiff: same,
    movePrecompileToAddress: same,
  }) as Convert,
);
const blockOverrides = object({
  number: big,
  time: big,
  gasLimit: big,
  feeRecipient: same,
  prevRandao: same,
  baseFeePerGas: big,
  blobBaseFee: big,
});
const simulation = object({
  blockStateCalls: [
    "blocks",
    list(
      object({
        calls: list(call as Convert) as Convert,
        stateOverrides: stateOverrides as Convert,
        blockOverrides: blockOverrides as Convert,
      }) as Convert,
    ) as Convert,
  ],
  traceTransfers: same,
  validation: same,
  returnFullTransactions: same,
});
const filter = object({ fromBlock: big, toBlock: big, blockHash: same, topics: same, address: same });

/** A block number as bigint, else a tag or a hash as it is. */
const block = (value: unknown): Eth.BlockParameter => {
  const text = (value ?? "latest") as "latest";
  return /^0x[0-9a-f]{1,16}$/.test(text) ? BigInt(text) : text;
};

/** The recorded request, asked through `Eth`. */
export const askTyped = ({ method, params }: Exchange): Effect.Effect<unknown, Eth.Failure, Rpc> => {
  const [first, second] = params as [Json & string, unknown];
  switch (method) {
    case "eth_call":
      return Eth.call({ ...(call(first) as { readonly to: Eth.Address }), block: block(second) });
    case "eth_estimateGas":
      return Eth.estimateGas({
        ...(call(first) as Eth.CallRequest),
        ...(second === undefined ? {} : { block: block(second) }),
      });
    case "eth_simulateV1":
      return Eth.simulateV1({
        ...(simulation(first) as { readonly blocks: Eth.Simulation["blocks"] }),
        fillers: true,
        block: block(second),
      });
    case "eth_getBlockReceipts":
      return Eth.getBlockReceipts({ block: block(first) });
    case "eth_getCode":
      return Eth.getCode({ address: first, block: block(second) });
    case "eth_getTransactionCount":
      return Eth.getTransactionCount({ address: first, block: block(second) });
    case "eth_getLogs":
      return Eth.getLogs(filter(first) as Eth.LogFilter);
    default:
      throw new Error(`unknown recorded method ${method}`);
  }
};

const withData = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [key === "input" ? "data" : key, inner]));

/**
 * The recorded parameters as this library writes them. Three differences, each from the node
 * interface: calldata is named `data`; the block is always sent; a `blockHash` drops the range.
 */
export const writtenParams = ({ method, params }: Exchange): ReadonlyArray<unknown> => {
  const [first, second] = params as [Json, unknown];
  switch (method) {
    case "eth_call":
    case "eth_estimateGas":
      return [withData(first), second ?? "latest"];
    case "eth_getTransactionCount":
      return [first, second ?? "latest"];
    case "eth_getLogs": {
      if (!("blockHash" in first)) return params;
      const { fromBlock: _from, toBlock: _to, ...rest } = first;
      return [rest];
    }
    case "eth_simulateV1": {
      const blockStateCalls = (first["blockStateCalls"] as ReadonlyArray<Json>).map((entry) =>
        "calls" in entry ? { ...entry, calls: (entry["calls"] as ReadonlyArray<Json>).map(withData) } : entry,
      );
      return [{ ...first, blockStateCalls }, second];
    }
    default:
      return params;
  }
};
