/** What wallets show most, proven on anvil: a payment, a token, a swap, an approval, a revert, an empty purse, a spoof, a mint. */
import * as Effect from "effect/Effect";
import { Preflight, Rpc, type Transaction } from "../../src/index.js";
import type { Report } from "../rooms/report.js";
import { Nft, SpoofToken, Swap, Token, WETH9 } from "../contracts/artifacts.js";
import { calldata, other, owner, startAnvilScene } from "../preflight/scene.js";

export const everydayNames = [
  ...(["send", "token", "swap", "unlimited approval", "revert", "no funds", "spoof", "mint"] as const),
] as const;
export type Everyday = (typeof everydayNames)[number];

const stranger = "0x00000000000000000000000000000000000000a1";

export const proveEverydays = async (): Promise<Readonly<Record<Everyday, Report>>> => {
  const scene = await startAnvilScene();
  const token = await scene.deploy(Token, ["USD Coin", "USDC", 6]);
  const weth = await scene.deploy(WETH9);
  const swap = await scene.deploy(Swap, [token, weth]);
  const spoof = await scene.deploy(SpoofToken);
  const nft = await scene.deploy(Nft);
  for (const [to, data, value] of [
    [token, calldata(Token, "mint", [owner.address, 2_000_000_000n]), 0n],
    [token, calldata(Token, "mint", [swap, 1_000_000_000_000n]), 0n],
    [token, calldata(Token, "approve", [swap, 1_250_500_001n]), 0n],
    [weth, calldata(WETH9, "deposit"), 500n * 10n ** 18n],
    [weth, calldata(WETH9, "transfer", [swap, 500n * 10n ** 18n]), 0n],
  ] as const)
    await scene.send(owner, { to, data, value });
  await scene.mine();
  const from = owner.address;
  const deadline = 1_990_000_000n;
  const calls: Readonly<Record<Everyday, object>> = {
    send: { from, to: other.address, value: 15n * 10n ** 17n },
    token: { from, to: token, abi: Token.abi, functionName: "transfer", args: [other.address, 1_250_501_234n] },
    swap: { from, to: swap, abi: Swap.abi, functionName: "swap", args: [1_250_500_001n, 6n * 10n ** 17n, deadline] },
    "unlimited approval": {
      ...{ from, to: token, abi: Token.abi, functionName: "approve", args: [swap, 2n ** 256n - 1n] },
    },
    revert: { from, to: token, abi: Token.abi, functionName: "transfer", args: [other.address, 9_000_000_000n] },
    "no funds": { from: stranger, to: other.address, value: 15n * 10n ** 17n },
    spoof: {
      ...{ from, to: spoof, abi: SpoofToken.abi, functionName: "airdrop" },
      args: [other.address, [from], 5_000n * 10n ** 18n],
    },
    mint: { from, to: nft, abi: Nft.abi, functionName: "mint", args: [from, 42n] },
  };
  const made: Array<readonly [Everyday, Report]> = [];
  for (const name of everydayNames)
    made.push([
      name,
      await Effect.runPromise(
        Preflight.preflight(calls[name] as Transaction.RawCall).pipe(Effect.provide(Rpc.layerHttp(scene.url))),
      ),
    ]);
  await scene.stop();
  return Object.fromEntries(made) as Readonly<Record<Everyday, Report>>;
};
