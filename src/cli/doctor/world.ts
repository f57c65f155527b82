/** Which block an endpoint simulates: what of it may be pretended, whose rules it follows, and what `pending` is. */
import * as Effect from "effect/Effect";
import * as Rows from "effect/Record";
import * as Result from "effect/Result";
import { lookup } from "../../Chains.js";
import { rulesOf } from "../../chains/rules.js";
import { forksIn, unknownForks } from "../../primitives/names.js";
import * as Eth from "../../eth/index.js";
import { shortAddress } from "../../primitives/text.js";
import { formatGas } from "../../primitives/units.js";
import { Rpc, type KnownEndpoint } from "../../Rpc.js";
import { lacksTip } from "../../steps/reading/quote.js";
import { placement, witnessCall } from "../../witness/placement.js";
import type { Query } from "../../witness/queries.js";
import { viewOf } from "../../witness/view.js";
import { finding, no, refusal, someone, somewhere, unknown, yes, type Answer, type Finding } from "./probe.js";

const ofRules = (id: string, name: string, answer: Answer): Finding => finding("rules and pending", id, name, answer);

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

/** Values that no block of its own would have. */
const pretended = {
  time: 4_102_444_800n,
  gasLimit: 123_456_789n,
  feeRecipient: somewhere,
  prevRandao: `0x${"5e".repeat(32)}`,
  baseFeePerGas: 1_234_567n,
} as const;

/** Every override at once, in two questions: the number would be refused where it does not follow the head's. */
const overrides = (latest: bigint | null): Effect.Effect<ReadonlyArray<Finding>, never, Rpc> => {
  const number = latest === null ? null : latest + 7n;
  const [balance, storage] = [much * 424_242n, `0x${"77".repeat(32)}` as const];
  const asked = { number, ...pretended, balance, storage };
  const told = (answerOf: (name: string, value: unknown) => Answer): ReadonlyArray<Finding> =>
    Rows.collect<string, unknown, Finding>(asked, (name, value) =>
      finding("what a simulated block may pretend", `override.${name}`, name, answerOf(name, value)),
    );
  return Effect.match(
    look(
      [{ kind: "environment" }, { kind: "account", address: someone }],
      {
        blockOverrides: { ...pretended, ...(number === null ? {} : { number }) },
        stateOverrides: {
          [someone]: { balance },
          [somewhere]: { code: returnsSlot, stateDiff: { [`0x${"00".repeat(32)}`]: storage } },
        },
      },
      [{ from: someone, to: somewhere, gas: 100_000n, maxFeePerGas: much }],
    ),
    {
      onFailure: (failure) => {
        const { status, detail } = refusal(failure);
        return told(() => ({ status, detail: `together with others: ${detail}` }));
      },
      onSuccess: ({ view, data }) => {
        const environment = view?.environment ?? null;
        if (environment === null) return told(() => unknown("the witness did not answer"));
        const account = view?.account(someone) ?? null;
        const seen: Readonly<Record<string, unknown>> = {
          ...environment,
          ...{ time: environment.timestamp, balance: account?.balance, storage: data },
        };
        return told((name, value) =>
          value === null
            ? unknown("the latest block is not known")
            : seen[name] === value
              ? yes()
              : no("the block that was executed has another"),
        );
      },
    },
  );
};

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
export const world = Effect.gen(function* () {
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
  const run = Result.getOrNull(plain);
  const view = run?.view ?? null;
  const environment = view?.environment ?? null;
  const latest = Result.getOrNull(header);
  const chainId = environment === null ? null : Number(environment.chainId);
  const forks = Result.isSuccess(config) ? forksIn(config.success) : unknownForks;
  const { rules } = rulesOf(
    lookup(chainId),
    {
      executed: environment?.fork ?? null,
      header: run === null ? latest : run.block,
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
      ofRules("rules", "fork in force", fork),
      ofRules("pending", "pending", pending),
      ofRules(
        "feeOracle",
        "L1 fee oracle",
        code === null
          ? unknown("not seen")
          : code === 0n
            ? no(`none at ${shortAddress(oracle)}`)
            : yes(`at ${shortAddress(oracle)}`),
      ),
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
