/** What keeps a transaction out of a pool, or in it for good, though the chain would take it. Pure. */
import type { Chain } from "../../Chains.js";
import { address, bytes, count, figures, wei, weiPerGas } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Report } from "../../report/schema.js";
import { costUpTo, isHeldBack, waitsOf, type Told } from "../../report/waits.js";
import { unsignedBytes } from "../../transaction/request.js";
import type { Filled } from "./bundle.js";

/** What a signature adds to the unsigned bytes, at most. */
const signatureBytes = 67;

/** Bytes of a transaction as it is sent; null where it is small without being counted. */
const sizeOf = ({ request, input: { data, accessList, authorizationList } }: Filled, limit: number): number | null => {
  // why: hex has two digits for a byte, so that half the limit is the least that is worth the encoding
  if (request === null || (data.length <= limit && accessList === null && authorizationList === null)) return null;
  const unsigned = unsignedBytes(request);
  return unsigned === null ? null : (unsigned.length - 2) / 2 + signatureBytes;
};

/** Blob pools take eight times as much (geth: 1 MiB), with the blobs and their cell proofs. */
const blobShare = 8;
const bytesPerBlob = 131_072 + 128 * 48 + 2 * 48;

const mostBytes = (limit: number | null, blobs: number): number | null =>
  limit === null || blobs === 0 ? limit : limit * blobShare - blobs * bytesPerBlob;

const checkSettings = (one: Filled, { nodeLimits: limits, nodeLimitsKnown, known }: Chain): ReadonlyArray<Finding> => {
  const { gas, fee, input } = one;
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = fee.value;
  const price = gasPrice ?? maxFeePerGas;
  const cost = gas.value === null || price === null ? null : gas.value * price;
  const tip = gasPrice ?? maxPriorityFeePerGas;
  const maxBytes = mostBytes(limits.maxBytes, input.blobVersionedHashes?.length ?? 0);
  const size = maxBytes === null ? null : sizeOf(one, maxBytes);
  const isDear = limits.maxFee !== null && cost !== null && cost > limits.maxFee;
  const isTipless = limits.minTip !== null && tip !== null && tip < limits.minTip;
  const isLarge = maxBytes !== null && size !== null && size > maxBytes;
  const beyond = [
    ...(isDear ? [wei("gas limit × max fee", cost), wei("at most", limits.maxFee)] : []),
    ...(isTipless ? [weiPerGas("tip", tip), weiPerGas("at least", limits.minTip)] : []),
    ...(isLarge ? [bytes("size", size), bytes("at most", maxBytes)] : []),
  ];
  // why: no client takes more bytes unless it is told to; of a chain that nobody described geth's least tip counts
  const isLikely = nodeLimitsKnown || isLarge || (isTipless && !known);
  const where = { transaction: one.index, evidence: nodeLimitsKnown ? "estimated" : "assumed" } as const;
  return beyond.length === 0 ? [] : [note("NodeMayRefuse", isLikely ? "warning" : "info", where, ...beyond)];
};

const codes = {
  oneInFlight: "OneInFlight",
  order: "OrderNotHeld",
  income: "IncomeNotMined",
} as const;

/** Each wait of a transaction once for every reason, with what must be mined. */
const checkWaits = (told: Told): ReadonlyArray<Finding> => {
  const waits = waitsOf(told);
  const kinds = new Map(waits.map((wait) => [`${wait.transaction}/${wait.because}`, wait]));
  return [...kinds.values()].flatMap(({ transaction, because }) => {
    if (because === "queued") return [];
    const own = waits.filter((wait) => wait.transaction === transaction && wait.because === because);
    const named = own.flatMap(({ account, nonce }) => figures(address("of", account), count("nonces mined", nonce)));
    const payer = told.funds.find(({ account }) => account === told.transactions[transaction]?.input.from);
    const short =
      because !== "income" || payer === undefined
        ? []
        : [wei("has", payer.balance), wei("required without income", costUpTo(payer, transaction))];
    return [note(codes[because], "warning", { transaction, evidence: "estimated" }, ...short, ...named)];
  });
};

/** What pools keep of each payer's balance for its transactions in flight, as far as that is known. */
const checkQueued = ({ transactions, funds }: Pick<Report, "transactions" | "funds">): ReadonlyArray<Finding> =>
  funds.flatMap((payer) => {
    const { account, balance, shortfall, required, queued, sealed, terms } = payer;
    const transaction = transactions.findIndex(({ input }) => input.from === account);
    const inFlight = transactions[transaction]?.nonce.inFlight ?? null;
    if (shortfall !== 0n || balance === null || required === null || inFlight === null || inFlight === 0) return [];
    const where = { transaction, evidence: "estimated" } as const;
    const last = transactions.length - 1;
    if (isHeldBack(payer, last)) {
      const numbers = [wei("balance", sealed), wei("kept for them", queued), wei("required", costUpTo(payer, last))];
      return [note("QueuedCostTooHigh", "warning", where, count("in flight", inFlight), ...numbers)];
    }
    // why: what a chain charges for the bytes of others is not in their fee caps
    const isWhole = queued !== null && sealed !== null && !terms.some(({ name }) => name === "l1Fee");
    const numbers = [count("in flight", inFlight), wei("left for them", balance - required)];
    return isWhole ? [] : [note("QueuedCostUnknown", "info", where, ...numbers)];
  });

/** What stands against sending a bundle at once through an ordinary node, beyond the chain's own rules. */
export const checkPool = (bundle: ReadonlyArray<Filled>, told: Told, chain: Chain): ReadonlyArray<Finding> => [
  ...bundle.flatMap((one) => checkSettings(one, chain)),
  ...checkWaits(told),
  ...checkQueued(told),
];
