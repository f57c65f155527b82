/** Where it is measured: an anvil whose latest block is empty, one whose latest block is full, and a slow way there. */
import { fileURLToPath } from "node:url";
import { encodeFunctionData, numberToHex, type Address, type Hex } from "viem";
import { SpoofToken, Token } from "../test/contracts/artifacts.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../test/harness/anvil.js";
import { sceneOn } from "../test/witness/scene.js";
import { startProcess } from "../test/harness/process.js";

const [, { address: from }, { address: to }] = accounts;

/** Transactions, and so receipts with logs, in a full block. */
const fullBlock = 200;

/** A transfer that the ways are asked about. */
export interface Call {
  readonly from: Address;
  readonly to: Address;
  readonly data?: Hex;
  /** Wei. */
  readonly value?: bigint;
}

export type Scene = Awaited<ReturnType<typeof startScene>>;

const transferOf = (token: Address, amount: bigint) => ({
  from,
  to: token,
  data: encodeFunctionData({ abi: Token.abi, functionName: "transfer", args: [to, amount] }),
});

/** Anvil with a token that `from` holds, and two empty blocks or one of 200 token transfers on top. */
export const startScene = async (latestBlock: "empty" | "full") => {
  const node = await startAnvil({ noMining: true });
  const mine = () => mineAnvil(node.url);
  const { deploy, send } = sceneOn(node.url, 31337, mine);
  const token = await deploy(Token, ["Dollar", "DUSD", 6]);
  const spoof = await deploy(SpoofToken);
  await send({
    to: token,
    data: encodeFunctionData({ abi: Token.abi, functionName: "mint", args: [from, 10n ** 12n] }),
  });
  if (latestBlock === "empty") await mineAnvil(node.url, 2);
  else {
    const { data } = transferOf(token, 1n);
    for (let count = 0; count < fullBlock; count++)
      await rawRequest(node.url, "eth_sendTransaction", [{ from, to: token, data, gas: numberToHex(100_000) }]);
    await mine();
    const receipts = (await rawRequest(node.url, "eth_getBlockReceipts", ["latest"])) as ReadonlyArray<unknown>;
    if (receipts.length !== fullBlock) throw new Error(`the full block holds ${receipts.length} transactions`);
  }
  const ethTransfer: Call = { from, to, value: 1_000_000_000_000_000n };
  return { ...node, spoof, ethTransfer, tokenTransfer: transferOf(token, 1_000_000n) };
};

/** The delaying proxy, in a process of its own so that its CPU is not counted. */
export const startDelay = async (upstream: string, milliseconds: number) => {
  const script = fileURLToPath(new URL("delay.mjs", import.meta.url));
  const { match, stop } = await startProcess(
    process.execPath,
    [script, new URL(upstream).port, String(milliseconds)],
    /^(\d+)\n/,
  );
  return { url: `http://127.0.0.1:${match[1]}`, stop };
};
