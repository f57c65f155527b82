/**
 * A Safe's transaction by every door, and what became of it: by the command, by viem, by an agent's tool and by a guarded key; then
 * executed, and settled by the Safe's own event. And the events of EntryPoints, by a table.
 */
import * as Effect from "effect/Effect";
import { Rpc } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { guard, preflightActions } from "evm-preflight/viem";
import { createClient, createWalletClient, http, numberToHex, type Address, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBin, type Bin } from "../cli/bin.js";
import { owner as deployer, startAnvilScene, type Scene } from "../preflight/scene.js";
import { toolsOf } from "../rooms/cli.js";
import { executedIn } from "../rooms/signing.js";
import { hasBeds } from "../signing/parts.js";
import { encode, fieldsOf, makers, safeTypes, type Makers, type SafeFields } from "./safeKit.js";

const receiver: Address = "0x7700000000000000000000000000000000000007";
const ether = 10n ** 18n;

describe.skipIf(!hasBeds("a Safe's transaction by every door"))("a Safe's transaction", () => {
  let scene: Scene;
  let kit: Makers;
  let bin: Bin;
  let safe: Address;
  let keys: ReadonlyArray<PrivateKeyAccount>;
  let preflight: ReturnType<typeof createPreflight>;
  beforeAll(async () => {
    [scene, bin] = await Promise.all([startAnvilScene(), buildBin()]);
    kit = await makers(scene);
    keys = [await kit.key(1n), await kit.key(), await kit.key()];
    safe = await kit.safe(
      "1.4.1",
      keys.map(({ address }) => address),
      2,
    );
    preflight = createPreflight({ url: scene.url });
  }, 240_000);
  afterAll(async () => {
    await preflight?.dispose();
    bin?.remove();
    await scene?.stop();
  });
  const paying = async (value: bigint, more: Partial<SafeFields> = {}): Promise<SafeFields> =>
    fieldsOf({ to: receiver, value: String(value), nonce: await kit.nonceOf(safe), ...more });
  const typed = (message: SafeFields) => ({
    domain: { chainId: scene.chainId, verifyingContract: safe },
    ...{ types: safeTypes, primaryType: "SafeTx" as const, message: message as never },
  });

  it("is taken by the promise, by viem, by the command and by the tool of agents", async () => {
    const transaction = await paying(5n);
    const report = await preflight.safeTransaction({ safe, transaction });
    expect([report.verdict, report.signing?.kind], report.because).toEqual(["ready", "safeTransaction"]);
    const client = createClient({ transport: http(scene.url) }).extend(preflightActions());
    expect((await client.preflightSafeTransaction({ safe, transaction })).digest).toBe(report.digest);
    await expect(preflight.safeTransaction({ transaction } as never)).rejects.toMatchObject({ field: "transaction" });
    const { preflight_safe_transaction: tool, preflight_user_operation: operations } = toolsOf({});
    const ask = (of: typeof tool, args: object) =>
      of.run(args).pipe(Effect.provide(Rpc.layerHttp(scene.url)), Effect.runPromise);
    expect((await ask(tool, { safe, transaction })).ours).toMatch(/^ready/);
    expect(await ask(tool, { safe })).toMatchObject({ isError: true });
    const operation = {
      ...{ sender: receiver, nonce: "0x0", callData: "0x", signature: `0x${"11".repeat(65)}` },
      ...{ callGasLimit: "0x186a0", verificationGasLimit: "0x186a0", preVerificationGas: "0xc350" },
      ...{ maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x1" },
    };
    // the node assumes no signature
    expect((await ask(operations, { entryPoint: "0.8", operation })).ours).toMatch(/^(unknown|blocked)/);
    const check = (args: ReadonlyArray<string>, stdin: unknown) =>
      bin.run(["check", "--rpc-url", scene.url, ...args], { stdin: JSON.stringify(stdin) });
    for (const file of [{ safe, transaction }, { ...transaction, safe }, { ...typed(transaction) }]) {
      const { code, stdout, stderr } = await check(["--safe", "-"], file);
      expect([code, stdout.split(" ", 1)[0], stderr]).toEqual([0, "READY", ""]);
    }
    for (const [args, file, says] of [
      [["--safe", "-"], transaction, /names no Safe/],
      [["--safe", "-", "--executor", receiver], { safe, transaction, executor: receiver }, /stands in the file/],
      [["--safe", "-", "--to", receiver], { safe, transaction }, /cannot be combined/],
      [["--executor", receiver, "--to", receiver], {}, /stands beside --safe/],
      [["--user-operation", "-"], operation, /--entry-point/],
      [["--entry-point", "0.8", "--to", receiver], {}, /stands beside --user-operation/],
      [["--user-operation", "-", "--entry-point", "1.0"], operation, /--entry-point/],
    ] as const)
      expect(await check(args, file)).toMatchObject({ code: 64, stderr: expect.stringMatching(says) });
    const asked = await check(["--user-operation", "-", "--entry-point", "0.8", "--json"], operation);
    expect([asked.code === 1 || asked.code === 3, asked.stdout.includes('"userOperation"'), asked.stderr]).toEqual([
      ...[true, true, ""],
    ]);
  });

  it("is signed by a guarded owner's key as it was proven, and not where it does more", async () => {
    const [key] = keys;
    if (key === undefined) throw new Error("no key");
    const client = guard(
      createWalletClient({
        account: key,
        chain: { id: scene.chainId, name: "anvil", nativeCurrency: { name: "E", symbol: "E", decimals: 18 } } as never,
        transport: http(scene.url),
      }),
      { signatures: { prove: { kinds: ["safeTransaction"] } } },
    );
    const message = await paying(7n);
    expect(await client.signTypedData(typed(message) as never)).toBe(await key.signTypedData(typed(message)));
    // another owner would stand in its place
    const swapping = await paying(0n, {
      to: safe,
      data: encode("swapOwner", ["0x0000000000000000000000000000000000000001", keys[2]?.address, receiver]),
    });
    await expect(client.signTypedData(typed(swapping) as never)).rejects.toBeDefined();
    await expect(client.signTypedData(typed(await paying(100n * ether)) as never)).rejects.toBeDefined();
  });

  it("is settled by the Safe's own event", async () => {
    const execute = async (fields: SafeFields): Promise<Hex> => {
      const before = await scene.count(deployer.address);
      const { status } = await kit.execute(safe, fields, keys.slice(0, 2), deployer);
      expect(status).toBe("0x1");
      const block = (await scene.ask("eth_getBlockByNumber", ["latest", true])) as {
        readonly transactions: ReadonlyArray<{ readonly hash: Hex; readonly nonce: Hex }>;
      };
      const found = block.transactions.find(({ nonce }) => nonce === numberToHex(before));
      if (found === undefined) throw new Error("not in the block");
      return found.hash;
    };
    const honest = await paying(9n);
    const report = await preflight.safeTransaction({ safe, transaction: honest });
    const sent = await execute(honest);
    expect(await preflight.settle(report, [sent])).toMatchObject({
      ...{ class: "same", transactions: [], balancesUntold: "ofAccounts" },
      signings: [{ signing: 0, hash: sent, state: "mined", success: true, class: "same" }],
    });
    // its money is gone, and its nonce with it
    const failing = await paying(100n * ether, { safeTxGas: "100000" });
    const refused = await preflight.safeTransaction({ safe, transaction: failing });
    expect(refused.verdict).toBe("blocked");
    const lost = await execute(failing);
    expect(await preflight.settle(refused, [lost])).toMatchObject({
      ...{ class: "unfulfilled", signings: [{ state: "mined", success: false, class: "unfulfilled" }] },
    });
    expect(await preflight.settle(report, [lost])).toMatchObject({
      class: "unknown",
      signings: [{ state: "unknown" }],
    });
    const nowhere: Hex = `0x${"ab".repeat(32)}`;
    expect(await preflight.settle(report, [nowhere])).toMatchObject({ signings: [{ state: "dropped" }] });
    await expect(preflight.settle(report, [])).rejects.toMatchObject({ field: "hashes" });
    const { code, stdout } = await bin.run(["verify", sent, "--rpc-url", scene.url, "--report", "-"], {
      stdin: JSON.stringify(report),
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining("its calls succeeded")]);
  });
});

describe("the event of an account's input", () => {
  const [entryPoint, other] = ["0x4337084d9e255ff0702461cf8895ce9e3b5ff108", receiver] as const;
  const hash: Hex = `0x${"12".repeat(32)}`;
  const word = (value: bigint) => numberToHex(value, { size: 32 }).slice(2);
  const operated: Hex = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f";
  const executed: Hex = "0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e";
  const failed: Hex = "0x23428b18acfb3ea64b08dc0c1d296ea9c09702c09083ca5272e64d115b687d23";
  const data = (success: bigint): Hex => `0x${word(3n)}${word(success)}${word(700n)}${word(70n)}`;
  const operation = { operation: { entryPoint, hash } };
  const safe = { safe: { safe: other, hash } };
  const log = (address: Hex, topics: ReadonlyArray<Hex>, text: Hex = "0x") => ({ address, topics, data: text });

  it.each<[of: string, signing: object, log: ReturnType<typeof log>, told: unknown]>([
    ["an operation", operation, log(entryPoint, [operated, hash], data(1n)), { success: true, cost: 700n, gas: 70n }],
    [
      "one that failed",
      operation,
      log(entryPoint, [operated, hash], data(0n)),
      { success: false, cost: 700n, gas: 70n },
    ],
    ["another contract's", operation, log(other, [operated, hash], data(1n)), null],
    ["another operation", operation, log(entryPoint, [operated, executed], data(1n)), null],
    ["an event that is cut off", operation, log(entryPoint, [operated, hash], "0x"), null],
    ["a Safe since 1.4", safe, log(other, [executed, hash]), { success: true, cost: null, gas: null }],
    ["a Safe before", safe, log(other, [failed], `${hash}${word(0n)}`), { success: false, cost: null, gas: null }],
    ["another Safe's", safe, log(entryPoint, [executed, hash]), null],
    ["another transaction", safe, log(other, [executed, operated]), null],
    ["no account", {}, log(other, [executed, hash]), null],
  ])("of %s", (_, signing, entry, told) => {
    expect(executedIn(signing, [entry])).toEqual(told);
  });
});
