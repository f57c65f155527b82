/** The same question, an ETH transfer from Alice to Bob, asked in every way that is compared. */
import { createPreflight } from "evm-preflight/promise";
import { Agent, request } from "undici";
import { createPublicClient, http, type Address } from "viem";
import { mainnet } from "viem/chains";

/** One way to ask. */
export interface Way {
  readonly name: string;
  /** Asks once. */
  readonly ask: () => Promise<unknown>;
  /** Network rounds, where the way itself says so. */
  readonly rounds?: (answer: unknown) => number;
}

const from: Address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const to: Address = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const value = 1_000_000_000_000_000n;

const call = { from, to, value: `0x${value.toString(16)}` };
const raw = [
  ["eth_getCode", [to, "pending"]],
  ["eth_simulateV1", [{ blockStateCalls: [{ calls: [call] }], traceTransfers: true, validation: false }, "pending"]],
  ["eth_estimateGas", [call, "pending"]],
  ["eth_getTransactionCount", [from, "pending"]],
].map(([method, params], index) => ({ jsonrpc: "2.0", id: index + 1, method, params }));

const headers = { "content-type": "application/json" };

const viemWays = (url: string, chainId: number): ReadonlyArray<Way> => {
  const chain = { ...mainnet, id: chainId };
  const clientOf = (batch: boolean) => createPublicClient({ chain, transport: http(url, { batch }) });
  const [plain, batched] = [clientOf(false), clientOf(true)];
  const actions = (client: typeof plain) => [
    () => client.getCode({ address: to, blockTag: "pending" }),
    () =>
      client.simulateBlocks({ blocks: [{ calls: [{ from, to, value }] }], traceTransfers: true, blockTag: "pending" }),
    () => client.estimateGas({ account: from, to, value, blockTag: "pending" }),
    () => client.getTransactionCount({ address: from, blockTag: "pending" }),
  ];
  const together = (client: typeof plain) => () => Promise.all(actions(client).map((action) => action()));
  const simulateCalls = (blockTag: "pending" | "latest") => () =>
    plain.simulateCalls({ account: from, calls: [{ to, value }], traceAssetChanges: true, blockTag });
  const prepare = (client: typeof plain) => client.prepareTransactionRequest({ account: from, to, value });
  return [
    {
      name: "viem, four actions one after another",
      ask: async () => {
        for (const action of actions(plain)) await action();
      },
    },
    { name: "viem, `Promise.all`", ask: together(plain) },
    { name: "viem, `Promise.all` with `batch`", ask: together(batched) },
    { name: "viem `simulateCalls`, asset changes, `pending`", ask: simulateCalls("pending") },
    { name: "viem `simulateCalls`, asset changes, `latest`", ask: simulateCalls("latest") },
    { name: "viem `prepareTransactionRequest`, cold", ask: () => prepare(clientOf(false)) },
    { name: "viem `prepareTransactionRequest`, warm", ask: () => prepare(plain) },
  ];
};

const ours = (url: string): ReadonlyArray<Way & { readonly dispose: () => Promise<void> }> =>
  [false, true].flatMap((batch) => {
    const preflight = createPreflight({ url, batch });
    const rounds = (answer: unknown) => (answer as Awaited<ReturnType<typeof preflight.scan>>).ledger.rounds;
    const suffix = batch ? ", `batch: true`" : "";
    const { dispose } = preflight;
    return [
      { name: `**\`scan\`**${suffix}`, ask: () => preflight.scan({ from, to, value }), rounds, dispose },
      { name: `**\`preflight\`**${suffix}`, ask: () => preflight.run({ from, to, value }), rounds, dispose },
    ];
  });

/** Every way against one URL; the first is `h`, which the others are measured by. */
export const waysOf = (url: string, chainId: number) => {
  const dispatcher = new Agent({ connections: 16, keepAliveTimeout: 60_000 });
  const post = async (body: unknown): Promise<unknown> => {
    const answer = await request(url, { method: "POST", headers, body: JSON.stringify(body), dispatcher });
    return JSON.parse(await answer.body.text());
  };
  const fetchPost = async (body: unknown): Promise<unknown> =>
    JSON.parse(await (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).text());
  const mine = ours(url);
  const ways: ReadonlyArray<Way> = [
    { name: "h: four raw calls at once (undici)", ask: () => Promise.all(raw.map(post)) },
    { name: "h with `fetch`", ask: () => Promise.all(raw.map(fetchPost)) },
    { name: "h in one batch (undici)", ask: () => post(raw) },
    ...viemWays(url, chainId),
    ...mine,
  ];
  return {
    ways,
    close: async () => {
      await Promise.all(mine.map(({ dispose }) => dispose()));
      await dispatcher.close();
    },
  };
};
