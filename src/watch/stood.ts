/** On which sealed block a proof stood: a report names it by its number, which a reorganisation gives to another. */
import * as Effect from "effect/Effect";
import { isHash, type Hash } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import type { Report } from "../report/schema.js";
import { CurrentRun, Rpc } from "../Rpc.js";

/** What a report itself says; null where pending state was its base, or nobody told the hash. */
export const standOf = ({ observed }: Report): Hash | null => {
  const { worlds, latestNumber, baseNumber, parentHash } = observed;
  const next = worlds.find(({ run }) => run === "next");
  const isHead = next !== undefined && (next.state === "latest" || next.state === latestNumber);
  return isHead && latestNumber !== null && baseNumber === latestNumber ? parentHash : null;
};

/** A proof, with the block that its run `next` was pinned to, else the one that the report names. */
export const withStand = <E>(
  proof: Effect.Effect<Report, E, Rpc>,
): Effect.Effect<{ readonly report: Report; readonly stand: Hash | null }, E, Rpc> =>
  Rpc.use((rpc) => {
    let pinned: Hash | null = null;
    const request: typeof rpc.request = (method, params) =>
      Effect.flatMap(Effect.service(CurrentRun), ({ run }) => {
        const [, block] = params;
        if (run === "next" && isRecord(block) && isHash(block["blockHash"])) pinned = block["blockHash"];
        return rpc.request(method, params);
      });
    return Effect.map(Effect.provideService(proof, Rpc, { ...rpc, request }), (report) => ({
      report,
      stand: pinned ?? standOf(report),
    }));
  });
