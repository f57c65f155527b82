/** Output of `evm-preflight nonces`: where lanes stand, whether that is healthy, and what a verb did or would do. */
import * as Effect from "effect/Effect";
import { NonceStoreError } from "../../errors/index.js";
import type { NonceStore } from "../../NonceStore.js";
import * as Nonces from "../../Nonces.js";
import type { LaneId } from "../../nonces/lane.js";
import { laneText } from "../../nonces/status.js";
import { escapeText } from "../../primitives/index.js";
import type { Rpc } from "../../rpc/index.js";
import { Exited, exitCodes, WrongUsage, type ExitCode } from "../exit.js";
import type { JsonFields } from "../input.js";
import { jsonText, print } from "../terminal.js";
import { laneOfFlags, missing, oldAfterOfFlags, onStore, statusOf, type LaneFlags } from "./laneInput.js";

const laneIn = (id: string): Nonces.Lane => {
  const [chainId = "", address = "", key = "0"] = id.split(":");
  return { chainId: Number(chainId), address: address as `0x${string}`, key: /^\d+$/.test(key) ? BigInt(key) : 0n };
};

/** 0 healthy, 1 damaged, 2 somebody has to see to it. */
const codeOfHealth = (concerns: ReadonlyArray<ReturnType<typeof Nonces.health>[number]>): ExitCode =>
  concerns.some(({ kind }) => kind === "damaged")
    ? exitCodes.blocked
    : concerns.length > 0
      ? exitCodes.caution
      : exitCodes.ready;

/** Says what is wrong, a line each; else the word that it is healthy. */
const healthText = (concerns: ReadonlyArray<ReturnType<typeof Nonces.health>[number]>): string =>
  concerns.length === 0
    ? "  healthy"
    : concerns.map(({ sentence }) => `  problem    ${escapeText(sentence, 1_024)}`).join("\n");

/** The lanes asked for, or all of the store. */
const laneIds = Effect.fnUntraced(function* (input: LaneFlags) {
  const lane = yield* laneOfFlags(input);
  return lane === null ? yield* Nonces.lanes : [lane.id];
});

const none = "no accounts: the store is new, has lost its data, or keeps them elsewhere (--prefix)";

/** Statuses with their health, and the code to end with: of the worst lane, 3 where one cannot be read or there is none. */
export const status = Effect.fnUntraced(function* (input: LaneFlags) {
  const oldAfterMs = yield* oldAfterOfFlags(input);
  const show = Effect.gen(function* () {
    const ids = yield* laneIds(input);
    const read = yield* Effect.forEach(ids, (id) => Effect.result(statusOf(input, laneIn(id))));
    const lanes = read.flatMap((result) =>
      result._tag === "Success" ? [{ ...result.success, health: Nonces.health(result.success, { oldAfterMs }) }] : [],
    );
    const failures = read.flatMap((result, index) =>
      result._tag === "Failure" ? [{ lane: ids[index] ?? "", problem: result.failure.message }] : [],
    );
    const texts = [
      ...lanes.map((lane) => `${Nonces.toText(lane)}\n${healthText(lane.health)}`),
      ...failures.map(({ lane, problem }) => `${laneText(lane)}\n  ${problem}`),
    ];
    yield* print(input.json ? jsonText({ lanes, failures }) : texts.join("\n\n") || none);
    const code = codeOfHealth(lanes.flatMap((lane) => lane.health));
    const isUnknown = failures.length > 0 || ids.length === 0;
    return yield* new Exited({ code: code === exitCodes.blocked || !isUnknown ? code : exitCodes.unknown });
  });
  return yield* onStore(input, false, show);
});

/** The violations of each lane's partition: 0 none, 1 some, 3 where a lane cannot be read or there is none. */
export const check = Effect.fnUntraced(function* (input: LaneFlags) {
  const show = Effect.gen(function* () {
    const ids = yield* laneIds(input);
    const read = yield* Effect.forEach(ids, (id) =>
      Effect.match(Nonces.check(laneIn(id)), {
        onSuccess: (violations) => ({ lane: id, violations, problem: null }),
        onFailure: ({ message }) => ({ lane: id, violations: [], problem: message }),
      }),
    );
    const lines = read.map(
      ({ lane, violations, problem }) =>
        `${laneText(lane)}: ${problem ?? (violations.map((it) => escapeText(it)).join("; ") || "sound")}`,
    );
    yield* print(input.json ? jsonText({ lanes: read }) : lines.join("\n") || none);
    const isUnknown = read.length === 0 || read.some(({ problem }) => problem !== null);
    const isDamaged = read.some(({ violations }) => violations.length > 0);
    return yield* new Exited({
      code: isDamaged ? exitCodes.blocked : isUnknown ? exitCodes.unknown : exitCodes.ready,
    });
  });
  return yield* onStore(input, false, show);
});

/** A verb's deed, done or proposed: told in words, with the lane's health after it. */
export interface Deed {
  /** True if anything was changed or sent. */
  readonly done: boolean;
  /** The lane is removed, as it should be: there is no health to end with. */
  readonly isGone?: boolean;
  /** The tag of the failure that it ended with. */
  readonly failed?: string;
  /** The lines that say what and why. */
  readonly says: ReadonlyArray<string>;
  /** How to go on, where nothing was done yet. */
  readonly next?: string;
  /** The transaction that is to be signed. */
  readonly request?: JsonFields;
  readonly sent?: ReadonlyArray<{
    readonly nonce: bigint;
    readonly hash: string;
    readonly outcome: Nonces.SendOutcome["kind"];
  }>;
}

const refusedKinds: ReadonlyArray<string> = ["rejected", "underpriced"];

/**
 * Runs a verb on the lane of the flags, prints what it says and how the lane stands then. Ends with 1 when
 * a node refused, with 3 when it could not be done, else with the lane's health. `act` fails with what the protocol or the
 * node does.
 */
export const perform = Effect.fnUntraced(function* <G extends LaneFlags & { readonly yes: boolean }>(
  input: G,
  act: (
    input: G,
    lane: LaneId,
  ) => Effect.Effect<Deed, { readonly _tag: string; readonly message: string }, NonceStore | Rpc>,
) {
  const lane = (yield* laneOfFlags(input)) ?? (yield* missing("--chain-id"));
  const oldAfterMs = yield* oldAfterOfFlags(input);
  const run = Effect.gen(function* () {
    const deed = yield* act(input, lane).pipe(
      Effect.catch((error): Effect.Effect<Deed, WrongUsage | NonceStoreError> =>
        error instanceof WrongUsage || error instanceof NonceStoreError
          ? Effect.fail(error)
          : // why: what a node refuses was recorded before it was sent
            Effect.succeed({ done: error._tag === "SendRejected", says: [error.message], failed: error._tag }),
      ),
    );
    const { failed = null } = deed;
    const health = yield* Effect.match(statusOf(input, lane), {
      onFailure: () => null,
      onSuccess: (status) => Nonces.health(status, { oldAfterMs }),
    });
    const lines = [
      laneText(lane.id),
      ...deed.says.map((line) => `  ${escapeText(line, 1_024)}`),
      ...(deed.request === undefined ? [] : [jsonText(deed.request)]),
      ...(deed.next === undefined ? [] : [`  nothing was changed: ${deed.next}`]),
      ...(health === null ? [] : [healthText(health)]),
    ];
    yield* print(input.json ? jsonText({ lane: lane.id, failed, ...deed, health }) : lines.join("\n"));
    const isRefused =
      failed === "SendRejected" || (deed.sent ?? []).some(({ outcome }) => refusedKinds.includes(outcome));
    return yield* new Exited({
      code: isRefused
        ? exitCodes.blocked
        : deed.isGone === true
          ? exitCodes.ready
          : failed !== null || health === null
            ? exitCodes.unknown
            : codeOfHealth(health),
    });
  });
  return yield* onStore(input, input.yes, run);
});
