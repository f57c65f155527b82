/** What Multicall3's functions answer, call by call. Pure and total. */
import type { Hex } from "../primitives/hex.js";
import { valuesOf } from "./layout.js";

const [uint, hash, bool, bytes] = [
  { type: "uint256" },
  { type: "bytes32" },
  { type: "bool" },
  { type: "bytes" },
] as const;
const results = { type: "tuple[]", components: [bool, bytes] } as const;

/** One call: whether it succeeded, and what it returned. */
type Result = readonly [success: boolean, data: Hex];

/** The answer to calldata, by its selector; null where it is none of such a function. */
export const resultsOf = (calldata: string, data: Hex): ReadonlyArray<Result> | null => {
  switch (calldata.slice(0, 10).toLowerCase()) {
    case "0x252dba42": // aggregate
      return valuesOf([uint, { type: "bytes[]" }], data)?.[1].map((one) => [true, one] as const) ?? null;
    case "0xbce38bd7": // tryAggregate
    case "0x82ad56cb": // aggregate3
    case "0x174dea71": // aggregate3Value
      return valuesOf([results], data)?.[0] ?? null;
    case "0xc3077fa9": // blockAndAggregate
    case "0x399542e9": // tryBlockAndAggregate
      return valuesOf([uint, hash, results], data)?.[2] ?? null;
    default:
      return null;
  }
};
