/** The examples of a Safe and of a user operation on real contracts: nothing is signed but what was proven. */
import {
  createPublicClient,
  custom,
  defineChain,
  hashTypedData,
  http,
  recoverTypedDataAddress,
  type Hex,
  type PublicClient,
} from "viem";
import { entryPoint08Address, toSimple7702SmartAccount } from "viem/account-abstraction";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signForSafe } from "../examples/safe.js";
import { sendOperation } from "../examples/user-operation.js";
import { kitsFor, type OperationsKit, type UserOperation } from "./accounts/operationsKit.js";
import { fieldsOf, makers, safeTypes, type Makers } from "./accounts/safeKit.js";
import { startAnvilScene, type Scene } from "./preflight/scene.js";
import { hasBeds } from "./signing/parts.js";

const receiver = "0x7700000000000000000000000000000000000008";
const what = "examples of accounts";

describe.skipIf(!hasBeds(what))("examples/safe.ts", () => {
  let scene: Scene;
  let kit: Makers;
  beforeAll(async () => {
    scene = await startAnvilScene();
    kit = await makers(scene);
  }, 120_000);
  afterAll(() => scene?.stop());

  it("signs for an owner exactly what the service asks for", async () => {
    const owners = [await kit.key(), await kit.key()];
    const [owner] = owners;
    if (owner === undefined) throw new Error("no owner");
    const safe = await kit.safe(
      "1.4.1",
      owners.map(({ address }) => address),
      2,
    );
    const fields = fieldsOf({ to: receiver, value: "5", nonce: 0 });
    const typed = {
      domain: { chainId: scene.chainId, verifyingContract: safe },
      ...{ types: safeTypes, primaryType: "SafeTx" as const, message: fields as never },
    };
    const safeTxHash = hashTypedData(typed);
    const asked = { safe, ...fields, safeTxHash, confirmations: [] };
    const said: Array<string> = [];
    const sign = (transaction: typeof asked, by = owner) =>
      signForSafe(scene.url, transaction, by, (text) => said.push(text));
    const signed = await sign(asked);
    if ("refused" in signed) throw new Error(signed.refused);
    expect([signed.safeTxHash, await recoverTypedDataAddress({ ...typed, signature: signed.signature })]).toEqual([
      ...[safeTxHash, owner.address],
    ]);
    expect(said[0]).toMatch(/^READY/);
    expect(await sign({ ...asked, value: "6" })).toMatchObject({ refused: expect.any(String) });
    expect(await sign(asked, await kit.key())).toMatchObject({ refused: expect.stringContaining("has not to sign") });
  });
});

const nodes = hasBeds(what) ? kitsFor(what).filter(([name]) => name === "geth") : [];

describe.skipIf(nodes.length === 0)("examples/user-operation.ts", () => {
  let kit: OperationsKit;
  beforeAll(async () => {
    const [, start] = nodes[0] ?? [];
    if (start === undefined) throw new Error("no node");
    kit = await start();
  }, 240_000);
  afterAll(() => kit?.stop());

  it("hands a bundler the operation that was proven", { timeout: 60_000 }, async () => {
    const account = await kit.account("0.8", 900, "delegated");
    const chain = defineChain({
      ...{ id: kit.scene.chainId, name: "test", rpcUrls: { default: { http: [kit.scene.url] } } },
      nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    });
    const client = createPublicClient({ chain, transport: http(kit.scene.url) }) as PublicClient;
    const implementation = kit.simple7702["0.8"];
    if (implementation === undefined) throw new Error("no code");
    const smart = await toSimple7702SmartAccount({ client, owner: account.key, implementation } as never);
    const taken: Array<UserOperation> = [];
    let refuses = false;
    const limits = { preVerificationGas: "0xc350", verificationGasLimit: "0x30d40", callGasLimit: "0x30d40" };
    // a bundler that estimates, and takes what it is sent
    const bundler = custom({
      request: async ({ method, params }: { method: string; params?: ReadonlyArray<never> }): Promise<unknown> => {
        if (method === "eth_estimateUserOperationGas") return limits;
        if (method !== "eth_sendUserOperation") return kit.scene.ask(method, [...(params ?? [])]);
        if (refuses) throw Object.assign(new Error("AA25 invalid account nonce"), { code: -32500 });
        const [sent] = params as never as readonly [Record<string, Hex>];
        const numbers = ["nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas"];
        const prices = ["maxFeePerGas", "maxPriorityFeePerGas"];
        const read = Object.entries(sent).map(([name, value]) => [
          name,
          [...numbers, ...prices].includes(name) ? BigInt(value) : value,
        ]);
        const operation = Object.fromEntries(read) as UserOperation;
        taken.push(operation);
        return kit.hash("0.8", operation);
      },
    });
    expect(smart.entryPoint.address).toBe(entryPoint08Address);
    const said: Array<string> = [];
    const send = (value: bigint) =>
      sendOperation(
        { client, bundler, account: smart, signer: account.key.address },
        [{ to: receiver, value }],
        (text) => said.push(text),
      );
    expect(await send(10n ** 24n)).toMatchObject({ refused: expect.any(String) });
    expect([taken.length, said[0]]).toEqual([0, expect.stringMatching(/^BLOCKED/)]);
    const sent = await send(5n);
    const [operation] = taken;
    if (operation === undefined) throw new Error(JSON.stringify(sent));
    expect(sent).toEqual({ userOpHash: kit.hash("0.8", operation) });
    const before = await kit.scene.balance(receiver);
    expect((await kit.handle("0.8", [operation])).status).toBe("0x1");
    expect((await kit.scene.balance(receiver)) - before).toBe(5n);
    refuses = true;
    expect(await send(6n)).toMatchObject({ refused: expect.stringContaining("AA25") });
  });
});
