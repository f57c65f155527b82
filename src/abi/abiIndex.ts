/** The caller's ABIs arranged for look-up by selector and topic. */
import type * as Schema from "effect/Schema";
import type { Abi } from "abitype";
import { keccak256, stringToHex } from "viem";
import type { Parameter } from "./type.js";
import type { Provenance } from "./revert.js";
import { safely } from "../primitives/safely.js";

/** An ABI, alone or with the address whose code it describes. */
export type AbiSource = Abi | { readonly address: string; readonly abi: Abi };

/** One error or event of an ABI. */
export interface IndexedItem {
  readonly name: string;
  readonly signature: string;
  readonly inputs: ReadonlyArray<IndexedParameter>;
  /** The JSON ABI item. */
  readonly item: Schema.Json;
  readonly provenance: Provenance;
  /** Lower case; null where the ABI was given without one. */
  readonly address: string | null;
  readonly anonymous: boolean;
}

/** A parameter of an error or event. */
export interface IndexedParameter extends Parameter {
  readonly indexed?: boolean | undefined;
}

/** ABIs arranged by {@link indexAbis}; reuse it, for hashing the signatures is what costs. */
export interface AbiIndex {
  readonly _tag: "AbiIndex";
  /** By selector, lower case with `0x`. */
  readonly errors: ReadonlyMap<string, ReadonlyArray<IndexedItem>>;
  /** By first topic. */
  readonly events: ReadonlyMap<string, ReadonlyArray<IndexedItem>>;
  readonly anonymous: ReadonlyArray<IndexedItem>;
}

/** ABIs as an array or arranged before. */
export type AbiSources = ReadonlyArray<AbiSource> | AbiIndex;

/** The type of a parameter as signatures write it: tuples spelled out. */
const canonicalType = ({ type, components }: Parameter): string =>
  type.startsWith("tuple") ? `(${(components ?? []).map(canonicalType).join(",")})${type.slice(5)}` : type;

/** `name(type,…)`. */
export const signatureOf = (name: string, inputs: ReadonlyArray<Parameter>): string =>
  `${name}(${inputs.map(canonicalType).join(",")})`;

const add = (map: Map<string, Array<IndexedItem>>, key: string, item: IndexedItem): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [item]);
  else list.push(item);
};

const isPair = (source: AbiSource): source is { readonly address: string; readonly abi: Abi } => !Array.isArray(source);

/** Arranges ABIs. Items that are not well-formed are left out. */
export const indexAbis = (abis: ReadonlyArray<AbiSource>): AbiIndex => {
  const errors = new Map<string, Array<IndexedItem>>();
  const events = new Map<string, Array<IndexedItem>>();
  const anonymous: Array<IndexedItem> = [];
  for (const source of abis) {
    const [address, abi] = isPair(source) ? [source.address.toLowerCase(), source.abi] : [null, source];
    for (const item of abi) {
      if (item.type !== "error" && item.type !== "event") continue;
      const signature = safely(() => signatureOf(item.name, item.inputs), null);
      if (signature === null) continue;
      const indexed: IndexedItem = {
        name: item.name,
        signature,
        inputs: item.inputs,
        // an ABI item is JSON by its type; abitype declares it with readonly tuples
        item: item as unknown as Schema.Json,
        provenance: { kind: address === null ? "caller" : "address", source: address },
        address,
        anonymous: item.type === "event" && item.anonymous === true,
      };
      const topic = keccak256(stringToHex(signature));
      if (item.type === "error") add(errors, topic.slice(0, 10), indexed);
      else if (indexed.anonymous) anonymous.push(indexed);
      else add(events, topic, indexed);
    }
  }
  return { _tag: "AbiIndex", errors, events, anonymous };
};

const isIndex = (sources: AbiSources): sources is AbiIndex => !Array.isArray(sources);

/** The index of any sources. */
export const indexOf = (sources: AbiSources): AbiIndex => (isIndex(sources) ? sources : indexAbis(sources));

/** `kind` of the provenance corrected for a contract: an ABI given for another address is just the caller's. */
export const provenanceAt = (item: IndexedItem, address: string | null): Provenance =>
  item.provenance.kind === "address" && item.address !== address
    ? { kind: "caller", source: item.provenance.source }
    : item.provenance;

/** Items of the same signature as one, with the provenance of all; order kept. */
export const bySignature = (
  items: ReadonlyArray<IndexedItem>,
): ReadonlyArray<readonly [IndexedItem, ...Array<IndexedItem>]> => {
  const groups = new Map<string, [IndexedItem, ...Array<IndexedItem>]>();
  for (const item of items) {
    const group = groups.get(item.signature);
    if (group === undefined) groups.set(item.signature, [item]);
    else group.push(item);
  }
  return [...groups.values()];
};
