/**
 * Runs for signatures that no key has given yet. They simulate the calls that would use the signatures. Code in place of
 * ECRECOVER assumes the signatures. In each block that may verify a signature, test calls check that this code works. For a
 * node that cannot override ECRECOVER, the accounts' own calls with the same effect are simulated.
 */
import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidTransaction } from "../errors/input.js";
import { OverrideIgnored, RpcError } from "../errors/rpc.js";
import type { Verdict } from "../errors/verdicts.js";
import { wordOf } from "../abi/words.js";
import { RandomWords } from "../primitives/effects.js";
import { isAddress, lower, type Address, type Hash, type Hex } from "../primitives/hex.js";
import { isRecord, safely } from "../primitives/record.js";
import { no, type Checked } from "../primitives/problem.js";
import { CurrentRun, Rpc } from "../rpc/index.js";
import {
  accountFormOf,
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
import { ecrecover, given, shimCode, spendingCalls, type Signing, type Use } from "../signing/index.js";
import { bundleOf, isCarrier, type Bundle } from "../steps/reading/bundle.js";
import { maxTransactions, type CheckedInput, type InputDefaults, type Transaction } from "../transaction/fields.js";
import { check } from "../Transaction.js";
import { witnessFees } from "../witness/placement.js";
import { judgedAsAccount, looksOf, resolved } from "./accounts.js";
import { askLimit, traceBundlerCall } from "./operations.js";
import { isSameWithoutAssumption, plainBlocks, plainRunsOf, type PlainRun } from "./plainRuns.js";
import { judgedSignature, say, signatureQueries } from "./signatureJudgement.js";
import {
  CurrentSignings,
  trialGas,
  type Assumable,
  type Judgement,
  type LowGasLimit,
  type Signed,
} from "./signings.js";
import type { Signings } from "./signings.js";
import { answered, blocksIn, listed, quantity, recordIn, withBlocks, type Wire } from "./wire.js";

/** Most signatures of one input. */
const most = 16;
/** Wei that the state override gives to senders of calls that use or test signatures. */
const purse = 2n ** 96n;
/** Gas of a call that tries to spend from an account with new code. */
const probeGas: Hex = "0x30d40";

/** Reads the signatures of an input. `at`: the path of each; `place`: the number of transactions before it. */
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

/** The overrides by which a node assumes the signatures, and the calls that test them. */
interface Assuming {
  readonly override: Wire;
  /** Storage slots that are overridden before all calls. */
  readonly pretends: NonNullable<Use["pretends"]>;
  /** Calls that run first in every tested block, and the result that each must return. */
  readonly trials: ReadonlyArray<{ readonly call: Wire; readonly returns: string }>;
  readonly tester: Address;
  /** Calls that run last in every tested block: an unknown sender tries to take wei from an account with new code. */
  readonly probes: ReadonlyArray<{ readonly call: Wire; readonly signing: number; readonly paid: string }>;
  /** Senders of all calls of the bundle: a block without a call by one of them is not tested. */
  readonly senders: ReadonlySet<string>;
  /** Senders of calls that use signatures, which get ether; senders of the user's transactions get none. */
  readonly funded: ReadonlyArray<Address>;
  /** User operations: in the run `next`, a second simulation makes their calls without assumed signatures. */
  readonly plain: ReadonlyArray<PlainRun>;
  /** The EntryPoint that pays each made-up beneficiary of a bundle, both as 32-byte words. */
  readonly beneficiaries: ReadonlyMap<string, string>;
}

/** The result of a call without the log that pays the bundler: the amount follows the base fee. */
const withoutPay = (call: unknown, { beneficiaries }: Assuming): unknown => {
  const isPay = (log: unknown): boolean => {
    const { address, topics } = recordIn(log);
    const [, from, to] = listed(topics).map((topic) => String(topic).toLowerCase());
    return String(address).toLowerCase() === traceEmitter && from !== undefined && beneficiaries.get(to ?? "") === from;
  };
  return beneficiaries.size > 0 && isRecord(call) && Array.isArray(call["logs"])
    ? { ...call, logs: call["logs"].filter((log) => !isPay(log)) }
    : call;
};

/** True for a block with a call that may verify a signature: the override is tested in it. */
const isTriedIn = (entry: Wire, { trials, probes, senders }: Assuming): boolean =>
  trials.length + probes.length > 0 &&
  listed(entry["calls"]).some((call) => senders.has(String(recordIn(call)["from"]).toLowerCase()));

/** The state override of accounts, with ether for each. */
const pursesOf = (state: Wire, accounts: ReadonlyArray<Address>): Wire =>
  Object.fromEntries(accounts.map((account) => [account, { ...recordIn(state[account]), balance: quantity(purse) }]));

/** The overrides of the accounts with storage slots added; `isLater`: slots that they set already win. */
const withWords = (state: Wire, pretends: Assuming["pretends"], isLater: boolean): Wire =>
  Object.fromEntries(
    Object.entries(pretends).map(([account, words]) => {
      const own = recordIn(state[account]);
      const kind = own["state"] == null ? "stateDiff" : "state";
      const given = recordIn(own[kind]);
      return [account, { ...own, [kind]: isLater ? { ...words, ...given } : { ...given, ...words } }];
    }),
  );

/** A block with the overrides and the test calls; the first block also gives ether and sets the storage slots. */
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

/** True if a call moved wei between two accounts; `paid`: both as topics, joined by a comma. */
const isPaidIn = (told: Wire, paid: string): boolean =>
  told["status"] === "0x1" &&
  listed(told["logs"]).some((log) => {
    const { address, topics } = recordIn(log);
    return String(address).toLowerCase() === traceEmitter && listed(topics).slice(1).join().toLowerCase() === paid;
  });

/** An answer without the tests in front of the calls of its blocks. */
const withoutTrials = (answer: unknown, blocks: ReadonlyArray<Wire>, assuming: Assuming): unknown =>
  answered(answer, blocks, (told, entry) =>
    isTriedIn(entry, assuming)
      ? { ...recordIn(told), calls: listed(recordIn(told)["calls"]).slice(assuming.trials.length) }
      : told,
  );

/**
 * The node as the requests of a run see it. It calls `refuse` if the node rejects or ignores the override, `open` if an
 * unknown sender could spend, and `isPlainly` with the comparison of an operation's calls.
 */
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
      const isPaid = assuming.beneficiaries.size > 0 || Object.keys(assuming.pretends).length > 0;
      // why: a tracer rejects a call whose sender cannot pay for it
      const paid = { ...state, ...(isPaid ? pursesOf(state, assuming.funded) : {}) };
      const stateOverrides = { ...paid, ...withWords(paid, assuming.pretends, true), ...assuming.override };
      const traced = [first, block, { ...recordIn(third), stateOverrides }, ...rest];
      const { to } = recordIn(first);
      const isBundlers = isAddress(to) && [...assuming.beneficiaries.values()].includes(padded(lower(to)));
      return isBundlers && recordIn(third)["tracer"] === "callTracer"
        ? traceBundlerCall(rpc, traced)
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
              for (const each of plain)
                isPlainly(each.digest, isSameWithoutAssumption([blocks, own], [alone, plainly], each));
              return answer;
            });
          });
    // why: a moved head is no refusal of the override
    const isOfHead = ({ reason: { _tag: name } }: RpcError) => name === "SimBlockOrder" || name === "BlockNotFound";
    const isRefusal = (failure: RpcError | Verdict) =>
      failure._tag === "RpcError" && !failure.isRetryable && !isOfHead(failure);
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
          // why: the bloom covers the removed calls, too
          const isOfMore =
            assuming.beneficiaries.size > 0 ||
            calls.slice(end).some((call) => listed(recordIn(call)["logs"]).length > 0);
          return { ...told, calls: own, ...sent, ...(isOfMore ? { logsBloom: null } : {}) };
        });
        return isTaken ? Effect.succeed(read) : Effect.andThen(refuse, Effect.fail(ignored()));
      },
    );
  };
  return { ...rpc, request, send: undefined };
};

/** The storage slots that any of the signatures overrides. */
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
  // why: the code knows one signer for a digest; a test with another would look like a fault of the node
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
    beneficiaries: new Map(
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

/** Reads an input with signatures: transactions, signatures, and `carried`, which inserts the calls that use them. */
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
  // why: the state after an authorisation is assumed before the first call
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

/** True if it sets an account's code. */
const hasAuthorization = (signing: AnySigning): boolean =>
  isPlaced(signing)
    ? signing.sign.kind === "authorization"
    : signing.open.form === "userOperation" && signing.open.operation.authorization !== null;

/** A second beyond any deadline. */
const never = 2n ** 64n;

/**
 * The last second in which all signatures can be used to the same effect. Null if the use of one is unknown, or if one is a
 * user operation or a Safe's transaction: those are sent like transactions.
 */
const lastUseOf = (signings: ReadonlyArray<PlacedSigning>): bigint | null =>
  signings.every(({ use, safe }) => use.consume !== null && use.operation === undefined && safe === undefined)
    ? signings
        .flatMap(({ use: { until, alike } }) => [until ?? never, alike ?? never])
        .reduce((least, time) => (time < least ? time : least))
    : null;

/** A run of signatures, and what it learns in addition to its answers. */
interface Underway {
  readonly mode: Mode;
  /** Ms since 1970. */
  readonly now: number;
  readonly options: Assumable["options"];
  readonly lastUse: bigint | null;
  /** Records the amount of each token that a signature lets somebody take, if another amount was simulated. */
  readonly shorten: (index: number, taken: ReadonlyArray<bigint>) => void;
  /** Authorisations whose code let a stranger spend. */
  readonly opened: ReadonlySet<number>;
  /** By digest: true if the calls of an operation had the same result without an assumed signature. */
  readonly plainly: ReadonlyMap<string, boolean>;
}

/** The queries, accounts and judge of a run's signatures in one mode. */
const judging = (signings: ReadonlyArray<PlacedSigning>, underway: Underway, rpc: Rpc["Service"]): Signings => {
  const { mode, now, options, lastUse, shorten, opened, plainly } = underway;
  /** Gas limits that are too low, by the digest of their operation; null = none is. */
  const limits = new Map<string, LowGasLimit | null>();
  const limitOf = ({ sign: { digest } }: PlacedSigning) => limits.get(digest) ?? null;
  return {
    looks: signings.flatMap((signing) => [...looksOf(signing), ...signatureQueries(signing)]),
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
      signings.flatMap(({ use, stand }) =>
        use.operation === undefined ? [] : [stand.taker, use.operation.entryPoint],
      ),
    ),
    judge: (seen) => {
      const isPlainless = plainRunsOf(signings) === null;
      const judged = signings.map((signing, index): Judgement => {
        const carriers = seen.bundle.filter(({ input }) => input.origin?.signing === index);
        const isPlain = isPlainless ? null : (plainly.get(signing.sign.digest) ?? seen.stage === "scanned");
        const about = { ...seen, carriers, mode, now, say, options, limitOf, isPlain };
        const account = judgedAsAccount(signing, about);
        if (account !== null) return account;
        const own = judgedSignature(signing, about, opened.has(index));
        if (own.most !== null) shorten(index, own.most);
        return own;
      });
      const replaced = new Set(judged.flatMap((one) => one.replaced));
      return {
        signings: judged.map(({ signing }) => signing),
        findings: [
          ...seen.found.filter((finding) => !replaced.has(finding)),
          ...judged.flatMap(({ findings }) => findings),
        ],
      };
    },
  };
};

/**
 * Runs `use` on a node that assumes the signatures, with a bundle that has the calls for them. If the node rejects or ignores
 * the override, runs it again with the accounts' own calls. If a call fails and less can be taken than was simulated, runs it
 * again with that amount. `mode`: the mode of an earlier report, which is used again without a second run.
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
    const underway = { mode: by, now, options: prepared.options, lastUse, shorten, opened, plainly };
    const judge = judging(all, underway, rpc);
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
    // why: if the message permits more than the balance, the whole balance can be taken
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
  // why: a plain `eth_call` assumes no signature, so a contract refuses it
  const isBare = rpc.memory.recall("assumes") === false || rpc.memory.refused("eth_simulateV1") !== null;
  const first = mode ?? (isBare ? "equalCall" : "shim");
  if (first === "equalCall" || mode !== null) return yield* run(first);
  const answer = yield* Effect.raceFirst(run("shim"), Deferred.await(refused));
  return answer === "refused" ? yield* run("equalCall") : answer;
});
