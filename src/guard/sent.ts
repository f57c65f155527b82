/** Finds what a wallet sent, by what authenticates itself: nobody's word counts, neither the wallet's nor a node's. */
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import type { callsWithin } from "../abi/index.js";
import { chainsInUse, getCode, getTransaction, readTransaction } from "../eth/index.js";
import type { FullTransaction } from "../eth/index.js";
import { isHash, type Address, type Hash, type Hex } from "../primitives/index.js";
import { attempt } from "../promise/facade.js";
import type { BundleReport, Request } from "../report/index.js";
import type { Rpc } from "../rpc/index.js";
import { compareRequest } from "../settle/compare.js";
import { authenticate } from "../transaction/index.js";
import { SentByOther, Tampered, Unverified } from "./failures.js";
import { heldKey } from "./held.js";
import { allows, type Guarding, type Pass } from "./rules.js";

/** Fields that a wallet's user may be allowed to change; everything else is another transaction. */
const changeable = ["nonce", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "maxFeePerBlobGas", "type"].map(
  (field) => `request ${field}`,
);

/** Between two looks for a transaction that a wallet sent, ms: the first pause, which doubles, and the longest. */
const firstPauseMs = 250;
const longestPauseMs = 2_000;

/** For how long it is looked for at least, ms, and in blocks. */
const least = { ms: 30_000, blocks: 2 };

/**
 * A transaction with the sender that its own signature gives, where it has the hash that its own fields make, and is, of this
 * sender on this chain, no older than the report; null of any other.
 */
const authentic = (report: BundleReport, hash: Hash, shown: FullTransaction | null): FullTransaction | null => {
  const { chainId, observed, transactions } = report;
  const [{ input, nonce }] = transactions;
  const signed = shown === null ? null : authenticate(shown);
  // why: a transaction that only says that it has this hash
  if (shown === null || signed === null || signed.hash !== hash.toLowerCase()) return null;
  const isComparable =
    signed.sender === input.from.toLowerCase() && signed.chainId !== null && Number(signed.chainId) === chainId;
  const isOld =
    shown.nonce < BigInt(nonce.latest ?? 0) ||
    (shown.blockNumber !== null && shown.blockNumber <= (observed.latestNumber ?? -1n));
  // why: a transaction of before
  return isComparable && isOld ? null : { ...shown, from: signed.sender };
};

/** The transaction, from the guard's node or from the wallet, whoever shows it; null while nobody does. */
const lookedFor = (pass: Pass, report: BundleReport, hash: Hash) => {
  const asking = attempt(() => pass({ method: "eth_getTransactionByHash", params: [hash] }));
  const ofWallet = Effect.flatMap(asking, (answer) =>
    Effect.try(() => readTransaction(answer)).pipe(Effect.flatMap(Effect.fromResult)),
  );
  return [getTransaction({ hash }), ofWallet].map((look) => {
    const shown = Effect.orElseSucceed(look, () => null);
    return Effect.map(shown, (one) => authentic(report, hash, one));
  });
};

/** The first that is shown, by whomever. */
const shownBy = (looks: ReturnType<typeof lookedFor>) =>
  Effect.raceAll(
    looks.map((look) =>
      Effect.gen(function* () {
        for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
          const shown = yield* look;
          if (shown !== null) return shown;
          yield* Effect.sleep(pauseMs);
        }
      }),
    ),
  );

/** Holds what the wallet answered to what was cleared; where nobody shows it, the account is held. */
export const verify = Effect.fnUntraced(function* (
  guard: Guarding,
  pass: Pass,
  report: BundleReport,
  request: Request,
  answer: unknown,
) {
  const { rules } = guard;
  const { from } = report.transactions[0].input;
  const hash = isHash(answer) ? answer : null;
  const looks = hash === null ? [] : lookedFor(pass, report, hash);
  const holding = (error: Unverified | SentByOther) => {
    // why: a wallet that is mute shows nothing
    const within = looks.map((look) =>
      Effect.map(Effect.timeoutOption(look, report.options.deadlineMs), Option.getOrNull),
    );
    const isShown = Effect.map(Effect.all(within, { concurrency: "unbounded" }), (all) =>
      all.some((shown) => shown?.from === from.toLowerCase()),
    );
    guard.memory.held.set(heldKey(report.chainId, from), { hash, nonce: request.nonce, isShown });
    return Effect.fail(error);
  };
  // why: an answer that is no hash
  if (hash === null) return yield* holding(new Unverified(null, report));
  const { blockTimeMs } = (yield* chainsInUse)(report.chainId);
  const { deadlineMs } = report.options;
  const isAccepted = rules.onUnverified === "accept";
  const withinMs = isAccepted ? deadlineMs : Math.max(deadlineMs, least.blocks * blockTimeMs, least.ms);
  const shown = Option.getOrNull(yield* Effect.timeoutOption(shownBy(looks), withinMs));
  if (shown === null) {
    // why: a transaction that nobody shows
    if (yield* allows(rules.onUnverified, "accept", hash)) return;
    return yield* holding(new Unverified(hash, report));
  }
  // why: a transaction of somebody else's
  if (shown.from !== from.toLowerCase()) return yield* holding(new SentByOther(hash, shown.from, report));
  const { differences } = compareRequest(0, from, request, shown, { class: "tampered", evidence: "logged" });
  if (differences.length === 0) return;
  const isFee = differences.every(({ what }) => changeable.includes(what ?? ""));
  // guard: a change of the wallet's that nobody accepted
  if (isFee && (yield* allows(rules.onChanged, null, differences))) return;
  return yield* Effect.fail(new Tampered(hash, report, differences));
});

/** Writes what a wallet was asked, in one transaction or several: sender, receiver, value, calldata, in order. */
const askedOf = (
  calls: ReadonlyArray<{
    readonly from: string;
    readonly to: string | null;
    readonly value: bigint | null;
    readonly data: string;
  }>,
) => calls.map(({ from, to, value, data }) => [from, to, value ?? 0n, data].join().toLowerCase()).join(" ");

/** Calls that an account ran for itself in one transaction; none where it may have left some out, or done more. */
const batchOf = (
  account: Address,
  sent: ReadonlyArray<{ readonly from: string; readonly to: string | null; readonly data: Hex }>,
  read: typeof callsWithin,
) => {
  const [data, ...others] = sent.map((one) =>
    one.from === account && one.to?.toLowerCase() === account ? one.data : null,
  );
  const within = data == null || others.length > 0 ? [] : read({ from: account, to: account, data });
  const all = [...within].map((call) => (call === null || call.mayFail || call.as !== undefined ? null : call));
  const whole = all.flatMap((call) => call ?? []);
  return whole.length === all.length ? whole : [];
};

/** Hashes that a wallet names are asked about by so many at once. */
export const atOnce = { concurrency: 4 } as const;

/** True if these are the proven calls, each by its sender, after the report; an account's batch by what it holds. */
export const areAsked = (report: BundleReport, hashes: ReadonlyArray<Hash>): Effect.Effect<boolean, never, Rpc> =>
  Effect.gen(function* () {
    const found = yield* Effect.forEach(
      hashes,
      (hash) =>
        Effect.map(getTransaction({ hash }), (shown) => {
          const signed = shown === null ? null : authenticate(shown);
          const isLater = (shown?.blockNumber ?? -1n) > (report.observed.latestNumber ?? -1n);
          return shown === null || signed?.hash !== hash.toLowerCase() || !isLater
            ? []
            : [{ ...shown, from: signed.sender, data: shown.input }];
        }),
      atOnce,
    );
    const sent = found.flat();
    const inputs = report.transactions.map(({ input }) => input);
    const said = askedOf(inputs);
    if (sent.length !== hashes.length || askedOf(sent) === said) return sent.length === hashes.length;
    const { from, origin } = report.transactions[0].input;
    // why: a page that guards does not load how calldata is read until a batch comes back
    const { callsWithin } = yield* Effect.tryPromise(() => import("../abi/index.js"));
    // why: a batch that was proven as one transaction may be written in another form
    const wanted = origin?.batch === "made" ? askedOf(batchOf(from, inputs, callsWithin)) : said;
    // why: an account without code runs nothing of what it is sent
    return (
      wanted !== "" &&
      askedOf(batchOf(from, sent, callsWithin)) === wanted &&
      (yield* getCode({ address: from, block: "latest" })) !== "0x"
    );
  }).pipe(Effect.orElseSucceed(() => false));
