/** What a Redis keeps of what it acknowledged, by its own settings. */
import * as Effect from "effect/Effect";
import type * as Redis from "effect/persistence/Redis";
import { isRecord } from "../../primitives/record.js";
import { isHopeless } from "./failure.js";
import { textOf } from "./rows.js";

/** What `CONFIG GET` answers: names and values in turn, or a map where the client speaks RESP3. */
const pairsIn = (answer: unknown): ReadonlyArray<readonly [unknown, unknown]> => {
  if (Array.isArray(answer))
    return answer.flatMap((name, at) => (at % 2 === 0 ? [[name, answer[at + 1]] as const] : []));
  if (answer instanceof Map) return [...answer];
  return isRecord(answer) ? Object.entries(answer) : [];
};

/**
 * By which settings commits may be forgotten that were acknowledged, in words; empty where none is known of. With
 * `replicas` a commit is waited for elsewhere, and a log is not all that keeps it. Pure.
 */
export const forgetfulBy = (answers: ReadonlyArray<unknown>, replicas: number): ReadonlyArray<string> => {
  const pairs = answers.flatMap(pairsIn).map(([name, value]) => [textOf(name), textOf(value)] as const);
  const settings = new Map(pairs);
  const [logged, synced, evicted] = ["appendonly", "appendfsync", "maxmemory-policy"].map((name) => settings.get(name));
  const isLogged = logged == null || logged === "yes";
  const found: ReadonlyArray<readonly [boolean, string]> = [
    [
      !isLogged && replicas === 0,
      "appendonly is not yes: a restart forgets what was committed since its last snapshot",
    ],
    [
      isLogged && synced != null && synced !== "always" && replicas === 0,
      "appendfsync is not always: a power cut forgets the latest commits",
    ],
    [evicted != null && evicted !== "noeviction", "maxmemory-policy is not noeviction: whole lanes may be forgotten"],
  ];
  return found.flatMap(([isFound, words]) => (isFound ? [words] : []));
};

/** How long the settings are waited for, ms: an operation waits behind them. */
const settingsMs = 1_000;

/**
 * Reads the settings where that is allowed, and logs at Warning what they let the server forget. False where it did not
 * answer, so that it can be asked again. Redis: `CONFIG GET`.
 */
export const warnOfSettings = (send: Redis.Redis["Service"]["send"], replicas: number): Effect.Effect<boolean> =>
  Effect.forEach(["append*", "maxmemory-policy"], (names) => send<unknown>("CONFIG", "GET", names), {
    concurrency: "unbounded",
  }).pipe(
    Effect.flatMap((answers) =>
      Effect.forEach(
        forgetfulBy(answers, replicas),
        (words) => Effect.logWarning(`nonces in Redis: ${words}, and hands their nonces out again`),
        { discard: true },
      ),
    ),
    Effect.as(true),
    Effect.timeoutOrElse({ duration: settingsMs, orElse: () => Effect.succeed(false) }),
    Effect.catch(({ cause }) => Effect.succeed(isHopeless(cause))),
  );
