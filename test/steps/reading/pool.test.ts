/** What keeps a transaction out of a pool: the settings of nodes, what is reserved for others, who was not counted. */
import { describe, expect, it } from "vitest";
import type { Chain } from "../../../src/Chains.js";
import { unknownChain } from "../../rooms/chains.js";
import { Hash, Hex } from "../../rooms/primitives.js";
import { buildRequest } from "../../rooms/transaction.js";
import type { Transaction } from "../../../src/Transaction.js";
import { checkPool, type Filled } from "../../rooms/steps.js";
import { report, transfer } from "../../report/fixtures.js";
import { bundle, codes, fee, filled, gas } from "../parts.js";

const known: Chain = { ...unknownChain, nodeLimitsKnown: true };
const none: Chain = { ...known, nodeLimits: { maxFee: null, minTip: null, maxBytes: null } };
const quiet = { ...report(), transactions: [{ ...transfer, nonce: { ...transfer.nonce, inFlight: 0 } }] as const };

const found = (
  price: Partial<Filled["fee"]["value"]>,
  input: Partial<Transaction> = {},
  limit = 21_000n,
  chain = known,
) => {
  const value = { gasPrice: null, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n, ...price };
  const [one] = bundle(input);
  const request = buildRequest(one.input, { chainId: 1, nonce: 0, gas: limit, ...value });
  return checkPool([filled(one, { gas: gas(limit), fee: fee(null, { value }), request })], quiet, chain);
};
const data = (bytes: number): Hex => Hex.make(`0x${"ff".repeat(bytes)}`);
const blobs = [Hash.make(`0x01${"0".repeat(62)}`)];

describe("a fee that nodes refuse by their settings", () => {
  const refused = ["NodeMayRefuse/warning"];
  it.each([
    ["a tip of 1 wei", {}, {}, []],
    ["no tip", { maxPriorityFeePerGas: 0n }, {}, refused],
    ["a legacy price of 0", { gasPrice: 0n, maxFeePerGas: null, maxPriorityFeePerGas: null }, {}, refused],
    ["gas for 1 ether", { maxFeePerGas: 10n ** 18n / 21_000n }, {}, []],
    ["gas for more than 1 ether", { maxFeePerGas: 10n ** 18n / 21_000n + 1n }, {}, refused],
    ["calldata of half the limit", {}, { data: data(65_600) }, []],
    ["calldata that fits with all around it", {}, { data: data(130_850) }, []],
    ["calldata that fits, but not with all around it", {}, { data: data(131_000) }, refused],
    [
      "a blob transaction of more bytes than one without",
      {},
      { data: data(131_072), blobVersionedHashes: blobs, maxFeePerBlobGas: 1n },
      [],
    ],
    [
      "a blob transaction that leaves no room for its blob",
      {},
      { data: data(920_000), blobVersionedHashes: blobs, maxFeePerBlobGas: 1n },
      refused,
    ],
  ] as const)("is found or not: %s", (_, price, input, expected) =>
    expect(codes(found(price, input))).toEqual(expected),
  );

  it("is information with both numbers where an entry is of other nodes, and a warning for too many bytes", () => {
    const others: Chain = { ...unknownChain, known: true };
    const [one] = found({ maxPriorityFeePerGas: 0n }, {}, 21_000n, others);
    expect(one).toMatchObject({ code: "NodeMayRefuse", severity: "info", evidence: "assumed" });
    expect(one?.numbers.map(({ value }) => value)).toEqual([0n, 1n]);
    const dear = { maxFeePerGas: 10n ** 18n };
    expect(codes(found(dear, {}, 21_000n, unknownChain))).toEqual(["NodeMayRefuse/info"]);
    expect(codes(found({ maxPriorityFeePerGas: 0n }, {}, 21_000n, unknownChain))).toEqual(refused);
    expect(codes(found({}, { data: data(200_000) }, 21_000n, others))).toEqual(refused);
    expect(found({ maxPriorityFeePerGas: 0n }, { data: data(200_000) }, 10n ** 12n, none)).toEqual([]);
  });
});

describe("in-flight transactions", () => {
  const [one] = bundle({});
  it("reduce the balance by an unknown amount, and the finding says what is left", () => {
    const [queued] = checkPool([filled(one)], report(), none);
    expect(queued).toMatchObject({ code: "QueuedCostUnknown", severity: "info", transaction: 0 });
    expect(queued?.numbers.map(({ value }) => value)).toEqual([1n, 10n ** 19n - 1_500_044_100_000_000_000n]);
    expect(checkPool([filled(one)], quiet, none)).toEqual([]);
  });
});
