/** A simulation without what honest clients say differently: block hashes, peaks of gas, words of errors, traces. Pure. */
import { isQuantity, isRecord } from "../../primitives/index.js";
import { decodeAnswers, witnessBytecode, decodeQueries, type Query } from "../../witness/index.js";

/** A part of an answer by its path; two answers agree where every part does. */
export type Parts = ReadonlyMap<string, string>;

/** Returns the items of a list; none where it is no list. */
export const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : []);
/** A text in one spelling. */
export const lower = (value: unknown): string => (typeof value === "string" ? value.toLowerCase() : "none");

/** A quantity in one spelling. */
export const quantity = (value: unknown): string => (isQuantity(value) ? String(BigInt(value)) : lower(value));

/** Emitters of native movements: the trace of a simulation, and EIP-7708; which one a client has is its own matter. */
const reporters: ReadonlySet<string> = new Set([`0x${"ee".repeat(20)}`, `0x${"ff".repeat(19)}fe`]);

/** The part of an answer that native movements are. */
export const movements = "native movements";

/** Native movements where nobody told of them: as good as whatever another tells. */
export const untold = "untold";

/**
 * Native movements (payer, payee, amount) in any order: by the trace, else by EIP-7708, for a client may tell of the
 * same one by both. Only some clients tell of those that end in no account of their own (burns) or move nothing.
 */
const movementsOf = (call: unknown): string => {
  const logs = list(isRecord(call) ? call["logs"] : null).flatMap((log) => (isRecord(log) ? [log] : []));
  const reports = [...reporters].map((reporter) =>
    logs.flatMap(({ address, topics, data }) => {
      const words = list(topics).map(lower);
      const isMovement = lower(address) === reporter && words.length === 3 && !/^0x0*$/.test(lower(data));
      return isMovement ? [[...words.slice(1), quantity(data)].join(" ")] : [];
    }),
  );
  return (
    reports
      .find((movements) => movements.length > 0)
      ?.sort()
      .join(", ") ?? untold
  );
};

/** A log as one text. */
export const logOf = (log: unknown): string =>
  isRecord(log) ? [lower(log["address"]), ...list(log["topics"]).map(lower), lower(log["data"])].join(" ") : "no log";

/** The logs of a simulated call, but for those of native movements. */
const logsOf = (call: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  list(call["logs"]).flatMap((log) => (isRecord(log) && reporters.has(lower(log["address"])) ? [] : [logOf(log)]));

/** Reads what a failed call returned, wherever the client puts it. */
const revertOf = ({ returnData, error }: Readonly<Record<string, unknown>>): string => {
  if (typeof returnData === "string" && returnData.length > 2) return returnData.toLowerCase();
  const data = isRecord(error) ? error["data"] : null;
  return typeof data === "string" && data.startsWith("0x") ? data.toLowerCase() : "0x";
};

const callParts = (call: unknown): ReadonlyArray<readonly [string, string]> => {
  if (!isRecord(call)) return [["", "no result"]];
  const isSuccess = call["status"] === "0x1";
  const logs = logsOf(call);
  return [
    ["status", lower(call["status"])],
    ["gasUsed", quantity(call["gasUsed"])],
    ["returnData", isSuccess ? lower(call["returnData"]) : revertOf(call)],
    ["logs", String(logs.length)],
    ...logs.map((log, index) => [`logs[${index}]`, log] as const),
  ];
};

/** How an answer is looked at. */
export interface Comparing {
  /** True if the block's own values were the node's to choose, as on a tag. */
  readonly isOpen: boolean;
  /** True if the block is another than that of the answer beside it. */
  readonly isMoved: boolean;
}

/** Values of the block that the witness saw which each client makes in its own way. */
const ofClient: ReadonlySet<string> = new Set(["parentHash", "gasLeft", "gasLimit", "fork"]);

const askedOf = (query: Query | undefined): string => {
  if (query === undefined || query.kind === "environment") return "block";
  return query.kind === "account" ? query.address : `${query.to} ${query.data.slice(0, 10)}`;
};

/** Decodes the witness's answers; null where they cannot be read. */
const answersIn = (queries: ReturnType<typeof decodeQueries>, returnData: unknown) => {
  const bytes = lower(returnData);
  return queries === null || !bytes.startsWith("0x") ? null : decodeAnswers(queries, `0x${bytes.slice(2)}`);
};

/**
 * Values that the witness read: all but those of the client (gas that was left, the hash of the parent, the gas limit
 * and the opcodes of a block that it makes itself), and the number where the block is another (`isMoved`). If the
 * block's values were the node's to choose (`isOpen`), only the chain id of the block is left.
 */
const witnessParts = (data: string, call: unknown, { isOpen, isMoved }: Comparing) => {
  const { status, returnData } = isRecord(call) ? call : { status: "none", returnData: null };
  const queries = decodeQueries(data);
  const answers = answersIn(queries, returnData);
  if (answers === null) return [["witness", `${lower(status)} ${lower(returnData)}`]];
  const parts = answers.map((answer, index): readonly [string, string] => {
    const subject = askedOf(queries?.[index]);
    const values = Object.entries(answer).filter(
      ([name]) =>
        subject !== "block" || (isOpen ? name === "chainId" : !(ofClient.has(name) || (isMoved && name === "number"))),
    );
    return [`witness ${index} ${subject}`, values.map(([name, value]) => `${name} ${lower(String(value))}`).join(" ")];
  });
  return [["witness status", lower(status)], ...parts];
};

/** The entries that a simulation asks for. */
export const entriesIn = ([simulation]: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  list(isRecord(simulation) ? simulation["blockStateCalls"] : null);

/** The calls of a simulation: what became of each, and what the witness was asked where it is the witness's. */
const simulatedIn = (params: ReadonlyArray<unknown>, result: unknown) => {
  const entries = entriesIn(params).map((entry) => (isRecord(entry) ? entry : {}));
  const witnesses = new Set(
    entries.flatMap(({ stateOverrides }) =>
      Object.entries(isRecord(stateOverrides) ? stateOverrides : {}).flatMap(([address, override]) =>
        isRecord(override) && override["code"] === witnessBytecode ? [address.toLowerCase()] : [],
      ),
    ),
  );
  // why: a node may fill a gap between two numbers with blocks of its own, which have no calls
  const results = resultsIn(result);
  return entries
    .flatMap(({ calls }) => list(calls))
    .map((call, index) => {
      const isWitness = isRecord(call) && witnesses.has(lower(call["to"]));
      return { answer: results[index], queries: isWitness ? lower(call["data"] ?? call["input"]) : null };
    });
};

const resultsIn = (result: unknown): ReadonlyArray<unknown> =>
  list(result).flatMap((block) => list(isRecord(block) ? block["calls"] : null));

/** The values of the simulated blocks that decide costs; none where the node chose them (`isOpen`). */
const blockParts = (params: ReadonlyArray<unknown>, result: unknown, { isOpen, isMoved }: Comparing) => {
  const names = [...(isMoved ? [] : ["number"]), "timestamp", "baseFeePerGas"];
  // why: a node may put blocks of its own in front
  const blocks = isOpen ? [] : list(result).slice(-entriesIn(params).length);
  return blocks.flatMap((block, index) =>
    names.map((name) => [`block ${index} ${name}`, isRecord(block) ? quantity(block[name]) : "none"] as const),
  );
};

/** More events than honest nodes find gas for, at 375 each. */
const mostEvents = 200_000;

/** The results of a simulation, by call. */
export const simulationParts = (params: ReadonlyArray<unknown>, result: unknown, look: Comparing): Parts => {
  const calls = simulatedIn(params, result);
  const results = resultsIn(result);
  const events = results.reduce<number>((sum, call) => sum + list(isRecord(call) ? call["logs"] : null).length, 0);
  if (events > mostEvents) return new Map([["calls", "more events than blocks hold"]]);
  const parts = new Map<string, string>([["calls", String(results.length)]]);
  for (const [index, { answer, queries }] of calls.entries()) {
    const pieces = queries === null ? callParts(answer) : witnessParts(queries, answer, look);
    for (const [name, value] of pieces) parts.set(`call ${index} ${name}`, value);
  }
  for (const [name, value] of blockParts(params, result, look)) parts.set(name, value);
  // why: last, for what they say otherwise is doubt, and no proof of a lie
  for (const index of calls.keys()) parts.set(`${movements} of call ${index}`, movementsOf(results[index]));
  return parts;
};
