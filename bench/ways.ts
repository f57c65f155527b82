/** The same question, what a call will do and cost, asked in every way that is compared. */
import { createPreflight } from "evm-preflight/promise";
import { createPublicClient, http, numberToHex } from "viem";
import { foundry } from "viem/chains";
import type { Way } from "./measure.js";
import { postsTo, type Post } from "./raw.js";
import type { Call } from "./scene.js";

/** What every way is measured by. */
export const baseline = "`h`: four raw calls at once";

const rawCalls = ({ value = 0n, ...call }: Call) => {
  const { from, to } = call;
  const asked = { ...call, value: numberToHex(value) };
  const simulation = { blockStateCalls: [{ calls: [asked] }], traceTransfers: true, validation: false };
  return [
    ["eth_getCode", [to, "pending"]],
    ["eth_simulateV1", [simulation, "pending"]],
    ["eth_estimateGas", [asked, "pending"]],
    ["eth_getTransactionCount", [from, "pending"]],
  ].map(([method, params], index) => ({ jsonrpc: "2.0", id: index + 1, method, params }));
};

const viemWays = (url: string, call: Call): ReadonlyArray<Way> => {
  const { from, ...rest } = call;
  const clientOf = (batch: boolean) => createPublicClient({ chain: foundry, transport: http(url, { batch }) });
  const [plain, batched] = [clientOf(false), clientOf(true)];
  const blockTag = "pending";
  const actions = (client: typeof plain) => [
    () => client.getCode({ address: call.to, blockTag }),
    () => client.simulateBlocks({ blocks: [{ calls: [call] }], traceTransfers: true, blockTag }),
    () => client.estimateGas({ account: from, ...rest, blockTag }),
    () => client.getTransactionCount({ address: from, blockTag }),
  ];
  const together = (client: typeof plain) => () => Promise.all(actions(client).map((action) => action()));
  const simulateCalls = (tag: "pending" | "latest") => () =>
    plain.simulateCalls({ account: from, calls: [rest], traceAssetChanges: true, blockTag: tag });
  const prepare = (client: typeof plain) => client.prepareTransactionRequest({ account: from, ...rest });
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

/** How `scan` and `preflight` may be told to send their requests. */
export const modes = [
  { batch: false, suffix: "" },
  { batch: true, suffix: ", `batch: true`" },
] as const;

const ours = (url: string, call: Call) =>
  modes.map(({ batch, suffix }) => {
    const preflight = createPreflight({ url, batch });
    const told = (answer: unknown) => {
      const { ledger, verdict } = answer as Awaited<ReturnType<typeof preflight.scan>>;
      return `${ledger.rounds}, \`${verdict}\``;
    };
    const ways: ReadonlyArray<Way> = [
      { name: `\`scan\`${suffix}`, ask: () => preflight.scan(call), told },
      { name: `\`preflight\`${suffix}`, ask: () => preflight.run(call), told },
    ];
    return { ways, dispose: preflight.dispose };
  });

const rawWays = (call: Call, post: Post, others: ReadonlyArray<readonly [name: string, post: Post]>) => {
  const calls = rawCalls(call);
  const together = (by: Post) => () => Promise.all(calls.map(by));
  const usual: ReadonlyArray<Way> = [
    { name: baseline, ask: together(post) },
    { name: "`h` in one batch", ask: () => post(calls) },
  ];
  return { usual, slower: others.map(([name, by]): Way => ({ name: `\`h\` with ${name}`, ask: together(by) })) };
};

/**
 * The ways to ask one URL: `raw` is `h` and the raw batch, `ours` are `scan` and `preflight`, and `others`
 * what else people do. Connections are kept until `close`; Node's own undici shares its own with
 * whatever goes through `fetch`.
 */
export const waysOf = async (url: string, call: Call) => {
  const { usual, others, close } = await postsTo(url);
  const raw = rawWays(call, usual, others);
  // an error is cheaper than an answer, and no measure
  const answers = (await raw.usual[0]?.ask()) as ReadonlyArray<object>;
  const refused = answers.find((answer) => "error" in answer);
  if (refused !== undefined) throw new Error(`a raw call failed: ${JSON.stringify(refused)}`);
  const mine = ours(url, call);
  return {
    raw: raw.usual,
    others: [...raw.slower, ...viemWays(url, call)],
    ours: mine.flatMap(({ ways }) => ways),
    close: async () => {
      await Promise.all(mine.map(({ dispose }) => dispose()));
      await close();
    },
  };
};
