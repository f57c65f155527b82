import { expect, it } from "vitest";
import { nearest } from "../rooms/primitives.js";

const names = ["url", "timeoutMs", "retryTimes", "from", "value", "deadline"];

it.each([
  ["valeu", "value"],
  ["deadlin", "deadline"],
  ["rpcUrl", "url"],
  ["timeout", "timeoutMs"],
  ["TIMEOUTMS", "timeoutMs"],
  ["form", null],
  ["fron", "from"],
  ["colour", null],
  ["u", null],
  ["", null],
  ["x".repeat(1_000_000), null],
  [`${"x".repeat(50)}url`, null],
])("the nearest name of %.20s is %s", (word, meant) => {
  expect(nearest(word, names)).toBe(meant);
});
