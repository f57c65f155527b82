/** How much an answer may hold, alone and beside the others of its run. */
import { expect, it } from "vitest";
import { receiver, roomFor, sharedRoom, type Posted } from "../rooms/rpc.js";

it("is less for a number than for a simulation, and never more than the endpoint allows", () => {
  const most = (method: string, maxBytes: number) => roomFor(method, maxBytes, null).maxBytes;
  const endpoint = 32 * 1_048_576;
  expect(most("eth_simulateV1", endpoint)).toBe(endpoint);
  expect(most("eth_getTransactionCount", endpoint)).toBeLessThan(most("eth_getCode", endpoint));
  expect(most("eth_getCode", endpoint)).toBeLessThan(endpoint);
  expect(most("eth_getCode", 100)).toBe(100);
});

it("ends where the answers of the run are too long together; outside a run it does not", () => {
  const answers = { left: 100 };
  const [first, second] = [roomFor("eth_call", 80, answers), roomFor("eth_call", 80, answers)];
  expect([first.take(60), second.take(40), first.take(1)]).toEqual([true, true, false]);
  expect(roomFor("eth_call", 80, null).take(1_000)).toBe(true);
});

it("of one body is shared by the requests that it answers, each from its own run", () => {
  const [mine, other] = [{ left: 100 }, { left: 30 }];
  const room = sharedRoom([roomFor("eth_call", 80, mine), roomFor("eth_chainId", 80, other)], 100);
  expect(room.maxBytes).toBe(100);
  expect([room.take(60), mine.left, other.left]).toEqual([true, 70, 0]);
  expect(room.take(2)).toBe(false);
});

it("is taken by what values weigh when they are read, not by the bytes that they were written with", () => {
  const readIn = (body: string, maxBytes: number): boolean => {
    const told: Array<Posted> = [];
    const answers = receiver({ maxBytes, take: () => true }, (posted) => told.push(posted));
    answers.data(new TextEncoder().encode(body));
    answers.end(200, () => null, null);
    return told[0]?._tag === "Success";
  };
  const mebibyte = 1_048_576;
  expect(readIn(`"${"a".repeat(mebibyte)}"`, 2 * mebibyte)).toBe(true);
  expect(readIn(`[${"{},".repeat(mebibyte / 3)}{}]`, 2 * mebibyte)).toBe(false);
});
