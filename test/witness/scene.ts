/** A node with contracts on it, and raw `eth_call` / `eth_simulateV1` with a witness placed in the state. */
import { randomBytes } from "node:crypto";
import {
  createWalletClient,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  http,
  numberToHex,
  type Abi,
  type Hex,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Address as BrandedAddress, Hex as BrandedHex } from "../rooms/primitives.js";
import {
  decodeAnswers,
  encodeQueries,
  gasFor,
  place,
  type WitnessAnswer,
  type Placement,
  type Query,
} from "../rooms/witness.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../harness/anvil.js";
import { findGethOrWarn, startGethDev } from "../harness/geth.js";

export interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

export interface UserCall {
  readonly to: Hex;
  readonly data: Hex;
  readonly value?: bigint;
  readonly gas?: bigint;
}

export const calling = (
  to: Hex,
  { abi }: Pick<Artifact, "abi">,
  functionName: string,
  args: ReadonlyArray<unknown> = [],
): UserCall => ({ to, data: encodeFunctionData({ abi, functionName, args: [...args] }) });

export interface CallResult {
  readonly status: string;
  readonly gasUsed: string;
  readonly maxUsedGas?: string;
  readonly returnData: string;
  readonly logs: ReadonlyArray<{
    readonly address: string;
    readonly topics: ReadonlyArray<string>;
    readonly data: string;
    readonly logIndex: string;
  }>;
  readonly error?: unknown;
}

export interface Scene {
  readonly url: string;
  /** Deploys and waits until mined. */
  readonly deploy: (artifact: Artifact, args?: ReadonlyArray<unknown>) => Promise<BrandedAddress>;
  /** Sends calls from the first account and waits until they are mined. */
  readonly send: (...calls: ReadonlyArray<UserCall>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export const user = accounts[0].address as BrandedAddress;
const maxFeePerGas = 100_000_000_000n;

/** A node on which the first account deploys and sends; the nonce is read anew each time. */
export const sceneOn = (
  url: string,
  chainId: number,
  mine: () => Promise<unknown>,
  stop: () => Promise<void> = () => Promise.resolve(),
): Scene => {
  const account = privateKeyToAccount(accounts[0].privateKey);
  const currency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chain = { id: chainId, name: "test", nativeCurrency: currency, rpcUrls: { default: { http: [url] } } };
  const wallet = createWalletClient({ account, chain, transport: http(url) });
  const fees = { gas: 16_000_000n, maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1n };
  const next = async () => Number(await rawRequest(url, "eth_getTransactionCount", [account.address, "latest"]));
  return {
    url,
    stop,
    deploy: async ({ abi, bytecode }, args = []) => {
      const nonce = await next();
      await wallet.sendTransaction({ data: encodeDeployData({ abi, bytecode, args: [...args] }), nonce, ...fees });
      await mine();
      const address = getContractAddress({ from: account.address, nonce: BigInt(nonce) });
      if ((await rawRequest(url, "eth_getCode", [address, "latest"])) === "0x") throw new Error("not deployed");
      return address.toLowerCase() as BrandedAddress;
    },
    send: async (...calls) => {
      let nonce = await next();
      for (const { to, data, value = 0n } of calls)
        await wallet.sendTransaction({ to, data, value, nonce: nonce++, ...fees });
      await mine();
    },
  };
};

/** The nodes the witness is proven on; geth only where it is installed. */
export const nodes: ReadonlyArray<readonly [name: string, start: () => Promise<Scene>]> = [
  [
    "anvil",
    async () => {
      const node = await startAnvil({ noMining: true });
      return sceneOn(node.url, 31337, () => mineAnvil(node.url), node.stop);
    },
  ],
  ...[findGethOrWarn("the witness on geth")].flatMap((bin) =>
    bin === null
      ? []
      : [
          [
            "geth",
            async () => {
              const node = await startGethDev(bin);
              return sceneOn(node.url, 1337, () => node.mine(), node.stop);
            },
          ] as const,
        ],
  ),
];

export const placed = (): Placement => place(randomBytes(40));

const wireOverride = (placement: Placement) =>
  Object.fromEntries(
    Object.entries(placement.override).map(([address, account]) => [
      address,
      "code" in account ? account : { balance: numberToHex(account.balance) },
    ]),
  );

/** The witness alone by `eth_call`, with `gas` or all it needs; null when the node refused so little gas. */
export const ask = async (
  scene: Scene,
  queries: ReadonlyArray<Query>,
  gas: bigint = gasFor(queries),
): Promise<ReadonlyArray<WitnessAnswer> | null> => {
  const placement = placed();
  const call = { from: placement.sender, to: placement.address, data: encodeQueries(queries), gas: numberToHex(gas) };
  try {
    const data = await rawRequest(scene.url, "eth_call", [call, "latest", wireOverride(placement)]);
    return decodeAnswers(queries, data as BrandedHex);
  } catch (error) {
    if (/intrinsic|floor/i.test(String(error))) return null;
    throw error;
  }
};

export interface Simulation {
  readonly before: ReadonlyArray<WitnessAnswer> | null;
  readonly user: CallResult;
  readonly after: ReadonlyArray<WitnessAnswer> | null;
}

const wireUser = (call: UserCall) => ({
  from: user,
  to: call.to,
  data: call.data,
  value: numberToHex(call.value ?? 0n),
  gas: numberToHex(call.gas ?? 3_000_000n),
  maxFeePerGas: numberToHex(maxFeePerGas),
  maxPriorityFeePerGas: "0x1",
});

/** What a user sees of a call; block hash and transaction index of a log do depend on its neighbours. */
const visible = (result: CallResult): CallResult => ({
  ...result,
  logs: result.logs.map(({ address, topics, data, logIndex }) => ({ address, topics, data, logIndex })),
});

const simulate = async (
  scene: Scene,
  calls: ReadonlyArray<unknown>,
  stateOverrides: unknown,
): Promise<ReadonlyArray<CallResult>> => {
  const payload = { blockStateCalls: [{ stateOverrides, calls }], validation: true, traceTransfers: true };
  const blocks = (await rawRequest(scene.url, "eth_simulateV1", [payload, "latest"])) as ReadonlyArray<{
    readonly calls: ReadonlyArray<CallResult>;
  }>;
  return blocks[0]?.calls.map(visible) ?? [];
};

/** The user's call alone in a simulated block. */
export const unwatched = async (scene: Scene, call: UserCall): Promise<CallResult> => {
  const [result] = await simulate(scene, [wireUser(call)], {});
  if (result === undefined) throw new Error("no result");
  return result;
};

/** The user's call between two calls of the witness, in one simulated block. */
export const watched = async (
  scene: Scene,
  queries: ReadonlyArray<Query>,
  call: UserCall,
  gas: bigint = gasFor(queries),
): Promise<Simulation> => {
  const placement = placed();
  const witness = {
    from: placement.sender,
    to: placement.address,
    data: encodeQueries(queries),
    gas: numberToHex(gas),
    maxFeePerGas: numberToHex(maxFeePerGas * 10n),
    maxPriorityFeePerGas: "0x0",
  };
  const results = await simulate(scene, [witness, wireUser(call), witness], wireOverride(placement));
  const [before, result, after] = results;
  if (before === undefined || result === undefined || after === undefined) throw new Error("three results expected");
  return {
    before: decodeAnswers(queries, before.returnData as BrandedHex),
    user: result,
    after: decodeAnswers(queries, after.returnData as BrandedHex),
  };
};
