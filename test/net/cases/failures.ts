/** What stands against a transaction: every kind of failure, and bundles that stand or fall together. */
import { encodeDeployData, getContractAddress, parseAbi, type Hex } from "viem";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata, nobody, other, owner, third } from "../../preflight/scene.js";
import { onAnvil, proven, provenWith, scanned, type Asks, type Case } from "../cases.js";
import { me, people, you, type Stage } from "../stage.js";
import { call } from "./movements.js";

/** Nobody's key, nobody's money. */
const poor = "0x00000000000000000000000000000000dead0002";

export const nextNonce = async ({ scene }: Stage, address: string): Promise<number> =>
  Number(await scene.ask("eth_getTransactionCount", [address, "latest"]));

const fails =
  (functionName: string, ...args: ReadonlyArray<unknown>) =>
  ({ at }: Stage) => ({ from: me, to: at("reverter"), abi: artifacts.Reverter.abi, functionName, args });

const tooMuch = calldata(artifacts.Token, "transfer", [you, 10n ** 30n]);

/** What a contract says is the same on every node: how its bytes are read is asked on one. */
const words: Asks = {
  "a require without a reason": fails("requireFalse"),
  "bytes that nobody explains": fails("raw", "0xdeadbeef01"),
  "a flood of zeros": fails("flood", 5_000n),
  "an empty custom error": fails("empty"),
  "a custom error with everything in it": fails("many"),
  "a bundler's error": fails("failedOp"),
  "the generic panic": fails("panicGeneric"),
  "an assertion": fails("panicAssert"),
  "a division by zero": fails("panicDivision", 1n),
  "an enum out of range": fails("panicEnum", 3n),
  "an empty array": fails("panicPop"),
  "an index out of range": fails("panicIndex", 1n),
  "too much memory": fails("panicMemory"),
};

const reverts: Asks = {
  "a reason": fails("reason", "not today"),
  "nothing at all": fails("nothing"),
  "a custom error": fails("plain", 7n),
  "an error in an error in an error": fails("nested"),
  "an overflow": fails("panicArithmetic", 0n),
  "passed on from a token": (stage: Stage) => fails("bubble", stage.t.token, tooMuch)(stage),
  "wrapped around a token's": (stage: Stage) => fails("wrap", stage.t.token, tooMuch)(stage),
  "swallowed by the caller": (stage: Stage) => fails("swallow", stage.t.token, tooMuch)(stage),
  "ether that is not taken": ({ at }: Stage) => ({ from: me, to: at("reverter"), value: 1n }),
  "a token that is not there": ({ t }: Stage) => ({
    ...{ from: me, to: t.token, abi: artifacts.Token.abi, functionName: "transfer" },
    args: [you, 10n ** 30n],
  }),
  "an allowance that is not there": ({ t }: Stage) => ({
    ...{ from: me, to: t.token, abi: artifacts.Token.abi, functionName: "transferFrom" },
    args: [you, me, 1n],
  }),
  "a constructor": () => ({ from: me, abi: artifacts.Box.abi, bytecode: artifacts.Box.bytecode, args: [0n] }),
};

/** Two functions of one selector: neither explains the bytes better than the other. */
const ambiguous = parseAbi(["error burn(uint256)", "error collate_propagate_storage(bytes16)"]);

const halts: Asks = {
  "an invalid opcode": fails("invalid"),
  "an endless loop": fails("loop"),
  "a recursion without end": fails("recurse"),
  "an empty stack below": fails("stackUnderflow"),
  "a write in a static call": fails("writeInStatic"),
  "a limit that only covers the start": ({ t }) => ({
    ...call(t.token, artifacts.Token, "transfer", [nobody, 1n]),
    gas: 24_000n,
  }),
  "a limit below the intrinsic cost": ({ t }) => ({
    ...call(t.token, artifacts.Token, "transfer", [nobody, 1n]),
    gas: 21_000n,
  }),
};

const transfer = { from: owner.address, to: other.address, value: 1n };

const refusals = {
  "calldata to nobody": () => ({ from: owner.address, to: nobody, data: "0x12345678" }),
  "calldata to oneself": () => ({ from: owner.address, to: owner.address, data: "0x12345678" }),
  "a contract as sender": ({ t }: Stage) => ({ from: t.aggregator, to: other.address }),
  "a value beyond the balance": () => ({ ...transfer, value: 10n ** 24n }),
  "gas beyond the balance": () => ({ from: poor, to: other.address }),
  "a price beyond the balance": () => ({
    ...{ ...transfer, gas: 21_000n },
    ...{ maxFeePerGas: 10n ** 18n, maxPriorityFeePerGas: 1n },
  }),
  "a balance of dust": () => ({ from: people.dusty.address, to: nobody, value: 1n }),
  "a used nonce": () => ({ ...transfer, nonce: 0 }),
  "a nonce behind a gap": () => ({ ...transfer, nonce: 1_000_000 }),
  "a nonce twice in one bundle": async (stage: Stage) => {
    const nonce = await nextNonce(stage, owner.address);
    return [
      { ...transfer, nonce },
      { ...transfer, nonce },
    ];
  },
  "a fee cap below the base fee": () => ({ ...transfer, maxFeePerGas: 7n, maxPriorityFeePerGas: 0n }),
  "a gas price below the base fee": () => ({ ...transfer, gasPrice: 7n }),
  "another chain": () => ({ ...transfer, chainId: 5 }),
  "init code that is too large": () => ({ from: owner.address, data: `0x${"5b".repeat(49_153)}` }),
  "a limit beyond the block": () => ({ ...transfer, gas: 100_000_000n }),
  "a limit beyond the cap of one transaction": () => ({ ...transfer, gas: 17_000_000n }),
} satisfies Asks;

const approve = ({ t }: Stage, spender: string, amount: bigint) => ({
  ...{ from: owner.address, to: t.token, abi: artifacts.Token.abi, functionName: "approve" },
  args: [spender, amount],
});
const pull = ({ t }: Stage, from: string, amount: bigint) => ({
  ...{ from, to: t.token, abi: artifacts.Token.abi, functionName: "transferFrom" },
  args: [owner.address, third.address, amount],
});
const creates = async (stage: Stage, later: number): Promise<Hex> =>
  getContractAddress({ from: owner.address, nonce: BigInt((await nextNonce(stage, owner.address)) + later) });
const box = { from: owner.address, abi: artifacts.Box.abi, bytecode: artifacts.Box.bytecode, args: [7n] };

const bundles = {
  "one approves, another pulls": (stage: Stage) => [
    approve(stage, other.address, 500n),
    pull(stage, other.address, 500n),
  ],
  "one approves, another pulls too much": (stage: Stage) => [
    approve(stage, other.address, 500n),
    pull(stage, other.address, 501n),
  ],
  "closed, then passed": ({ at }: Stage) => [
    call(at("gate"), artifacts.Gate, "close"),
    { from: other.address, to: at("gate"), abi: artifacts.Gate.abi, functionName: "pass" },
  ],
  "closed and opened, then passed": ({ at }: Stage) => [
    call(at("gate"), artifacts.Gate, "close"),
    call(at("gate"), artifacts.Gate, "open"),
    { from: other.address, to: at("gate"), abi: artifacts.Gate.abi, functionName: "pass" },
  ],
  "the second sender cannot pay": (stage: Stage) => [approve(stage, poor, 10n), pull(stage, poor, 10n)],
  "the second sender is funded by the first": (stage: Stage) => [
    approve(stage, poor, 10n),
    { from: owner.address, to: poor, value: 10n ** 17n },
    pull(stage, poor, 10n),
  ],
  "spent by the first, missing for the second": () => [
    { from: people.plain.address, to: other.address, value: 6n * 10n ** 17n },
    { from: people.plain.address, to: other.address, value: 6n * 10n ** 17n },
  ],
  "a deployment, then a call to it": async (stage: Stage) => [
    box,
    { from: owner.address, to: await creates(stage, 0), abi: artifacts.Box.abi, functionName: "set", args: [8n] },
  ],
  "a call to what a later transaction deploys": async (stage: Stage) => [
    { from: owner.address, to: await creates(stage, 1), data: calldata(artifacts.Box, "set", [3n]) },
    box,
  ],
  "ether to what a later transaction deploys": async (stage: Stage) => [
    { from: owner.address, to: nobody, value: 1n },
    { from: owner.address, to: await creates(stage, 2), data: "0xd0e30db0", value: 5n },
    { from: owner.address, data: artifacts.WETH9.bytecode },
  ],
} satisfies Asks;

const deployments: Asks = {
  "through its ABI, with value": () => ({ ...box, value: 3n }),
  "as bytes": () => ({
    from: owner.address,
    data: encodeDeployData({ abi: artifacts.Token.abi, bytecode: artifacts.Token.bytecode, args: ["A", "A", 1] }),
  }),
  "that makes its sender the owner": () => ({ from: owner.address, data: artifacts.Owned.bytecode }),
  "by a factory": ({ at }) => ({ ...call(at("deployer"), artifacts.Deployer, "deploy", [5n]), value: 2n }),
  "by a factory, with a salt": ({ at }) =>
    call(at("deployer"), artifacts.Deployer, "deploy2", [5n, `0x${"22".repeat(32)}`]),
};

export const failures: ReadonlyArray<Case> = [
  ...proven("revert with", reverts),
  ...onAnvil(proven("revert with", words)),
  ...provenWith("revert with", {
    "what two errors explain": (stage) => [
      fails("raw", `0x42966c68${"11".repeat(16)}${"00".repeat(16)}`)(stage),
      { abis: [ambiguous] },
    ],
    "what the ABI of the address explains": ({ t }) => [
      { from: me, to: t.token, data: tooMuch },
      { abis: [{ address: t.token, abi: artifacts.Token.abi }] },
    ],
    "what only the built-in table explains": ({ t }) => [{ from: me, to: t.token, data: tooMuch }, {}],
  }),
  ...proven("halt by", halts),
  ...proven("refused for", refusals),
  ...scanned("refused for", { "calldata to nobody": refusals["calldata to nobody"] }),
  ...proven("bundle", bundles),
  ...scanned("bundle", { "one approves, another pulls": bundles["one approves, another pulls"] }),
  ...proven("deployment", deployments),
];
