/**
 * Revert bytes as data: `Error(string)`, `Panic(uint256)`, custom errors by the caller's ABIs and a table of others,
 * and what is nested inside them.
 *
 * Pure and total: any bytes of any size are answered, in time linear in their size.
 */
import { type AbiIndex, bySignature, type IndexedItem, provenanceAt } from "./abiIndex.js";
import { type Leaf, leavesOf } from "./layout.js";
import { hexToBytes } from "../primitives/bytes.js";
import { isAddress, isBytes, type Address, type Hex } from "../primitives/hex.js";
import { argumentsAt, bytesAt, dataAt, pointedAt } from "./words.js";
import {
  Revert,
  RevertAmbiguous,
  RevertCustom,
  RevertEmpty,
  type RevertLayer,
  RevertPanic,
  RevertReason,
  RevertUnknown,
} from "./revert.js";

/** `Panic(uint256)` codes as the Solidity documentation explains them. */
const panicMeanings: ReadonlyMap<bigint, string> = new Map([
  [0x00n, "a panic inserted by the compiler"],
  [0x01n, "an assert failed"],
  [0x11n, "arithmetic overflow or underflow"],
  [0x12n, "division or modulo by zero"],
  [0x21n, "conversion to an enum of a value out of its range"],
  [0x22n, "access to an incorrectly encoded storage byte array"],
  [0x31n, "pop on an empty array"],
  [0x32n, "array index out of bounds"],
  [0x41n, "too much memory allocated, or an array too large"],
  [0x51n, "call of a zero-initialised internal function"],
]);

/** Errors and codes that many contracts have in common, so that no ABI need tell them. */
export interface Table {
  /** The errors with this selector: `0x` and eight lower-case digits. */
  readonly errors: (selector: string) => ReadonlyArray<IndexedItem>;
  /** Returns the meaning of a code in place of a sentence, such as `GS013`; null where it is none. */
  readonly meaning: (code: string) => string | null;
}

/** Bounds of one decoding: layers, characters of a reason kept and of a code, bytes in which custom errors are looked for. */
const bounds = { layers: 8, reason: 4096, code: 5, custom: 262_144 } as const;

// the bytes were checked once before; checking them again in every layer would cost a pass each
const trusted = { disableChecks: true } as const;

const hex = (digits: string): Hex => `0x${digits}`;

const utf8 = (digits: string): string => {
  const bytes = hexToBytes(hex(digits.slice(0, bounds.reason * 8)));
  return new TextDecoder().decode(bytes).slice(0, bounds.reason);
};

/** The errors that explain bytes: by the caller's ABIs, those of `address` first, and by the table. */
interface Context {
  readonly errors: AbiIndex["errors"];
  readonly table: Table;
  readonly address: string | null;
}

const meaningOf = (text: string, { table }: Context): string | null =>
  text.length > bounds.code ? null : table.meaning(text);

/** `Error(string)`, also with a dirty or missing tail: some contracts build it by hand. */
const reasonOf = (data: Hex, context: Context): ReturnType<typeof layerOf> | null => {
  const content = bytesAt(data, pointedAt(data, argumentsAt, argumentsAt))?.slice(dataAt);
  if (content === undefined) return null;
  const reason = utf8(content);
  return {
    layer: new RevertReason({ data, reason, meaning: meaningOf(reason, context) }, trusted),
    leaves: content.length >= 8 ? [{ type: "string", path: "reason", content }] : [],
  };
};

const panicOf = (data: Hex): ReturnType<typeof layerOf> | null => {
  if (data.length !== 74) return null;
  const code = BigInt(`0x${data.slice(10)}`);
  const meaning = panicMeanings.get(code) ?? "a code that Solidity does not define";
  return { layer: new RevertPanic({ data, code, meaning }, trusted), leaves: [] };
};

const explain = (data: Hex, items: ReadonlyArray<IndexedItem>, context: Context) =>
  bySignature(items).flatMap((group) => {
    const [first] = group;
    const leaves = leavesOf(first.inputs, data.slice(10));
    if (leaves === null) return [];
    const provenance = group
      .map((item) => provenanceAt(item, context.address))
      .filter(
        ({ kind, source }, index, all) =>
          all.findIndex((other) => other.kind === kind && other.source === source) === index,
      );
    const custom = new RevertCustom(
      {
        data,
        name: first.name,
        signature: first.signature,
        item: first.item,
        provenance,
        meaning: meaningOf(first.name, context),
      },
      trusted,
    );
    return [{ custom, leaves }];
  });

const customOf = (data: Hex, selector: string, context: Context): ReturnType<typeof layerOf> | null => {
  if (data.length > 2 + bounds.custom * 2) return null;
  const items = context.errors(selector);
  const own = context.address === null ? [] : items.filter(({ address }) => address === context.address);
  const first = explain(data, own, context);
  const found = first.length > 0 ? first : explain(data, [...items, ...context.table.errors(selector)], context);
  const [only, ...others] = found;
  if (only === undefined) return null;
  if (others.length === 0) return { layer: only.custom, leaves: only.leaves };
  return {
    layer: new RevertAmbiguous({ data, candidates: found.map(({ custom }) => custom) }, trusted),
    leaves: [],
  };
};

/** One layer of a revert, and the places where further revert data may be. */
const layerOf = (
  data: Hex,
  context: Context,
): { readonly layer: RevertLayer; readonly leaves: ReadonlyArray<Leaf> } => {
  if (data.length === 2) return { layer: new RevertEmpty({ data }, trusted), leaves: [] };
  const selector = data.length < 10 ? null : data.slice(0, 10).toLowerCase();
  const known =
    selector === null
      ? null
      : selector === "0x08c379a0"
        ? reasonOf(data, context)
        : selector === "0x4e487b71"
          ? panicOf(data)
          : customOf(data, selector, context);
  return (
    known ?? {
      layer: new RevertUnknown({ data, selector: selector === null ? null : hex(selector.slice(2)) }, trusted),
      leaves: [],
    }
  );
};

const controlByte = /^(?:..)*?(?:0[0-8]|0[bce-f]|1[0-9a-f]|[89a-f].)/i;

/** Revert data inside a `bytes` or `string`; words are no revert data, however their first four letters hash. */
const innerBytes = ({ type, content }: Leaf): Hex | null => {
  if (type === "bytes") return hex(content);
  if (controlByte.test(content.slice(0, 64))) return hex(content);
  if (!content.startsWith("3078") || content.length > bounds.custom * 2) return null;
  const text = utf8(content);
  return isBytes(text) && text.length >= 10 ? text : null;
};

const unwrap = (data: Hex, path: string, context: Context, layers: Array<{ path: string; layer: RevertLayer }>) => {
  const { layer, leaves } = layerOf(data, context);
  const explained = layer._tag !== "Unknown" && layer._tag !== "Empty";
  if (layers.length > 0 && !explained) return false;
  layers.push({ path, layer });
  for (const leaf of leaves) {
    if (layers.length >= bounds.layers) break;
    const inner = innerBytes(leaf);
    if (inner !== null) unwrap(inner, path === "" ? leaf.path : `${path}.${leaf.path}`, context, layers);
  }
  return true;
};

/** Decodes reverted bytes; `table` is asked for what the ABI of `address` does not explain. */
export const revertOf = (bytes: string, abis: AbiIndex, address: string | null, table: Table): Revert => {
  const data = isBytes(bytes) ? bytes : hex("");
  const at = isAddress(address) ? address : null;
  const layers: Array<{ path: string; layer: RevertLayer }> = [];
  unwrap(data, "", { errors: abis.errors, table, address: at?.toLowerCase() ?? null }, layers);
  const [first, ...rest] = layers;
  return new Revert(
    {
      data,
      layers: [first ?? { path: "", layer: new RevertEmpty({ data: hex("") }, trusted) }, ...rest],
      // matched against the pattern above
      address: at as Address | null,
    },
    trusted,
  );
};
