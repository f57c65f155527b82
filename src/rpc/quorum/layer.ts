/**
 * Several endpoints as one: the first answers, the others are asked the same and must say the same. What they say
 * otherwise is kept with the run, for the report to tell; outside a run the request fails.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import { RpcError, UpstreamUnavailable } from "../../errors/rpc.js";
import { WitnessesDisagree } from "../../errors/verdicts.js";
import { isRecord } from "../../primitives/record.js";
import type { Budget } from "../room.js";
import { CurrentRun, type Run } from "../run.js";
import { Rpc } from "../service.js";
import { isDoubtOnly } from "./normal.js";
import { choseOtherwise, inBlocksOf, movedTo, placeOf, stateOf, type State } from "./question.js";
import { compareAnswers, compareHeads, testimonyOf, unconfirmed, type Answer, type Finding } from "./verdict.js";

/** An endpoint by who runs it and the layer that reaches it. */
interface Endpoint {
  readonly provider: string;
  readonly layer: Layer.Layer<Rpc>;
}

/** How many have to agree; every field has a default. */
export interface QuorumOptions {
  /** So many different providers must say the same, the first endpoint's included; at least 2. Default 2. */
  readonly agree?: number | undefined;
  /** Ms for which another endpoint than the first is waited for, per request; default 3,000. */
  readonly waitMs?: number | undefined;
}

/** An endpoint that is there. */
interface Member {
  readonly rpc: Rpc["Service"];
  readonly provider: string;
  readonly name: string;
}

interface Asked {
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly state: State;
  readonly run: Run;
}

/** More blocks behind than this, and an endpoint confirms nothing. */
const mostBehind = 8n;

const zero = /^0x0*$/;

/** Reasons with which nodes say that they have no such block. */
const lacking = new Set(["BlockNotFound", "StateUnavailable", "InvalidParams", "SimBlockOrder"]);

const lacksBlock = (answer: Answer): boolean =>
  Result.isFailure(answer) && answer.failure._tag === "RpcError" && lacking.has(answer.failure.reason._tag);

const numberIn = (block: unknown): bigint | null => {
  const number = isRecord(block) ? block["number"] : null;
  return typeof number === "string" && /^0x[0-9a-fA-F]{1,16}$/.test(number) ? BigInt(number) : null;
};

const hashIn = (block: unknown, field: "hash" | "parentHash"): string | null => {
  const hash = isRecord(block) ? block[field] : null;
  return typeof hash === "string" && hash.length === 66 && !zero.test(hash) ? hash : null;
};

/** The block that a simulation with a number of its own stands on. */
const baseOf = ([asked]: ReadonlyArray<unknown>): bigint | null => {
  const entries = isRecord(asked) && Array.isArray(asked["blockStateCalls"]) ? asked["blockStateCalls"] : [];
  const [first]: ReadonlyArray<unknown> = entries;
  const number = isRecord(first) ? numberIn(first["blockOverrides"]) : null;
  return number === null ? null : number - 1n;
};

/** What the others of a quorum are asked, and how. */
const asking = (lead: Member, waitMs: number) => {
  // why: what one endpoint answers shall not take the room of another's answers
  const budgets = new WeakMap<Budget, Map<Member, Budget>>();
  const budgetOf = (member: Member, answers: Budget | null): Budget | null => {
    if (answers === null) return null;
    const known = budgets.get(answers) ?? new Map<Member, Budget>();
    budgets.set(answers, known);
    const own = known.get(member) ?? { left: answers.left };
    known.set(member, own);
    return own;
  };

  const ask = (member: Member, { method, params, run }: Omit<Asked, "state">): Effect.Effect<Answer> => {
    if (member === lead)
      return Effect.result(Effect.provideService(member.rpc.request(method, params), CurrentRun, run));
    const own = { ...run, sighted: null, answers: budgetOf(member, run.answers ?? null) };
    const late = (): Answer =>
      Result.fail(new RpcError({ method, reason: new UpstreamUnavailable({ detail: `no answer in ${waitMs} ms` }) }));
    return Effect.result(Effect.provideService(member.rpc.request(method, params), CurrentRun, own)).pipe(
      Effect.timeoutOption(waitMs),
      Effect.map(Option.getOrElse(late)),
    );
  };
  return ask;
};

/** The further round: the same on a block that both have. */
const pinning = (lead: Member, ask: ReturnType<typeof asking>) => {
  const inFurther = (run: Run, by: number): Run => ({ ...run, run: "pinned", round: run.round + by });

  /** The other is behind: both run on its head, and the first must have said on its own what it says there. */
  const onTheirs = Effect.fnUntraced(function* (asked: Asked, first: Answer, member: Member) {
    const { method, params, run } = asked;
    const latest = { method: "eth_getBlockByNumber", params: ["latest", false] };
    const head = yield* ask(member, { ...latest, run: { ...inFurther(run, 1), run: null } });
    const [block, base] = [Result.isSuccess(head) ? head.success : null, baseOf(params)];
    const [number, hash] = [numberIn(block), hashIn(block, "hash")];
    if (number === null || hash === null || base === null) return unconfirmed("has not this block, and names no other");
    const again = inFurther(run, 2);
    if (number >= base) return compareAnswers(asked, first, yield* ask(member, { method, params, run: again }));
    const behind = base - number;
    if (behind > mostBehind) return unconfirmed(`is ${behind} blocks behind`);
    // why: the block after an earlier one has another base fee, and with it other costs
    const placed = (Result.isSuccess(first) ? inBlocksOf(params, first.success) : null) ?? params;
    const moved = { ...asked, params: movedTo(placed, hash, behind), run: again };
    const [mine, theirs] = yield* Effect.all([ask(lead, moved), ask(member, moved)], { concurrency: 2 });
    if (lacksBlock(mine)) return unconfirmed("is on another branch");
    const there = compareAnswers(moved, mine, theirs);
    if (there.kind !== "agreed") return there;
    const here = compareAnswers(asked, first, mine, true);
    return here.kind === "agreed" ? here : unconfirmed(`is ${behind} blocks behind, where the outcome is another`);
  });

  /** One block, and each node chose values of its own for the next: the other runs in those of the first. */
  const inTheirBlock = Effect.fnUntraced(function* (
    asked: Asked,
    first: Answer,
    other: Answer,
    seen: Finding,
    member: Member,
  ) {
    // why: in the same blocks there is one right answer, and no second chance
    if (Result.isFailure(first) || Result.isFailure(other) || !choseOtherwise(first.success, other.success))
      return seen;
    const params = inBlocksOf(asked.params, first.success);
    if (params === null || JSON.stringify(params) === JSON.stringify(asked.params)) return seen;
    const { method, run } = asked;
    return compareAnswers(asked, first, yield* ask(member, { method, params, run: inFurther(run, 1) }));
  });

  /** Both have heads of their own: the other runs on the block that the first stood on. */
  const onOurs = Effect.fnUntraced(function* (asked: Asked, first: Answer, member: Member) {
    const { method, params, run } = asked;
    const blocks = Result.isSuccess(first) && Array.isArray(first.success) ? first.success : [];
    const parent = hashIn(blocks[0], "parentHash");
    if (parent === null) return unconfirmed("differs, and the block that was stood on is not named");
    const [simulation] = inBlocksOf(params, blocks) ?? params;
    const again = yield* ask(member, { method, params: [simulation, { blockHash: parent }], run: inFurther(run, 1) });
    const seen = compareAnswers(asked, first, again);
    // why: on one block there is one right answer
    return seen.kind === "unconfirmed" && !isDoubtOnly(seen.path) && !lacksBlock(again) && Result.isSuccess(again)
      ? { ...seen, kind: "disagreed" as const }
      : seen;
  });

  return (asked: Asked, first: Answer, other: Answer, seen: Finding, member: Member): Effect.Effect<Finding> => {
    if (asked.method !== "eth_simulateV1" || seen.kind === "agreed") return Effect.succeed(seen);
    if (asked.state === "sealed")
      return lacksBlock(other) ? onTheirs(asked, first, member) : inTheirBlock(asked, first, other, seen, member);
    return asked.state === "latest" && Result.isSuccess(other) ? onOurs(asked, first, member) : Effect.succeed(seen);
  };
};

const isHead = ({ method, state }: Asked): boolean => method === "eth_getBlockByNumber" && state === "latest";

/** The requests of a quorum. */
const requestOf = (
  lead: Member,
  others: ReadonlyArray<Member>,
  agree: number,
  waitMs: number,
): Rpc["Service"]["request"] => {
  const ask = asking(lead, waitMs);
  const settle = pinning(lead, ask);

  const judge = Effect.fnUntraced(function* (asked: Asked, first: Answer, answers: ReadonlyArray<Answer>) {
    if (Result.isFailure(first) && first.failure._tag === "RpcError") return yield* first.failure;
    const { method, run } = asked;
    const about = { isSealed: asked.state === "sealed", run: run.run ?? null };
    const findings = yield* Effect.forEach(
      others,
      (member, index) => {
        const other = answers[index] ?? first;
        if (isHead(asked)) return Effect.succeed(compareHeads(first, other));
        return settle(asked, first, other, compareAnswers(asked, first, other), member);
      },
      { concurrency: "unbounded" },
    );
    const confirming = others.filter((_, index) => findings[index]?.kind === "agreed").map(({ provider }) => provider);
    const isConfirmed = new Set([lead.provider, ...confirming]).size >= agree;
    const told = others.flatMap((member, index) => {
      const finding = findings[index];
      if (finding === undefined || finding.kind === "agreed") return [];
      if (finding.kind === "unconfirmed" && isConfirmed) return [];
      return [testimonyOf({ ...about, method }, finding, [lead.name, member.name])];
    });
    if (run.sighted != null) {
      if (isConfirmed && about.isSealed && told.length === 0 && method === "eth_simulateV1")
        run.sighted.testimonies.push({ kind: "confirmed", ...about, method, lines: [] });
      run.sighted.testimonies.push(...told);
      for (const answer of isHead(asked) ? answers : []) {
        const number = Result.isSuccess(answer) ? numberIn(answer.success) : null;
        if (number !== null && number > (run.sighted.block ?? -1n)) run.sighted.block = number;
      }
      return yield* Effect.fromResult(first);
    }
    const against = told.find(({ kind }) => kind === "disagreed");
    if (against !== undefined) return yield* new WitnessesDisagree({ method, differences: against.lines });
    const missing = told.find(({ kind }) => kind === "unconfirmed");
    if (missing !== undefined && asked.state === "sealed")
      return yield* new RpcError({ method, reason: new UpstreamUnavailable({ detail: missing.lines.join("; ") }) });
    return yield* Effect.fromResult(first);
  });

  return (method, params) =>
    Effect.withFiber((fiber) => {
      if (placeOf(method) === undefined) return lead.rpc.request(method, params);
      const state = method === "eth_chainId" ? "sealed" : stateOf(method, params);
      const asked: Asked = { method, params, state, run: fiber.getRef(CurrentRun) };
      return Effect.flatMap(
        Effect.all(
          [lead, ...others].map((member) => ask(member, asked)),
          { concurrency: "unbounded" },
        ),
        ([first, ...rest]) => (first === undefined ? lead.rpc.request(method, params) : judge(asked, first, rest)),
      );
    });
};

/** A quorum of endpoints by their providers; the first of them answers. */
export const quorumOf = (
  first: Endpoint,
  rest: ReadonlyArray<Endpoint>,
  { agree, waitMs }: { readonly agree: number; readonly waitMs: number },
): Layer.Layer<Rpc> => {
  const memberOf = ({ layer, provider }: Endpoint) =>
    Effect.map(Layer.build(Layer.fresh(layer)), (context): Member => {
      const rpc = Context.get(context, Rpc);
      return { rpc, provider, name: rpc.endpoint.includes(provider) ? rpc.endpoint : `${rpc.endpoint} (${provider})` };
    });
  return Layer.effect(
    Rpc,
    Effect.gen(function* () {
      const lead = yield* memberOf(first);
      const others = yield* Effect.forEach(rest, memberOf);
      return {
        ...lead.rpc,
        isQuorum: true,
        endpoint: [lead, ...others].map(({ name }) => name).join(", "),
        request: requestOf(lead, others, agree, waitMs),
      };
    }),
  );
};
