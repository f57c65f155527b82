/** What two runs of the same transactions did otherwise, as data, and the one place that makes a sentence of it. Pure. */
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
  /** Whose balance, right or place it is; who pays, or loses control. Null = nobody, of a movement the block's producer. */
  account: nullable(Address),
  /** Who is paid, gets the right or gains control; null as in `account`. */
  to: nullable(Address),
  /** What is counted: the native currency (`token` null), a token, or one id of it. Of control the contract. */
  unit: nullable(Schema.Struct({ token: nullable(Address), tokenId: nullable(Schema.BigInt) })),
  /** The right's standard, null where its event alone tells of it; or what changes about the control. */
  what: nullable(Schema.String),
  /** In the first run: a number, the status, 1 for what is there; null = nothing. */
  a: value,
  /** The same in the second run. */
  b: value,
  /** Whether it decides against signing: what leaves a party that matters, rights, control, or such a party's place. */
  decides: Schema.Boolean,
});
export interface OutcomeDifference extends Schema.Schema.Type<typeof OutcomeDifference> {}

/** About nothing yet. */
export const nothing = { transaction: null, event: null, account: null, to: null, unit: null, what: null } as const;

type Write = (address: string) => string;

/** What it is about, in words, with addresses as `write` has them. */
export const subjectText = (
  { kind, transaction, event, account, to, unit, what }: Omit<OutcomeDifference, "a" | "b" | "decides">,
  write: Write,
): string => {
  const nobody = kind === "movement" ? "the block's producer" : "nobody";
  const [one, other] = [account, to].map((party) => (party === null ? nobody : write(party)));
  const { token, tokenId } = unit ?? { token: null, tokenId: null };
  const asset = `${token === null ? "native currency" : write(token)}${tokenId === null ? "" : ` id ${tokenId}`}`;
  const at = transaction === null ? "" : `transaction ${transaction + 1}`;
  const place = `${at}, ${event === null ? "return value" : `event ${event + 1}`}`;
  const another = `${place}: another ${kind}`;
  const texts: Readonly<Record<OutcomeDifference["kind"], string>> = {
    status: at,
    revert: `${at}: two different reverts`,
    events: `${at}, other events`,
    movement: `movement of ${asset} from ${one} to ${other}`,
    balance: `balance change of ${one} in ${asset}`,
    approval: `approval ${what === null ? "event of" : `of ${what}`} ${asset} by ${one} to ${other}`,
    control: `only in one run: ${what}: ${asset} from ${one} to ${other}`,
    place: `${place}: the place of ${one}`,
    ...{ address: another, value: another, number: place },
  };
  return texts[kind];
};

/** One line, not escaped: addresses and amounts as they are, unless it is said how to write them; nothing is as much as 0. */
export const differenceText = (
  one: OutcomeDifference,
  write: Write = (address) => address,
  valuesOf: (one: OutcomeDifference) => ReadonlyArray<unknown> = ({ a, b }) => [a ?? 0n, b ?? 0n],
): string => {
  const isWordless = one.kind === "control" || (one.a === null && one.b === null);
  return subjectText(one, write) + (isWordless ? "" : `: ${valuesOf(one).join(" and ")}`);
};
