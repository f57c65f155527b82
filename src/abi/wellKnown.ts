/** The functions and events that many contracts share, by their selectors and topics. */
import { keccak256, stringToHex } from "viem";
import { remembered } from "../primitives/remembered.js";
import type { AbiIndex, IndexedItem } from "./abiIndex.js";
import { itemOf } from "./declaration.js";
import { declared } from "./table/wellKnown.js";

const rows = declared.split("\n").map((line) => line.split("|"));

/** The items of a column of the table, by the hash of their signature; hashed when first asked for. */
const byHash = (type: "function" | "event", column: 1 | 2) =>
  remembered((lines: ReadonlyArray<ReadonlyArray<string>>) => {
    const found = new Map<string, Array<IndexedItem>>();
    for (const row of lines) {
      for (const declaration of (row[column] ?? "").split(";")) {
        if (declaration === "") continue;
        const item = itemOf(type, row[0] ?? "", declaration);
        const hash = keccak256(stringToHex(item.signature));
        const key = type === "function" ? hash.slice(0, 10) : hash;
        found.set(key, [...(found.get(key) ?? []), item]);
      }
    }
    return found;
  });
const functions = byHash("function", 1);
const events = byHash("event", 2);

/** What is shared, as an index of ABIs that nobody gave. */
export const wellKnown: AbiIndex = {
  _tag: "AbiIndex",
  errors: () => [],
  anonymous: () => [],
  functions: (selector) => functions(rows).get(selector) ?? [],
  events: (topic) => events(rows).get(topic) ?? [],
};
