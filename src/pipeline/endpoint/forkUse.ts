/** Tells if what ran used anything in which two forks differ, where what executes and what headers say are of two. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { eip7825Cap, isOfLaterFork } from "../../chains/rules.js";
import { accessListOf } from "../../eth/call.js";
import * as Questions from "../../eth/questions.js";
import { asked, each, known, mapped, one, sent, type Ask } from "../../eth/round.js";
import { keccak256 } from "../../primitives/bytes.js";
import type { Address, Hash, Hex } from "../../primitives/hex.js";
import type { Outcome } from "../../report/parts.js";
import { Rpc, type Memory } from "../../rpc/index.js";
import type { EndpointFacts } from "../../rpc/memory.js";
import { successOf } from "../../steps/reading/askResult.js";
import { blockReads } from "../../steps/reading/blockReads.js";
import type { Bundle, Case, Filled } from "../../steps/reading/bundle.js";
import { codeHashIn, codeIn, isCodeChanged } from "../../steps/reading/runCode.js";
import { bareCall } from "../../transaction/request.js";
import type { Answers } from "../answers.js";
import { inRound } from "../rounds.js";
import type { Claim } from "../proofPlans.js";

/** Accounts whose code is read. */
const mostAccounts = 64;
/** EIP-3860. */
const osakaInitCode = 49_152;

/**
 * True if the requests alone keep within what both forks allow: what executes is the later one, in which nothing costs
 * less, the chain's own head is of the earlier, and no request asks for more than that gives.
 */
const keepsWithinBoth = ({ rules, header }: Answers, bundle: Bundle<Filled>): boolean =>
  rules.by === "executed" &&
  rules.fork === "amsterdam" &&
  header !== null &&
  header.requestsHash !== null &&
  header.blockAccessListHash === null &&
  header.slotNumber === null &&
  bundle.every(
    ({ input: { to, data, authorizationList }, request, outcome, code }) =>
      request !== null &&
      request.gas <= eip7825Cap &&
      outcome.status === "success" &&
      authorizationList === null &&
      (to !== null || sizeOf(data) <= osakaInitCode) &&
      code.from.kind === "nobody" &&
      code.to?.kind !== "delegated",
  );

const hex = (value: bigint | number, bytes: number): string => value.toString(16).padStart(2 * bytes, "0");

/** Bytes. */
const sizeOf = (data: Hex): number => (data.length - 2) / 2;

/** Code of an account that makes its calls one after the other, and fails where one of them does. */
const batchCode = (calls: ReadonlyArray<{ readonly to: Address; readonly value: bigint; readonly data: Hex }>): Hex => {
  const [head, each, tail] = [2, 74, 10] as const;
  const end = head + each * calls.length + tail;
  const offsets = Arr.scan(calls, end, (sum, { data }) => sum + sizeOf(data));
  const parts = Arr.zipWith(calls, offsets, ({ to, value, data }, offset) => {
    const length = `62${hex(sizeOf(data), 3)}`;
    const copied = `${length}62${hex(offset, 3)}5f39`;
    return `${copied}5f5f${length}5f7f${hex(value, 32)}73${to.slice(2)}5af116`;
  });
  const jump = `62${hex(end - 2, 3)}575f5ffd5b00`;
  return `0x6001${parts.join("")}${jump}${calls.map(({ data }) => data.slice(2)).join("")}`;
};

/** Asks what the bundle touches, as one call where it is several; null where that cannot be. */
const askTouched = (claim: Pick<Claim, "bundle" | "scanned">, block: Answers["block"]) => {
  const [{ input, request }, ...rest] = claim.bundle;
  const { from } = input;
  const calls = claim.bundle.flatMap(({ input: { to, value, data, from: by } }) =>
    to === null || by !== from ? [] : [{ to, value, data }],
  );
  if (rest.length > 0 && calls.length < claim.bundle.length) return known(Result.succeed(null));
  const touched =
    rest.length === 0
      ? accessListOf(bareCall(input, request.gas), block)
      : accessListOf({ from, to: from, stateOverrides: { [from]: { code: batchCode(calls) } } }, block);
  const told = rest.length === 0 ? (claim.scanned?.listed?.[0]?.list ?? null) : null;
  return mapped(
    // why: the scan may have asked for the same list
    told === null ? asked({ step: "chain" }, one(touched)) : known(Result.succeed(told)),
    Result.map((listing) => listing?.accessList.map(({ address }) => address.toLowerCase() as Address) ?? null),
  );
};

/** True if all code that is called was read, and calls no other. */
const callsNobody = (bundle: ReadonlyArray<Case>, codes: Answers["codes"]): boolean =>
  !blockReads(bundle, codes, new Set()).includes("others");

/**
 * The accounts that the bundle reaches beside those that it calls, asked in the round of the runs where the rules of its
 * report disagree and code that it calls may call other; null = not asked, or not told. JSON-RPC: `eth_createAccessList`.
 */
export const askReached = ({ report: { observed, options }, bundle, scanned }: Claim, block: Answers["block"]) =>
  observed.rules.agrees || options.stateOverrides !== null || callsNobody(bundle, scanned?.codes ?? new Map())
    ? known(null)
    : mapped(askTouched({ bundle, scanned }, block), successOf);

/** The most that is remembered of one connection: codes, and contracts that are called. */
const most = { codes: 512, callees: 64 } as const;

/** Accounts that the contracts of a bundle reached before, whose code the witness reads in its runs. */
export const reachedBefore = (memory: Memory, { report, bundle }: Pick<Claim, "report" | "bundle">) => {
  const { reached } = memory.recall("forkUse") ?? {};
  return reached === undefined || report.observed.rules.agrees
    ? []
    : [...new Set(bundle.flatMap(({ input: { to } }) => (to === null ? [] : (reached.get(to) ?? []))))].slice(
        0,
        mostAccounts,
      );
};

/** True if code may do something else under the later fork; a delegated account's was not looked at. */
const isOther = (code: Hex): boolean => code.startsWith("0xef0100") || isOfLaterFork(code);

const noneKnown: EndpointFacts["forkUse"] = { codes: new Map(), reached: new Map() };

/** True if an account's code is such, by what was read in the run, or before with the same hash; null = not known. */
const isOtherAt = (account: Address, answers: Answers, { codes }: EndpointFacts["forkUse"]): boolean | null => {
  const [code, hash] = [codeIn(account, answers), codeHashIn(account, answers)];
  return code !== null ? isOther(code) : hash === null ? null : (codes.get(hash) ?? null);
};

/** True if any of the codes is such; those that are not known are asked, and remembered, as is which callees reached them. */
const askOthers = (bundle: Bundle<Filled>, inside: ReadonlyArray<Address>, answers: Answers) =>
  Effect.gen(function* () {
    const { memory } = yield* Rpc;
    const called = bundle.flatMap(({ input: { to } }) => to ?? []);
    const accounts = [...new Set([...called, ...inside])];
    // guard: code that the bundle itself puts there
    const isChanged = accounts.some((account) => isCodeChanged(account, answers));
    if (accounts.length > mostAccounts || isChanged) return true;
    const before = memory.recall("forkUse") ?? noneKnown;
    const uses = accounts.map((account) => isOtherAt(account, answers, before));
    const unread = accounts.filter((_, place) => uses[place] === null);
    const read = each(unread, (address) => one(Questions.code({ address, block: answers.block })));
    const codes = unread.length > 0 ? yield* Effect.fromResult(Result.all(yield* inNext(read))) : [];
    const found = codes.map((code) => [keccak256(code) as Hash, isOther(code)] as const);
    const reached = called.map((to) => [to, inside] as const);
    if (inside.length > 0)
      memory.learn("forkUse", {
        codes: new Map([...before.codes, ...found].slice(-most.codes)),
        reached: new Map([...before.reached, ...reached].slice(-most.callees)),
      });
    return uses.includes(true) || found.some(([, isUsed]) => isUsed);
  });

const inNext = <A>(ask: Ask<A>) => inRound("forkBetween", sent(asked({ step: "chain" }, ask)));

/**
 * True if the bundle may have used what the two forks have not in common; where nobody can tell, it may. Code that was
 * read before is known by its hash, which the witness reads in the run. JSON-RPC, for what is not known:
 * `eth_createAccessList`, then `eth_getCode` of what it names.
 */
export const askForkUse = (
  claim: Claim,
  { reached }: { readonly reached: ReadonlyArray<Address> | null },
  answers: Answers,
  bundle: Bundle<Filled>,
  others: ReadonlyArray<Outcome>,
): Effect.Effect<boolean, never, Rpc> => {
  if (!keepsWithinBoth(answers, bundle) || claim.report.options.stateOverrides !== null) return Effect.succeed(true);
  if (bundle.every(({ input, code }) => input.data.length === 2 && code.to?.kind === "nobody"))
    return Effect.succeed(false);
  return Effect.gen(function* () {
    const isAlone = callsNobody(bundle, answers.codes);
    const touched = isAlone
      ? []
      : (reached ?? (yield* Effect.fromResult(yield* inNext(askTouched(claim, answers.block)))));
    const emitters = [...bundle.map(({ outcome }) => outcome), ...others].flatMap(({ logs }) => logs);
    const inside = [...(touched ?? []), ...emitters.map(({ address }) => address.toLowerCase() as Address)];
    const mayUse = touched === null || (yield* askOthers(bundle, [...new Set(inside)], answers));
    return mayUse || bundle.some(({ input: { to, data } }) => to === null && isOther(data));
  }).pipe(Effect.catch(() => Effect.succeed(true)));
};
