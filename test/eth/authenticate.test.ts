/** What nodes show of transactions of every type is verified by their own fields, in the pool and mined. */
import { createHash } from "node:crypto";
import * as Effect from "effect/Effect";
import { concat, fromRlp, keccak256, toRlp, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";
import { findGethOrWarn, findOldGethOrWarn, startGethDev } from "../harness/geth.js";
import { authenticate } from "../rooms/transaction.js";

const geth = findGethOrWarn("transactions of every type, as a geth shows them");
const oldGeth = findOldGethOrWarn("transactions of every type, as an older geth shows them");
const nodes: ReadonlyArray<
  readonly [name: string, chainId: number, start: () => Promise<Node & { readonly mine: () => Promise<unknown> }>]
> = [
  [
    "anvil",
    31_337,
    async () => {
      const node = await startAnvil({ noMining: true });
      return { ...node, mine: () => mineAnvil(node.url) };
    },
  ],
  ...(geth === null ? [] : [["geth", 1_337, () => startGethDev(geth)] as const]),
  ...(oldGeth === null ? [] : [["an older geth", 1_337, () => startGethDev(oldGeth)] as const]),
];

/** The commitment to a blob of zeros, and each proof of it: the point at infinity. */
const infinity = `0xc0${"00".repeat(47)}` as const;
const versioned = `0x01${createHash("sha256")
  .update(Buffer.from(infinity.slice(2), "hex"))
  .digest("hex")
  .slice(2)}` as const;
/** As it travels, with its blob and 128 proofs of cells (EIP-7594). */
const withBlob = (canonical: Hex): Hex =>
  concat([
    "0x03",
    toRlp([
      fromRlp(`0x${canonical.slice(4)}`, "hex") as ReadonlyArray<Hex>,
      "0x01",
      [`0x${"00".repeat(131_072)}`],
      [infinity],
      Array.from({ length: 128 }, () => infinity),
    ]),
  ]);

const signer = (place: 0 | 1 | 2 | 3) => privateKeyToAccount(accounts[place].privateKey);

for (const [name, chainId, start] of nodes)
  describe(`a transaction as ${name} shows it`, () => {
    let node: Awaited<ReturnType<typeof start>>;
    beforeAll(async () => {
      node = await start();
    });
    afterAll(() => node.stop());
    const run = <A, E>(program: Effect.Effect<A, E, Rpc.Rpc>) =>
      Effect.runPromise(program.pipe(Effect.provide(Rpc.layerHttp(node.url))));

    it("has the hash and the sender of its own fields, of every type, in the pool and mined", async () => {
      const to = `0x${"22".repeat(20)}` as const;
      const fees = { maxFeePerGas: 20n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
      const accessList = [{ address: to, storageKeys: [`0x${"00".repeat(31)}01`] }] as const;
      const plain = { chainId, nonce: 0, to, gas: 100_000n, value: 1n } as const;
      const legacy = { ...plain, type: "legacy", gasPrice: 20n * 10n ** 9n } as const;
      const [first, second, third, fourth] = [signer(0), signer(1), signer(2), signer(3)];
      const authority = privateKeyToAccount(`0x${"77".repeat(32)}`);
      const authorizationList = [await authority.signAuthorization({ chainId, nonce: 0, address: to })];
      const blobs = { blobVersionedHashes: [versioned], maxFeePerBlobGas: 10n ** 9n } as const;
      const sent = [
        [first, await first.signTransaction(legacy)],
        [second, await second.signTransaction({ ...legacy, type: "eip2930", accessList })],
        [second, await second.signTransaction({ ...plain, nonce: 1, type: "eip1559", ...fees, accessList })],
        [third, await third.signTransaction({ ...plain, ...fees, type: "eip7702", authorizationList })],
        [fourth, await fourth.signTransaction({ ...plain, ...fees, type: "eip4844", ...blobs })],
        // why: geth takes no unprotected transaction over RPC
        ...(name === "anvil"
          ? ([[first, await first.signTransaction({ ...legacy, nonce: 1, chainId: undefined })]] as const)
          : []),
      ] as const;
      for (const [, raw] of sent) {
        const serializedTransaction = raw.startsWith("0x03") ? withBlob(raw) : raw;
        expect(await run(Eth.sendRawTransaction({ serializedTransaction }))).toBe(keccak256(raw));
      }
      const check = async (isMined: boolean) => {
        for (const [place, [account, raw]] of sent.entries()) {
          const shown = await run(Eth.getTransaction({ hash: keccak256(raw) as Eth.Hash }));
          expect([place, shown !== null && shown.blockNumber !== null]).toEqual([place, isMined]);
          expect(shown === null ? null : authenticate(shown)).toMatchObject({
            ...{ hash: keccak256(raw), sender: account.address.toLowerCase() },
          });
        }
      };
      await check(false);
      await node.mine();
      await check(true);
    });
  });
