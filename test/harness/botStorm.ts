/**
 * The bot of the examples on a chain that reorganises, beside a competitor who spends, too, and who opens and shuts what the
 * bot's payments come from: whether each was paid exactly once at the end.
 */
import { encodeDeployData, encodeFunctionData, type Address, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { startBot } from "../../examples/bot.js";
import { Token } from "../../examples/contracts.js";
import { accounts, rawRequest } from "./anvil.js";

/** A node whose blocks are the harness's. */
export interface Sky {
  readonly url: string;
  readonly mine: () => Promise<unknown>;
  /** Takes the last blocks off the chain, and what was mined in them out of it. */
  readonly drop: (depth: number) => Promise<unknown>;
}

/** What came of it. */
export interface Landed {
  readonly payments: number;
  /** By the number of times that a payment is in the chain that stayed. */
  readonly times: Readonly<Record<number, number>>;
  readonly reorganisations: number;
  /** Payments that were mined and failed, and so were paid again. */
  readonly reverted: number;
  /** What the bot was kept from. */
  readonly skipped: ReadonlyArray<string>;
  /** What it did not expect. */
  readonly failed: ReadonlyArray<string>;
  /** The most of the bot's transactions that waited at once, but for those that a reorganisation gave back to the pool. */
  readonly mostWaiting: number;
}

const [botKey, rivalKey, houseKey] = accounts;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** For so many ms; `random` is 0 to 1. */
export const botStorm = async ({ url, mine, drop }: Sky, ms: number, random: () => number): Promise<Landed> => {
  const ask = (method: string, params: ReadonlyArray<unknown>) => rawRequest(url, method, params);
  const chainId = Number(await ask("eth_chainId", []));
  /** Signs and sends as somebody else, at the count of the moment: what a reorganisation drops of theirs is lost. */
  const spend = async (
    by: (typeof accounts)[number],
    call: { readonly to?: Address; readonly data?: Hex; readonly value?: bigint },
  ) => {
    const nonce = Number(await ask("eth_getTransactionCount", [by.address, "pending"]));
    // why: dearer than the bot, so that what they change is changed before it pays
    const fees = { maxFeePerGas: 90_000_000_000n, maxPriorityFeePerGas: 20_000_000_000n, gas: 1_000_000n };
    const raw = await privateKeyToAccount(by.privateKey).signTransaction({
      ...call,
      ...fees,
      chainId,
      nonce,
      type: "eip1559",
    });
    return (await ask("eth_sendRawTransaction", [raw])) as Hex;
  };
  const allow = (amount: bigint) =>
    spend(houseKey, {
      to: token,
      data: encodeFunctionData({ abi: Token.abi, functionName: "approve", args: [botKey.address, amount] }),
    });
  const heldBy = async (account: Address) => {
    const data = encodeFunctionData({ abi: Token.abi, functionName: "balanceOf", args: [account] });
    return BigInt((await ask("eth_call", [{ to: token, data }, "latest"])) as Hex);
  };

  const deployed = await spend(houseKey, { data: encodeDeployData({ ...Token, args: [10n ** 12n] }) });
  await mine();
  const { contractAddress } = (await ask("eth_getTransactionReceipt", [deployed])) as {
    readonly contractAddress: Address;
  };
  const token = contractAddress;
  await spend(houseKey, {
    to: token,
    data: encodeFunctionData({ abi: Token.abi, functionName: "transfer", args: [botKey.address, 10n ** 11n] }),
  });
  await allow(10n ** 11n);
  for (let block = 0; block < 4; block++) await mine();

  const counts = { reorganisations: 0, reverted: 0, mostWaiting: 0 };
  const skipped: Array<string> = [];
  const failed: Array<string> = [];
  const paid: Array<{ readonly to: Address; readonly amount: bigint }> = [];
  const bot = await startBot({ url, key: botKey.privateKey, token }, { settleMs: 1 });
  // why: what is loaded with the first payment is here before the storm
  const first = bot.pay({ to: rivalKey.address, amount: 1n });
  for (let isSent = false; !isSent; await mine())
    isSent = await Promise.race([first.then(() => true), sleep(300).then(() => false)]);

  const until = Date.now() + ms;
  let isOver = false;
  let mined = 0;
  const weather = (async () => {
    for (let block = 0; !isOver; block++) {
      const isStormy = Date.now() < until || counts.reorganisations < 3;
      if (isStormy && block % 4 === 3) {
        await drop(1 + Math.floor(random() * 3));
        counts.reorganisations++;
      }
      const isOpen = !isStormy || random() < 0.7;
      await allow(isOpen ? 10n ** 11n : 0n).catch(() => undefined);
      await spend(rivalKey, { to: houseKey.address, value: 1n }).catch(() => undefined);
      await mine();
      const [latest, pending] = (await Promise.all(
        ["latest", "pending"].map((tag) => ask("eth_getTransactionCount", [botKey.address, tag])),
      )) as [Hex, Hex];
      mined = Math.max(mined, Number(latest));
      counts.mostWaiting = Math.max(counts.mostWaiting, Number(pending) - mined);
      await sleep(300);
    }
  })();

  const patience = { patienceMs: 90_000 };
  const finish = async (payment: (typeof paid)[number] & { readonly from?: Address }) => {
    for (;;) {
      const round = await bot.pay(payment, patience);
      if ("skipped" in round) {
        skipped.push(round.skipped);
        if (!round.tryAgain) return;
      } else if (await bot.isPaid(round.sent, { depth: 4n })) return;
      else counts.reverted++;
    }
  };
  const finishing: Array<Promise<void>> = [];
  while (Date.now() < until) {
    const index = paid.length;
    const to = `0x${(0xb0b_0000 + index).toString(16).padStart(40, "0")}` as const;
    const payment = { to, amount: BigInt(index) + 1n };
    paid.push(payment);
    const paying = finish(index % 2 === 0 ? payment : { ...payment, from: houseKey.address });
    finishing.push(paying.catch((error: unknown) => void failed.push(String(error))));
    await sleep(700);
  }
  await Promise.all(finishing);
  isOver = true;
  await weather;
  await bot[Symbol.asyncDispose]();
  const times: Record<number, number> = {};
  for (const { to, amount } of paid) {
    const often = Number(await heldBy(to)) / Number(amount);
    times[often] = (times[often] ?? 0) + 1;
  }
  return { payments: paid.length, times, skipped, failed, ...counts };
};
