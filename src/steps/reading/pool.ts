/** What keeps a transaction out of a pool, or in it for good, though the chain would take it. Pure. */
import type { Chain } from "../../Chains.js";
import { address, bytes, count, figures, wei, weiPerGas } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Report } from "../../report/schema.js";
import { costUpTo, waitsOf, type Told } from "../../report/waits.js";
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

const checkSettings = (one: Filled, { nodeLimits: limits, nodeLimitsKnown }: Chain): ReadonlyArray<Finding> => {
  const { gas, fee, input } = one;
  const { gasPrice, maxFeePerGas, maxPriorityFeePerGas } = fee.value;
  const price = gasPrice ?? maxFeePerGas;
  const cost = gas.value === null || price === null ? null : gas.value * price;
  const tip = gasPrice ?? maxPriorityFeePerGas;
  const { maxBytes } = limits;
  const size = maxBytes === null || input.blobVersionedHashes !== null ? null : sizeOf(one, maxBytes);
  const beyond = [
    ...(limits.maxFee !== null && cost !== null && cost > limits.maxFee
      ? [wei("gas limit × max fee", cost), wei("at most", limits.maxFee)]
      : []),
    ...(limits.minTip !== null && tip !== null && tip < limits.minTip
      ? [weiPerGas("tip", tip), weiPerGas("at least", limits.minTip)]
      : []),
    ...(maxBytes !== null && size !== null && size > maxBytes ? [bytes("size", size), bytes("at most", maxBytes)] : []),
  ];
  const where = { transaction: one.index, evidence: nodeLimitsKnown ? "estimated" : "assumed" } as const;
  return beyond.length === 0 ? [] : [note("NodeMayRefuse", nodeLimitsKnown ? "warning" : "info", where, ...beyond)];
};

const codes = { oneInFlight: "OneInFlight", order: "OrderNotHeld", income: "IncomeNotMined" } as const;

/** Each wait of a transaction once for every reason, with what must be mined. */
const checkWaits = (told: Told): ReadonlyArray<Finding> => {
  const waits = waitsOf(told);
  const kinds = new Map(waits.map((wait) => [`${wait.transaction}/${wait.because}`, wait]));
  return [...kinds.values()].map(({ transaction, because }) => {
    const own = waits.filter((wait) => wait.transaction === transaction && wait.because === because);
    const named = own.flatMap(({ account, nonce }) => figures(address("of", account), count("nonces mined", nonce)));
    const payer = told.funds.find(({ account }) => account === told.transactions[transaction]?.input.from);
    const short =
      because !== "income" || payer === undefined
        ? []
        : [wei("has", payer.balance), wei("required without income", costUpTo(payer, transaction))];
    return note(codes[because], "warning", { transaction, evidence: "estimated" }, ...short, ...named);
  });
};

/** What each payer has left for its transactions in flight. */
const checkQueued = ({ transactions, funds }: Pick<Report, "transactions" | "funds">): ReadonlyArray<Finding> =>
  funds.flatMap(({ account, balance, shortfall, required }) => {
    const transaction = transactions.findIndex(({ input }) => input.from === account);
    const inFlight = transactions[transaction]?.nonce.inFlight ?? null;
    if (shortfall !== 0n || balance === null || required === null || inFlight === null || inFlight === 0) return [];
    const numbers = [count("in flight", inFlight), wei("left for them", balance - required)];
    return [note("QueuedCostUnknown", "info", { transaction, evidence: "estimated" }, ...numbers)];
  });

/** What stands against sending a bundle at once through an ordinary node, beyond the chain's own rules. */
export const checkPool = (bundle: ReadonlyArray<Filled>, told: Told, chain: Chain): ReadonlyArray<Finding> => [
  ...bundle.flatMap((one) => checkSettings(one, chain)),
  ...checkWaits(told),
  ...checkQueued(told),
];
