/** `evm-preflight nonces`: where the lanes of shared senders stand, and what repairs them: what would be done, why, and on `--yes` doing it. */
import * as Command from "effect/cli/Command";
import * as Effect from "effect/Effect";
import { flow } from "effect/Function";
import * as Option from "effect/Option";
import * as Eth from "../../eth/index.js";
import * as Nonces from "../../Nonces.js";
import { type LaneId } from "../../nonces/lane.js";
import { readCounts } from "../../nonces/protocol/chain.js";
import { attemptOf } from "../../nonces/signed.js";
import { isPassed } from "../../nonces/status.js";
import * as Preflight from "../../Preflight.js";
import type { Hex } from "../../primitives/index.js";
import type { Rpc } from "../../rpc/index.js";
import type { Request } from "../../transaction/index.js";
import { withExitCodes, wrong } from "../exit.js";
import { readFlag, text, toggle } from "../flags.js";
import { count } from "../quantity.js";
import { refusalText } from "../../errors/index.js";
import { hasEndpoint, sharedFlags, statusOf, type LaneFlags } from "./laneInput.js";
import { check, perform, status, type Deed } from "./show.js";
import { dearer, isBlob, isNoop, noopOver, noQuote, requestIn, tooCheap } from "./request.js";

const yesFlag = { yes: toggle("yes", "do it; without it nothing is changed and nothing is sent") };
const signedFlags = {
  ...yesFlag,
  raw: text("raw", "the signed transaction, 0x…; without it, what is to be signed is printed"),
};
const nonceFlags = { ...signedFlags, nonce: text("nonce", "the nonce (default: the first in flight)") };

type FlagsOf<F extends Command.Command.Config> = LaneFlags & Command.Command.Config.Infer<F>;

/** Asks the node; returns `otherwise` where there is none, or where it fails. */
const askOrElse = <A, E>(input: LaneFlags, ask: Effect.Effect<A, E, Rpc>, otherwise: A): Effect.Effect<A, never, Rpc> =>
  hasEndpoint(input) ? Effect.orElseSucceed(ask, () => otherwise) : Effect.succeed(otherwise);

/** Returns the fees to pay now, by the node. */
const quoteFor = (input: LaneFlags, { chainId, address }: LaneId): Effect.Effect<typeof noQuote, never, Rpc> =>
  askOrElse(input, Preflight.quoteFee({ chainId, from: address, to: address, value: 0n }), noQuote);

/** A payment of nothing to oneself, in place of `old`. It takes more gas than 21,000 where the chain or a delegation asks for it. */
const noopFor = Effect.fnUntraced(function* (input: LaneFlags, lane: LaneId, nonce: bigint, old: Request | null) {
  const { address } = lane;
  const gas = yield* askOrElse(input, Eth.estimateGas({ from: address, to: address, value: 0n }), 21_000n);
  return noopOver(lane, nonce, old, gas, yield* quoteFor(input, lane));
});

/** Nothing was changed: why, or what would be done, and how to go on. */
const undone = (says: Deed["says"], more: Pick<Deed, "next" | "request"> = {}): Deed => ({
  ...{ done: false, says, ...more },
});

const sent = (says: Deed["says"], all: ReadonlyArray<Pick<Nonces.Sent, "nonce" | "hash" | "outcome">>): Deed => ({
  ...{ done: true, says },
  sent: all.map(({ nonce, hash, outcome }) => ({ nonce, hash, outcome: outcome.kind })),
});

/** Texts for the outcomes of a send; what the node calls an error may say that all is well. */
const outcomeWords: Partial<Record<Nonces.SendOutcome["kind"], string>> = {
  accepted: "accepted with its hash; status says `seen` or `next` once a pool is known to have it",
  alreadyKnown: "already in the node's pool",
  tooLow: "its nonce has been used, by it or by another transaction: `status` says which, once that is known",
  tooHigh: "waits for those before it",
};
const outcomeText = (outcome: Nonces.SendOutcome): string => {
  const why = refusalText(outcome);
  return outcomeWords[outcome.kind] ?? (why === "" ? outcome.kind : `${outcome.kind}: ${why}`);
};

const doIt = "--yes does it";
const signIt = "sign this with the account's key and give the bytes by --raw";

/** Sends again, byte for byte, what is committed: a pool may have lost it. */
const resend = Effect.fnUntraced(function* (flags: FlagsOf<typeof yesFlag>, lane: LaneId) {
  const status = yield* statusOf(flags, lane);
  const transactions = (yield* Nonces.committed(lane)).filter(
    ({ raw, nonce }) => raw !== null && !isPassed(status, nonce),
  );
  const named = transactions.map(({ nonce, hash }) => `nonce ${nonce}, ${hash}`);
  if (transactions.length === 0) return undone(["nothing to send again: no transaction is in flight with its bytes"]);
  const why = "the same bytes can only be mined once, and a pool that has them says so";
  if (!flags.yes) return undone(["would send again, in this order:", ...named, why], { next: doIt });
  const settings = { ...(yield* Nonces.Settings), resendAfterMs: 0 };
  const { resent } = yield* Effect.provideService(Nonces.reconcile(lane), Nonces.Settings, settings);
  return sent(
    resent.map(({ nonce, hash, outcome }) => `sent nonce ${nonce}, ${hash}: ${outcomeText(outcome)}`),
    resent,
  );
});

/** The committed transaction at the nonce that the flag names, or the first, and what a node last said of it. */
const committedAt = Effect.fnUntraced(function* (flags: FlagsOf<typeof nonceFlags>, lane: LaneId) {
  const nonceFlag = yield* readFlag("--nonce", flags.nonce, count);
  const status = yield* statusOf(flags, lane);
  const found = (yield* Nonces.committed(lane)).find(({ nonce }) =>
    nonceFlag === undefined ? !isPassed(status, nonce) : nonce === nonceFlag,
  );
  if (found !== undefined && isPassed(status, found.nonce))
    return yield* wrong("--nonce", `${found.nonce} was passed by the chain, so that nothing can take its place`);
  if (found === undefined)
    return yield* nonceFlag === undefined
      ? wrong("--nonce", "nothing is in flight, so there is nothing to replace")
      : wrong("--nonce", `no transaction is committed at ${nonceFlag}; status names those that are`);
  const { outcome = "", why = "" } = status.committed.find(({ nonce }) => nonce === found.nonce) ?? {};
  const doubt = status.counts === null ? "; without --rpc-url it is not known whether the chain has passed it" : "";
  const called = outcome === "" ? "" : `, which a node called ${outcome}${why === "" ? "" : `: ${why}`}`;
  return { ...found, outcome, holds: `nonce ${found.nonce} holds ${found.hash}${called}${doubt}` };
});

/** The bytes of `--raw`, which are the lane's own for the nonce; null = the flag is absent. */
const rawGiven = Effect.fnUntraced(function* ({ raw }: FlagsOf<typeof signedFlags>, lane: LaneId, nonce: bigint) {
  if (Option.isNone(raw)) return null;
  const [single, pair] = [attemptOf(raw.value, lane, nonce, 1), attemptOf(raw.value, lane, nonce, 2)];
  const { hash } = yield* Effect.fromResult(pair._tag === "Success" ? pair : single).pipe(
    Effect.mapError(({ message }) => wrong("--raw", message)),
  );
  return { raw: raw.value.toLowerCase() as Hex, hash };
});

/** Another transaction in place of a committed one: the same dearer, or with `verb` cancel a no-op. */
const replaceAt = (verb: "cancel" | "replace") =>
  Effect.fnUntraced(function* (flags: FlagsOf<typeof nonceFlags>, lane: LaneId) {
    const { nonce, hash, raw, outcome, holds } = yield* committedAt(flags, lane);
    const old = requestIn(raw);
    if (verb === "cancel" && isBlob(old))
      return yield* wrong(
        "--nonce",
        "holds a blob transaction, and pools take only another of its kind in its place: replace",
      );
    const next = yield* rawGiven(flags, lane, nonce);
    if (next === null && verb === "cancel") {
      const what = "a payment of 0 to the account itself uses up the nonce, so that later ones can be mined";
      return undone([holds, what], { next: signIt, request: yield* noopFor(flags, lane, nonce, old) });
    }
    if (next === null && old !== null) {
      const request = dearer(old, yield* quoteFor(flags, lane));
      const what = "the same transaction with higher fees takes its place in the pool";
      return undone([holds, what], { next: signIt, request });
    }
    if (next === null) {
      const why = "the store has only its hash: sign a transaction of your own for this nonce";
      return undone([holds, why], { next: "give its bytes by --raw" });
    }
    const request = requestIn(next.raw);
    if (verb === "cancel" && request !== null && !isNoop(request, lane))
      return yield* wrong(
        "--raw",
        "does more than use up its nonce: a cancellation pays nothing, to the account itself, without data",
      );
    // why: what a node refused is in no pool, and may have been too dear
    const cheap = outcome === "rejected" ? null : tooCheap(old, request);
    if (cheap !== null) return yield* wrong("--raw", cheap);
    if (!flags.yes) return undone([holds, `would record ${next.hash} in its place, then send it`], { next: doIt });
    const tx = yield* Nonces.sendReplacement(lane, nonce, hash, next.raw);
    return sent([holds, `recorded ${tx.hash} in its place and sent it: ${outcomeText(tx.outcome)}`], [tx]);
  });

/** A transaction for the lowest gap, so that what is above it can be mined. */
const fill = Effect.fnUntraced(function* (flags: FlagsOf<typeof signedFlags>, lane: LaneId) {
  const status = yield* statusOf(flags, lane);
  const gap = status.gaps.find((nonce) => !isPassed(status, nonce));
  if (gap === undefined) return undone(["no gap: every nonce below a committed one is used"]);
  const why = `nonce ${gap} is free below a committed one, and nothing above it is mined before it is used`;
  const signed = yield* rawGiven(flags, lane, gap);
  if (signed === null) {
    const request = yield* noopFor(flags, lane, gap, null);
    return undone([why, "a payment of 0 to the account itself fills it"], { next: signIt, request });
  }
  if (!flags.yes) return undone([why, `would take it, commit ${signed.hash} there, and send that`], { next: doIt });
  const filler = yield* Nonces.fillGap(lane, () => Effect.succeed(signed.raw));
  if (filler === null) return undone(["the gap is gone: another took it"]);
  return sent([why, `committed ${filler.hash} there and sent it: ${outcomeText(filler.outcome)}`], [filler]);
});

/** Starts a lane at the chain's counts, or sets one that is known to them, on the operator's word. */
const adopt = Effect.fnUntraced(function* (flags: FlagsOf<typeof yesFlag>, lane: LaneId) {
  if (lane.key !== 0n) return yield* wrong("--key", "has counts that no node knows: start it by `Nonces.bootstrap`");
  if (!hasEndpoint(flags)) return yield* wrong("--rpc-url", "is missing: the account is set to the chain's counts");
  const status = yield* statusOf(flags, lane).pipe(Effect.catchTag("NonceColdStart", () => Effect.succeed(null)));
  const counts = yield* readCounts(lane);
  const { latest, pending } = counts;
  if (status?.floor === latest) return undone([`the store and the chain are both at ${latest}: nothing to adopt`]);
  const says = [
    status === null
      ? `the store does not know this account; the chain is at ${latest}, with ${pending - latest} in the node's pool`
      : `the store is at ${status.floor}, the chain at ${latest}`,
    status !== null && latest < status.floor
      ? "settled transactions above it whose bytes are kept are in flight again, and the other nonces are free: adopt only when the node does not lag"
      : "a transaction of yours that is in flight but not counted would have its nonce used twice: adopt only when there is none",
  ];
  if (!flags.yes) return undone([...says, `would set the account to ${latest}`], { next: doIt });
  yield* status === null ? Nonces.adopt(lane, { counts }) : Nonces.moveTo(lane, counts);
  return { done: true, says: [...says, `set the account to ${latest}`] };
});

/** Removes a lane from the store. */
const forget = Effect.fnUntraced(function* (flags: FlagsOf<typeof yesFlag>, lane: LaneId) {
  // A lane that cannot be read, or is lost but for its mark, can be forgotten as well
  const status = yield* Effect.catchTag(statusOf(flags, lane), "NonceColdStart", () => Effect.succeed(null));
  const counts = status?.counts ?? null;
  const committed = status?.committed ?? [];
  const open = committed.filter(({ nonce }) => !isPassed({ counts }, nonce));
  const named = (what: string, list: typeof committed) =>
    list.map(({ nonce, hash }) => `${what} nonce ${nonce}, ${hash}`);
  const passed = committed.filter(({ nonce }) => isPassed({ counts }, nonce));
  const says = [
    ...(status === null ? ["the store does not know this account; its mark, if it has one, is removed"] : []),
    ...named("in flight; never sent again from here, but may still be mined:", open),
    ...named("mined, or another transaction was in its place:", passed),
    ...(counts === null && open.length > 0 ? ["without --rpc-url it is not known which of these are mined"] : []),
    open.length === 0
      ? "nothing is in flight: start it again by adopt or `Nonces.bootstrap`"
      : "when all of it is mined, start the account again by adopt or `Nonces.bootstrap`; before that, a nonce may be used twice",
  ];
  if (!flags.yes) return undone([...says, "would remove the account"], { next: doIt });
  const done = yield* Nonces.forget(lane);
  return { done, says: done ? [...says, "removed the account"] : says, isGone: done };
});

/** The exit codes of `nonces` and all its verbs. */
const codes = withExitCodes(
  "0 healthy, 1 damaged or refused by a node, 2 needs attention (a refused or old transaction, a gap, a chain that went back), 3 no accounts or one that cannot be read",
  "69 the store cannot be reached, or cannot be used",
);

const root = Command.make("nonces").pipe(Command.withSharedFlags(sharedFlags), Command.withHandler(status));

/** A verb beside `status`, with the flags that all have. */
const shared = Effect.suspend(() => root);

/** A verb that repairs a lane. */
const repairing =
  <F extends { readonly yes: boolean }>(act: Parameters<typeof perform<LaneFlags & F>>[1]) =>
  (input: F) =>
    Effect.flatMap(shared, (all) => perform({ ...all, ...input }, act));

/** Adds a verb's description and the exit codes to its help. */
const described = (words: string) => flow(Command.withDescription(words), codes);

const verbs = [
  Command.make("status", {}, () => Effect.flatMap(shared, status)).pipe(
    described("Show the accounts and whether they are healthy; with an endpoint, beside the chain"),
  ),
  Command.make("check", {}, () => Effect.flatMap(shared, check)).pipe(
    described("Check the store, and list every broken rule of an account"),
  ),
  Command.make("resend", yesFlag, repairing(resend)).pipe(
    described("Send committed transactions again, byte for byte"),
  ),
  Command.make("cancel", nonceFlags, repairing(replaceAt("cancel"))).pipe(
    described("Replace the transaction at a nonce by a payment of 0 to the account itself"),
  ),
  Command.make("replace", nonceFlags, repairing(replaceAt("replace"))).pipe(
    described("Replace the transaction at a nonce: by the same with higher fees, or by your own"),
  ),
  Command.make("fill", signedFlags, repairing(fill)).pipe(
    described("Fill the lowest gap, so that the transactions above it can be mined"),
  ),
  Command.make("adopt", yesFlag, repairing(adopt)).pipe(
    described("Start an account at the chain's counts, or reset a known one to them; you vouch for the counts"),
  ),
  Command.make("forget", yesFlag, repairing(forget)).pipe(
    described("Remove an account and everything of it from the store"),
  ),
] as const;

export const nonces = root.pipe(
  Command.withDescription(
    "Show and repair the nonces of shared senders. Nothing is changed without --yes, and no key is ever asked for",
  ),
  Command.withShortDescription("Show and repair the nonces of shared senders"),
  codes,
  Command.withExamples([
    {
      command: "evm-preflight nonces --redis-url redis://127.0.0.1:6379 --rpc-url https://your.node",
      description: "All accounts of a store",
    },
    {
      command: "evm-preflight nonces cancel --postgres-url postgres://… --chain-id 1 --address 0x… --nonce 7",
      description: "What to sign in place of nonce 7; then the same with --raw 0x… and --yes",
    },
    {
      command:
        "cast mktx 0xTheAccount --value 0 --nonce 7 --chain 1 --gas-limit 21000 --gas-price 20gwei --priority-gas-price 2gwei --rpc-url https://your.node --keystore key.json",
      description:
        "Signs it, with Foundry: nonce, fees and the rest from what was printed. With viem: await account.signTransaction({ ...printed, nonce: 7 }), numbers as BigInt",
    },
  ]),
  Command.withSubcommands(verbs),
);
