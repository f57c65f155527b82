/**
 * Facts of two sides paired by what they are about, and what differs, as data: of two runs, of two reports, of a report
 * and the chain. The one place that makes a sentence of it. Pure.
 */
import * as Schema from "effect/Schema";
import { Address, nullable } from "./hex.js";

const value = nullable(Schema.Union([Schema.BigInt, Schema.Literals(["success", "reverted", "halted"])]));

/** One thing that two runs of the same transactions did otherwise. */
export const OutcomeDifference = Schema.Struct({
  /**
   * `status`, `revert`, `events`: how a transaction ended. `movement`, `balance`: what moves. `approval` and
   * `control`: rights. `place`: where the address of an account stands in an event or return
   * value; `address`: another address in one; `number`, `value`: another number in one.
   */
  kind: Schema.Literals([
    "status",
    "revert",
    "events",
    "movement",
    "balance",
    "approval",
    "control",
    "place",
    "address",
    "number",
    "value",
  ]),
  /** The place in the bundle, from 0; null = the whole. */
  transaction: nullable(Schema.Int),
  /** The place among the transaction's events, from 0; null = the return value. */
  event: nullable(Schema.Int),
  /** Owner of balance, right or place; payer; loser of control. Null = nobody, of a movement the block's producer. */
  account: nullable(Address),
  /** The account that is paid, gets the right or gains control; null as in `account`. */
  to: nullable(Address),
  /** The counted unit: the native currency (`token` null), a token, or one id of it. Of control the contract. */
  unit: nullable(Schema.Struct({ token: nullable(Address), tokenId: nullable(Schema.BigInt) })),
  /** The right's standard, null where its event alone tells of it; or what changes about the control. */
  what: nullable(Schema.String),
  /** In the first run: a number, the status, 1 for what is there; null = nothing. */
  a: value,
  /** The same in the second run. */
  b: value,
  /** True if it decides against signing: what leaves a party that matters, rights, control, or such a party's place. */
  decides: Schema.Boolean,
});
export interface OutcomeDifference extends Schema.Schema.Type<typeof OutcomeDifference> {}

/** One fact that is another on the other side. */
export interface Difference extends Pick<OutcomeDifference, "transaction" | "event" | "account" | "to"> {
  /**
   * As of two runs, and `log`: one event in full; `holding`: what a payer has; `most`: a bound, and what came of it;
   * `finding`; `fact`: any other figure of a report, its request or its payers.
   */
  readonly kind: OutcomeDifference["kind"] | "log" | "holding" | "most" | "finding" | "fact";
  /** The unit of its number; null where it is no amount. */
  readonly unit: OutcomeDifference["unit"] | "wei" | "gas" | "wei per gas" | "wei per blob gas" | "count";
  /** Its name, e.g. `gas limit`; of an approval its standard. Null where the kind says it. */
  readonly what: string | null;
  /** On the first side, e.g. of the earlier report, or what was said; null = nothing. */
  readonly a: bigint | string | null;
  /** On the second side. */
  readonly b: bigint | string | null;
}

/** The subject of a fact. */
export type FactOf = Omit<Difference, "a" | "b">;

/** A fact of one side; null = not known. */
export interface Fact<S extends FactOf = FactOf> {
  readonly of: S;
  readonly value: Difference["a"];
}

/** A fact of both sides; undefined = that side says nothing of it. */
export interface FactPair<S extends FactOf = FactOf> {
  readonly of: S;
  readonly a: Difference["a"] | undefined;
  readonly b: Difference["b"] | undefined;
}

/** About nothing yet. */
export const nothing = { transaction: null, event: null, account: null, to: null, unit: null, what: null } as const;

const isAsset = (unit: Difference["unit"]): unit is NonNullable<OutcomeDifference["unit"]> =>
  typeof unit === "object" && unit !== null;

const keyOf = ({ kind, transaction, event, account, to, unit, what }: FactOf): string =>
  `${kind} ${transaction} ${event} ${account} ${to} ${isAsset(unit) ? `${unit.token} ${unit.tokenId}` : ""} ${what}`;

const isSameUnit = (a: Difference["unit"], b: Difference["unit"]): boolean =>
  a === b || (isAsset(a) && isAsset(b) && a.token === b.token && a.tokenId === b.tokenId);

const isSame = (fact: Fact, other: Fact | undefined): boolean => {
  if (other === undefined || fact.value !== other.value) return false;
  const [a, b] = [fact.of, other.of];
  const isSameParty = a.account === b.account && a.to === b.to && isSameUnit(a.unit, b.unit);
  return (
    isSameParty && a.kind === b.kind && a.what === b.what && a.transaction === b.transaction && a.event === b.event
  );
};

/** True if two sides say the same, in the same order. */
export const areSame = (a: ReadonlyArray<Fact>, b: ReadonlyArray<Fact>): boolean =>
  a.length === b.length && a.every((fact, index) => isSame(fact, b[index]));

/** Facts by what they are about: what moves is added up, of all else the last counts. */
const byKey = <S extends FactOf>(facts: ReadonlyArray<Fact<S>>): ReadonlyMap<string, Fact<S>> => {
  const all = new Map<string, Fact<S>>();
  for (const { of, value } of facts) {
    const key = keyOf(of);
    const before = of.kind === "movement" ? all.get(key)?.value : null;
    all.set(key, { of, value: typeof before === "bigint" && typeof value === "bigint" ? before + value : value });
  }
  return all;
};

/** The facts of two sides side by side, each once, in the order of the first side. */
export const paired = <S extends FactOf>(a: ReadonlyArray<Fact<S>>, b: ReadonlyArray<Fact<S>>) => {
  const [first, other] = [byKey(a), byKey(b)];
  return [...new Map([...first, ...other])].map(([key, { of }]) => ({
    ...{ of, a: first.get(key)?.value, b: other.get(key)?.value },
  }));
};

/** The events of a transaction in full, in lower case. */
export const logFacts = (
  transaction: number,
  logs: ReadonlyArray<{ readonly address: string; readonly topics: ReadonlyArray<string>; readonly data: string }>,
): ReadonlyArray<Fact> =>
  logs.map(({ address, topics, data }, event) => ({
    of: { ...nothing, kind: "log", transaction, event },
    value: [address, ...topics, data].join(" ").toLowerCase(),
  }));

/** Says what it is about, in words, with addresses as `write` has them. */
export const subjectText = (
  { kind, transaction, event, account, to, unit, what }: FactOf,
  write: (address: string) => string,
  native = "native currency",
): string => {
  const nobody = kind === "movement" ? "the block's producer" : "nobody";
  const [from, other] = [account, to].map((party) => (party === null ? nobody : write(party)));
  const { token, tokenId } = isAsset(unit) ? unit : { token: null, tokenId: null };
  const asset = `${token === null ? native : write(token)}${tokenId === null ? "" : ` id ${tokenId}`}`;
  const at = transaction === null ? "" : `transaction ${transaction + 1}`;
  const place = `${at}, ${event === null ? "return value" : `event ${event + 1}`}`;
  const another = `${place}: another ${kind}`;
  const plain = `${at === "" ? "" : `${at}, `}${what}${account === null ? "" : ` of ${from}`}`;
  const texts: Readonly<Record<Difference["kind"], string>> = {
    status: at,
    revert: `${at}: two different reverts`,
    events: `${at}, other events`,
    movement: `movement of ${asset} from ${from} to ${other}`,
    balance: from === "you" ? `the change of your balance in ${asset}` : `balance change of ${from} in ${asset}`,
    approval: `approval ${what === null ? "event of" : `of ${what}`} ${asset} by ${from} to ${other}`,
    control: `only in one run: ${what}: ${asset} from ${from} to ${other}`,
    place: `${place}: the place of ${from}`,
    finding: `${at === "" ? "" : `${at}, `}finding ${what}`,
    ...{ address: another, value: another, number: place, log: place },
    ...{ fact: plain, holding: plain, most: plain },
  };
  return texts[kind];
};

/** One line, not escaped: addresses and amounts as they are, unless it is said how to write them; nothing is as much as 0. */
export const differenceText = (
  difference: OutcomeDifference,
  write: (address: string) => string = (address) => address,
  valuesOf: (difference: OutcomeDifference) => ReadonlyArray<unknown> = ({ a, b }) => [a ?? 0n, b ?? 0n],
  native?: string,
): string => {
  const isWordless = difference.kind === "control" || (difference.a === null && difference.b === null);
  return subjectText(difference, write, native) + (isWordless ? "" : `: ${valuesOf(difference).join(" and ")}`);
};
