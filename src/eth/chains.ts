/** The chains as a connection knows them. */
import * as Effect from "effect/Effect";
import { Chains, type lookup } from "../Chains.js";
import { Rpc } from "../rpc/index.js";

/** Parameters by chain id: what the connection's viem client says of its chain, else the `Chains` service. */
export const chainsInUse: Effect.Effect<typeof lookup, never, Rpc> = Effect.gen(function* () {
  const chains = yield* Effect.service(Chains);
  const { chain } = yield* Rpc;
  return chain === undefined
    ? chains
    : (chainId) => (chainId === chain.id ? { ...chains(chainId), ...chain.described } : chains(chainId));
});
