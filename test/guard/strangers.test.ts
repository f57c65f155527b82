/** What strangers try at a guard: fields, methods and members that nobody proved, and wallets that are mute or lie. */
import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, createWalletClient, custom, encodeFunctionData, fallback, http, publicActions } from "viem";
import * as actions from "viem/actions";
import { privateKeyToAccount, type LocalAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardProvider, releaseHeld, type GuardOptions, type SignaturePayload } from "evm-preflight/promise";
import { guard } from "evm-preflight/viem";
import { Token } from "../contracts/artifacts.js";
import { startAnvil, type Node } from "../harness/anvil.js";
import { nobody, other, owner, scenesFor, spare, third, type Scene } from "../preflight/scene.js";
import { reasonOf, rejection } from "./reasons.js";

type Asked = { readonly method: string; readonly params?: ReadonlyArray<unknown> };
type Requests = { request(asked: never): Promise<unknown> };
const ask = (provider: Requests, method: string, ...params: ReadonlyArray<unknown>) =>
  provider.request({ method, params } as never);
const tag = async (promise: Promise<unknown>) => (await rejection(promise))._tag;
/** A hash that nobody has, and who takes it for an answer. */
const hidden = `0x${"77".repeat(32)}`;
const accepting = { onUnverified: "accept", deadline: 2_000 } as const;
const approve = encodeFunctionData({ abi: Token.abi, functionName: "approve", args: [nobody, 2n ** 256n - 1n] });

describe.each(scenesFor("strangers at a guard"))("unusual wallets and pages at a guard on %s", (name, start) => {
  let scene: Scene;
  let token: `0x${string}`;
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Dollar", "USD", 6]);
  });
  afterAll(() => scene.stop());

  const chain = () => ({
    ...{ id: scene.chainId, name: "test", nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 } },
    rpcUrls: { default: { http: [scene.url] } },
  });
  /** A wallet of the node's keys, which remembers what reached it. */
  const walletWith = (before: (asked: Asked) => unknown = () => undefined) => {
    const reached: Array<Asked> = [];
    const request = async (asked: Asked, ...others: ReadonlyArray<unknown>): Promise<unknown> => {
      // the connection of the guard names options of viem's; what a wallet signs has none
      if (/_send/.test(asked.method)) expect(others).toEqual([]);
      const answer = await before(asked);
      reached.push(asked);
      return answer ?? scene.ask(asked.method, asked.params ?? []);
    };
    return { reached, request };
  };
  const sent = (reached: ReadonlyArray<Asked>) => reached.filter(({ method }) => /_(send|sign)/.test(method));
  const clientOf = (account: LocalAccount | `0x${string}`, options: GuardOptions = {}, transport = http(scene.url)) =>
    guard(createWalletClient({ account, chain: chain(), transport }).extend(publicActions), options);
  const hex = () => `0x${scene.chainId.toString(16)}`;
  const pay = { to: nobody, value: 1n } as const;

  describe("a provider", () => {
    it("passes calls on as they were proven, and refuses every other field of theirs", async () => {
      const wallet = walletWith(({ method }) => (method === "wallet_sendCalls" ? { id: "0x01" } : undefined));
      const guarded = guardProvider(wallet);
      const one = { to: nobody, value: "0x1" };
      const request = { version: "2.0.0", from: owner.address, chainId: hex(), calls: [one] };
      const strays = [
        ...[{ input: approve }, { from: other.address }, { type: "0x4" }, { gas: "0x5208" }, { nonce: "0x1" }],
        ...[{ abi: Token.abi, functionName: "mint" }, { maxFeePerGas: "0x1" }, { authorizationList: [] }],
        ...[{ chainId: "0x7" }, { chainId: String(scene.chainId) }, { chainId: [hex()] }],
        JSON.parse(`{ "__proto__": { "to": "${third.address}" } }`) as object,
      ];
      for (const stray of strays) {
        const calls = [one, { ...one, ...stray }];
        const failure = await rejection(ask(guarded, "wallet_sendCalls", { ...request, calls }));
        expect([failure._tag, failure["code"]], JSON.stringify(stray)).toEqual(["GuardRefused", 4100]);
      }
      for (const chainId of [String(scene.chainId), [hex()], "0x7", {}])
        expect(await tag(ask(guarded, "wallet_sendCalls", { ...request, chainId }))).toBe("GuardRefused");
      expect(sent(wallet.reached)).toEqual([]);
      // what is known passes: an equal chain, what is optional, a chain that is left out
      const extra = { capabilities: { x: { optional: true } }, chainId: scene.chainId };
      await guarded.request({
        ...{ method: "wallet_sendCalls", id: 7, topic: "x" },
        params: [{ ...request, calls: [{ ...one, value: "0x01", ...extra }], chainId: undefined }, { evil: 1 }],
      } as never);
      const calls = [{ ...one, ...extra }];
      expect(sent(wallet.reached)).toEqual([{ method: "wallet_sendCalls", params: [{ ...request, calls }] }]);
    });

    it("puts in the proven sender, where the request names none and the node's client has an account", async () => {
      const wallet = walletWith(({ method }) => {
        if (method === "wallet_sendCalls") return { id: "0x02" };
        return method === "eth_sendTransaction" ? hidden : undefined;
      });
      const client = createWalletClient({ account: owner.address, chain: chain(), transport: http(scene.url) });
      const guarded = guardProvider(wallet, { node: { client }, ...accepting });
      // a wallet would send these from whichever account is selected in it
      await ask(guarded, "wallet_sendCalls", {
        version: "2.0.0",
        chainId: hex(),
        calls: [{ to: nobody, value: "0x1" }],
      });
      await ask(guarded, "eth_sendTransaction", { to: nobody, value: "0x1" });
      const froms = sent(wallet.reached).map(({ params = [] }) => (params[0] as { readonly from?: string }).from);
      expect(froms.map((from) => from?.toLowerCase())).toEqual(Array(2).fill(owner.address.toLowerCase()));
    });

    it("queues a request without a sender beside requests for the account of the node's client", async () => {
      let open = 0;
      let most = 0;
      const wallet = walletWith(async ({ method }) => {
        if (method !== "eth_sendTransaction") return undefined;
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 500));
        open -= 1;
        return hidden;
      });
      const client = createWalletClient({ account: owner.address, chain: chain(), transport: http(scene.url) });
      const guarded = guardProvider(wallet, { node: { client }, ...accepting });
      const one = { to: nobody, value: "0x1" };
      const both = [one, { ...one, from: owner.address }];
      await Promise.all(both.map((each) => ask(guarded, "eth_sendTransaction", each)));
      expect([most, sent(wallet.reached).length]).toEqual([1, 2]);
    });

    it("sends nothing whose data stands there twice, and nothing beside the transaction", async () => {
      const wallet = walletWith(({ method }) => (method.endsWith("_sendTransaction") ? hidden : undefined));
      const guarded = guardProvider(wallet, { onCaution: "send", ...accepting });
      const one = { from: owner.address, to: token, data: "0x06fdde03" };
      const twice = await rejection(ask(guarded, "eth_sendTransaction", { ...one, input: approve }));
      expect([twice._tag, twice["field"]]).toEqual(["InvalidTransaction", "input"]);
      for (const chainId of [String(scene.chainId), [hex()]])
        expect(await tag(ask(guarded, "eth_sendTransaction", { ...one, chainId }))).toBe("GuardRefused");
      expect(sent(wallet.reached)).toEqual([]);
      const same = { ...one, input: one.data.toUpperCase().replace("X", "x"), chainId: hex() };
      await guarded.request({ method: "eth_sendTransaction", params: [same, { evil: 1 }], topic: "x" } as never);
      await ask(guarded, "eth_sendTransaction", { ...one, data: null, input: one.data });
      await ask(guarded, "personal_sendTransaction", one, "password", "more");
      expect(sent(wallet.reached).map((asked) => [Object.keys(asked), asked.params])).toEqual(
        [[], [], ["password"]].map((beside) => [
          ["method", "params"],
          [expect.objectContaining({ data: one.data }), ...beside],
        ]),
      );
      expect(JSON.stringify(sent(wallet.reached))).not.toContain("input");
    });

    it("does not trust a node that the page named", async () => {
      let chainId = "0x1";
      const walletOf = () =>
        walletWith(({ method }) =>
          method === "eth_chainId"
            ? chainId
            : method.startsWith("wallet_")
              ? "0x"
              : method === "eth_sendTransaction"
                ? hidden
                : undefined,
        );
      const wallet = walletOf();
      const guarded = guardProvider(wallet, accepting);
      const adding = (id: unknown, ...others: ReadonlyArray<unknown>) =>
        ask(guarded, "wallet_addEthereumChain", { chainId: id, rpcUrls: ["http://evil"] }, ...others);
      const sending = (to: Requests) =>
        ask(to, "eth_sendTransaction", { from: owner.address, to: nobody, value: "0x1" });
      // neither the chain in use nor one that nobody can read
      for (const wrong of [["0x1"], ["0x01"], [1], ["1"], [undefined], [" 0x2"], ["0x2", { chainId: hex() }]] as const)
        expect(await tag(adding(...(wrong as [unknown]))), String(wrong)).toBe("GuardRefused");
      expect(await tag(ask(guarded, "wallet_addEthereumChain"))).toBe("GuardRefused");
      expect(wallet.reached.filter(({ method }) => method.startsWith("wallet_"))).toEqual([]);
      expect(await adding("0x2")).toBe("0x");
      chainId = hex();
      // another chain's node says nothing about this one
      expect(await sending(guarded)).toBe(hidden);
      chainId = "0x1";
      expect(await adding(hex())).toBe("0x");
      chainId = hex();
      expect(await ask(guarded, "wallet_switchEthereumChain", { chainId })).toBe("0x");
      const calls = { version: "2.0.0", from: owner.address, chainId, calls: [{ to: nobody, value: "0x1" }] };
      const again = guardProvider(wallet, { ...accepting, onCaution: "send" });
      for (const failing of [
        () => sending(guarded),
        () => sending(again),
        () => ask(guarded, "wallet_sendCalls", calls),
      ]) {
        const { _tag, data, report } = await rejection(failing());
        expect([_tag, data]).toMatchObject(["NotCleared", { codes: ["NodeNamedByPage"] }]);
        expect(report).toMatchObject({ verdict: "unknown", because: expect.stringContaining("the page named") });
        expect(JSON.parse(JSON.stringify(report))).toHaveProperty("verdict", "unknown");
      }
      // a node of the guard's own was not named by anybody, and another wallet was told nothing
      expect(await sending(guardProvider(wallet, { ...accepting, node: { url: scene.url } }))).toBe(hidden);
      expect(await sending(guardProvider(walletOf(), accepting))).toBe(hidden);
      // a client's own key signs nothing by such a proof either
      const named = walletOf();
      const transport = custom(named as never);
      const client = guard(createWalletClient({ account: spare, chain: chain(), transport }).extend(publicActions));
      chainId = "0x1";
      await client.request({ method: "wallet_addEthereumChain", params: [{ chainId: hex() }] } as never);
      chainId = hex();
      expect((await rejection(client.sendTransaction(pay)))["data"]).toMatchObject({ codes: ["NodeNamedByPage"] });
      expect(await tag(client.signTransaction({ ...pay, type: "eip1559" } as never))).toBe("NotCleared");
    });

    it("reports a wallet that changes the nonce, the sender, the access list, or adds an authorisation", async () => {
      const to = nobody;
      const lying = (change: (nonce: number) => Promise<object>, key = owner) => ({
        request: async ({ method, params = [] }: Asked) => {
          if (method !== "eth_sendTransaction") return scene.ask(method, params);
          const { gas, maxFeePerGas, maxPriorityFeePerGas } = params[0] as Record<string, `0x${string}`>;
          const fees = Object.entries({ gas, maxFeePerGas, maxPriorityFeePerGas, value: "0x1" });
          const nonce = await scene.count(key.address, "pending");
          const fields = { ...Object.fromEntries(fees.map(([name, value]) => [name, BigInt(value ?? 0)])), nonce, to };
          const changed = { type: "eip1559", chainId: scene.chainId, ...fields, ...(await change(nonce)) };
          return scene.broadcast(await key.signTransaction(changed as never));
        },
      });
      const authorization = (nonce: number) =>
        spare.signAuthorization({ address: nobody, chainId: scene.chainId, nonce: nonce + 50 });
      const rows = [
        [
          "nonce",
          lying(async (nonce) => {
            await scene.pool(owner, { to, value: 1n });
            return { nonce: nonce + 1 };
          }),
        ],
        ["from", lying(() => Promise.resolve({}), third)],
        ["accessList", lying(() => Promise.resolve({ accessList: [{ address: to, storageKeys: [] }], gas: 60_000n }))],
        [
          "authorizationList",
          lying(async (nonce) => ({ type: "eip7702", gas: 90_000n, authorizationList: [await authorization(nonce)] })),
        ],
      ] as const;
      for (const [what, wallet] of rows) {
        const guarded = guardProvider(wallet, what === "nonce" ? {} : { onChanged: () => true });
        const failure = await rejection(ask(guarded, "eth_sendTransaction", { from: owner.address, to, value: "0x1" }));
        expect(failure._tag, what).toBe(what === "from" ? "SentByOther" : "Tampered");
        const changed = ((failure["differences"] ?? []) as ReadonlyArray<{ readonly what: string }>).map(
          (one) => one.what,
        );
        if (what === "from") expect(failure["sender"]).toBe(third.address.toLowerCase());
        else expect(changed).toContain(`request ${what}`);
        releaseHeld(guarded, owner.address);
        await scene.mine();
      }
    }, 60_000);

    it("asks no node of another chain, and does not wait for a wallet that is mute", async () => {
      const far = {
        request: ({ method, params }: Asked) =>
          method === "eth_chainId" ? Promise.resolve("0x7") : scene.ask(method, params ?? []),
      };
      const one = { from: owner.address, ...pay, value: "0x1" };
      const wallet = walletWith();
      const elsewhere = guardProvider(wallet, { node: { provider: far } });
      expect(await tag(ask(elsewhere, "eth_sendTransaction", one))).toBe("NotCleared");
      const mute = {
        request: ({ method, params }: Asked) =>
          method === "eth_chainId" ? new Promise(() => undefined) : scene.ask(method, params ?? []),
      };
      const waiting = guardProvider(mute, { node: { url: scene.url }, deadline: 500 });
      expect(await tag(ask(waiting, "eth_sendTransaction", one))).toBe("GuardRefused");
      // and its turn is free again
      expect(await tag(ask(waiting, "eth_sendTransaction", one))).toBe("GuardRefused");
      expect(sent(wallet.reached)).toEqual([]);
    });

    it("blocks only its own account while nobody answers a popup", async () => {
      let asked = 0;
      const wallet = walletWith(({ method }) =>
        method === "eth_sendTransaction" && asked++ === 0 ? new Promise(() => undefined) : undefined,
      );
      const guarded = guardProvider(wallet);
      const send = (from: string) => ask(guarded, "eth_sendTransaction", { from, to: nobody, value: "0x1" });
      void send(owner.address);
      while (asked === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      const late = new Promise((resolve) => setTimeout(() => resolve("waits"), 3_000));
      expect(await Promise.race([send(owner.address.toLowerCase()), late])).toBe("waits");
      if (name === "anvil") expect(await send(other.address)).toMatch(/^0x/);
      expect(asked).toBe(name === "anvil" ? 2 : 1);
      await scene.mine();
    });
  });

  describe("a client", () => {
    it("gives its reason to viem's fallback of sendCalls, too", async () => {
      const client = clientOf(owner);
      const fails = (call: object, more: object = {}) =>
        actions.sendCalls(client as never, { calls: [call], experimental_fallback: true, ...more } as never);
      expect([
        await tag(fails({ to: nobody, value: 10n ** 30n })),
        await tag(fails({ to: nobody, data: "0x1" })),
        await tag(fails(pay, { capabilities: { x: {} } })),
      ]).toEqual(["NotCleared", "InvalidTransaction", "GuardRefused"]);
      // by our own errors, not by those that viem reads out of words
      const poor = clientOf(owner.address).sendTransaction({ to: nobody, value: 10n ** 30n });
      expect(await poor.catch((error: Error) => reasonOf(error.cause)._tag)).toBe("NotCleared");
      const direct = await poor.catch((error: Error) => error.cause);
      expect((direct as Error).name).toBe("NotCleared");
    });

    it("refuses blobs without their hashes", async () => {
      const client = clientOf(owner);
      const blobs = { ...pay, blobs: ["0x11"], gas: 21_000n } as never;
      const refused = [
        () => client.sendTransaction(blobs),
        () => client.signTransaction(blobs),
        () => actions.sendTransaction(client as never, blobs),
        () => (client.account as LocalAccount).signTransaction({ ...pay, type: "eip1559", sidecars: [] } as never),
      ];
      for (const send of refused) expect(await tag(Promise.resolve().then(send)), String(send)).toBe("GuardRefused");
    });

    it("prepares requests", async () => {
      const prepared = await actions.prepareTransactionRequest(clientOf(owner) as never, pay as never);
      expect(prepared).toMatchObject({ to: nobody, value: 1n, nonce: await scene.count(owner.address, "pending") });
    });

    it("guards viem's token actions, and the key that they are given", async () => {
      const mint = encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [spare.address, 10n] });
      await scene.pool(owner, { to: token, data: mint });
      await scene.mine();
      const client = clientOf(spare) as unknown as {
        readonly token: { readonly transfer: (given: object) => Promise<`0x${string}`> };
      };
      // with the helpers that viem has at a verb, and the verbs that only read
      for (const part of [client.token, client.token.transfer] as const)
        expect(Object.keys(part)).toEqual(
          expect.arrayContaining(
            part === client.token ? ["transfer", "getBalance"] : ["simulate", "estimateGas", "call"],
          ),
        );
      const asked: Array<unknown> = [];
      const signTransaction = (one: unknown) => (asked.push(one), Promise.reject(new Error("signed")));
      const account = { ...third, signTransaction };
      expect(await tag(client.token.transfer({ account, token, to: nobody, amount: 10n }))).toBe("NotCleared");
      expect(await tag(client.token.transfer({ token, to: nobody, amount: 11n }))).toBe("NotCleared");
      expect(asked).toEqual([]);
      const hash = await client.token.transfer({ token, to: nobody, amount: 10n });
      await scene.mine();
      expect((await scene.receipt(hash)).status).toBe("0x1");
    });

    // anvil does not simulate what has no receiver
    it.skipIf(name === "anvil")("deploys contracts", async () => {
      const client = clientOf(owner);
      const deploying = { abi: Token.abi, bytecode: Token.bytecode, args: ["Euro", "EUR", 6] } as const;
      const free = await actions.deployContract(client as never, deploying as never);
      await scene.mine();
      const hash = await client.deployContract(deploying);
      await scene.mine();
      for (const each of [free, hash]) expect((await scene.receipt(each)).status).toBe("0x1");
    });
  });
});

describe("methods and members of a provider", () => {
  let node: Node;
  beforeAll(async () => {
    node = await startAnvil();
  });
  afterAll(() => node.stop());
  const walletWith = (more: object = {}) => {
    const reached: Array<unknown> = [];
    return {
      reached,
      ...more,
      request: (asked: Asked): Promise<unknown> => (reached.push(asked), Promise.resolve("0x1")),
    };
  };
  const transaction = { from: owner.address, to: nobody, value: "0x1" };

  it("pass where they are known to be harmless; of wallets nothing else does", async () => {
    const wallet = walletWith();
    const guarded = guardProvider(wallet, { node: { url: node.url } });
    const nested = { method: "eth_sendTransaction", params: [transaction] };
    const unknown: ReadonlyArray<readonly [string, ...ReadonlyArray<unknown>]> = [
      ...["metamask_connectFoo", "wallet_issuePermissions", "wallet_addSubAccount", "wallet_createSubAccount"].map(
        (name) => [name, {}] as const,
      ),
      ...["wallet_snap", "wallet_requestSnaps", "keyring_exportAccount", "personal_importRawKey"].map(
        (name) => [name, {}] as const,
      ),
      ...["WALLET_FOO", " wallet_foo", "walletFoo", "eth_cancelTransaction", "coinbase-wallet_foo"].map(
        (name) => [name, {}] as const,
      ),
      ["wallet_requestPermissions", { wallet_snap: { x: {} } }],
      ["wallet_requestPermissions", { eth_accounts: {} }, "x"],
    ];
    const acting: ReadonlyArray<readonly [string, ...ReadonlyArray<unknown>]> = [
      ...["wallet_executeTransaction", "wallet_transfer", "wallet_pay", "wallet_delegate", "wallet_authorize"].map(
        (name) => [name, {}] as const,
      ),
      ...["wallet_batch", "wallet_invokeSnap", "keyring_approveRequest", "eth_decrypt"].map(
        (name) => [name, {}] as const,
      ),
      ...["personal_unlockAccount", "solana:signTransaction", "anvil_sendUnsignedTransaction"].map(
        (name) => [name, {}] as const,
      ),
      ["metamask_batch", [nested]],
      ["metamask_connectWith", nested],
      ["metamask_connectSign", "hi"],
      ["foo_v2sendBundle", {}],
      ["foo_relay", { request: { method: "wallet_addEthereumChain" } }],
      ["foo_ethSendTransaction", transaction],
      ["wc_request", { request: { method: "personal_sign" } }],
      ["foo_relay", JSON.stringify({ a: JSON.stringify(nested) })],
    ];
    for (const [method, ...params] of [...unknown, ...acting])
      expect(await tag(ask(guarded, method, ...params)), method).toBe("GuardRefused");
    expect(wallet.reached).toEqual([]);
    // a rule may let unknown methods pass, and never what sends
    const seen: Array<SignaturePayload> = [];
    const lax = guardProvider(wallet, { node: { url: node.url }, signatures: (one) => seen.push(one) > 0 });
    for (const [method, ...params] of acting)
      expect(await tag(ask(lax, method, ...params)), method).toBe("GuardRefused");
    expect([seen, wallet.reached]).toEqual([[], []]);
    for (const [method, ...params] of unknown) expect(await ask(lax, method, ...params), method).toBe("0x1");
    expect(seen).toEqual(
      unknown.map(([method, ...params]) => ({ kind: "method", address: null, content: { method, params } })),
    );
    const harmless: ReadonlyArray<readonly [string, ...ReadonlyArray<unknown>]> = [
      ...["eth_accounts", "eth_requestAccounts", "eth_getBalance", "eth_call", "eth_estimateGas", "eth_simulateV1"].map(
        (name) => [name, 1n] as const,
      ),
      ...["eth_newBlockFilter", "eth_unsubscribe", "net_version", "web3_sha3", "anvil_setBalance", "evm_mine"].map(
        (name) => [name, 1n] as const,
      ),
      ...["wallet_switchEthereumChain", "wallet_watchAsset", "wallet_revokePermissions", "wallet_getPermissions"].map(
        (name) => [name, {}] as const,
      ),
      ["wallet_requestPermissions", { eth_accounts: {} }],
      ["foo_bar", { method: "eth_call", text: "eth_sendTransaction" }],
      ["txpool_contentFrom", owner.address],
      ["ots_getTransactionBySenderAndNonce", owner.address, 1],
      ["alchemy_getAssetTransfers", {}],
    ];
    wallet.reached.length = 0;
    for (const [method, ...params] of harmless) expect(await ask(guarded, method, ...params), method).toBe("0x1");
    expect(wallet.reached).toEqual(harmless.map(([method, ...params]) => ({ method, params })));
  });

  it("of a wallet that are on no list do not pass, unless `passes` names them", async () => {
    const wallet = walletWith();
    const options = { node: { url: node.url } };
    const strange = [
      "eth_getEncryptionPublicKey",
      "eth_getFoo",
      "eth_estimateFoo",
      "eth_newFooFilter",
      "wallet_getKeys",
    ];
    const guarded = guardProvider(wallet, options);
    for (const method of strange) expect(await tag(ask(guarded, method)), method).toBe("GuardRefused");
    expect(wallet.reached).toEqual([]);
    const passes = ["eth_getFoo", "wallet_getKeys"];
    const lax = guardProvider(wallet, { ...options, passes });
    const client = guard(createWalletClient({ account: owner.address, transport: custom(wallet) }), { passes });
    passes.push("eth_estimateFoo");
    const nested = (method: string) => ({ request: { method } });
    for (const to of [lax, client as Requests]) {
      expect([await ask(to, "eth_getFoo", 1), await ask(to, "wallet_getKeys")]).toEqual(["0x1", "0x1"]);
      expect(await ask(to, "foo_relay", nested("eth_getFoo"))).toBe("0x1");
      for (const [method, ...params] of [
        ["eth_estimateFoo"],
        ["eth_getFoo", nested("eth_sendTransaction")],
        ["foo_relay", nested("eth_newFooFilter")],
      ] as const)
        expect(await tag(ask(to, method, ...params)), method).toBe("GuardRefused");
    }
    const wrong = [
      ...["eth_sendTransaction", "personal_sign", "foo_submitOrder", "wallet_connect", "wallet_requestPermissions"],
      ...["wallet_getCallsStatus", "eth_get Foo", "", 1],
    ].map((name) => ["eth_getFoo", name]);
    for (const each of [...wrong, "eth_getFoo", {}]) {
      const making = () => guardProvider(wallet, { ...options, passes: each as never });
      expect(making, JSON.stringify(each)).toThrow(
        expect.objectContaining({ _tag: "InvalidConnection", field: "passes" }),
      );
    }
  });

  it("pass for every public action of viem's, on Ethereum and on the chains that viem has actions for", async () => {
    const viem = dirname(fileURLToPath(import.meta.resolve("viem/package.json")));
    const sources = [
      "actions/public",
      "op-stack/actions",
      "zksync/actions",
      "linea/actions",
      "celo",
      "account-abstraction",
    ];
    const methods = new Set<string>();
    for (const folder of sources)
      for (const file of readdirSync(join(viem, folder), { recursive: true, encoding: "utf8" })) {
        if (!file.endsWith(".ts")) continue;
        for (const [, method = ""] of readFileSync(join(viem, folder, file), "utf8").matchAll(/method: *'(\w+)'/g))
          methods.add(method);
      }
    const schema = /export type PublicRpcSchema = \[.*?^\]/ms.exec(
      readFileSync(join(viem, "types/eip1193.ts"), "utf8"),
    );
    for (const [, method = ""] of (schema?.[0] ?? "").matchAll(/Method: '(\w+)'/g)) methods.add(method);
    // what sends, in its own name
    const sending = [...methods].filter((method) => /_send/.test(method));
    expect(sending.sort()).toEqual(["eth_sendRawTransaction", "eth_sendRawTransactionSync", "eth_sendUserOperation"]);
    const reading = [...methods].filter((method) => !sending.includes(method));
    expect(reading.length).toBeGreaterThan(60);
    const wallet = walletWith();
    const guarded = guardProvider(wallet, { node: { url: node.url } });
    for (const method of reading) expect(await ask(guarded, method), method).toBe("0x1");
    // and no public action asks for more than its sources name
    const asked = new Set<string>();
    const client = createClient({
      transport: custom(
        { request: ({ method }: Asked) => (asked.add(method), Promise.reject(new Error("none"))) },
        { retryCount: 0 },
      ),
    });
    const hash = `0x${"11".repeat(32)}` as const;
    const given = {
      ...{
        address: nobody,
        account: nobody,
        to: nobody,
        hash,
        filter: { id: "0x1", request: client.request, type: "event" },
      },
      ...{
        abi: Token.abi,
        functionName: "name",
        contracts: [],
        blocks: [{ calls: [] }],
        calls: [],
        blockCount: 1,
        index: 0,
      },
      ...{
        name: "a.eth",
        key: "a",
        slot: "0x0",
        storageKeys: [],
        message: "x",
        signature: hash,
        rewardPercentiles: [],
        requests: [],
      },
    };
    const actions: ReadonlyArray<readonly [string, unknown]> = Object.entries(publicActions(client));
    for (const [name, action] of actions)
      if (typeof action === "function" && !/^(watch|send|waitFor)/.test(name))
        await Promise.resolve(action(given)).catch(() => undefined);
    expect(asked.size).toBeGreaterThan(15);
    expect([...asked].filter((method) => !methods.has(method))).toEqual([]);
  });

  it("have their parameters judged as they are passed on, and are rejected when these cannot be read", async () => {
    const wallet = walletWith();
    const guarded = guardProvider(wallet, { node: { url: node.url } });
    const hiding = Object.assign(Object.create({ toJSON: () => ({}) }) as object, { capabilities: { x: 1 } });
    const late: Record<string, unknown> = { version: "1" };
    const all = [ask(guarded, "wallet_connect", hiding), ask(guarded, "wallet_connect", late)];
    late["capabilities"] = { x: 1 };
    await Promise.all(all);
    expect(wallet.reached).toEqual([{}, { version: "1" }].map((one) => ({ method: "wallet_connect", params: [one] })));
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const throwing = {
      get method(): string {
        throw new Error("x");
      },
    };
    const rotten = [
      { method: "wallet_connect", params: [1n] },
      { method: "wallet_connect", params: [cycle] },
      throwing,
      null,
      new String("eth_sendTransaction"),
      { method: new String("eth_chainId") },
    ];
    for (const one of rotten) {
      let rejected: Promise<unknown> | null = null;
      expect(() => (rejected = guarded.request(one as never))).not.toThrow();
      expect(await tag(rejected ?? Promise.resolve())).toBe("GuardRefused");
    }
    const client = guard(createWalletClient({ account: owner, transport: custom(wallet) }));
    for (const one of rotten) expect(await tag(client.request(one as never))).toBe("GuardRefused");
    // a proxy that says another thing each time it is read
    let reads = 0;
    const shifting = new Proxy(
      {},
      { get: (_, name) => (name === "method" ? (reads++ === 0 ? "eth_chainId" : "eth_sendTransaction") : []) },
    );
    wallet.reached.length = 0;
    await guarded.request(shifting as never);
    expect(wallet.reached).toEqual([{ method: "eth_chainId", params: [] }]);
  });

  it("give out events and data, and neither members that may sign nor the wallet itself", async () => {
    const inner = walletWith();
    class Wallet extends EventEmitter {
      readonly #key = "x";
      readonly isMetaMask = true;
      readonly session = { namespaces: { eip155: { accounts: [owner.address] } } };
      readonly signer = inner;
      readonly client = { session: inner };
      readonly providers = [inner];
      readonly mnemonic = "test test";
      readonly wallets = { [owner.address]: { privateKey: "0x11" } };
      chainId = "0x1";
      request(asked: Asked): Promise<unknown> {
        return Promise.resolve(`${asked.method} ${this.#key}`);
      }
      sendTransaction = (): string => "raw";
      isConnected = (): boolean => this.#key === "x";
      connect(): Promise<unknown> {
        return Promise.resolve(this);
      }
      enable(): Promise<unknown> {
        return Promise.resolve(inner);
      }
    }
    const wallet = new Wallet();
    const walletWithout = { request: wallet.request.bind(wallet) };
    const guarded = guardProvider(wallet, { node: { url: node.url } });
    const wild = guarded as unknown as Record<string, () => unknown>;
    expect([guarded.isMetaMask, guarded.session, guarded.isConnected()]).toEqual([true, wallet.session, true]);
    expect(guarded.session).not.toBe(wallet.session);
    expect([guarded.signer, guarded.client, guarded.providers, await guarded.enable()]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect([guarded.mnemonic, guarded.wallets, guarded.chainId]).toEqual([undefined, undefined, "0x1"]);
    expect(await guarded.connect()).toBe(guarded);
    // a promise of another realm, or of a library
    // oxlint-disable-next-line unicorn/no-thenable
    const lazy = { ...walletWithout, connect: () => ({ then: (done: (value: unknown) => void) => done(inner) }) };
    const asked = guardProvider(lazy, { node: { url: node.url } }).connect();
    expect([asked instanceof Promise, await asked]).toEqual([true, undefined]);
    for (const name of ["sendTransaction", "signMessage", "extend", "constructor", "__defineGetter__"])
      if (name in wallet) expect(() => wild[name]?.(), name).toThrow("no member of a provider that a guard knows");
    expect(Object.getPrototypeOf(guarded)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(guarded, "sendTransaction")).toBeUndefined();

    const heard: Array<unknown> = [];
    const listener = function (this: unknown, ...told: ReadonlyArray<unknown>) {
      heard.push(this, ...told);
    };
    expect(guarded.on("x", listener)).toBe(guarded);
    guarded.once("y", listener);
    wallet.emit("x", { provider: wallet, chainId: "0x1" }, wallet);
    wallet.emit("y");
    const circle: Record<string, unknown> = { provider: wallet };
    circle["target"] = circle;
    const shown: Array<unknown> = [];
    guarded.once("z", (...all: ReadonlyArray<unknown>) => void shown.push(...all));
    const failure = Object.assign(new Error("gone"), { code: 4900, data: { provider: wallet, request: 1 } });
    expect(wallet.emit("z", circle, { a: [{ b: { wallet, sign: () => 1, c: 1 } }] }, failure)).toBe(true);
    const [round, deep, error] = shown as ReadonlyArray<Record<string, unknown>>;
    expect([round?.["target"] === round, round?.["provider"]]).toEqual([true, undefined]);
    expect(deep).toEqual({ a: [{ b: { c: 1 } }] });
    expect([error instanceof Error, { ...error }, error?.["message"]]).toEqual([
      true,
      { code: 4900, data: { request: 1 } },
      "gone",
    ]);
    const [first, told, ...rest] = heard;
    expect([first === guarded, told, rest[0], rest[1] === guarded]).toEqual([
      true,
      { chainId: "0x1" },
      undefined,
      true,
    ]);
    expect(guarded.removeListener("x", listener)).toBe(guarded);
    expect([wallet.emit("x"), guarded.listenerCount("x")]).toEqual([false, 0]);

    for (const name of ["request", "send", "on", "signer"])
      expect(
        Reflect.set(guarded, name, () => "mine"),
        name,
      ).toBe(false);
    expect([Reflect.set(guarded, "request", 1), await wallet.request({ method: "eth_chainId" })]).toEqual([
      false,
      "eth_chainId x",
    ]);
    expect([Reflect.set(guarded, "chainId", "0x2"), wallet.chainId]).toEqual([false, "0x1"]);
    expect(Reflect.defineProperty(guarded, "chainId", { value: "0x2", configurable: true })).toBe(true);
    expect([guarded.chainId, wallet.chainId]).toEqual(["0x1", "0x1"]);
  });

  it("do not show the listeners that others added", () => {
    const wallet = Object.assign(new EventEmitter(), walletWith());
    const heard: Array<unknown> = [];
    guardProvider(wallet, { node: { url: node.url } }).on("newListener", (...all: ReadonlyArray<unknown>) => {
      heard.push(...all);
    });
    wallet.on("x", () => "the wallet's own");
    expect(heard).toEqual(["x", undefined]);
  });

  it.skipIf(process.env["TEST_ALL"] !== "1")(
    "leave nothing running: a process whose provider was guarded ends by itself",
    async () => {
      const { execFileSync } = await import("node:child_process");
      const code = `import { guardProvider } from "./src/promise.ts";
      const ask = async ({ method, params }) => (await (await fetch("${node.url}", { method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) })).json()).result;
      await guardProvider({ request: ask }).request({ method: "eth_sendTransaction", params: [${JSON.stringify({ ...transaction, value: `0x${"f".repeat(24)}` })}] })
        .catch((error) => console.log(error._tag));`;
      const options = { encoding: "utf8", timeout: 25_000 } as const;
      const flags = ["--conditions=@evm-preflight/source", "--import", "tsx", "--input-type=module", "-e", code];
      expect(execFileSync(process.execPath, flags, options).trim()).toBe("NotCleared");
    },
  );
});

describe("a client's account and transport", () => {
  const transport = http("http://127.0.0.1:1", { retryCount: 0 });
  const key = privateKeyToAccount(`0x${"11".repeat(32)}`);

  it("keep the fields of viem's accounts, and nothing inside", () => {
    const rich = { ...key, inner: key, vault: { key: "0x11" }, privateKey: "0x11", nonceManager: { get: () => 0 } };
    const { account } = guard(createWalletClient({ account: rich as unknown as LocalAccount, transport }));
    expect(Object.keys(account).sort()).toEqual(
      [
        "address",
        "nonceManager",
        "publicKey",
        "source",
        "type",
        "sign",
        "signAuthorization",
        "signMessage",
        "signTransaction",
        "signTypedData",
      ].sort(),
    );
  });

  it("are guarded for an account that only signs messages, and one that only claims to be the wallet's", async () => {
    for (const type of ["local", "json-rpc"]) {
      const mute = { address: key.address, type, signMessage: key.signMessage, inner: key } as unknown as LocalAccount;
      const client = guard(createWalletClient({ account: mute, transport }));
      expect(await tag(client.signMessage({ message: "x" }))).toBe("GuardRefused");
      expect(client.account).not.toHaveProperty("inner");
      expect(
        await tag(guard(createWalletClient({ account: key, transport })).signMessage({ account: mute, message: "x" })),
      ).toBe("GuardRefused");
    }
    const named = { address: key.address, type: "json-rpc", inner: key } as never;
    expect(guard(createWalletClient({ account: named, transport })).account).toEqual({
      address: key.address,
      type: "json-rpc",
    });
  });

  it("give out no part that may send on its own", () => {
    const client = guard(createWalletClient({ account: key, transport: fallback([transport, transport]) }));
    expect(client.transport).not.toHaveProperty("onResponse");
    expect(client.transport).toMatchObject({ type: "fallback", transports: [{ config: { type: "http" } }, {}] });
    class Rpc {
      readonly url = "http://127.0.0.1:1";
      request(): number {
        return 1;
      }
    }
    const leaking = () => ({
      config: { key: "x", type: "custom", name: "x" },
      value: { raw: { request: () => 1 }, rpc: new Rpc(), fetchOptions: { a: 1 } },
      request: () => Promise.resolve(),
    });
    const { transport: shown } = guard(createWalletClient({ account: key, transport: leaking as never }));
    expect(shown).toMatchObject({ fetchOptions: { a: 1 } });
    expect(shown).not.toHaveProperty("raw");
    // of an object of a class the data, and nothing that asks
    expect(Object.getPrototypeOf(Reflect.get(shown, "rpc"))).toBe(Object.prototype);
  });
});
