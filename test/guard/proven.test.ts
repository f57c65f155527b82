/** Signatures through both guards on the real contracts: a wallet that notes every digest it is asked for is asked for none unproven. */
import {
  createWalletClient,
  custom,
  hashMessage,
  hashTypedData,
  http,
  stringToHex,
  type Hex,
  type LocalAccount,
} from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { hashAuthorization } from "viem/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Policy } from "evm-preflight";
import { createPreflight, guardProvider, type GuardOptions, type PreflightClient } from "evm-preflight/promise";
import { guard } from "evm-preflight/viem";
import { diceOf, type Dice } from "../harness/families/kit.js";
import { kitsFor, type Kit, type TypedData } from "../signing/kit.js";
import { mutationsOf, rows, type Signing } from "../signing/messages.js";
import { hasBeds } from "../signing/parts.js";
import { rejection } from "./reasons.js";

type Rule = NonNullable<
  Exclude<GuardOptions["signatures"], string | ((...args: never) => unknown) | undefined>["prove"]
>;
type Asked = { readonly method: string; readonly params: ReadonlyArray<unknown> };

/** A request, and whether it may be signed: by a report of its own, or never. */
interface Case {
  readonly name: string;
  readonly signing: Signing | { readonly hash: Hex };
  readonly signer: PrivateKeyAccount;
  readonly rule: Rule;
  readonly isNever: boolean;
  /** A wallet that answers with something else. */
  readonly lies?: "key" | "message" | "bytes";
}

const digestOf = (signing: Case["signing"]): Hex => {
  if ("typedData" in signing) return hashTypedData(signing.typedData as never);
  if ("message" in signing) return hashMessage(signing.message);
  return "hash" in signing ? signing.hash : hashAuthorization(signing.authorization);
};
const json = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));
const liar = privateKeyToAccount(`0x${"33".repeat(32)}`);

const withMessage = (typedData: TypedData, change: object): Signing => ({
  typedData: { ...typedData, message: { ...typedData.message, ...change } },
});

/** Hostile requests made of an honest one; null where there is none of it. */
const spoiled: Readonly<
  Record<string, (typedData: TypedData, now: bigint, random: Dice) => Partial<Omit<Case, "name">> | null>
> = {
  "a bare hash": (typedData) => ({ signing: { hash: hashTypedData(typedData as never) } }),
  "a text": (_, __, random) => ({ signing: { message: `I give it all to ${random.address()}` } }),
  "a type that nobody knows": ({ types, primaryType, ...rest }) => ({
    signing: {
      typedData: { ...rest, primaryType: "Other", types: { ...types, Other: types[primaryType] ?? [] } },
    },
  }),
  "another chain": (typedData) => ({
    signing: { typedData: { ...typedData, domain: { ...typedData.domain, chainId: 5 } } },
  }),
  "a contract that has another domain": (typedData) => ({
    signing: {
      typedData: {
        ...typedData,
        domain: { ...typedData.domain, verifyingContract: typedData.domain.salt ?? liar.address },
      },
    },
  }),
  "a message of another account": (typedData) =>
    ["owner", "holder", "from"].some((name) => name in typedData.message) ? { signer: liar } : null,
  "a deadline that is over": (typedData, now) => {
    const name = ["deadline", "sigDeadline", "validBefore", "endTime"].find((field) => field in typedData.message);
    return name === undefined ? null : { signing: withMessage(typedData, { [name]: now - 100n }) };
  },
  "a kind that is not named": ({ message }) => ({ rule: { kinds: "allowed" in message ? ["erc4494"] : ["dai"] } }),
  "a spender who is not named": (typedData) =>
    "spender" in typedData.message ? { rule: { spenders: [liar.address] } } : null,
  "a payment to who is not named": (typedData) =>
    "to" in typedData.message && typedData.message["value"] !== 0n ? { rule: { spenders: [liar.address] } } : null,
  "a policy that does not hold": (typedData) =>
    "spender" in typedData.message && "sigDeadline" in typedData.message
      ? { rule: { policies: [Policy.noNewApprovals] } }
      : null,
  "a number that does not fit": (typedData) => {
    const [name] = Object.entries(typedData.message).find(([, value]) => typeof value === "bigint") ?? [];
    return name === undefined ? null : { signing: withMessage(typedData, { [name]: -1n }) };
  },
  "a field that is missing": (typedData) => {
    const [name = ""] = Object.keys(typedData.message);
    return { signing: withMessage(typedData, { [name]: undefined }) };
  },
};

const casesOf = async (kit: Kit, seed: number): Promise<Case> => {
  const random = diceOf(seed);
  const signer = kit.owners.plain;
  const now = await kit.now();
  const row = random.of(rows);
  const { signing } = await row.message(kit, random, { owner: signer, spender: kit.spender, now });
  const honest = { name: row.name, signing, signer, rule: {}, isNever: false };
  const turn = seed % 4;
  if (turn === 0) return honest;
  if (turn === 1) {
    const [field, mutated] = random.of(mutationsOf(signing));
    return { ...honest, name: `${row.name} with another ${field}`, signing: mutated };
  }
  if (turn === 2 && random.below(2) === 0) return { ...honest, lies: random.of(["key", "message", "bytes"] as const) };
  if (!("typedData" in signing))
    return { ...honest, name: `${row.name}, another kind`, rule: { kinds: ["dai"] }, isNever: true };
  const all = Object.entries(spoiled).flatMap(([name, make]) => {
    const made = make(signing.typedData, now, random);
    return made === null ? [] : [{ ...honest, isNever: true, ...made, name: `${row.name}: ${name}` }];
  });
  return random.of(all);
};

const most = process.env["TEST_ALL"] === "1" ? 300 : 40;
const isThere = hasBeds("proven signatures on real contracts");
const ours = ["NotCleared", "GuardRefused", "InvalidTransaction"];

describe.skipIf(!isThere).each(kitsFor("proven signatures on real contracts"))(
  "a guard that proves signatures, on %s",
  (_, start) => {
    let kit: Kit;
    let preflight: PreflightClient;
    beforeAll(async () => {
      kit = await start();
      preflight = createPreflight({ url: kit.scene.url });
    }, 240_000);
    afterAll(async () => {
      await preflight?.dispose();
      await kit?.stop();
    });

    /** Digests that a key is asked for, by whichever way; it signs them, or lies. */
    const walletOf = (key: PrivateKeyAccount, lies?: Case["lies"], chainId = kit.scene.chainId) => {
      const digests: Array<Hex> = [];
      const asked: Array<Asked> = [];
      const sign = async (digest: Hex): Promise<Hex> => {
        digests.push(digest);
        if (lies === "bytes") return "0x1234";
        return lies === "key"
          ? liar.sign({ hash: digest })
          : key.sign({ hash: lies === "message" ? `0x${"44".repeat(32)}` : digest });
      };
      const request = async ({ method, params = [] }: Asked): Promise<unknown> => {
        asked.push({ method, params });
        if (method === "eth_chainId") return `0x${chainId.toString(16)}`;
        if (method === "personal_sign") return sign(hashMessage({ raw: params[0] as Hex }));
        if (method === "eth_signTypedData_v4") return sign(hashTypedData(JSON.parse(String(params[1])) as never));
        // whatever else gets here asks for what nobody proved
        return sign(`0x${"ee".repeat(32)}`);
      };
      const account = {
        ...key,
        sign: ({ hash }: { hash: Hex }) => sign(hash),
        signMessage: ({ message }: { message: never }) => sign(hashMessage(message)),
        signTypedData: (typedData: never) => sign(hashTypedData(typedData)),
        signAuthorization: async (authorization: Parameters<typeof hashAuthorization>[0]) => {
          const signature = await sign(hashAuthorization({ ...authorization, to: "hex" }));
          return {
            ...authorization,
            ...{
              r: signature.slice(0, 66),
              s: `0x${signature.slice(66, 130)}`,
              yParity: signature.endsWith("1c") ? 1 : 0,
            },
          };
        },
      } as unknown as LocalAccount;
      return { digests, asked, request, account };
    };

    const options = (prove: Rule, more: GuardOptions = {}): GuardOptions => ({
      ...{ node: { url: kit.scene.url }, onCaution: "send", signatures: { prove }, ...more },
    });
    const throughProvider = async ({ signing, signer, rule, lies }: Case, more: GuardOptions = {}) => {
      const wallet = walletOf(signer, lies);
      const guarded = guardProvider(wallet as never, options(rule, more)) as unknown as {
        request: (asked: Asked) => Promise<unknown>;
      };
      const asked: Asked =
        "typedData" in signing
          ? { method: "eth_signTypedData_v4", params: [signer.address, json(signing.typedData)] }
          : "message" in signing
            ? { method: "personal_sign", params: [stringToHex(signing.message), signer.address] }
            : "hash" in signing
              ? { method: "eth_sign", params: [signer.address, signing.hash] }
              : { method: "wallet_signAuthorization", params: [signer.address, signing.authorization] };
      return { wallet, ended: await rejection(guarded.request(asked)) };
    };
    const throughClient = async ({ signing, signer, rule, isNever, lies }: Case, more: GuardOptions = {}) => {
      const wallet = walletOf(signer, lies);
      const client = guard(
        createWalletClient({ account: wallet.account, transport: http(kit.scene.url) }),
        options(rule, more),
      );
      const { account } = client as unknown as { readonly account: PrivateKeyAccount };
      const signed =
        "typedData" in signing
          ? // viem's verb refuses some of them by itself
            isNever
            ? account.signTypedData(signing.typedData as never)
            : client.signTypedData(signing.typedData as never)
          : "message" in signing
            ? client.signMessage({ message: signing.message } as never)
            : "hash" in signing
              ? account.sign({ hash: signing.hash })
              : account.signAuthorization(signing.authorization);
      return { wallet, ended: await rejection(signed) };
    };

    it(`${most} requests, honest and hostile: none is signed that is not proven`, async () => {
      const counts = { signed: 0, refused: 0, lied: 0 };
      for (let seed = 1; seed <= most; seed++) {
        const one = await casesOf(kit, seed);
        const { signing, signer, rule } = one;
        const report = one.isNever
          ? null
          : await preflight.signature({ ...signing, signer: signer.address } as never).catch(() => null);
        const isReady = report?.verdict === "ready" || report?.verdict === "caution";
        for (const [by, through] of Object.entries({ throughProvider, throughClient })) {
          // nobody agreed on the form of a request for an authorisation
          const isFormless = by === "throughProvider" && "authorization" in signing;
          const at = `${seed} ${by} ${one.name} ${json(rule)}`;
          const { wallet, ended } = await through(one);
          const isSigned = ended._tag.startsWith("resolved");
          const isAsked = isReady && !isFormless;
          expect([at, wallet.digests], ended._tag).toEqual([at, isAsked ? [digestOf(signing)] : []]);
          expect([at, isSigned], String(ended)).toEqual([at, isAsked && one.lies === undefined]);
          if (isSigned) counts.signed++;
          else if (isAsked) counts.lied++;
          else counts.refused++;
          if (isSigned) continue;
          expect(ours, `${at} ${ended._tag}`).toContain(ended._tag);
          if (isAsked) expect([at, ended["what"]]).toEqual([at, "signature"]);
        }
      }
      // the table has all of them
      expect(Math.min(...Object.values(counts))).toBeGreaterThan(3);
    }, 900_000);

    /** A permit of USDC to the kit's spender, for an hour. */
    const permit = async (): Promise<Case & { readonly signing: { readonly typedData: TypedData } }> => {
      const row = rows.find(({ name }) => name === "ERC-2612 USDC 2.2");
      const parties = { owner: kit.owners.plain, spender: kit.spender, now: await kit.now() };
      const { signing } = (await row?.message(kit, diceOf(5), parties)) ?? {};
      if (signing === undefined || !("typedData" in signing)) throw new Error("no permit");
      const message = { ...signing.typedData.message, value: 7n, deadline: parties.now + 3_600n };
      return {
        ...{ name: "a permit", signing: { typedData: { ...signing.typedData, message } } },
        ...{ signer: kit.owners.plain, rule: {}, isNever: false },
      };
    };

    it("a wallet gets the canonical JSON, whatever the page adds to its own", async () => {
      const { signing, signer } = await permit();
      const wallet = walletOf(signer);
      const guarded = guardProvider(wallet as never, options({})) as unknown as typeof wallet;
      const loud = { ...signing.typedData, note: "added", message: { ...signing.typedData.message, more: { a: 1 } } };
      const text = json(loud).replace('"primaryType"', '"primaryType":"Other","primaryType"');
      await guarded.request({ method: "eth_signTypedData_v4", params: [text, signer.address, "more"] });
      const [handed, ...others] = wallet.asked.filter(({ method }) => method !== "eth_chainId");
      expect([handed?.method, handed?.params.length, others]).toEqual(["eth_signTypedData_v4", 2, []]);
      expect(handed?.params[0]).toBe(signer.address.toLowerCase());
      const { note, message } = JSON.parse(String(handed?.params[1])) as Record<string, Record<string, unknown>>;
      expect([note, message?.["more"], message?.["value"]]).toEqual([undefined, undefined, "7"]);
      expect(wallet.digests).toEqual([digestOf(signing)]);
    });

    it("a JSON-RPC account of a client is proven as well, and older forms of typed data are refused", async () => {
      const { signing, signer } = await permit();
      const wallet = walletOf(signer);
      const transport = custom({ request: (asked: Asked) => wallet.request(asked) } as never);
      const client = guard(createWalletClient({ account: signer.address, transport }), options({}));
      await client.signTypedData(signing.typedData as never);
      expect(wallet.digests).toEqual([digestOf(signing)]);
      const params = [signer.address, json(signing.typedData)];
      for (const method of ["eth_signTypedData", "eth_signTypedData_v3", "eth_signTypedData_v5"])
        expect((await rejection(client.request({ method, params } as never)))["what"]).toBe(method);
      expect(wallet.digests).toHaveLength(1);
    });

    it("a caution is signed only where onCaution accepts it, and the rule's policies hold beside the guard's", async () => {
      const one = await permit();
      const shown: Array<string> = [];
      const onCaution = ({ verdict, signing }: { verdict: string; signing?: { kind: string } }) =>
        shown.push(`${verdict} ${signing?.kind}`) > 1;
      for (const through of [throughProvider, throughClient]) {
        const refused = await through(one, { onCaution: "refuse" });
        expect([refused.ended._tag, refused.wallet.digests]).toEqual(["NotCleared", []]);
        const policies = { policies: [Policy.noNewApprovals] };
        for (const [rule, more] of [
          [{}, policies],
          [policies, {}],
          [policies, { policies: [Policy.maxFee(1n)] }],
          [{ policies: [Policy.maxFee(1n)] }, policies],
        ] as const) {
          const { ended, wallet } = await through({ ...one, rule }, more);
          expect([ended._tag, ended["data"], wallet.digests]).toMatchObject([
            "NotCleared",
            { codes: expect.arrayContaining(["PolicyViolation"]) },
            [],
          ]);
        }
      }
      expect((await throughClient(one, { onCaution })).ended._tag).toBe("NotCleared");
      expect((await throughClient(one, { onCaution })).ended._tag).toMatch(/^resolved 0x/);
      expect(shown).toEqual(["caution erc2612", "caution erc2612"]);
    });

    it("refusals name the field", async () => {
      const one = await permit();
      const fields = async (change: Partial<Case>) => {
        const { ended } = await throughProvider({ ...one, ...change });
        return [ended._tag, ended["what"] ?? ended["field"]];
      };
      expect(await fields({ rule: { kinds: ["dai"] } })).toEqual(["GuardRefused", "signatures.prove.kinds"]);
      expect(await fields({ rule: { spenders: [] } })).toEqual(["GuardRefused", "signatures.prove.spenders"]);
      expect(await fields({ signing: withMessage(one.signing.typedData, { value: -1n }) })).toEqual([
        ...["InvalidTransaction", "typedData.message.value"],
      ]);
      expect(await fields({ lies: "key" })).toEqual(["GuardRefused", "signature"]);
      expect(await fields({ rule: { spenders: [kit.spender.address] } })).toEqual([
        expect.stringMatching(/^resolved/),
        undefined,
      ]);
    });

    it("who may use a signature, gets a right or is paid has to be named, and nobody else", async () => {
      const signer = kit.owners.plain;
      const parties = { owner: signer, spender: kit.spender, now: await kit.now() };
      const sweeping = kit.delegates.sweeping;
      const nonce = await kit.scene.count(signer.address);
      const authorization = { address: sweeping, chainId: kit.scene.chainId, nonce };
      const typedOf = async (name: string) => {
        const message = await rows.find((row) => row.name === name)?.message(kit, diceOf(9), parties);
        if (message === undefined || !("typedData" in message.signing)) throw new Error(`no ${name}`);
        return message.signing;
      };
      const single = await typedOf("Permit2 single");
      const received = await typedOf("ERC-3009 ReceiveWithAuthorization");
      const transfer = await typedOf("ERC-3009 TransferWithAuthorization");
      const paid = withMessage(transfer.typedData, { value: 1n });
      const payee = String(transfer.typedData.message["to"]) as Hex;
      const table: ReadonlyArray<readonly [signing: Signing, spenders: ReadonlyArray<Hex>, isSigned: boolean]> = [
        [single, [kit.spender.address], true],
        [single, [liar.address, kit.spender.address.toLowerCase() as Hex], true],
        [single, [liar.address], false],
        [received, [kit.spender.address], true],
        [received, [kit.stranger.address], false],
        [paid, [payee], true],
        [paid, [kit.spender.address], false],
        [{ authorization }, [sweeping], false],
        [{ authorization }, [sweeping, kit.thief], true],
        [{ authorization: { ...authorization, nonce: nonce + 1 } }, [sweeping, kit.thief], false],
      ];
      for (const [index, [signing, spenders, isSigned]] of table.entries()) {
        const { ended, wallet } = await throughClient({
          name: "",
          signing,
          signer,
          rule: { spenders },
          isNever: false,
        });
        const digests = isSigned ? [digestOf(signing)] : [];
        expect([index, wallet.digests, ended._tag.startsWith("resolved")], ended._tag).toEqual([
          index,
          digests,
          isSigned,
        ]);
        if (!isSigned && "typedData" in signing) expect(ended["what"]).toBe("signatures.prove.spenders");
      }
    });

    it("a wallet on another chain than the node gets nothing to sign", async () => {
      const { signing, signer } = await permit();
      const wallet = walletOf(signer, undefined, 1);
      const guarded = guardProvider(wallet as never, options({})) as unknown as typeof wallet;
      const params = [signer.address, json(signing.typedData)];
      const { _tag, what } = await rejection(guarded.request({ method: "eth_signTypedData_v4", params }));
      expect([_tag, what, wallet.digests]).toEqual(["GuardRefused", "chainId", []]);
    });

    it("a clearance that expires while it is signed is proven again, and what has changed by then is dropped", async () => {
      const { signing, signer } = await permit();
      let isMeanwhile: () => Promise<unknown> = () => Promise.resolve();
      const wallet = walletOf(signer);
      const slow = async (asked: Asked) => {
        const answer = await wallet.request(asked);
        if (asked.method !== "eth_chainId") {
          await isMeanwhile();
          const until = Date.now() + 3_001;
          while (Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
        }
        return answer;
      };
      const guarded = guardProvider(
        { request: slow } as never,
        options({}, { maxAge: 3_000 }),
      ) as unknown as typeof wallet;
      const ask = () =>
        rejection(
          guarded.request({ method: "eth_signTypedData_v4", params: [signer.address, json(signing.typedData)] }),
        );
      expect((await ask())._tag).toMatch(/^resolved 0x/);
      // its nonce is used meanwhile
      isMeanwhile = async () => {
        const row = rows.find(({ name }) => name === "ERC-2612 USDC 2.2");
        const parties = { owner: kit.owners.plain, spender: kit.spender, now: await kit.now() };
        const message = await row?.message(kit, diceOf(5), parties);
        if (message === undefined || !("typedData" in message.signing)) throw new Error("no permit");
        const [first] = message.use(await signer.signTypedData(message.signing.typedData as never));
        if (first !== undefined) await kit.send([first]);
      };
      expect((await ask())._tag).toBe("NotCleared");
      expect(wallet.digests).toHaveLength(2);
    });

    it("a sign-in passes at its origin, and not at another", async () => {
      const signer = kit.owners.plain;
      const message = createSiweMessage({
        ...{ address: signer.address, chainId: kit.scene.chainId, domain: "app.example", nonce: "abcdefgh1" },
        ...{ uri: "https://app.example/login", version: "1", issuedAt: new Date() },
      });
      const one: Case = { name: "sign-in", signing: { message }, signer, rule: {}, isNever: false };
      for (const through of [throughProvider, throughClient]) {
        const at = (origin: string) =>
          through(one, { onCaution: "refuse", signatures: { signIn: { origin }, prove: {} } });
        const home = await at("https://app.example");
        expect([home.ended._tag.slice(0, 10), home.wallet.digests]).toEqual(["resolved 0", [hashMessage(message)]]);
        const away = await at("https://evil.example");
        expect([away.ended._tag, away.wallet.digests]).toEqual(["NotCleared", []]);
        // nobody said where the page is
        expect((await through(one, { onCaution: "refuse" })).ended._tag).toBe("NotCleared");
      }
    });
  },
);

it("a rule that is none is refused where the guard is made, by its field", () => {
  const made = (signatures: unknown) => {
    try {
      guardProvider({ request: () => Promise.resolve() }, { signatures } as never);
      return "made";
    } catch (error) {
      return (error as { readonly field?: string }).field;
    }
  };
  for (const [rule, field] of [
    [{}, "signatures"],
    [{ prove: undefined }, "signatures"],
    [{ prove: true }, "signatures.prove"],
    [{ prove: {}, other: {} }, "signatures.other"],
    [{ prove: { kinds: ["unknown"] } }, "signatures.prove.kinds"],
    [{ prove: { kinds: "dai" } }, "signatures.prove.kinds"],
    [{ prove: { spenders: ["0x12"] } }, "signatures.prove.spenders"],
    [{ prove: { policies: [1] } }, "signatures.prove.policies"],
    [{ prove: { kind: ["dai"] } }, "signatures.prove.kind"],
    [{ signIn: {} }, "signatures.signIn.origin"],
    [{ signIn: { origin: "app.example" }, prove: {} }, "signatures.signIn.origin"],
    [1, "signatures"],
    [{ prove: {} }, "made"],
    [{ prove: { kinds: ["dai"], spenders: [liar.address], policies: [Policy.noNewApprovals] } }, "made"],
    [{ signIn: { origin: "https://app.example" } }, "made"],
  ] as const)
    expect([json(rule), made(rule)]).toEqual([json(rule), field]);
});
