/** Which block an endpoint simulates: what of it may be pretended, whose rules it follows, and what `pending` is. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { lookup } from "../../Chains.js";
import { rulesOf } from "../../chains/rules.js";
import { forksIn, unknownForks } from "../../primitives/names.js";
import * as Eth from "../../Eth.js";
import { shortAddress } from "../../primitives/text.js";
import { formatGas } from "../../primitives/units.js";
import { Rpc, type KnownEndpoint } from "../../Rpc.js";
import { lacksTip } from "../../steps/reading/quote.js";
import { placement, witnessCall } from "../../witness/placement.js";
import type { Query } from "../../witness/queries.js";
import { viewOf, type View } from "../../witness/view.js";
import { no, refusal, someone, somewhere, unknown, yes, type Answer, type Finding } from "./probe.js";

type Facts = KnownEndpoint["facts"];

/** What was found, and what follows for the description of the endpoint. */
export interface World {
  readonly findings: ReadonlyArray<Finding>;
  readonly facts: Pick<Facts, "chainId" | "tellsTip" | "noFeeOracle">;
  readonly fork: KnownEndpoint["fork"];
  readonly pending: KnownEndpoint["pending"];
}

const overridden = "what a simulated block may pretend";
const rulesGroup = "rules and pending";

/** Runtime code: `return sload(0)`. */
const returnsSlot = "0x60005460005260206000f3";

/** Wei per gas that every base fee is below. */
const much = 10n ** 15n;

/** The witness in one simulated block, and the call behind it. */
const look = (
  queries: ReadonlyArray<Query>,
  entry: Omit<Eth.BlockStateCall, "calls">,
  calls: ReadonlyArray<Eth.CallRequest>,
) =>
  Effect.flatMap(placement, (at) => {
    const witness = { ...witnessCall(at, queries), maxFeePerGas: much };
    const simulate = (validation: boolean) =>
      Eth.simulateV1({
        validation,
        blocks: [{ ...entry, stateOverrides: { ...entry.stateOverrides, ...at.override }, calls: [witness, ...calls] }],
        block: "latest",
      });
    // why: as a preflight does, for without it some nodes execute without a base fee
    return simulate(true).pipe(
      Effect.catch(() => simulate(false)),
      Effect.map(([block]) => ({
        block: block ?? null,
        view: viewOf(queries, block?.calls[0]?.returnData ?? "0x"),
        data: block?.calls[1]?.returnData ?? null,
      })),
    );
  });

const seen = (view: View | null) => view?.environment ?? null;

/** Values that no block of its own would have. */
const pretended = {
  time: 4_102_444_800n,
  gasLimit: 123_456_789n,
  feeRecipient: somewhere,
  prevRandao: `0x${"5e".repeat(32)}`,
  baseFeePerGas: 1_234_567n,
} as const;

/** Every override at once, in two questions: the number would be refused where it does not follow the head's. */
const overrides = (number: bigint | null): Effect.Effect<ReadonlyArray<Finding>, never, Rpc> =>
  Effect.gen(function* () {
    const finding = (name: string, answer: Answer): Finding => ({
      ...{ id: `override.${name}`, group: overridden, name },
      ...answer,
    });
    const [asked, balance, slot] = [
      number === null ? null : number + 7n,
      much * 424_242n,
      `0x${"77".repeat(32)}` as const,
    ];
    const queries: ReadonlyArray<Query> = [{ kind: "environment" }, { kind: "account", address: someone }];
    const answer = yield* Effect.result(
      look(
        queries,
        {
          blockOverrides: { ...pretended, ...(asked === null ? {} : { number: asked }) },
          stateOverrides: {
            [someone]: { balance },
            [somewhere]: { code: returnsSlot, stateDiff: { [`0x${"00".repeat(32)}`]: slot } },
          },
        },
        [{ from: someone, to: somewhere, gas: 100_000n, maxFeePerGas: much }],
      ),
    );
    const names = ["number", ...Object.keys(pretended), "balance", "storage"];
    if (Result.isFailure(answer)) {
      const refused = refusal(answer.failure);
      return names.map((name) => finding(name, { ...refused, detail: `together with others: ${refused.detail}` }));
    }
    const { view, data } = answer.success;
    const environment = seen(view);
    if (environment === null) return names.map((name) => finding(name, unknown("the witness did not answer")));
    const is = (effective: boolean): Answer => (effective ? yes() : no("the block that was executed has another"));
    return [
      finding("number", asked === null ? unknown("the latest block is not known") : is(environment.number === asked)),
      finding("time", is(environment.timestamp === pretended.time)),
      finding("gasLimit", is(environment.gasLimit === pretended.gasLimit)),
      finding("feeRecipient", is(environment.feeRecipient === pretended.feeRecipient)),
      finding("prevRandao", is(environment.prevRandao === pretended.prevRandao)),
      finding("baseFeePerGas", is(environment.baseFeePerGas === pretended.baseFeePerGas)),
      finding("balance", is(view?.account(someone)?.balance === balance)),
      finding("storage", is(data === slot)),
    ];
  });

/** What `pending` is beside the latest block. */
const pendingOf = (
  latest: Eth.Block | null,
  chainId: number | null,
): Effect.Effect<readonly [Answer, KnownEndpoint["pending"]], never, Rpc> =>
  Effect.map(Effect.result(Eth.getBlock({ block: "pending" })), (heard) => {
    if (Result.isFailure(heard)) {
      const answer = refusal(heard.failure);
      return [answer, answer.status === "no" ? "refused" : null];
    }
    const pending = heard.success;
    if (latest === null) return [unknown("the latest block is not known"), null];
    if (pending.number !== null && latest.number !== null && pending.number <= latest.number)
      return [no("the latest block; transactions in flight are not in it"), "latest"];
    const chain = lookup(chainId);
    const kind = chain.pending;
    const words =
      kind === "preconfirmed"
        ? "ordered before you, by the chain's entry"
        : `a guess of the next block${chain.known ? "" : ", as on every chain that has no entry"}`;
    return [yes(`block ${String(pending.number ?? "without a number")}: ${words}`), kind];
  });

/** Everything about the block; `eth_config` beside, for what comes next. */
export const world: Effect.Effect<World, never, Rpc> = Effect.gen(function* () {
  const rpc = yield* Rpc;
  const oracle = lookup(null).gasPriceOracle;
  const queries: ReadonlyArray<Query> = [{ kind: "environment" }, { kind: "account", address: oracle }];
  const { plain, header, history, config } = yield* Effect.all(
    {
      plain: Effect.result(look(queries, {}, [])),
      header: Effect.result(Eth.getBlock({ block: "latest" })),
      history: Effect.result(
        Eth.feeHistory({ blockCount: 10, newestBlock: "latest", rewardPercentiles: [20, 50, 80] }),
      ),
      config: Effect.result(rpc.request("eth_config", [])),
    },
    { concurrency: 4 },
  );
  const view = Result.isSuccess(plain) ? plain.success.view : null;
  const environment = seen(view);
  const latest = Result.isSuccess(header) ? header.success : null;
  const chainId = environment === null ? null : Number(environment.chainId);
  const forks = Result.isSuccess(config) ? forksIn(config.success) : unknownForks;
  const { rules } = rulesOf(
    lookup(chainId),
    {
      executed: environment?.fork ?? null,
      header: Result.isSuccess(plain) ? plain.success.block : latest,
      config: forks.fork,
    },
    forks.next,
  );
  const cap =
    rules.txGasCap === null
      ? "only the block limits one transaction's gas"
      : `one transaction may ask for ${formatGas(rules.txGasCap)}`;
  const ahead =
    rules.nextFork === null ? "" : `; the next fork at ${new Date(Number(rules.nextFork) * 1000).toISOString()}`;
  const sources = {
    executed: "by what the block executes",
    header: "by the header",
    config: "by eth_config",
    table: "",
  };
  const fork: Answer =
    rules.fork === null
      ? unknown("nothing tells the fork")
      : rules.agrees
        ? yes(`${rules.fork}, ${sources[rules.by]}; ${cap}${ahead}`)
        : no(`${rules.fork}, ${sources[rules.by]}, but something else speaks against it`);
  const [pending, kind] = yield* pendingOf(latest, chainId);
  const code = view?.account(oracle)?.codeSize ?? null;
  return {
    findings: [
      ...(yield* overrides(latest?.number ?? null)),
      { id: "rules", group: rulesGroup, name: "fork in force", ...fork },
      { id: "pending", group: rulesGroup, name: "pending", ...pending },
      {
        ...{ id: "feeOracle", group: rulesGroup, name: "L1 fee oracle" },
        ...(code === null
          ? unknown("not seen")
          : code === 0n
            ? no(`none at ${shortAddress(oracle)}`)
            : yes(`at ${shortAddress(oracle)}`)),
      },
    ],
    facts: {
      chainId: chainId !== null && Number.isSafeInteger(chainId) && chainId > 0 ? chainId : null,
      tellsTip: Result.isSuccess(history) ? !lacksTip(history, "normal") : null,
      noFeeOracle: code === 0n ? oracle : null,
    },
    fork: environment?.fork ?? null,
    pending: kind,
  };
});
