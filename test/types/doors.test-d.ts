/** What each door gives. What may be written through them, and what not, is told in `mistakes.ts`, token by token. */
import type * as Effect from "effect/Effect";
import { Preflight, type Errors, type Eth, type Report, type Rpc } from "evm-preflight";
import { createPreflight, guardProvider, type SettledCalls, type SignaturePayload } from "evm-preflight/promise";
import * as oneFile from "evm-preflight/static";
import { guard, preflightActions } from "evm-preflight/viem";
import { createPublicClient, createWalletClient, http, publicActions, type EIP1193Provider } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { mainnet } from "viem/chains";
import { expectTypeOf, it } from "vitest";

declare const from: `0x${string}`;
declare const to: `0x${string}`;
declare const preflight: ReturnType<typeof createPreflight>;
const client = createPublicClient({ transport: http() }).extend(preflightActions());

it("Preflight gives a report, fails with InvalidTransaction only, and needs Rpc", () => {
  type Expected = Effect.Effect<Report.BundleReport, Errors.InvalidTransaction, Rpc.Rpc>;
  expectTypeOf(Preflight.scan({ from, to })).toEqualTypeOf<Expected>();
  expectTypeOf(Preflight.preflight([{ from, to }])).toEqualTypeOf<Expected>();
  expectTypeOf(
    Preflight.scan({ from, to, abi: ["function pause()"], functionName: "pause" }),
  ).toEqualTypeOf<Expected>();
  expectTypeOf(Preflight.prove).returns.toEqualTypeOf<Effect.Effect<Report.Report, never, Rpc.Rpc>>();
});
it("preflightActions give promises of reports and clearances, beside the client's own actions", () => {
  expectTypeOf(client.preflight({ from, to })).toEqualTypeOf<Promise<Report.BundleReport>>();
  expectTypeOf(client.scan([{ from, to }])).toEqualTypeOf<Promise<Report.BundleReport>>();
  expectTypeOf(client.ready).returns.toEqualTypeOf<Promise<Report.Clearance>>();
  expectTypeOf(client.getChainId()).toEqualTypeOf<Promise<number>>();
});
it("preflightActions ask for signatures, whose signer may be left out only for a client with an account", () => {
  const wallet = createWalletClient({ account, chain: mainnet, transport: http() }).extend(preflightActions());
  expectTypeOf(client.preflightSignature).returns.toEqualTypeOf<Promise<Report.Report>>();
  expectTypeOf(client.preflightSignature).parameter(0).toEqualTypeOf<Preflight.GivenSigning>();
  expectTypeOf(client).not.toHaveProperty("signature");
  void wallet.preflightSignature({ typedData: {} });
  void wallet.preflightSignature({ message: "hello", signer: from, origin: "https://example.org" });
  // @ts-expect-error nobody signs
  void client.preflightSignature({ message: "hello" });
  // @ts-expect-error nothing is signed
  void wallet.preflightSignature({ origin: "https://example.org" });
});
it("createPreflight gives promises of reports and clearances", () => {
  expectTypeOf(preflight.run({ from, to })).toEqualTypeOf<Promise<Report.BundleReport>>();
  expectTypeOf(preflight.scan([{ from, to }])).toEqualTypeOf<Promise<Report.BundleReport>>();
  expectTypeOf(preflight.ready).returns.toEqualTypeOf<Promise<Report.Clearance>>();
  expectTypeOf(preflight.dispose).returns.toEqualTypeOf<Promise<void>>();
});
it("a static client has the verbs of its parts alone", () => {
  const url = "http://127.0.0.1:8545";
  const judging = oneFile.createPreflight({ url });
  expectTypeOf(judging.preflight({ from, to })).toEqualTypeOf<Promise<Report.BundleReport>>();
  expectTypeOf(judging.ready).returns.toEqualTypeOf<Promise<Report.Clearance>>();
  for (const verb of ["deliver", "withNonce", "nonces", "settle", "watch", "watchHeads", "watchLogs"] as const)
    expectTypeOf(judging).not.toHaveProperty(verb);
  const sends = oneFile.createPreflight({ url }, { parts: [oneFile.sending], maxAge: "12 seconds" });
  expectTypeOf(sends.deliver).toEqualTypeOf(preflight.deliver);
  expectTypeOf(sends).not.toHaveProperty("settle");
  const all = oneFile.createPreflight({ url }, { parts: [oneFile.sending, oneFile.settling, oneFile.watching] });
  expectTypeOf(all.watch).toEqualTypeOf(preflight.watch);
  expectTypeOf(all.settle).toEqualTypeOf(preflight.settle);
  // @ts-expect-error a part by its name is none
  oneFile.createPreflight({ url }, { parts: ["sending"] });
});
it("createPreflight gives async iterables of what happens", () => {
  expectTypeOf(preflight.watch).returns.toEqualTypeOf<AsyncIterable<Preflight.Watched>>();
  expectTypeOf(preflight.watchHeads()).toEqualTypeOf<AsyncIterable<Eth.Head>>();
  expectTypeOf(preflight.watchLogs({ address: to, topics: [null] })).toEqualTypeOf<AsyncIterable<Eth.Log>>();
  expectTypeOf<Preflight.Watched["_tag"]>().toEqualTypeOf<"Fresh" | "Moved" | "Lost">();
  // @ts-expect-error a range has an end
  preflight.watchLogs({ fromBlock: 1n });
});
it("createPreflight takes one way to the node", () => {
  // @ts-expect-error none
  createPreflight({});
  // @ts-expect-error a URL is a string
  createPreflight({ url: 1 });
  // @ts-expect-error no such option
  createPreflight({ url: "" }, { deadlin: 1 });
});

declare const account: PrivateKeyAccount;
declare const provider: EIP1193Provider & { readonly isWallet: true };
it("guard gives a client of the same type: its account, its chain, and what extended it", () => {
  const wallet = createWalletClient({ account, chain: mainnet, transport: http() }).extend(publicActions);
  const guarded = guard(wallet, { onCaution: ({ because }) => because === "" });
  expectTypeOf(guarded).toEqualTypeOf<typeof wallet>();
  expectTypeOf(guarded.account).toEqualTypeOf<PrivateKeyAccount>();
  expectTypeOf(guarded.chain).toEqualTypeOf<typeof mainnet>();
  expectTypeOf(guarded.sendTransaction({ to, value: 1n })).toEqualTypeOf<Promise<`0x${string}`>>();
  expectTypeOf(guardProvider(provider)).toEqualTypeOf<typeof provider>();
});
it("the rules of a guard get the values that they decide on", () => {
  guardProvider(provider, {
    node: { url: "" },
    onCaution: (report) => (expectTypeOf(report).toEqualTypeOf<Report.Report>(), true),
    signatures: (payload) => (expectTypeOf(payload).toEqualTypeOf<SignaturePayload>(), Promise.resolve(true)),
    onChanged: (differences) => differences.every(({ what }) => what === "request gas"),
    onSettled: (settled) => expectTypeOf(settled).toEqualTypeOf<SettledCalls>(),
    onUnverified: (hash) => expectTypeOf(hash).toEqualTypeOf<`0x${string}`>(),
  });
  // @ts-expect-error no such option
  guardProvider(provider, { onCautoin: "send" });
  // @ts-expect-error signatures are allowed or refused, and not sent
  guardProvider(provider, { signatures: "send" });
  // @ts-expect-error who broadcasts is the client
  guardProvider(provider, { send: () => Promise.resolve("") });
  // @ts-expect-error no client
  guard({ request: () => Promise.resolve(null) });
});
