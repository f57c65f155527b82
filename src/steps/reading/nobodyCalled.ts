/** Calls inside that reach an account without code, by the calldata, by a proxy's slots and by a trace. Lives on the witness; pure. */
import { hexToBytes } from "../../primitives/bytes.js";
import { argumentsAt, addressOf, wordDigits } from "../../abi/words.js";
import { askedBy } from "../../effects/asked.js";
import { effectsIn } from "../../effects/effects.js";
import { framesOf } from "../../effects/frames.js";
import { lower, type Address, type Hex } from "../../primitives/hex.js";
import { safely } from "../../primitives/record.js";
import { address, text, wei } from "../../primitives/statement.js";
import { code, type Finding } from "../../report/finding.js";
import type { View } from "../../witness/view.js";
import type { Query } from "../../witness/queries.js";
import { wordsIn } from "../../witness/placement.js";
import { successOf } from "./askResult.js";
import type { Facts } from "./answers.js";
import type { Case, Ran } from "./bundle.js";
import { mayBorrow, type Sights } from "./runCode.js";

/** Accounts that are looked at for code. */
const mostCallees = 48;

/** True for precompiles and accounts that a chain answers for itself: they have no code, keep nothing, and a node may refuse to replace them. */
export const isSystem = (account: Address): boolean => BigInt(account) <= 0xffffn && BigInt(account) > 0n;

/** The accounts that batches call with data. */
const innerCallees = (entry: Case): ReadonlyArray<Address> => {
  const [, ...inner] = effectsIn([entry], "call");
  return inner.flatMap(({ call: { data, as }, contract }) =>
    as !== undefined || data.length < argumentsAt || isSystem(contract) ? [] : contract,
  );
};

/** Queries before and after the transactions: who batches call. */
export const queries = (bundle: ReadonlyArray<Case>): ReadonlyArray<Query> =>
  [...new Set(bundle.flatMap(innerCallees))]
    .slice(0, mostCallees)
    .map((account): Query => ({ kind: "account", address: account }));

/** The code that a clone (ERC-1167) runs, by its own code. */
export const cloned = (code: Hex | null): Address | null => {
  const [front, behind] = ["0x363d3d373d3d3d363d73", "5af43d82803e903d91602b57fd5bf3"] as const;
  const isClone = code?.length === 92 && code.startsWith(front) && code.endsWith(behind);
  return isClone ? lower(`0x${code.slice(front.length, -behind.length)}`) : null;
};

/** The code that a contract runs for all that it is asked, by the slots behind a run and by its own code. */
export const implementationsOf = (
  contract: Address,
  slots: View | null,
  codes: Facts["codes"],
): ReadonlyArray<Address> => {
  const words = wordsIn(slots, contract, false);
  const kept = words.flatMap(({ holds, word }) =>
    holds === "implementation" && word !== null && word !== 0n ? addressOf(word) : [],
  );
  return [...kept, ...[cloned(successOf(codes.get(contract)))].filter((clone) => clone !== null)];
};

/** True if an account had no code in front of the transactions, and none behind them. */
const hasNoCode = (account: Address, { before, after }: Sights): boolean =>
  !isSystem(account) && [before, after].every((view) => view.account(account)?.codeSize === 0n);

/** Bytes behind which a wallet names itself in calldata (ERC-8021). */
const suffix = "8021".repeat(8);

/** True for a control character but a tab and those of lines. */
const isControl = (point: number): boolean =>
  (point < 0x20 && ![9, 10, 13].includes(point)) || (point >= 0x7f && point < 0xa0);

/** True for UTF-8 without control characters: arguments have zeros among them. */
const isText = (bytes: Uint8Array): boolean =>
  safely(() => {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return [...text].every((letter) => !isControl(letter.codePointAt(0) ?? 0));
  }, false);

/** True if calldata asks nobody for anything: it is a text, or only the names of a wallet, with their length behind them. */
export const isNote = (data: Hex): boolean => {
  const bytes = hexToBytes(data);
  const isNames = data.endsWith(suffix) && bytes.length === (bytes.at(-18) ?? 0) + 18 && isText(bytes.subarray(0, -18));
  // why: four letters may be a selector
  return isNames || (isText(bytes) && bytes.length !== 4);
};

/** True if calldata is laid out as that of a function, and is no text and no wallet's name. */
const isCallLike = (data: Hex): boolean =>
  data.length >= argumentsAt &&
  (data.length - argumentsAt) % wordDigits === 0 &&
  !data.endsWith(suffix) &&
  // why: a text, and no selector, is letters from its beginning to its end
  !isText(hexToBytes(data));

/**
 * Such a call succeeds and does nothing: the contract is not on this chain, or not yet, or the code behind a proxy is gone.
 * Its value stays at that address.
 * @figures address("to", usdc), text("function", "transfer"), wei("value", 0n)
 * @info where neither the function is a known one nor anything is paid: it may be a note
 */
export const CalledNobody = code("code", ["warning", "info"], "CalledNobody", [
  "a call inside goes to an account without code, and does nothing",
  "check the address and the chain",
]);

/** A call that reached nobody. */
interface Vain {
  readonly by: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  /** True if the code was to run in another's place: all that is asked there is asked of it. */
  readonly isBorrowed: boolean;
  readonly evidence: "measured" | "estimated";
}

/** Calls of batches. */
const held = (entry: Ran, sights: Sights): ReadonlyArray<Vain> => {
  const callees = new Set(innerCallees(entry));
  const failed = entry.outcome.inner?.failed ?? [];
  const [, ...inner] = effectsIn([entry], "call");
  return inner.flatMap(({ call: { from, data, as }, contract: to }) => {
    if (as !== undefined || !callees.has(to) || !hasNoCode(to, sights)) return [];
    if (failed.some((failure) => failure.data === null || failure.data.includes(data.slice(2)))) return [];
    const paid = entry.transfers.find((moved) => moved.token === null && moved.to === to && moved.from === lower(from));
    return [{ by: lower(from), to, data, value: paid?.amount ?? 0n, isBorrowed: false, evidence: "measured" }];
  });
};

/** Calls of proxies whose code is nobody's, where nothing else shows that the proxy did something. */
const passedOn = (entry: Ran, { run, codes, ...sights }: NobodyFacts): ReadonlyArray<Vain> =>
  effectsIn([entry], "call").flatMap(({ call: { data, as }, contract }, place) => {
    if (as !== undefined || data.length < argumentsAt) return [];
    const isSilent =
      (place > 0 || entry.outcome.returnData === "0x") &&
      !entry.outcome.logs.some(({ address: emitter }) => lower(emitter) === contract);
    const gone = isSilent
      ? implementationsOf(contract, run?.slots ?? null, codes).filter((target) => hasNoCode(target, sights))
      : [];
    const code = gone.length === 0 ? null : successOf(codes.get(contract));
    // why: who runs no other's code may keep an address anywhere
    if (code !== null && !mayBorrow(code)) return [];
    const value = place === 0 ? entry.input.value : 0n;
    return gone.map((to) => ({ by: contract, to, data, value, isBorrowed: true, evidence: "measured" as const }));
  });

/** Calls that a tracer saw to run nothing. */
const traced = (entry: Ran, { traces, ...sights }: NobodyFacts): ReadonlyArray<Vain> =>
  framesOf(traces?.[entry.index]?.trace).flatMap(({ from: by, to, data, value, isBorrowed, isIdle }) =>
    !isIdle ||
    to === null ||
    isSystem(to) ||
    data.length < argumentsAt ||
    (sights.before.account(to)?.codeSize ?? 0n) > 0n
      ? []
      : [{ by, to, data, value, isBorrowed, evidence: "estimated" as const }],
  );

type NobodyFacts = Sights & Pick<Facts, "codes" | "traces"> & { readonly run: { readonly slots: View | null } | null };

/** Finds calls that reach nobody, each once. A function that is known, or a payment with a call, is a warning; a note is none. */
export const check = (bundle: ReadonlyArray<Ran>, facts: NobodyFacts): ReadonlyArray<Finding> =>
  bundle.flatMap((entry) => {
    if (entry.outcome.status !== "success") return [];
    const all = [...held(entry, facts), ...passedOn(entry, facts), ...traced(entry, facts)];
    const once = new Map(all.map((vain) => [`${vain.by}${vain.to}${vain.data}`, vain] as const).reverse());
    return [...once.values()].reverse().flatMap(({ by, to, data, value, isBorrowed, evidence }) => {
      const { row } = askedBy({ from: by, to, data }, entry.index);
      const isKnown = Object.keys(row).length > 0;
      const isGrave = isKnown || isBorrowed || (value > 0n && isCallLike(data));
      // why: contracts tell others of what happens, whether these have code or not
      if (!isGrave && (evidence === "estimated" || !isCallLike(data))) return [];
      const severity = isGrave ? "warning" : "info";
      const name = row.answers ?? (row.move === undefined ? null : "transfer");
      const numbers = [
        address("made by", by),
        address("to", to),
        text("function", name),
        value === 0n ? null : wei("value", value),
      ];
      return [CalledNobody[severity]({ transaction: entry.index, evidence }, ...numbers)];
    });
  });
