/**
 * Calls that failed inside one that succeeded: by events of known kinds that the called accounts emitted, and by the
 * answers of contracts that are known. Loaded where there is something to read. Pure.
 */
import { decodeRevert } from "../../abi/decodeRevert.js";
import type { AbiIndex } from "../../abi/abiIndex.js";
import { innerCalls, type InnerCall, type Within } from "../../abi/innerCalls.js";
import { leavesOf } from "../../abi/layout.js";
import type { Address, Hex } from "../../primitives/hex.js";
import { safely } from "../../primitives/safely.js";
import type { Evidence } from "../../report/finding.js";
import type { InnerCalls, InnerFailure } from "../../report/inner.js";
import type { OutcomeLog } from "../../report/parts.js";
import { decodeAbiParameters } from "viem";
import { innerEventOf, operationReasons, type InnerEvent, type Place } from "./innerEvents.js";
import { eventOf } from "./transferLogs.js";

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
  /** The function that makes it. */
  readonly form: string;
  /** Its place among the calls of that function, from 0. */
  readonly index: number;
  readonly call: InnerCall;
  readonly to: Address;
  /** The call that it is within; null for those of the transaction's own calldata. */
  readonly parent: Inner | null;
}

const lower = (account: string): Address => account.toLowerCase() as Address;

const flatten = (within: Within, by: Address, parent: Inner | null): ReadonlyArray<Inner> =>
  within.calls.flatMap((call, index) => {
    const one: Inner = { by, form: within.form ?? "", index, call, to: lower(call.to ?? by), parent };
    // why: borrowed code acts in the caller's place
    return [one, ...flatten(call, call.isDelegate ? by : one.to, one)];
  });

/** The calls within calldata for `to`, in their order. */
export const innerOf = (data: Hex, to: Address, abis: AbiIndex): ReadonlyArray<Inner> =>
  flatten(innerCalls(data, abis, { address: to, limit: most.calls }), lower(to), null);

/** The functions of which each call has an event of the family. */
const forms: Readonly<Record<NonNullable<InnerEvent["family"]>, RegExp>> = {
  safe: /^execTransaction\(/,
  module: /^execTransaction(FromModule|WithRole)/,
  operation: /^handle(Aggregated)?Ops\(/,
  request: /^execute(Batch)?\(\(address,address,uint256,uint256,uint48/,
  try: /^execute(FromExecutor)?\(bytes32,bytes\)/,
};

const wordAt = (log: OutcomeLog, [kind, at]: Place): string | null => {
  const word = kind === "topic" ? log.topics[at]?.slice(2) : log.data.slice(2 + at * 64, 66 + at * 64);
  return word?.length === 64 ? word : null;
};

const numberAt = (log: OutcomeLog, place: Place): bigint | null => {
  const word = wordAt(log, place);
  return word === null ? null : BigInt(`0x${word}`);
};

const hasFailed = (log: OutcomeLog, { fails }: InnerEvent): boolean => {
  if (typeof fails === "boolean") return fails;
  const value = numberAt(log, "zero" in fails ? fails.zero : "nonzero" in fails ? fails.nonzero : fails.at);
  if (value === null) return false;
  return "zero" in fails ? value === 0n : "nonzero" in fails ? value !== 0n : value === fails.is;
};

/** The `bytes` that a word of the data points to; null where they do not lie within it. */
const bytesAt = (log: OutcomeLog, slot: number): Hex | null => {
  const offset = numberAt(log, ["word", slot]);
  if (offset === null || offset % 32n !== 0n || offset > BigInt(log.data.length)) return null;
  const at = Number(offset / 32n);
  const size = numberAt(log, ["word", at]);
  const start = 2 + (at + 1) * 64;
  return size === null || size * 2n > BigInt(log.data.length - start)
    ? null
    : (`0x${log.data.slice(start, start + Number(size) * 2)}` as Hex);
};

/** What `name` of the accounts that are called, or an EntryPoint, says of a call. */
interface Told {
  readonly log: OutcomeLog;
  readonly event: InnerEvent;
  readonly by: Address;
  /** Whose calls of the family it counts among. */
  readonly whose: Address;
}

const toldIn = (logs: ReadonlyArray<OutcomeLog>, called: ReadonlySet<string>): ReadonlyArray<Told> =>
  logs.flatMap((log) => {
    const event = innerEventOf(log);
    if (event === null) return [];
    const by = lower(log.address);
    const word = event.names === undefined ? null : wordAt(log, event.names);
    // why: a Safe before 1.3 does not index the module
    const named = lower(`0x${(word ?? wordAt(log, ["word", 0]) ?? "").slice(-40)}`);
    const isNamed = event.names !== undefined && called.has(named);
    if (!called.has(by) && !isNamed && !entryPoints.has(by)) return [];
    return [{ log, event, by, whose: isNamed ? named : by }];
  });

/** What is known of one call: whether it failed, and what it reverted with. */
interface Known {
  readonly failed: boolean;
  readonly by: Address;
  readonly data: Hex | null;
  readonly evidence: Evidence;
}

/** The answer of a Multicall3, call by call; null where it is none. */
const resultsOf = (form: string, data: Hex): ReadonlyArray<readonly [success: boolean, data: Hex]> | null => {
  const read = <A>(types: ReadonlyArray<object>): ReadonlyArray<A> | null => {
    const parameters = types as Parameters<typeof leavesOf>[0];
    if (leavesOf(parameters, data.slice(2), true) === null) return null;
    return safely(() => decodeAbiParameters(parameters as never, data) as ReadonlyArray<A>, null);
  };
  const results = { type: "tuple[]", components: [{ type: "bool" }, { type: "bytes" }] };
  type Results = ReadonlyArray<readonly [boolean, Hex]>;
  const name = form.slice(0, form.indexOf("("));
  if (name === "aggregate") {
    const all = read<ReadonlyArray<Hex>>([{ type: "uint256" }, { type: "bytes[]" }])?.[1];
    return all?.map((one) => [true, one] as const) ?? null;
  }
  if (name === "tryAggregate" || name.startsWith("aggregate3")) return read<Results>([results])?.[0] ?? null;
  if (name.endsWith("lockAndAggregate") || name.endsWith("BlockAndAggregate"))
    return read<Results>([{ type: "uint256" }, { type: "bytes32" }, results])?.[2] ?? null;
  return null;
};

/** What is asked of one call that succeeded. */
export interface Subject {
  readonly to: Address;
  readonly data: Hex;
  readonly returnData: Hex | null;
  readonly logs: ReadonlyArray<OutcomeLog>;
  /** Whether the code at an address is known to be Multicall3's, so that its answers are believed. */
  readonly isMulticall: (account: Address) => boolean;
  readonly evidence: Evidence;
}

/** A failure as a report has it. */
export const failureOf = (
  by: Address,
  one: Inner | null,
  { data, evidence }: { readonly data: Hex | null; readonly evidence: Evidence },
  abis: AbiIndex,
): InnerFailure => ({
  by,
  index: one?.index ?? null,
  to: one?.to ?? null,
  data: (one?.call.data as Hex | undefined) ?? null,
  call: one?.call.text ?? null,
  revert: data === null ? null : decodeRevert(data, abis, { address: one?.to ?? null }),
  evidence,
});

/** Whether a call, or one that it is within, failed: what is within it then has no result of its own. */
const isWithin = (one: Inner | null, failed: ReadonlySet<Inner>): boolean =>
  one !== null && (failed.has(one) || isWithin(one.parent, failed));

/** The calls that failed inside, and how many may have failed unseen; null where there is neither. */
export const readInner = (subject: Subject, abis: AbiIndex): InnerCalls | null => {
  const to = lower(subject.to);
  const all = innerOf(subject.data, to, abis);
  const called = new Set<string>([to, ...all.flatMap(({ by, to: target }) => [by, target])]);
  const told = toldIn(subject.logs, called);
  const known = new Map<Inner, Known>();
  const loose: Array<InnerFailure> = [];

  // the answers of Multicall3, those within them, too
  const answers = (data: Hex | null, by: Address, parent: Inner | null): void => {
    const own = all.filter((one) => one.parent === parent);
    const form = own[0]?.form;
    if (data === null || form === undefined || !subject.isMulticall(by)) return;
    for (const [index, [success, output]] of (resultsOf(form, data) ?? []).entries()) {
      const one = own.find((inner) => inner.index === index);
      const result = { failed: !success, by, data: output, evidence: subject.evidence };
      if (one !== undefined) known.set(one, result);
      else if (!success) loose.push({ ...failureOf(by, null, result, abis), index });
      if (success && one !== undefined && !one.call.isDelegate) answers(output, one.to, one);
    }
  };
  answers(subject.returnData, to, null);

  // events that come in the order of the calls they tell of
  const reasonsOf = ({ log, event }: Told): Hex | null => {
    if (event.reason !== undefined) return bytesAt(log, event.reason);
    if (event.family !== "operation") return null;
    for (const kind of operationReasons) {
      const reason = subject.logs.find(
        (other) => eventOf(other) === kind && other.address === log.address && other.topics[1] === log.topics[1],
      );
      if (reason !== undefined) return bytesAt(reason, 1);
    }
    return null;
  };
  const groups = new Map<string, Array<Told>>();
  for (const one of told) {
    const key = `${one.whose}/${one.event.family}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  for (const group of groups.values()) {
    const [
      {
        event: { family },
        whose,
      },
    ] = group as [Told];
    const own = family === null ? [] : all.filter(({ by, form }) => by === whose && forms[family].test(form));
    const batches = new Set(own.map(({ parent }) => parent));
    // why: a forwarder passes over requests that are no longer valid without a word
    const signerOf = (log: OutcomeLog): string => wordAt(log, ["topic", 1])?.slice(-40) ?? "-";
    const requestOf = ({ log }: Told): Inner | undefined => {
      const theirs = own.filter(({ call }) => call.data.endsWith(signerOf(log)));
      const heard = group.filter((other) => signerOf(other.log) === signerOf(log));
      return theirs.length === heard.length ? theirs[heard.findIndex((other) => other.log === log)] : undefined;
    };
    for (const [place, one] of group.entries()) {
      const { event, log, by } = one;
      const index = event.index === undefined ? null : numberAt(log, event.index);
      const inner =
        family === "request"
          ? requestOf(one)
          : family === "try"
            ? batches.size !== 1
              ? undefined
              : own.length === 1
                ? own[0]
                : own.find((each) => BigInt(each.index) === index)
            : own.length === group.length
              ? own[place]
              : undefined;
      const result = { failed: hasFailed(log, event), by, data: reasonsOf(one), evidence: "logged" } as const;
      if (inner !== undefined) known.set(inner, result);
      else if (result.failed) loose.push(failureOf(by, null, result, abis));
    }
  }
  // requests of a batch that no event tells of did not run; of those of one signer nobody knows which
  for (const one of all) {
    if (!forms.request.test(one.form) || !one.form.startsWith("executeBatch") || known.has(one)) continue;
    const signer = one.call.data.slice(-40);
    const heard = told.filter(
      ({ event, log, whose }) => event.family === "request" && whose === one.by && log.topics[1]?.endsWith(signer),
    );
    const theirs = all.filter(({ by, form, call }) => by === one.by && form === one.form && call.data.endsWith(signer));
    const result = { failed: heard.length === 0, by: one.by, data: null, evidence: "logged" } as const;
    known.set(one, result);
    if (heard.length > 0 && theirs.indexOf(one) >= heard.length) loose.push(failureOf(one.by, null, result, abis));
  }

  const failed = new Set([...known].flatMap(([one, result]) => (result.failed ? [one] : [])));
  const failures = all.flatMap((one) => {
    const result = known.get(one);
    return result?.failed === true && !isWithin(one.parent, failed) ? [failureOf(result.by, one, result, abis)] : [];
  });
  const unseen = all.filter((one) => one.call.mayFail && !known.has(one) && !isWithin(one.parent, failed)).length;
  const every = [...failures, ...loose].slice(0, most.failures);
  return every.length === 0 && unseen === 0 ? null : { failed: every, unseen };
};
