/** JSON-RPC over Effect's `Socket`: requests and subscriptions on one connection. Loaded when a layer over it is built. */
import * as Clock from "effect/Clock";
import * as Deferred from "effect/Deferred";
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { Socket, type Reader, type SocketError, type Writer } from "effect/socket/Socket";
import { RpcError, Timeout } from "../errors/rpc.js";
import { isRecord, jsonIn } from "../primitives/record.js";
import { noReply, outgoing, readSingle, unanswered, type Outgoing, type Try } from "./answer.js";
import { judged, malformed, type Failure } from "./judging.js";
import { cutter } from "./cutter.js";
import { redactUrls } from "./redact.js";
import { idsFrom, numbered } from "./http.js";
import {
  roomFor,
  tooLarge,
  tooMuch,
  unreachable,
  weightOf,
  wordsOf,
  type NoReply,
  type Posted,
  type ResponseBudget,
} from "./post.js";
import { isBroadcast, type Send } from "./requests.js";
import { mostRunBytes, type Rpc } from "./service.js";
import { answerWithin, farewellWithin, method } from "./subscription.js";

/** A connection that is open, until `end`. */
interface OpenSocket {
  /** Fails once the connection has ended: what is written later is for no other. */
  readonly write: (text: string) => Effect.Effect<void, SocketError | NoReply>;
  /** Receivers by request id: of the answer, its weight and what its text says; `maxBytes` is the most it may weigh. */
  readonly waiting: Map<
    unknown,
    { readonly maxBytes: number; readonly answered: (result: Posted, weight: number, message: unknown) => void }
  >;
  readonly hearing: Map<unknown, { readonly hear: (result: unknown) => void; readonly lose: (why: NoReply) => void }>;
  /** Ends it where it has been asked for long, and nothing was delivered. */
  readonly doubt: () => void;
  readonly end: (why: NoReply) => void;
}

/** Ms of silence after a request, by which a connection is held to be dead though nobody closed it. */
const deadAfter = 10_000;

/** Which URL it is only the socket knows, so that none is told. */
const endpoint = { url: null, authorization: null, shown: "socket", redact: redactUrls };

/** Returns the reply that came for one request: HTTP's 200, so to speak. */
const arrived = (text: string): Posted => Result.succeed({ status: 200, header: () => null, text, bytes: text.length });

const closed = unreachable("the socket has closed");
const tooLate = new Timeout({ detail: "", afterMs: answerWithin });
const silent = unreachable("the socket delivered nothing");
const noJson = unreachable("the socket delivered something other than JSON-RPC");
const unnamed: Posted = Result.fail(unreachable("the socket returned an error without a request id"));

const whyOf = (why: SocketError | NoReply): NoReply => {
  if ("kind" in why) return why;
  const { reason } = why;
  if (reason._tag === "SocketCloseError") return unreachable(`the socket has closed (${reason.code})`);
  return unreachable(reason.cause instanceof Error ? wordsOf(reason.cause) : reason.message);
};

/** The id beside a result, which stands before or behind it. */
const idFirst = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*[,}]/;
const idLast = /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;
/** Characters that hold it. */
const aroundId = 128;

/** The id that a text names, without parsing it; `NaN` where it stands elsewhere. */
const idOf = (text: string): number =>
  Number((idFirst.exec(text.slice(0, aroundId)) ?? idLast.exec(text.slice(-aroundId)))?.[1]);

/**
 * Gives a text to whom it is for: whether anybody asked. Fails where it is no JSON-RPC, or names nobody and is too heavy.
 */
const deliver = ({ waiting, hearing }: OpenSocket, text: string, most: number): Result.Result<boolean, NoReply> => {
  const weight = weightOf(text);
  // why: parsing holds the event loop, so what is too heavy for whom it names is not
  const name = idOf(text);
  const named = waiting.get(name);
  const maxBytes = named?.maxBytes ?? most;
  if (weight > maxBytes) {
    const why = Result.fail(tooLarge(maxBytes, weight));
    named?.answered(why, weight, undefined);
    // why: an answer that comes too late for whoever asked is no reason to fail the others
    return Number.isNaN(name) ? why : Result.succeed(true);
  }
  const message = jsonIn(text);
  if (!isRecord(message)) return Result.fail(noJson);
  const { id, params } = message;
  if (message["method"] === "eth_subscription" && isRecord(params)) {
    const subscriber = hearing.get(params["subscription"]);
    subscriber?.hear(params["result"]);
    return Result.succeed(subscriber !== undefined);
  }
  if (id !== undefined && id !== null) {
    waiting.get(id)?.answered(arrived(text), weight, message);
    // why: also where it comes too late for whoever asked, for then the line is none the worse
    return Result.succeed(true);
  }
  const isError = isRecord(message["error"]);
  // why: who could not read a request, or a gateway, does not say whom it refuses
  if (isError) for (const { answered } of [...waiting.values()]) answered(arrived(text), weight, message);
  return Result.succeed(isError);
};

/** Returns an answer that fits its room, else a failure. */
const fitting = (result: Posted, weight: number, { maxBytes, take }: ResponseBudget): Posted => {
  if (Result.isFailure(result)) return result;
  if (weight > maxBytes) return Result.fail(tooLarge(maxBytes, weight));
  return take(weight) ? result : Result.fail(tooMuch(weight));
};

/** True if an answer may be for `request`: an error without an id may be another's, and a broadcast may be sent. */
const isFor = ({ id, method }: Outgoing, message: unknown): boolean =>
  !isBroadcast(method) || (isRecord(message) && message["id"] === id);

/** The connections of one socket, one at a time: `now` opens one where none is open, `giveUp` ends one that does not answer. */
const linesOver = Effect.fnUntraced(function* (maxBytes: number) {
  const socket = yield* Socket;
  const scope = yield* Effect.scope;
  const clock = yield* Clock.Clock;
  let current: Deferred.Deferred<OpenSocket, NoReply> | null = null;
  let open: OpenSocket | null = null;

  const lineOver = (opened: Deferred.Deferred<OpenSocket, NoReply>, reader: Reader, writer: Writer) => {
    const ended = Deferred.makeUnsafe<never, NoReply>();
    const [waiting, hearing]: [OpenSocket["waiting"], OpenSocket["hearing"]] = [new Map(), new Map()];
    // why: null = something was delivered since the last request
    let askedAt: number | null = null;
    const line: OpenSocket = {
      ...{ waiting, hearing },
      write: (text) =>
        Effect.suspend(() => {
          askedAt ??= clock.currentTimeMillisUnsafe();
          const isEnded = Deferred.isDoneUnsafe(ended);
          return isEnded ? Deferred.await(ended) : Effect.raceFirst(Deferred.await(ended), writer.write(text));
        }),
      doubt: () => {
        if (askedAt !== null && clock.currentTimeMillisUnsafe() - askedAt >= deadAfter) line.end(silent);
      },
      end: (why) => {
        if (!Deferred.doneUnsafe(ended, Effect.fail(why))) return;
        if (current === opened) [current, open] = [null, null];
        for (const { answered } of [...waiting.values()]) answered(Result.fail(why), 0, undefined);
        for (const { lose } of [...hearing.values()]) lose(why);
      },
    };
    const cut = cutter(maxBytes);
    const most = Math.min(maxBytes, mostRunBytes);
    const hear = (chunk: string | Uint8Array): Effect.Effect<void, NoReply> => {
      const texts = cut(chunk);
      if (texts === null) return Effect.fail(tooLarge(maxBytes, maxBytes));
      for (const text of texts) {
        const told = deliver(line, text, most);
        if (Result.isFailure(told)) return Effect.fail(told.failure);
        // why: not for what is no answer yet, for one bracket too many swallows all that follow
        if (told.success) askedAt = null;
      }
      return Effect.void;
    };
    const reading = Effect.forever(Effect.flatMap(reader.pull, (chunks) => Effect.forEach(chunks, hear)));
    return { line, reading: Effect.raceFirst(reading, Deferred.await(ended)) };
  };

  /** Opens a connection, and reads until it ends. */
  const live = Effect.fnUntraced(function* (opened: Deferred.Deferred<OpenSocket, NoReply>) {
    const opening = Effect.timeoutOrElse(socket.reader, {
      duration: answerWithin,
      orElse: () => Effect.fail(unreachable(`the socket did not open in ${answerWithin} ms`)),
    });
    const { line, reading } = lineOver(opened, yield* opening, yield* socket.writer);
    open = line;
    Deferred.doneUnsafe(opened, Effect.succeed(line));
    // why: before the socket closes, which would hand what is written from then on to its successor
    yield* reading.pipe(
      Effect.tapError((why) => Effect.sync(() => line.end(whyOf(why)))),
      Effect.onExit(() => Effect.sync(() => line.end(closed))),
    );
  });

  const now = (): Effect.Effect<OpenSocket, NoReply> => {
    if (current !== null) return Deferred.await(current);
    const opened = Deferred.makeUnsafe<OpenSocket, NoReply>();
    current = opened;
    const fail = (why: NoReply) => {
      if (current === opened) current = null;
      Deferred.doneUnsafe(opened, Effect.fail(why));
    };
    const living = Effect.scoped(live(opened)).pipe(Effect.catch((why) => Effect.sync(() => fail(whyOf(why)))));
    // why: not in the fiber that asks first, for others wait for it as well
    return Effect.flatMap(Effect.forkIn(living, scope), (fiber) => {
      // why: told of a fiber that never ran, too, for the layer is closed
      fiber.addObserver(() => fail(closed));
      return Deferred.await(opened);
    });
  };
  return { now: () => Effect.suspend(now), giveUp: Effect.sync(() => open?.end(silent)) };
});

/** How requests and subscriptions go over the `Socket` of the context; answers hold `maxBytes` at most. */
export const overSocket = Effect.fnUntraced(function* (maxBytes: number) {
  const lines = yield* linesOver(maxBytes);
  const run = Effect.runForkWith(yield* Effect.context<never>());
  const nextId = idsFrom(1);

  const ask = (request: Outgoing, room: ResponseBudget, callback: (tried: Try, line: OpenSocket | null) => void) => {
    let line: OpenSocket | null = null;
    let isOpen = true;
    const close = () => {
      isOpen = false;
      line?.waiting.delete(request.id);
    };
    const answered = (came: Posted, weight: number, message: unknown): void => {
      if (!isOpen) return;
      close();
      const result = Result.isSuccess(came) && !isFor(request, message) ? unnamed : fitting(came, weight, room);
      if (Result.isSuccess(result)) return callback(readSingle(request, result.success, endpoint, message), line);
      callback(unanswered(request.method, result.failure, endpoint), line);
    };
    const asking = Effect.flatMap(lines.now(), (connection) => {
      if (!isOpen) return Effect.void;
      line = connection;
      connection.waiting.set(request.id, { maxBytes: room.maxBytes, answered });
      return connection.write(request.text);
    });
    run(asking.pipe(Effect.catch((why) => Effect.sync(() => answered(Result.fail(whyOf(why)), 0, undefined)))));
    return () => {
      if (isOpen) line?.doubt();
      close();
    };
  };

  const leaving = ({ hearing, write }: OpenSocket, id: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      hearing.delete(id);
      const farewell = outgoing(nextId(), "eth_unsubscribe", [id]);
      return Result.isFailure(farewell) ? Effect.void : write(farewell.success.text);
    }).pipe(Effect.timeoutOption(farewellWithin), Effect.ignore);

  const subscribe: NonNullable<Rpc["Service"]["subscribe"]> = (params, hear) =>
    Effect.gen(function* () {
      const lost = yield* Deferred.make<never, RpcError>();
      const lose = (why: NoReply) => void Deferred.doneUnsafe(lost, Effect.fail(noReply(method, why, endpoint)));
      const request = yield* Effect.fromResult(outgoing(nextId(), method, params));
      let leave: Effect.Effect<void> = Effect.void;
      let isWanted = true;
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          isWanted = false;
          return leave;
        }),
      );
      const subscription = Effect.callback<OpenSocket, Failure>((resume) => {
        ask(request, roomFor(method, maxBytes, null), ({ result }, line) =>
          // why: at once, for what is told may come with the answer
          judged(result, (known) => {
            if (Result.isFailure(known)) return resume(Effect.fail(known.failure));
            const id = known.success;
            if (line === null || typeof id !== "string")
              return resume(Effect.fail(malformed(method, "result", "no subscription id")));
            leave = leaving(line, id);
            // why: whoever asked may have gone, and the node tells for good what nobody gives back
            if (!isWanted) return void run(leave);
            line.hearing.set(id, { hear, lose });
            resume(Effect.succeed(line));
          }),
        );
      });
      const line = yield* Effect.timeoutOrElse(subscription, {
        duration: answerWithin,
        orElse: () => Effect.andThen(lines.giveUp, Effect.fail(new RpcError({ method, reason: tooLate }))),
      });
      return { lost: Deferred.await(lost), abandon: Effect.sync(() => line.end(silent)) };
    });

  const send: Send = numbered({ nextId, maxBytes }, ask);
  return { send, subscribe };
});
