/** Pairs of honest endpoints: one node behind different heights, and two clients on one chain. */
import * as Layer from "effect/Layer";
import { padHex, type Hex } from "viem";
import { messageOf, type Report } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import * as artifacts from "../contracts/artifacts.js";
import { calldata, layerOf, nobody, other, owner, preflightOn, type AnyInput, type Scene } from "../preflight/scene.js";
import { rawRequest, startAnvil } from "./anvil.js";
import { lagging } from "./lies.js";

export const pairOf = (
  first: Layer.Layer<Rpc.Rpc>,
  second: Layer.Layer<Rpc.Rpc>,
  options?: Rpc.QuorumOptions,
): Layer.Layer<Rpc.Rpc> => quorumOf([first, second], options);

/** Endpoints that nobody runs two of. A busy machine is given time to answer. */
export const quorumOf = (
  layers: ReadonlyArray<Layer.Layer<Rpc.Rpc>>,
  options: Rpc.QuorumOptions = {},
): Layer.Layer<Rpc.Rpc> =>
  Layer.orDie(
    Rpc.quorum(
      layers.map((layer, index) => ({ layer, provider: `provider ${index + 1}` })),
      { waitMs: 15_000, ...options },
    ),
  );

/** Passes on what it is given to the address in its calldata. */
export const passOn = { abi: [], bytecode: "0x600c80600b6000396000f36000808080346000355af100" as Hex };

/** Contracts to call, and blocks to lag behind by. */
export const furnished = async (
  scene: Scene,
): Promise<{ readonly token: Hex; readonly vesting: Hex; readonly passing: Hex }> => {
  const token = await scene.deploy(artifacts.Token, ["Token", "TKN", 18]);
  const vesting = await scene.deploy(artifacts.Vesting, [token, 10n]);
  const passing = await scene.deploy(passOn);
  await scene.send(owner, { to: token, data: calldata(artifacts.Token, "mint", [owner.address, 10n ** 24n]) });
  for (let block = 0; block < 6; block++) await scene.mine();
  return { token, vesting, passing };
};

const from = owner.address;

/** What is asked, in turn. */
const inputsOf = ({ token, vesting, passing }: Awaited<ReturnType<typeof furnished>>, index: number): AnyInput => {
  const give = { from, to: token, data: calldata(artifacts.Token, "transfer", [other.address, BigInt(index) + 1n]) };
  const inputs: ReadonlyArray<AnyInput> = [
    give,
    { from, to: nobody, value: BigInt(index) },
    { from, to: vesting, data: calldata(artifacts.Vesting, "release") },
    [give, { from, to: other.address, value: 3n }],
    { from, to: passing, value: BigInt(index) + 1n, data: padHex(nobody) },
    { from, data: "0x6001600c60003960016000f300" },
    { from, to: token, data: calldata(artifacts.Token, "transferFrom", [other.address, from, 1n]) },
  ];
  return inputs[index % inputs.length] as AnyInput;
};

/** The heights of a pair, in turn: who is behind, by how many blocks, and whether it serves newer ones by hash. */
const heights = [
  [0n, 0n, true],
  [0n, 1n, true],
  [1n, 0n, true],
  [0n, 1n, false],
  [0n, 2n, true],
  [1n, 1n, true],
  [0n, 3n, false],
] as const;

export interface Outcome {
  readonly report: Report;
  readonly pair: string;
}

/** One pair on one node. */
export const atHeights = async (
  scene: Scene,
  at: Awaited<ReturnType<typeof furnished>>,
  index: number,
): Promise<Outcome> => {
  const [one, two, isBlind] = heights[index % heights.length] ?? [0n, 0n, true];
  const seen = (behind: bigint) => (behind === 0n ? layerOf(scene.url) : lagging(scene.url, behind, isBlind));
  const input = inputsOf(at, Math.floor(index / heights.length) + index);
  return { report: await preflightOn(pairOf(seen(one), seen(two)), input), pair: `${one} and ${two} blocks behind` };
};

/** An anvil on the chain of another node; `follow` takes it to the head. */
export const forkOf = async (url: string, chainId: number) => {
  const node = await startAnvil({ chainId, noMining: true, args: ["--fork-url", url, "--accounts", "0"] });
  return {
    ...node,
    follow: () => rawRequest(node.url, "anvil_reset", [{ forking: { jsonRpcUrl: url } }]),
  };
};

/** One pair of two clients. */
export const acrossClients = async (
  scene: Scene,
  fork: string,
  at: Awaited<ReturnType<typeof furnished>>,
  index: number,
): Promise<Outcome> => {
  const [geth, anvil] = [layerOf(scene.url), layerOf(fork)];
  const isFirst = index % 2 === 0;
  const report = await preflightOn(isFirst ? pairOf(geth, anvil) : pairOf(anvil, geth), inputsOf(at, index));
  return { report, pair: isFirst ? "geth, then anvil" : "anvil, then geth" };
};

/** What a report tells its reader: the verdict, every sentence with its numbers, and what is to be signed. */
export const readingOf = (report: Report) => ({
  verdict: report.verdict,
  because: report.because,
  findings: report.findings.map((finding) => [finding.code, finding.severity, messageOf(finding)]),
  signed: report.transactions.map(({ request, gas }) => ({ request, limit: gas.limit, estimate: gas.estimate })),
  moved: [report.balanceChanges, report.transfers, report.approvals],
  freshness: report.observed.freshness,
});

/** Whether honest endpoints were taken for liars. */
export const isFalseAlarm = ({ findings }: Report): boolean =>
  findings.some(({ code }) => code === "WitnessesDisagree");

/** Whether a report is no permission to sign what nobody else confirmed. */
export const isHeld = ({ verdict, findings }: Report): boolean =>
  verdict === "blocked" ||
  verdict === "unknown" ||
  (verdict === "caution" && findings.some(({ code }) => code === "DependsOnPending"));
