/**
 * What classifying and decoding cost: the median over many runs of typical answers, and the worst
 * of hostile ones. Run with `npx tsx bench/errors.ts`.
 */
import { encodeErrorResult, encodeAbiParameters, parseAbi } from "viem";
import { classify, type ClassifyInput } from "../src/errors/classify.js";
import { indexAbis } from "../src/abi/abiIndex.js";
import { decodeRevert } from "../src/abi/table.js";
import { describeRevert } from "../src/abi/print.js";

const abi = parseAbi([
  "error FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error Many(address[] accounts)",
]);
const owner = "0x00000000000000000000000000000000000000aa";
const balance = encodeErrorResult({ abi, errorName: "ERC20InsufficientBalance", args: [owner, 1n, 2n] });
const nested = encodeErrorResult({ abi, errorName: "FailedOpWithRevert", args: [0n, "AA23 reverted", balance] });
const reason = `0x08c379a0${encodeAbiParameters([{ type: "string" }], ["ERC20: transfer amount exceeds balance"]).slice(2)}`;
const index = indexAbis([abi]);

const geth = (code: number, message: string, data?: string): ClassifyInput => ({
  method: "eth_call",
  httpStatus: 200,
  error: data === undefined ? { code, message } : { code, message, data },
});

const typical: Readonly<Record<string, () => unknown>> = {
  "classify: revert with data": () => classify(geth(3, "execution reverted: user error", reason)),
  "classify: insufficient funds": () =>
    classify(
      geth(-32000, `err: insufficient funds for gas * price + value: address ${owner} have 1 want 2 (supplied gas 3)`),
    ),
  "classify: nonce too low": () => classify(geth(-32000, "nonce too low: next nonce 5, tx nonce 3")),
  "classify: rate limit": () => classify({ ...geth(-32016, "over rate limit"), httpStatus: 429 }),
  "classify: method missing": () => classify(geth(-32601, "the method eth_simulateV1 does not exist/is not available")),
  "classify: unknown words": () => classify(geth(-32000, "something that no rule knows")),
  "decodeRevert: Error(string)": () => decodeRevert(reason, index),
  "decodeRevert: built-in": () => decodeRevert(balance),
  "decodeRevert: caller's, nested": () => decodeRevert(nested, index),
  "describeRevert: nested": () => describeRevert(decodeRevert(nested, index)),
};

const megabyte = 1_048_576;
const words = megabyte / 32;
const word = (value: number): string => value.toString(16).padStart(64, "0");
const many = encodeErrorResult({
  abi,
  errorName: "Many",
  args: [Array.from({ length: 6000 }, (): `0x${string}` => owner)],
});
const bytes = {
  reason: `0x08c379a0${word(32)}${word(megabyte - 128)}${"41".repeat(megabyte - 64)}`,
  unknown: `0xdeadbeef${"ff".repeat(megabyte)}`,
  list: `${many.slice(0, 10)}${word(32)}${word(words - 2)}${word(1).repeat(words - 2)}`,
  text: "nonce ".repeat(megabyte / 6),
  html: "<a>".repeat(megabyte / 3),
} as const;
const hostile: Readonly<Record<string, () => unknown>> = {
  "1 MB Error(string)": () => decodeRevert(bytes.reason),
  "1 MB unknown": () => decodeRevert(bytes.unknown),
  "1 MB address[] of the caller's": () => decodeRevert(bytes.list, index),
  "192 kB address[] of the caller's": () => decodeRevert(many, index),
  "1 MB revert through classify": () => classify(geth(3, "execution reverted", bytes.unknown)),
  "1 MB message": () => classify(geth(-32000, bytes.text)),
  "1 MB body": () => classify({ method: "eth_call", httpStatus: 200, bodyText: bytes.html }),
};

const median = (samples: ReadonlyArray<number>): number =>
  samples.toSorted((a, b) => a - b)[samples.length >> 1] ?? Number.NaN;

/** Median µs of one run, over batches of 50. */
const time = (run: () => unknown, batches: number, perBatch: number): number => {
  for (let warm = 0; warm < batches * perBatch * 0.5; warm += 1) run();
  return median(
    Array.from({ length: batches }, () => {
      const start = process.hrtime.bigint();
      for (let turn = 0; turn < perBatch; turn += 1) run();
      return Number(process.hrtime.bigint() - start) / 1000 / perBatch;
    }),
  );
};

for (const [name, run] of Object.entries(typical))
  console.log(`${name.padEnd(34)} ${time(run, 100, 50).toFixed(1).padStart(9)} µs`);
for (const [name, run] of Object.entries(hostile))
  console.log(`${name.padEnd(34)} ${(time(run, 11, 1) / 1000).toFixed(2).padStart(9)} ms`);
