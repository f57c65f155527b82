/** The runs of a scan: what each simulates, on which state, in which block, and what the witness reads in it. Pure. */
import * as Holdings from "../steps/reading/holdings.js";
import { eip7825Cap } from "../chains/rules.js";
import type { FeeSubject } from "../chains/feeModel.js";
import type * as Eth from "../eth/index.js";
import type { ReportOptions } from "../report/schema.js";
import { signers, type Bundle } from "../steps/reading/bundle.js";
import type { Facts } from "../steps/reading/answers.js";
import { successOf, type AskResult } from "../steps/reading/askResult.js";
import { callees, chosenOf } from "../steps/reading/proxies.js";
import * as Tokens from "../steps/reading/tokens.js";
import * as Simulate from "../steps/simulate.js";
import { bareCall, buildRequest, unsignedBytes } from "../transaction/request.js";
import type { Transaction } from "../transaction/fields.js";
import type { Query } from "../witness/queries.js";
import { everyLook, everyLookBetween, type Subject } from "./steps.js";

/**
 * The bytes a transaction will have, as far as can be said before nonce, gas and fees are known: with
 * large stand-ins, for longer bytes never cost less.
 */
export const roughSubject = (transaction: Transaction): FeeSubject | null => {
  const price = transaction.gasPrice;
  const gasLimit = transaction.gas ?? eip7825Cap;
  const request = buildRequest(transaction, {
    chainId: transaction.chainId ?? 1_000_000,
    nonce: transaction.nonce ?? 1_000_000,
    gas: gasLimit,
    gasPrice: price,
    maxFeePerGas: price === null ? (transaction.maxFeePerGas ?? 10n ** 12n) : null,
    maxPriorityFeePerGas: price === null ? (transaction.maxPriorityFeePerGas ?? 10n ** 11n) : null,
  });
  const unsigned = request === null ? null : unsignedBytes(request);
  return unsigned === null ? null : { unsigned, gasLimit };
};

/** The caller's gas, or the most that one transaction may have (EIP-7825). */
export const gasOf = ({ gas }: Transaction): bigint => gas ?? eip7825Cap;

/** The price that a carrier names because what it does follows it; else nothing. */
export const pricedBy = ({ maxFeePerGas, maxPriorityFeePerGas }: Transaction) =>
  maxFeePerGas === null || maxPriorityFeePerGas === null || maxPriorityFeePerGas === 0n
    ? {}
    : { maxFeePerGas, maxPriorityFeePerGas };

/** Gas of a block that is larger than those of the chains in the table, and like none of them. */
const roomyBlock = 1_000_000_000n;

/**
 * `ample`: the calls at no base fee, so that one without fee fields is valid; `oracles` = what is read at the chain's fee
 * oracles, `both` = what is read after the calls, too.
 */
export const freePlan = (
  { bundle, options, wanted, looks, steps }: Subject,
  block: Eth.BlockParameter,
  oracles: ReadonlyArray<Query>,
  both: ReadonlyArray<Query>,
): Simulate.Plan => {
  const calls = bundle.map(({ input }) => {
    const gas = gasOf(input);
    // why: how much it needs is yet to be found, and what is chosen then is no more than it had
    const request = { ...bareCall(input, gas), ...(input.origin?.signing === undefined ? {} : pricedBy(input)) };
    return { input, request, gas, ...(input.gas === null ? { least: 0n } : {}) };
  });
  const own = [...everyLook(bundle, steps), ...Holdings.queries(wanted), ...both];
  // why: users' looks stand behind ours, which they may not starve
  const after = [...own, ...looks];
  const before = [
    { kind: "environment" } as const,
    ...[...oracles, ...own],
    // why: what a call fails for is told in the token's units, and a scan that fails has no proof to read them
    ...(steps.has("assets") ? Tokens.queries(Tokens.mentioned(bundle)) : []),
    ...looks,
  ];
  const between = everyLookBetween(steps, bundle);
  const needed = calls.reduce((sum, { gas }) => sum + gas, Simulate.witnessGas({ calls, before, between, after }));
  return {
    name: "ample",
    calls,
    ...{ before, between, after },
    block,
    stateOverrides: options.stateOverrides,
    // why: room for every call's whole limit; a contract may ask how much a block holds, and no real one holds more
    blockOverrides: {
      baseFeePerGas: 0n,
      gasLimit: needed > roomyBlock ? needed : roomyBlock,
      ...options.blockOverrides,
    },
    pretended: false,
    // why: a contract whose slots are empty here need not be looked at before its proof
    lens: chosenOf(bundle, callees(bundle)),
  };
};

/** `readerOnly`: the witness without the calls, at the real base fee. */
export const readerOnlyPlan = (
  { stateOverrides, blockOverrides }: ReportOptions,
  block: Eth.BlockParameter,
  queries: ReadonlyArray<Query>,
): Simulate.Plan => ({
  name: "readerOnly",
  calls: [],
  before: [{ kind: "environment" }, ...queries],
  after: [],
  block,
  stateOverrides,
  blockOverrides,
  pretended: false,
});

/** A run of a scan with more gas for whatever the caller gave none. */
export const widerPlan = (plan: Simulate.Plan, limit: bigint, blockGas: bigint | null): Simulate.Plan => {
  const calls = plan.calls.map((call) =>
    call.input.gas === null ? { ...call, gas: limit, request: { ...call.request, gas: limit } } : call,
  );
  return inBlockOf(blockGas, { ...plan, calls });
};

/** A run in a block of the chain's gas limit, or of a larger one where its calls need that. */
const inBlockOf = (blockGas: bigint | null, plan: Simulate.Plan): Simulate.Plan => {
  const needed = plan.calls.reduce((sum, { gas }) => sum + gas, 0n) + Simulate.witnessGas(plan);
  const gasLimit = blockGas !== null && blockGas > needed ? blockGas : needed;
  return { ...plan, blockOverrides: { ...plan.blockOverrides, gasLimit } };
};

/**
 * `atNextFee`: a run of a scan at the base fee, the prices and the gas limit that a block will see, by signers who can pay them;
 * `options` = what the caller pretends.
 */
export const pricedPlan = (
  plan: Simulate.Plan,
  bundle: Bundle,
  { blockOverrides }: Pick<ReportOptions, "blockOverrides">,
  { quote, balanceOf, blockGasLimit }: Pick<Facts, "quote" | "balanceOf" | "blockGasLimit">,
): Simulate.Plan => {
  const { baseFeePerGas, maxFeePerGas, tip } = quote;
  const calls = plan.calls.map((call) => {
    const { gasPrice, maxFeePerGas: cap, maxPriorityFeePerGas } = call.input;
    const fees =
      gasPrice === null
        ? {
            maxFeePerGas: cap ?? maxFeePerGas ?? 0n,
            maxPriorityFeePerGas: maxPriorityFeePerGas ?? (cap === null ? tip : 0n),
          }
        : { gasPrice };
    return { ...call, request: { ...call.request, ...fees } };
  });
  const able = signers(bundle).map((account) => {
    const needed = calls.reduce((sum, { input, gas, request }) => {
      const price = BigInt(request.gasPrice ?? request.maxFeePerGas ?? 0n);
      return input.from === account ? sum + gas * price : sum;
    }, 0n);
    return [account, { ...plan.stateOverrides?.[account], balance: (balanceOf(account) ?? 0n) + needed }] as const;
  });
  const real = blockOverrides?.gasLimit === undefined ? inBlockOf(blockGasLimit, plan) : plan;
  return {
    ...plan,
    calls,
    name: "atNextFee",
    stateOverrides: { ...plan.stateOverrides, ...Object.fromEntries(able) },
    blockOverrides: { ...real.blockOverrides, ...(baseFeePerGas === null ? {} : { baseFeePerGas }) },
    pretended: true,
  };
};

/** `funded`: the run with every signer rich enough, above what it has. */
export const fundedPlan = (
  plan: Simulate.Plan,
  bundle: Bundle,
  reader: AskResult<Simulate.Run> | null,
): Simulate.Plan => {
  const rich = signers(bundle).map((account) => {
    const has = successOf(reader)?.before.account(account)?.balance ?? 0n;
    const spends = bundle.reduce((sum, { signer, input }) => (signer === account ? sum + input.value : sum), 0n);
    return [account, { ...plan.stateOverrides?.[account], balance: has + spends }] as const;
  });
  return {
    ...plan,
    name: "funded",
    stateOverrides: { ...plan.stateOverrides, ...Object.fromEntries(rich) },
    pretended: true,
  };
};
