/** `evm-preflight doctor`: what an endpoint really supports, by asking it, and what that means for reports. */
import * as Config from "effect/Config";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Option from "effect/Option";
import * as Result from "effect/Result";
import * as Argument from "effect/cli/Argument";
import * as Command from "effect/cli/Command";
import * as Eth from "../../eth/index.js";
import type { Tone } from "../../report/document.js";
import { painter } from "../../report/text.js";
import { Rpc, layerHttp, type HttpOptions, type KnownEndpoint } from "../../Rpc.js";
import { knownEndpointFormat } from "../../rpc/index.js";
import { overrideNames } from "../../steps/index.js";
import { endpoint, header, readHeaders, whyDeaf, withProgress } from "../endpoint.js";
import { Exited, exitCodes, withExitCodes } from "../exit.js";
import { toggle } from "../flags.js";
import { look, print } from "../terminal.js";
import {
  finding,
  methodProbes,
  needed,
  no,
  pageStatus,
  pretending,
  refusal,
  simulating,
  simulation,
  someone,
  somewhere,
  unknown,
  yes,
  type ProbeResult,
} from "./probe.js";

const nothingKnown: Omit<KnownEndpoint, "format"> = {
  facts: { chainId: null, tellsTip: null, takesBatches: null, noFeeOracle: null, refuses: [] },
  fork: null,
  pending: null,
};

/** Asks two questions in one POST. */
const batches = (url: string, options: HttpOptions): Effect.Effect<ProbeResult> =>
  Effect.gen(function* () {
    const { request, memory } = yield* Rpc;
    const asking = ["eth_getCode", "eth_getTransactionCount"].map((method) => request(method, [someone, "latest"]));
    yield* Effect.all(asking, { concurrency: "unbounded" });
    return memory.recall("takesBatches") === false ? no("refused; single requests were answered") : yes();
  }).pipe(
    Effect.provide(layerHttp(url, { ...options, retryTimes: 0, batch: true })),
    Effect.catch((failure) => Effect.succeed(unknown(refusal(failure).detail))),
    Effect.map((answer) => finding("transport", "batches", "JSON-RPC batches", answer)),
  );

/** Without these the verdict is at most unknown. */
const core = ["eth_getCode", "eth_getTransactionCount", "eth_simulateV1"];
const decisive = [...core, "override.balance", "override.code"];
/** Groups that say nothing of their own where there is no simulation. */
const ofSimulation: ReadonlySet<string | undefined> = new Set([simulating, pretending]);

/** Consequences of each absence, most important first. */
const consequences: Readonly<Record<string, string>> = {
  eth_getCode: "no eth_getCode: whether an address has code is not known; the verdict is at most unknown",
  eth_getTransactionCount:
    "no eth_getTransactionCount: the nonce is not known, so there is nothing to sign; the verdict is at most unknown",
  eth_simulateV1:
    "no eth_simulateV1: eth_call and eth_estimateGas answer for one transaction only. Movements, approvals and balances are not seen, and nothing is proven; the verdict is at most unknown",
  eth_estimateGas: "no eth_estimateGas: the gas limit rests on the simulation alone",
  eth_call: "no eth_call: no fallback when eth_simulateV1 fails",
  ...Object.fromEntries(
    overrideNames.map((name) => [
      `override.${name}`,
      `eth_simulateV1 does not vary ${name}: for code that may read it the verdict is at most unknown`,
    ]),
  ),
  ...Object.fromEntries(
    ["balance", "code"].map((name) => [
      `override.${name}`,
      `eth_simulateV1 ignores the state override ${name}: nothing can be measured in a simulation; the verdict is at most unknown`,
    ]),
  ),
  "override.prevRandao":
    "eth_simulateV1 does not vary prevRandao: for code that reads it the verdict is at most caution where the chain has the difficulty in its place, else unknown",
  deployment:
    "no simulated deployments: eth_call and eth_estimateGas answer for them; the verdict of a deployment is at most unknown",
  traceTransfers: "no traced transfers: native transfers inside calls are seen only in measured balances",
  maxUsedGas: "no maxUsedGas: the gas limit keeps a wider margin for refunds",
  validation: "no validation: the library's own rules decide alone on nonce, base fee and funds",
  eth_getBlockByNumber: "no eth_getBlockByNumber: freshness is judged by the simulation's own header",
  eth_feeHistory: "no eth_feeHistory: the tip comes from recent receipts or the chain's minimum",
  eth_chainId: "no eth_chainId: the chain is read inside the simulation",
  eth_getBlockReceipts: "no eth_getBlockReceipts: the tip has one source less",
  "pending.eth_simulateV1": "no simulation on pending: ask with --block latest; transactions in flight are not seen",
  "pending.eth_getTransactionCount":
    "no count on pending: transactions in flight are not seen when the nonce is chosen",
};

/** The best that reports from an endpoint can say, in a sentence, and the exit code. */
const levels = {
  full: ["reports from this endpoint can reach ready, with every check", exitCodes.ready, "good"],
  reduced: ["reports from this endpoint can reach ready, with less evidence", exitCodes.caution, "warn"],
  unknown: ["reports from this endpoint are at most unknown", exitCodes.unknown, "warn"],
} as const;

/** The answers read together; pure. */
export const conclude = (endpoint: string, findings: ReadonlyArray<ProbeResult>, known = nothingKnown) => {
  const found = new Map(findings.map((finding) => [finding.id, finding]));
  const statusOf = (id: string) => found.get(id)?.status;
  // why: without the method, what it would do in detail is no news
  const simulates = statusOf("eth_simulateV1") === "yes";
  const missing = Object.keys(consequences).filter(
    (id) => statusOf(id) === "no" && (simulates || !ofSimulation.has(found.get(id)?.group)),
  );
  const silent = core.filter((id) => statusOf(id) === "unknown");
  const isUnknown = silent.length > 0 || missing.some((id) => decisive.includes(id));
  const level: keyof typeof levels = isUnknown ? "unknown" : missing.length > 0 ? "reduced" : "full";
  const mute = findings.every(({ status }) => status === "unknown");
  const summary: string = mute ? "the endpoint did not answer; nothing is known about it" : levels[level][0];
  return {
    ...{ format: knownEndpointFormat, endpoint, ...known, level, summary, findings },
    /** The consequences of what is missing, and what to do. */
    meaning: mute
      ? []
      : [
          ...missing.map((id) => consequences[id] ?? ""),
          ...silent.map((id) => `${id} was not answered; whether the endpoint has it is not known, ask again`),
        ],
  };
};

const dispensable = ["eth_feeHistory", "eth_getBlockReceipts"] as const;

/** Puts every question to the endpoint, four at a time; where nobody answers the first, no other. */
const diagnose = (url: string, options: HttpOptions) =>
  Effect.gen(function* () {
    const rpc = yield* Rpc;
    const first = yield* Effect.result(Eth.getCode({ address: somewhere, block: "latest" }));
    const alone = (detail: string) =>
      conclude(rpc.endpoint, [finding(needed, "eth_getCode", "eth_getCode", unknown(detail))]);
    const status = Result.isFailure(first) ? pageStatus(first.failure) : null;
    const second = status === null ? null : yield* Effect.result(Eth.chainId);
    if (second !== null && Result.isFailure(second) && pageStatus(second.failure) !== null)
      return { ...alone(`HTTP ${status}, and no JSON-RPC answer`), summary: "this is no JSON-RPC endpoint" };
    if (Result.isFailure(first) && first.failure._tag === "RpcError" && first.failure.reason._tag === "Transport")
      return alone(whyDeaf(first.failure));
    // why: the first answers of all teach the endpoint's refusals, so that later probes need not ask again
    const findings = yield* Effect.forEach(methodProbes, (each) => each, { concurrency: 4 });
    const batching = yield* batches(url, options);
    const { findings: ofRuns, facts, ...known } = yield* simulation;
    return conclude(rpc.endpoint, [...findings, batching, ...ofRuns], {
      ...known,
      facts: {
        ...facts,
        takesBatches: batching.status === "unknown" ? null : batching.status === "yes",
        refuses: dispensable.filter((method) => findings.some(({ id, status }) => id === method && status === "no")),
      },
    });
  }).pipe(
    Effect.provide(
      withProgress(Layer.fresh(layerHttp(url, { retryTimes: 1, timeoutMs: 10_000, ...options })), { isLong: true }),
    ),
  );

const tones: Readonly<Record<ProbeResult["status"], Tone>> = { yes: "good", no: "bad", unknown: "warn" };

/** The level first, then every answer in its group, then what it means. */
const diagnosisText = (diagnosis: ReturnType<typeof conclude>, color: boolean): string => {
  const paint = painter(color);
  const { endpoint, level, summary, findings, meaning } = diagnosis;
  const [only, ...others] = findings;
  const verdict = `${paint(level.toUpperCase(), levels[level][2], "strong")} · ${summary}`;
  if (only?.status === "unknown" && others.length === 0) return `${verdict} · ${endpoint} · ${only.detail}`;
  const width = Math.max(...findings.map(({ name }) => name.length));
  const groups = [...new Set(findings.map(({ group }) => group))];
  // why: of a node without the method every probe of it has the same refusal
  const saidBy = new Map<string, ProbeResult>();
  for (const each of findings) if (!saidBy.has(each.detail)) saidBy.set(each.detail, each);
  const detailText = (one: ProbeResult) => {
    const first = saidBy.get(one.detail);
    return first === one || first === undefined || one.detail.length < 80 ? one.detail : `as ${first.name} above`;
  };
  return [
    verdict,
    paint(endpoint, "dim"),
    ...groups.flatMap((group) => [
      "",
      paint(group, "strong"),
      ...findings
        .filter((finding) => finding.group === group)
        .map((one) =>
          `  ${paint(one.status.padEnd(7), tones[one.status])}  ${one.name.padEnd(width)}  ${paint(detailText(one), "dim")}`.trimEnd(),
        ),
    ]),
    ...(meaning.length === 0 ? [] : ["", paint("What it means", "strong"), ...meaning.map((line) => `  - ${line}`)]),
    "",
  ].join("\n");
};

export const doctor = Command.make(
  "doctor",
  {
    url: Argument.String("url").pipe(
      Argument.withDescription("the node's HTTP endpoint (default: ETH_RPC_URL)"),
      Argument.withFallbackConfig(Config.String("ETH_RPC_URL")),
      Argument.optional,
    ),
    header,
    json: toggle("json", "print the answers as JSON, which check takes as --endpoint"),
  },
  Effect.fnUntraced(function* (input) {
    const given = Option.filter(input.url, (text) => text !== "");
    const url = yield* endpoint(given, "url");
    const diagnosis = yield* diagnose(url, { headers: yield* readHeaders(input.header) });
    yield* print(input.json ? JSON.stringify(diagnosis, null, 2) : diagnosisText(diagnosis, (yield* look).color));
    return yield* new Exited({ code: levels[diagnosis.level][1] });
  }),
).pipe(
  Command.withDescription("Ask an endpoint what it really supports, and what that means for reports"),
  withExitCodes("0 full, 2 reduced, 3 unknown (reports from it are at most unknown, or it did not answer)"),
  Command.withExamples([
    { command: "evm-preflight doctor http://127.0.0.1:8545", description: "Everything that reports need, probed" },
  ]),
);
