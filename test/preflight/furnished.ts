/** A scene with what most suites act on: a token of which the owner has plenty, and a gate that is still closed. */
import type { Hex } from "viem";
import { Gate, Token } from "../contracts/artifacts.js";
import { calldata, other, owner, type Scene } from "./scene.js";

export interface Furnished {
  readonly scene: Scene;
  readonly token: Hex;
  readonly gate: Hex;
}

/** Starts the node and puts both there; everything is mined. */
export const furnish = async (start: () => Promise<Scene>): Promise<Furnished> => {
  const node = await start();
  const mine = async () => {
    await node.mine();
    // why: blocks on demand run ahead of the clock, and a head that is far ahead is warned of
    const { timestamp } = (await node.ask("eth_getBlockByNumber", ["latest", false])) as { readonly timestamp: Hex };
    const lead = Number(timestamp) * 1_000 - Date.now();
    if (lead > 8_000) await new Promise((resolve) => setTimeout(resolve, lead - 8_000));
  };
  const scene = { ...node, mine };
  const token = await scene.deploy(Token, ["Token", "TKN", 18]);
  const gate = await scene.deploy(Gate);
  await scene.pool(owner, { to: token, data: calldata(Token, "mint", [owner.address, 10n ** 24n]) });
  await scene.mine();
  return { scene, token, gate };
};

/** Opens or closes the gate, as a transaction that stays pending. */
export const turn = ({ scene, gate }: Pick<Furnished, "scene" | "gate">, how: "open" | "close") =>
  scene.send(owner, { to: gate, data: calldata(Gate, how) });

/** The owner gives the other some of the token, through its ABI. */
export const transferOf = (token: Hex, amount = 5n) => ({
  from: owner.address,
  to: token,
  abi: Token.abi,
  functionName: "transfer",
  args: [other.address, amount],
});

/** The other passes the gate, which reverts while it is closed. */
export const passing = (gate: Hex) => ({ from: other.address, to: gate, abi: Gate.abi, functionName: "pass" });
