/** Ways around a guard, each tried on a real node: past the key's guard, past the provider's, and under one nonce twice. */
import { createWalletClient, custom, fallback, http, publicActions, serializeTransaction, type Client } from "viem";
import * as actions from "viem/actions";
import { mnemonicToAccount, type LocalAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPreflight, guardProvider, type GuardOptions, type SignaturePayload } from "evm-preflight/promise";
import { guard } from "evm-preflight/viem";
import { keys, nobody, other, owner, scenesFor, spare, third, type Scene } from "../preflight/scene.js";
import { reasonOf, rejection } from "./reasons.js";

type Asked = { readonly method: string; readonly params?: ReadonlyArray<unknown> };
const bad = { to: nobody, value: 10n ** 30n } as const;
const tags = async (all: ReadonlyArray<() => unknown>) => {
  const told: Array<string> = [];
  // the calls are of one account: one at a time
  for (const each of all) told.push((await rejection(Promise.resolve().then(each)))._tag);
  return told;
};

describe.each(scenesFor("ways around a guard"))("on %s", (_, start) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await start();
  });
  afterAll(() => scene.stop());

  const chain = () => ({
    ...{ id: scene.chainId, name: "test", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 } },
    rpcUrls: { default: { http: [scene.url] } },
  });
  /** A key that remembers what it was asked to sign. */
  const watched = (account: (typeof keys)[number]) => {
    const asked: Array<string> = [];
    const watching = Object.entries(account).map(([name, value]: [string, unknown]) => [
      name,
      typeof value !== "function"
        ? value
        : (...given: ReadonlyArray<unknown>): unknown => (asked.push(name), value(...given)),
    ]);
    return { asked, account: Object.fromEntries(watching) as LocalAccount };
  };
  const walletOf = (account: LocalAccount, transport = http(scene.url)) =>
    createWalletClient({ account, chain: chain(), transport }).extend(publicActions);
  const clientOf = (account: LocalAccount, options: GuardOptions = {}, transport = http(scene.url)) =>
    guard(walletOf(account, transport), options);
  const pay = (value = 1n) => ({ to: nobody, value }) as const;

  describe("a client", () => {
    it("lets no serializer of the caller's choose what is signed, or see the signature", async () => {
      const { account } = watched(other);
      const client = clientOf(account);
      const seen: Array<unknown> = [];
      const evil = ((transaction: object, signature: unknown) => {
        seen.push(signature);
        return serializeTransaction({ ...transaction, to: third.address } as never, signature as never);
      }) as never;
      const transaction = { ...pay(), type: "eip1559", chainId: scene.chainId } as const;
      const raw = await client.account.signTransaction(transaction as never, { serializer: evil });
      const prone = { ...chain(), serializers: { transaction: evil } };
      await actions.sendTransaction(client as never, { ...pay(), chain: prone } as never);
      await scene.mine();
      expect([raw.slice(0, 4), seen]).toEqual(["0x02", []]);
    });

    it("hands out nothing of an account but what signs under the guard", async () => {
      const account = mnemonicToAccount("test test test test test test test test test test test junk");
      const client = clientOf(account);
      expect(() => client.account.getHdKey()).toThrow("getHdKey: is no way to sign that a guard knows");
      expect(client.account.address).toBe(owner.address);
    });

    it("keeps the methods of an account that is a class, with private fields", async () => {
      class Vault {
        readonly #key = other;
        readonly type = "local";
        readonly source = "vault";
        readonly address = other.address;
        readonly publicKey = other.publicKey;
        signTransaction: LocalAccount["signTransaction"] = (...given) => this.#key.signTransaction(...given);
        signMessage(message: { readonly message: string }) {
          return this.#key.signMessage(message);
        }
        signTypedData() {
          return this.#key.sign({ hash: "0x" });
        }
      }
      const client = clientOf(new Vault() as unknown as LocalAccount, { signatures: "allow" });
      expect(await client.signMessage({ message: "x" })).toBe(await other.signMessage({ message: "x" }));
      expect(await client.sendTransaction(pay())).toMatch(/^0x/);
      await scene.mine();
    });

    it("guards the key that a verb is given, and sends no bytes that a key signed on its own", async () => {
      const { asked, account } = watched(third);
      const client = clientOf(other);
      const same = client as unknown as Client;
      const authorization = { account, contractAddress: nobody, chainId: scene.chainId, nonce: 0 } as const;
      const refused = await tags([
        () => client.signMessage({ account, message: "x" }),
        () => client.signTypedData({ account, types: { A: [] }, primaryType: "A", message: {} }),
        () => client.signAuthorization(authorization),
        () => client.signTransaction({ account, ...bad } as never),
        () => client.sendTransaction({ account, ...bad }),
        () => client.sendTransaction({ account, ...bad, nonce: 0 }),
        () => client.deployContract({ account, abi: [], bytecode: "0xfe" }),
        () => client.sendTransaction({ account: null, ...pay() }),
      ]);
      expect(refused).toEqual([
        ...["GuardRefused", "GuardRefused", "GuardRefused"],
        ...["NotCleared", "NotCleared", "NotCleared", "NotCleared", "InvalidTransaction"],
      ]);
      expect(asked).toEqual([]);
      // viem's free actions sign with the key they are given, and know no guard: what they send is held up
      expect(await tags([() => actions.sendTransaction(same, { account, ...pay() } as never)])).toEqual([
        "GuardRefused",
      ]);
      expect(asked).toEqual(["signTransaction"]);
    });

    it("takes its own account as `account`, many at once", async () => {
      const client = clientOf(spare, { onCaution: "send" });
      const { account } = client;
      const hashes = await Promise.all(
        Array.from({ length: 4 }, () => client.sendTransaction({ account, ...pay() }).catch(reasonOf)),
      );
      await scene.mine();
      expect(hashes).toEqual(hashes.map(() => expect.stringMatching(/^0x/)));
    });

    it("guards what its transport consists of", async () => {
      const calls: Array<string> = [];
      const node = custom({
        request: ({ method, params }: Asked) => {
          calls.push(method);
          return scene.ask(method, params ?? []);
        },
      });
      const wallet = createWalletClient({ account: other.address, chain: chain(), transport: fallback([node, node]) });
      const client = guard(wallet);
      const sends = {
        method: "eth_sendTransaction",
        params: [{ from: other.address, to: nobody, value: "0xfffffffffffffffffffffff" }],
      };
      const [first] = client.transport.transports;
      const ways = [client, client.transport, first, first?.config].map((way) => () => way?.request(sends as never));
      expect(await tags(ways)).toEqual(ways.map(() => "NotCleared"));
      expect(calls).not.toContain("eth_sendTransaction");
    });

    it("never sends two under one nonce: free actions at once, and beside leases", async () => {
      const client = clientOf(third, { onCaution: "send" });
      const free = (value: bigint, fee: object = {}) =>
        actions.sendTransaction(client as never, { ...pay(value), ...fee } as never);
      const dear = { maxFeePerGas: 90n * 10n ** 9n, maxPriorityFeePerGas: 30n * 10n ** 9n };
      const sent = await Promise.all(
        [
          ...[free(1n), free(2n, dear), client.sendTransaction(pay(3n)), free(4n, dear)],
          ...[client.sendTransaction(pay(5n)), free(6n, dear)],
        ].map((each) => each.catch(reasonOf)),
      );
      const hashes = sent.filter((one) => typeof one === "string");
      await scene.mine();
      // whatever was answered with a hash is mined: none was replaced by another
      for (const hash of hashes) expect((await scene.receipt(hash as `0x${string}`)).status).toBe("0x1");
      const reasons = sent.flatMap((one) => (typeof one === "string" ? [] : [one._tag]));
      expect(hashes.length).toBeGreaterThanOrEqual(3);
      expect(
        reasons.every((tag) => ["GuardRefused", "NotCleared"].includes(tag)),
        reasons.join(),
      ).toBe(true);
      // and a nonce that is named replaces what is in flight
      const slow = await client.sendTransaction(pay(7n));
      const { nonce } = await client.getTransaction({ hash: slow });
      const quick = await client.sendTransaction({
        ...pay(8n),
        nonce,
        maxFeePerGas: 190n * 10n ** 9n,
        maxPriorityFeePerGas: 90n * 10n ** 9n,
      });
      await scene.mine();
      expect((await scene.receipt(quick)).status).toBe("0x1");
      expect(await scene.receipt(slow)).toBeNull();
    });

    it("sends the same bytes again as they are", async () => {
      const client = clientOf(other);
      const raw = (await client.signTransaction({ ...pay(), type: "eip1559" } as never)) as `0x${string}`;
      const upper = raw.replace(/[a-f]/g, (digit) => digit.toUpperCase()) as `0x${string}`;
      const hash = await client.sendRawTransaction({ serializedTransaction: upper });
      const again = await client
        .sendRawTransaction({ serializedTransaction: raw })
        .catch((error: Error) => error.message);
      expect([hash, /already|known|imported/.test(again)]).toEqual([again, false]);
      await scene.mine();
    });

    it("gives its nonce back when the key, the report or the node refuses", async () => {
      const before = await scene.count(other.address);
      const denying = { ...other, signTransaction: () => Promise.reject(new Error("denied")) } as LocalAccount;
      expect(await tags([() => clientOf(denying).sendTransaction(pay())])).toEqual(["Error: denied"]);
      expect(await tags([() => clientOf(other).sendTransaction(bad)])).toEqual(["NotCleared"]);
      const node = custom({
        request: ({ method, params }: Asked) =>
          method === "eth_sendRawTransaction"
            ? Promise.reject(Object.assign(new Error("intrinsic gas too low"), { code: -32000 }))
            : scene.ask(method, params ?? []),
      });
      const rejecting = clientOf(other, {}, node as never);
      const free = () => actions.sendTransaction(rejecting as never, pay() as never);
      expect((await tags([() => rejecting.sendTransaction(pay()), free])).join()).not.toContain("resolved");
      const hash = await clientOf(other).sendTransaction(pay());
      await scene.mine();
      expect((await scene.receipt(hash)).status).toBe("0x1");
      expect(await scene.count(other.address)).toBe(before + 1);
    });
  });
});
