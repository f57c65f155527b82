/** What a function's ABI says of reading and of value, beside what its call did. Pure. */
import { decodeResult } from "../../abi/decodeLogs.js";
import { describeResult } from "../../abi/print.js";
import { argumentsAt } from "../../abi/words.js";
import type { Verdict } from "../../errors/verdicts.js";
import { isRecord } from "../../primitives/record.js";
import { address, statementOf, text, wei, type Statement } from "../../primitives/statement.js";
import type { Hex } from "../../primitives/hex.js";
import type { Transaction } from "../../transaction/fields.js";

/** What many contracts answer, and nothing else, by their selectors: the function, and what it returns. */
const readers: Readonly<Record<string, readonly [name: string, type: string]>> = {
  "0x70a08231": ["balanceOf", "uint256"],
  "0xdd62ed3e": ["allowance", "uint256"],
  "0x18160ddd": ["totalSupply", "uint256"],
  "0x313ce567": ["decimals", "uint8"],
  "0x95d89b41": ["symbol", "string"],
  "0x06fdde03": ["name", "string"],
  "0x6352211e": ["ownerOf", "address"],
  "0xe985e9c5": ["isApprovedForAll", "bool"],
  "0x081812fc": ["getApproved", "address"],
  "0xc87b56dd": ["tokenURI", "string"],
};

const readerOf = (data: string) => {
  const [name, type] = readers[data.slice(0, argumentsAt).toLowerCase()] ?? [];
  if (name === undefined || type === undefined) return null;
  return { type: "function", name, stateMutability: "view", inputs: [], outputs: [{ name: "", type }] };
};

const reading: ReadonlySet<unknown> = new Set(["view", "pure"]);
const unpayable: ReadonlySet<unknown> = new Set(["view", "pure", "nonpayable"]);

/** The function that a call only reads by, and what it answered; null where it may do more, or no function is known. */
export const onlyReads = (
  { item: known, data }: Pick<Transaction, "item" | "data">,
  returned: Hex,
): { readonly name: string; readonly result: string | null; readonly isGuess: boolean } | null => {
  const item = known ?? readerOf(data);
  if (!isRecord(item) || !reading.has(item["stateMutability"]) || typeof item["name"] !== "string") return null;
  const result = decodeResult(returned, item);
  const name = known === null ? `${item["name"]} (by selector)` : item["name"];
  return { name, result: result === null ? null : describeResult(result), isGuess: known === null };
};

/** Why a call with value reverts without a reason, where the ABI says it; null where it does not. */
export const unpaid = ({ item, value, to }: Transaction, failure: Verdict): Statement | null => {
  const isSilent =
    failure._tag === "ExecutionReverted" &&
    (failure.revert === null ? failure.data === "0x" : failure.revert.layers[0].layer._tag === "Empty");
  if (!isSilent || value === 0n || !isRecord(item) || !unpayable.has(item["stateMutability"])) return null;
  return statementOf(
    "the call reverts: by its ABI the function is not payable",
    [text("function", typeof item["name"] === "string" ? item["name"] : null), wei("value", value), address("to", to)],
    "leave `value` out, or call a payable function",
  );
};
