/** Whether what ran used anything in which two forks differ, where what executes and what headers say are of two. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import { eip7825Cap, isOfLaterFork } from "../../chains/rules.js";
import { asking } from "../../eth/ask.js";
import { askAccessList } from "../../eth/call.js";
import * as Eth from "../../eth/index.js";
import type { Address, Hex } from "../../primitives/hex.js";
import type { Outcome } from "../../report/parts.js";
import type { Rpc } from "../../rpc/index.js";
import type { Bundle, Filled } from "../../steps/reading/bundle.js";
import { bareCall } from "../../transaction/request.js";
import type { Answers } from "../answers.js";
import { inRound } from "../rounds.js";
import type { ProofInput } from "../proofPlans.js";

/** Accounts whose code is read. */
const mostAccounts = 64;
/** EIP-3860. */
const osakaInitCode = 49_152;

/**
 * Whether the requests alone keep within what both forks allow: what executes is the later one, in which nothing costs
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

/** How it is asked what the bundle touches, as one call where it is several; null where that cannot be. */
const askTouched = (claim: ProofInput, block: Answers["block"]) => {
  const [{ input, request }, ...rest] = claim.bundle;
  const { from } = input;
  if (rest.length === 0) return askAccessList(bareCall(input, request.gas), block);
  const calls = claim.bundle.flatMap(({ input: { to, value, data, from: by } }) =>
    to === null || by !== from ? [] : [{ to, value, data }],
  );
  return calls.length < claim.bundle.length
    ? null
    : askAccessList({ from, to: from, stateOverrides: { [from]: { code: batchCode(calls) } } }, block);
};

/**
 * Whether the bundle may have used what the two forks have not in common; where nobody can tell, it may. Not asked where
 * no code runs. JSON-RPC: `eth_createAccessList`, then `eth_getCode` of what it names.
 */
export const askForkUse = (
  claim: ProofInput,
  answers: Answers,
  bundle: Bundle<Filled>,
  others: ReadonlyArray<Outcome>,
): Effect.Effect<boolean, never, Rpc> => {
  if (!keepsWithinBoth(answers, bundle) || claim.report.options.stateOverrides !== null) return Effect.succeed(true);
  if (bundle.every(({ input, code }) => input.data.length === 2 && code.to?.kind === "nobody"))
    return Effect.succeed(false);
  const inNext = <A, E>(ask: Effect.Effect<A, E, Rpc>) => inRound("forkBetween", asking({ step: "chain" }, ask));
  return Effect.gen(function* () {
    const asksTouched = askTouched(claim, answers.block);
    const touched = asksTouched === null ? null : yield* inNext(asksTouched);
    if (touched === null) return true;
    const emitters = [...bundle.map(({ outcome }) => outcome), ...others].flatMap(({ logs }) => logs);
    const accounts = new Set<Address>([
      ...bundle.flatMap(({ input: { to } }) => to ?? []),
      ...[...touched, ...emitters].map(({ address }) => address.toLowerCase() as Address),
    ]);
    if (accounts.size > mostAccounts) return true;
    const asksCodes = Effect.forEach(accounts, (address) => Eth.getCode({ address, block: answers.block }), {
      concurrency: "unbounded",
    });
    const codes = accounts.size === 0 ? [] : yield* inNext(asksCodes);
    const initCodes = bundle.flatMap(({ input: { to, data } }) => (to === null ? [data] : []));
    return [...codes, ...initCodes].some((code) => code.startsWith("0xef0100") || isOfLaterFork(code));
  }).pipe(Effect.catch(() => Effect.succeed(true)));
};
