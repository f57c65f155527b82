/**
 * Calls that failed inside one that succeeded: by events of known kinds that the called accounts emitted, and by the
 * answers of contracts that are known. Loaded where there is something to read. Pure.
 */
import * as Arr from "effect/Array";
import { decodeRevert } from "../../abi/table.js";
import type { AbiIndex } from "../../abi/abiIndex.js";
import { describeRawCall, innerText } from "../../abi/calls.js";
import { isLenient } from "../../abi/batches.js";
import { askedBy } from "../../effects/asked.js";
import { eventIn } from "../../effects/events.js";
import type { Frame } from "../../effects/frames.js";
import { addressAt, argumentsAt, bytesAt, dataAt, placeOf, pointedAt, wordAt, wordDigits } from "../../abi/words.js";
import { innerCalls, type InnerCall, type InnerCallList } from "../../abi/innerCalls.js";
import { families, requestBatch } from "../../abi/known/batches.js";
import { type InnerEvent, type LogPlace, resultsOf } from "../../abi/known/failures.js";
import { type Address, type Hex, lower } from "../../primitives/hex.js";
import type { InnerCalls, InnerFailure } from "../../report/beside.js";
import type { Outcome, OutcomeLog, Transfer } from "../../report/parts.js";
import { isSystem } from "./nobodyCalled.js";

/** Calls that are read of one calldata, and failures that are told. */
const most = { calls: 1_024, failures: 64 } as const;

/** EntryPoints 0.6 to 0.9 where they are deployed: their events count wherever they are called from. */
const entryPoints: ReadonlySet<string> = new Set([
  "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789",
  "0x0000000071727de22e5e9d8baf0edac6f37da032",
  "0x4337084d9e255ff0702461cf8895ce9e3b5ff108",
  "0x433709009b8330fda32311df1c2afa402ed8d009",
]);

/** One call within calldata, and who makes it. */
export interface Inner {
  /** The account in whose place the call is made. */
  readonly by: Address;
  /** The selector of the function that makes it. */
  readonly form: string;
  /** Its place among the calls of that function, from 0. */
  readonly index: number;
  readonly call: InnerCall;
  readonly to: Address;
  /** The call that it is within; null for those of the transaction's own calldata. */
  readonly parent: Inner | null;
}

const flatten = (within: InnerCallList, by: Address, parent: Inner | null): ReadonlyArray<Inner> =>
  within.calls.flatMap((call, index) => {
    const innerCall: Inner = { by, form: within.form ?? "", index, call, to: lower(call.to ?? by), parent };
    // why: borrowed code acts in the caller's place
    return [innerCall, ...flatten(call, call.isDelegate ? by : innerCall.to, innerCall)];
  });

/** The calls within calldata for `to`, in their order. */
export const innerOf = (data: Hex, to: Address, abis: AbiIndex): ReadonlyArray<Inner> =>
  flatten(innerCalls(data, abis, { address: to, limit: most.calls }), lower(to), null);

/** The events that tell of a call; null where none do. */
const familyOf = ({ form }: Inner) => families[form] ?? null;

/** The bytes in which a value stands, and its place in them. */
const within = (log: OutcomeLog, [kind, at]: LogPlace): readonly [bytes: string, at: number | null] =>
  kind === "topic" ? [log.topics[at] ?? "", dataAt] : [log.data, placeOf(at, dataAt)];
const numberAt = (log: OutcomeLog, place: LogPlace): bigint | null => wordAt(...within(log, place));
const accountAt = (log: OutcomeLog, place: LogPlace): Address | null => addressAt(...within(log, place));

const hasFailed = (log: OutcomeLog, { fails }: InnerEvent): boolean => {
  if (typeof fails === "boolean") return fails;
  const value = numberAt(log, "zero" in fails ? fails.zero : "nonzero" in fails ? fails.nonzero : fails.at);
  return value !== null && ("nonzero" in fails ? value !== 0n : value === ("is" in fails ? fails.is : 0n));
};

/** The `bytes` that a word of the data points to. */
const pointedBytes = ({ data }: OutcomeLog, slot: number): Hex | null =>
  bytesAt(data, pointedAt(data, placeOf(slot, dataAt), dataAt));

/**
 * Events by which an account that is called, or an EntryPoint, reports on a call, with the account `whose` calls of the family
 * it counts among.
 */
const failuresIn = (logs: ReadonlyArray<OutcomeLog>, callees: ReadonlySet<string>) =>
  logs.flatMap((log) => {
    const { row, contract: by } = eventIn(log);
    const event = row.inner;
    if (event === undefined) return [];
    // why: a Safe before 1.3 does not index the module
    const named = event.names === undefined ? null : (accountAt(log, event.names) ?? accountAt(log, ["word", 0]));
    const whose = named !== null && callees.has(named) ? named : by;
    return callees.has(whose) || entryPoints.has(by) ? [{ log, event, by, whose }] : [];
  });
type FailureEvent = ReturnType<typeof failuresIn>[number];

/** The known result of one call: if it failed, and the data it reverted with. */
interface KnownResult extends Pick<InnerFailure, "by" | "data" | "evidence"> {
  readonly failed: boolean;
}

/** One call that succeeded, with the facts by which its inner calls are read. */
export interface SucceededCall extends Pick<Outcome, "returnData" | "logs" | "evidence"> {
  readonly to: Address;
  readonly data: Hex;
  /** True if the code at an address is known to be Multicall3's, so that its answers are believed. */
  readonly isMulticall: (account: Address) => boolean;
}

/** A failure as a report has it. */
export const failureOf = (
  by: Address,
  innerCall: Inner | null,
  { data, evidence }: Pick<KnownResult, "data" | "evidence">,
  abis: AbiIndex,
): InnerFailure => ({
  by,
  index: innerCall?.index ?? null,
  to: innerCall?.to ?? null,
  data: (innerCall?.call.data as Hex | undefined) ?? null,
  call: innerCall === null ? null : innerText(innerCall.call, innerCall.by, abis),
  revert: data === null ? null : decodeRevert(data, abis, { address: innerCall?.to ?? null }),
  evidence,
});

/** True if a call, or one that it is within, failed: what is within it then has no result of its own. */
const isWithin = (innerCall: Inner | null, failed: ReadonlySet<Inner>): boolean =>
  innerCall !== null && (failed.has(innerCall) || isWithin(innerCall.parent, failed));

/** Reads the results of a known contract's calls from its answers, those of calls within them, too. */
const answered = (all: ReadonlyArray<Inner>, { to, data, returnData, isMulticall, evidence }: SucceededCall) => {
  const within = new Map<Inner | null, Array<Inner>>();
  for (const innerCall of all) within.set(innerCall.parent, [...(within.get(innerCall.parent) ?? []), innerCall]);
  const known = new Map<Inner, KnownResult>();
  /** Failures of calls that were not read. */
  const loose: Array<KnownResult & { readonly index: number }> = [];
  const read = (calldata: string, answer: Hex, by: Address, parent: Inner | null): boolean => {
    const results = isMulticall(by) ? resultsOf(calldata, answer) : null;
    // why: arguments that are not as an encoder writes them are not read, and answered all the same
    const own = within.get(parent) ?? [];
    for (const [index, [success, output]] of (results ?? []).entries()) {
      const inner = own[index];
      const result = { failed: !success, by, data: output, evidence };
      if (inner !== undefined) known.set(inner, result);
      else if (!success) loose.push({ ...result, index });
      if (success && inner !== undefined && !inner.call.isDelegate) read(inner.call.data, output, inner.to, inner);
    }
    return results !== null;
  };
  const isRead = returnData !== null && read(data, returnData, lower(to), null);
  return { known, loose, isRead };
};

/** The signer of a forwarder's request, as an event names it and as it stands behind the calldata. */
const signerIn = ({ log }: FailureEvent): string => accountAt(log, ["topic", 1]) ?? "";
const signerOf = ({ call }: Inner): string => `0x${call.data.slice(-40)}`;

/** The requests of each signer in the order of their events: a forwarder passes over those that are no longer valid without a word. */
const bySigner: typeof inTurn = (own, group) => {
  const requests = Arr.groupBy(own, signerOf);
  return Object.entries(Arr.groupBy(group, signerIn)).flatMap(([key, events]) => inTurn(requests[key] ?? [], events));
};
/** The calls of one batch by the number that their events name. */
const byIndex: typeof inTurn = (own, group) => {
  if (new Set(own.map(({ parent }) => parent)).size !== 1) return [];
  return group.flatMap((event) => {
    const {
      log,
      event: { index },
    } = event;
    const inner = own.length === 1 ? own[0] : own[index === undefined ? -1 : Number(numberAt(log, index) ?? -1n)];
    return inner === undefined ? [] : [[event, inner] as const];
  });
};
const inTurn = (own: ReadonlyArray<Inner>, group: ReadonlyArray<FailureEvent>) =>
  own.length === group.length ? Arr.zip(group, own) : [];
/** The calls that the events of some families tell of; of the others in turn. */
const orders: Readonly<Record<string, typeof inTurn | undefined>> = { request: bySigner, try: byIndex };

/** Pairs events with the calls of the calldata that they tell of; returns the others, too. */
const paired = (all: ReadonlyArray<Inner>, events: ReadonlyArray<FailureEvent>) => {
  const groups = Object.values(Arr.groupBy(events, ({ whose, event }): string => `${whose}/${event.family}`));
  const pairs = new Map(
    groups.flatMap((group) => {
      const [
        {
          whose,
          event: { family },
        },
      ] = group;
      if (family === null) return [];
      // why: beside the call of an operation stands the one to a factory, of which no event tells
      const callees = group.flatMap(({ log, event }) =>
        event.callee === undefined ? [] : accountAt(log, event.callee),
      );
      const own = all.filter(
        (inner) =>
          inner.by === whose && familyOf(inner) === family && (callees.length === 0 || callees.includes(inner.to)),
      );
      return (orders[family] ?? inTurn)(own, group);
    }),
  );
  return { pairs, loose: groups.flat().filter((event) => !pairs.has(event)) };
};

/** The requests of batches that no event tells of; how many of one signer ran, where nobody knows which. */
const silent = (all: ReadonlyArray<Inner>, events: ReadonlyArray<FailureEvent>) => {
  const keyOf = (by: Address, signer: string) => `${by}/${signer}`;
  const own = all.filter(({ form }) => form === requestBatch);
  const requests = events.filter(({ event }) => event.family === "request");
  const ran = Arr.groupBy(requests, (event) => keyOf(event.whose, signerIn(event)));
  const byKey = Arr.groupBy(own, (innerCall) => keyOf(innerCall.by, signerOf(innerCall)));
  return Object.entries(byKey).flatMap(([key, signed]) => {
    const count = ran[key]?.length ?? 0;
    return signed.slice(count).map((request) => [request, count === 0] as const);
  });
};

/** As many failures as are told, the last of them for all the others: who excuses the first ones has not excused those. */
export const cut = (all: ReadonlyArray<() => InnerFailure>): ReadonlyArray<InnerFailure> => {
  if (all.length <= most.failures) return all.map((make) => make());
  const failures = all.slice(0, most.failures).map((make) => make());
  return failures.map((failure, place) =>
    place < most.failures - 1
      ? failure
      : { ...failure, index: null, to: null, data: null, call: `${all.length - place} calls, not shown`, revert: null },
  );
};

/** True if a call that failed is made again and succeeds, or what it was to pay comes in another way: many wrap what is not taken, and send that. */
const isMadeGood = (failed: Frame, frames: ReadonlyArray<Frame>, transfers: ReadonlyArray<Transfer>): boolean => {
  const { from, to, data, value } = failed;
  const isSame = (other: Pick<Frame, "from" | "to">): boolean => other.from === from && other.to === to;
  const again = frames.slice(frames.indexOf(failed)).filter((other) => !other.hasFailed && isSame(other));
  if (again.some((other) => other.data === data && other.value === value)) return true;
  if (value === 0n) return false;
  // why: some nodes log what a failed call was to pay
  const isWrapped = transfers.some((moved) => moved.token !== null && moved.amount >= value && isSame(moved));
  // why: a contract that calls itself pays others by that, and another call buys something else
  return isWrapped || (from !== to && again.some((other) => other.value >= value && other.data === "0x"));
};

/** True if a failure is no more than an answer: it could change nothing, fails with words in place of an error, or asks a token to move something, of which `AskedInVain` tells, or by a permit. */
const isAnswer = ({ from, to, data, value, answer, isStatic }: Frame, tokens: ReadonlySet<Address>): boolean => {
  if (to === null || value > 0n) return false;
  const { moves, row } = askedBy({ from, to, data }, 0);
  const isWords = answer !== "0x" && (answer.length - dataAt) % wordDigits === 0;
  return isStatic || isSystem(to) || isWords || (moves.length > 0 && tokens.has(to)) || row.grant?.isPermit === true;
};

/** True if a failure takes more gas than who asks for an answer would give. */
const isBurnt = ({ answer, gasUsed }: Frame): boolean => answer === "0x" && (gasUsed ?? 0n) >= 500_000n;

/** The failures that are known, with those that nothing but a trace tells of, and that their callers ignore. */
export const withLost = (
  known: ReadonlyArray<InnerFailure>,
  frames: ReadonlyArray<Frame>,
  transfers: ReadonlyArray<Transfer>,
  abis: AbiIndex,
  /** Contracts that answered as tokens, of those that were asked in vain. */
  tokens: ReadonlySet<Address> = new Set(),
): ReadonlyArray<InnerFailure> => {
  // why: what is around a call that failed, and fails for it, is no further failure
  const isKnown = (frame: Frame, { by, to, data }: InnerFailure): boolean =>
    data === null
      ? by === frame.from
      : (data.length > argumentsAt || (by === frame.from && to === frame.to)) &&
        frame.data.includes(data.slice(dataAt).toLowerCase());
  const lost = frames.filter(
    (frame) =>
      frame.hasFailed &&
      (frame.isCreation || ((isBurnt(frame) || !isAnswer(frame, tokens)) && !isMadeGood(frame, frames, transfers))) &&
      !known.some((failure) => isKnown(frame, failure)),
  );
  const made = { data: "0x", call: "the creation of a contract" } as const;
  return cut([
    ...known.map((failure) => () => failure),
    ...lost.map(({ from, to, data, value, answer, isCreation }) => () => ({
      ...failureOf(from, null, { data: answer === "0x" ? null : answer, evidence: "estimated" }, abis),
      ...(isCreation ? made : { to, data, call: describeRawCall(data, abis, { address: to }) }),
      ...(value === 0n ? {} : { value }),
    })),
  ]);
};

/** Reads what events say of calls; the reason of an operation stands in another event of the same hash. */
const resultsIn = (logs: ReadonlyArray<OutcomeLog>): ((event: FailureEvent) => KnownResult) => {
  const reasons = Arr.groupBy(
    logs.filter((log) => eventIn(log).row.isReason === true),
    ({ address, topics }): string => `${lower(address)}/${topics[1]}`,
  );
  const reasonOf = ({ log, event, by }: FailureEvent): Hex | null => {
    if (event.reason !== undefined) return pointedBytes(log, event.reason);
    const reason = event.family === "operation" ? reasons[`${by}/${log.topics[1]}`]?.[0] : undefined;
    return reason === undefined ? null : pointedBytes(reason, 1);
  };
  return (event) => {
    const failed = hasFailed(event.log, event.event);
    return { failed, by: event.by, data: failed ? reasonOf(event) : null, evidence: "logged" };
  };
};

/** The results of all calls that anything tells of, and failures of calls that are not known. */
const tellings = (all: ReadonlyArray<Inner>, reports: ReadonlyArray<FailureEvent>, subject: SucceededCall) => {
  const { known, loose, isRead } = answered(all, subject);
  const knownBy = resultsIn(subject.logs);
  const events = paired(all, reports);
  for (const [event, inner] of events.pairs) known.set(inner, knownBy(event));
  const others: Array<KnownResult & { readonly index: number | null }> = [
    ...loose,
    ...events.loose.map((event) => ({ ...knownBy(event), index: null })).filter((failure) => failure.failed),
  ];
  for (const [innerCall, isNamed] of silent(all, reports)) {
    const result = { failed: true, by: innerCall.by, data: null, evidence: "logged" } as const;
    if (isNamed) known.set(innerCall, result);
    else others.push({ ...result, index: null });
  }
  return { known, others, isRead };
};

/** The calls that failed inside, and how many may have failed unseen; null where there is neither. */
export const readInner = (subject: SucceededCall, abis: AbiIndex): typeof InnerCalls.Type | null => {
  const to = lower(subject.to);
  const all = innerOf(subject.data, to, abis);
  const reports = failuresIn(subject.logs, new Set<string>([to, ...all.flatMap(({ by, to: target }) => [by, target])]));
  const { known, others, isRead } = tellings(all, reports, subject);
  const forwarders = new Set(reports.filter(({ event }) => event.family === "request").map(({ whose }) => whose));
  const failed = new Set([...known].flatMap(([innerCall, result]) => (result.failed ? [innerCall] : [])));
  const inOrder = all.flatMap((innerCall) => {
    const result = known.get(innerCall);
    return result?.failed === true && !isWithin(innerCall.parent, failed) ? [[innerCall, result] as const] : [];
  });
  const unseen = all.filter(
    (innerCall) =>
      innerCall.call.mayFail &&
      !known.has(innerCall) &&
      !isWithin(innerCall.parent, failed) &&
      !(familyOf(innerCall) === "request" && forwarders.has(innerCall.by)),
  ).length;
  const isOpaque = all.length === 0 && !isRead && isLenient(subject.data);
  const every = cut([
    ...inOrder.map(
      ([innerCall, result]) =>
        () =>
          failureOf(result.by, innerCall, result, abis),
    ),
    ...others.map((failure) => () => ({ ...failureOf(failure.by, null, failure, abis), index: failure.index })),
  ]);
  const count = isOpaque ? 1 : unseen;
  return every.length === 0 && count === 0 ? null : { failed: every, unseen: count };
};
