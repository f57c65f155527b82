/** Answers without what honest clients say differently: block hashes, peaks of gas, words of errors, traces. Pure. */
import { isRecord } from "../../primitives/record.js";
import { decodeAnswers } from "../../witness/answers.js";
import { witnessBytecode } from "../../witness/bytecode.js";
import { decodeQueries, type Query } from "../../witness/queries.js";

/** A part of an answer by its path; two answers agree where every part does. */
export type Parts = ReadonlyMap<string, string>;

type Fields = Readonly<Record<string, unknown>>;

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []);
const lower = (value: unknown): string => (typeof value === "string" ? value.toLowerCase() : "none");

/** A quantity in one spelling. */
const quantity = (value: unknown): string =>
  typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value) ? String(BigInt(value)) : lower(value);

/** Who tells of native movements: the trace of a simulation, and EIP-7708; which of the two a client has is its own matter. */
const reporters: ReadonlySet<string> = new Set([`0x${"ee".repeat(20)}`, `0x${"ff".repeat(19)}fe`]);

/** Where nobody told of native movements: as good as whatever another tells. */
const untold = "untold";

/**
 * Who paid whom how much, in any order: by the trace, else by EIP-7708, for a client may tell of the same movement by
 * both. What ends in no account of its own (a burn) and what is nothing is told by some clients only.
 */
const movementsOf = (call: unknown): string => {
  const logs = list(isRecord(call) ? call["logs"] : null).flatMap((log) => (isRecord(log) ? [log] : []));
  const told = [...reporters].map((reporter) =>
    logs.flatMap(({ address, topics, data }) => {
      const words = list(topics).map(lower);
      const isMovement = lower(address) === reporter && words.length === 3 && !/^0x0*$/.test(lower(data));
      return isMovement ? [[...words.slice(1), quantity(data)].join(" ")] : [];
    }),
  );
  return (
    told
      .find((movements) => movements.length > 0)
      ?.sort()
      .join(", ") ?? untold
  );
};

const logOf = (log: unknown): string | null => {
  if (!isRecord(log)) return "no log";
  const address = lower(log["address"]);
  return reporters.has(address) ? null : [address, ...list(log["topics"]).map(lower), lower(log["data"])].join(" ");
};

/** What a failed call returned, wherever the client puts it. */
const revertOf = ({ returnData, error }: Fields): string => {
  if (typeof returnData === "string" && returnData.length > 2) return returnData.toLowerCase();
  const data = isRecord(error) ? error["data"] : null;
  return typeof data === "string" && data.startsWith("0x") ? data.toLowerCase() : "0x";
};

const callParts = (call: unknown): ReadonlyArray<readonly [string, string]> => {
  if (!isRecord(call)) return [["", "no result"]];
  const isSuccess = call["status"] === "0x1";
  const logs = list(call["logs"]).flatMap((log) => logOf(log) ?? []);
  return [
    ["status", lower(call["status"])],
    ["gasUsed", quantity(call["gasUsed"])],
    ["returnData", isSuccess ? lower(call["returnData"]) : revertOf(call)],
    ["logs", String(logs.length)],
    ...logs.map((log, index) => [`logs[${index}]`, log] as const),
  ];
};

/** Of the block that the witness saw: what each client makes in its own way. */
const ofClient: ReadonlySet<string> = new Set(["parentHash", "gasLeft", "gasLimit", "fork"]);

const askedOf = (query: Query | undefined): string => {
  if (query === undefined || query.kind === "environment") return "block";
  return query.kind === "account" ? query.address : `${query.to} ${query.data.slice(0, 10)}`;
};

/**
 * What the witness read: all but what follows from the client (gas that was left, the hash of the parent, the gas limit
 * and the opcodes of a block that it makes itself), and the number where the block is another (`isMoved`).
 */
const witnessParts = (data: string, call: unknown, isMoved: boolean): ReadonlyArray<readonly [string, string]> => {
  const { status, returnData } = isRecord(call) ? call : { status: "none", returnData: null };
  const queries = decodeQueries(data);
  const bytes = lower(returnData);
  const answers = queries === null || !bytes.startsWith("0x") ? null : decodeAnswers(queries, `0x${bytes.slice(2)}`);
  if (answers === null) return [["witness", `${lower(status)} ${bytes}`]];
  const told = answers.map((answer, index): readonly [string, string] => {
    const asked = askedOf(queries?.[index]);
    const values = Object.entries(answer).filter(
      ([name]) => asked !== "block" || !(ofClient.has(name) || (isMoved && name === "number")),
    );
    return [`witness ${index} ${asked}`, values.map(([name, value]) => `${name} ${lower(String(value))}`).join(" ")];
  });
  return [["witness status", lower(status)], ...told];
};

/** The calls of one entry that was asked for. */
interface Entry {
  readonly calls: ReadonlyArray<unknown>;
  readonly overrides: Fields;
}

const entriesOf = (params: ReadonlyArray<unknown>): ReadonlyArray<Entry> => {
  const [asked] = params;
  return list(isRecord(asked) ? asked["blockStateCalls"] : null).map((entry) => ({
    calls: list(isRecord(entry) ? entry["calls"] : null),
    overrides: isRecord(entry) && isRecord(entry["stateOverrides"]) ? entry["stateOverrides"] : {},
  }));
};

const addressOf = (call: unknown): string => (isRecord(call) ? lower(call["to"]) : "none");

/**
 * The results of a simulation, by call. `isOpen` = the block's own values were the node's to choose, as on a tag: what
 * the witness says of them is left out.
 */
const simulationParts = (params: ReadonlyArray<unknown>, result: unknown, isOpen: boolean, isMoved: boolean): Parts => {
  const entries = entriesOf(params);
  const witnesses = new Set(
    entries.flatMap(({ overrides }) =>
      Object.entries(overrides).flatMap(([address, override]) =>
        isRecord(override) && override["code"] === witnessBytecode ? [address.toLowerCase()] : [],
      ),
    ),
  );
  // why: a node may fill a gap between two numbers with blocks of its own, which have no calls
  const calls = entries.flatMap((entry) => entry.calls);
  const results = list(result).flatMap((block) => list(isRecord(block) ? block["calls"] : null));
  const parts = new Map<string, string>([["calls", String(results.length)]]);
  for (const [index, call] of calls.entries()) {
    const answer = results[index];
    const isWitness = witnesses.has(addressOf(call)) && isRecord(call);
    const told = isWitness
      ? witnessParts(lower(call["data"] ?? call["input"]), answer, isMoved).filter(
          ([name]) => !isOpen || !name.endsWith(" block"),
        )
      : callParts(answer);
    for (const [name, value] of told) parts.set(`call ${index} ${name}`, value);
  }
  // why: last, for what they say otherwise is doubt, and no proof of a lie
  for (const index of calls.keys()) parts.set(`${movements} of call ${index}`, movementsOf(results[index]));
  return parts;
};

const headerFields = ["number", "hash", "parentHash", "timestamp", "baseFeePerGas", "gasLimit", "miner"];

const headerParts = (result: unknown): Parts =>
  new Map(
    isRecord(result)
      ? headerFields.map((name) => [
          name,
          name.endsWith("ash") || name === "miner" ? lower(result[name]) : quantity(result[name]),
        ])
      : [["block", "none"]],
  );

const movements = "native movements";

/**
 * Whether a part is one in which honest clients differ at times (anvil keeps what a reverted call moved, and leaves out
 * what SELFDESTRUCT does), though what differs there must not be relied on.
 */
export const isDoubtOnly = (path: string): boolean => path.startsWith(movements);

/** How an answer is looked at. */
export interface Look {
  readonly isOpen: boolean;
  readonly isMoved: boolean;
}

/** The parts of an answer that must be the same wherever it comes from. */
export const partsOf = (
  method: string,
  params: ReadonlyArray<unknown>,
  result: unknown,
  { isOpen, isMoved }: Look = { isOpen: false, isMoved: false },
): Parts => {
  if (method === "eth_simulateV1") return simulationParts(params, result, isOpen, isMoved);
  if (method.startsWith("eth_getBlockBy")) return headerParts(result);
  const value = method === "eth_getCode" || method === "eth_call" ? lower(result) : quantity(result);
  return new Map([["", value]]);
};

/** The first part that is not the same, with both values; null where there is none. */
export const differenceOf = (a: Parts, b: Parts): readonly [path: string, one: string, other: string] | null => {
  for (const path of new Set([...a.keys(), ...b.keys()])) {
    const [one, other] = [a.get(path) ?? "none", b.get(path) ?? "none"];
    const isUntold = isDoubtOnly(path) && (one === untold || other === untold);
    if (one !== other && !isUntold) return [path, one, other];
  }
  return null;
};
