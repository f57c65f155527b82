/**
 * Batches of calls (EIP-5792): the one transaction that a delegated account sends to itself for all of them, and which call it was
 * where that fails. What the account's code takes is tried, not believed.
 */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { describeRawCall } from "../abi/calls.js";
import { batchMode, encodeBatch } from "../abi/encode.js";
import { describeRevert } from "../abi/print.js";
import { decodeRevert } from "../abi/table.js";
import { argumentsAt, bytesAt, nobody, placeOf, pointedAt, wordAt } from "../abi/words.js";
import { chainsInUse } from "../eth/chains.js";
import type { BlockParameter, Simulation, StateOverrides } from "../eth/parameters.js";
import * as Questions from "../eth/questions.js";
import { asked, one, sent, together, when } from "../eth/round.js";
import { readSimulation, type CallResult } from "../eth/simulation.js";
import type { Failure } from "../eth/ask.js";
import { RandomWords } from "../primitives/effects.js";
import { lower, type Address, type Hex } from "../primitives/hex.js";
import { withJson } from "../primitives/json.js";
import { address, count, text } from "../primitives/statement.js";
import { code } from "../report/finding.js";
import { abisOf } from "../report/options.js";
import { withFinding } from "../report/ready.js";
import type { Report, ReportOptions } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import { delegateOf } from "../steps/code.js";
import { bundleOf, type Bundle } from "../steps/reading/bundle.js";
import { successOf } from "../steps/reading/askResult.js";
import { recoveredAuthority } from "../transaction/authorities.js";
import type { Origin, Transaction } from "../transaction/fields.js";
import { inRound, ledgerSoFar } from "./rounds.js";

type Inputs = Arr.NonEmptyReadonlyArray<Transaction>;

/** An account as its batch finds it. */
export interface Facts {
  /** The chain that the node serves; null = it is not known. */
  readonly chainId: number | null;
  /** The account's code; null = it is not known. */
  readonly code: Hex | null;
  /** The count of transactions that the account has sent, those in flight among them; null = it is not known. */
  readonly count: bigint | null;
  /** The form in which the code takes calls, seen by a trial; null = none that is known, undefined = nothing could be tried. */
  readonly form: keyof typeof encodeBatch | null | undefined;
}

/** Fields of which a batch has no more than one for all of its calls. */
const ofSending = ["gas", "nonce", "maxFeePerGas", "maxPriorityFeePerGas", "gasPrice", "accessList"] as const;
const ofBlobs = ["blobVersionedHashes", "maxFeePerBlobGas"] as const;

/** True of a call that a batch can hold; the first may carry the authorisation of all. */
const isPlainCall = (input: Transaction, index: number): boolean =>
  input.to !== null &&
  [...ofSending, ...ofBlobs].every((field) => input[field] === null) &&
  (input.authorizationList === null || (index === 0 && input.authorizationList.length === 1));

/** The code that is to be the account's for its batch, by its own authorisation or by name; null = it stays as it is. */
export const delegateFor = ({ from, origin, authorizationList }: Transaction): Address | null => {
  const [entry] = authorizationList ?? [];
  if (entry === undefined) return origin?.delegate ?? null;
  return recoveredAuthority(entry) === from ? lower(entry.address) : null;
};

/** The calls of a batch as a bundle, and why they are no one transaction. What its account was to be delegated to is of none of them. */
const apart = (inputs: Inputs, why: NonNullable<Origin["batch"]>): Inputs =>
  Arr.map(inputs, ({ origin, ...input }) => {
    const { isAtomic, isSponsored } = origin ?? {};
    const kept: Origin = { ...(isAtomic ? { isAtomic, batch: why } : {}), ...(isSponsored ? { isSponsored } : {}) };
    const list = isAtomic ? { authorizationList: null } : {};
    return { ...input, ...list, ...(Object.keys(kept).length === 0 ? {} : { origin: kept }) };
  });

/** The transactions that an account sends for its batch: one to itself, or one for each call. Pure. */
export const sentFor = (inputs: Inputs, { chainId, code, count, form }: Facts): Inputs => {
  const [first] = inputs;
  const { from, origin, authorizationList } = first;
  const [given] = authorizationList ?? [];
  const next = delegateFor(first);
  if (code === null) return apart(inputs, "unread");
  const now = delegateOf(code);
  if (given !== undefined && next === null) return apart(inputs, "ineffective");
  if (next === null ? now === null : next === nobody) return apart(inputs, "plain");
  if (!inputs.every(isPlainCall)) return apart(inputs, "fields");
  const isNeeded = next !== null && (next !== now || given !== undefined);
  if (form === undefined || (isNeeded && (count === null || chainId === null))) return apart(inputs, "unread");
  if (form === null) return apart(inputs, "unknown");
  const calls = inputs.flatMap(({ to, value, data }) => (to === null ? [] : [{ to, value, data }]));
  // why: the account's own transaction uses up its nonce before the authorisation is looked at
  const due = Number(count) + 1;
  // guard: an authorisation that the chain skips, so that nothing would be made of the calls
  if (given !== undefined && next !== now && (given.nonce !== due || ![0, chainId].includes(given.chainId)))
    return apart(inputs, "ineffective");
  const own = { authority: from, address: next ?? nobody, chainId: chainId ?? 0, nonce: due };
  return [
    {
      ...{ ...first, to: from, value: 0n, data: encodeBatch[form](calls), item: null },
      authorizationList: isNeeded ? [given ?? own] : null,
      origin: { batch: "made", ...(origin?.isSponsored ? { isSponsored: true } : {}) },
    },
  ];
};

const trialGas = 1_000_000n;
/** `supportsExecutionMode(bytes32)` of ERC-7821. */
const supportsMode: Hex = `0xd03c7914${batchMode.slice(2)}`;
/** Wei with which no call lacks any. */
const purse = 2n ** 96n;

/** Everything that a call said as it failed. */
const saidBy = (call: CallResult | undefined): string =>
  call?.status === "failure" ? `${call.returnData}${call.error?.data ?? ""}`.toLowerCase() : "";

/** The form that a trial shows: a call to code that answers with a word of ours was made, and undid all. */
export const formSeen = (calls: ReadonlyArray<CallResult>, word: Hex): keyof typeof encodeBatch | null => {
  const [supports, modal, batch] = calls;
  const has = (call: CallResult | undefined) => saidBy(call).includes(word.slice(2));
  const isSupported = supports?.status === "success" && wordAt(supports.returnData, 2) === 1n;
  return isSupported && has(modal) ? "erc7821" : has(batch) ? "executeBatch" : null;
};

/**
 * One call of the batch fails, and the account undoes all of them. The call is told by the account's own error, or by the calls
 * simulated one after the other.
 * @figures count("call", 2), count("of", 3), address("to", usdc), text("what", "transfer(to: bob, amount: 5)"), text("reason",
 *   "ERC20: transfer amount exceeds balance")
 */
export const BatchCallFails = code("simulate", ["info"], "BatchCallFails", [
  "one call of the batch fails, so that none is made",
]);

/** `ExecuteError(uint256,bytes)` of ERC-4337's own accounts. */
const executeError = "0x5a154675";

/** The call that fails, and its revert data; null = nobody tells. */
const culpritIn = (data: Hex, alone: ReadonlyArray<CallResult>): readonly [index: number, data: Hex] | null => {
  if (data.startsWith(executeError)) {
    const index = wordAt(data, argumentsAt);
    const inner = bytesAt(data, pointedAt(data, placeOf(1), argumentsAt));
    return index === null ? null : [Number(index), inner ?? "0x"];
  }
  const place = alone.findIndex(({ status }) => status === "failure");
  const { returnData = "0x", error = null } = alone[place] ?? {};
  return place < 0 ? null : [place, returnData === "0x" ? (error?.data ?? "0x") : returnData];
};

/** The report of a batch that failed, with the call that it was. */
const blamed = <A extends Report>(
  made: A,
  inputs: Inputs,
  alone: ReadonlyArray<CallResult>,
  balance: bigint | null,
): A => {
  const [{ outcome, request } = {}] = made.transactions;
  let left = balance === null ? purse : balance - (request?.gas ?? 0n) * (request?.maxFeePerGas ?? 0n);
  const short = inputs.findIndex(({ value }) => (left -= value) < 0n);
  const told = culpritIn((outcome?.returnData ?? "0x").toLowerCase() as Hex, alone);
  const isShort = short >= 0 && (told === null || short < told[0] || (short === told[0] && told[1] === "0x"));
  const [place, data] = isShort ? [short, null] : (told ?? [-1, null]);
  const { to, data: calldata } = inputs[place] ?? { to: null, data: null };
  if (to === null) return withJson(made);
  const abis = abisOf(made.options);
  const reason =
    data === null
      ? "the account has less than the calls send"
      : describeRevert(decodeRevert(data, abis, { address: to }), { sources: true });
  const numbers = [count("call", place + 1), count("of", inputs.length), address("to", to)];
  const words = [text("what", describeRawCall(calldata, abis, { address: to })), text("reason", reason)];
  return withFinding(made, BatchCallFails.info({ transaction: 0, evidence: "estimated" }, ...numbers, ...words));
};

/** The results of the calls of a simulated block; null where the node does not tell them. */
const resultsOf = (
  answer: Result.Result<unknown, Failure>,
  blocks: Simulation["blocks"],
): Effect.Effect<ReadonlyArray<CallResult> | null> =>
  Effect.match(
    Effect.flatMap(Effect.fromResult(answer), (told) => readSimulation(told, { blocks })),
    { onFailure: () => null, onSuccess: (all) => all.at(-1)?.calls ?? null },
  );

/** The report with the call that fails, where the batch does. JSON-RPC, in a round behind: `eth_simulateV1`, `eth_getBalance`. */
const withBlame = Effect.fnUntraced(function* <A extends Report>(
  made: A,
  inputs: Inputs,
  on: Pick<Simulation["blocks"][number], "stateOverrides"> & Pick<Simulation, "block">,
): Effect.fn.Return<A, never, Rpc> {
  const [{ outcome: { status } = {} } = {}] = made.transactions;
  if (status !== "reverted" && status !== "halted") return made;
  const { stateOverrides, block } = on;
  const calls = inputs.map(({ from, to, value, data }) => ({ from, to, value, data }));
  const blocks = [{ stateOverrides, calls }];
  const asks = {
    alone: one(Questions.simulation({ blocks, block })),
    balance: one(Questions.balance({ address: inputs[0].from, block })),
  };
  const answers = yield* inRound("batch", sent(asked({ step: "simulate" }, together(asks))));
  const alone = yield* resultsOf(answers.alone, blocks);
  return blamed({ ...made, ledger: yield* ledgerSoFar }, inputs, alone ?? [], successOf(answers.balance));
});

/**
 * Runs `use` with what the account sends for its batch. JSON-RPC, in a round in front: `eth_getCode` and `eth_simulateV1`, which
 * tries what its code takes; of an account that is to be delegated `eth_getTransactionCount`, and `eth_chainId` where the chain is
 * not known.
 */
export const withBatch = Effect.fnUntraced(function* <
  P extends { readonly bundle: Bundle; readonly options: ReportOptions },
  A extends Report,
  E,
  R,
>(prepared: P, use: (prepared: P) => Effect.Effect<A, E, R>): Effect.fn.Return<A, E, R | Rpc> {
  const { memory } = yield* Rpc;
  const roll = yield* Effect.service(RandomWords);
  const chains = yield* chainsInUse;
  const inputs: Inputs = Arr.map(prepared.bundle, ({ input }) => input);
  const [first] = inputs;
  const { from } = first;
  const named = prepared.options.block ?? chains(first.chainId).blockTag;
  const block = named === "pending" ? "latest" : named;
  const delegate = delegateFor(first);
  const known = first.chainId ?? memory.recall("chainId");
  const [empty, target]: readonly [Address, Address] = [`0x5d${roll(19).slice(2)}`, `0x5c${roll(19).slice(2)}`];
  const word = roll(32);
  const given = prepared.options.stateOverrides ?? {};
  const code = delegate === null ? {} : { code: `0xef0100${delegate.slice(2)}` as const };
  const stateOverrides: StateOverrides = {
    ...given,
    // PUSH32 word, PUSH0, MSTORE, PUSH1 32, PUSH0, REVERT
    [target]: { code: `0x7f${word.slice(2)}5f5260205ffd` },
    [from]: { ...given[from], balance: purse, ...code },
  };
  const trial = [empty, target].map((to) => ({ to, value: 0n, data: "0x" as const }));
  const tries = [supportsMode, encodeBatch.erc7821(trial), encodeBatch.executeBatch(trial)];
  const blocks = [{ stateOverrides, calls: tries.map((data) => ({ from, to: from, data, gas: trialGas })) }];
  const isNamed = delegate !== null;
  const counted = (block: BlockParameter) => one(Questions.count({ address: from, block }));
  const answers = yield* inRound(
    "batch",
    sent(
      asked(
        { step: "code" },
        together({
          code: one(Questions.code({ address: from, block })),
          trial: one(Questions.simulation({ blocks, block })),
          latest: when(isNamed, counted(block), null),
          pending: when(isNamed && named === "pending", counted(named), null),
          chainId: when(isNamed && known === null, one(Questions.chainId), null),
        }),
      ),
    ),
  );
  const tried = yield* resultsOf(answers.trial, blocks);
  const sends = sentFor(inputs, {
    chainId: known ?? successOf(answers.chainId),
    code: given[from]?.code ?? successOf(answers.code),
    count: successOf(answers.pending) ?? successOf(answers.latest),
    form: tried === null ? undefined : formSeen(tried, word),
  });
  const asking = use({ ...prepared, bundle: bundleOf(sends, prepared.options.accounts) });
  return sends[0].origin?.batch === "made"
    ? yield* Effect.flatMap(asking, (made) => withBlame(made, inputs, { stateOverrides, block }))
    : yield* asking;
});
