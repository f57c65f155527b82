/**
 * Movements out of logs: pure, and indifferent to what a log claims beyond its shape.
 *
 * Native transfers carry the pseudo emitter of `traceTransfers` (ERC-7528, 0xeeee…eeee) or that of
 * EIP-7708 (0xffff…fffe); a chain with both reports each movement twice, and it is counted once.
 */
import * as Arr from "effect/Array";
import { valueBy, valuesOf, addressOf, dataAt, nobody, numbersAt } from "../abi/words.js";
import type { Evidence } from "../report/finding.js";
import type { Address } from "../primitives/hex.js";
import type { OutcomeLog, Transfer } from "../report/parts.js";
import { eventIn, type Event } from "./events.js";

/** The emitter of native movements by `traceTransfers` (ERC-7528): no contract is there, no receipt has these logs. */
export const traceEmitter: string = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const eip7708 = "0xfffffffffffffffffffffffffffffffffffffffe";

/** The numbers of a list in the data of a log, by the word that points to it. */
const listIn = ({ data }: OutcomeLog, pointer: bigint | null): ReadonlyArray<bigint> | null =>
  pointer === null || pointer > BigInt(data.length) ? null : numbersAt(data, dataAt + Number(pointer) * 2);

const movementsOf = ({
  log,
  contract: token,
  row: { movement: row },
}: Event): ReadonlyArray<Omit<Transfer, "transaction" | "evidence">> => {
  const { topics, data } = log;
  if (row === undefined || (row.topics !== undefined && topics.length !== row.topics)) return [];
  const values = valuesOf(log, row.values.length);
  if (values.length < row.values.length || (row.wraps === true && data.length !== 66)) return [];
  const valueAs = valueBy(row.values, values);
  const [from, to] = [addressOf(valueAs("from") ?? 0n), addressOf(valueAs("to") ?? 0n)];
  const { standard } = row;
  const movement = (amount: bigint, tokenId: bigint | null) => ({ standard, token, from, to, amount, tokenId });
  const amount = valueAs("amount");
  if (amount === null) {
    const [ids, amounts] = [listIn(log, valueAs("ids")), listIn(log, valueAs("amounts"))];
    return ids === null || ids.length !== amounts?.length ? [] : Arr.zipWith(amounts, ids, movement);
  }
  const isNft = row.topics === undefined && topics.length === 4;
  return [isNft ? { ...movement(1n, amount), standard: "erc721" } : movement(amount, valueAs("id"))];
};

/** True if an emitter reports native movements. */
export const isNativeReporter = (emitter: string): boolean => emitter === traceEmitter || emitter === eip7708;

/**
 * One log's movements and their reporter; `wraps` = a WETH's `Deposit` or `Withdrawal`. Two reporters may show the same
 * movement (trace and EIP-7708; `Transfer` and a WETH's `Deposit`). The n-th of one is then the n-th of the other.
 */
const reportedBy = (log: OutcomeLog) => {
  const event = eventIn(log);
  const isNative = isNativeReporter(event.contract);
  const wraps = !isNative && event.row.movement?.wraps === true;
  const reporter = event.contract === eip7708 || wraps ? (1 as const) : (0 as const);
  return { movements: movementsOf(event), isNative, wraps, reporter };
};

/**
 * Tells if a `Deposit` or `Withdrawal` is one of wrapped currency: the native amount goes the other way.
 * Vaults and stakes emit events of the same shape. In a run without any native movement, the event is believed.
 */
const wrappings = (
  reported: ReadonlyArray<ReturnType<typeof reportedBy>>,
): ((movement: Omit<Transfer, "transaction" | "evidence">) => boolean) => {
  const native = reported.flatMap(({ isNative, movements }) => (isNative ? movements : []));
  const sums = new Set(native.flatMap(({ from, to, amount }) => [`>${to}/${amount}`, `<${from}/${amount}`]));
  return ({ token, from, amount }) =>
    native.length === 0 || sums.has(`${from === nobody ? ">" : "<"}${token}/${amount}`);
};

/** The movements of one transaction, in the order of its logs. */
export const transfersOf = (logs: ReadonlyArray<OutcomeLog>, transaction: number, evidence: Evidence) => {
  const worth = evidence === "measured" ? "logged" : evidence;
  const counters = new Map<string, [number, number]>();
  const reported = logs.map(reportedBy);
  const hasTwoReporters = reported.some(({ reporter }) => reporter !== reported[0]?.reporter);
  const isWrapping = wrappings(reported);
  const transfers: Array<Transfer> = [];
  for (const { movements, isNative, wraps, reporter } of reported) {
    for (const movement of movements) {
      if (wraps && !isWrapping(movement)) continue;
      const { from, to, amount, tokenId } = movement;
      const token = isNative ? null : movement.token;
      if (isNative && amount === 0n) continue;
      if (hasTwoReporters) {
        const key = `${token}/${from}/${to}/${amount}/${tokenId}`;
        const counts = counters.get(key) ?? [0, 0];
        const known = Math.max(...counts);
        counts[reporter] += 1;
        counters.set(key, counts);
        if (counts[reporter] <= known) continue;
      }
      const standard = isNative ? "native" : movement.standard;
      transfers.push({ standard, token, from, to, amount, tokenId, transaction, evidence: worth });
    }
  }
  return transfers;
};

/** Standards of tokens by their own answers; absent for a token that gives none. */
export type Standards = ReadonlyMap<Address, "erc20" | "erc721" | "erc1155">;

/** The movements, each with the standard that its contract answers where the event has the shape of another. */
export const settle = (transfers: ReadonlyArray<Transfer>, standards: Standards): ReadonlyArray<Transfer> =>
  standards.size === 0
    ? transfers
    : transfers.map((transfer): Transfer => {
        const answered = transfer.token === null ? undefined : standards.get(transfer.token);
        if (answered === "erc20" && transfer.standard === "erc721" && transfer.tokenId !== null)
          return { ...transfer, standard: "erc20", amount: transfer.tokenId, tokenId: null };
        if (answered === "erc721" && transfer.standard === "erc20")
          return { ...transfer, standard: "erc721", amount: 1n, tokenId: transfer.amount };
        return transfer;
      });
