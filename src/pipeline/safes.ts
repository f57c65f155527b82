/**
 * Transactions of Safes: two rounds in front read the Safe and its owners, `execTransaction` runs on approvals of its owners
 * that are pretended, and what became of it is read from the Safe's own event.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { fromString } from "ox/Hex";
import { addressOf, bytesAt, dataAt, nobody, numbersAt, pointedAt, wordAt, wordOf } from "../abi/words.js";
import { ChainIdMismatch } from "../errors/verdicts.js";
import { chainsInUse } from "../eth/chains.js";
import type { BlockParameter } from "../eth/parameters.js";
import * as Questions from "../eth/questions.js";
import { asked, each, one, sent, together, when } from "../eth/round.js";
import { readSimulation } from "../eth/simulation.js";
import { lazyImport } from "../primitives/effects.js";
import { lower, type Address, type Hex } from "../primitives/hex.js";
import { address, count, hash, quote, text, units, wei } from "../primitives/statement.js";
import { code, fromError, type Finding } from "../report/finding.js";
import type { OutcomeLog } from "../report/parts.js";
import type { ReportOptions } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import { messageHash, multiSends, numberOf, partsOf, signingIn, transactionHashOf } from "../signing/index.js";
import { typedOf, withSafe, type TypedData } from "../signing/index.js";
import { isPlaced, type AnySigning, type OpenSigning, type PlacedSigning, type SafeInput } from "../signing/index.js";
import type { SafeState, Signing } from "../signing/index.js";
import { successOf } from "../steps/reading/askResult.js";
import { isSafeProxy } from "../steps/reading/delegateCalls.js";
import { knownCode } from "../steps/reading/safeCode.js";
import { staticCall, type CallQuery, type Query } from "../witness/queries.js";
import type { View } from "../witness/view.js";
import { inRound } from "./rounds.js";
import type { Judgement, Seen } from "./signings.js";

/** Most owners and modules of a Safe that are read. */
const most = 50;
const versions = ["1.3.0", "1.4.1", "1.5.0"];
const slot = (place: Hex): Hex => `0x5624b25b${place.slice(2)}${wordOf(1).slice(2)}`;

/** Calldata of a Safe's own getters, and how many bytes of an answer are kept. */
const getters = {
  version: ["0xffa1ad74", 96],
  owners: ["0xa0e67e2b", 64 + 32 * most],
  threshold: ["0xe75235b8", 32],
  // getModulesPaginated(address,uint256)
  modules: [`0xcc2f8452${wordOf(1).slice(2)}${wordOf(most).slice(2)}`, 96 + 32 * most],
  // masterCopy(), which a Safe's proxy answers itself
  singleton: ["0xa619486e", 32],
  guard: [slot("0x4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8"), 96],
  moduleGuard: [slot("0xb104e0b93118902c651344349b610029d694cfdec91c589c91ebafbcd0289947"), 96],
  fallbackHandler: [slot("0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5"), 96],
} as const satisfies Readonly<Record<string, readonly [data: Hex, cap: number]>>;
type Fact = keyof typeof getters;
const facts = Object.keys(getters) as ReadonlyArray<Fact>;

const queryOf = (safe: Address, fact: Fact): CallQuery => staticCall(safe, getters[fact][0], 400_000, getters[fact][1]);
const nonceOf = (safe: Address): CallQuery => staticCall(safe, "0xaffed0e0");

/** Queries that tell whether a Safe is as it was read, in front of its transaction and behind it. */
export const looksOf = ({ safe }: PlacedSigning): ReadonlyArray<Query> =>
  safe === undefined
    ? []
    : [
        ...facts.map((fact) => queryOf(safe.safe, fact)),
        nonceOf(safe.safe),
        ...[safe.safe, safe.singleton].map((account) => ({ kind: "account", address: account }) as const),
      ];

type Read = Pick<SafeState, Fact>;

/** A Safe by the answers of its getters; null where they do not fit one of a version that is known. */
const readIn = (answer: (fact: Fact) => Hex | null): Read | null => {
  const dataOf = (fact: Fact): Hex => answer(fact) ?? "0x";
  const placeIn = (fact: Fact) => pointedAt(dataOf(fact), dataAt, dataAt);
  const bytesOf = (fact: Fact) => bytesAt(dataOf(fact), placeIn(fact)) ?? "0x";
  const listOf = (fact: Fact) => numbersAt(dataOf(fact), placeIn(fact))?.map(addressOf) ?? null;
  const accountOf = (fact: Fact, data = bytesOf(fact)) => {
    const word = wordAt(data, dataAt);
    return word === null ? undefined : word === 0n ? null : addressOf(word);
  };
  const [owners, modules, threshold] = [listOf("owners"), listOf("modules"), wordAt(dataOf("threshold"), dataAt)];
  const [singleton, guard] = [accountOf("singleton", dataOf("singleton")), accountOf("guard")];
  const [moduleGuard, fallbackHandler] = [accountOf("moduleGuard"), accountOf("fallbackHandler")];
  const version = versions.find((each) => fromString(each) === bytesOf("version"));
  if (version === undefined || owners === null || modules === null || threshold === null || singleton == null)
    return null;
  if (guard === undefined || moduleGuard === undefined || fallbackHandler === undefined) return null;
  const isSane = threshold > 0n && threshold <= BigInt(owners.length) && new Set(owners).size === owners.length;
  return isSane ? { version, owners, modules, threshold, singleton, guard, moduleGuard, fallbackHandler } : null;
};

/** What several calls return on the chain as it is pretended, in one simulation; null where one failed, or nobody answered. */
const returned = Effect.fnUntraced(function* (
  queries: ReadonlyArray<CallQuery>,
  codes: ReadonlyArray<Address>,
  { stateOverrides }: ReportOptions,
  block: BlockParameter,
  asksChain = false,
) {
  const blocks = [{ stateOverrides, calls: queries.map(({ to, data, gas }) => ({ to, data, gas })) }];
  const at = block === "pending" ? "latest" : block;
  const ask = together({
    simulated: one(Questions.simulation({ blocks, block })),
    codes: each(codes, (account) => one(Questions.code({ address: account, block: at }))),
    chainId: when(asksChain, one(Questions.chainId), null),
  });
  const answers = yield* inRound("unsigned", sent(asked({ step: "chain" }, ask)));
  const read = yield* Effect.orElseSucceed(
    Effect.flatMap(Effect.fromResult(answers.simulated), (answer) => readSimulation(answer, { blocks })),
    () => null,
  );
  const calls = read?.[0]?.calls ?? [];
  return {
    isAnswered: read !== null,
    data: queries.map((_, place): Hex | null => {
      const { status, returnData = null } = calls[place] ?? {};
      return status === "success" ? returnData : null;
    }),
    codes: answers.codes.map((answer) => successOf(answer)),
    chainId: successOf(answers.chainId),
  };
});

type Open = OpenSigning & { readonly open: SafeInput };
const isOpen = (signing: AnySigning): signing is Open => !isPlaced(signing) && signing.open.form === "safe";

/** One input with the nonce that it has, how many transactions in front of it are pretended, and why it cannot run. */
interface Queued {
  readonly signing: Open;
  readonly nonce: bigint;
  readonly queued: bigint;
  readonly unread: string | null;
}

/** The transactions of one Safe in the order in which they run: by their nonces, and those without one behind them. */
const queueOf = (all: ReadonlyArray<Open>, next: bigint): ReadonlyArray<Queued> => {
  const order = ({ open: { nonce } }: Open): bigint => nonce ?? 2n ** 256n;
  const sorted = [...all].sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
  let turn = next;
  return sorted.map((signing, place) => {
    const nonce = signing.open.nonce ?? turn;
    const before = turn;
    turn = nonce < turn ? turn : nonce + 1n;
    if (nonce < before && nonce >= next)
      return { signing, nonce, queued: 0n, unread: "a transaction with its nonce stands in front of it" };
    const isLater = nonce > before;
    const unread = isLater && place > 0 ? "a transaction of the Safe's queue is missing in front of it" : null;
    return { signing, nonce, queued: isLater ? nonce - before : 0n, unread };
  });
};

const signer = lazyImport(() => import("../transaction/signer.js"));

/** Owners whose confirmation is by their key, of the hash itself or as `eth_sign` signs it. */
const confirmedBy = Effect.fnUntraced(function* ({ confirmations }: SafeInput, digest: Hex) {
  if (confirmations.length === 0) return [];
  const { recoverSigner } = yield* signer;
  return confirmations.slice(0, most).flatMap(({ owner, signature }) => {
    const v = parseInt(signature.slice(130), 16);
    const isText = v > 30;
    const yParity = v - (isText ? 31 : 27);
    if (signature.length !== 132 || (yParity !== 0 && yParity !== 1)) return [];
    const parts = { r: `0x${signature.slice(2, 66)}`, s: `0x${signature.slice(66, 130)}`, yParity };
    return recoverSigner(isText ? messageHash(digest) : digest, parts) === owner ? [owner] : [];
  });
});

/** A transaction whose Safe, or what stands in front of it, is not known. */
const unreadOf = ({ open, place, stand }: Open, chainId: bigint, why: string): PlacedSigning | null => {
  const by = open.asked ?? successIn(readOf(open, chainId, open.nonce ?? 0n, nobody, open.safe));
  return by === null ? null : { ...by, use: { ...by.use, unread: why }, place, stand };
};
const successIn = <A>(result: Result.Result<A, unknown>): A | null =>
  Result.isSuccess(result) ? result.success : null;

/** What the owners sign, as a signature by one of them. */
const readOf = (open: SafeInput, chainId: bigint, nonce: bigint, library: Address | null, by: Address) =>
  Result.flatMap(typedOf(open, chainId, nonce, library), ({ json }) =>
    signingIn({ typedData: json, signer: by, ...(by === open.safe ? {} : { account: open.safe }) }),
  );

/** The MultiSend that has code, of the Safe's own version where that is there. */
const libraryIn = (version: string, codes: ReadonlyArray<string | null>): Address | null => {
  const there = multiSends.filter((_, place) => (codes[place] ?? "0x") !== "0x");
  return (there.find(([own]) => own === version) ?? there.at(-1))?.[1] ?? null;
};

/** One transaction of a Safe that was read, with its owners' approvals. */
const placedOf = Effect.fnUntraced(function* (
  { signing, nonce, queued, unread }: Queued,
  read: Read,
  next: bigint,
  about: { readonly chainId: bigint | null; readonly codes: ReadonlyArray<string | null> },
  options: ReportOptions,
  block: BlockParameter,
) {
  const { open, place, stand } = signing;
  const chainId = open.chainId ?? about.chainId;
  if (chainId === null) return unreadOf(signing, 0n, "the chain could not be read");
  const library = open.calls === null ? null : libraryIn(read.version, about.codes);
  const typed = successIn(typedOf(open, chainId, nonce, library));
  if (unread !== null || typed === null)
    return unreadOf(signing, chainId, unread ?? "no MultiSend that is known is on this chain");
  const { safe, hash: said, asked: whole } = open;
  const { digest } = typed;
  const queries = [
    staticCall(safe, transactionHashOf(typed), 1_000_000),
    // approvedHashes(address,bytes32)
    ...read.owners.map((owner) => staticCall(safe, `0x7d832974${wordOf(BigInt(owner)).slice(2)}${digest.slice(2)}`)),
  ];
  const [answers, confirmed] = yield* Effect.zip(
    returned(queries, read.owners, options, block),
    confirmedBy(open, digest),
  );
  const [own, ...approvals] = answers.data;
  if (own?.length !== 66) return unreadOf(signing, chainId, "the Safe did not tell the transaction's hash");
  const approved = read.owners.filter(
    (owner, at) => confirmed.includes(owner) || (wordAt(approvals[at] ?? "0x", dataAt) ?? 0n) > 0n,
  );
  const coded = new Set(
    read.owners.filter((_, at) => {
      const of = answers.codes[at] ?? "0x";
      return of !== "0x" && !(of.length === 48 && of.startsWith("0xef0100"));
    }),
  );
  const parts = partsOf(open, { ...read, approved, coded }, stand.stranger);
  const state: SafeState = { safe, ...read, ...parts, hash: lower(own), said, nonce: next, queued, approved };
  const by = whole?.sign.signer ?? parts.missing[0] ?? parts.approvers[0] ?? safe;
  const signed = successIn(whole === null ? readOf(open, chainId, nonce, library, by) : Result.succeed(whole));
  return signed === null ? null : { ...withSafe(signed, state), place, stand };
});

/** The inputs with those of Safes as the calls that use them; JSON-RPC: `eth_simulateV1` and `eth_getCode`, twice each. */
export const withSafes = Effect.fnUntraced(function* (
  signings: ReadonlyArray<AnySigning>,
  options: ReportOptions,
): Effect.fn.Return<ReadonlyArray<AnySigning>, never, Rpc> {
  const open = signings.filter(isOpen);
  if (open.length === 0) return signings;
  const { memory } = yield* Rpc;
  const chains = yield* chainsInUse;
  const safes = [...new Set(open.map(({ open: { safe } }) => safe))];
  const queries = safes.flatMap((safe) => [...facts.map((fact) => queryOf(safe, fact)), nonceOf(safe)]);
  const libraries = open.some(({ open: { calls } }) => calls !== null) ? multiSends.map(([, library]) => library) : [];
  const named = options.block ?? chains(memory.recall("chainId")).blockTag;
  const asksChain = memory.recall("chainId") === null;
  const first = yield* returned(queries, libraries, options, named, asksChain);
  // why: an endpoint without pending state has the latest block
  const block = !first.isAnswered && named === "pending" ? "latest" : named;
  const answers = block === named ? first : yield* returned(queries, libraries, options, block, asksChain);
  const known = answers.chainId ?? memory.recall("chainId");
  const about = { chainId: known === null ? null : BigInt(known), codes: answers.codes };
  const made = new Map<Open, PlacedSigning>();
  const orders = new Map<Address, ReadonlyArray<Open>>();
  for (const [place, safe] of safes.entries()) {
    const all = open.filter((signing) => signing.open.safe === safe);
    const of = answers.data.slice(place * (facts.length + 1), (place + 1) * (facts.length + 1));
    const read = readIn((fact) => of[facts.indexOf(fact)] ?? null);
    const next = wordAt(of.at(-1) ?? "0x", dataAt);
    const why = answers.isAnswered ? "it is no Safe of version 1.3.0, 1.4.1 or 1.5.0" : "the Safe could not be read";
    const queue = read === null || next === null ? [] : queueOf(all, next);
    for (const entry of queue) {
      const placed = read && next !== null ? yield* placedOf(entry, read, next, about, options, block) : null;
      if (placed !== null) made.set(entry.signing, placed);
    }
    for (const signing of all) {
      const unread = made.has(signing) ? null : unreadOf(signing, signing.open.chainId ?? about.chainId ?? 0n, why);
      if (unread !== null) made.set(signing, unread);
    }
    orders.set(safe, queue.length === 0 ? all : queue.map(({ signing }) => signing));
  }
  const turns = new Map<Address, number>();
  return signings.flatMap((signing) => {
    if (!isOpen(signing)) return [signing];
    const { safe } = signing.open;
    const turn = turns.get(safe) ?? 0;
    turns.set(safe, turn + 1);
    const own = orders.get(safe)?.[turn];
    const placed = own && made.get(own);
    // why: those of one Safe run in the order of their nonces, each where one of them stands
    return placed === undefined ? [] : [{ ...placed, place: signing.place }];
  });
});

/**
 * The hash that came with the transaction is not that of its fields: what a service shows is not what its hash does.
 * @figures hash("by its fields", sent), hash("said", sent)
 */
export const SafeHashDisagrees = code("approvals", ["blocker"], "SafeHashDisagrees", [
  "the Safe's hash of the transaction is another one",
  "do not sign: ask where the transaction came from",
]);

/**
 * Transactions with earlier nonces come first. They were pretended to be executed, and to change nothing.
 * @figures count("number in front", 2n)
 * @unavailable where the transaction fails without them
 */
export const SafeNonceQueued = code("approvals", ["warning", "unavailable"], "SafeNonceQueued", [
  "other transactions of the Safe come first, and may change what this one does",
  "give those in front of it as well, or run it again when it is the next one",
]);

/**
 * The Safe has a guard, and the execution was reverted, maybe by it. The simulation pretends that the owners have called
 * `approveHash`; signatures of keys may pass where that does not.
 * @figures address("guard", pool)
 */
export const SafeGuardRefuses = code("approvals", ["unavailable"], "SafeGuardRefuses", [
  "the Safe's guard may refuse the transaction",
  "ask who set the guard what it allows",
]);

/** The Safe takes the transaction, uses up its nonce, and does nothing: the call inside fails. */
export const SafeExecutionFails = code("simulate", ["blocker"], "SafeExecutionFails", [
  "the Safe's transaction would fail inside, and use up its nonce",
  "correct the call, or raise `safeTxGas`",
]);

/**
 * The Safe pays whoever executes the transaction, for no receiver is named.
 * @figures wei("at most", 10n ** 15n)
 */
export const SafePaysExecutor = code("approvals", ["warning"], "SafePaysExecutor", [
  "the Safe pays whoever executes the transaction",
  "set `gasPrice` to 0, or name a `refundReceiver`",
]);

/**
 * Its owners, its threshold, its modules, a guard, its fallback handler or its code are not the same behind the transaction.
 * @figures text("changes", "owners, threshold")
 */
export const SafeControlChanges = code("approvals", ["warning"], "SafeControlChanges", [
  "the transaction changes who controls the Safe",
  "sign only if this change is what you want",
]);

const measured = { evidence: "measured" } as const;
const unavailable = { evidence: "unavailable" } as const;

/** ExecutionSuccess and ExecutionFailure(bytes32,uint256), whose hash is indexed since 1.4. */
const executed = { success: "0x442e715f626346e8", failure: "0x23428b18acfb3ea6" } as const;
const isExecution = (topic: string): boolean => Object.values(executed).some((kind) => topic.startsWith(kind));

/** What became of the transaction with this hash, by its Safe's own event; null = it said nothing. */
const becameOf = (logs: ReadonlyArray<OutcomeLog>, safe: Address, hash: Hex): keyof typeof executed | null => {
  const said = logs.findLast(
    ({ address: by, topics: [kind = "", first], data }) =>
      isExecution(kind) && lower(by) === safe && (first ?? data).slice(0, hash.length).toLowerCase() === hash,
  );
  return said === undefined ? null : said.topics[0]?.startsWith(executed.success) === true ? "success" : "failure";
};

/** Codes with which a Safe itself, and no guard, says that the call inside or the refund failed. */
const ownReasons: ReadonlySet<string> = new Set(["GS010", "GS011", "GS012", "GS013"]);

/** Which facts of the Safe differ between its record and a view, by their answers. */
const changedIn = (state: SafeState, view: View): ReadonlyArray<Fact> | null => {
  const read = readIn((fact) => {
    const answer = view.call(queryOf(state.safe, fact));
    return answer?.success === true && BigInt((answer.data.length - 2) / 2) === answer.size ? answer.data : null;
  });
  return read && facts.filter((fact) => String(read[fact]) !== String(state[fact]));
};

/** Gas beyond `safeTxGas` that a Safe pays for: a call to an account that is new. */
const overhead = 40_000n;

const refundOf = (typed: TypedData): ReadonlyArray<Finding> => {
  const [own, base, price] = [numberOf(typed, "safeTxGas"), numberOf(typed, "baseGas"), numberOf(typed, "gasPrice")];
  const { gasToken, refundReceiver } = typed.message;
  if (price === 0n || refundReceiver !== nobody) return [];
  const most = (own + base + overhead) * price;
  return typeof gasToken !== "string" || gasToken === nobody
    ? [SafePaysExecutor.warning(measured, wei("at most", most))]
    : [SafePaysExecutor.warning(measured, units("at most", most), address("token", gasToken))];
};

/** The judgement of a Safe's transaction. */
export const judgedAsSafe = (signing: PlacedSigning, seen: Seen): Judgement => {
  const { sign, use, typed, safe: state, place, stand, origin } = signing;
  const { carriers, before, after, chainId, found, transactions, say } = seen;
  const [execution] = carriers;
  const isCarried = state !== undefined && execution !== undefined;
  const told: Signing = {
    ...{ sign, kind: use.kind, account: use.account, usableBy: use.usableBy, contract: use.contract, origin },
    ...{ from: use.from, until: use.until, ends: use.ends, repeats: use.repeats, place, stand },
    ...{ assumed: isCarried ? "approvals" : null, evidence: isCarried ? "assumed" : "unavailable" },
    ...(state === undefined ? {} : { safe: state }),
    nonce: use.nonce === null ? null : { value: use.nonce, used: null },
  };
  if (state === undefined || typed === null || execution === undefined) {
    const why = use.unread ?? "a sender of the transactions is one of its owners";
    return { signing: told, findings: [say.unknown(why)], kept: [] };
  }
  const findings: Array<Finding> = [];
  const { safe, owners, singleton, guard, queued } = state;
  const { chainId: bound } = typed.domain;
  if (chainId !== null && typeof bound === "bigint" && bound !== BigInt(chainId))
    findings.push(
      fromError(new ChainIdMismatch({ expected: bound, actual: BigInt(chainId) }), "blocker", {
        ...{ step: "chain", transaction: null, evidence: "measured" },
      }),
    );
  const other = [state.hash, state.said].find((one) => one !== null && one !== sign.digest);
  if (other != null)
    findings.push(SafeHashDisagrees.blocker(measured, hash("by its fields", sign.digest), hash("said", other)));
  const next = wordAt(before.call(nonceOf(safe))?.data ?? "0x", dataAt);
  const isUsed = next === null || use.nonce === null ? null : next > use.nonce;
  if (isUsed === true) findings.push(say.used);
  if (!owners.includes(sign.signer)) findings.push(say.notOwner);
  const known = knownCode(before.account(singleton)?.codeHash ?? "0x", singleton, "safe");
  if (known?.name.endsWith(` ${state.version}`) !== true || !isSafeProxy(safe, before))
    findings.push(say.unknown("its code is not that of a Safe that is known"));
  if (changedIn(state, before)?.length !== 0) findings.push(say.notAssumed("the Safe is not as it was read"));
  const outcome = transactions[execution.index]?.outcome;
  const failed = found.filter(
    ({ severity, step, transaction }) =>
      severity === "blocker" && step === "simulate" && transaction === execution.index,
  );
  const [layer] = outcome?.revert?.layers ?? [];
  const reason = layer?.layer._tag === "Reason" ? layer.layer.reason : "";
  const became = outcome?.status === "success" ? becameOf(outcome.logs, safe, sign.digest) : null;
  const isFailed = failed.length > 0 || became === "failure";
  // why: what comes first may bring what it lacks
  const isEarly = queued > 0n && isFailed;
  if (queued > 0n)
    findings.push(
      SafeNonceQueued[isEarly ? "unavailable" : "warning"](
        { evidence: isEarly ? "unavailable" : "assumed" },
        count("number in front", queued),
      ),
    );
  const gas = execution.input.gas ?? 0n;
  const isStarved = isFailed && (reason === "GS010" || 10n * (outcome?.gasUsed ?? 0n) > 9n * gas);
  if (isStarved) findings.push(say.notAssumed(`it takes more than the ${gas} gas that it was simulated with`));
  const isIgnored = reason === "GS025" && guard === null && isUsed === false && other == null;
  if (isFailed && isIgnored) findings.push(say.notAssumed("the node did not take the owners' approvals"));
  // why: a guard may ask for signatures by keys, and in 1.5.0 nothing tells its words from those of the call inside
  const isGuards = failed.length > 0 && guard !== null && isUsed === false && !ownReasons.has(reason);
  if (isGuards)
    findings.push(SafeGuardRefuses.unavailable(unavailable, address("guard", guard), quote("its words", reason)));
  const isUnsure = isEarly || isStarved || isIgnored || isGuards;
  if (became === "failure" && !isUnsure) findings.push(SafeExecutionFails.blocker(measured));
  if (outcome?.status === "success" && became === null)
    findings.push(say.notAssumed("the Safe was not seen to execute it"));
  findings.push(...refundOf(typed));
  const changed = changedIn(state, after);
  if (became === "success" && changed?.length !== 0)
    findings.push(
      SafeControlChanges.warning(measured, text("changes", (changed ?? ["what the Safe tells of itself"]).join(", "))),
    );
  // why: a Safe says of each transaction what became of it, and gives nobody a right by that
  const isOwn = ({ transaction, numbers }: Finding) =>
    transaction === execution.index &&
    numbers.some(({ name, value }) => name === "event" && isExecution(String(value)));
  return {
    ...{ signing: { ...told, nonce: use.nonce === null ? null : { value: use.nonce, used: isUsed } }, findings },
    kept: [...(isUnsure ? failed : []), ...found.filter(isOwn)],
  };
};
