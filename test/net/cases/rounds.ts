/**
 * Every rule by which more is asked than at first, on every node where it can occur. What an endpoint says otherwise
 * hangs on the run and the parameters; the node is asked all the same, so that the ledger has it.
 */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { keccak256, multicall3Abi, type Hex, type TransactionSerializable } from "viem";
import * as Chains from "../../../src/Chains.js";
import * as Errors from "../../../src/Errors.js";
import * as Preflight from "../../../src/Preflight.js";
import type { AskRule } from "../../rooms/primitives.js";
import type { BundleReport, RunName, Settled } from "../../../src/Report.js";
import type * as Rpc from "../../../src/Rpc.js";
import * as artifacts from "../../contracts/artifacts.js";
import { nested } from "../../harness/accuracy/cases.js";
import { lagging, liar, type Lie } from "../../harness/lies.js";
import { pairOf } from "../../harness/pairs.js";
import * as on from "../../preflight/scene.js";
import { calldata, layerOf, nobody, other, owner, tampered } from "../../preflight/scene.js";
import { patient, type Ask, type Case } from "../cases.js";
import { me, people, they, you, type Stage } from "../stage.js";
import { call } from "./movements.js";

/** How the node is reached. */
type Way = (stage: Stage) => Layer.Layer<Rpc.Rpc>;
type Tell = (stage: Stage) => Promise<BundleReport | Settled>;
type Row = readonly [tell: Tell, nodes?: ReadonlyArray<string>];

const everywhere = ["anvil", "geth", "strict"];
/** The strict node tells neither its chain nor its head, nor a receipt. */
const open = ["anvil", "geth"];

const { clerk, plain } = people;

// what is asked

const send = () => ({ from: owner.address, to: other.address, value: 1n });
const twice = () => [send(), send()];
const spend = () => ({ from: plain.address, to: you, value: 1n });
const token = ({ t }: Stage) => call(t.token, artifacts.Token, "transfer", [you, 5n]);
const pull = ({ t }: Stage) => [
  call(t.token, artifacts.Token, "approve", [you, 5n]),
  { ...call(t.token, artifacts.Token, "transferFrom", [me, they, 5n]), from: you },
];
const pass = ({ at }: Stage) => ({ from: plain.address, to: at("gate"), data: calldata(artifacts.Gate, "pass") });
const revert = ({ at }: Stage) => call(at("reverter"), artifacts.Reverter, "reason", ["not today"]);
const halt = ({ at }: Stage) => call(at("reverter"), artifacts.Reverter, "invalid");
const wrap = ({ at, t }: Stage) =>
  call(at("reverter"), artifacts.Reverter, "wrap", [t.token, calldata(artifacts.Token, "transfer", [you, 10n ** 30n])]);
const swallow = ({ at, t: { aggregator } }: Stage) => {
  const inner = { target: at("gasReader"), callData: calldata(artifacts.GasReader, "need", [400_007n]) };
  return { from: me, to: aggregator, data: nested(aggregator, inner, 40, true) };
};
const claim = ({ at }: Stage) => ({
  ...{ from: you, to: at("more gas than anybody gives") },
  data: calldata(artifacts.Spoofer, "claim"),
});
const tooMuch = calldata(artifacts.Token, "transfer", [they, 10n ** 40n]);
/** Code that makes calls, where nobody lives. */
const executor = "0x00000000000000000000000000000000dead0e7e";
/** Of code whose answers nobody believes. */
const batch = ({ at }: Stage) => ({
  ...{ from: me, to: at("anything") },
  data: calldata({ abi: multicall3Abi }, "aggregate3", [[{ target: you, allowFailure: true, callData: "0x12345678" }]]),
});
/** What the clerk has in flight, once more; what it sends instead, and behind it. */
const again = (stage: Stage) => ({ ...revert(stage), from: clerk.address });
const follow = () => ({ from: clerk.address, to: you, value: 2n });
const replace = async ({ scene }: Stage) => ({ ...follow(), nonce: await scene.count(clerk.address) });
/** Reverts behind the block that its calldata gives. */
const until: Ask = async ({ scene }) => {
  const number = Number(await scene.ask("eth_blockNumber", []));
  return { from: me, to: nobody, data: `0x${word(number + 3)}` as const };
};
const limited = { [nobody]: { code: "0x5f354311600857005b5f5ffd" } } as const;
/** Pays its caller by the price of gas. */
const payout = () => ({ from: me, to: nobody, data: "0x12345678" });
const paying = { [nobody]: { code: "0x5f5f5f5f3a61c35002335af100", balance: 10n ** 18n } } as const;

// what the node says

const method = "eth_simulateV1";
const honest: Way = ({ scene }) => layerOf(scene.url);
const lied =
  (tell: Lie["tell"], run: RunName | null = null, asked: Lie["method"] = method): Way =>
  ({ scene }) =>
    liar(scene.url, { method: asked, tell }, run, { count: 0 });
const failure = (code: number, message: string) => () => Errors.classify({ method, error: { code, message } });

const lost = () => new Errors.RpcError({ method, reason: new Errors.Transport({ detail: "reset" }) });
const badGateway = () => Errors.classify({ method, httpStatus: 400, bodyText: "" });
const malformed = failure(-32602, "invalid params");
const misnumbered = failure(-38020, "block numbers must be in order");

type Simulation = readonly [
  { readonly traceTransfers?: boolean; readonly blockStateCalls: ReadonlyArray<unknown> },
  unknown,
];
const isTraced = ([{ traceTransfers }]: Simulation) => traceTransfers === true;
const isLong = ([{ blockStateCalls }]: Simulation) => blockStateCalls.length > 1;
const isPinned = ([, block]: Simulation) => typeof block === "object";
const isPending = ([, block]: Simulation) => block === "pending";
const refusing = (is: (asked: Simulation) => boolean, why: () => Error, run: RunName | null = null): Way =>
  lied((result, params) => (is(params as Simulation) ? why() : result), run);

const noPending = refusing(isPending, failure(-32000, "pending state is not available"));
const noEntries = refusing(isLong, malformed);
/** Tells of no trace: how many there are hangs on how fast the node is. */
const untraced = lied(
  () => Errors.classify({ method: "debug_traceCall", error: { code: -32601, message: "method not found" } }),
  null,
  "debug_traceCall",
);
const noSimulation = lied(failure(-32601, "the method eth_simulateV1 does not exist/is not available"));
/** Takes blocks by their tags alone, and the head moves on. */
const movingTags = lied((_, params) => (isPinned(params as never) ? malformed() : misnumbered()), "next");
// why: by its number the next block would be mined
const movingPending = refusing(isPending, failure(-38021, "block timestamps must be in order"), "exact");

const rewriting =
  (rewrite: (text: string, stage: Stage) => string) =>
  (stage: Stage): Lie["tell"] =>
  (result) =>
    JSON.parse(rewrite(JSON.stringify(result), stage)) as unknown;
const word = (value: number): string => value.toString(16).padStart(64, "0");
/** Another chain that mines on demand: for whoever asks for its id, and whoever reads it. */
const elsewhere = rewriting((text, { scene: { chainId } }) => {
  const stranger = chainId === 1337 ? 31337 : 1337;
  return text
    .replaceAll(word(chainId), word(stranger))
    .replace(`"0x${chainId.toString(16)}"`, `"0x${stranger.toString(16)}"`);
});
/** What executes stands in the last byte of what the witness says of its environment. */
const amsterdam = rewriting((text, { scene: { chainId } }) =>
  text.replaceAll(new RegExp(`(?<=01${word(chainId)}[0-9a-f]{576})01`, "g"), "03"),
);
/** A transfer takes a unit of gas more. */
const dearer = rewriting((text) => text.replaceAll('"0x5208"', '"0x5209"'));
const invalid = `0x${"fe".repeat(20)}` as const;
/** Burns nearly all of its gas at once, by a call of invalid code: a loop takes longer than a loaded node may. */
const burning = {
  [nobody]: { code: `0x5f5f5f5f5f73${invalid.slice(2)}5af15000` },
  [invalid]: { code: "0xfe" },
} as const;
/** More than a node has for one request, as it is installed: nothing is left for the last. */
const burn = () =>
  Array.from({ length: 6 }, () => ({ from: plain.address, to: nobody, data: "0x00", gas: 12_400_000n }) as const);
/** A fork at the last block of `exact`, told in the same round. */
const forking: Way = ({ scene }) => {
  let activationTime = 0;
  return tampered(scene.url, ({ method: asked, purpose, params }) => {
    if (asked === "eth_config") return (config) => ({ ...(config as object), next: { activationTime } });
    if (purpose !== "exact" || activationTime > 0) return null;
    const [{ blockStateCalls }] = params as [{ blockStateCalls: ReadonlyArray<{ blockOverrides?: { time?: Hex } }> }];
    activationTime = Math.max(...blockStateCalls.map(({ blockOverrides }) => Number(blockOverrides?.time ?? 0)));
    return null;
  });
};
/** One more of the sender's is mined after the scan. */
const mining: Way = (stage) => {
  let scans = 0;
  const tell: Lie["tell"] = (count, [, block]) =>
    block === "latest" && scans++ > 0 ? `0x${(Number(count) + 1).toString(16)}` : count;
  return lied(tell, null, "eth_getTransactionCount")(stage);
};
const behind: Way = ({ scene }) => lagging(scene.url, 1n);
const uncapped =
  (way: Way): Way =>
  (stage) =>
    Layer.merge(way(stage), Chains.layerWith(stage.scene.chainId, { txGasCap: null }));

// how it is told

/** Scanned and proven. */
const checked =
  (ask: Ask, way = honest, options: Preflight.Options = {}): Tell =>
  async (stage) =>
    on.preflightOn(way(stage), (await ask(stage)) as on.AnyInput, { ...patient, ...options });
/** Scanned on an honest node, proven later. */
const posted =
  (ask: Ask, way = honest, options: Preflight.Options = {}): Tell =>
  async (stage) => {
    const scanned = on.scanOn(honest(stage), (await ask(stage)) as on.AnyInput, { ...patient, ...options });
    return on.proveOn(way(stage), await scanned);
  };
/** By two endpoints; on the latest block, for the pending one hangs on the clock. */
const agreed = (pair: (stage: Stage) => readonly [ReturnType<Way>, ReturnType<Way>]): Tell =>
  checked(spend, (stage) => pairOf(...pair(stage)), { block: "latest" });
/** Scanned twice on one connection, which turns to lies after the first time. */
const known =
  (ask: Ask, lie: (stage: Stage) => Lie["tell"], run: RunName | null, asked?: Lie["method"]): Tell =>
  async (stage) => {
    let isKnown = false;
    const way = lied((result, params) => (isKnown ? lie(stage)(result, params) : result), run, asked);
    const scan = Preflight.scan((await ask(stage)) as never, patient);
    const turned = Effect.tap(scan, () => Effect.sync(() => (isKnown = true)));
    return Effect.runPromise(Effect.provide(Effect.andThen(turned, scan), way(stage)));
  };
const sign = ({ transactions: [{ request }] }: BundleReport, change: object = {}): Promise<Hex> =>
  plain.signTransaction({ ...request, ...change } as TransactionSerializable);
/** What came of a report when `take` has sent something, and it is in a block. */
const settled =
  (ask: Ask, take: (stage: Stage, report: BundleReport) => Promise<Hex>): Tell =>
  async (stage) => {
    const { scene } = stage;
    const report = await on.preflightOn(honest(stage), (await ask(stage)) as on.AnyInput, patient);
    const hash = await take(stage, report);
    await scene.mine();
    const isDeaf = () =>
      scene.ask("eth_getTransactionReceipt", [hash]).then(
        () => false,
        () => true,
      );
    // geth answers with an error until it has taken note of what it mined
    while (await isDeaf());
    return Effect.runPromise(Effect.provide(Preflight.settle(report, [hash], { deadline: 60_000 }), honest(stage)));
  };

/** Twice on one connection, which shows no header the second time: what was sent ahead is of no use. */
const ahead =
  (ask: Ask): Tell =>
  async (stage) => {
    let isKnown = false;
    const way = lied((header) => (isKnown ? lost() : header), null, "eth_getBlockByNumber")(stage);
    const paced = Chains.layerWith(stage.scene.chainId, { blockTimeMs: 365 * 86_400_000 });
    const told = Preflight.preflight((await ask(stage)) as never, { ...patient, speculate: true });
    const turned = Effect.tap(told, () => Effect.sync(() => (isKnown = true)));
    return Effect.runPromise(Effect.provide(Effect.andThen(turned, told), Layer.merge(way, paced)));
  };

const rules: Readonly<Record<AskRule, Readonly<Record<string, Row>>>> = {
  proof: {
    "of a scan": [checked(token)],
    "of a posted report": [posted(token)],
    "of a bundle": [checked(pull)],
    "of a bundle behind preconfirmations": [checked(pull, honest, { pending: "preconfirmed" })],
  },
  speculated: { "without a header": [ahead(token), open] },
  noPending: { "in a scan": [checked(send, noPending)], "in a posted proof": [posted(send, noPending)] },
  replacement: { "in a scan": [checked(replace)], "in a posted proof": [posted(replace)] },
  endpointChanged: { "to another chain": [known(send, elsewhere, null, [method, "eth_chainId"]), open] },
  unsupportedPart: {
    "by its name": [checked(send, refusing(isTraced, failure(-32602, "unknown field `traceTransfers`")))],
    "by guessing": [checked(send, refusing(isTraced, malformed))],
    "a block by its hash": [checked(send, refusing(isPinned, malformed)), open],
    // geth has its next block in `pending`, and none in front of it
    "blocks in front": [checked(send, noEntries), ["anvil", "strict"]],
    "blocks in front, on the latest block": [checked(send, noEntries, { block: "latest" }), ["geth", "strict"]],
    "the lens": [checked(token, noEntries)],
    "the lens, in a posted proof": [posted(token, noEntries)],
  },
  // anvil has as much as it is asked for
  gasCapped: { "by six transactions": [checked(burn, untraced, { stateOverrides: burning }), ["geth"]] },
  missingAnswer: {
    "of a known endpoint": [known(send, () => lost, "ample"), open],
    "of fees": [known(send, () => lost, null, "eth_feeHistory"), open],
    "of simulations": [checked(send, noSimulation)],
    "of what is replaced": [checked(replace, honest, { block: "latest" })],
    "of a proof": [checked(send, lied(lost, "exact"))],
  },
  starved: {
    "in a run": [checked(halt, uncapped(honest))],
    "in a call": [checked(halt, uncapped(noSimulation)), open],
  },
  unpriced: { "where it reverts": [checked(revert)] },
  unfunded: { "by its value": [checked(() => ({ ...send(), value: 10n ** 24n }))] },
  doubtfulLimit: { "in a scan": [checked(swallow)], "in a proof": [checked(claim)] },
  headMoved: {
    "to a sealed block": [checked(send, movingPending)],
    "under what is in flight": [checked(follow, movingPending)],
    "by what was mined": [checked(spend, mining)],
    "in every attempt": [checked(send, lied(misnumbered, "next"), { block: "latest" })],
    "in every attempt, by tags": [checked(send, movingTags, { block: "latest" }), open],
  },
  misplaced: { "by a gateway": [checked(send, lied(badGateway, "next"))] },
  forkBetween: {
    // whatever the clock says, the fork comes before the clearance expires
    "the blocks of a bundle": [posted(twice, forking, { maxAge: 3_600_000 }), open],
    "what executes and the head": [checked(swallow, (stage) => lied(amsterdam(stage))(stage)), open],
  },
  incomparable: { "where nothing was said": [checked(send, lied(lost, "next"))] },
  closing: { "by the number": [checked(until, honest, { stateOverrides: limited }), open] },
  confirmHead: { "of a token": [checked(token, honest, { confirmHead: true }), open] },
  worldsDiffer: { "by the price": [checked(payout, honest, { stateOverrides: paying })] },
  // a node without tracers has refused one before that
  hiddenCall: { "in a batch": [checked(batch), open] },
  alreadySent: { "in flight": [checked(again), open] },
  revertTrace: { "of an inner call": [checked(wrap, honest, { traceReverts: true })] },
  quorumPinned: {
    "where the second is behind": [agreed((stage) => [honest(stage), behind(stage)]), open],
    "where the first is behind": [agreed((stage) => [behind(stage), honest(stage)]), open],
    "on the block of the first": [agreed((stage) => [honest(stage), lied(dearer(stage))(stage)]), ["geth"]],
  },
  tokenSlots: {
    "of a balance": [
      async (stage) => {
        const balances = [{ token: stage.t.token, owner: plain.address, amount: 7n }];
        const transfer = { ...token(stage), from: plain.address };
        return posted(() => transfer, honest, { tokenOverrides: { balances } })(stage);
      },
      open,
    ],
  },
  unsigned: {
    "of somebody else": [
      posted(({ scene, at, t }) => ({
        ...{ from: you, to: t.token, data: calldata(artifacts.Token, "approve", [t.aggregator, 1n]) },
        authorizationList: [
          { authority: people.fresh.address, address: at("delegate"), chainId: scene.chainId, nonce: 0 },
        ],
      })),
      open,
    ],
  },
  batch: {
    "where a call of it fails": [
      async (stage) => {
        const [first, second] = [
          { to: they, value: 1n },
          { to: stage.t.token, data: tooMuch },
        ];
        const batch = { from: you, calls: [first, second], delegate: executor };
        const code = artifacts.OpenExecutor.deployedBytecode;
        return checked(() => batch, honest, { stateOverrides: { [executor]: { code } } })(stage);
      },
      open,
    ],
  },
  settlement: {
    "as it was said": [settled(spend, async ({ scene }, report) => scene.broadcast(await sign(report))), open],
    "not as it was said": [
      settled(pass, async ({ scene, at }, report) => {
        await scene.send(owner, { to: at("gate"), data: calldata(artifacts.Gate, "close") });
        await scene.mine();
        return scene.broadcast(await sign(report));
      }),
      open,
    ],
    "where another was mined": [
      settled(spend, async ({ scene }, report) => {
        await scene.broadcast(await sign(report, { to: they }));
        return keccak256(await sign(report));
      }),
      open,
    ],
  },
};

/** Mines what the world left in flight, then what the sender counts by; and sends what fails, to stay there. */
const prepared: Case = {
  names: [],
  on: everywhere,
  tell: async (stage) => {
    const { scene } = stage;
    await scene.mine();
    await scene.send(plain, { to: you, value: 1n });
    await scene.mine();
    const { to, data } = revert(stage);
    await scene.send(clerk, { to, data });
    return [];
  },
};

export const rounds: ReadonlyArray<Case> = [
  prepared,
  ...Object.entries(rules).flatMap(([rule, rows]) =>
    Object.entries(rows).map(([name, [tell, nodes = everywhere]]): Case => ({
      names: [`${rule}: ${name}`],
      on: nodes,
      tell: async (stage) => {
        const told = await tell(stage);
        const isAsked = told.ledger.requests.some(({ because, tries }) => because === rule && tries > 0);
        if (!isAsked) throw new Error(`nothing was asked because of ${rule}`);
        return [told];
      },
    })),
  ),
];
