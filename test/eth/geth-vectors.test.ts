import * as Effect from "effect/Effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Rpc from "../../src/Rpc.js";
import type { Node } from "../harness/anvil.js";
import { findGethOrWarn, startGethVectors } from "../harness/geth.js";
import { recorded, startReplay } from "../harness/replay.js";
import { askTyped, writtenParams } from "./recordedParameters.js";

const geth = findGethOrWarn("the vectors live on the reference client");
const exchanges = recorded();

describe.runIf(geth !== null)("the reference client itself, on the recorded chain", () => {
  let node: Node;
  let replay: Awaited<ReturnType<typeof startReplay>>;
  beforeAll(async () => {
    node = await startGethVectors(geth ?? "");
    replay = await startReplay(
      exchanges
        // asked without the range, which leaves nothing recorded to compare with
        .filter(({ name }) => !name.includes("invalid-blockHash-and-range"))
        .map((exchange) => ({ ...exchange, params: writtenParams(exchange) })),
    );
  }, 60_000);
  afterAll(async () => {
    await node.stop();
    await replay.stop();
  });

  for (const exchange of exchanges) {
    if (exchange.name.includes("invalid-blockHash-and-range")) continue;
    it(`${exchange.name} answers as recorded`, async () => {
      const ask = Effect.result(askTyped(exchange));
      const [live, then] = await Promise.all(
        [node.url, replay.url].map((url) =>
          Effect.runPromise(ask.pipe(Effect.provide(Rpc.layerHttp(url, { retryTimes: 0 })))),
        ),
      );
      expect(live).toEqual(then);
    });
  }
});
