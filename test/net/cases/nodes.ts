/** Nodes that know little, refuse, fail or lie: told by method and by what stands in the parameters, never by turn. */
import * as Errors from "../../../src/Errors.js";
import * as artifacts from "../../contracts/artifacts.js";
import { faults, sevenMethods, startProxy, type Fault, type ProxyOptions } from "../../harness/proxy.js";
import { nobody, other, owner, preflightOn, tampered, third } from "../../preflight/scene.js";
import { patient, preflight, scan, type Case, type Input } from "../cases.js";
import { me, people, you, type Stage } from "../stage.js";
import { call } from "./movements.js";

type Faults = Readonly<Record<string, Fault>>;

const missing: Fault = {
  kind: "error",
  error: { code: -32601, message: "the method does not exist/is not available" },
};
const withoutSimulation: Faults = { eth_simulateV1: missing };
const noPending = { code: -32000, message: "pending state is not available" };
const quantity = (value: bigint): string => `0x${value.toString(16)}`;
const map = (change: (result: unknown, params: ReadonlyArray<unknown>) => unknown): Fault => ({
  kind: "map",
  map: (result, { params }) => change(result, params),
});

const through =
  (run: typeof preflight, ask: (stage: Stage) => Input, failing: Faults, options: Partial<ProxyOptions> = {}) =>
  async (stage: Stage) => {
    const proxy = await startProxy({ target: stage.scene.url, ...options });
    try {
      for (const [method, fault] of Object.entries(failing)) proxy.fail(method, fault);
      return [await run(proxy.url, ask(stage))];
    } finally {
      await proxy.stop();
    }
  };

const transfer = () => ({ from: owner.address, to: other.address, value: 1n });
const tokens = ({ t }: Stage) => call(t.token, artifacts.Token, "transfer", [you, 5n]);
const tooMany = ({ t }: Stage) => ({
  ...{ from: me, to: t.token, abi: artifacts.Token.abi, functionName: "transfer" },
  args: [you, 10n ** 30n],
});
const two = (stage: Stage) => [transfer(), tokens(stage)];
const approvedAndPulled = ({ t }: Stage) => [
  call(t.token, artifacts.Token, "approve", [you, 5n]),
  { ...call(t.token, artifacts.Token, "transferFrom", [me, you, 5n]), from: you },
];

/** One fault at a time, with a token's transfer. */
const single: Readonly<Record<string, Faults>> = {
  "without eth_estimateGas": { eth_estimateGas: missing },
  "without eth_feeHistory": { eth_feeHistory: missing },
  "without fee history and receipts": { eth_feeHistory: missing, eth_getBlockReceipts: faults.forbidden },
  "without eth_getBlockByNumber": { eth_getBlockByNumber: missing },
  "without eth_chainId": { eth_chainId: missing },
  "without eth_getCode": { eth_getCode: missing },
  "without eth_getTransactionCount": { eth_getTransactionCount: missing },
  "that limits the rate of simulations": { eth_simulateV1: faults.rateLimited },
  "that fails at simulations": { eth_simulateV1: faults.html500 },
  "that answers simulations with null": { eth_simulateV1: faults.nullResult },
  "that answers simulations with nonsense": { eth_simulateV1: faults.wrongType },
  "that answers everything with nonsense": { "*": faults.wrongType },
  "that drops every connection": { "*": faults.drop },
  "that forbids everything": { "*": faults.forbidden },
  "that says it is another chain": { eth_chainId: { kind: "result", result: "0x1" } },
  "that sees no code": { eth_getCode: { kind: "result", result: "0x" } },
  "that sees code at the sender": {
    eth_getCode: map((code, [account]) => (String(account).toLowerCase() === me ? "0x6001" : code)),
  },
  "that estimates nothing": { eth_estimateGas: { kind: "result", result: "0x0" } },
  "that estimates beyond all": { eth_estimateGas: { kind: "result", result: quantity(2n ** 64n) } },
  "that names a tip beyond all": {
    eth_feeHistory: map((history) => ({
      ...(history as object),
      reward: (history as { readonly reward: ReadonlyArray<unknown> }).reward.map(() =>
        Array.from({ length: 3 }, () => "0xffffffffffffffff"),
      ),
    })),
  },
  "that names a base fee beyond all": {
    eth_getBlockByNumber: map((block) => ({ ...(block as object), baseFeePerGas: quantity(2n ** 200n) })),
  },
  "that counts nothing as pending": {
    eth_getTransactionCount: map((count, [, block]) => (block === "pending" ? "0x0" : count)),
  },
  "that counts more as pending than it simulates": {
    eth_getTransactionCount: map((count, [, block]) =>
      block === "pending" ? quantity(BigInt(String(count)) + 3n) : count,
    ),
  },
  "that counts beyond all": { eth_getTransactionCount: { kind: "result", result: quantity(2n ** 64n - 1n) } },
};

const more: ReadonlyArray<readonly [name: string, tell: Case["tell"]]> = [
  ["with seven methods and no batches", through(preflight, tokens, {}, { only: sevenMethods, refuseBatches: true })],
  ["without simulation, a transfer", through(preflight, transfer, withoutSimulation)],
  ["without simulation, a token's transfer", through(preflight, tokens, withoutSimulation)],
  ["without simulation, a revert", through(preflight, tooMany, withoutSimulation)],
  ["without simulation, two transactions", through(preflight, two, withoutSimulation)],
  ["without simulation, one that needs another", through(preflight, approvedAndPulled, withoutSimulation)],
  [
    "without simulation, a deployment",
    through(preflight, () => ({ from: me, data: artifacts.Owned.bytecode }), withoutSimulation),
  ],
  [
    "without simulation, a delegated sender",
    through(preflight, () => ({ from: people.delegated.address, to: you, value: 1n }), withoutSimulation),
  ],
  [
    "without simulation, a sender who cannot pay",
    through(preflight, () => ({ from: people.scant.address, to: you, value: 10n ** 18n }), withoutSimulation),
  ],
  ["without simulation, scanned", through(scan, tokens, withoutSimulation)],
  [
    "without simulation and without calls",
    through(preflight, tokens, { ...withoutSimulation, eth_call: faults.forbidden, eth_estimateGas: missing }),
  ],
  [
    "that sees code where there is none",
    through(preflight, () => ({ from: third.address, to: nobody, data: "0x12345678", value: 3n }), {
      eth_getCode: { kind: "result", result: "0x6080604052" },
    }),
  ],
  [
    "that cannot simulate on any state",
    through(preflight, transfer, {
      eth_simulateV1: { kind: "error", error: noPending },
    }),
  ],
];

/** Simulates on the latest state, and on the pending one not at all. */
const latestOnly: Case["tell"] = async ({ scene }) => {
  const layer = tampered(scene.url, ({ method, params }) =>
    method === "eth_simulateV1" && params[1] === "pending"
      ? (Errors.classify({ method, error: noPending }) as Errors.RpcError)
      : null,
  );
  return [await preflightOn(layer, transfer(), patient)];
};

export const nodes: ReadonlyArray<Case> = [
  ...Object.entries(single).map(([name, failing]) => ({
    names: [`node ${name}`],
    tell: through(preflight, tokens, failing),
  })),
  { names: ["node that can simulate on the latest state only"], tell: latestOnly },
  ...more.map(([name, tell]) => ({ names: [`node ${name}`], tell })),
];
