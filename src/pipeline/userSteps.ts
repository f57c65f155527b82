/** The steps of a user's own, asked and judged; loaded where there are any. Whatever one does, it can only add findings. */
import * as Arr from "effect/Array";
import * as Cause from "effect/Cause";
import * as Clock from "effect/Clock";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Schema from "effect/Schema";
import { copyOf, lazyCopyOf } from "../primitives/copy.js";
import { onAbort } from "../primitives/effects.js";
import { Address, Hex } from "../primitives/hex.js";
import { OwnName, type AskRule } from "../primitives/names.js";
import { question } from "../eth/ask.js";
import { each, mapped, one, sent } from "../eth/round.js";
import { isRecord, safely } from "../primitives/record.js";
import { Figure, text } from "../primitives/statement.js";
import { code, type Finding } from "../report/finding.js";
import type { Report } from "../report/schema.js";
import { redactUrls } from "../rpc/redact.js";
import { CurrentRun, type Rpc } from "../rpc/index.js";
import { mostRunBytes } from "../rpc/service.js";
import type * as Step from "../Step.js";
import { readGas, stringCap } from "../witness/queries.js";
import { knows, type View } from "../witness/view.js";
import { OwnSteps, type Own, type OwnStep, type SeenWorld } from "./own.js";

/**
 * Bounds: requests of one step; looks of all steps, gas of one and bytes of its answer and calldata; findings of a step, characters and numbers of
 * one, bits of a number; promises of a list that are heard.
 */
const most = {
  ...{ requests: 64, looks: 32, gas: 1_000_000, answer: 1024, data: 8192 },
  ...{ findings: 256, text: 1024, numbers: 32, bits: 512, why: 200, heard: 10_000 },
};

/** Ms that a step may take beyond the deadline, so that its own requests, which end there, tell why; and then to be interrupted. */
const grace = 5;

const viewOf = ({ environment, account, call }: View): View => ({
  environment: copyOf(environment),
  account: (address) => copyOf(account(address)),
  call: (query) => copyOf(call(query)),
});

/** Returns the message of an error of somebody's code, in a line without the keys that URLs may hold. */
const wordsOf = (error: unknown): string =>
  safely(
    () => redactUrls(isRecord(error) && "message" in error ? String(error["message"]) : String(error)),
    "an error that cannot be read",
  ).slice(0, most.why);

/**
 * It failed, threw or did not answer in time. That never counts as a pass.
 * @figures text("because", "no answer in time")
 */
export const StepUnavailable = code("policy", ["unavailable"], "StepUnavailable", [
  "a step of your own gave no answer",
  "repair the step, or run it again",
]);

const unavailable = (step: OwnName, why: string): Finding => ({
  ...StepUnavailable.unavailable({ evidence: "unavailable" }, text("step", step), text("because", why)),
  step,
});

const isPromise = (input: unknown): boolean => isRecord(input) && typeof input["then"] === "function";

/** Returns what somebody's code gave; its failing promise, or one in its list, is heard, for nobody waits for it. */
const caught = <A>(input: A): A => {
  for (const part of Array.isArray(input) ? [input, ...input.slice(0, most.heard)] : [input])
    if (isPromise(part)) Promise.resolve(part).catch(() => undefined);
  return input;
};

/** Returns what `use` gives, or in words why it cannot be used; it is somebody else's code. */
const tried = <A>(what: string, use: () => Result.Result<A, string>): Result.Result<A, string> =>
  Result.flatMap(Result.try({ try: use, catch: (error) => `${what} threw: ${wordsOf(error)}` }), (result) => result);

/** Returns what a schema reads, or why it does not: also what somebody's getter throws. */
const readIn = <A>(read: (input: unknown) => Exit.Exit<A, unknown>, input: unknown): Result.Result<A, unknown> =>
  Exit.match(read(input), { onSuccess: Result.succeed, onFailure: (cause) => Result.fail(Cause.squash(cause)) });

const Look = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("account"), address: Address }),
  Schema.Struct({
    kind: Schema.Literal("call"),
    to: Address,
    data: Hex.pipe(Schema.check(Schema.isMaxLength(2 + 2 * most.data))),
    gas: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most.gas })),
    returnCap: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most.answer })),
  }),
]);
const readLooks = Schema.decodeUnknownExit(Schema.Array(Look).pipe(Schema.check(Schema.isMaxLength(most.looks))));

/** Returns the looks that a step wants; a call may use as much as ours may, for of two alike one answer is kept. */
const looksOf = ({ looks }: OwnStep, bundle: Step.Bundle): Result.Result<ReadonlyArray<Step.Look>, string> =>
  tried("looks", () =>
    Result.mapBoth(readIn(readLooks, looks === null ? [] : caught(looks(copyOf(bundle)))), {
      onSuccess: Arr.map((look) => {
        if (look.kind === "account") return look;
        return { ...look, gas: Math.max(look.gas, readGas), returnCap: Math.max(look.returnCap, stringCap) };
      }),
      onFailure: (issue) => `looks are not of a kind that the balance reader knows: ${wordsOf(issue)}`,
    }),
  );

const isBounded = Schema.makeFilter(({ value }: Figure) =>
  typeof value !== "bigint" || BigInt.asIntN(most.bits, value) === value ? undefined : "a number of more than 512 bits",
);
const Found = Schema.Struct({
  code: OwnName,
  severity: Schema.Literals(["blocker", "warning", "info"]),
  sentence: Schema.String,
  remedy: Schema.optional(Schema.String),
  numbers: Schema.optional(Schema.Array(Figure.pipe(Schema.check(isBounded)))),
  transaction: Schema.optional(Schema.NullOr(Schema.Int)),
});
const readFound = Schema.decodeUnknownExit(Found);

const short = (text: string): string => text.slice(0, most.text);
const cut = (figure: Figure): Figure =>
  // the value stays of its unit
  ({
    ...figure,
    name: short(figure.name),
    ...(typeof figure.value === "string" && { value: short(figure.value) }),
  }) as Figure;

/** One thing that a step found, read as what it is: data of somebody else's. */
const findingOf = (step: OwnName, found: unknown, size: number): Finding => {
  const read = readIn(readFound, found);
  if (Result.isFailure(read))
    return unavailable(step, `check returned something that is not a finding: ${wordsOf(read.failure)}`);
  const { code, severity, sentence, remedy = "", numbers = [], transaction = null } = read.success;
  if (transaction !== null && (transaction < 0 || transaction >= size))
    return unavailable(step, "check returned a finding for a transaction that does not exist");
  return {
    ...{ code, severity, step, transaction, sentence: short(sentence.trim() || code), remedy: short(remedy) },
    ...{ numbers: numbers.slice(0, most.numbers).map(cut), evidence: "estimated", error: null },
  };
};

/** Returns the findings of a step in one world. */
const checkIn = (
  step: OwnStep,
  looks: ReadonlyArray<Step.Look>,
  answer: unknown,
  report: Report,
  { told, before, after }: SeenWorld,
): ReadonlyArray<Finding> => {
  const views = { before: viewOf(before), after: viewOf(after) };
  const found = tried("check", () => {
    const all: unknown = caught(step.check(lazyCopyOf({ ...report, ...told }), { answer: copyOf(answer), ...views }));
    return Array.isArray(all)
      ? Result.succeed<ReadonlyArray<unknown>>([...all.slice(0, most.findings + 1)])
      : Result.fail("check must return a list");
  });
  const unread = looks.some((look) => !knows(before, look) || !knows(after, look));
  const all = Result.getOrElse(found, () => []);
  const isMore = all.length > most.findings;
  return [
    ...(unread ? [unavailable(step.name, "what it looks at could not be read")] : []),
    ...all.slice(0, most.findings).map((finding) => findingOf(step.name, finding, report.transactions.length)),
    ...(isMore ? [unavailable(step.name, "check returned more findings than a report holds")] : []),
    ...(Result.isFailure(found) ? [unavailable(step.name, found.failure)] : []),
  ];
};

const plain = (_: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}n` : value);

/** Each once: worlds that do the same are told once. */
const distinct = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => [
  ...new Map(findings.map((finding) => [JSON.stringify({ ...finding, error: null }, plain), finding])).values(),
];

/** Reads what a step gave as its requests. */
const requestsIn = (input: unknown) =>
  !Array.isArray(input) || input.length > most.requests
    ? Result.fail(`requests must return a list of at most ${most.requests}`)
    : Result.all(
        [...input].map((request: unknown, place) => {
          const { method, params, read } = isRecord(request) ? request : {};
          return typeof method === "string" && Array.isArray(params) && typeof read === "function"
            ? Result.succeed({
                method,
                params,
                read: (result: unknown): unknown => Reflect.apply(read, request, [result]),
              })
            : Result.fail(`requests[${place}] must be { method, params, read }`);
        }),
      );

/** Sends the requests that a step gave, together, and reads each answer by the step's own words. */
const sendRequests = (input: unknown): Effect.Effect<unknown, unknown, Rpc> =>
  Effect.fromResult(tried("requests", () => requestsIn(input))).pipe(
    Effect.flatMap((requests) =>
      sent(
        each(requests, ({ method, params, read }, place) =>
          mapped(one(question(method, () => params, Result.succeed)), (answer) =>
            Result.flatMap(answer, (result): Result.Result<unknown, unknown> =>
              tried(`requests[${place}].read`, () => Result.succeed(caught(read(result)))),
            ),
          ),
        ),
      ),
    ),
    Effect.flatMap((answers) => Effect.fromResult(Result.all(answers))),
  );

/** Starts what a step asks, beside the run: how it judges once it has answered, or the run is over. */
const begin = Effect.fnUntraced(function* (
  step: OwnStep,
  looks: ReadonlyArray<Step.Look>,
  services: OwnSteps["services"],
  bundle: Step.Bundle,
  about: Omit<Step.Context, "signal">,
  because: AskRule | null,
): Effect.fn.Return<Own["judge"], never, Rpc> {
  const { name, ask, requests } = step;
  const { rounds, ...run } = yield* CurrentRun;
  const signal = run.signal ?? new AbortController().signal;
  const deadline = run.deadline ?? Number.POSITIVE_INFINITY;
  const clock = yield* Effect.service(Clock.Clock);
  const ended = new Set<string>();
  const asking = Effect.suspend((): Effect.Effect<unknown, unknown, unknown> => {
    if (requests !== null) return sendRequests(caught(requests(copyOf(bundle), { ...about, signal })));
    if (ask === null) return Effect.void;
    const request: unknown = caught(ask(copyOf(bundle), { ...about, signal }));
    return Effect.isEffect(request) ? request : Effect.fail("ask must return an Effect");
  }).pipe(
    Effect.filterOrFail(
      (answer) => ![caught(answer)].flat().some(isPromise),
      () => "ask must wait for the promises that it answers with",
    ),
    // why: what the run has provided is nearer than what its caller had
    Effect.updateContext(
      (current: Context.Context<never>) => Context.merge(services, current) as Context.Context<unknown>,
    ),
    Effect.provideService(OwnSteps, { steps: [], without: [], services: Context.empty() }),
    Effect.provideService(CurrentRun, {
      ...{ ...run, round: (rounds?.last ?? 0) + 1, because, step: name, run: null },
      record: (entry, turn) => {
        ended.add(entry.method);
        run.record({ ...entry, step: name }, turn);
      },
      // why: what a step reads, of whatever endpoint, neither takes the room of ours nor says how new our block is
      ...(run.answers && { answers: { left: mostRunBytes } }),
      ...(run.sighted && { sighted: { block: null, aheadMs: null, testimonies: run.sighted.testimonies } }),
    }),
  );
  const fiber = yield* Effect.forkDetach(asking);
  // why: one that does not let itself be interrupted is not waited for
  onAbort(signal, () => fiber.interruptUnsafe());
  return Effect.gen(function* () {
    const timeLeft = deadline - (yield* Clock.currentTimeMillis);
    const exit = yield* Effect.timeoutOption(Fiber.await(fiber), Math.max(0, timeLeft) + grace);
    if (Option.isNone(exit)) {
      ended.clear();
      // why: a request is in the ledger once it has ended, and its timer may be late
      fiber.interruptUnsafe();
      yield* Effect.timeoutOption(Fiber.await(fiber), grace);
      return () => [unavailable(name, wordsOf(["no answer within the deadline", ...ended].join(", ")))];
    }
    if (Exit.isFailure(exit.value)) {
      const why = wordsOf(Cause.squash(exit.value.cause));
      return () => [unavailable(name, why)];
    }
    const answer = exit.value.value;
    return (report: Report, worlds: ReadonlyArray<SeenWorld>) => {
      const isEarly = clock.currentTimeMillisUnsafe() < deadline;
      const found = worlds.flatMap((world) => checkIn(step, looks, answer, report, world));
      return isEarly && clock.currentTimeMillisUnsafe() > deadline
        ? [...found, unavailable(name, "check was not done within the deadline")]
        : found;
    };
  });
});

/** See `askUserSteps`. */
export const startUserSteps = Effect.fnUntraced(function* (
  { steps, services }: Pick<OwnSteps, "steps" | "services">,
  bundle: Step.Bundle,
  about: Omit<Step.Context, "signal">,
  because: AskRule | null,
  earlier: ReadonlyArray<OwnName>,
): Effect.fn.Return<Own, never, Rpc> {
  const looks: Array<Step.Look> = [];
  const judges = yield* Effect.forEach(steps, (step) => {
    const own = Result.filterOrFail(
      looksOf(step, bundle),
      (all) => looks.length + all.length <= most.looks,
      () => `more than ${most.looks} looks of all steps`,
    );
    if (Result.isFailure(own)) return Effect.succeed(Effect.succeed(() => [unavailable(step.name, own.failure)]));
    looks.push(...own.success);
    return begin(step, own.success, services, bundle, about, because);
  });
  const missing = earlier.filter((name) => !steps.some((step) => step.name === name));
  const unmade = missing.map((name) => unavailable(name, "this pipeline does not have the step"));
  return {
    names: [...steps.map(({ name }) => name), ...missing],
    looks,
    judge: Effect.map(
      Effect.all(judges, { concurrency: "unbounded" }),
      (all) => (report, worlds) => distinct([...all.flatMap((judge) => judge(report, worlds)), ...unmade]),
    ),
  };
});
