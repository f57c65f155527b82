/** Gas, fees, and what a transaction may look like. */
import type { Hex } from "viem";
import * as artifacts from "../../contracts/artifacts.js";
import { nested } from "../../harness/accuracy/cases.js";
import { calldata, nobody, other, owner, third } from "../../preflight/scene.js";
import { proven, provenWith, scanned, type Asks, type Case } from "../cases.js";
import { me, people, you, type Stage } from "../stage.js";
import { call } from "./movements.js";

const inner = ({ at }: Stage, gas: bigint) => ({
  target: at("gasReader"),
  callData: calldata(artifacts.GasReader, "need", [gas]),
});
const swallowing = (stage: Stage, gas: bigint, depth: number) => ({
  ...{ from: me, to: stage.t.aggregator },
  data: nested(stage.t.aggregator, inner(stage, gas), depth, true),
});
const reading = ({ at }: Stage, functionName: string, ...args: ReadonlyArray<unknown>) =>
  call(at("gasReader"), artifacts.GasReader, functionName, args);
const clear = ({ at }: Stage, count: bigint) => call(at("clearer"), artifacts.StorageClearer, "clear", [count]);

const keys = Array.from({ length: 20 }, (_, key): Hex => `0x${key.toString(16).padStart(64, "0")}`);

const gas = {
  "of a swallowed inner call behind many frames": (stage: Stage) => swallowing(stage, 400_007n, 40),
  "to spare, or another outcome": (stage: Stage) => reading(stage, "maybe", 3_000_001n),
  "that a contract insists on": (stage: Stage) => reading(stage, "need", 500_001n),
  "that the outcome follows": (stage: Stage) => reading(stage, "record"),
  "that is burnt": (stage: Stage) => reading(stage, "burn", 300_000n),
  "that is refunded in the end": (stage: Stage) => clear(stage, 25n),
  "of calldata's floor": ({ at }: Stage) => ({ from: me, to: at("anything"), data: `0x${"ff".repeat(9_000)}` }),
  "of an access list": ({ at }: Stage) => ({
    ...{ from: me, to: nobody, value: 1n },
    accessList: [{ address: at("anything"), storageKeys: keys }],
  }),
  "that the caller fixed": (stage: Stage) => ({ ...reading(stage, "burn", 300_000n), gas: 500_000n }),
  "that the caller fixed too low": (stage: Stage) => ({ ...reading(stage, "burn", 300_000n), gas: 100_000n }),
  "that the caller fixed, with more another outcome": (stage: Stage) => ({
    ...swallowing(stage, 400_011n, 2),
    gas: 200_000n,
  }),
  "of every transaction of a bundle": (stage: Stage) => [
    call(stage.at("clearer"), artifacts.StorageClearer, "fill", [5n]),
    swallowing(stage, 400_013n, 30),
    { ...clear(stage, 5n), from: other.address },
  ],
} satisfies Asks;

const transfer = { from: third.address, to: nobody, value: 1n };
const noBytes: Hex = `0x${"00".repeat(32)}`;
const hashes = [`0x01${"ab".repeat(31)}`, `0x01${"cd".repeat(31)}`];

const forms: Asks = {
  "a legacy price": () => ({ ...transfer, gasPrice: 20_000_000_000n }),
  "a legacy price and an access list": ({ at }) => ({
    ...call(at("gate"), artifacts.Gate, "pass"),
    ...{ gasPrice: 30_000_000_000n, accessList: [{ address: at("gate"), storageKeys: [`0x${"00".repeat(32)}`] }] },
  }),
  "a legacy price and an empty access list": () => ({ ...transfer, gasPrice: 20_000_000_000n, accessList: [] }),
  "a fee cap of the caller's": () => ({ ...transfer, maxFeePerGas: 50_000_000_000n }),
  "a tip of the caller's": () => ({ ...transfer, maxPriorityFeePerGas: 3_000_000_000n }),
  "all of it the caller's": async ({ scene }) => ({
    ...{ ...transfer, chainId: scene.chainId, gas: 123_456n, nonce: 0 },
    ...{ maxFeePerGas: 77_000_000_001n, maxPriorityFeePerGas: 1_000_000_007n },
  }),
  blobs: () => ({ ...transfer, blobVersionedHashes: hashes, maxFeePerBlobGas: 7_000n }),
  "blobs that cost more than there is": () => ({
    ...{ ...transfer, from: people.scant.address },
    ...{ blobVersionedHashes: hashes, maxFeePerBlobGas: 10n ** 12n },
  }),
};

const pass = ({ at }: Stage) => ({ from: you, to: at("gate"), abi: artifacts.Gate.abi, functionName: "pass" });
const through = ({ at }: Stage) => ({ from: you, to: at("door"), abi: artifacts.Gate.abi, functionName: "pass" });

const options: Parameters<typeof provenWith>[1] = {
  "a short horizon": () => [transfer, { feeHorizon: 12_000 }],
  "a long horizon and a fast tip": () => [transfer, { feeHorizon: 120_000, feeLevel: "fast" }],
  "a slow tip": () => [transfer, { feeLevel: "slow" }],
  "the latest block": (stage) => [pass(stage), { block: "latest" }],
  "the latest block, without what is in flight": (stage) => [through(stage), { block: "latest" }],
  "a block of long ago": () => [transfer, { block: 0n }],
  "a block by its number": () => [transfer, { block: 3n }],
  "a balance to pretend": () => [
    { from: people.fresh.address, to: nobody, value: 10n ** 18n },
    { stateOverrides: { [people.fresh.address]: { balance: 10n ** 19n } } },
  ],
  "code to pretend": () => [
    { from: owner.address, to: people.fresh.address, data: calldata(artifacts.Gate, "open") },
    { stateOverrides: { [people.fresh.address]: { code: artifacts.Gate.deployedBytecode } } },
  ],
  "storage to pretend": ({ at }) => [
    { ...call(at("gate"), artifacts.Gate, "pass") },
    { stateOverrides: { [at("gate")]: { stateDiff: { [noBytes]: noBytes } } } },
  ],
  "a block to pretend": (stage) => [
    pass(stage),
    { blockOverrides: { feeRecipient: you, gasLimit: 20_000_000n, baseFeePerGas: 5_000_000_000n } },
  ],
  "a tolerance": ({ t }) => [
    call(t.rebasing, artifacts.RebasingToken, "transfer", [you, 1000n]),
    { tolerance: 0.5, maxAge: 1_000 },
  ],
};

export const costs: ReadonlyArray<Case> = [
  ...proven("gas", gas),
  ...scanned("gas", {
    "that the outcome follows": gas["that the outcome follows"],
    "that is refunded in the end": gas["that is refunded in the end"],
  }),
  ...proven("form", forms),
  ...provenWith("option", options),
  ...proven("in flight", {
    "what makes it possible": through,
    "one before it": () => ({ from: people.busy.address, to: other.address, value: 2n }),
    "one of the same nonce": () => ({ from: people.busy.address, to: other.address, value: 2n, nonce: 0 }),
    "one of the same nonce, paid better": () => ({
      ...{ from: people.busy.address, to: other.address, value: 2n, nonce: 0 },
      ...{ maxFeePerGas: 60_000_000_000n, maxPriorityFeePerGas: 5_000_000_000n },
    }),
    "the opening that it needs, replaced": ({ at }) => [
      { from: people.opener.address, to: nobody, value: 1n, nonce: 0 },
      { from: other.address, to: at("door"), data: calldata(artifacts.Gate, "pass") },
    ],
    "one behind a gap": () => ({ from: people.gapped.address, to: other.address, value: 2n }),
  }),
  ...provenWith("in flight", {
    "one before it, on the latest block": () => [
      { from: people.busy.address, to: other.address, value: 2n },
      { block: "latest" },
    ],
  }),
];
