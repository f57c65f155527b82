/** The transaction to sign: its exact fields, its unsigned bytes, the digest over a bundle of them, and the calls that it is asked as. */
import * as Rows from "effect/Record";
import * as Schema from "effect/Schema";
import * as Struct from "effect/Struct";
import { isChecksummed, keccak256 } from "../primitives/bytes.js";
import { isHash, type Address, type Hash, type Hex } from "../primitives/hex.js";
import { schemasOf, safely } from "../primitives/record.js";
import { authorizationItems, isLegacy, itemOf, itemsOf, sealed, type Unchecked } from "./envelope.js";
import { fields, Authorization, isUnsigned, type Transaction, type UnsignedAuthorization } from "./fields.js";

const { from: _, authorizationList: given, ...others } = schemasOf(fields);
const schemas = {
  ...others,
  /** Signed EIP-7702 authorisations. */
  authorizationList: Schema.Array(Authorization),
};

/** A field that a type of transaction does not have. */
interface Absent extends Struct.Lambda {
  (schema: unknown): Schema.optionalKey<Schema.Never>;
  readonly "~lambda.out": Schema.optionalKey<Schema.Never>;
}
const absent = Struct.lambda<Absent>(() => Schema.optionalKey(Schema.Never));

/** How a request is shown begins with these; the schema's order is that of what it makes. */
const front: ReadonlyArray<string> = ["to", "gas", "value", "data", "nonce", "chainId", "type"];
const inOrder = <Shape extends object>(shape: Shape): Shape =>
  // sorted, nothing is added or lost
  Object.fromEntries(Object.entries(shape).sort(([a], [b]) => front.indexOf(b) - front.indexOf(a))) as Shape;

const always = ["chainId", "nonce", "gas", "data", "value"] as const;
const caps = ["maxFeePerGas", "maxPriorityFeePerGas"] as const;

/** The fields of each type of transaction, in the order of a request; a field with `?` may be left out. */
const shapes = {
  legacy: [...always, "to?", "gasPrice"],
  eip2930: [...always, "to?", "gasPrice", "accessList"],
  eip1559: [...always, "to?", ...caps, "accessList?"],
  eip4844: [...always, ...caps, "accessList?", "to", "blobVersionedHashes", "maxFeePerBlobGas"],
  eip7702: [...always, ...caps, "accessList?", "to", "authorizationList"],
} as const;

/** The same fields, each with its name. */
const rows = Rows.map(shapes, (all: ReadonlyArray<string>) =>
  all.map((field) => ({ name: field.replace("?", "") as keyof typeof schemas, isOptional: field.endsWith("?") })),
);

/** A type of transaction: the fields it has, those it may have, and none of the others. */
const variant = <const Type extends keyof typeof shapes>(type: Type) => {
  const named = (isOptional: boolean) =>
    rows[type].filter((row) => row.isOptional === isOptional).map(({ name }) => name);
  const has = named(false) as Array<Extract<keyof typeof schemas, (typeof shapes)[Type][number]>>;
  const may = named(true) as Array<
    {
      [Name in keyof typeof schemas]: `${Name}?` extends (typeof shapes)[Type][number] ? Name : never;
    }[keyof typeof schemas]
  >;
  return Schema.Struct(
    inOrder({
      /** The kind of transaction (EIP-2718). */
      type: Schema.Literal(type),
      ...Struct.pick(schemas, has),
      ...Struct.map(Struct.pick(schemas, may), Schema.optionalKey),
      ...Struct.map(Struct.omit(schemas, [...has, ...may]), absent),
    }),
  );
};

const legacy = variant("legacy");
const eip2930 = variant("eip2930");
const eip1559 = variant("eip1559");
const eip4844 = variant("eip4844");
const eip7702 = variant("eip7702");

/** Signed bytes from before EIP-155 bind no chain; whoever reads a report meets them with `origin.raw` alone. */
const unbound = Schema.Struct({
  ...legacy.fields,
  chainId: Schema.optionalKey(Schema.Never),
}) as never as typeof legacy;

/** An authorisation in it may be yet to be signed: reports have such requests, and a clearance hands none of them out. */
const unsigned = Schema.Struct({ ...eip7702.fields, authorizationList: given }) as never as typeof eip7702;

/** Before EIP-2718, with the chain by EIP-155. */
export interface LegacyRequest extends Schema.Schema.Type<typeof legacy> {}
/** Type 1: a gas price, and accounts and storage that are paid for ahead. */
export interface Eip2930Request extends Schema.Schema.Type<typeof eip2930> {}
/** Type 2: a fee cap and a tip. */
export interface Eip1559Request extends Schema.Schema.Type<typeof eip1559> {}
/** Type 3: blobs. */
export interface Eip4844Request extends Schema.Schema.Type<typeof eip4844> {}
/** Type 4: sets the code of accounts. */
export interface Eip7702Request extends Schema.Schema.Type<typeof eip7702> {}

/** A request exactly as viem's `signTransaction` takes it: its types accept it as it is. */
export const Request = Schema.Union([legacy, eip2930, eip1559, eip4844, eip7702, unsigned, unbound]);
/** A request that is to be signed, by its `type`. Prices in wei per gas, `value` in wei, `gas` in gas. */
export type Request = LegacyRequest | Eip2930Request | Eip1559Request | Eip4844Request | Eip7702Request;

/** The fields that a request needs beside the input: null where it is not known, or of no use. */
export type Filled = Pick<
  Transaction,
  { readonly [K in keyof typeof fields]: (typeof fields)[K]["filled"] extends true ? K : never }[keyof typeof fields]
>;

/** Returns the filled-in fields; null where a request has no such field, and everywhere when there is no request. */
export const filledOf = (request: Request | null | undefined): Filled => ({
  chainId: request?.chainId ?? null,
  nonce: request?.nonce ?? null,
  gas: request?.gas ?? null,
  gasPrice: request?.gasPrice ?? null,
  maxFeePerGas: request?.maxFeePerGas ?? null,
  maxPriorityFeePerGas: request?.maxPriorityFeePerGas ?? null,
});

/** The request of a type by values of its fields, null where one is not known; null where the type cannot be without it. */
export const requestOf = (
  type: Request["type"],
  values: { readonly [K in keyof typeof schemas]: Transaction[K] },
): Request | null => {
  const known: Record<string, unknown> = { type };
  for (const { name, isOptional } of rows[type])
    if (values[name] != null) known[name] = values[name];
    else if (!isOptional) return null;
  // the fields are those of the type, and each was read as its schema has it
  return known as Request;
};

const typeOf = (transaction: Transaction, { gasPrice }: Filled): Request["type"] => {
  if (gasPrice !== null) return transaction.accessList === null ? "legacy" : "eip2930";
  if (transaction.authorizationList !== null) return "eip7702";
  return transaction.blobVersionedHashes === null ? "eip1559" : "eip4844";
};

/** True of signed bytes that bind no chain: with one they would be another transaction. */
export const isUnbound = ({ origin, chainId }: Transaction): boolean => origin?.raw !== undefined && chainId === null;

/** The request of a transaction; null while any field is unknown. */
export const buildRequest = (transaction: Transaction, filled: Filled): Request | null => {
  const request = requestOf(typeOf(transaction, filled), { ...transaction, ...filled });
  if (request === null || transaction.origin === undefined || !isUnbound(transaction)) return request;
  const { chainId: _, ...unbound } = request;
  // the only request without a chain: `fieldsIn` takes it, and the schema has a shape for it
  return unbound as Request;
};

/** The fields of a request; null where it may have more than it shows. */
const fieldsOf = (request: Request): Readonly<Record<string, unknown>> | null => {
  const isPlain = Object.getPrototypeOf(request) === Object.prototype;
  return isPlain && Object.getOwnPropertyNames(request).length === Object.keys(request).length ? { ...request } : null;
};

/** True if they are known to have the same fields with the same values; lists are the same only by identity. */
const isAlike = (first: ReturnType<typeof fieldsOf>, second: ReturnType<typeof fieldsOf>): boolean => {
  if (first === null || second === null) return false;
  const names = Object.keys(first);
  if (names.length !== Object.keys(second).length) return false;
  for (const name of names) if (!Object.hasOwn(second, name) || first[name] !== second[name]) return false;
  return true;
};

/** The types by the first byte of their bytes. */
export const envelopes = { legacy: "0x0", eip2930: "0x1", eip1559: "0x2", eip4844: "0x3", eip7702: "0x4" } as const;

/** Fields of a signed transaction, or of one with its blobs: whoever serialises a request would write them behind its own. */
const ofSigned = ["r", "s", "v", "yParity", "blobs", "sidecars"];
/** Those and the fields of other types: none is in the bytes, and a wallet may choose the type by them. */
const foreign = Rows.map(rows, (own): ReadonlyArray<string> => {
  const names = new Set<string>(own.map(({ name }) => name));
  return [...ofSigned, ...Object.keys(schemas).filter((name) => !names.has(name))];
});

/** Fields without which a request of a type would be of another: the price of some, the lists of others. */
const ownFields = Rows.map(rows, (own) =>
  own.flatMap(({ name, isOptional }) =>
    isOptional || name === "to" || name === "accessList" || [...always, ...caps].some((each) => each === name)
      ? []
      : [name],
  ),
);

/** Says which field contradicts a type, or which it lacks; null where its fields are of it. */
export const typeProblem = (type: Request["type"], has: (field: string) => boolean): string | null => {
  const stray = foreign[type].find((field) => Object.hasOwn(schemas, field) && has(field));
  if (stray !== undefined) return `is ${type}, which has no ${stray}`;
  const missing = ownFields[type].find((field) => !has(field));
  return missing === undefined ? null : `is ${type}, which needs ${missing}; give it, or leave type out`;
};

/** True if an address with capital letters is right by its checksum, but of an access list, and hashes are those of blobs. */
const areListsSound = ({ to, authorizationList = [], blobVersionedHashes: blobs }: Request): boolean =>
  (to == null || isChecksummed(to)) &&
  authorizationList.every(({ address }) => isChecksummed(address)) &&
  (blobs === undefined || (blobs.length > 0 && blobs.every((hash) => hash.startsWith("0x01"))));

/** A count that a number holds exactly; null where it is none. */
const counted = (count: unknown): bigint | null =>
  typeof count === "number" && Number.isSafeInteger(count) ? BigInt(count) : null;
const wordIn = (value: unknown): bigint | null => (isHash(value) ? BigInt(value) : null);

/** An authorisation as the bytes have it. Unsigned, it has words as long as a signature's. */
const saidBy = (entry: Authorization | UnsignedAuthorization) => {
  const said = { address: entry.address, chainId: counted(entry.chainId), nonce: counted(entry.nonce) };
  if (!isUnsigned(entry)) return { ...said, yParity: counted(entry.yParity), r: wordIn(entry.r), s: wordIn(entry.s) };
  const [r, s] = ["0x01", "0x02"].map((part) => BigInt(keccak256(`${part}${entry.authority.slice(2)}` as Hex)));
  return { ...said, authority: entry.authority, r, s };
};

/** keccak256 of what an authority signs (EIP-7702); null where it is none. */
export const authorizationHash = (entry: Authorization | UnsignedAuthorization): Hash | null => {
  const items = authorizationItems(saidBy(entry));
  return items === null ? null : keccak256(sealed("0x5", items.slice(0, 3)));
};

/** True if an authorisation of a transaction is yet to be signed. */
export const hasUnsigned = ({ authorizationList }: Pick<Transaction, "authorizationList">): boolean =>
  authorizationList !== null && authorizationList.some(isUnsigned);

/** The authorisations of a transaction that are yet to be signed. */
export const unsignedIn = ({ authorizationList }: Pick<Transaction, "authorizationList">) =>
  authorizationList === null ? [] : authorizationList.filter(isUnsigned);

/** The contents of a request, for `itemsOf` to check; null where no signer would take its fields, whatever they hold. */
export const fieldsIn = (request: Request): Unchecked | null => {
  const { type, chainId, authorizationList } = request;
  // why: a list of one word is a key as well, and a type that is another to whoever serialises
  const isKnown = typeof type === "string" && Object.hasOwn(envelopes, type);
  // why: bytes that were signed may bind no chain
  const isUnbound = type === "legacy" && chainId === undefined;
  if (!isKnown || !(isUnbound || chainId > 0) || !areListsSound(request)) return null;
  const { maxFeePerGas: cap = 0n, maxPriorityFeePerGas: tip = 0n } = request;
  if (tip > cap || foreign[type].some((name) => Reflect.get(request, name) !== undefined)) return null;
  return {
    ...{ type: envelopes[type], chainId: counted(chainId), nonce: counted(request.nonce), to: request.to ?? null },
    ...{ gas: request.gas, value: request.value, input: request.data, gasPrice: request.gasPrice },
    ...{ maxFeePerGas: request.maxFeePerGas, maxPriorityFeePerGas: request.maxPriorityFeePerGas },
    ...{ maxFeePerBlobGas: request.maxFeePerBlobGas, blobVersionedHashes: request.blobVersionedHashes },
    accessList: request.accessList ?? [],
    authorizationList: Array.isArray(authorizationList) ? authorizationList.map(saidBy) : null,
  };
};

/** The bytes that are signed. */
const bytesOf = (request: Request): Hex | null => {
  const known = fieldsIn(request);
  const items = known === null ? null : itemsOf(known);
  if (known === null || items === null) return null;
  // EIP-155: without a chain the six fields alone
  const isBound = isLegacy(known.type) && request.chainId !== undefined;
  const chain = isBound ? itemOf("chainId", known.chainId) : null;
  if (isBound && chain === null) return null;
  return sealed(known.type, chain === null ? items : [...items, chain, "0x", "0x"]);
};

const serialized = new WeakMap<
  Request,
  { readonly fields: ReturnType<typeof fieldsOf>; readonly bytes: Hex; hash: Hash | null }
>();

/** The bytes of a request, and their hash once somebody asked for it. */
const serialize = (request: Request) =>
  safely(() => {
    const fields = fieldsOf(request);
    const known = serialized.get(request);
    // why: a scan, its proof and its clearance need the same bytes, of which large ones are what costs; a report may be
    // changed in place, and its lists without a sign of it
    if (known !== undefined && isAlike(known.fields, fields))
      if (Object.values(known.fields ?? {}).every((value) => typeof value !== "object")) return known;
    const bytes = bytesOf(request);
    if (bytes === null) return null;
    const fresh = { fields, bytes, hash: known?.bytes === bytes ? known.hash : null };
    serialized.set(request, fresh);
    return fresh;
  }, null);

/** The unsigned EIP-2718 bytes (EIP-155 for legacy); null when the fields do not make a transaction. */
export const unsignedBytes = (request: Request): Hex | null => serialize(request)?.bytes ?? null;

/** keccak256 of the unsigned bytes: what the key signs. */
export const signingHash = (request: Request): Hash | null => {
  const known = serialize(request);
  return known === null ? null : (known.hash ??= keccak256(known.bytes));
};

/**
 * True if a request is that transaction with only its open fields filled in: target, data, value and
 * lists are the input's, and so is every number that the caller fixed.
 */
export const isRequestOf = (transaction: Transaction, request: Request): boolean => {
  const built = buildRequest(transaction, {
    // why: what binds no chain is built without whichever stands here
    chainId: transaction.chainId ?? (isUnbound(transaction) ? 1 : request.chainId),
    nonce: transaction.nonce ?? request.nonce,
    gas: transaction.gas ?? request.gas,
    gasPrice: transaction.gasPrice,
    maxFeePerGas: transaction.maxFeePerGas ?? request.maxFeePerGas ?? null,
    maxPriorityFeePerGas: transaction.maxPriorityFeePerGas ?? request.maxPriorityFeePerGas ?? null,
  });
  const bytes = unsignedBytes(request);
  return (
    built !== null && bytes !== null && (isAlike(fieldsOf(built), fieldsOf(request)) || bytes === unsignedBytes(built))
  );
};

/** One transaction of a digest. */
export interface Signable {
  readonly from: Address;
  readonly request: Request;
}

/** A call: the fields that are there. */
export type Call = { readonly [K in keyof typeof fields]?: NonNullable<Transaction[K]> };

/**
 * Returns what the caller wants done, without what the pipeline fills in (nonce, fees, chain) but for `gas`,
 * which stays behind too when it is null.
 */
export const bareCall = (transaction: Transaction, gas: bigint | null): Call => {
  const call: Record<string, unknown> = {};
  for (const field of Struct.keys(fields))
    if (!fields[field].filled && transaction[field] !== null) call[field] = transaction[field];
  return gas === null ? call : { ...call, gas };
};

/** Exactly what would be signed; the node knows its own chain, and the type follows from the fields. */
export const exactCall = (request: Request, from: Address): Call => {
  const { type: _, chainId: __, ...call } = request;
  return { from, ...call };
};
