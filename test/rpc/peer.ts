/** A peer at the other end of a socket, that says what a test has it say. */
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import * as Layer from "effect/Layer";
import * as Queue from "effect/Queue";
import * as Socket from "effect/socket/Socket";
import * as Rpc from "../../src/Rpc.js";

/** A socket whose other end the test is. */
export const peer = Effect.gen(function* () {
  const written: Array<{ readonly id: number; readonly method: string; readonly params: ReadonlyArray<unknown> }> = [];
  let said = yield* Queue.unbounded<string | Uint8Array, Socket.SocketError>();
  let opened = 0;
  const socket = Socket.make({
    reader: Effect.gen(function* () {
      opened += 1;
      said = yield* Queue.unbounded<string | Uint8Array, Socket.SocketError>();
      const mine = said;
      return { pull: Queue.takeAll(mine), upgrade: () => Effect.die("never") };
    }),
    writer: Effect.succeed({
      write: (chunk) => Effect.sync(() => void written.push(JSON.parse(String(chunk)))),
      writeAll: () => Effect.die("never"),
    }),
  });
  const until = (isSo: () => boolean) => Effect.repeat(Effect.yieldNow, { until: isSo });
  return {
    written,
    opened: () => opened,
    layer: (options: Parameters<typeof Rpc.layerSocket>[0] = { retryTimes: 0 }) =>
      Rpc.layerSocket(options).pipe(Layer.provide(Layer.succeed(Socket.Socket)(socket))),
    asked: (count: number) => until(() => written.length >= count),
    say: (...chunks: ReadonlyArray<unknown>) =>
      Effect.sync(() => {
        for (const chunk of chunks)
          Queue.offerUnsafe(
            said,
            typeof chunk === "string" || chunk instanceof Uint8Array ? chunk : JSON.stringify(chunk),
          );
      }),
    close: Effect.suspend(() =>
      Queue.fail(said, new Socket.SocketError({ reason: new Socket.SocketCloseError({ code: 1006 }) })),
    ),
  };
});
export type Peer = Effect.Success<typeof peer>;

/** What a program over the peer does, while `play` has the peer act. */
export const played = <A, E>(
  program: Effect.Effect<A, E, Rpc.Rpc>,
  play: (peer: Peer, fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<unknown>,
  options?: Parameters<typeof Rpc.layerSocket>[0],
  clock: Layer.Layer<never> = Layer.empty,
) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const other = yield* peer;
      const fiber = yield* Effect.forkChild(Effect.result(program).pipe(Effect.provide(other.layer(options))));
      yield* play(other, fiber);
      return { told: yield* Fiber.join(fiber), ...other };
    }).pipe(Effect.provide(clock)),
  );
export const answer = (id: number | undefined, result: unknown) => ({ jsonrpc: "2.0", id, result });
export const subscribing = (hear: (result: unknown) => void) =>
  Rpc.Rpc.use(({ subscribe }) => (subscribe === undefined ? Effect.die("no socket") : subscribe(["newHeads"], hear)));
