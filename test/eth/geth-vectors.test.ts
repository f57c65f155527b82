import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import type { Node } from "../harness/anvil.js";
import { findGethOrWarn, startGethVectors } from "../harness/geth.js";
import { recorded, startReplay } from "../harness/replay.js";
import { askTyped, writtenParams } from "./recordedParameters.js";

const geth = findGethOrWarn("the vectors live on the reference client");
const exchanges = recorded();

/** A hash with a range: the reference refuses it, the interface says that the range is ignored then, and so `Eth` does. */
const refusal = exchanges.find(({ name }) => name.includes("invalid-blockHash-and-range"));

/** A nonce beyond the highest: the reference ran it when that was recorded, and refuses it since 1.17.10 (EIP-2681). */
const isOverflow = ({ name }: (typeof exchanges)[number]): boolean => name.includes("overflow-nonce");

describe.runIf(geth !== null)("geth itself on the recorded chain", () => {
  let node: Node;
  let replay: Awaited<ReturnType<typeof startReplay>>;
  beforeAll(async () => {
    node = await startGethVectors(geth ?? "");
    replay = await startReplay(
      exchanges.map((exchange) => ({
        ...exchange,
        params: exchange === refusal ? exchange.params : writtenParams(exchange),
      })),
    );
  }, 60_000);
  afterAll(async () => {
    await node.stop();
    await replay.stop();
  });

  for (const exchange of exchanges) {
    it(`answers ${exchange.name} as recorded`, async () => {
      const raw = Rpc.Rpc.use((rpc) => rpc.request(exchange.method, exchange.params));
      const ask = Effect.result(exchange === refusal ? raw : askTyped(exchange));
      const [live, then] = await Promise.all(
        [node.url, replay.url].map((url) =>
          Effect.runPromise(ask.pipe(Effect.provide(Rpc.layerHttp(url, { retryTimes: 0 })))),
        ),
      );
      if (isOverflow(exchange) && live !== undefined && Result.isFailure(live))
        expect(live.failure).toMatchObject({ _tag: "NonceOverflow" });
      else expect(live).toEqual(then);
    });
  }

  it("gives the logs of the block where `Eth` leaves the range out beside a hash", async () => {
    const ask = <A, E>(asked: Effect.Effect<A, E, Rpc.Rpc>) =>
      Effect.runPromise(asked.pipe(Effect.provide(Rpc.layerHttp(node.url))));
    const all = await ask(Eth.getLogs({ fromBlock: 0n }));
    const blockHash = all.at(-1)?.blockHash ?? "0x";
    const logs = await ask(Eth.getLogs({ blockHash, fromBlock: 3n, toBlock: 4n }));
    expect(logs).toEqual(all.filter((log) => log.blockHash === blockHash));
    expect(logs.length).toBeGreaterThan(0);
  });
});
