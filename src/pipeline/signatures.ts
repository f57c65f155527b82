/**
 * Runs with signatures that are not given yet: the calls that would use them, on a node that takes them for given by code in
 * place of ECRECOVER, which proves itself in front of the calls of every block; or, where a node cannot, the accounts' own
 * calls that do the same.
 */
import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidTransaction } from "../errors/input.js";
import { OverrideIgnored, RpcError } from "../errors/rpc.js";
import { ChainIdMismatch, type Verdict } from "../errors/verdicts.js";
import { wordAt, wordOf, dataAt } from "../abi/words.js";
import { RandomWords } from "../primitives/effects.js";
import { isAddress, lower, type Address, type Hash, type Hex } from "../primitives/hex.js";
import { isRecord, safely } from "../primitives/record.js";
import { no, type Checked } from "../primitives/problem.js";
import { address, count, text } from "../primitives/statement.js";
import { code, fromError, type Finding } from "../report/finding.js";
import { CurrentRun, Rpc } from "../rpc/index.js";
import {
  accountFormOf,
  carriersOf,
  isPlaced,
  isSigning,
  mergedIn,
  operationIn,
  operationOfTyped,
  safeIn,
  safeOfTyped,
} from "../signing/index.js";
import { signingIn, type AnySigning, type Mode, type OpenSigning, type PlacedSigning } from "../signing/index.js";
import { traceEmitter } from "../effects/movements.js";
import { ecrecover, given, shimCode, spendingCalls, signInProblem, type Signing, type Use } from "../signing/index.js";
import { bundleOf, isCarrier, type Bundle } from "../steps/reading/bundle.js";
import { DelegationIneffective } from "../steps/reading/control.js";
import { maxTransactions, type CheckedInput, type InputDefaults, type Transaction } from "../transaction/fields.js";
import { check } from "../Transaction.js";
import { witnessFees } from "../witness/placement.js";
import { staticCall, type CallQuery, type Query } from "../witness/queries.js";
import type { View } from "../witness/view.js";
import { judgedAsAccount, looksOf, resolved } from "./accounts.js";
import { askLimit, askRuled } from "./operations.js";
import { isAlikePlain, plainBlocks, plainRunsOf, type PlainRun } from "./plainRuns.js";
import { CurrentSignings, trialGas, type Assumable, type LimitTold, type Seen, type Signed } from "./signings.js";
import type { Signings } from "./signings.js";
import { answered, blocksIn, listed, quantity, recordIn, withBlocks, type Wire } from "./wire.js";

/** Most signatures of one input. */
const most = 16;
/** Wei given to whoever makes such a call. */
const purse = 2n ** 96n;
/** Gas of a call that tries to spend from an account with new code. */
const probeGas: Hex = "0x30d40";
/** Seconds beyond which a right is long-lived. */
const long = 31n * 86_400n;

/** Reads the signatures of an input, each at its place in front of the transactions; `at`: their paths. */
const readSignings = Effect.fnUntraced(function* (
  inputs: ReadonlyArray<{
    readonly input: Readonly<Record<string, unknown>>;
    readonly at: string;
    readonly place: number;
  }>,
): Effect.fn.Return<ReadonlyArray<AnySigning>, InvalidTransaction> {
  const roll = yield* Effect.service(RandomWords);
  const account = (): Address => `0x5a${roll(19).slice(2)}`;
  const all = inputs.map(({ input, at, place }): Checked<AnySigning> => {
    const stand: Signing["stand"] = {
      ...{ r: `0x00${roll(31).slice(2)}`, s: `0x3f${roll(31).slice(2)}`, v: 27n },
      ...{ stranger: account(), taker: account() },
    };
    return safely(
      (): Checked<AnySigning> => {
        const form = accountFormOf(input);
        if (form === null)
          return Result.map(signingIn(input, at), (read) => {
            const { kind } = read.use;
            const asked = kind === "userOperation" ? Result.getOrNull(operationOfTyped(read)) : null;
            const open = kind === "safeTransaction" ? safeOfTyped(read) : asked;
            return open === null ? { ...read, place, stand } : { open, place, stand };
          });
        const open: Checked<OpenSigning["open"]> = form === "safe" ? safeIn(input, at) : operationIn(input, at);
        return Result.map(open, (read) => ({ open: read, place, stand }));
      },
      no(`${at}signer`, "cannot be read"),
    );
  });
  const signings = yield* Effect.fromResult(
    Result.mapError(
      Result.flatMap(Result.all(all), (read) => {
        const digests = read.map((signing) => (isPlaced(signing) ? signing.sign.digest : null));
        const twice = digests.findIndex((digest, at) => digest !== null && digests.indexOf(digest) < at);
        if (read.length > most) return no("signatures", `there are more than ${most}`);
        return twice < 0
          ? Result.succeed(read)
          : no(inputs[twice]?.at.slice(0, -1) ?? "", "is the same signature as one before");
      }),
      (problem) => new InvalidTransaction(problem),
    ),
  );
  return signings;
});

const padded = (account: Address): string => `0x${account.slice(2).padStart(64, "0")}`;

/** Code in place of ECRECOVER, and what it takes to try it. */
interface Assuming {
  readonly override: Wire;
  /** Words of storage that are pretended in front of all calls. */
  readonly pretends: NonNullable<Use["pretends"]>;
  /** Calls in front of those of every block, and what each has to return. */
  readonly trials: ReadonlyArray<{ readonly call: Wire; readonly returns: string }>;
  readonly tester: Address;
  /** Calls behind those of every block, of which each should fail: by whom nobody knows, out of an account with new code. */
  readonly probes: ReadonlyArray<{ readonly call: Wire; readonly signing: number; readonly paid: string }>;
  /** Senders of the cases: no block without one of their calls verifies anything. */
  readonly senders: ReadonlySet<string>;
  /** Accounts that are given what their calls cost. */
  readonly funded: ReadonlyArray<Address>;
  /** User operations whose calls are run by themselves as well, in the next block. */
  readonly plain: ReadonlyArray<PlainRun>;
  /** Made-up accounts that are paid for bundling user operations, a word each, with the EntryPoint that pays. */
  readonly bundlers: ReadonlyMap<string, string>;
}

/** A call without what its bundler is paid: that is nobody's who is there, and it follows the base fee. */
const withoutPay = (call: unknown, { bundlers }: Assuming): unknown => {
  const isPay = (log: unknown): boolean => {
    const { address, topics } = recordIn(log);
    const [, from, to] = listed(topics).map((topic) => String(topic).toLowerCase());
    return String(address).toLowerCase() === traceEmitter && from !== undefined && bundlers.get(to ?? "") === from;
  };
  return bundlers.size > 0 && isRecord(call) && Array.isArray(call["logs"])
    ? { ...call, logs: call["logs"].filter((log) => !isPay(log)) }
    : call;
};

/** True of a block in which the override is tried: one of its calls may verify. */
const isTriedIn = (entry: Wire, { trials, probes, senders }: Assuming): boolean =>
  trials.length + probes.length > 0 &&
  listed(entry["calls"]).some((call) => senders.has(String(recordIn(call)["from"]).toLowerCase()));

/** Accounts of a state with a purse each. */
const pursesOf = (state: Wire, accounts: ReadonlyArray<Address>): Wire =>
  Object.fromEntries(accounts.map((account) => [account, { ...recordIn(state[account]), balance: quantity(purse) }]));

/** The accounts of a state whose words are pretended, with them; `isLater`: words that the state has already stay. */
const withWords = (state: Wire, pretends: Assuming["pretends"], isLater: boolean): Wire =>
  Object.fromEntries(
    Object.entries(pretends).map(([account, words]) => {
      const own = recordIn(state[account]);
      const kind = own["state"] == null ? "stateDiff" : "state";
      const given = recordIn(own[kind]);
      return [account, { ...own, [kind]: isLater ? { ...words, ...given } : { ...given, ...words } }];
    }),
  );

/** A block with the override in it, the purses of the first, and the trials in front of its calls. */
const withTrials = (entry: Wire, assuming: Assuming, isFirst: boolean): Wire => {
  const { override, trials, probes, tester, funded, pretends } = assuming;
  const state = recordIn(entry["stateOverrides"]);
  const calls = listed(entry["calls"]);
  const isTried = isTriedIn(entry, assuming);
  return {
    ...entry,
    stateOverrides: {
      ...state,
      ...(isFirst ? { ...pursesOf(state, funded), ...withWords(state, pretends, false) } : {}),
      ...(isTried ? { ...pursesOf(state, [tester]), ...override } : {}),
    },
    ...(isTried ? { calls: [...trials, ...calls.map((call) => ({ call })), ...probes].map(({ call }) => call) } : {}),
  };
};

const ignored = (): RpcError =>
  new RpcError({
    method: "eth_simulateV1",
    reason: new OverrideIgnored({ detail: "", overrides: ["movePrecompileToAddress"] }),
  });

/** Emits the logs of native transfers in a simulation with `traceTransfers` (execution-apis). */
const nativeLogs = `0x${"ee".repeat(20)}`;

/** True if a call moved wei from one account to another, as a log's topics name them. */
const isPaidIn = (told: Wire, paid: string): boolean =>
  told["status"] === "0x1" &&
  listed(told["logs"]).some((log) => {
    const { address, topics } = recordIn(log);
    return String(address).toLowerCase() === nativeLogs && listed(topics).slice(1).join().toLowerCase() === paid;
  });

/** An answer without the trials in front of the calls of its blocks. */
const withoutTrials = (answer: unknown, blocks: ReadonlyArray<Wire>, assuming: Assuming): unknown =>
  answered(answer, blocks, (told, entry) =>
    isTriedIn(entry, assuming)
      ? { ...recordIn(told), calls: listed(recordIn(told)["calls"]).slice(assuming.trials.length) }
      : told,
  );

/** The node as the requests of a run see it; `refuse` is told where it does not take the override, `open` of accounts that obey anybody. */
const nodeWith = (
  rpc: Rpc["Service"],
  assuming: Assuming,
  refuse: Effect.Effect<unknown>,
  open: (signing: number) => void,
  isPlainly: (digest: Hash, isAlike: boolean) => void,
): Rpc["Service"] => {
  const { probes } = assuming;
  const count = assuming.trials.length;
  const request: Rpc["Service"]["request"] = (method, params) => {
    const [first, block, third, ...rest] = params;
    if (method === "debug_traceCall") {
      const state = recordIn(recordIn(third)["stateOverrides"]);
      const isPaid = assuming.bundlers.size > 0 || Object.keys(assuming.pretends).length > 0;
      // why: a tracer takes no call of who cannot pay for it
      const paid = { ...state, ...(isPaid ? pursesOf(state, assuming.funded) : {}) };
      const stateOverrides = { ...paid, ...withWords(paid, assuming.pretends, true), ...assuming.override };
      const traced = [first, block, { ...recordIn(third), stateOverrides }, ...rest];
      const { to } = recordIn(first);
      const isBundlers = isAddress(to) && [...assuming.bundlers.values()].includes(padded(lower(to)));
      return isBundlers && recordIn(third)["tracer"] === "callTracer"
        ? askRuled(rpc, traced)
        : rpc.request(method, traced);
    }
    if (method !== "eth_simulateV1") return rpc.request(method, params);
    const blocks = blocksIn(params);
    const tried = blocks.map((entry, at) => withTrials(entry, assuming, at === 0));
    const assumed = rpc.request(method, withBlocks(params, tried));
    if (count + probes.length === 0) return assumed;
    const { plain } = assuming;
    const asked =
      plain.length === 0
        ? assumed
        : Effect.flatMap(Effect.service(CurrentRun), ({ run }) => {
            if (run !== "next") return assumed;
            const bare = blocks.map((entry, at) =>
              withTrials(entry, { ...assuming, trials: [], probes: [] }, at === 0),
            );
            const alone = plainBlocks(bare, plain);
            if (alone === null) return assumed;
            const beside = Effect.orElseSucceed(rpc.request(method, withBlocks(params, alone)), () => null);
            return Effect.map(Effect.all([assumed, beside], { concurrency: "unbounded" }), ([answer, plainly]) => {
              const own = withoutTrials(answer, blocks, assuming);
              for (const each of plain) isPlainly(each.digest, isAlikePlain([blocks, own], [alone, plainly], each));
              return answer;
            });
          });
    const isRefusal = (failure: RpcError | Verdict) => failure._tag === "RpcError" && !failure.isRetryable;
    return Effect.flatMap(
      Effect.tapError(asked, (failure) => (isRefusal(failure) ? refuse : Effect.void)),
      (answer) => {
        let isTaken = true;
        const read = answered(answer, blocks, (told, entry) => {
          if (!isTriedIn(entry, assuming) || !isRecord(told)) return told;
          const calls = listed(told["calls"]);
          for (const [place, { returns }] of assuming.trials.entries()) {
            const { status, returnData } = recordIn(calls[place]);
            if (status !== "0x1" || String(returnData).toLowerCase() !== returns) isTaken = false;
          }
          const end = calls.length - probes.length;
          for (const [place, { signing, paid }] of probes.entries())
            if (isPaidIn(recordIn(calls[end + place]), paid)) open(signing);
          const { transactions } = told;
          const sent = Array.isArray(transactions) ? { transactions: transactions.slice(count, end) } : {};
          const own = calls.slice(count, end).map((call) => withoutPay(call, assuming));
          // why: the bloom is of all calls
          const isOfMore =
            assuming.bundlers.size > 0 || calls.slice(end).some((call) => listed(recordIn(call)["logs"]).length > 0);
          return { ...told, calls: own, ...sent, ...(isOfMore ? { logsBloom: null } : {}) };
        });
        return isTaken ? Effect.succeed(read) : Effect.andThen(refuse, Effect.fail(ignored()));
      },
    );
  };
  return { ...rpc, request, send: undefined };
};

/** The words of storage that all of them pretend. */
const pretendedBy = (signings: ReadonlyArray<PlacedSigning>): Assuming["pretends"] =>
  signings
    .flatMap(({ use: { pretends = {} } }) => Object.entries(pretends))
    .reduce<Assuming["pretends"]>(
      (all, [account, words]) => ({ ...all, [account]: { ...all[lower(account)], ...words } }),
      {},
    );

const assumingOf = (
  signings: ReadonlyArray<PlacedSigning>,
  bundle: Bundle,
  mode: Mode,
  roll: (bytes: number) => Hex,
): Assuming => {
  const [moved, tester]: readonly [Address, Address] = [`0xa5${roll(19).slice(2)}`, `0x5b${roll(19).slice(2)}`];
  const all = signings.flatMap(
    ({ sign, use }) =>
      use.assumes ??
      (sign.kind === "typedData" && use.consume !== null
        ? [{ digest: lower(sign.digest) as Hash, signer: sign.signer }]
        : []),
  );
  // why: of one digest the code knows one signer, and a trial of another would be the node's fault
  const assumed = all.filter(({ digest }, at) => all.findIndex((other) => other.digest === digest) === at);
  const isShim = mode === "shim" && assumed.length > 0;
  const gasPrice = { maxFeePerGas: quantity(witnessFees.maxFeePerGas), maxPriorityFeePerGas: "0x0" };
  const trial = (signer: Address, digest: Hash, v: bigint, r: Hash, s: Hash) => ({
    call: {
      from: tester,
      to: ecrecover,
      gas: quantity(trialGas),
      ...gasPrice,
      input: `${digest}${wordOf(v).slice(2)}${r.slice(2)}${s.slice(2)}`,
    },
    returns: padded(signer),
  });
  const [stand] = signings.map((signing) => signing.stand);
  const { r = given.r, s = given.s } = stand ?? {};
  const senders = new Set(bundle.flatMap((entry) => (isCarrier(entry) ? [] : [entry.signer])));
  return {
    pretends: pretendedBy(signings),
    override: isShim ? { [ecrecover]: { movePrecompileToAddress: moved, code: shimCode(assumed, moved) } } : {},
    trials: isShim
      ? [
          ...assumed.map(({ digest, signer }) => trial(signer, digest, 27n, r, s)),
          trial(given.signer, given.digest, given.v, given.r, given.s),
        ]
      : [],
    tester,
    plain: isShim ? (plainRunsOf(signings) ?? []) : [],
    probes: signings.flatMap(({ sign, stand: { taker } }, signing) =>
      sign.kind !== "authorization"
        ? []
        : spendingCalls(taker).map((input) => ({
            ...{ call: { from: tester, to: sign.signer, gas: probeGas, ...gasPrice, input }, signing },
            paid: [sign.signer, taker].map(padded).join().toLowerCase(),
          })),
    ),
    bundlers: new Map(
      signings.flatMap(({ use: { operation }, stand: { taker } }) =>
        operation === undefined ? [] : [[padded(taker), padded(operation.entryPoint)] as const],
      ),
    ),
    senders: new Set(bundle.map(({ signer }) => signer.toLowerCase())),
    funded: [
      ...new Set(bundle.flatMap((entry) => (isCarrier(entry) && !senders.has(entry.signer) ? [entry.signer] : []))),
    ],
  };
};

/** An input with signatures in it: its transactions, and how the calls that use the signatures stand among them. */
export const readMixed = Effect.fnUntraced(function* (all: ReadonlyArray<unknown>, defaults?: InputDefaults) {
  const rows = all.map((input, at) => ({ input, isOwn: isSigning(input), at: all.length === 1 ? "" : `[${at}].` }));
  const others = rows.filter(({ isOwn }) => !isOwn);
  let before = 0;
  const own: Array<Parameters<typeof readSignings>[0][number]> = [];
  const checked: Array<CheckedInput> = [];
  for (const { input, isOwn, at } of rows) {
    if (isOwn && isRecord(input)) own.push({ input, at, place: before });
    else {
      const read = yield* Effect.mapError(
        check(input, defaults),
        (wrong) => new InvalidTransaction({ field: `${at}${wrong.field}`, problem: wrong.problem }),
      );
      before += read.transactions.length;
      checked.push(read);
    }
  }
  const signings = yield* readSignings(own);
  const late = signings.findIndex((signing, at) => at + signing.place > 0 && hasAuthorization(signing));
  // why: the state that an authorisation makes is assumed in front of the first call
  if (late >= 0)
    return yield* new InvalidTransaction({
      field: `${own[late]?.at ?? ""}authorization`,
      problem: "must stand in front of everything else",
    });
  const transactions = checked.flatMap((read) => [...read.transactions]);
  if (transactions.length + signings.length > maxTransactions || others.length > maxTransactions)
    return yield* new InvalidTransaction({
      ...{ field: "transactions", problem: `the bundle has more than ${maxTransactions} transactions` },
    });
  return {
    ...{ transactions, signings, abis: checked.flatMap(({ abis }) => [...abis]) },
    carried: (inputs: ReadonlyArray<Transaction>) => mergedIn(inputs, signings, "shim"),
  };
});

/** True of what sets an account's code. */
const hasAuthorization = (signing: AnySigning): boolean =>
  isPlaced(signing)
    ? signing.sign.kind === "authorization"
    : signing.open.form === "userOperation" && signing.open.operation.authorization !== null;

/** `DOMAIN_SEPARATOR()`. */
const separatorOf = (contract: Address) => staticCall(contract, "0x3644e515");

/**
 * The signature's type is none that is known here, or its use cannot be simulated.
 * @figures text("because", "its type is none that is known here")
 */
export const SignatureUnknown = code("approvals", ["unavailable"], "SignatureUnknown", [
  "what the signature allows is not known",
  "sign it only if you know the contract that takes it",
]);

/**
 * The digest may be that of a transaction, or of anything else.
 * @figures text("because", "nobody can see what the bytes are the hash of")
 */
export const HashBlind = code("approvals", ["unavailable"], "HashBlind", [
  "nobody can see what 32 bytes are the hash of",
  "ask for what they are the hash of, and preflight that",
]);

/**
 * The signature was not taken for given: the account's own call was simulated in its place, or an account with code did not
 * take it.
 * @figures text("because", "the account's own equal call was simulated")
 * @unavailable where no call of the account does the same, or the account's code did not take the signature
 */
export const SignatureNotAssumed = code("approvals", ["warning", "unavailable"], "SignatureNotAssumed", [
  "the signature itself could not be simulated",
  "use a node that lets `movePrecompileToAddress` replace ECRECOVER, such as geth",
]);

/** It was used before, or its number was passed. */
export const SignatureUsed = code("approvals", ["blocker"], "SignatureUsed", [
  "the signature's nonce is used already",
  "ask for a message with the next nonce",
]);

/**
 * It cannot be used yet. What it does then is not known now.
 * @figures count("usable from", 1_800_000_000n)
 */
export const SignatureNotYet = code("approvals", ["unavailable"], "SignatureNotYet", [
  "the signature cannot be used yet",
  "run it again when it can be used",
]);

/**
 * The contract verifies signatures for another domain, so that this one is of no use there.
 * @unavailable where the account's own equal call was simulated and the contract does not tell its domain
 */
export const DomainDisagrees = code("approvals", ["blocker", "unavailable"], "DomainDisagrees", [
  "the domain of the signature is not that of its contract",
  "ask for the contract's own name, version and chain",
]);

/** The signature binds no chain: whoever holds it can use it on every chain where it fits. */
export const SignatureUnbound = code("approvals", ["warning"], "SignatureUnbound", [
  "the signature is valid on every chain",
  "sign it only if it is meant for every chain",
]);

/**
 * Its last second is over.
 * @figures count("usable until", 1_700_000_000n)
 */
export const SignatureExpired = code("approvals", ["blocker"], "SignatureExpired", [
  "the signature has expired",
  "ask for a message with a later deadline",
]);

/**
 * It or the right that it gives stays usable for more than 31 days.
 * @figures count("usable until", 1_900_000_000n)
 */
export const SignatureLongLived = code("approvals", ["warning"], "SignatureLongLived", [
  "the signature stays usable for more than 31 days",
  "ask for an earlier deadline",
]);

/** It has no deadline that anybody will see. */
export const SignatureNeverExpires = code("approvals", ["warning"], "SignatureNeverExpires", [
  "the signature never expires",
  "ask for a deadline",
]);

/**
 * The key that signs is not the account that the message names, and that account has no code that could take it.
 * @figures address("account", alice)
 */
export const SignerIsNotOwner = code("approvals", ["blocker"], "SignerIsNotOwner", [
  "the signer is not the account that the message is about",
  "sign with the account's own key",
]);

/** The receiver is named by a part of the message that only the spender's own code reads. */
export const WitnessUnread = code("approvals", ["warning"], "WitnessUnread", [
  "the spender decides who gets the tokens: what the message says of that binds nobody but its code",
  "sign it only for a spender whose code you trust",
]);

/**
 * With the code that the authorisation sets, a call from an account that nobody knows sent wei away.
 * @figures address("account", alice)
 */
export const DelegateOpen = code("approvals", ["warning"], "DelegateOpen", [
  "with this code anybody can spend what the account has",
  "sign it only for code that asks who calls it",
]);

/** Nothing of what the order asks for goes to the account that gives. */
export const OrderUnderpaid = code("approvals", ["warning"], "OrderUnderpaid", [
  "the account gets nothing for what it gives",
  "sign it only if it is a gift",
]);

/**
 * The text signs an account in, but not as it should.
 * @figures text("because", "it is for example.org")
 * @warning where the caller names no origin to hold it against
 */
export const SignInDisagrees = code("approvals", ["blocker", "warning"], "SignInDisagrees", [
  "the sign-in is not what its origin may ask",
  "sign in only at the site that you are at",
]);

const notYet: string = SignatureNotYet.code;
const ineffective: string = DelegationIneffective.code;
const measured = { evidence: "measured" } as const;
const assumedBy = { evidence: "assumed" } as const;
const unavailable = { evidence: "unavailable" } as const;

/** The word of an answer; null where there was none. */
const wordIn = (before: View, { query, by }: Use["used"][number]): bigint | null => {
  const answer = before.call(query);
  return answer === null || !answer.success
    ? null
    : wordAt(answer.data, (dataAt + 64 * (by.kind === "equal" ? by.at : 0)) as never);
};

/** Returns whether each of its numbers is used, passed or yet to come. */
const usedIn = (before: View, { used, kind }: Use) =>
  used.map((one) => {
    const now = wordIn(before, one);
    if (now === null) return null;
    if (one.by.kind === "bit") return ((now >> one.by.bit) & 1n) === 1n ? "used" : "next";
    if (now === one.value) return "next";
    // why: of what is only marked there is no later one, and Seaport's counters are numbers by chance
    const isMark = kind === "erc3009Transfer" || kind === "erc3009Receive" || kind === "seaport";
    return isMark || now > one.value ? "used" : "later";
  });

/** Kinds whose user says who gets the tokens. */
const takes: ReadonlySet<Use["kind"]> = new Set([
  ...(["permit2Transfer", "permit2BatchTransfer", "permit2Witness", "permit2BatchWitness"] as const),
]);

/** Finds what a signature's own facts say: its owner, its time and its domain. */
const checkFacts = (
  { sign, use, typed, text: message, origin }: PlacedSigning,
  { before, chainId }: Pick<Parameters<Signings["judge"]>[0], "before" | "chainId">,
  now: number,
): ReadonlyArray<Finding> => {
  const seconds = before.environment?.timestamp ?? BigInt(Math.floor(now / 1000));
  const { kind, account, from, until, ends, contract } = use;
  const found: Array<Finding> = [];
  const domain = typed?.domain ?? {};
  const bound = sign.kind === "authorization" ? BigInt(sign.chainId) : domain["chainId"];
  if (sign.kind === "typedData" || sign.kind === "authorization") {
    if (typeof bound !== "bigint" || (bound === 0n && sign.kind === "authorization"))
      found.push(SignatureUnbound.warning(measured));
    else if (chainId !== null && bound !== BigInt(chainId))
      found.push(
        fromError(new ChainIdMismatch({ expected: bound, actual: BigInt(chainId) }), "blocker", {
          ...{ step: "chain", transaction: null, evidence: "measured" },
        }),
      );
  }
  if (kind === "signIn") {
    const problem =
      origin === null
        ? null
        : signInProblem(message ?? "", { origin, address: sign.signer, chainId: chainId ?? 0, now });
    if (problem !== null) found.push(SignInDisagrees.blocker(measured, text("because", problem)));
    if (origin === null)
      found.push(SignInDisagrees.warning(unavailable, text("because", "no origin was given to hold it against")));
    return found;
  }
  if (contract !== null && typed !== null && kind !== "seaport" && use.unread === null) {
    const answer = before.call(separatorOf(contract));
    const own = answer?.success === true && answer.size === 32n ? answer.data.toLowerCase() : null;
    if (own !== null && own !== typed.domainSeparator) found.push(DomainDisagrees.blocker(measured));
  }
  const numbers = usedIn(before, use);
  if (numbers.includes("used")) found.push(SignatureUsed.blocker(measured));
  else if (numbers.includes("later"))
    found.push(SignatureNotYet.unavailable(measured, text("because", "an earlier nonce comes first")));
  if (until !== null && until < seconds) found.push(SignatureExpired.blocker(measured, count("usable until", until)));
  if (from !== null && from > seconds) found.push(SignatureNotYet.unavailable(measured, count("usable from", from)));
  const last = [until, ends].reduce<bigint | null>((a, b) => (b !== null && (a === null || b > a) ? b : a), null);
  if (last !== null && last > seconds + long)
    found.push(SignatureLongLived.warning(measured, count("usable until", last)));
  if (use.consume !== null && until === null) found.push(SignatureNeverExpires.warning(measured));
  const code = before.account(account);
  if (account !== sign.signer && code !== null && code.codeSize === 0n && use.consume !== null)
    found.push(SignerIsNotOwner.blocker(measured));
  if (takes.has(kind)) found.push(WitnessUnread.warning(measured));
  if (kind === "seaport" && typed !== null && isUnpaid(typed.message, account))
    found.push(OrderUnderpaid.warning(measured));
  return found;
};

/** True of an order whose offerer gets nothing. */
const isUnpaid = (message: NonNullable<PlacedSigning["typed"]>["message"], account: Address): boolean =>
  !listed(message["consideration"]).some((item) => {
    const { recipient, startAmount, endAmount } = recordIn(item);
    return recipient === account && (startAmount !== 0n || endAmount !== 0n);
  });

/** Kinds that leave a mark where they are used. */
const marked: ReadonlySet<Use["kind"]> = new Set([
  ...(["erc2612", "dai", "erc3009Transfer", "erc3009Receive", "permit2Single", "permit2Batch"] as const),
  ...(["permit2Transfer", "permit2BatchTransfer", "permit2Witness", "permit2BatchWitness"] as const),
]);

/** True if a call that succeeded is seen to have used its signature: what has no such function may take any call. */
const isUsedUp = (use: Use, before: View, after: View): boolean =>
  use.leaves !== undefined
    ? wordOfAnswer(after, use.leaves.query) === use.leaves.value
    : !marked.has(use.kind) ||
      (use.used.length > 0 &&
        use.used.every((one) => {
          const [first, then] = [wordIn(before, one), wordIn(after, one)];
          return first !== null && then !== null && first !== then;
        }));

const wordOfAnswer = (view: View, query: CallQuery): bigint | null => {
  const answer = view.call(query);
  return answer?.success === true ? wordAt(answer.data, dataAt) : null;
};

/** As much of each token as can be taken: what may be, or what there is, where that is less. */
const mostIn = (before: View, { taken = [] }: Use): ReadonlyArray<bigint> => {
  // why: one token may stand there several times
  const gone = new Map<Address, bigint>();
  return taken.map(({ token, amount, there }) => {
    const earlier = gone.get(token) ?? 0n;
    const most = there.reduce((least, query) => {
      const held = wordOfAnswer(before, query);
      return held !== null && held - earlier < least ? held - earlier : least;
    }, amount);
    gone.set(token, earlier + most);
    return most;
  });
};

/** True of the same numbers. */
const isEach = (one: ReadonlyArray<bigint>, other: ReadonlyArray<bigint>): boolean =>
  one.every((amount, at) => amount === other[at]);

/** No second that anybody will see. */
const never = 2n ** 64n;

/**
 * The last second in which each of them can be used for the same, however far that is; null = nobody knows how one is used, or it
 * is sent like a transaction, as user operations and transactions of Safes are.
 */
const lastUseOf = (signings: ReadonlyArray<PlacedSigning>): bigint | null =>
  signings.every(({ use, safe }) => use.consume !== null && use.operation === undefined && safe === undefined)
    ? signings
        .flatMap(({ use: { until, alike } }) => [until ?? never, alike ?? never])
        .reduce((least, time) => (time < least ? time : least))
    : null;

const usualLooks = ({ use, typed, safe }: PlacedSigning): ReadonlyArray<Query> => [
  ...use.used.map(({ query }) => query),
  ...(use.leaves === undefined ? [] : [use.leaves.query]),
  ...(use.taken ?? []).flatMap(({ there }) => there),
  ...(use.looks ?? []),
  ...(use.contract === null || typed === null || use.unread !== null || safe !== undefined
    ? []
    : [separatorOf(use.contract)]),
  { kind: "account", address: use.account },
];

/** Findings that accounts with code have as well. */
const say: Seen["say"] = {
  unknown: (why) => SignatureUnknown.unavailable(unavailable, text("because", why)),
  notAssumed: (why) => SignatureNotAssumed.unavailable(unavailable, text("because", why.slice(0, 300))),
  assumedAlone: (why) => SignatureNotAssumed.warning(assumedBy, text("because", why)),
  used: SignatureUsed.blocker(measured),
  notYet: SignatureNotYet.unavailable(measured, text("because", "an earlier nonce comes first")),
  notOwner: SignerIsNotOwner.blocker(measured),
};

/** The signatures as a run in a mode judges them. */
const judging = (
  signings: ReadonlyArray<PlacedSigning>,
  mode: Mode,
  now: number,
  shorten: (index: number, taken: ReadonlyArray<bigint>) => void,
  opened: ReadonlySet<number>,
  plainly: ReadonlyMap<string, boolean>,
  lastUse: bigint | null,
  options: Assumable["options"],
  rpc: Rpc["Service"],
  limits = new Map<string, LimitTold | null>(),
): Signings => ({
  looks: signings.flatMap((signing) => [...looksOf(signing), ...usualLooks(signing)]),
  madeUp: new Map(
    signings.flatMap(({ use: { usableBy }, stand: { stranger, taker } }) =>
      [stranger, taker].map((account) => [account, usableBy === "anyone" ? null : usableBy] as const),
    ),
  ),
  accounts: [...new Set(signings.map(({ use }) => use.account))],
  lastUse,
  further: (bundle) =>
    Effect.forEach(
      signings,
      (signing, index) => {
        const entry = bundle.find(({ input }) => input.origin?.signing === index);
        const { digest } = signing.sign;
        return entry === undefined || mode !== "shim" || signing.use.operation === undefined || limits.has(digest)
          ? Effect.void
          : Effect.map(
              askLimit(signing, entry.outcome, options, rpc, entry.index === 0),
              (low) => void limits.set(digest, low),
            );
      },
      { discard: true },
    ),
  paid: new Set(
    signings.flatMap(({ use, stand }) => (use.operation === undefined ? [] : [stand.taker, use.operation.entryPoint])),
  ),
  judge: (seen) => {
    const { bundle, before, after, chainId, found } = seen;
    const kept = new Set<Finding>();
    const own = signings.map(
      (signing, index): { readonly signing: Signing; readonly findings: ReadonlyArray<Finding> } => {
        const { sign, use, place, stand, origin } = signing;
        const carriers = bundle.filter(({ input }) => input.origin?.signing === index);
        const isCarried = carriers.length > 0 && carriersOf(signing, mode) !== null;
        const assumed = !isCarried ? null : sign.kind === "authorization" ? ("code" as const) : mode;
        const account = judgedAsAccount(signing, {
          ...{ ...seen, carriers, mode, now, say, options },
          limitOf: ({ sign: { digest } }) => limits.get(digest) ?? null,
          isPlain:
            plainRunsOf(signings) === null ? null : (plainly.get(signing.sign.digest) ?? seen.stage === "scanned"),
        });
        if (account !== null) {
          for (const finding of account.kept) kept.add(finding);
          return account;
        }
        const facts = checkFacts(signing, { before, chainId }, now);
        const places = new Set(carriers.map(({ index: at }) => at));
        const isBlocked = ({ severity, transaction, step }: Finding) =>
          severity === "blocker" && step === "simulate" && transaction !== null && places.has(transaction);
        const failed = found.filter(isBlocked);
        const most = mostIn(before, use);
        const isSome = most.some((amount) => amount > 0n);
        const all = (use.taken ?? []).map(({ amount }) => amount);
        const isOther =
          !isEach(most, stand.taken ?? all) && (stand.taken !== undefined || (failed.length > 0 && isSome));
        if (isOther && stand.taken === undefined) shorten(index, most);
        const codeSize = before.account(use.account)?.codeSize ?? 0n;
        const isLate = facts.some(({ code: found }) => found === notYet);
        // why: an account's own code may have hashed the digest again, a call that is too early says nothing of a later one, and of
        // what is there another amount may be taken, or of an NFT another form of the call
        const isTellable =
          failed.length > 0 && assumed === "shim" && (codeSize > 0n || isLate || isSome || use.kind === "erc4494");
        if (isTellable) for (const finding of failed) kept.add(finding);
        const isUnseen = assumed === "shim" && failed.length === 0 && !isUsedUp(use, before, after);
        const isTaken = assumed === "shim" && failed.length === 0 && !isUnseen && use.kind !== "seaport";
        // why: what its contract takes can be used, whatever the contract says of itself
        const against = isTaken ? facts.filter(({ severity }) => severity === "blocker") : [];
        const findings: Array<Finding> = [
          ...facts.filter((finding) => !against.includes(finding)),
          ...against.map(({ sentence }) =>
            SignatureUnknown.unavailable(measured, text("because", `its contract takes it, although ${sentence}`)),
          ),
        ];
        if (opened.has(index)) findings.push(DelegateOpen.warning(measured, address("account", use.account)));
        // why: with a later nonce it waits, and what its code does then is nowhere in the report
        if (sign.kind === "authorization" && found.some(({ code: one }) => one === ineffective))
          findings.push(
            SignatureNotYet.unavailable(unavailable, text("because", "its nonce is not the account's next one")),
          );
        if (isTellable && !isLate)
          findings.push(
            SignatureNotAssumed.unavailable(
              unavailable,
              text("because", `${codeSize > 0n ? "the account's own code" : "the contract"} did not take it`),
            ),
          );
        // guard: an amount that was the most when an earlier report was made
        if (isOther)
          findings.push(
            SignatureNotAssumed.unavailable(unavailable, text("because", "as much as was there is not there now")),
          );
        // guard: a key whose own account the message fits as well
        if (use.kind.startsWith("permit2") && use.account !== sign.signer)
          findings.push(
            SignatureNotAssumed.unavailable(unavailable, text("because", "it fits the signer's own account, too")),
          );
        if (isUnseen)
          findings.push(
            SignatureNotAssumed.unavailable(unavailable, text("because", "the contract was not seen to use it up")),
          );
        if (!isCarried && use.kind !== "signIn") {
          const why = text("because", use.unread ?? "no call of the account does the same on this node");
          const isBlind = sign.kind === "hash";
          const isKnown = use.unread === null;
          findings.push(
            isBlind
              ? HashBlind.unavailable(unavailable, why)
              : isKnown
                ? SignatureNotAssumed.unavailable(unavailable, why)
                : SignatureUnknown.unavailable(unavailable, why),
          );
        }
        if (assumed === "equalCall") {
          findings.push(
            SignatureNotAssumed.warning(assumedBy, text("because", "the account's own equal call was simulated")),
          );
          const told = use.contract === null ? undefined : before.call(separatorOf(use.contract));
          if (told === null)
            findings.push(
              SignatureNotAssumed.unavailable(unavailable, text("because", "its contract's domain could not be read")),
            );
          else if (told?.success !== true) findings.push(DomainDisagrees.unavailable(unavailable));
          // guard: a nonce that nobody could read, where the signature itself was not run
          if (usedIn(before, use).includes(null))
            findings.push(SignatureNotAssumed.unavailable(unavailable, text("because", "its nonce could not be read")));
        }
        const numbers = usedIn(before, use);
        const used = numbers.includes("used") ? true : numbers.length === 0 || numbers.includes(null) ? null : false;
        return {
          findings,
          signing: {
            ...{ sign, kind: use.kind, account: use.account, usableBy: use.usableBy, contract: use.contract },
            ...{
              from: use.from,
              until: use.until,
              ends: use.ends,
              repeats: use.repeats,
              origin,
              assumed,
              place,
              stand,
            },
            nonce: use.nonce === null ? null : { value: use.nonce, used },
            evidence: assumed === null ? "unavailable" : "assumed",
          },
        };
      },
    );
    return {
      signings: own.map(({ signing }) => signing),
      findings: [...found.filter((finding) => !kept.has(finding)), ...own.flatMap(({ findings }) => findings)],
    };
  },
});

/**
 * Runs `use` with the calls that use the signatures, on a node that takes them for given; where the node does not, once more with
 * the accounts' own calls. `mode`: the way of an earlier report, which is kept.
 */
export const withSignings = Effect.fnUntraced(function* <P extends Assumable, A, E, R>(
  prepared: P,
  { transactions, signings: given_, mode }: Signed,
  use: (prepared: P) => Effect.Effect<A, E, R>,
): Effect.fn.Return<A, E, R | Rpc> {
  const signings = given_.every(isPlaced) ? given_ : yield* resolved(given_, prepared.options);
  const rpc = yield* Rpc;
  const roll = yield* Effect.service(RandomWords);
  const now = yield* Clock.currentTimeMillis;
  const lastUse = transactions.length > 0 ? null : lastUseOf(signings);
  const refused = yield* Deferred.make<"refused">();
  const refuse = Effect.andThen(
    Effect.sync(() => rpc.memory.learn("assumes", false)),
    Deferred.succeed(refused, "refused"),
  );
  const run = (by: Mode, all = signings): Effect.Effect<A, E, R | Rpc> => {
    const less = new Map<number, ReadonlyArray<bigint>>();
    const opened = new Set<number>();
    const plainly = new Map<string, boolean>();
    const shorten = (index: number, taken: ReadonlyArray<bigint>) => void less.set(index, taken);
    const judge = judging(all, by, now, shorten, opened, plainly, lastUse, prepared.options, rpc);
    const accounts = [...new Set([...prepared.options.accounts, ...judge.accounts])];
    const options = { ...prepared.options, accounts };
    const [first, ...others] = mergedIn(transactions, all, by);
    const bundle = first === undefined ? prepared.bundle : bundleOf([first, ...others], accounts);
    const ask = use({ ...prepared, bundle, options }).pipe(
      Effect.provideService(CurrentSignings, judge),
      Effect.provideService(
        Rpc,
        nodeWith(
          rpc,
          assumingOf(all, bundle, by, roll),
          by === "shim" ? refuse : Effect.void,
          (index) => void opened.add(index),
          (digest, isAlike) => void plainly.set(digest, isAlike),
        ),
      ),
    );
    // why: who may take more than there is takes all there is
    return Effect.flatMap(ask, (answer) =>
      less.size === 0 || mode !== null
        ? Effect.succeed(answer)
        : run(
            by,
            all.map((signing, index) => {
              const taken = less.get(index);
              return taken === undefined ? signing : { ...signing, stand: { ...signing.stand, taken } };
            }),
          ),
    );
  };
  // why: `eth_call` alone takes no signature for given, so that a contract refuses it
  const isBare = rpc.memory.recall("assumes") === false || rpc.memory.refused("eth_simulateV1") !== null;
  const first = mode ?? (isBare ? "equalCall" : "shim");
  if (first === "equalCall" || mode !== null) return yield* run(first);
  const answer = yield* Effect.raceFirst(run("shim"), Deferred.await(refused));
  return answer === "refused" ? yield* run("equalCall") : answer;
});
