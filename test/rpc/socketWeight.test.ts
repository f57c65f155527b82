/** What a socket delivers is weighed before it is read. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import * as Eth from "../../src/Eth.js";
import * as Rpc from "../../src/Rpc.js";
import { CurrentRun } from "../rooms/rpc.js";
import { answer, played } from "./peer.js";

const mebibyte = 1_048_576;
/** Of `length` bytes as a text; as values it weighs sixteen times that. */
const dense = (length: number) => `[${"[],".repeat(length / 3)}[]]`;
const tooLarge = { failure: { reason: { _tag: "NodeLimitExceeded" } } };
const logs = Effect.result(Rpc.Rpc.use(({ request }) => request("eth_getLogs", [{}])));

let longest = 0;
beforeEach(() => {
  longest = 0;
  const { parse } = JSON;
  vi.spyOn(JSON, "parse").mockImplementation((text: string) => {
    longest = Math.max(longest, text.length);
    return parse(text);
  });
});
afterEach(() => void vi.restoreAllMocks());

it("a text without an id that weighs more than a run may have ends the connection unread", async () => {
  const { told } = await played(Effect.all([logs, logs], { concurrency: "unbounded" }), ({ asked, say }) =>
    Effect.andThen(asked(2), say(`{"x":${dense(4 * mebibyte)}}`)),
  );
  expect(Result.getOrThrow(told)).toMatchObject([tooLarge, tooLarge]);
  expect(longest).toBeLessThan(mebibyte);
});

it("a heavy answer that nobody waits for any more is dropped unread, and no other request fails", async () => {
  const late = `{"jsonrpc":"2.0","id":99,"result":${dense(4 * mebibyte)}}`;
  const { told, opened } = await played(logs, ({ asked, written, say }) =>
    Effect.andThen(
      asked(1),
      Effect.suspend(() => say(late, answer(written[0]?.id, "x"))),
    ),
  );
  expect(Result.getOrThrow(told)).toMatchObject({ success: "x" });
  expect([opened(), longest < mebibyte]).toEqual([1, true]);
});

it.each([
  ["before the result", (id: unknown, result: string) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`],
  ["first", (id: unknown, result: string) => `{ "id": ${id}, "result": ${result}, "jsonrpc": "2.0" }\n`],
  ["last", (id: unknown, result: string) => `{"jsonrpc":"2.0","result":${result},"id":${id}}`],
  ["behind the result", (id: unknown, result: string) => `{"result":${result}, "id": ${id}, "jsonrpc": "2.0"}`],
])("a too heavy answer fails unread, for the named request alone: an id %s", async (_, text) => {
  const { told, opened } = await played(
    Effect.all([Effect.result(Eth.chainId), logs], { concurrency: "unbounded" }),
    ({ asked, written, say }) =>
      Effect.andThen(
        asked(2),
        Effect.suspend(() => say(text(written[0]?.id, dense(mebibyte / 2)), answer(written[1]?.id, "x"))),
      ),
  );
  expect(Result.getOrThrow(told)).toMatchObject([tooLarge, { success: "x" }]);
  expect([opened(), longest < mebibyte / 2]).toEqual([1, true]);
});

it("an answer counts against its run, and may weigh the endpoint's limit outside one", async () => {
  const answers = { left: 10 * mebibyte };
  const within = Effect.updateService(logs, CurrentRun, (run) => ({ ...run, answers }));
  const { told } = await played(Effect.all([within, within, logs]), ({ asked, written, say }) =>
    Effect.forEach([1, 2, 3], (count) =>
      Effect.andThen(
        asked(count),
        Effect.suspend(() =>
          say(`{"jsonrpc":"2.0","id":${written[count - 1]?.id},"result":${dense((count * 3 * mebibyte) / 8)}}`),
        ),
      ),
    ),
  );
  expect(Result.getOrThrow(told).map(Result.isSuccess)).toEqual([true, false, true]);
  expect(answers.left).toBeLessThanOrEqual(4 * mebibyte);
});

it("a short text is not weighed, whatever its values", async () => {
  const { told } = await played(logs, ({ asked, written, say }) =>
    Effect.andThen(
      asked(1),
      Effect.suspend(() => say(`{"jsonrpc":"2.0","id":${written[0]?.id},"result":${dense(60_000)}}`)),
    ),
  );
  expect(Result.getOrThrow(told)).toMatchObject({ _tag: "Success" });
});
