/** What Multicall3's functions answer, call by call. Pure and total. */
import { decodeAbiParameters, type AbiParameter } from "viem";
import type { Hex } from "../primitives/hex.js";
import { safely } from "../primitives/safely.js";
import { leavesOf } from "./layout.js";

const [uint, hash, bool, bytes] = [
  { type: "uint256" },
  { type: "bytes32" },
  { type: "bool" },
  { type: "bytes" },
] as const;
const results = { type: "tuple[]", components: [bool, bytes] } as const;

/** One call: whether it succeeded, and what it returned. */
type Result = readonly [success: boolean, data: Hex];

const valuesOf = <const P extends ReadonlyArray<AbiParameter>>(parameters: P, data: Hex) =>
  leavesOf(parameters, data.slice(2), true) === null ? null : safely(() => decodeAbiParameters(parameters, data), null);

/** The answer of a function, by its signature; null where it is none of such a function. */
export const resultsOf = (signature: string, data: Hex): ReadonlyArray<Result> | null => {
  switch (signature.slice(0, signature.indexOf("("))) {
    case "aggregate":
      return valuesOf([uint, { type: "bytes[]" }], data)?.[1].map((one) => [true, one] as const) ?? null;
    case "tryAggregate":
    case "aggregate3":
    case "aggregate3Value":
      return valuesOf([results], data)?.[0] ?? null;
    case "blockAndAggregate":
    case "tryBlockAndAggregate":
      return valuesOf([uint, hash, results], data)?.[2] ?? null;
    default:
      return null;
  }
};
