/**
 * Conditions on a report, as data. They are given as an option, kept in the report, and evaluated again by every
 * `prove`.
 *
 * A policy passes, fails (`PolicyViolation`, a blocker), or is not known to hold (`PolicyUnknown`, and the verdict is
 * `unknown`). What is not known never counts as passed. Amounts are raw units of a token, or wei. The balances that a
 * policy needs are measured in the same rounds, even where no event names them.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type * as Schema from "effect/Schema";
import { lazyCopyOf } from "./primitives/copy.js";
import { type Address, lower } from "./primitives/hex.js";
import { InvalidTransaction } from "./errors/input.js";
import {
  judgeExposure,
  judgeFee,
  judgeGas,
  judgeReceived,
  judgeSpent,
  type ExposureSubject,
} from "./policy/spending.js";
import { readData, type PolicyData } from "./policy/data.js";
import { every, some, unknown, type Policy, type PolicyResult } from "./report/policy.js";
import { each, no, type Checked } from "./primitives/problem.js";
import {
  judgeInner,
  judgeDelegated,
  judgeNewApprovals,
  judgeTouched,
  judgeUnlimitedApprovals,
} from "./policy/rights.js";
import type { Report } from "./report/schema.js";

export { type Policy, type PolicyResult, fail, pass, unknown } from "./report/policy.js";

/** A policy as its name and its data say. */
const named = (policy: string, data: Readonly<Record<string, Schema.Json>>, evaluate: Policy["evaluate"]): Policy => ({
  name: policy,
  data: { policy, ...data },
  evaluate,
});

const movement = (
  name: "maxSpent" | "minReceived" | "maxExposure",
  judge: (subject: ExposureSubject, amount: bigint) => Policy["evaluate"],
  token: Address | "native",
  amount: bigint,
  account: Address | undefined,
): Policy => {
  const subject = {
    token: token === "native" ? null : lower(token),
    account: account === undefined ? null : lower(account),
  };
  const whose = subject.account === null ? {} : { account: subject.account };
  const data = { token: subject.token ?? "native", amount: String(amount), ...whose };
  return {
    ...named(name, data, judge(subject, amount)),
    ...(name === "maxExposure"
      ? { exposures: [subject] }
      : { balances: [{ ...subject, bound: name === "maxSpent" ? "spent" : "received" }] }),
  };
};

/**
 * At most `amount` leaves `account`, or without it the senders and the option `accounts` together. What comes back is
 * subtracted; gas is not counted (see {@link maxFee}). ERC-721 and ERC-1155 tokens count by id: what comes back of one
 * id does not make up for another.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Policy, Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.preflight(
 *   { from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 2n },
 *   { policies: [Policy.maxSpent("native", 1n)] },
 * ).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * const blocker = report.findings.find(({ severity }) => severity === "blocker");
 * console.log(report.verdict, blocker?.code); // blocked PolicyViolation
 * ```
 */
export const maxSpent = (token: Address | "native", amount: bigint, account?: Address): Policy =>
  movement("maxSpent", judgeSpent, token, amount, account);

/**
 * At least `amount` arrives at `account`, or without it at the senders and the option `accounts` together. The amount
 * is net, and measured.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Policy, Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.preflight(
 *   { from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 1n },
 *   { policies: [Policy.minReceived("native", 1n)] },
 * ).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * const blocker = report.findings.find(({ severity }) => severity === "blocker");
 * console.log(report.verdict, blocker?.code); // blocked PolicyViolation
 * ```
 */
export const minReceived = (token: Address | "native", amount: bigint, account?: Address): Policy =>
  movement("minReceived", judgeReceived, token, amount, account);

/**
 * At most `amount` could be taken from `account`, or without it from the senders together, beside what the bundle
 * itself moves. Counted are allowances and operators of the contracts that are called, and of the accounts that their code
 * names; unknown delegates (EIP-7702); and the native currency that is sent, which a contract could keep (`report.exposure`).
 *
 * A contract that is honest in every simulation may act otherwise when it is mined; this bounds what that can cost.
 * Unknown where something was not examined, and where a token leaves a sender through a contract that was not.
 */
export const maxExposure = (token: Address | "native", amount: bigint, account?: Address): Policy =>
  movement("maxExposure", judgeExposure, token, amount, account);

/**
 * No allowance, operator or NFT approval is larger after the bundle than before. Unknown where an event or
 * a call that nothing explains names another account beside the sender or for the call, or is of the sender's own
 * account: give the ABI of its contract.
 */
export const noNewApprovals: Policy = named("noNewApprovals", {}, judgeNewApprovals);

/**
 * No unlimited allowance is given, and no operator of everything. It cannot tell where a call asks for
 * a right of which no limit is known; what only events tell is for {@link noNewApprovals}.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Policy, Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.preflight(
 *   { from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 1n },
 *   { policies: [Policy.noUnlimitedApprovals, Policy.maxSpent("native", 10n ** 18n)] },
 * ).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict); // ready
 * ```
 */
export const noUnlimitedApprovals: Policy = named("noUnlimitedApprovals", {}, judgeUnlimitedApprovals);

/**
 * No account that runs a delegate's code (EIP-7702) sends a transaction, is called or paid by one itself, or may
 * spend, and no account becomes one. Counterparties of the called contract are not examined: the receiver of a token
 * transfer may be delegated.
 */
export const denyDelegated: Policy = named("denyDelegated", {}, judgeDelegated);

const innerFailures = (allow?: Policy["mayFail"]): Policy => {
  const mayFail = (allow ?? []).map(({ to, selector }) => ({
    to: lower(to),
    ...(selector === undefined ? {} : { selector: lower(selector) }),
  }));
  const data = mayFail.length === 0 ? {} : { allow: mayFail.map((call) => ({ ...call })) };
  return { ...named("noInnerFailures", data, judgeInner(mayFail)), mayFail };
};

/**
 * No call inside a transaction fails while the transaction succeeds. Unknown where a batch says itself that its calls
 * may fail, and whether they did is not known. Use it as it is, or call it with `allow` to name calls that may fail.
 *
 * @example
 * ```ts
 * import { Policy } from "evm-preflight";
 *
 * const strict: Policy.Policy = Policy.noInnerFailures;
 * const lenient = Policy.noInnerFailures({ allow: [{ to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", selector: "0xd505accf" }] });
 * console.log(strict.name, lenient.name); // noInnerFailures noInnerFailures
 * ```
 */
export const noInnerFailures: Policy & ((options?: { readonly allow?: NonNullable<Policy["mayFail"]> }) => Policy) =
  (() => {
    const { name, ...plain } = innerFailures();
    const make: (...options: Parameters<typeof noInnerFailures>) => Policy = ({ allow } = {}) => innerFailures(allow);
    // why: a function has a name of its own, which cannot be assigned
    return Object.assign(Object.defineProperty(make, "name", { value: name }), plain) as typeof noInnerFailures;
  })();

/**
 * Only these addresses, the senders and the option `accounts` take part: as receivers, emitters of events, tokens,
 * counterparties of movements, owners, spenders, delegates, or as those who get control of a contract.
 *
 * A called contract that emits and gets nothing cannot be seen in a simulation without traces. Address zero counts
 * where native currency goes there, but not where tokens are minted or burned.
 */
export const onlyTouches = (addresses: ReadonlyArray<`0x${string}`>): Policy => {
  const allowed = [...new Set(addresses.map(lower))];
  return named("onlyTouches", { addresses: allowed }, judgeTouched(new Set<string>(allowed)));
};

/**
 * All fees together cost at most `wei`: gas limits at the max fees, blob, L1 and operator fees.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Policy, Preflight, Rpc } from "evm-preflight";
 *
 * const report = await Preflight.preflight(
 *   { from: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", to: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", value: 1n },
 *   { policies: [Policy.maxFee(1n)] }, // 1 wei: no transaction is so cheap
 * ).pipe(Effect.provide(Rpc.layerHttp("http://127.0.0.1:8545")), Effect.runPromise);
 * console.log(report.verdict); // blocked
 * ```
 */
export const maxFee = (wei: bigint): Policy => named("maxFee", { wei: String(wei) }, judgeFee(wei));

/** The gas limits of all transactions together are at most `gas`. */
export const maxGas = (gas: bigint): Policy => named("maxGas", { gas: String(gas) }, judgeGas(gas));

const combined = (
  name: "all" | "any",
  policies: ReadonlyArray<Policy>,
  judge: (results: ReadonlyArray<PolicyResult>) => PolicyResult,
): Policy => ({
  name: `${name}(${policies.map((policy) => policy.name).join(", ")})`,
  data: { policy: name, policies: policies.map(({ data }) => data) },
  // why: of several of which one has to hold, each may be the one that does not
  ...(name === "any" ? {} : { mayFail: policies.flatMap(({ mayFail }) => mayFail ?? []) }),
  balances: policies
    .flatMap(({ balances }) => balances ?? [])
    // why: of several of which one has to hold, each may be the one that does not
    .map(({ bound, ...balance }) => (name === "any" || bound === undefined ? balance : { ...balance, bound })),
  exposures: policies.flatMap(({ exposures }) => exposures ?? []),
  evaluate: (report) => judge(policies.map(({ evaluate }) => evaluate(lazyCopyOf(report)))),
});

/** Every one of the policies holds. */
export const all = (...policies: ReadonlyArray<Policy>): Policy => combined("all", policies, every);

/** At least one of the policies holds. */
export const any = (...policies: ReadonlyArray<Policy>): Policy => combined("any", policies, some);

/**
 * A policy of your own. It cannot be written to JSON: after `Report.fromJson` it counts as unknown until you give it
 * again as an option. It is unknown, too, if `evaluate` throws or returns no result.
 *
 * @example
 * ```ts
 * import { Policy } from "evm-preflight";
 *
 * const onlyMainnet = Policy.make("acme/mainnet", ({ chainId }) =>
 *   chainId === 1 ? { _tag: "Pass" } : { _tag: "Fail", detail: `chain ${chainId}` },
 * );
 * console.log(onlyMainnet.name); // acme/mainnet
 * ```
 */
export const make = (name: string, evaluate: (report: Report) => PolicyResult): Policy => ({
  name,
  data: { policy: "custom", name },
  evaluate: (report) => {
    const result = Result.try(() => evaluate(report));
    if (Result.isFailure(result)) return unknown(`the policy threw ${String(result.failure).slice(0, 256)}`);
    const { _tag } = Object(result.success) as Partial<PolicyResult>;
    return _tag === "Pass" || _tag === "Fail" || _tag === "Unknown"
      ? result.success
      : unknown("the policy answered neither Pass, Fail nor Unknown");
  },
});

/** Policies within policies are read this deep. */
const mostDepth = 16;

/** One for each policy that holds no others. */
const builders: {
  readonly [Data in Exclude<PolicyData, { readonly policies: ReadonlyArray<unknown> }> as Data["policy"]]: (
    data: Data,
  ) => Policy;
} = {
  maxSpent: ({ token, amount, account }) => maxSpent(token, BigInt(amount), account),
  minReceived: ({ token, amount, account }) => minReceived(token, BigInt(amount), account),
  maxExposure: ({ token, amount, account }) => maxExposure(token, BigInt(amount), account),
  noNewApprovals: () => noNewApprovals,
  noUnlimitedApprovals: () => noUnlimitedApprovals,
  denyDelegated: () => denyDelegated,
  noInnerFailures: ({ allow }) => innerFailures(allow),
  onlyTouches: ({ addresses }) => onlyTouches(addresses),
  maxFee: ({ wei }) => maxFee(BigInt(wei)),
  maxGas: ({ gas }) => maxGas(BigInt(gas)),
};

const rebuild = (data: unknown, field: string, depth: number): Checked<Policy> => {
  if (depth > mostDepth) return no(field, `is more than ${mostDepth} policies within each other`);
  return Result.flatMap(readData(data, field), (read): Checked<Policy> => {
    if (!("policies" in read)) return Result.succeed(builders[read.policy](read as never));
    const inner = each(read.policies, (policy, index) => rebuild(policy, `${field}.policies[${index}]`, depth + 1));
    return Result.map(inner, (policies) => combined(read.policy, policies, read.policy === "all" ? every : some));
  });
};

/** Rebuilds a policy from its data; null where the data is of no known policy, or has an unknown field. */
export const fromData = (data: Schema.Json): Policy | null => Result.getOrNull(rebuild(data, "policy", 0));

/**
 * The policies of a JSON file: an array of policies, already parsed, e.g.
 * `[{ "policy": "maxSpent", "token": "native", "amount": "1000000000000000000" }, { "policy": "noNewApprovals" }]`.
 *
 * Fails with `InvalidTransaction` that names the first wrong field, e.g. `policies[0].policies[1]`, and says what is
 * expected there.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect";
 * import { Policy } from "evm-preflight";
 *
 * const file = '[{ "policy": "maxFee", "wei": "10000000000000000" }, { "policy": "noNewApprovals" }]';
 * const policies = await Effect.runPromise(Policy.fromJson(JSON.parse(file)));
 * console.log(policies.map(({ name }) => name).join(" ")); // maxFee noNewApprovals
 * ```
 */
export const fromJson = (json: unknown): Effect.Effect<ReadonlyArray<Policy>, InvalidTransaction> =>
  Effect.mapError(
    Effect.fromResult(
      Array.isArray(json)
        ? each(json as ReadonlyArray<unknown>, (data, index) => rebuild(data, `policies[${index}]`, 0))
        : no("policies", "must be an array of policies"),
    ),
    (problem) => new InvalidTransaction(problem),
  );
