/**
 * Transactions of Safes. Two rounds before the scan read the Safe and its owners, and `execTransaction` is simulated with
 * pretended approvals of its owners.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { fromString } from "ox/Hex";
import { addressOf, bytesAt, dataAt, nobody, numbersAt, pointedAt, wordAt, wordOf } from "../abi/words.js";
import { chainsInUse } from "../eth/chains.js";
import type { BlockParameter } from "../eth/parameters.js";
import * as Questions from "../eth/questions.js";
import { asked, each, one, sent, together, when } from "../eth/round.js";
import { readSimulation } from "../eth/simulation.js";
import { lazyImport } from "../primitives/effects.js";
import { lower, type Address, type Hex } from "../primitives/hex.js";
import type { ReportOptions } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import { messageHash, multiSends, partsOf, signingIn, transactionHashOf } from "../signing/index.js";
import { typedOf, withSafe, type TypedData } from "../signing/index.js";
import { isPlaced, type AnySigning, type OpenSigning, type PlacedSigning, type SafeInput } from "../signing/index.js";
import type { SafeState } from "../signing/index.js";
import { successOf } from "../steps/reading/askResult.js";
import { staticCall, type CallQuery, type Query } from "../witness/queries.js";
import { inRound } from "./rounds.js";

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
/** A fact of a Safe that a getter tells. */
export type Fact = keyof typeof getters;
export const facts = Object.keys(getters) as ReadonlyArray<Fact>;

export const queryOf = (safe: Address, fact: Fact): CallQuery =>
  staticCall(safe, getters[fact][0], 400_000, getters[fact][1]);
export const nonceOf = (safe: Address): CallQuery => staticCall(safe, "0xaffed0e0");

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
export const readIn = (answer: (fact: Fact) => Hex | null): Read | null => {
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

/** The results of several calls in one simulation with the caller's state overrides, and the codes of accounts. */
const returned = Effect.fnUntraced(function* (
  queries: ReadonlyArray<CallQuery>,
  accounts: ReadonlyArray<Address>,
  { stateOverrides }: ReportOptions,
  block: BlockParameter,
  asksChain = false,
) {
  const blocks = [{ stateOverrides, calls: queries.map(({ to, data, gas }) => ({ to, data, gas })) }];
  const at = block === "pending" ? "latest" : block;
  const ask = together({
    simulated: one(Questions.simulation({ blocks, block })),
    codes: each(accounts, (account) => one(Questions.code({ address: account, block: at }))),
    chainId: when(asksChain, one(Questions.chainId), null),
  });
  const { simulated, codes, chainId } = yield* inRound("unsigned", sent(asked({ step: "chain" }, ask)));
  const read = yield* Effect.orElseSucceed(
    Effect.flatMap(Effect.fromResult(simulated), (answer) => readSimulation(answer, { blocks })),
    () => null,
  );
  const results = new Map(queries.map(({ to, data }, place) => [`${to}${data}`, read?.[0]?.calls[place]]));
  return {
    isAnswered: read !== null,
    chainId: successOf(chainId),
    /** Return data of a call; null where it failed or was not answered. */
    dataOf: ({ to, data }: CallQuery): Hex | null => {
      const result = results.get(`${to}${data}`);
      return result?.status === "success" ? result.returnData : null;
    },
    codeOf: (account: Address): string => successOf(codes[accounts.indexOf(account)]) ?? "0x",
  };
});
type Returned = Effect.Success<ReturnType<typeof returned>>;

type Open = OpenSigning & { readonly open: SafeInput };
const isOpen = (signing: AnySigning): signing is Open => !isPlaced(signing) && signing.open.form === "safe";

/** One transaction of a Safe in its place of the queue, with its nonce. */
interface Turn {
  readonly signing: Open;
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly library: Address | null;
  /**
   * The typed data that its owners sign, the Safe as it was read, its `next` nonce, and how many earlier transactions are
   * pretended (`queued`); null = it cannot run, for the reason `unread`.
   */
  readonly ready: {
    readonly typed: TypedData;
    readonly read: Read;
    readonly next: bigint;
    readonly queued: bigint;
  } | null;
  readonly unread: string;
}

/** The MultiSend of this chain, in the Safe's own version where that is deployed. */
const libraryIn = (version: string, { codeOf }: Returned): Address | null => {
  const there = multiSends.filter(([, library]) => codeOf(library) !== "0x");
  return (there.find(([own]) => own === version) ?? there.at(-1))?.[1] ?? null;
};

/** The transactions of one Safe in the order in which they run: by their nonces, and those without one behind them. */
const turnsOf = (
  all: ReadonlyArray<Open>,
  safe: Address,
  facts: Returned,
  known: number | null,
): ReadonlyArray<Turn> => {
  const order = ({ open: { nonce } }: Open): bigint => nonce ?? 2n ** 256n;
  const sorted = [...all].sort((a, b) => (order(a) < order(b) ? -1 : order(a) > order(b) ? 1 : 0));
  const read = readIn((fact) => facts.dataOf(queryOf(safe, fact)));
  const next = wordAt(facts.dataOf(nonceOf(safe)) ?? "0x", dataAt);
  let turn = next ?? 0n;
  return sorted.map((signing, place) => {
    const { open } = signing;
    const [nonce, before, chainId] = [
      open.nonce ?? turn,
      turn,
      open.chainId ?? (known === null ? null : BigInt(known)),
    ];
    turn = nonce < turn ? turn : nonce + 1n;
    const library = open.calls === null || read === null ? null : libraryIn(read.version, facts);
    const typed = chainId === null ? null : successIn(typedOf(open, chainId, nonce, library));
    const made = { signing, nonce, library, chainId: chainId ?? 0n };
    const no = (unread: string): Turn => ({ ...made, ready: null, unread });
    if (!facts.isAnswered || chainId === null) return no("the Safe could not be read");
    if (read === null || next === null) return no("it is no Safe of version 1.3.0, 1.4.1 or 1.5.0");
    if (typed === null) return no("no MultiSend that is known is on this chain");
    if (nonce < before && nonce >= next) return no("a transaction with its nonce stands in front of it");
    if (nonce > before && place > 0) return no("a transaction of the Safe's queue is missing in front of it");
    return { ...made, ready: { typed, read, next, queued: nonce > before ? nonce - before : 0n }, unread: "" };
  });
};

const hashQuery = (safe: Address, typed: TypedData) => staticCall(safe, transactionHashOf(typed), 1_000_000);
/** `approvedHashes(address,bytes32)`. */
const approvalQuery = (safe: Address, owner: Address, { digest }: TypedData) =>
  staticCall(safe, `0x7d832974${wordOf(BigInt(owner)).slice(2)}${digest.slice(2)}`);

const signer = lazyImport(() => import("../transaction/signer.js"));

/** Owners whose confirmation is a valid signature by their key, of the hash itself or of its `eth_sign` form. */
const confirmedBy = Effect.fnUntraced(function* ({ signing: { open }, ready }: Turn) {
  if (open.confirmations.length === 0 || ready === null) return [];
  const { recoverSigner } = yield* signer;
  const { digest } = ready.typed;
  return open.confirmations.slice(0, most).flatMap(({ owner, signature }) => {
    const v = parseInt(signature.slice(130), 16);
    const isText = v > 30;
    const yParity = v - (isText ? 31 : 27);
    if (signature.length !== 132 || (yParity !== 0 && yParity !== 1)) return [];
    const parts = { r: `0x${signature.slice(2, 66)}`, s: `0x${signature.slice(66, 130)}`, yParity };
    return recoverSigner(isText ? messageHash(digest) : digest, parts) === owner ? [owner] : [];
  });
});

const successIn = <A>(result: Result.Result<A, unknown>): A | null =>
  Result.isSuccess(result) ? result.success : null;

/** One transaction with its owners' approvals; without them where its Safe, or an earlier transaction, is not known. */
const placedOf = (
  { signing: { open, place, stand }, chainId, nonce, library, ready, unread }: Turn,
  answers: Returned,
  confirmed: ReadonlyArray<Address>,
): PlacedSigning | null => {
  const { safe, asked: whole, hash: said } = open;
  const readBy = (by: Address, number: bigint) =>
    whole ??
    successIn(
      Result.flatMap(typedOf(open, chainId, number, library ?? nobody), ({ json }) =>
        signingIn({ typedData: json, signer: by, ...(by === safe ? {} : { account: safe }) }),
      ),
    );
  const own = ready && answers.dataOf(hashQuery(safe, ready.typed));
  if (ready === null || own?.length !== 66) {
    const signed = readBy(safe, open.nonce ?? 0n);
    const why = ready === null ? unread : "the Safe did not tell the transaction's hash";
    return signed && { ...signed, use: { ...signed.use, unread: why }, place, stand };
  }
  const { typed, read, next, queued } = ready;
  const approved = read.owners.filter(
    (owner) =>
      confirmed.includes(owner) ||
      (wordAt(answers.dataOf(approvalQuery(safe, owner, typed)) ?? "0x", dataAt) ?? 0n) > 0n,
  );
  const hasCode = (owner: Address) => {
    const code = answers.codeOf(owner);
    return code !== "0x" && !(code.length === 48 && code.startsWith("0xef0100"));
  };
  const parts = partsOf(open, { ...read, approved, coded: new Set(read.owners.filter(hasCode)) }, stand.stranger);
  const state: SafeState = { safe, ...read, ...parts, hash: lower(own), said, nonce: next, queued, approved };
  const signed = readBy(parts.missing[0] ?? parts.approvers[0] ?? safe, nonce);
  return signed && { ...withSafe(signed, state), place, stand };
};

/** The inputs, with each Safe transaction as the call that executes it. JSON-RPC, in two rounds: `eth_simulateV1` and `eth_getCode`; `eth_chainId`. */
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
  const known = memory.recall("chainId");
  const named = options.block ?? chains(known).blockTag;
  const first = yield* returned(queries, libraries, options, named, known === null);
  // why: an endpoint without pending state has the latest block
  const block = !first.isAnswered && named === "pending" ? "latest" : named;
  const seen = block === named ? first : yield* returned(queries, libraries, options, block, known === null);
  const turns = safes.flatMap((safe) =>
    turnsOf(
      open.filter((signing) => signing.open.safe === safe),
      safe,
      seen,
      known ?? seen.chainId,
    ),
  );
  const further = turns.flatMap(
    ({
      signing: {
        open: { safe },
      },
      ready,
    }) =>
      ready === null
        ? []
        : [hashQuery(safe, ready.typed), ...ready.read.owners.map((owner) => approvalQuery(safe, owner, ready.typed))],
  );
  const owners = [...new Set(turns.flatMap(({ ready }) => ready?.read.owners ?? []))];
  const answers = further.length === 0 ? seen : yield* returned(further, owners, options, block);
  const confirmed = yield* Effect.forEach(turns, confirmedBy);
  const left = turns.flatMap((turn, at) => placedOf(turn, answers, confirmed[at] ?? []) ?? []);
  // why: transactions of one Safe take the places of its inputs, in the order of their nonces
  return signings.map((signing) => {
    if (!isOpen(signing)) return signing;
    const at = left.findIndex(({ use }) => use.account === signing.open.safe);
    const [own] = at < 0 ? [] : left.splice(at, 1);
    return own === undefined ? signing : { ...own, place: signing.place };
  });
});
