import * as Effect from "effect/Effect";
import { encodeFunctionData } from "viem";
import { nodes, user } from "/work/main/test/witness/scene.ts";
import * as artifacts from "/work/main/test/contracts/artifacts.ts";
import * as Preflight from "/work/main/src/Preflight.ts";
import * as Report from "/work/main/src/Report.ts";
import * as Rpc from "/work/main/src/Rpc.ts";
const which = process.argv[2] ?? "geth";
const [, start] = nodes.find(([n]) => n === which)!;
const scene = await start();
try {
const silent = await scene.deploy(artifacts.SilentToken);
const token = await scene.deploy(artifacts.Token, ["Gold","GLD",18]);
const idx = await scene.deploy(artifacts.IndexedToken);
const nft = await scene.deploy(artifacts.Nft);
const weth = await scene.deploy(artifacts.WETH9);
const vault = await scene.deploy(artifacts.Vault);
const enc = (a: any, functionName: string, args: any[]) => encodeFunctionData({ abi: a.abi, functionName, args } as any);
await scene.send({to: silent, data: enc(artifacts.SilentToken,"mint",[user, 1000n])},{to: token, data: enc(artifacts.Token,"mint",[user, 1000n])},{to: idx, data: enc(artifacts.IndexedToken,"mint",[user, 1000n])},{to: nft, data: enc(artifacts.Nft,"mint",[user, 7n])});
const to2 = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const tx = (to: any, data: any, value = 0n) => ({ from: user, to, data, value });
const run = (input: any, options: any = {}) => Effect.runPromise((Preflight.preflight as any)(input, options).pipe(Effect.provide(Rpc.layerHttp(scene.url)))) as Promise<any>;
for (const [name, input] of Object.entries({
  silent: tx(silent, enc(artifacts.SilentToken,"transfer",[to2, 5n])),
  indexed: tx(idx, enc(artifacts.IndexedToken,"transfer",[to2, 5n])),
  nft: tx(nft, enc(artifacts.Nft,"transferFrom",[user,to2, 7n])),
  weth: tx(weth, enc(artifacts.WETH9,"deposit",[]), 55n),
  approve: tx(token, enc(artifacts.Token,"approve",[vault, 100n])),
  bundle: [tx(token, enc(artifacts.Token,"approve",[vault, 100n])), tx(vault, enc(artifacts.Vault,"deposit",[token, 60n])), tx(nft, enc(artifacts.Nft,"setApprovalForAll",[to2,true]))],
  eth: tx(to2, "0x", 10n**17n),
})) {
  const r = await run(input);
  console.log("=====", name); console.log(Report.toText(r));
}
} finally { await scene.stop(); }
