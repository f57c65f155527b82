/** Ways around a guard, each tried on a real node: past the key's guard, past the provider's, and under one nonce twice. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createWalletClient,
  custom,
  encodeFunctionData,
  fallback,
  http,
  publicActions,
  serializeTransaction,
  type Client,
} from "viem";
import * as actions from "viem/actions";
import { mnemonicToAccount, type LocalAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardProvider, type GuardOptions, type Provider, type SignaturePayload } from "evm-preflight/promise";
import { guard } from "evm-preflight/viem";
import { Swap, Token } from "../contracts/artifacts.js";
import { keys, nobody, other, owner, scenesFor, spare, third, type Scene } from "../preflight/scene.js";
import { reasonOf, rejection } from "./reasons.js";

type Asked = { readonly method: string; readonly params?: ReadonlyArray<unknown> };
/** A hash that nobody has, and who takes it for an answer. */
const hidden = `0x${"77".repeat(32)}`;
const accepting = { onUnverified: "accept", deadline: 2_000 } as const;
const bad = { to: nobody, value: 10n ** 30n } as const;
const tags = async (all: ReadonlyArray<() => unknown>) => {
  const told: Array<string> = [];
  // the calls are of one account: one at a time
  for (const each of all) told.push((await rejection(Promise.resolve().then(each)))._tag);
  return told;
};

describe.each(scenesFor("ways around a guard"))("hostile callers of a guard on %s", (_, start) => {
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

  describe("callers of a guarded client", () => {
    it("cannot choose by a serializer what is signed, nor see the signature", async () => {
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

    it("get nothing of an account that signs outside the guard", async () => {
      const account = mnemonicToAccount("test test test test test test test test test test test junk");
      const client = clientOf(account) as unknown as { readonly account: typeof account };
      expect(() => client.account.getHdKey()).toThrow("getHdKey: is not a way to sign that a guard knows");
      expect(client.account.address).toBe(owner.address);
    });

    it("get the methods of an account that is a class, with private fields", async () => {
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

    it("cannot give a verb an unguarded key, nor send bytes that a key signed on its own", async () => {
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
        () => client.sendTransaction({ account, ...bad, nonce: 0, gas: 21_000n }),
        () => client.sendTransaction({ account: null, ...pay() }),
      ]);
      expect(refused).toEqual([
        ...["GuardRefused", "GuardRefused", "GuardRefused"],
        ...["NotCleared", "NotCleared", "NotCleared", "InvalidTransaction"],
      ]);
      expect(asked).toEqual([]);
      // viem's free actions sign with the key they are given, and know no guard: what they send is held up
      expect(await tags([() => actions.sendTransaction(same, { account, ...pay() } as never)])).toEqual([
        "GuardRefused",
      ]);
      expect(asked).toEqual(["signTransaction"]);
    });

    it("cannot sign calls for another account than the client's", async () => {
      const { asked, account } = watched(third);
      const client = clientOf(account);
      const calls = {
        version: "2.0.0",
        chainId: `0x${scene.chainId.toString(16)}`,
        calls: [{ to: nobody, value: "0x1" }],
      };
      const ways = [
        () => client.sendCalls({ account: other, calls: [pay()] }),
        () => client.request({ method: "wallet_sendCalls", params: [{ ...calls, from: other.address }] } as never),
        () => client.request({ method: "wallet_sendCalls", params: [calls] } as never),
      ];
      expect([await tags(ways), asked]).toEqual([ways.map(() => "GuardRefused"), []]);
    });

    it("can name the client's account as `account`, many at once", async () => {
      const client = clientOf(spare, { onCaution: "send" });
      const { account } = client;
      const hashes = await Promise.all(
        Array.from({ length: 4 }, () => client.sendTransaction({ account, ...pay() }).catch(reasonOf)),
      );
      await scene.mine();
      expect(hashes).toEqual(hashes.map(() => expect.stringMatching(/^0x/)));
    });

    it("reach no transport within the client's that is not guarded", async () => {
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
      const ways = [client, client.transport, first, first?.config].map(
        (way) => () => (way as Provider | undefined)?.request(sends as never),
      );
      expect(await tags(ways)).toEqual(ways.map(() => "NotCleared"));
      expect(calls).not.toContain("eth_sendTransaction");
    });

    it("never get two sends under one nonce: free actions at once, and beside leases", async () => {
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
      expect(hashes.length).toBeGreaterThanOrEqual(2);
      expect(
        reasons.every((tag) => ["GuardRefused", "NotCleared"].includes(tag)),
        reasons.join(),
      ).toBe(true);
      // and only a nonce that is named replaces what is in flight: a free action may have counted before it was sent
      const slow = await client.sendTransaction(pay(7n));
      const { nonce } = await client.getTransaction({ hash: slow });
      expect(await tags([() => free(9n, { ...dear, nonce })])).toEqual(["GuardRefused"]);
      const quick = await client.sendTransaction({
        ...pay(8n),
        nonce,
        maxFeePerGas: 190n * 10n ** 9n,
        maxPriorityFeePerGas: 90n * 10n ** 9n,
      });
      await scene.mine();
      expect((await scene.receipt(quick)).status).toBe("0x1");
      await expect(scene.receipt(slow)).rejects.toThrow("no receipt");
    });

    it("get no transaction that a key signed otherwise, late, or for a changed message", async () => {
      const lying = {
        ...other,
        signTransaction: (transaction: object, options: never) =>
          other.signTransaction({ ...transaction, to: third.address } as never, options),
      } as LocalAccount;
      const liar = clientOf(lying);
      const count = await scene.count(other.address, "pending");
      const signing = { ...pay(), type: "eip1559" } as never;
      const lies = [() => liar.sendTransaction(pay()), () => liar.signTransaction(signing)];
      expect(await tags(lies)).toEqual(lies.map(() => expect.stringContaining("SignedMismatch")));
      expect(await scene.count(other.address, "pending")).toBe(count);

      // the nonce is used while the key takes its time, and again after the bytes were handed out
      const slow = (meanwhile: () => Promise<unknown>): LocalAccount => ({
        ...spare,
        signTransaction: async (...given) => {
          await meanwhile();
          await sleep(quick.maxAge + 50);
          return spare.signTransaction(...given);
        },
      });
      const quick = { maxAge: 400 };
      const mined = async () => {
        await scene.pool(spare, pay());
        await scene.mine();
      };
      expect(await tags([() => clientOf(slow(mined), quick).signTransaction(signing)])).toEqual(["NotCleared"]);
      const client = clientOf(spare, quick);
      const serializedTransaction = (await client.signTransaction(signing)) as `0x${string}`;
      await mined();
      await sleep(quick.maxAge);
      expect(await tags([() => client.sendRawTransaction({ serializedTransaction })])).toEqual(["NotCleared"]);

      const message = { message: "hello" };
      const signatures = () => Object.assign(message, { message: "give me everything" }) === message;
      expect(await clientOf(other, { signatures }).account.signMessage(message)).toBe(
        await other.signMessage({ message: "hello" }),
      );
    });

    it("get no bytes whose outcome changed while they were signed", async () => {
      const [gold, silver] = [
        await scene.deploy(Token, ["Gold", "GLD", 18]),
        await scene.deploy(Token, ["Silver", "SLV", 18]),
      ];
      const pool = await scene.deploy(Swap, [gold, silver]);
      const call = (to: `0x${string}`, functionName: "mint" | "approve", of: `0x${string}`) =>
        ({ to, data: encodeFunctionData({ abi: Token.abi, functionName, args: [of, 10n ** 9n] }) }) as const;
      for (const [which, of] of [
        [gold, pool],
        [silver, pool],
        [gold, spare.address],
      ] as const)
        await scene.pool(owner, call(which, "mint", of));
      await scene.pool(spare, call(gold, "approve", pool));
      await scene.mine();
      const cheaper: LocalAccount = {
        ...spare,
        signTransaction: async (...given) => {
          await scene.pool(owner, call(gold, "mint", pool));
          await scene.mine();
          await sleep(450);
          return spare.signTransaction(...given);
        },
      };
      const data = encodeFunctionData({ abi: Swap.abi, functionName: "swap", args: [1_000n, 1n, 2n ** 64n] });
      const client = clientOf(cheaper, { maxAge: 400, onCaution: "send" });
      const failure = await rejection(client.signTransaction({ to: pool, data, type: "eip1559" } as never));
      expect([failure._tag, String(failure["cause"])]).toEqual([
        "NotCleared",
        expect.stringContaining("OutcomeChanged"),
      ]);
    });

    it("make a wallet send once, whatever its transport repeats for others", async () => {
      const asked: Array<string> = [];
      const node = custom(
        {
          request: ({ method, params }: Asked) => {
            asked.push(method);
            return method === "eth_sendTransaction"
              ? Promise.reject(Object.assign(new Error("busy"), { code: -32603 }))
              : scene.ask(method, params ?? []);
          },
        },
        { retryCount: 3, retryDelay: 1 },
      );
      const client = guard(createWalletClient({ account: owner.address, chain: chain(), transport: node }));
      expect((await tags([() => client.sendTransaction(pay())])).join()).toContain("busy");
      expect(asked.filter((method) => method === "eth_sendTransaction")).toHaveLength(1);
    });

    it("can send the same bytes again unchanged", async () => {
      const client = clientOf(other);
      const raw = (await client.signTransaction({ ...pay(), type: "eip1559" } as never)) as `0x${string}`;
      const upper = raw.replace(/[a-f]/g, (digit) => digit.toUpperCase()) as `0x${string}`;
      const hash = await client.sendRawTransaction({ serializedTransaction: upper });
      const again = await client
        .sendRawTransaction({ serializedTransaction: raw })
        .catch((error: Error) => error.message);
      // the node's own word, whatever it is
      expect(again === hash || /already|known/.test(again), again).toBe(true);
      await scene.mine();
    });

    it("get the nonce back when the key, the report or the node refuses", async () => {
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

  describe("callers of a guarded provider", () => {
    it("get only the wallet's signed bytes that match the clearance sent", async () => {
      const signs = (change: object) =>
        guardProvider({
          request: async ({ method, params }: Asked) => {
            if (!method.endsWith("_signTransaction")) return scene.ask(method, params ?? []);
            const { to, value, gas, nonce, maxFeePerGas, maxPriorityFeePerGas } = (params ?? [])[0] as Record<
              string,
              `0x${string}`
            >;
            const quantities = { value, gas, maxFeePerGas, maxPriorityFeePerGas };
            const read = Object.entries(quantities).map(([name, hex]) => [name, BigInt(hex ?? 0)]);
            const fields = {
              ...Object.fromEntries(read),
              to,
              nonce: Number(nonce),
              chainId: scene.chainId,
              type: "eip1559",
            };
            return { raw: await other.signTransaction({ ...fields, ...change } as never) };
          },
        });
      const transaction = { from: other.address, to: nobody, value: "0x1" };
      for (const method of ["eth_signTransaction", "account_signTransaction"]) {
        const lying = await rejection(signs({ value: 2n }).request({ method, params: [transaction] } as never));
        expect(lying._tag, method).toContain("SignedMismatch");
      }
      const honest = signs({});
      const { raw } = (await honest.request({ method: "eth_signTransaction", params: [transaction] } as never)) as {
        readonly raw: string;
      };
      const hash = await honest.request({ method: "eth_sendRawTransaction", params: [raw] } as never);
      await scene.mine();
      expect((await scene.receipt(hash as `0x${string}`)).status).toBe("0x1");
    });

    /** A wallet of the node's keys, which remembers what reached it. */
    const walletWith = (before: (asked: Asked) => unknown = () => undefined) => {
      const reached: Array<Asked> = [];
      return {
        reached,
        request: async (asked: Asked): Promise<unknown> => {
          const answer = await before(asked);
          reached.push(asked);
          return answer ?? scene.ask(asked.method, asked.params ?? []);
        },
      };
    };
    const sent = (reached: ReadonlyArray<Asked>) => reached.filter(({ method }) => /_(send|sign|connect)/.test(method));
    const ask = (
      provider: { request(asked: never): Promise<unknown> },
      method: string,
      ...params: ReadonlyArray<unknown>
    ) => provider.request({ method, params } as never);
    const one = () => ({ from: owner.address, to: nobody, value: "0x1" });

    it("cannot change what is passed on by changing their objects after the judgement", async () => {
      const wallet = walletWith(({ method }) =>
        method === "eth_sendTransaction" ? hidden : method.startsWith("wallet_") ? { id: "0x01" } : undefined,
      );
      const contents: Array<unknown> = [];
      const signatures = ({ content }: SignaturePayload) => contents.push(content) > 0;
      const guarded = guardProvider(wallet, { signatures, ...accepting });
      const transaction: Record<string, string> = one();
      const sending = ask(guarded, "eth_sendTransaction", transaction);
      Object.assign(transaction, { from: other.address, to: third.address, value: "0xff" });
      const call: Record<string, string> = { to: nobody, value: "0x1" };
      const calls = ask(guarded, "wallet_sendCalls", { version: "2.0.0", from: owner.address, calls: [call] });
      call["to"] = third.address;
      const message = ["0x11", owner.address];
      const signing = guarded.request({ method: "personal_sign", params: message } as never).catch(() => null);
      message[0] = "0x22";
      let reads = 0;
      const shifting = {
        get method() {
          return reads++ === 0 ? "eth_chainId" : "eth_sendTransaction";
        },
        params: [],
      };
      expect(await guarded.request(shifting as never)).toBe(`0x${scene.chainId.toString(16)}`);
      await Promise.all([sending, calls, signing]);
      const [signed, ...others] = sent(wallet.reached);
      expect([signed?.params, contents]).toEqual([["0x11", owner.address], ["0x11"]]);
      expect(others.map(({ method }) => method).sort()).toEqual(["eth_sendTransaction", "wallet_sendCalls"]);
      for (const { params } of others)
        expect(JSON.stringify(params).toLowerCase()).not.toContain(third.address.slice(2).toLowerCase());
    });

    it("meet the guard also before a provider that is frozen, answers with itself, or has the old interface", async () => {
      const wallet = Object.freeze({
        ...walletWith(),
        on(): unknown {
          return wallet;
        },
        send: () => "unguarded",
        sendAsync: () => "unguarded",
      });
      const guarded = guardProvider(wallet);
      expect(guarded.on()).toBe(guarded);
      expect("on" in guarded && Object.getOwnPropertyDescriptor(guarded, "request") === undefined).toBe(true);
      const old = guarded as unknown as {
        send(first: unknown, second?: unknown): Promise<unknown>;
        sendAsync(payload: unknown): void;
      };
      const sends = {
        id: 7,
        jsonrpc: "2.0",
        method: "eth_sendTransaction",
        params: [{ ...one(), value: "0xfffffffffffffffffffffff" }],
      };
      const heard = (payload: unknown) =>
        new Promise(
          (done, fail) =>
            void old.send(payload, (error: unknown, answer: unknown) => (error == null ? done(answer) : fail(error))),
        );
      const ways = [
        () => guarded.request(sends as never),
        () => old.send(sends),
        () => old.send("eth_sendTransaction", sends.params),
        () => heard(sends),
      ];
      expect(await tags(ways)).toEqual(ways.map(() => "NotCleared"));
      expect(() => old.sendAsync(sends)).toThrow(expect.objectContaining({ _tag: "GuardRefused", what: "sendAsync" }));
      const lists = [() => heard([sends]), () => old.send([sends]), () => guarded.request({} as never)];
      expect(await tags(lists)).toEqual(lists.map(() => "GuardRefused"));
      expect(await heard({ id: 8, jsonrpc: "2.0", method: "eth_chainId", params: [] })).toMatchObject({ id: 8 });
      expect(sent(wallet.reached)).toEqual([]);
    });

    it("cannot sign, send or give rights by unknown methods", async () => {
      const wallet = walletWith(() => "0x");
      const guarded = guardProvider(wallet, { node: { url: scene.url } });
      const transaction = [one()];
      const asked: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
        ["eth_sign", [owner.address, `0x${"11".repeat(32)}`]],
        ["personal_sign", ["0x11", owner.address]],
        ["eth_signTypedData", [[{ type: "string", name: "a", value: "b" }], owner.address]],
        ["eth_signTypedData_v3", [owner.address, "{}"]],
        ["eth_signTypedData_v4", [owner.address, "{}"]],
        ["eth_signAuthorization", [{ address: nobody }]],
        ["wallet_signAuthorization", [{ address: nobody }]],
        ["wallet_connect", [{ version: "1", capabilities: { signInWithEthereum: { nonce: "1" } } }]],
        ["account_signData", ["text/plain", owner.address, "0x11"]],
        ["eth_sendUserOperation", [{}]],
        ["wallet_sendPreparedCalls", [{}]],
        ["eth_sendBundle", [{}]],
        ["eth_sendPrivateTransaction", [{ tx: "0x" }]],
        ["eth_resend", [...transaction, "0x1"]],
        ["parity_postTransaction", transaction],
        ["eth_submitTransaction", transaction],
        [
          "wallet_invokeMethod",
          [{ scope: "eip155:1", request: { method: "eth_sendTransaction", params: transaction } }],
        ],
        ["wallet_grantPermissions", [{}]],
        ["wallet_requestExecutionPermissions", [{}]],
        ["wallet_upgradeAccount", []],
        ["my_wallet_sendTransactions", transaction],
        ["ETH_SENDTRANSACTION", transaction],
        ["eth_sendRawTransaction", ["0x02"]],
        ["eth_sendRawTransactionSync", [null]],
      ];
      for (const [method, params] of asked)
        expect((await rejection(ask(guarded, method, ...params)))._tag, method).toBe("GuardRefused");
      expect(wallet.reached).toEqual([]);
      const harmless = ["eth_chainId", "wallet_connect", "wallet_getCapabilities", "wallet_switchEthereumChain"];
      const reads = [
        "eth_getTransactionBySenderAndNonce",
        "personal_ecRecover",
        "wallet_requestPermissions",
        "web3_clientVersion",
      ];
      for (const method of [...harmless, ...reads]) expect(await ask(guarded, method), method).toBe("0x");
    });

    it("are judged by the rule with account and content, in whichever order these stand", async () => {
      const seen: Array<SignaturePayload> = [];
      const guarded = guardProvider(
        walletWith(() => "0x"),
        { signatures: (payload) => seen.push(payload) < 0 },
      );
      const { address } = owner;
      await tags([
        () => ask(guarded, "personal_sign", "0x11", address),
        () => ask(guarded, "personal_sign", address, "0x11"),
        () => ask(guarded, "eth_signTypedData", ["a"], address),
        () => ask(guarded, "eth_sign", address, "0x22"),
        () => ask(guarded, "eth_signAuthorization", { address }),
      ]);
      expect(seen).toEqual([
        { kind: "message", address, content: "0x11" },
        { kind: "message", address, content: "0x11" },
        { kind: "typedData", address, content: ["a"] },
        { kind: "hash", address, content: "0x22" },
        { kind: "authorization", address: null, content: [{ address }] },
      ]);
    });

    it("are refused when the wallet was switched to another chain during the proof", async () => {
      let asked = 0;
      const wallet = walletWith(({ method }) => (method === "eth_chainId" && asked++ > 0 ? "0x1" : undefined));
      const guarded = guardProvider(wallet, { node: { url: scene.url } });
      const calls = { version: "2.0.0", from: owner.address, calls: [{ to: nobody, value: "0x1" }] };
      expect(await tags([() => ask(guarded, "eth_sendTransaction", one())])).toEqual(["GuardRefused"]);
      asked = 0;
      expect(await tags([() => ask(guarded, "wallet_sendCalls", calls)])).toEqual(["GuardRefused"]);
      expect(sent(wallet.reached)).toEqual([]);
    });

    it("get the field of a malformed transaction named, and no proof of calls with unknown fields", async () => {
      const wallet = walletWith(({ method }) => (method === "eth_sendTransaction" ? hidden : undefined));
      const guarded = guardProvider(wallet, accepting);
      const field = async (change: object) =>
        (await rejection(ask(guarded, "eth_sendTransaction", { ...one(), ...change })))["field"];
      const wrong = [
        ...[{ value: "10" }, { value: "" }, { nonce: " " }, { from: undefined }, { gas_limit: "0x5208" }],
        { gas: "0x5208", gasLimit: "0x5209" },
      ];
      const names = ["value", "value", "nonce", "from", "gas_limit", "gasLimit"];
      const strays = { account: owner.address, hash: hidden, blockNumber: "0x1", chain: { id: 1 } };
      for (const [name, value] of Object.entries(strays)) {
        const refusal = await rejection(ask(guarded, "eth_sendTransaction", { ...one(), [name]: value }));
        expect([refusal._tag, String(refusal)]).toEqual(["GuardRefused", expect.stringContaining(name)]);
      }
      expect(await Promise.all(wrong.map(field))).toEqual(names);
      const calls = { version: "2.0.0", from: owner.address, calls: [{ to: nobody, value: "0x1" }] };
      const unknown = [{ preparedCalls: {} }, { capabilities: ["x"] }, { capabilities: { a: null } }, { calls: [] }];
      for (const each of unknown)
        expect((await rejection(ask(guarded, "wallet_sendCalls", { ...calls, ...each })))._tag).toBe("GuardRefused");
      const both = { ...one(), data: "0x", input: "0X", from: owner.address.toLowerCase() };
      expect(await ask(guarded, "eth_sendTransaction", both)).toBe(hidden);
      expect(await ask(guarded, "eth_sendTransaction", { ...both, gasLimit: "0x5300" })).toBe(hidden);
      // a page may name an old type and leave the price to the wallet
      expect(await ask(guarded, "eth_sendTransaction", { ...both, type: "0x0" })).toBe(hidden);
      const reached = [
        ...[{ params: [{ data: "0x" }] }, { params: [{ data: "0x", gas: "0x5300" }] }],
        { params: [{ data: "0x", type: "0x2" }] },
      ];
      expect(sent(wallet.reached)).toMatchObject(reached);
    });
  });
});
