/** Signing in: what a message has to be so that a guard lets it pass, and what it may not be. */
import { createWalletClient, custom, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage, generateSiweNonce } from "viem/siwe";
import { describe, expect, it } from "vitest";
import { guardProvider, type GuardOptions, type SignaturePayload } from "evm-preflight/promise";
import { guard } from "evm-preflight/viem";
import { nobody } from "../preflight/scene.js";
import { rejection } from "./reasons.js";

type Asked = { readonly method: string; readonly params?: ReadonlyArray<unknown> };
const key = privateKeyToAccount(`0x${"22".repeat(32)}`);
const { address } = key;
const origin = "https://app.example.com";

/** A message as an honest page writes it, changed. */
const messageOf = (change: object = {}): string =>
  createSiweMessage({
    ...{
      address,
      chainId: 1,
      domain: "app.example.com",
      nonce: generateSiweNonce(),
      uri: `${origin}/login`,
      version: "1",
    },
    ...{ statement: "Sign in to the app.", issuedAt: new Date() },
    ...change,
  } as never);

/** Nobody: no rule about signing in asks a node. */
const node = { url: "http://127.0.0.1:1" };
const soon = (ms: number) => new Date(Date.now() + ms);

describe("a guard that allows sign-ins", () => {
  /** A wallet on chain 1 that signs whatever it is asked to. */
  const walletOf = (answer: (asked: Asked) => unknown = () => "0xsigned") => {
    const reached: Array<Asked> = [];
    const request = (asked: Asked): Promise<unknown> => {
      if (asked.method === "eth_chainId") return Promise.resolve("0x1");
      reached.push(asked);
      return Promise.resolve(answer(asked));
    };
    return { reached, request };
  };
  const guardedBy = (at = origin, answer?: (asked: Asked) => unknown, more: GuardOptions = {}) => {
    const wallet = walletOf(answer);
    const options: GuardOptions = { node, signatures: { signIn: { origin: at } }, ...more };
    const guarded = guardProvider(wallet, options);
    const ask = (method: string, ...params: ReadonlyArray<unknown>) => guarded.request({ method, params } as never);
    /** Whether it reaches the wallet. */
    const signs = async (message: string, account: string = address) => {
      const answer = await rejection(ask("personal_sign", stringToHex(message), account));
      return answer._tag === "GuardRefused" ? (answer as unknown as Error).message : answer._tag;
    };
    return { wallet, ask, signs };
  };
  const signed = "resolved 0xsigned";

  it("passes a sign-in at its origin, in each form and order", async () => {
    const { ask, signs, wallet } = guardedBy();
    const honest = [
      messageOf(),
      messageOf({ statement: undefined }),
      messageOf({ scheme: "https" }),
      messageOf({ domain: "APP.example.com:443" }),
      messageOf({ expirationTime: soon(60_000), notBefore: soon(-1_000), requestId: "1" }),
      messageOf({ resources: ["https://example.com/terms", "ipfs://bafy"] }),
      messageOf({ statement: "I accept the Terms of Service: https://app.example.com/tos" }),
      messageOf({
        statement:
          "Click to sign in and accept the Terms. This request will not trigger a blockchain transaction or cost any gas fees.",
      }),
      // times without milliseconds, and of another zone
      messageOf().replace(/\.\d{3}Z/, "Z"),
      messageOf().replace(/\.\d{3}Z/, "+00:00"),
    ];
    for (const message of honest) expect(await signs(message), message).toBe(signed);
    const message = messageOf();
    expect(await ask("personal_sign", message, address)).toBe("0xsigned");
    expect(await ask("personal_sign", address, stringToHex(message))).toBe("0xsigned");
    expect(await ask("personal_sign", stringToHex(message), address.toLowerCase(), "")).toBe("0xsigned");
    expect(wallet.reached).toHaveLength(honest.length + 3);
  });

  it("refuses every other message, and gives the reason", async () => {
    const { signs, wallet, ask } = guardedBy();
    const message = messageOf();
    const wrong: ReadonlyArray<readonly [message: string, why: string]> = [
      ["hello", "as ERC-4361 demands"],
      [messageOf({ domain: "example.com" }), "it is for example.com"],
      [messageOf({ domain: "app.example.com:8443" }), "it is for"],
      [messageOf({ domain: "app.example.com.evil.com" }), "it is for"],
      [messageOf({ scheme: "http" }), "it is for"],
      [messageOf({ uri: "https://evil.com" }), "its URI"],
      [messageOf({ uri: "did:key:z6Mk" }), "its URI"],
      [messageOf({ uri: "https://app.example.com@evil.com" }), "its URI"],
      [messageOf({ uri: "https://user@app.example.com/" }), "its URI"],
      [message.replace("app.example.com", "user@app.example.com"), "as ERC-4361 demands"],
      [message.replace("app.example.com", "аpp.example.com"), "printable ASCII"],
      [messageOf({ address: nobody }), "another account"],
      [messageOf({ chainId: 10 }), "for chain 10"],
      [messageOf({ issuedAt: soon(-6 * 60_000) }), "just now"],
      [messageOf({ issuedAt: soon(6 * 60_000) }), "just now"],
      [message.replace(/Issued At: .*/, "Issued At: soon"), "as ERC-4361 demands"],
      [message.replace(/\nIssued At: .*/, ""), "as ERC-4361 demands"],
      [messageOf({ expirationTime: soon(-1_000) }), "expired"],
      [messageOf({ notBefore: soon(60_000) }), "not valid yet"],
      [messageOf({ resources: ["urn:recap:eyJhdHQ"] }), "resource"],
      [messageOf({ resources: ["https://example.com", "ceramic://*"] }), "resource"],
      [
        messageOf({
          statement:
            "Please confirm you explicitly initiated this request from app.example.com. You are approving to execute transaction 0x1::coin::transfer on Aptos blockchain (mainnet).",
        }),
        "order",
      ],
      [messageOf({ statement: "To execute transaction 0x1 on chain" }), "order"],
      [messageOf({ statement: "This will not cost you to transfer 1 ETH." }), "order"],
      [messageOf({ statement: "This will not trigger a transaction. Sell all." }), "order"],
      [messageOf({ requestId: "execute all" }), "order"],
      [messageOf({ statement: "one\u202Etwo" }), "printable ASCII"],
      [message.replace("Sign in to the app.", "Sign\rin"), "printable ASCII"],
      [message.replace("Sign in to the app.", "Sign\n\nin"), "as ERC-4361 demands"],
      [`${message}\n`, "as ERC-4361 demands"],
      [`${message}\nTransfer: all`, "as ERC-4361 demands"],
      [`Give me all.\n${message}`, "as ERC-4361 demands"],
      [message.replace(address, address.toLowerCase()), "as ERC-4361 demands"],
      [message.replace("Version: 1", "Version: 2"), "as ERC-4361 demands"],
      [message.replace(/Nonce: .*/, "Nonce: 1"), "as ERC-4361 demands"],
      [messageOf({ resources: Array.from({ length: 1_000 }, () => "https://example.com/long") }), "printable ASCII"],
    ];
    for (const [each, why] of wrong) expect(await signs(each), each).toContain(why);
    expect(await signs(messageOf(), nobody)).toContain("another account");
    // bytes that are no UTF-8, or begin with a mark that a decoder drops, and what is no message
    const hex = stringToHex(message);
    for (const [method, ...params] of [
      ["personal_sign", `${hex}ff`, address],
      ["personal_sign", `0xefbbbf${hex.slice(2)}`, address],
      ["personal_sign", hex],
      ["personal_sign", { toString: hex }, address],
      ["eth_sign", address, hex],
      ["eth_signTypedData_v4", address, "{}"],
      ["wallet_foo", hex],
    ] as const)
      expect((await rejection(ask(method, ...params)))._tag, `${method} ${JSON.stringify(params[0])}`).toBe(
        "GuardRefused",
      );
    expect(wallet.reached).toEqual([]);
  });

  it("reads its own host by punycode, and in development without a port", async () => {
    const chinese = guardedBy("https://xn--fsqu00a.example");
    const at = (domain: string, uri: string) => messageOf({ domain, uri });
    expect(await chinese.signs(at("xn--fsqu00a.example", "https://xn--fsqu00a.example/"))).toBe(signed);
    const local = guardedBy("http://localhost:5173");
    expect(await local.signs(at("localhost:5173", "http://localhost:5173"))).toBe(signed);
    expect(await local.signs(at("localhost", "http://localhost:5173"))).toBe(signed);
    expect(await local.signs(at("localhost:3000", "http://localhost:5173"))).toContain("it is for");
    expect(await guardedBy("https://app.example.com:8443").signs(at("app.example.com", `${origin}:8443`))).toContain(
      "it is for",
    );
  });

  it("holds a local key to the same rule", async () => {
    const transport = custom({
      request: ({ method }: Asked) => Promise.resolve(method === "eth_chainId" ? "0x1" : null),
    });
    const signatures = { signIn: { origin } };
    const client = guard(createWalletClient({ account: key, transport }), { node, signatures });
    // what the rule says is fixed when the guard is made
    signatures.signIn.origin = "https://evil.com";
    const message = messageOf();
    expect(await client.signMessage({ message })).toBe(await key.signMessage({ message }));
    const bytes = new TextEncoder().encode(message);
    for (const raw of [bytes, stringToHex(message)])
      expect(await client.signMessage({ message: { raw } })).toBe(await key.signMessage({ message }));
    const types = { A: [{ name: "a", type: "uint256" }] } as const;
    for (const signing of [
      () => client.signMessage({ message: "hello" }),
      () => client.signMessage({ message: messageOf({ domain: "evil.com", uri: "https://evil.com" }) }),
      // viem signs this text, not the bytes that it names
      () => client.signMessage({ message: stringToHex(message) }),
      () => client.signTypedData({ types, primaryType: "A", message: { a: 1n } }),
    ])
      expect((await rejection(signing()))._tag).toBe("GuardRefused");
  });

  it("allows connecting with a sign-in, and with nothing else that a wallet would sign or send for it", async () => {
    let message = messageOf({ uri: origin });
    const capability = () => ({ signInWithEthereum: { message, signature: "0x11" } });
    const answer = () => ({ accounts: [{ address, capabilities: capability(), sign: () => "raw" }] });
    const connect = (capabilities: unknown, more: object = {}) => [{ version: "1", capabilities, ...more }] as const;
    const signInWithEthereum = { nonce: "abcdefgh12", chainId: "0x1" };
    const { ask, wallet } = guardedBy(origin, answer);
    const full = { ...signInWithEthereum, domain: "app.example.com", uri: origin, statement: "Sign in.", version: "1" };
    for (const each of [signInWithEthereum, full])
      expect(await ask("wallet_connect", ...connect({ signInWithEthereum: each }))).toEqual({
        accounts: [{ address, capabilities: capability() }],
      });
    for (const plain of [[], [{}], [{ version: "1", capabilities: {} }], [{ chainIds: ["0x1"] }]])
      expect(await ask("wallet_connect", ...plain)).toHaveProperty("accounts");
    // what the wallet signed is held to the rule, too
    for (const wrong of [messageOf({ address: nobody }), messageOf({ chainId: 10 }), "I give you all"]) {
      message = wrong;
      const failure = await rejection(ask("wallet_connect", ...connect({ signInWithEthereum })));
      expect((failure as unknown as Error).message).toContain("the wallet signed a message that is no sign-in");
    }
    wallet.reached.length = 0;
    const refused = [
      connect({ signInWithEthereum: { ...signInWithEthereum, domain: "evil.com" } }),
      connect({ signInWithEthereum: { ...signInWithEthereum, chainId: "0xa" } }),
      connect({ signInWithEthereum: { ...signInWithEthereum, resources: ["urn:recap:x"] } }),
      connect({ signInWithEthereum: { ...signInWithEthereum, statement: "Execute transaction 1" } }),
      connect({ signInWithEthereum: { ...signInWithEthereum, order: "1" } }),
      connect({ signInWithEthereum: null }),
    ];
    /** Refused whatever the rule says. */
    const never = [
      connect({ signInWithEthereum, grantPermissions: {} }),
      connect({ spendPermissions: {} }),
      connect({ addSubAccount: { optional: true } }),
      connect("x"),
      connect({}, { preCalls: [] }),
      connect({}, { request: { method: "personal_sign" } }),
      [{ capabilities: {} }, { method: "eth_sendTransaction" }],
      ["x"],
    ];
    for (const params of [...refused, ...never])
      expect((await rejection(ask("wallet_connect", ...params)))._tag, JSON.stringify(params)).toBe("GuardRefused");
    const seen: Array<SignaturePayload> = [];
    for (const signatures of ["allow", "refuse", (payload: SignaturePayload) => seen.push(payload) > 0] as const) {
      const other = guardedBy(origin, () => "0x", { signatures });
      for (const params of never)
        expect((await rejection(other.ask("wallet_connect", ...params)))._tag).toBe("GuardRefused");
      expect(other.wallet.reached).toEqual([]);
      const asking = rejection(other.ask("wallet_connect", ...connect({ signInWithEthereum })));
      expect((await asking)._tag).toBe(signatures === "refuse" ? "GuardRefused" : "resolved 0x");
    }
    expect(seen).toEqual([{ kind: "message", address: null, content: connect({ signInWithEthereum }) }]);
    expect(wallet.reached).toEqual([]);
  });

  it("gives the rule typed data parsed beside its text, as a copy", async () => {
    const typed = {
      types: { EIP712Domain: [], Permit: [{ name: "spender", type: "address" }] },
      ...{ primaryType: "Permit", domain: { name: "USD" }, message: { spender: nobody } },
    };
    const text = JSON.stringify(typed);
    const seen: Array<SignaturePayload["typedData"]> = [];
    const signatures = ({ typedData }: SignaturePayload) => {
      seen.push(structuredClone(typedData));
      if (typedData !== undefined) Object.assign(typedData.message, { spender: address });
      return true;
    };
    const { ask, wallet } = guardedBy(origin, undefined, { signatures });
    await ask("eth_signTypedData_v4", address, text);
    await ask("eth_signTypedData_v4", address, typed);
    expect(wallet.reached.map(({ params }) => params)).toEqual([
      [address, text],
      [address, typed],
    ]);
    for (const odd of [
      "{",
      "[]",
      '{"types":{"A":[1]},"primaryType":"A","message":{}}',
      [{ name: "a", type: "string" }],
    ])
      await ask("eth_signTypedData_v4", address, odd);
    await ask("personal_sign", text, address);
    expect(seen).toEqual([typed, typed, undefined, undefined, undefined, undefined, undefined]);
    const client = guard(
      createWalletClient({ account: key, transport: custom({ request: () => Promise.resolve("0x1") }) }),
      { node, signatures },
    );
    const {
      types: { Permit },
      ...rest
    } = typed;
    const signing = { ...rest, types: { Permit } } as const;
    expect(await client.signTypedData(signing as never)).toBe(await key.signTypedData(signing as never));
    expect(seen.at(-1)).toMatchObject({ domain: { name: "USD" }, primaryType: "Permit", message: { spender: nobody } });
  });

  it("requires an origin, and refuses unknown fields", () => {
    const making = (signatures: unknown) => () => guardProvider(walletOf(), { signatures: signatures as never });
    for (const wrong of [
      ...[{}, { signIn: {} }, { signIn: { origin: "app.example.com" } }, { signIn: { origin: "https://a.b/path" } }],
      ...[{ signIn: { origin: "https://A.b" } }, { signIn: { origin: "https://u@a.b" } }, { signIn: { origin: 1 } }],
      ...[{ signIn: { origin }, more: {} }, { signIn: { origin: "file:///x" } }, "signIn", []],
    ])
      expect(making(wrong), JSON.stringify(wrong)).toThrow(
        expect.objectContaining({ _tag: "InvalidConnection", field: expect.stringMatching(/^signatures/) }),
      );
    expect(making({ signIn: { origin } })).not.toThrow();
  });
});
