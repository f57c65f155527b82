/** POST through Effect's `HttpClient`. Loaded when a layer over it is built: few are, and it brings much along. */
import * as Cause from "effect/Cause";
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as FetchHttpClient from "effect/http/FetchHttpClient";
import * as HttpBody from "effect/http/HttpBody";
import * as HttpClient from "effect/http/HttpClient";
import * as HttpClientRequest from "effect/http/HttpClientRequest";
import * as Stream from "effect/Stream";
import { receiver, type PostTo } from "./post.js";

export const viaHttpClient = (
  headers: Readonly<Record<string, string>>,
): Effect.Effect<PostTo, never, HttpClient.HttpClient> =>
  Effect.map(Effect.context<HttpClient.HttpClient>(), (context) => {
    const client = Context.get(context, HttpClient.HttpClient);
    // why: over `fetch` it would follow redirects to other origins by itself
    const init = { ...Context.getOrUndefined(context, FetchHttpClient.RequestInit), redirect: "manual" as const };
    const run = Effect.runForkWith(Context.add(context, FetchHttpClient.RequestInit, init));
    return (url, body, room, callback) => {
      const answer = receiver(room, callback);
      const request = HttpClientRequest.post(url, { headers, body: HttpBody.text(body, "application/json") });
      const exchange = Effect.flatMap(client.execute(request), (response) =>
        Effect.map(
          Stream.runForEachWhile(response.stream, (chunk) => Effect.sync(() => answer.data(chunk))),
          // why: unpacking is the client's work
          () => answer.end(response.status, (name) => response.headers[name] ?? null, null),
        ),
      );
      const fiber = run(Effect.catchCause(exchange, (cause) => Effect.sync(() => answer.fail(Cause.squash(cause)))));
      return () => {
        answer.close();
        fiber.interruptUnsafe();
      };
    };
  });
