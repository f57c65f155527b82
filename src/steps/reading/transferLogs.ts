/**
 * Movements out of logs: pure, and indifferent to what a log claims beyond its shape.
 *
 * Native transfers carry the pseudo emitter of `traceTransfers` (ERC-7528, 0xeeee…eeee) or that of
 * EIP-7708 (0xffff…fffe); a chain with both reports each movement twice, and it is counted once.
 */
import * as Arr from "effect/Array";
import type { Evidence } from "../../report/finding.js";
import type { Address } from "../../primitives/hex.js";
import type { OutcomeLog, Transfer } from "../../report/parts.js";

/** What kind of event it is: its first topic's first 8 bytes. Whoever searched for others alike could as well emit the event itself. */
export const eventOf = ({ topics: [signature] }: OutcomeLog): string | undefined => signature?.slice(0, 18);

const topic: Readonly<Record<"transfer" | "single" | "batch" | "transfer6909" | "deposit" | "withdrawal", string>> = {
  // keccak256 of Transfer(address,address,uint256)
  transfer: "0xddf252ad1be2c89b",
  // TransferSingle(address,address,address,uint256,uint256)
  single: "0xc3d58168c5ae7397",
  // TransferBatch(address,address,address,uint256[],uint256[])
  batch: "0x4a39dc06d4c0dbc6",
  // Transfer(address,address,address,uint256,uint256), ERC-6909
  transfer6909: "0x1b3d7edb2e9c0b0e",
  // Deposit(address,uint256), WETH9
  deposit: "0xe1fffcc4923d04b5",
  // Withdrawal(address,uint256), WETH9
  withdrawal: "0x7fcf532c15f0a6db",
};

const signatures: ReadonlySet<string> = new Set(Object.values(topic));

/** Whether an event of this kind tells of a movement. */
export const tellsOfMovement = (signature: string): boolean => signatures.has(signature);

const traced = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const eip7708 = "0xfffffffffffffffffffffffffffffffffffffffe";
const zero = "0x0000000000000000000000000000000000000000" as Address;

/** The low 20 bytes: the upper ones may be dirty. */
const addressIn = (word: string): Address => `0x${word.slice(-40).toLowerCase()}` as Address;

const wordsIn = (data: string): ReadonlyArray<bigint> => {
  const words: Array<bigint> = [];
  for (let at = 2; at + 64 <= data.length; at += 64) words.push(BigInt(`0x${data.slice(at, at + 64)}`));
  return words;
};

/** A dynamic uint256[] whose offset stands in word `slot`; null when it does not fit the data. */
const arrayIn = (words: ReadonlyArray<bigint>, slot: number): ReadonlyArray<bigint> | null => {
  const offset = words[slot];
  if (offset === undefined || offset % 32n !== 0n || offset / 32n >= BigInt(words.length)) return null;
  const start = Number(offset / 32n);
  const length = words[start];
  if (length === undefined || length > BigInt(words.length - start - 1)) return null;
  return words.slice(start + 1, start + 1 + Number(length));
};

type Movement = Omit<Transfer, "transaction" | "evidence">;

const fromTransfer = (emitter: Address, topics: ReadonlyArray<string>, data: string): ReadonlyArray<Movement> => {
  // indexed or not, the order of the values is the same
  const values = topics.slice(1);
  for (let at = 2; at + 64 <= data.length && values.length < 3; at += 64) values.push(data.slice(at, at + 64));
  const [sender, receiver, word] = values;
  if (sender === undefined || receiver === undefined || word === undefined) return [];
  const value = BigInt(word.startsWith("0x") ? word : `0x${word}`);
  const parties = { from: addressIn(sender), to: addressIn(receiver) };
  return topics.length < 4
    ? [{ standard: "erc20", token: emitter, ...parties, amount: value, tokenId: null }]
    : [{ standard: "erc721", token: emitter, ...parties, amount: 1n, tokenId: value }];
};

/** No more words than any shape but the batch needs: a log may carry a megabyte. */
const fewWords = (data: string): ReadonlyArray<bigint> => wordsIn(data.slice(0, 2 + 4 * 64));

const movementsOf = (log: OutcomeLog): ReadonlyArray<Movement> => {
  const { address, topics, data } = log;
  const emitter = address.toLowerCase() as Address;
  const signature = eventOf(log);
  const [, first, second, third] = topics;
  switch (signature) {
    case topic.transfer:
      return fromTransfer(emitter, topics, data);
    case topic.single: {
      const [id, amount] = fewWords(data);
      if (second === undefined || third === undefined || id === undefined || amount === undefined) return [];
      return [
        { standard: "erc1155", token: emitter, from: addressIn(second), to: addressIn(third), amount, tokenId: id },
      ];
    }
    case topic.batch: {
      const words = wordsIn(data);
      const [ids, amounts] = [arrayIn(words, 0), arrayIn(words, 1)];
      if (
        second === undefined ||
        third === undefined ||
        ids === null ||
        amounts === null ||
        ids.length !== amounts.length
      )
        return [];
      const parties = { from: addressIn(second), to: addressIn(third) };
      return Arr.zipWith(ids, amounts, (tokenId, amount) => ({
        standard: "erc1155",
        token: emitter,
        ...parties,
        amount,
        tokenId,
      }));
    }
    case topic.transfer6909: {
      const [, amount] = fewWords(data);
      if (first === undefined || second === undefined || third === undefined || amount === undefined) return [];
      const parties = { from: addressIn(first), to: addressIn(second) };
      return [{ standard: "erc6909", token: emitter, ...parties, amount, tokenId: BigInt(third) }];
    }
    case topic.deposit:
    case topic.withdrawal: {
      const [amount] = fewWords(data);
      if (first === undefined || amount === undefined || topics.length !== 2 || data.length !== 66) return [];
      const party = addressIn(first);
      return [
        {
          standard: "erc20",
          token: emitter,
          from: signature === topic.deposit ? zero : party,
          to: signature === topic.deposit ? party : zero,
          amount,
          tokenId: null,
        },
      ];
    }
    default:
      return [];
  }
};

/** Whether an emitter reports native movements. */
export const isNativeReporter = (emitter: string): boolean => emitter === traced || emitter === eip7708;

/** One log's movements, with what they are told by. */
interface Reported {
  readonly movements: ReadonlyArray<Movement>;
  readonly isNative: boolean;
  /** A WETH's `Deposit` or `Withdrawal`. */
  readonly wraps: boolean;
  /**
   * Which of two reporters it is: the same movement may be told by both (trace and EIP-7708; `Transfer`
   * and a WETH's `Deposit`), and the n-th of the one is then the n-th of the other.
   */
  readonly reporter: 0 | 1;
}

const reportedBy = (log: OutcomeLog): Reported => {
  const emitter = log.address.toLowerCase();
  const isNative = isNativeReporter(emitter);
  const wraps = !isNative && [topic.deposit, topic.withdrawal].includes(eventOf(log) ?? "");
  return { movements: movementsOf(log), isNative, wraps, reporter: emitter === eip7708 || wraps ? 1 : 0 };
};

/**
 * Whether a `Deposit` or `Withdrawal` is one of wrapped currency: the native amount goes the other way.
 * Vaults and stakes emit events of the same shape. Where no native movement is told at all, it stands.
 */
const wrappings = (reported: ReadonlyArray<Reported>): ((movement: Movement) => boolean) => {
  const native = reported.flatMap(({ isNative, movements }) => (isNative ? movements : []));
  const moved = new Set(native.flatMap(({ from, to, amount }) => [`>${to}/${amount}`, `<${from}/${amount}`]));
  return ({ token, from, amount }) =>
    native.length === 0 || moved.has(`${from === zero ? ">" : "<"}${token}/${amount}`);
};

/** The movements of one transaction, in the order of its logs. */
export const transfersOf = (
  logs: ReadonlyArray<OutcomeLog>,
  transaction: number,
  evidence: Evidence,
): ReadonlyArray<Transfer> => {
  const told = new Map<string, [number, number]>();
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
        const counts = told.get(key) ?? [0, 0];
        const known = Math.max(...counts);
        counts[reporter] += 1;
        told.set(key, counts);
        if (counts[reporter] <= known) continue;
      }
      transfers.push({
        ...{ standard: isNative ? "native" : movement.standard, token, from, to, amount, tokenId, transaction },
        evidence: evidence === "measured" ? "logged" : evidence,
      });
    }
  }
  return transfers;
};

/** What a token turned out to be, by what it answers; absent where it does not say. */
export type Standards = ReadonlyMap<Address, "erc20" | "erc721" | "erc1155">;

/** The movements by what the contracts answer, where the shape of the event says something else. */
export const settle = (transfers: ReadonlyArray<Transfer>, standards: Standards): ReadonlyArray<Transfer> =>
  transfers.map((transfer): Transfer => {
    const answered = transfer.token === null ? undefined : standards.get(transfer.token);
    if (answered === "erc20" && transfer.standard === "erc721" && transfer.tokenId !== null)
      return { ...transfer, standard: "erc20", amount: transfer.tokenId, tokenId: null };
    if (answered === "erc721" && transfer.standard === "erc20")
      return { ...transfer, standard: "erc721", amount: 1n, tokenId: transfer.amount };
    return transfer;
  });
