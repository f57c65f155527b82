/** `evm-preflight nonces status` and `check`: where the lanes stand, and whether that is healthy. */
import * as Effect from "effect/Effect";
import { escapeText } from "../../primitives/text.js";
import * as Nonces from "../../Nonces.js";
import { Exited, exitCodes, type ExitCode } from "../exit.js";
import { jsonText, print } from "../terminal.js";
import { laneGiven, oldAfterGiven, onStore, statusOf, type Given } from "./given.js";

const laneIn = (id: string): Nonces.Lane => {
  const [chainId = "", address = "", key = "0"] = id.split(":");
  return { chainId: Number(chainId), address: address as `0x${string}`, key: /^\d+$/.test(key) ? BigInt(key) : 0n };
};

/** 0 healthy, 1 damaged, 2 somebody has to see to it. */
export const codeOfHealth = (concerns: ReadonlyArray<Nonces.Concern>): ExitCode =>
  concerns.some(({ kind }) => kind === "damaged")
    ? exitCodes.blocked
    : concerns.length > 0
      ? exitCodes.caution
      : exitCodes.ready;

/** What is wrong, a line each; the word that it is healthy. */
export const healthText = (concerns: ReadonlyArray<Nonces.Concern>): string =>
  concerns.length === 0
    ? "  healthy"
    : concerns.map(({ sentence }) => `  NOT WELL   ${escapeText(sentence, 1_024)}`).join("\n");

/** The lanes asked for, or all of the store. */
const asked = Effect.fnUntraced(function* (given: Given) {
  const lane = yield* laneGiven(given);
  return lane === null ? yield* Nonces.lanes : [lane.id];
});

const none = "no lanes: the store is new, has lost its data, or keeps them elsewhere (--prefix)";

/** Statuses with their health, and the code to end with: of the worst lane, 3 where one cannot be read or there is none. */
export const status = Effect.fnUntraced(function* (given: Given) {
  const oldAfterMs = yield* oldAfterGiven(given);
  const show = Effect.gen(function* () {
    const ids = yield* asked(given);
    const read = yield* Effect.forEach(ids, (id) => Effect.result(statusOf(given, laneIn(id))));
    const lanes = read.flatMap((one) =>
      one._tag === "Success" ? [{ ...one.success, health: Nonces.health(one.success, { oldAfterMs }) }] : [],
    );
    const failures = read.flatMap((one, index) =>
      one._tag === "Failure" ? [{ lane: ids[index] ?? "", problem: one.failure.message }] : [],
    );
    const texts = [
      ...lanes.map((lane) => `${Nonces.toText(lane)}\n${healthText(lane.health)}`),
      ...failures.map(({ lane, problem }) => `lane ${lane}\n  ${problem}`),
    ];
    yield* print(given.json ? jsonText({ lanes, failures }) : texts.join("\n\n") || none);
    const code = codeOfHealth(lanes.flatMap((lane) => lane.health));
    const isUnknown = failures.length > 0 || ids.length === 0;
    return yield* new Exited({ code: code === exitCodes.blocked || !isUnknown ? code : exitCodes.unknown });
  });
  return yield* onStore(given, false, show);
});

/** The violations of each lane's partition: 0 none, 1 some, 3 where a lane cannot be read or there is none. */
export const check = Effect.fnUntraced(function* (given: Given) {
  const show = Effect.gen(function* () {
    const ids = yield* asked(given);
    const read = yield* Effect.forEach(ids, (id) =>
      Effect.match(Nonces.check(laneIn(id)), {
        onSuccess: (violations) => ({ lane: id, violations, problem: null }),
        onFailure: ({ message }) => ({ lane: id, violations: [], problem: message }),
      }),
    );
    const lines = read.map(
      ({ lane, violations, problem }) =>
        `lane ${escapeText(lane)}: ${problem ?? (violations.map((it) => escapeText(it)).join("; ") || "sound")}`,
    );
    yield* print(given.json ? jsonText({ lanes: read }) : lines.join("\n") || none);
    const isUnknown = read.length === 0 || read.some(({ problem }) => problem !== null);
    const isDamaged = read.some(({ violations }) => violations.length > 0);
    return yield* new Exited({
      code: isDamaged ? exitCodes.blocked : isUnknown ? exitCodes.unknown : exitCodes.ready,
    });
  });
  return yield* onStore(given, false, show);
});
