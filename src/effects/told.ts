/** The logs of a transaction as rows: who gets a right, who gets to act, and what else they tell of. Pure. */
import { callsIn } from "../abi/batches.js";
import { addressOf, valueBy, valuesOf, wordOf } from "../abi/words.js";
import type { Address, Hex } from "../primitives/hex.js";
import { memoizeList } from "../primitives/record.js";
import type { OutcomeLog } from "../report/parts.js";
import { eventIn, type Event } from "./events.js";
import { announcedBy } from "./rights.js";

/** The account that a word names; null where it names none. */
export const party = (word: bigint | null): Address | null =>
  word === null || BigInt.asUintN(160, word) === 0n ? null : addressOf(word);

const controlBy = ({ log, contract, row: { control } }: Event, transaction: number) => {
  if (control === undefined) return null;
  const { kind, what, values } = control;
  const valueAs = valueBy(values, valuesOf(log, values.length));
  const role = valueAs("role");
  return {
    ...{ kind, what, contract, transaction, log },
    /** The account that gets it; null where the event names nobody or takes it away. */
    gains: party(valueAs("gains")),
    /** The account that had it before, or from which it is taken. */
    loses: party(valueAs("loses")),
    role: role === null ? null : wordOf(role),
  };
};
/** One change of control that a contract announced. */
export type Control = NonNullable<ReturnType<typeof controlBy>>;

const sumBy = ({ log, contract, row: { sum } }: Event) => {
  if (sum === undefined) return null;
  // why: a token that lays its event out otherwise names other numbers in these places
  if (sum.what === "interest" && log.topics.length !== 3) return null;
  const valueAs = valueBy(sum.values, valuesOf(log, sum.values.length));
  const [account, to] = [party(valueAs("account")), party(valueAs("to"))];
  return { what: sum.what, contract, account, to, amount: valueAs("amount") ?? 0n };
};

/** The rows that the logs of one transaction make, each kind in the order of the logs; read once for all that judge its run. */
export const toldIn = memoizeList((logs: ReadonlyArray<OutcomeLog>, transaction: number) => {
  const events = logs.map(eventIn);
  return {
    events,
    rights: events.flatMap((event) => announcedBy(event, transaction) ?? []),
    controls: events.flatMap((event) => controlBy(event, transaction) ?? []),
    sums: events.flatMap((event) => sumBy(event) ?? []),
  };
});

/**
 * Safes that say what they execute: the event holds the call, in the same order, and its name is as good as a selector.
 * Apart from the others, for taking calls apart costs most.
 */
export const executionsIn = memoizeList((logs: ReadonlyArray<OutcomeLog>) =>
  logs.map(eventIn).flatMap(({ log: { address, topics, data }, contract, row }) => {
    if (row.isExecution !== true) return [];
    const called = `${topics[0]?.slice(0, 10)}${data.slice(2)}`.toLowerCase() as Hex;
    return { safe: contract, delegates: callsIn({ from: address, to: address, data: called }).delegates };
  }),
);
