/** Why the two ends of a proof differ, by further worlds beside the next one. */
import { expect, it } from "vitest";
import * as Result from "effect/Result";
import { causeOf, differ, effectsOf, type Proof, type RunEffects } from "../../rooms/pipeline.js";
import type { Run } from "../../rooms/steps.js";
import { alice, bob, environment, native, unanswered } from "../../steps/parts.js";
import { did, holding, named, nothing, rich, scanned } from "./world.js";

const { filled } = scanned();
const runNamed = (name: "exact" | "next" | "exactOnLatest" | "atNextFee", seconds = 0n): Run =>
  named(name, [did()], { before: holding(rich, { timestamp: environment().timestamp + seconds }) });
const runs = {
  exact: runNamed("exact", 13n),
  next: runNamed("next"),
  exactOnLatest: runNamed("exactOnLatest"),
  atNextFee: runNamed("atNextFee"),
};
const quiet = effectsOf(filled, runs.next, nothing);
const paying = (amount: bigint): RunEffects => ({ ...quiet, transfers: [native(0, alice, bob, amount)] });
const failing: RunEffects = { ...quiet, outcomes: [did({ status: "reverted" }).outcome] };
const silent = Result.fail(unanswered("eth_simulateV1"));

/** Each run of a case by its effects; null = the run got no answer. */
type Worlds = Readonly<Record<"exact" | "next", RunEffects>> &
  Readonly<Record<"exactOnLatest" | "atNextFee", RunEffects | null>>;

const causeIn = ({ exactOnLatest, atNextFee, ...ends }: Worlds, isOneState: boolean) => {
  const effects = new Map<Run, RunEffects>([
    ...[[runs.exact, ends.exact] as const, [runs.next, ends.next] as const],
    ...[[runs.exactOnLatest, exactOnLatest ?? quiet] as const, [runs.atNextFee, atNextFee ?? quiet] as const],
  ]);
  const effectsIn = (run: Run): RunEffects => effects.get(run) ?? expect.fail();
  const [here, there] = [runs.exact, runs.next].map((run) => ({ run, effects: effectsIn(run) })) as [
    { run: Run; effects: RunEffects },
    { run: Run; effects: RunEffects },
  ];
  const by = { tolerance: 0.005, whose: new Set([alice]), concerned: new Set<string>(), numbers: null };
  const why = new Map([
    ["exactOnLatest", exactOnLatest === null ? silent : Result.succeed(runs.exactOnLatest)],
    ["atNextFee", atNextFee === null ? silent : Result.succeed(runs.atNextFee)],
  ] as const) as unknown as Proof["runs"];
  const differences = differ(here, there, by);
  return causeOf({ here, there, by, isOneState }, differences, why, effectsIn).cause;
};

const [near, ahead] = [paying(1_000n), paying(1_060n)];
it.each<[string, Worlds, boolean, ReturnType<typeof causeIn>]>([
  ["nothing differs", { exact: near, next: near, exactOnLatest: near, atNextFee: near }, false, "context"],
  [
    "its price does as the next one",
    { exact: ahead, next: near, exactOnLatest: ahead, atNextFee: near },
    false,
    "price",
  ],
  [
    "both do, the price counts first",
    { exact: ahead, next: near, exactOnLatest: near, atNextFee: near },
    false,
    "price",
  ],
  [
    "its state does as the next one",
    { exact: ahead, next: near, exactOnLatest: near, atNextFee: ahead },
    false,
    "state",
  ],
  ["there is but one state", { exact: ahead, next: near, exactOnLatest: near, atNextFee: ahead }, true, "context"],
  ["neither does", { exact: ahead, next: near, exactOnLatest: ahead, atNextFee: ahead }, false, "context"],
  ["neither answers", { exact: ahead, next: near, exactOnLatest: null, atNextFee: null }, false, "context"],
  [
    "the ends are too far apart for a price",
    { exact: paying(9_000n), next: near, exactOnLatest: null, atNextFee: near },
    false,
    "context",
  ],
  [
    "the status differs, and the price tells",
    { exact: failing, next: quiet, exactOnLatest: null, atNextFee: quiet },
    false,
    "context",
  ],
  [
    "the status differs, and the state tells",
    { exact: failing, next: quiet, exactOnLatest: quiet, atNextFee: null },
    false,
    "state",
  ],
])("the cause of a difference is found where %s", (_, worlds, isOneState, cause) =>
  expect(causeIn(worlds, isOneState)).toBe(cause),
);
