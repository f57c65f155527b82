/**
 * Whether two runs of the same transactions tell the same story. Pure.
 *
 * Compared: status, revert data, which contracts emitted which events in which order, movements,
 * measured balances and approvals; amounts within a tolerance. Not compared: gas, and values that are
 * neither moved nor granted: honest contracts read the clock (auctions, vesting, deadlines), and what
 * the clock moves within the tolerance is no theatre.
 */
import * as Arr from "effect/Array";
import { rightsIn } from "./grants.js";
import { controlsIn } from "./controlLogs.js";
import type { Approval, BalanceChange, Outcome, Transfer } from "../../report/parts.js";
import { amountLine, assetText } from "../../report/amountLine.js";

/** One difference between two runs. */
export interface Difference {
  /** With both values. */
  readonly line: string;
  /**
   * `status`: one succeeds. `loss`: what leaves one of `whose`, or to whom. `right`: a right or who controls a
   * contract. `other`: the rest, such as what comes in.
   */
  readonly kind: "status" | "loss" | "right" | "other";
  /** Whether both runs have it, so that they differ in its amount alone. */
  readonly isAmount: boolean;
}

/** One run, as far as it is compared. */
export interface Story {
  readonly outcomes: ReadonlyArray<Outcome>;
  readonly transfers: ReadonlyArray<Transfer>;
  readonly balanceChanges: ReadonlyArray<BalanceChange>;
  readonly approvals: ReadonlyArray<Approval>;
}

/** Who produces the block: one party, under as many addresses as there are runs. */
const producerName = "the block's producer" as Transfer["from"];

/**
 * A story whose native currency goes to and from the block's producer as one party. What it holds is left out, for the
 * next block's is another. Where its own place decides, as a sender's does, it stays who it is.
 */
export const withProducer = <S extends Story>(story: S, producer: string | null, concerned: ReadonlySet<string>): S => {
  const isPaid = ({ token, from, to }: Transfer) => token === null && (from === producer || to === producer);
  if (producer === null || concerned.has(producer.slice(2)) || !story.transfers.some(isPaid)) return story;
  const named = (party: Transfer["from"]) => (party === producer ? producerName : party);
  return {
    ...story,
    transfers: story.transfers.map((transfer) =>
      isPaid(transfer) ? { ...transfer, from: named(transfer.from), to: named(transfer.to) } : transfer,
    ),
    balanceChanges: story.balanceChanges.filter(({ token, account }) => token !== null || account !== producer),
  };
};

const size = (value: bigint): bigint => (value < 0n ? -value : value);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Parts per million. */
const million = 1_000_000n;

/** Whether two amounts differ by no more than the share `tolerance` of `scale`, by default the larger of them. */
export const within = (
  a: bigint,
  b: bigint,
  tolerance: number,
  scale: bigint = a < 0n === b < 0n ? larger(size(a), size(b)) : 0n,
): boolean => a === b || size(a - b) * million <= scale * BigInt(Math.round(tolerance * 1_000_000));

/** Whether the same contracts emitted the same events in the same order. */
const hasSameEvents = ({ logs: a }: Outcome, { logs: b }: Outcome): boolean =>
  a.length === b.length &&
  a.every(({ address, topics }, index) => address === b[index]?.address && topics[0] === b[index].topics[0]);

const compareOutcomes = (a: ReadonlyArray<Outcome>, b: ReadonlyArray<Outcome>): ReadonlyArray<Difference> =>
  Arr.zip(a, b).flatMap(([one, other], index): ReadonlyArray<Difference> => {
    const found = (kind: Difference["kind"], what: string) => [
      { kind, isAmount: false, line: `transaction ${index + 1}: ${what}` },
    ];
    if (one.status === "unknown" || other.status === "unknown") return [];
    if (one.status !== other.status) return found("status", `${one.status} and ${other.status}`);
    if (one.status !== "success")
      return one.revert?.data === other.revert?.data ? [] : found("other", "two different reverts");
    return hasSameEvents(one, other)
      ? []
      : found("other", `${one.logs.length} and ${other.logs.length} events, not the same ones`);
  });

const compareAmounts = (
  what: string,
  a: ReadonlyMap<string, bigint>,
  b: ReadonlyMap<string, bigint>,
  tolerance: number,
  kindOf: (key: string, one: bigint, other: bigint) => Difference["kind"],
): ReadonlyArray<Difference> =>
  [...new Set([...a.keys(), ...b.keys()])].flatMap((key) => {
    const [one, other] = [a.get(key) ?? 0n, b.get(key) ?? 0n];
    if (within(one, other, tolerance)) return [];
    const isAmount = a.has(key) && b.has(key) && one < 0n === other < 0n;
    return [{ kind: kindOf(key, one, other), isAmount, line: amountLine(`${what} ${key}`, one, other) }];
  });

interface Flow {
  readonly amount: bigint;
  readonly from: string;
  /** What moves between the two in either direction. */
  readonly pair: string;
}

/** Whether the same moved in the same order, which is what two runs nearly always say. */
const isSameMovement = (a: ReadonlyArray<Transfer>, b: ReadonlyArray<Transfer>): boolean =>
  a.length === b.length &&
  a.every(({ token, tokenId, from, to, amount }, index) => {
    const other = b[index];
    const isSameAsset = token === other?.token && tokenId === other.tokenId;
    return isSameAsset && from === other.from && to === other.to && amount === other.amount;
  });

const moved = (transfers: ReadonlyArray<Transfer>): ReadonlyMap<string, Flow> => {
  const flows = new Map<string, Flow>();
  for (const transfer of transfers) {
    const { token, tokenId, from, to, amount } = transfer;
    const key = `of ${assetText(transfer)} from ${from} to ${to}`;
    const pair = `${token}/${tokenId}/${from < to ? `${from}/${to}` : `${to}/${from}`}`;
    flows.set(key, { amount: (flows.get(key)?.amount ?? 0n) + amount, from, pair });
  }
  return flows;
};

/**
 * Movements are measured by the largest between the same two parties: what an auction gives back of a
 * payment changes with its price by little of the payment, however little is given back.
 */
const compareMovements = (
  one: ReadonlyArray<Transfer>,
  other: ReadonlyArray<Transfer>,
  tolerance: number,
  whose: ReadonlySet<string>,
): ReadonlyArray<Difference> => {
  if (isSameMovement(one, other)) return [];
  const [a, b] = [moved(one), moved(other)];
  const scales = new Map<string, bigint>();
  for (const { pair, amount } of [...a.values(), ...b.values()])
    scales.set(pair, larger(scales.get(pair) ?? 0n, amount));
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((key) => {
    const [flow, counter] = [a.get(key), b.get(key)];
    const [here, there] = [flow?.amount ?? 0n, counter?.amount ?? 0n];
    const scale = scales.get(flow?.pair ?? counter?.pair ?? "") ?? 0n;
    if (within(here, there, tolerance, scale)) return [];
    const kind = whose.has(flow?.from ?? counter?.from ?? "") ? "loss" : "other";
    const isAmount = flow !== undefined && counter !== undefined;
    return [{ kind, isAmount, line: amountLine(`movement ${key}`, here, there) }];
  });
};

const changed = (changes: ReadonlyArray<BalanceChange>): ReadonlyMap<string, bigint> =>
  new Map(
    changes
      .filter(({ evidence }) => evidence === "measured")
      .map((change) => [`of ${change.account} in ${assetText(change)}`, change.delta]),
  );

const granted = (approvals: ReadonlyArray<Approval>): ReadonlyMap<string, bigint> =>
  new Map(
    approvals
      .filter(({ evidence }) => evidence === "measured")
      .map((right) => [
        `of ${right.standard} ${assetText(right)} by ${right.owner} to ${right.spender}`,
        right.after ?? 0n,
      ]),
  );

/** What the events say of rights: the last word on each. */
const said = (outcomes: ReadonlyArray<Outcome>): ReadonlyMap<string, bigint> =>
  new Map(
    outcomes
      .flatMap(({ logs }, index) => rightsIn(logs, index))
      .map((right) => [`of ${assetText(right)} by ${right.owner} to ${right.spender}`, right.said]),
  );

const controlled = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<string> =>
  outcomes.flatMap(({ logs }, index) =>
    controlsIn(logs, index).map(
      ({ code, what, contract, role, loses, gains }) =>
        `${code}, ${what}: ${contract}${role === null ? "" : ` role ${role}`} from ${loses ?? "nobody"} to ${gains ?? "nobody"}`,
    ),
  );

const compareControl = (a: ReadonlyArray<Outcome>, b: ReadonlyArray<Outcome>): ReadonlyArray<Difference> => {
  const [one, other] = [controlled(a), controlled(b)];
  const only = (these: ReadonlyArray<string>, those: ReadonlySet<string>) => these.filter((line) => !those.has(line));
  return [...only(one, new Set(other)), ...only(other, new Set(one))].map((line) => ({
    ...{ kind: "right", isAmount: false },
    line: `only in one run: ${line}`,
  }));
};

/** Whether two runs ended alike and emitted the same events: they differ in amounts at most. */
export const isSameShape = (a: Story, b: Story): boolean =>
  compareOutcomes(a.outcomes, b.outcomes).length === 0 && compareControl(a.outcomes, b.outcomes).length === 0;

const accountIn = (key: string): string => /^of (0x[0-9a-f]{40}) in /.exec(key)?.[1] ?? "";

/** What differs, none where the stories agree; `a` is named first, `whose` losses are told from other movements. */
export const differences = (
  a: Story,
  b: Story,
  tolerance: number,
  whose: ReadonlySet<string> = new Set(),
): ReadonlyArray<Difference> => {
  const isLoss = (key: string, one: bigint, other: bigint) =>
    whose.has(accountIn(key)) && (one < 0n || other < 0n) ? "loss" : "other";
  const isRight = () => "right" as const;
  return [
    ...compareOutcomes(a.outcomes, b.outcomes),
    ...compareMovements(a.transfers, b.transfers, tolerance, whose),
    ...compareWhereBoth("balance change", changed(a.balanceChanges), changed(b.balanceChanges), tolerance, isLoss),
    ...compareAmounts("approval event", said(a.outcomes), said(b.outcomes), tolerance, isRight),
    ...compareWhereBoth("approval", granted(a.approvals), granted(b.approvals), tolerance, isRight),
    ...compareControl(a.outcomes, b.outcomes),
  ];
};

/** What was measured is compared where both runs measured it; a run that measured less is no difference. */
const compareWhereBoth = (
  what: string,
  one: ReadonlyMap<string, bigint>,
  other: ReadonlyMap<string, bigint>,
  tolerance: number,
  kindOf: (key: string, one: bigint, other: bigint) => Difference["kind"],
): ReadonlyArray<Difference> => {
  const both = new Set([...one.keys()].filter((key) => other.has(key)));
  const only = (amounts: ReadonlyMap<string, bigint>) => new Map([...amounts].filter(([key]) => both.has(key)));
  return compareAmounts(what, only(one), only(other), tolerance, kindOf);
};
