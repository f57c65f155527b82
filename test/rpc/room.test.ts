/** How much an answer may hold, alone and beside the others of its run. */
import { expect, it, vi } from "vitest";
import { receiver, roomFor, sharedRoom, type Posted } from "../rooms/rpc.js";

it("the room for an answer is smaller for a number than for a simulation, and never above the endpoint's limit", () => {
  const most = (method: string, maxBytes: number) => roomFor(method, maxBytes, null).maxBytes;
  const endpoint = 32 * 1_048_576;
  expect(most("eth_simulateV1", endpoint)).toBe(endpoint);
  expect(most("eth_getTransactionCount", endpoint)).toBeLessThan(most("eth_getCode", endpoint));
  expect(most("eth_getCode", endpoint)).toBeLessThan(endpoint);
  expect(most("eth_getCode", 100)).toBe(100);
});

it("the room of a run ends where its answers are too long together; outside a run it does not", () => {
  const answers = { left: 100 };
  const [first, second] = [roomFor("eth_call", 80, answers), roomFor("eth_call", 80, answers)];
  expect([first.take(60), second.take(40), first.take(1)]).toEqual([true, true, false]);
  expect(roomFor("eth_call", 80, null).take(1_000)).toBe(true);
});

it("the room of one body is shared by the requests that it answers, each from its own run", () => {
  const [mine, other] = [{ left: 100 }, { left: 30 }];
  const room = sharedRoom([roomFor("eth_call", 80, mine), roomFor("eth_chainId", 80, other)], 100);
  expect(room.maxBytes).toBe(100);
  expect([room.take(60), mine.left, other.left]).toEqual([true, 70, 0]);
  expect(room.take(2)).toBe(false);
});

const mebibyte = 1_048_576;
/** What comes of a body, by `then` once all of it was received. */
const received = (body: string, maxBytes: number, then: (answers: ReturnType<typeof receiver>) => void = () => {}) =>
  new Promise<Posted>((resolve) => {
    const answers = receiver({ maxBytes, take: () => true }, resolve);
    answers.data(new TextEncoder().encode(body));
    answers.end(200, () => null, null);
    then(answers);
  });

it("the room that an answer takes is the weight of its values, not the bytes on the wire", async () => {
  const readIn = async (body: string, maxBytes: number) => (await received(body, maxBytes))._tag;
  expect(await readIn(`"${"a".repeat(mebibyte)}"`, 2 * mebibyte)).toBe("Success");
  expect(await readIn(`[${"{},".repeat(mebibyte / 3)}{}]`, 2 * mebibyte)).toBe("Failure");
});

it("room for a long body is taken under a test clock, and for a packed one not in the turn in which it came", async () => {
  vi.useFakeTimers();
  try {
    expect((await received(`"${"a".repeat(mebibyte)}"`, 2 * mebibyte))._tag).toBe("Success");
  } finally {
    vi.useRealTimers();
  }
  const packed = (bytes: number) => {
    let isRead = false;
    const answers = receiver({ maxBytes: mebibyte, take: () => true }, () => (isRead = true));
    answers.data(new Uint8Array(bytes));
    answers.end(
      200,
      () => null,
      () => new TextEncoder().encode("1"),
    );
    return isRead;
  };
  expect([packed(100), packed(10_000)]).toEqual([true, false]);
});

it("room for long bodies that complete together is taken for one in a turn of the event loop", async () => {
  const long = `"${"a".repeat(mebibyte)}"`;
  const order: Array<string> = [];
  const noted = (name: string) => (posted: Posted) => void order.push(`${name} ${posted._tag}`);
  const turns = async (count: number) => {
    for (let turn = 1; turn <= count; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      order.push(`turn ${turn}`);
    }
  };
  const all = [
    received(long, 2 * mebibyte, ({ fail }) => fail("closed")).then(noted("first")),
    received(long, 2 * mebibyte).then(noted("second")),
    received("1", 2 * mebibyte).then(noted("short")),
    turns(3),
  ];
  await Promise.all(all);
  const [first, second] = ["first Success", "second Success"].map((told) => order.indexOf(told));
  expect(order[0]).toBe("short Success");
  expect(order.slice(first, second).some((told) => told.startsWith("turn"))).toBe(true);
  expect(order.filter((told) => told.endsWith("Failure"))).toEqual([]);
});

it("room for a long body is not taken when its caller is gone before it is read", async () => {
  const told = received(`"${"a".repeat(mebibyte)}"`, 2 * mebibyte, ({ close }) => close());
  const later = new Promise((resolve) => setTimeout(resolve, 20)).then(() => "nothing");
  expect(await Promise.race([told, later])).toBe("nothing");
});
