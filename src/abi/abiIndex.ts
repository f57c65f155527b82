/** ABIs arranged for look-up by selector and topic, and declarations as the built-in tables hold them as items. */
import * as Arr from "effect/Array";
import type * as Schema from "effect/Schema";
import type { Abi } from "abitype";
import { getSignatureHash } from "ox/AbiItem";
import type { Hex } from "../primitives/hex.js";
import type { Parameter } from "./layout.js";
import type { Provenance } from "./revert.js";
import { isRecord, safely, memoizeList, remembered } from "../primitives/record.js";

/** An ABI item as the JSON that it is. why: abitype declares an item with readonly tuples, and with fields that may be absent; neither changes what it is. */
export const itemJson = (item: object): Schema.Json => item as Schema.Json;

/** One error, event or function of an ABI. */
export interface IndexedItem {
  /** The item's name. */
  readonly name: string;
  /** Its canonical signature, `transfer(address,uint256)`. */
  readonly signature: string;
  /** Its parameters, in order. */
  readonly inputs: ReadonlyArray<
    Parameter & {
      /** True if the value is a topic of the log. */
      readonly indexed?: boolean | undefined;
    }
  >;
  /** The JSON ABI item. */
  readonly item: Schema.Json;
  /** The origin of its ABI. */
  readonly provenance: Provenance;
  /** Lower case; null where the ABI was given without one. */
  readonly address: string | null;
  /** True if the event has no topic for its signature. */
  readonly anonymous: boolean;
}

/** ABIs arranged by {@link indexAbis}: signatures are hashed when something has to be decoded, those of one ABI once. */
export interface AbiIndex {
  readonly _tag: "AbiIndex";
  /** The errors with this selector, lower case with `0x`; in the caller's order, as the events are. */
  readonly errors: (selector: string) => ReadonlyArray<IndexedItem>;
  /** The events with this first topic. */
  readonly events: (topic: string) => ReadonlyArray<IndexedItem>;
  /** The functions with this selector. */
  readonly functions: (selector: string) => ReadonlyArray<IndexedItem>;
  /** The events that have none. */
  readonly anonymous: () => ReadonlyArray<IndexedItem>;
}

/** ABIs as an array, each alone or with the address whose code it describes, or one ABI. */
export type AbiSources = ReadonlyArray<Abi | { readonly address: string; readonly abi: Abi }> | Abi;

/** The same, or arranged before. */
export type Abis = AbiSources | AbiIndex;

/** The type of a parameter as signatures write it: tuples spelled out. */
const canonicalType = ({ type, components }: Parameter): string =>
  type.startsWith("tuple") ? `(${(components ?? []).map(canonicalType).join(",")})${type.slice(5)}` : type;

/** `name(type,…)`. */
export const signatureOf = (name: string, inputs: ReadonlyArray<Parameter>): string =>
  `${name}(${inputs.map(canonicalType).join(",")})`;

// why: hashing is what costs where an ABI is read
const hashes = remembered<Hex>(4_096, 512);
/** The hash of a signature: the topic of an event. It throws where the text is none. */
export const topicOf = (signature: string): Hex => hashes(signature, () => getSignatureHash(signature));
/** The selector of a function or an error. */
export const selectorOf = (signature: string): Hex => topicOf(signature).slice(0, 10) as Hex;

const isPair = (
  source: Abi | { readonly address: string; readonly abi: Abi },
): source is { readonly address: string; readonly abi: Abi } => !Array.isArray(source);

/** The key of events that have no topic of their own: no topic that a log can have. */
const noTopic = "";

/** The errors or functions of an ABI by selector, or its events by topic. Items that are not well-formed are left out. */
const arranged = (type: "error" | "event" | "function") =>
  memoizeList((abi: ReadonlyArray<Abi[number]>) => {
    const found = new Map<string, Array<Omit<IndexedItem, "provenance" | "address">>>();
    for (const item of abi) {
      if (!isRecord(item) || item.type !== type || typeof item.name !== "string") continue;
      const anonymous = item.type === "event" && item.anonymous === true;
      safely(() => {
        const signature = signatureOf(item.name, item.inputs);
        const key = anonymous ? noTopic : item.type === "event" ? topicOf(signature) : selectorOf(signature);
        const same = found.get(key) ?? [];
        found.set(key, same);
        same.push({ name: item.name, signature, inputs: item.inputs, item: itemJson(item), anonymous });
      }, undefined);
    }
    return found;
  });
const errorsOf = arranged("error");
const eventsOf = arranged("event");
const functionsOf = arranged("function");

/** An ABI, and where it comes from. */
interface Source extends Pick<IndexedItem, "provenance" | "address"> {
  readonly abi: Abi;
}

/** The items of all sources under a key, gathered when they are first asked for. */
const lookUp = (
  sourcesOf: () => ReadonlyArray<Source>,
  itemsOf: typeof errorsOf,
): ((key: string) => ReadonlyArray<IndexedItem>) => {
  let sources: ReadonlyArray<{
    readonly from: Omit<Source, "abi">;
    readonly items: ReturnType<typeof itemsOf>;
  }> | null = null;
  // why: only what is found is kept, so that no foreign log can make it grow
  const known = new Map<string, ReadonlyArray<IndexedItem>>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    sources ??= sourcesOf().map(({ abi, ...from }) => ({ from, items: itemsOf(abi) }));
    // why: of most logs no source tells
    const telling = sources.filter(({ items }) => items.has(key));
    const found = telling.flatMap(({ items, from }) =>
      (items.get(key) ?? []).map((item): IndexedItem => ({ ...item, ...from })),
    );
    if (found.length > 0) known.set(key, found);
    return found;
  };
};

/** Arranges ABIs wherever they come from, which is asked when something is looked up. */
export const indexSources = (sources: () => ReadonlyArray<Source>): AbiIndex => {
  const events = lookUp(sources, eventsOf);
  return {
    _tag: "AbiIndex",
    errors: lookUp(sources, errorsOf),
    functions: lookUp(sources, functionsOf),
    events,
    anonymous: () => events(noTopic),
  };
};

const sourceOf = (source: Parameters<typeof isPair>[0]): Source => {
  if (!isPair(source)) return { abi: source, address: null, provenance: { kind: "caller", source: null } };
  const address = source.address.toLowerCase();
  return { abi: source.abi, address, provenance: { kind: "address", source: address } };
};

/** Arranges ABIs. Items that are not well-formed are left out. */
export const indexAbis = (abis: ReadonlyArray<Parameters<typeof isPair>[0]>): AbiIndex =>
  indexSources(() => abis.map(sourceOf));

const isIndex = (sources: Abis): sources is AbiIndex => !Array.isArray(sources);

/** True if it is one ABI, and no list of them: its items have a type. */
export const isBareAbi = (source: unknown): source is Abi =>
  Array.isArray(source) && source.some((item: unknown) => isRecord(item) && typeof item["type"] === "string");

/** The index of any sources. */
export const indexOf = (sources: Abis): AbiIndex =>
  isIndex(sources) ? sources : indexAbis(isBareAbi(sources) ? [sources] : (sources as Exclude<AbiSources, Abi>));

/** `kind` of the provenance corrected for a contract: an ABI given for another address is just the caller's. */
export const provenanceAt = (item: IndexedItem, address: string | null): Provenance =>
  item.provenance.kind === "address" && item.address !== address
    ? { kind: "caller", source: item.provenance.source }
    : item.provenance;

/** Items of the same signature as one, with the provenance of all; order kept. */
export const bySignature = (items: ReadonlyArray<IndexedItem>): ReadonlyArray<Arr.NonEmptyReadonlyArray<IndexedItem>> =>
  Object.values(Arr.groupBy(items, ({ signature }) => signature));

/** The top-level parts of a comma-separated list. */
const parts = (list: string): ReadonlyArray<string> => {
  const found: Array<string> = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= list.length; index += 1) {
    const character = list[index];
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if ((character === "," && depth === 0) || character === undefined) {
      if (index > start) found.push(list.slice(start, index));
      start = index + 1;
    }
  }
  return found;
};

const parameter = (text: string): IndexedItem["inputs"][number] => {
  const end = text.startsWith("(") ? text.lastIndexOf(")") + 1 : 0;
  const space = text.indexOf(" ", end);
  const [type, rest] = space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space + 1)];
  const indexed = rest.startsWith("indexed ");
  const name = indexed ? rest.slice("indexed ".length) : rest;
  const known = indexed ? { name, indexed } : { name };
  if (end === 0) return { ...known, type };
  return { ...known, type: `tuple${type.slice(end)}`, components: parts(type.slice(1, end - 1)).map(parameter) };
};

/** The item that a declaration of a source means: `name(type name,(type name) name)`. */
export const itemOf = (type: "error" | "function" | "event", source: string, declaration: string): IndexedItem => {
  const open = declaration.indexOf("(");
  const name = declaration.slice(0, open);
  const inputs = parts(declaration.slice(open + 1, -1)).map(parameter);
  return {
    name,
    signature: signatureOf(name, inputs),
    inputs,
    item: itemJson({ type, name, inputs }),
    provenance: { kind: "builtin", source },
    address: null,
    anonymous: false,
  };
};
