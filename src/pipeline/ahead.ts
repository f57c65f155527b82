/**
 * The first round of a proof, sent beside the scan: what the last proof of the same call would ask now. Its answers are for
 * whoever asks the very same, so that nothing is believed of them but what they are: answers to requests of this call.
 */
import * as Arr from "effect/Array";
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Result from "effect/Result";
import * as Scope from "effect/Scope";
import { chainsInUse } from "../eth/chains.js";
import { youngHead } from "../eth/round.js";
import { RandomWords } from "../primitives/effects.js";
import type { Hex } from "../primitives/hex.js";
import { plainJson } from "../primitives/json.js";
import type { BundleReport, Draft } from "../report/schema.js";
import { Rpc } from "../rpc/index.js";
import { successOf, type Failure } from "../steps/reading/askResult.js";
import type { Round } from "./answers.js";
import { attempt } from "./attempt.js";
import { signedOf } from "./choose.js";
import { OwnSteps } from "./own.js";
import type { prepare } from "./prepare.js";
import type { Ahead, Claim } from "./proofPlans.js";
import { firstState, isOnHead } from "./proofState.js";
import { aboutOf } from "./prove.js";
import { counted, ledgerSoFar, withRoomFor } from "./rounds.js";
import { tagOf } from "./worlds/contexts.js";

/** A call as it was scanned and chosen last. */
export interface Last {
  readonly report: Draft<BundleReport>;
  readonly scanned: NonNullable<Claim["scanned"]>;
  readonly fees: Round["earlier"];
}

type Prepared = Effect.Success<ReturnType<typeof prepare>>;

/** The most calls of a connection that are remembered. */
const mostRemembered = 32;
const remembered = new WeakMap<Rpc["Service"]["memory"], Map<string, Last>>();

/** The same for the same transactions and options, whenever they are asked about. */
const keyOf = ({ bundle, options }: Prepared): string =>
  JSON.stringify(plainJson({ inputs: bundle.map(({ input }) => input), options }));

/** Bytes of answers: a call that has more is not remembered. */
const mostBytes = 2 ** 20;

/** Keeps what was chosen for a call: the last of each, and those that were asked last. */
export const remember = Effect.fnUntraced(function* (prepared: Prepared, last: Last) {
  const { requests } = yield* ledgerSoFar;
  yield* Rpc.useSync(({ memory }) => {
    if (requests.reduce((sum, { bytes }) => sum + bytes, 0) > mostBytes) return;
    const calls = remembered.get(memory) ?? new Map<string, Last>();
    remembered.set(memory, calls);
    const key = keyOf(prepared);
    calls.delete(key);
    calls.set(key, last);
    const [oldest] = calls.keys();
    if (calls.size > mostRemembered && oldest !== undefined) calls.delete(oldest);
  });
});

/** Values left to chance, which `again` gives once more in the same order. */
const tapeOf = (roll: typeof RandomWords.Service) => {
  const tape: Array<Hex> = [];
  let place = 0;
  return {
    dice: (bytes: number): Hex => {
      const value = roll(bytes);
      tape.push(value);
      return value;
    },
    again: (bytes: number): Hex => {
      const value = tape[place++];
      return value?.length === 2 + 2 * bytes ? value : roll(bytes);
    },
  };
};

/**
 * Two services: who asks `sending` hears nothing, and what it asked is under way until `end`; `answering` answers with what
 * came of that.
 */
const postOf = (rpc: Rpc["Service"], roll: typeof RandomWords.Service) => {
  const sent = new Map<string, Array<Fiber.Fiber<unknown, Failure>>>();
  const all: Array<Fiber.Fiber<unknown, Failure>> = [];
  const { dice, again } = tapeOf(roll);
  let isWhole = true;
  let isOpen = true;
  const serviceOf = (words: typeof roll, request: Rpc["Service"]["request"]) =>
    Context.add(Context.make(Rpc, { ...rpc, request, send: undefined }), RandomWords, words);
  return {
    sending: serviceOf(dice, (method, params) =>
      Effect.suspend(() => {
        if (!isOpen) return Effect.never;
        // why: nobody waits for one that is of no use, not even for its end
        return Effect.flatMap(Effect.forkDetach(rpc.request(method, params)), (fiber) => {
          const key = JSON.stringify([method, params]);
          sent.set(key, [...(sent.get(key) ?? []), fiber]);
          all.push(fiber);
          return Effect.never;
        });
      }),
    ),
    answering: serviceOf(again, (method, params) =>
      Effect.suspend(() => {
        const fiber = sent.get(JSON.stringify([method, params]))?.shift();
        if (fiber === undefined) isWhole = false;
        // why: whoever asks in the same round shall have said so first, for all of it was sent or nothing is used
        return Effect.andThen(
          Effect.yieldNow,
          Effect.suspend(() => (fiber !== undefined && isWhole ? Fiber.join(fiber) : rpc.request(method, params))),
        );
      }),
    ),
    end: Effect.sync(() => {
      isOpen = false;
      for (const fiber of all) fiber.interruptUnsafe();
      return isWhole;
    }),
  };
};

/** True if what a scan simulated shows by its block on which one it stood: some nodes run the latest block itself. */
const isFollowing = ({ run, header }: Last["scanned"]): boolean =>
  successOf(run)?.block.number === (successOf(header)?.number ?? 0n) + 1n;

/** Nothing is sent, and nothing is kept. */
export const nothingAhead: { readonly last: Last | null; readonly ahead: Ahead | null } = { last: null, ahead: null };

const sendLast = Effect.fnUntraced(function* (
  prepared: Prepared,
  scope: Scope.Scope,
): Effect.fn.Return<typeof nothingAhead, never, Rpc> {
  const rpc = yield* Rpc;
  const { memory, isQuorum = false } = rpc;
  const last = remembered.get(memory)?.get(keyOf(prepared)) ?? null;
  const own = yield* Effect.service(OwnSteps);
  if (last === null || isQuorum || own.steps.length > 0) return nothingAhead;
  // why: what was handed out is in the hands of its caller, who may have changed it
  const inputs = Arr.zipWith(last.report.transactions, prepared.bundle, (said, { input }) => ({ ...said, input }));
  const report = { ...last.report, options: prepared.options, transactions: inputs };
  const cases = signedOf(report);
  if (cases === null) return nothingAhead;
  const chains = yield* chainsInUse;
  const chain = chains(report.chainId);
  const tag = report.options.block ?? chain.blockTag;
  if (!chain.paceKnown || !isOnHead(tag) || tagOf(report) !== tag) return nothingAhead;
  const askedAt = yield* Clock.currentTimeMillis;
  const head = youngHead(memory, askedAt, chain.blockTimeMs);
  if (head === null) return { last, ahead: null };
  // guard: a scan that may be newer than the proof
  if (tag === "latest" && !isFollowing(last.scanned)) return nothingAhead;
  const scanned = { ...last.scanned, askedAt, header: Result.succeed(head) };
  const about = yield* aboutOf(report, cases, { policies: prepared.policies, scanned, looks: [], settled: null });
  const { sending, answering, end } = postOf(rpc, yield* Effect.service(RandomWords));
  yield* Scope.addFinalizer(scope, end);
  const round = counted(attempt({ ...about, askedAt }, firstState(memory, scanned.header), "speculated"));
  yield* Effect.forkIn(withRoomFor(report, Effect.provide(round, sending)), scope);
  return { last, ahead: { askedAt, services: answering, end } };
});

/**
 * Sends the proof of the last report of the same call, on the latest block that this connection was shown; it is under way while
 * `scope` is open.
 */
export const sendAhead = (prepared: Prepared, scope: Scope.Scope): Effect.Effect<typeof nothingAhead, never, Rpc> =>
  // why: what is sent ahead may be of no use, and never in the way
  Effect.catchDefect(sendLast(prepared, scope), () => Effect.succeed(nothingAhead));
