import * as Result from "effect/Result";
import { expect, it } from "vitest";
import { besideLane, laneOf, type Lane } from "../rooms/nonces.js";

const address = "0xABcdEFABcdEFabcdEfAbCdefabcdeFABcDEFabCD";

it.each([
  [undefined, "the lane's chainId: is missing: a lane is { chainId, address } · correct `chainId`"],
  [{ address }, "the lane's chainId: is missing · correct `chainId`"],
  [{ chainId: "1", address }, "the lane's chainId: a chain id is a positive integer · correct `chainId`"],
  [{ chainId: 1 }, "the lane's address: is missing · correct `address`"],
  [{ chainId: 1, from: address }, "the lane's address: is missing; say address for from · correct `address`"],
  [{ chainId: 1, account: address }, "the lane's address: is missing; say address for account · correct `address`"],
  [{ chainId: 1, address: null }, "the lane's address: is missing · correct `address`"],
  [{ chainId: 1, address: "0x12" }, "the lane's address: an address has 20 bytes of hex · correct `address`"],
  [{ chainId: 1, address: [address] }, "the lane's address: an address has 20 bytes of hex · correct `address`"],
  [{ chainId: 1, address: Symbol("x") }, "the lane's address: an address has 20 bytes of hex · correct `address`"],
  [{ chainId: 1, address, key: Symbol("x") }, "the lane's key: a nonce key has at most 192 bits · correct `key`"],
])("a lane %j is refused with its fault", (lane, message) => {
  const result = laneOf(lane as Lane);
  expect(Result.isFailure(result) && result.failure.message).toBe(message);
});

it("a lane is the same for every spelling of its account", () => {
  expect(Result.getOrThrow(laneOf({ chainId: 1, address })).id).toBe(`1:${address.toLowerCase()}:0`);
});

const all = [
  ...(["settleMs", "waitMs", "ttl", "everyMs", "width", "delegated"] as const),
  ...(["sign", "send", "counts", "nonce", "replaces"] as const),
];

it.each<ReadonlyArray<unknown>>([
  ...[Number.NaN, -1, Infinity, "60", {}, Symbol("x")].flatMap((ms) =>
    ["settleMs", "waitMs", "ttl"].map((name) => [{ [name]: ms }, name, "must be a finite number of ms, 0 or more"]),
  ),
  ...[Number.NaN, -1, 0, Infinity, "abc"].map((ms) => [
    { everyMs: ms },
    "everyMs",
    "must be a finite number of ms above 0",
  ]),
  ...[{}, { latest: "0x1", pending: "0x1" }, { latest: 0n }, { latest: -1n, pending: 0n }, () => 1].map((counts) => [
    { counts },
    "counts",
    "must be { latest, pending }, bigints from 0 on",
  ]),
  [{ delegated: "false" }, "delegated", "must be true or false"],
  [{ sign: "x" }, "sign", "must be a function"],
  [{ send: "x" }, "send", "must be a function"],
  [{ width: 3 }, "width", "is 1 or 2"],
  [{ nonce: 0 }, "nonce", "must be a bigint from 0 on"],
  [{ replaces: "0x11" }, "replaces", "must be a hash of 32 bytes"],
  ...[5, "x", []].map((options) => [options, "options", "must be an object"]),
])("impossible options are refused by their name: %#", (options, field, problem) => {
  expect(besideLane(options as object, all)).toMatchObject({
    _tag: "Failure",
    failure: { _tag: "InvalidLane", field, problem },
  });
});

it.each([undefined, null, {}, { settleMs: 0, waitMs: 0, ttl: 1.5, everyMs: 0.5 }, { ttl: null, everyMs: undefined }])(
  "possible or absent options are accepted: %j",
  (options) => expect(Result.isSuccess(besideLane(options, all))).toBe(true),
);

it("only the options of a call are checked, in the form that it takes, with null as absent", () => {
  const counts = { latest: 0n, pending: 0n };
  const taken = besideLane({ counts, nonce: 5, ttl: null }, ["counts", "ttl"]);
  expect(Result.getOrThrow(taken)).toEqual({ counts });
  expect(besideLane({ counts }, ["countsBy"])).toMatchObject({
    failure: { field: "counts", problem: "must be a function that gives { latest, pending }" },
  });
});

it("a lane that cannot be read is refused", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(laneOf(proxy as never)).toMatchObject({ failure: { field: "lane", problem: "cannot be read" } });
});
