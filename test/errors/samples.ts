/** One value for every field that an error can have, by its name. */
import * as Schema from "effect/Schema";
import { encodeErrorResult, parseAbi } from "viem";
import { decodeRevert } from "../rooms/abi.js";
import { nothing } from "../rooms/primitives.js";

export const abi = parseAbi([
  "error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)",
  "error Paused(bytes32 id)",
]);
export const inner = encodeErrorResult({ abi, errorName: "Paused", args: [`0x${"ab".repeat(32)}`] });
export const bytes = encodeErrorResult({ abi, errorName: "FailedOpWithRevert", args: [1n, "AA23\u202e", inner] });
export const address = "0x00000000000000000000000000000000000000Aa";
const huge = 2n ** 256n - 1n;

/** A value for each field of evidence, by its name. */
const samples: Readonly<Record<string, unknown>> = {
  account: address,
  to: address,
  target: address,
  contract: address,
  data: bytes,
  revert: decodeRevert(bytes, [abi], { address }),
  raw: { code: -32000, message: "\u001b[31mno", data: [1, null, { a: true }] },
  detail: "what the node said",
  httpStatus: 429,
  code: -32016,
  retryAfterMs: 1500,
  afterMs: 10_000,
  maxInFlight: 256,
  transaction: 4,
  suggested: { from: 1n, to: huge },
  overrides: ["prevRandao", "gasLimit"],
  path: "result[0].calls[1].status",
  text: "execution reverted: \u202eno",
  halt: "InvalidFEOpcode",
  policy: "maxSpent",
  inFlight: `0x${"cd".repeat(32)}`,
  isOtherKind: false,
  method: "eth_simulateV1",
  missing: [{ reason: "FundsUnknown", sentence: "a payer's funds are not known to suffice", code: null }],
};

/** Of endpoints a line each, of runs data. */
const lines = ["status: success, reverted"];
const difference = { ...nothing, kind: "status", transaction: 0, a: "success", b: "reverted", decides: false };

const differencesFor = (field: unknown) =>
  Schema.isSchema(field) && Schema.is(field as Schema.Schema<unknown>)(lines) ? lines : [difference];

/** Fields of the sample values, for the constructor of an error. */
export const samplesOf = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.keys(fields)
      .filter((name) => name !== "_tag")
      .map((name) => [name, name === "differences" ? differencesFor(fields[name]) : (samples[name] ?? huge)]),
  );
