/** What a verb of `evm-preflight nonces` did, or would do: told in words, with the lane's health after it. */
import * as Effect from "effect/Effect";
import { NonceStoreError } from "../../errors/nonces.js";
import type { Rpc } from "../../Rpc.js";
import { escapeText } from "../../primitives/text.js";
import type { NonceStore } from "../../NonceStore.js";
import * as Nonces from "../../Nonces.js";
import type { LaneId } from "../../nonces/lane.js";
import { Exited, exitCodes, WrongUsage } from "../exit.js";
import { jsonText, print } from "../terminal.js";
import { laneNeeded, oldAfterGiven, onStore, statusOf, type Given } from "./given.js";
import { codeOfHealth, healthText } from "./show.js";
import type { Unsigned } from "./request.js";

export interface Deed {
  /** Whether anything was changed or sent. */
  readonly done: boolean;
  /** The lane is removed, as it should be: there is no health to end with. */
  readonly isGone?: boolean;
  /** What and why, a line each. */
  readonly says: ReadonlyArray<string>;
  /** How to go on, where nothing was done yet. */
  readonly next?: string;
  /** What is to be signed. */
  readonly request?: Unsigned;
  readonly sent?: ReadonlyArray<{
    readonly nonce: bigint;
    readonly hash: string;
    readonly outcome: Nonces.SendOutcomeKind;
  }>;
}

/** A failure of the protocol or of the node, in place of a deed. */
interface Failed {
  readonly _tag: string;
  readonly message: string;
}

const refusedKinds: ReadonlyArray<string> = ["rejected", "underpriced"];

/**
 * Runs a verb on the lane of the flags, prints what it says and how the lane stands then. Ends with 1 when
 * a node refused, with 3 when it could not be done, else with the lane's health.
 */
export const perform = Effect.fnUntraced(function* <G extends Given & { readonly yes: boolean }>(
  given: G,
  act: (given: G, lane: LaneId) => Effect.Effect<Deed, Failed, NonceStore | Rpc>,
) {
  const lane = yield* laneNeeded(given);
  const oldAfterMs = yield* oldAfterGiven(given);
  const run = Effect.gen(function* () {
    const deed = yield* act(given, lane).pipe(
      Effect.catch((error): Effect.Effect<Deed & { readonly failed: string }, WrongUsage | NonceStoreError> =>
        error instanceof WrongUsage || error instanceof NonceStoreError
          ? Effect.fail(error)
          : // why: what a node refuses was recorded before it was sent
            Effect.succeed({ done: error._tag === "SendRejected", says: [error.message], failed: error._tag }),
      ),
    );
    const failed = "failed" in deed ? deed.failed : null;
    const health = yield* Effect.match(statusOf(given, lane), {
      onFailure: () => null,
      onSuccess: (status) => Nonces.health(status, { oldAfterMs }),
    });
    const lines = [
      `lane ${lane.id}`,
      ...deed.says.map((line) => `  ${escapeText(line, 1_024)}`),
      ...(deed.request === undefined ? [] : [jsonText(deed.request)]),
      ...(deed.next === undefined ? [] : [`  nothing was changed: ${deed.next}`]),
      ...(health === null ? [] : [healthText(health)]),
    ];
    yield* print(given.json ? jsonText({ lane: lane.id, failed, ...deed, health }) : lines.join("\n"));
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
  return yield* onStore(given, given.yes, run);
});
