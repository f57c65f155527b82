import * as Effect from "effect/Effect";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { accounts, mineAnvil, startAnvil } from "../harness/anvil.js";
import { findGethOrWarn, findOldGethOrWarn, startGethDev } from "../harness/geth.js";

interface Node {
  readonly url: string;
  readonly stop: () => Promise<void>;
  readonly mine: () => Promise<unknown>;
}

const geth = findGethOrWarn("the methods on a geth development chain");
const oldGeth = findOldGethOrWarn("the methods on an older geth");
const nodes: ReadonlyArray<readonly [name: string, chainId: number, start: () => Promise<Node>]> = [
  [
    "anvil without mining",
    31_337,
    async () => {
      const node = await startAnvil({ noMining: true });
      return { ...node, mine: () => mineAnvil(node.url) };
    },
  ],
  ...(geth === null ? [] : [["geth", 1_337, () => startGethDev(geth)] as const]),
  ...(oldGeth === null ? [] : [["an older geth", 1_337, () => startGethDev(oldGeth)] as const]),
];

const [alice, bob] = [accounts[0].address, accounts[1].address];
const signer = privateKeyToAccount(accounts[0].privateKey);
const transferAddress = `0x${"e".repeat(40)}`;

for (const [name, chainId, start] of nodes) {
  describe(`the methods of Eth on ${name}`, () => {
    let node: Node;
    const run = <A, E>(program: Effect.Effect<A, E, Rpc.Rpc>) =>
      Effect.runPromise(program.pipe(Effect.provide(Rpc.layerHttp(node.url))));
    beforeAll(async () => {
      node = await start();
    }, 30_000);
    afterAll(() => node.stop());

    it("see a transaction in flight on `pending`, and its receipt once it is mined", async () => {
      expect(await run(Eth.chainId)).toBe(chainId);
      const before = await run(Eth.getBalance({ address: bob, block: "pending" }));
      const fees = { maxFeePerGas: 20n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
      const serializedTransaction = await signer.signTransaction({
        type: "eip1559",
        chainId,
        nonce: 0,
        to: bob,
        value: 7n,
        gas: 21_000n,
        ...fees,
      });
      const hash = await run(Eth.sendRawTransaction({ serializedTransaction }));
      expect(await run(Eth.getTransactionCount({ address: alice, block: "latest" }))).toBe(0n);
      expect(await run(Eth.getTransactionCount({ address: alice, block: "pending" }))).toBe(1n);
      // geth keeps a pending block for up to two seconds
      await expect
        .poll(() => run(Eth.getBalance({ address: bob, block: "pending" })), { timeout: 5_000 })
        .toBe(before + 7n);
      expect(await run(Eth.getBalance({ address: bob, block: "latest" }))).toBe(before);
      await node.mine();
      const receipts = await run(Eth.getBlockReceipts({ block: "latest" }));
      expect(receipts).toMatchObject([{ transactionHash: hash, status: "success", gasUsed: 21_000n, type: "0x2" }]);
      expect(await run(Eth.getTransactionCount({ address: alice, block: "latest" }))).toBe(1n);
    });

    it("simulate with traced transfers, on `latest` and on `pending`", async () => {
      for (const block of ["latest", "pending"] as const) {
        const [simulated] = await run(
          Eth.simulateV1({
            blocks: [{ calls: [{ from: alice, to: bob, value: 5n, gas: 30_000n }] }],
            traceTransfers: true,
            block,
          }),
        );
        expect(simulated?.calls).toMatchObject([{ status: "success", gasUsed: 21_000n, error: null, failure: null }]);
        expect(simulated?.calls[0]?.logs.map(({ address }) => address.toLowerCase())).toEqual([transferAddress]);
      }
    });

    it("fail with revert data in a call, an estimate and a simulation, and name the reason", async () => {
      // PUSH4 Panic(uint256), and 17 as its word
      const code = "0x634e487b7160e01b600052601160045260246000fd";
      const data = `0x4e487b71${"11".padStart(64, "0")}`;
      const stateOverrides = { [bob]: { code } } as const;
      const call = { from: alice, to: bob, gas: 100_000n } as const;
      const revert = { address: bob, layers: [{ layer: { _tag: "Panic", code: 17n } }] };
      const asked = { ...call, block: "latest", stateOverrides } as const;
      for (const ask of [Eth.call(asked), Eth.estimateGas(asked)] as ReadonlyArray<
        Effect.Effect<unknown, Eth.Failure, Rpc.Rpc>
      >) {
        const failure = await run(Effect.flip(ask));
        expect(failure).toMatchObject({ _tag: "ExecutionReverted", to: bob, data, revert });
        expect(failure.message).toContain("Panic(0x11)");
      }
      const [simulated] = await run(Eth.simulateV1({ blocks: [{ calls: [call], stateOverrides }], block: "latest" }));
      expect(simulated?.calls[0]).toMatchObject({ status: "failure", failure: { _tag: "ExecutionReverted", data } });
    });

    it("simulate every block, and give its transactions in full", async () => {
      const { number } = await run(Eth.getBlock({ block: "latest" }));
      const blocks = [
        { calls: [{ from: alice, to: bob, input: "0x12", accessList: [{ address: bob, storageKeys: [] }] }] },
        { blockOverrides: { number: number + 4n }, calls: [{ from: alice, to: bob }] },
      ] as const;
      const all = await run(Eth.simulateV1({ blocks, returnFullTransactions: true, fillers: true, block: "latest" }));
      // why: anvil fills no gaps, and simulates the first block at a number of its own
      const expected =
        name !== "anvil without mining"
          ? [
              [1n, 0],
              [2n, null],
              [3n, null],
              [4n, 1],
            ]
          : [
              [expect.any(BigInt), 0],
              [4n, 1],
            ];
      expect(all.map((block) => [block.number - number, block.entry])).toEqual(expected);
      expect(all[0]?.transactions?.[0]).toMatchObject({
        ...{ from: alice.toLowerCase(), input: "0x12", accessList: [{ address: bob.toLowerCase(), storageKeys: [] }] },
        ...{ r: expect.any(BigInt), s: expect.any(BigInt), v: expect.any(BigInt), yParity: expect.any(BigInt) },
      });
    });

    it("decode the remaining answers", async () => {
      const latest = await run(Eth.getBlock({ block: "latest" }));
      expect(latest.hash).not.toBe(null);
      expect(await run(Eth.getBlock({ block: latest.hash ?? "latest" }))).toEqual(latest);
      expect((await run(Eth.getBlock({ block: "pending" }))).number).toBe(latest.number + 1n);
      const history = await run(Eth.feeHistory({ blockCount: 2, newestBlock: "latest", rewardPercentiles: [20, 80] }));
      expect(history.baseFeePerGas.length).toBe(history.gasUsedRatio.length + 1);
      expect(await run(Eth.getLogs({ fromBlock: 0n, toBlock: "latest" }))).toEqual([]);
      expect(await run(Eth.getCode({ address: alice, block: "pending" }))).toBe("0x");
      const none = await run(Effect.flip(Eth.getBlockReceipts({ block: 99_999n })));
      expect(none).toMatchObject({ _tag: "RpcError", reason: { _tag: "BlockNotFound" } });
    });
  });
}
