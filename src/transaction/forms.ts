/**
 * The forms in which people hold transactions. Each row recognises one form by its own marks and reads it into fields as
 * `fields.ts` names them, or into bytes; a contradiction in it is refused by both names. Values stay unchecked.
 */
import * as Rec from "effect/Record";
import * as Result from "effect/Result";
import * as Struct from "effect/Struct";
import { argumentsOfTexts, asAbi } from "../abi/encode.js";
import { isHex, isQuantity } from "../primitives/hex.js";
import { address, bounded, each, given, no, onlyHas, record, type Checked } from "../primitives/problem.js";
import { each as sameRow, isPlain, isRecord } from "../primitives/record.js";
import { escapeText } from "../primitives/text.js";
import { fields, maxTransactions, type InputDefaults, type Origin } from "./fields.js";
import { envelopes, typeProblem, type Request } from "./request.js";

/** Fields of an object, unchecked. */
type Given = Readonly<Record<string, unknown>>;

/** One transaction as its holder has it. */
export interface Held {
  /** Its fields by our names; of bytes, the sender alone. */
  readonly call: Given;
  /** Its bytes, signed or not, and their path; null where it is written as fields. */
  readonly raw: { readonly bytes: string; readonly path: string } | null;
  readonly origin: Origin;
  /** The path of a field as its holder knows it. */
  readonly name: (field: string) => string;
}

/** Reads bytes as the call they are, whose sender may stand beside them. */
export type ReadBytes = (held: Held, defaults: InputDefaults) => Checked<Pick<Held, "call" | "origin">>;

type Read<Input = Given> = (input: Input, at: string) => Checked<ReadonlyArray<Held>>;

const heldAs = (call: Given, at: string, more: Partial<Held> = {}): Held => ({
  ...{ call, raw: null, origin: {}, name: (field: string) => `${at}${field}` },
  ...more,
});

/** The path of a whole from the path in front of its fields. */
const wholeOf = (at: string): string => (at === "" ? "transaction" : at.slice(0, -1));

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
/** A number as JSON-RPC or JavaScript writes it. Wallets do not agree on "10" and "", so that these stay what they are. */
const number = (value: unknown): unknown => (isQuantity(value) || isCount(value) ? BigInt(value) : value);
const count = (value: unknown): unknown => {
  const read = number(value);
  return typeof read === "bigint" && read >= 0n && read <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(read) : read;
};
/** 32 bytes of a signature, which nodes write without leading zeros. */
const word = (value: unknown): unknown => (isQuantity(value) ? `0x${value.slice(2).padStart(64, "0")}` : value);

/** One value of all that are given; a text that no field takes, where they differ. */
const oneOf = (...values: ReadonlyArray<unknown>): unknown => {
  const [first, ...others] = values.filter(given);
  return others.every((other) => isSame(first, other)) ? first : "two values";
};

/** The parity that `v` tells (EIP-155, before it, or by itself). */
const parityIn = (v: unknown): unknown => {
  const read = count(v);
  return read === 27 || read === 28 ? read - 27 : read;
};

/** An authorisation of JSON-RPC, viem or ethers, whose signature is an object of its own. */
const authorization = (value: unknown): unknown => {
  if (!isRecord(value)) return value;
  const { signature, v, contractAddress, ...rest } = value;
  const apart = isRecord(signature) ? signature : {};
  const [r, s] = (["r", "s"] as const).map((name) => oneOf(word(rest[name]), word(apart[name])));
  const parities = [count(rest["yParity"]), count(apart["yParity"]), parityIn(v), parityIn(apart["v"])];
  return {
    ...{ ...rest, address: oneOf(rest["address"], contractAddress), r, s, yParity: oneOf(...parities) },
    ...{ chainId: count(rest["chainId"]), nonce: count(rest["nonce"]) },
  };
};

const readers: Readonly<Record<string, (value: unknown) => unknown>> = {
  quantity: number,
  authorizationList: (value) => (Array.isArray(value) ? value.map(authorization) : value),
};
const quantities = Struct.keys(fields).filter((name) => fields[name].wire === "quantity");

/** A value as our field has it; what is none stays as it is, for the field's own check to refuse. */
const readField = (name: string, value: unknown): unknown => {
  if (name === "chainId" || name === "nonce") return count(value);
  return Object.hasOwn(fields, name) ? (readers[fields[name as keyof typeof fields].wire]?.(value) ?? value) : value;
};

/** Other names of our fields, and how their value is read. */
const synonyms: Readonly<Record<string, readonly [name: string, read: (value: unknown) => unknown]>> = {
  account: ["from", (account) => (isRecord(account) ? (account["address"] ?? account) : account)],
  chain: ["chainId", (chain) => (isRecord(chain) ? (chain["id"] ?? chain) : chain)],
  gasLimit: ["gas", (gas) => gas],
  input: ["data", (data) => data],
  typeHex: ["type", (type) => type],
};

/** Fields by which a node's or a library's answer shows that the transaction was sent. */
export const shownBy = ["hash", "blockHash", "r", "s"];
const lists = new Set(["accessList", "authorizationList", "blobVersionedHashes", "blobs", "sidecars"]);
/** True of a field without a value: null, undefined, and of a list one without an entry. */
const isAbsent = (name: string, value: unknown): boolean =>
  !given(value) || (lists.has(name) && Array.isArray(value) && value.length === 0);
const isShown = (call: Given): boolean => shownBy.some((name) => given(call[name]));
const hasBlobs = (call: Given): boolean => !isAbsent("blobVersionedHashes", call["blobVersionedHashes"]);

/** Fields that no signature covers, and when they are ignored: any other field is read or refused. */
const ignored: Readonly<Record<string, (call: Given) => boolean>> = {
  // why: of a transaction that was sent already, and its signature is not handed out again
  ...sameRow(isShown, [
    ...[...shownBy, "blockNumber", "blockTimestamp", "transactionIndex", "index"],
    ...["v", "yParity", "signature", "provider"],
  ]),
  // why: beside the caps nodes and ethers show the price that was paid
  gasPrice: (call) => isShown(call) && given(call["maxFeePerGas"]),
  ...sameRow(() => true, ["nonceManager", "assertChainId"]),
  // why: of blobs only the hashes are signed
  ...sameRow(hasBlobs, ["blobs", "kzg", "sidecars", "blobVersion"]),
};

/** True of an object that only another library or a node writes: plain fields of ours are judged more strictly. */
const isForeign = (call: Given): boolean =>
  ["type", ...shownBy, ...Struct.keys(synonyms)].some((name) => given(call[name])) ||
  quantities.some((name) => isQuantity(call[name]));

const typeNames = Struct.keys(envelopes);

/** The type that a name (`eip1559`), a number or a quantity means; undefined where there is none. */
const typeOf = (value: unknown): Request["type"] | undefined => {
  const read = number(value);
  const envelope = typeof read === "bigint" || typeof read === "number" ? `0x${read.toString(16)}` : null;
  return typeNames.find((name) => name === value || envelopes[name] === envelope);
};

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === "string" && typeof b === "string" && a.toLowerCase() === b.toLowerCase());

/** A field's value under our name for it. */
const under = (key: string, value: unknown): readonly [field: string, value: unknown] => {
  const [field, read] = Object.hasOwn(synonyms, key) ? (synonyms[key] ?? [key]) : [key];
  const part = read === undefined ? value : read(value);
  return [field, field === "type" ? (typeOf(part) ?? "unknown") : readField(field, part)];
};

/** The fields of an object under our names, and where each came from; two names of one field have to agree. */
const renamed = (input: Given, name: (field: string) => string) =>
  Result.gen(function* () {
    const call = new Map<string, unknown>();
    const names = new Map<string, string>();
    const isTaken = ([key, value]: readonly [string, unknown]) =>
      !isAbsent(key, value) && !(Object.hasOwn(ignored, key) && ignored[key]?.(input) === true);
    for (const [key, given] of Object.entries(input).filter(isTaken)) {
      const [field, value] = under(key, given);
      const before = names.get(field) ?? key;
      // why: the name that is not ours is the one at fault
      const [wrong, right] = key === field ? [before, key] : [key, before];
      // guard: two kinds of data, of which nobody knows what a wallet signs
      if (before !== key && !isSame(call.get(field), value)) return yield* no(name(wrong), `differs from ${right}`);
      if (before === key || key === field) call.set(field, value);
      names.set(field, before);
    }
    return { call: Object.fromEntries(call), names };
  });

/** An object of viem, ethers or JSON-RPC, or a request of ours: `type` is judged by the fields beside it. */
const foreign = (input: Given, at: string, origin: Origin = {}): Checked<ReadonlyArray<Held>> =>
  Result.gen(function* () {
    const { call, names } = yield* renamed(input, (field) => `${at}${field}`);
    const name = (field: string) => `${at}${names.get(field) ?? field}`;
    const { type, ...rest } = call;
    const isMined = given(input["blockHash"]) || given(input["blockNumber"]);
    const held = heldAs(rest, at, { name, origin: isMined && isShown(input) ? { ...origin, isMined } : origin });
    if (type === undefined) return [held];
    const known = typeNames.find((each) => each === type);
    if (known === undefined) return yield* no(name("type"), "is not a type of transaction from 0 to 4");
    const problem = typeProblem(known, (field) => rest[field] !== undefined);
    if (problem !== null) return yield* no(name("type"), problem);
    const isListed = known !== "eip2930" || rest["accessList"] !== undefined;
    return [isListed ? held : { ...held, call: { ...rest, accessList: [] } }];
  });

/** The request of viem's `simulateContract`, which names the contract `address`. */
const contractCall: Read = ({ address, to, ...rest }, at) =>
  given(to) && !isSame(to, address)
    ? no(`${at}address`, "differs from to")
    : Result.map(foreign({ ...rest, to: address }, at), (all) =>
        all.map((held) => ({ ...held, name: (field) => (field === "to" ? `${at}address` : held.name(field)) })),
      );

/** The JSON that `toJSON` of ethers writes: numbers are decimals, and the signature is an object. */
const ethersJson: Read = (json, at) => foreign(Rec.map(Struct.omit(json, ["_type", "sig"]), decimal), at);

/** Refuses a field that a copy of the object would lack: its holder's library may read it, and nobody else does. */
const onlyOwn = (call: Given, at: string): Checked<Given> => {
  const hidden = [...Struct.keys(fields), ...Struct.keys(synonyms), "type"].find(
    (name) => given(call[name]) && !Object.prototype.propertyIsEnumerable.call(call, name),
  );
  return hidden === undefined ? Result.succeed(call) : no(`${at}${hidden}`, "is not the object's own field");
};

/** Our own fields, as they are. An access list without an entry is none. */
const plain: Read = (call, at) =>
  Array.isArray(call["accessList"]) && call["accessList"].length === 0
    ? Result.map(onlyOwn(call, at), (own) => [heldAs({ ...own, accessList: null }, at)])
    : Result.succeed([heldAs(call, at)]);

const bytesOf = (raw: unknown, path: string, held: Held): Checked<ReadonlyArray<Held>> =>
  typeof raw === "string"
    ? Result.succeed([{ ...held, raw: { bytes: raw, path } }])
    : no(path, "must be the bytes of a transaction, as hex");
const bytes: Read<unknown> = (input, at) => bytesOf(input, wholeOf(at), heldAs({}, at));

/** Unsigned bytes beside their sender; beside signed ones it has to be the signer. */
const bytesFrom: Read = ({ from, raw, ...rest }, at) =>
  Result.flatMap(onlyHas(rest, ["from", "raw"], "a field beside raw", at), () =>
    bytesOf(raw, `${at}raw`, heldAs({ from }, at)),
  );

/** A `Transaction` of ethers, which has getters alone: read by its bytes. Fields of its own would be another transaction. */
const ethersTransaction: Read = (transaction, at) =>
  Result.flatMap(onlyHas(transaction, [], "a field beside unsignedSerialized", at), () =>
    bytes(given(transaction["signature"]) ? transaction["serialized"] : transaction["unsignedSerialized"], at),
  );

/** A capability of a batch or a call that a wallet may not leave out, so that what it changes is not in the proof; undefined = none. */
export const demandedIn = (part: unknown): string | undefined => {
  const capabilities = isRecord(part) ? part["capabilities"] : null;
  if (!given(capabilities)) return undefined;
  if (!isRecord(capabilities)) return "*";
  const isOptional = (capability: unknown) => isRecord(capability) && capability["optional"] === true;
  return Object.keys(capabilities).find((name) => !isOptional(capabilities[name]));
};

/** Refuses what the whole says of all its calls and an entry says by itself. */
const withoutCommon = (call: Given, path: string, names: ReadonlyArray<string>): Checked<void> => {
  const common = names.find((name) => given(call[name]));
  return common === undefined ? Result.void : no(`${path}${common}`, "stands in one call; it is the same for all");
};

/** Fields of `wallet_sendCalls` (EIP-5792, and as it was before). */
export const fieldsOfRequest = [
  ...["version", "id", "chainId", "from", "calls", "capabilities", "atomicRequired", "forceAtomic"],
];
const fieldsOfCalls = [...fieldsOfRequest, "chain", "account", "delegate", "authorization"];

/** True of a batch whose calls have to succeed or fail as one. */
export const isDemandedAtomic = ({ atomicRequired, forceAtomic }: Given): boolean =>
  [atomicRequired, forceAtomic].some((one) => given(one) && one !== false);

/** The authorisation of a batch, which its account is to sign where nobody has. */
const delegatingTo = (entry: unknown, from: unknown): unknown =>
  isRecord(entry) && [...shownBy, "yParity", "v", "signature", "authority"].every((name) => !given(entry[name]))
    ? { ...entry, authority: from }
    : entry;

/** Calls from one account (EIP-5792, and viem's `sendCalls`): a bundle, until it is known how the account sends them. */
const callBatch: Read = (request, at) =>
  Result.gen(function* () {
    const { calls, from, account, chainId, chain, capabilities, delegate, authorization: entry } = request;
    yield* onlyHas(request, fieldsOfCalls, "a field of calls", at);
    const sender = given(from) ? from : under("account", account)[1];
    const code = given(delegate) ? yield* address(delegate, `${at}delegate`) : null;
    if (code !== null && given(entry)) return yield* no(`${at}delegate`, "cannot be combined with authorization");
    if (given(entry) && !given(sender)) return yield* no(`${at}from`, "is missing; authorization needs it");
    const origin: Origin = {
      ...(isDemandedAtomic(request) || code !== null || given(entry) ? { isAtomic: true } : {}),
      // why: among other transactions a batch stays a bundle
      ...(at.startsWith("[") ? {} : { batch: "open" }),
      ...(code === null ? {} : { delegate: code }),
      ...(isRecord(capabilities) && given(capabilities["paymasterService"]) ? { isSponsored: true } : {}),
    };
    const all = yield* bundle(calls, `${at}calls`, (call, path) => {
      const places = [
        [at, demandedIn(request)],
        [path, demandedIn(call)],
      ] as const;
      const [place, demanded] = places.find(([, name]) => name !== undefined) ?? [];
      if (demanded !== undefined)
        return no(`${place}capabilities.${escapeText(demanded, 40)}`, "is not optional, and no proof covers it");
      const { capabilities: _, chainId: own, ...fields } = call;
      const chains = [chainId, own].flatMap((id) => (given(id) ? [count(id)] : []));
      if (chains.length === 2 && chains[0] !== chains[1]) return no(`${path}chainId`, `differs from ${at}chainId`);
      const [common] = chains;
      return Result.flatMap(
        withoutCommon(call, path, ["from", "account", "chain", ...(given(entry) ? ["authorizationList"] : [])]),
        () => foreign({ ...fields, from, account, chain, chainId: common }, path, origin),
      );
    });
    const [first, ...others] = all;
    if (first === undefined || !given(entry)) return all;
    const name = (field: string) => (field === "authorizationList" ? `${at}authorization` : first.name(field));
    const call = { ...first.call, authorizationList: [authorization(delegatingTo(entry, sender))] };
    return [{ ...first, call, name }, ...others];
  });

/** The entries of a list, each of which is an object. */
const bundle = (entries: unknown, path: string, read: Read): Checked<ReadonlyArray<Held>> => {
  if (!Array.isArray(entries)) return no(path, "must be an array");
  if (entries.length === 0) return no(path, "is empty");
  if (entries.length > maxTransactions) return no(path, `has more than ${maxTransactions} transactions`);
  const readAt = (entry: unknown, index: number) =>
    Result.flatMap(record(entry, `${path}[${index}]`), (call) => read(call, `${path}[${index}].`));
  return Result.map(each(Array.from(entries), readAt), (all) => all.flat());
};

/** A file of the Safe's transaction builder: a bundle from that Safe, whose numbers are decimals. */
const safeFile: Read = (file, at) =>
  Result.gen(function* () {
    yield* onlyHas(
      file,
      ["version", "chainId", "createdAt", "meta", "transactions", "from"],
      "a field of a Safe's file",
      at,
    );
    const meta = isRecord(file["meta"]) ? file["meta"] : {};
    const named = meta["createdFromSafeAddress"];
    const safe = named === "" ? undefined : named;
    const from = file["from"] ?? safe;
    if (!given(from))
      return yield* no(
        `${at}from`,
        "is missing: the file does not name its Safe (meta.createdFromSafeAddress); add from",
      );
    if (given(safe) && !isSame(from, safe)) return yield* no(`${at}from`, "differs from meta.createdFromSafeAddress");
    return yield* bundle(file["transactions"], `${at}transactions`, (call, path) => {
      // why: the builder shows beside the data what it was made of
      const { contractMethod, contractInputsValues, ...fields } = call;
      return Result.gen(function* () {
        yield* withoutCommon(call, path, ["from", "account", "chain", "chainId"]);
        const made = given(call["data"]) ? {} : yield* methodCall(contractMethod, contractInputsValues, path);
        const numbers = { value: decimal(call["value"]), chainId: decimal(file["chainId"]) };
        return yield* foreign({ ...fields, ...made, ...numbers, from }, path);
      });
    });
  });

/** The call that the builder makes of a method and a text for each of its inputs. */
const methodCall = (method: unknown, texts: unknown, path: string): Checked<Given> => {
  const field = `${path}contractMethod`;
  if (!given(method)) return given(texts) ? no(field, "is missing; contractInputsValues need it") : Result.succeed({});
  // why: the builder encodes nothing for these two
  if (isRecord(method) && ["receive", "fallback"].includes(String(method["name"]))) return Result.succeed({});
  const item = isRecord(method)
    ? { ...method, type: "function", stateMutability: method["payable"] === true ? "payable" : "nonpayable" }
    : method;
  return Result.flatMap(bounded(asAbi)([item], field), (abi) =>
    Result.map(argumentsOfTexts(abi, isRecord(texts) ? texts : {}, `${path}contractInputsValues`), (args): Given => ({
      abi,
      functionName: isRecord(method) ? method["name"] : undefined,
      args,
    })),
  );
};

/** A decimal number as a file holds it; what is none stays as it is. */
const decimal = (value: unknown): unknown =>
  typeof value === "string" && value !== "" && [...value].every((digit) => digit >= "0" && digit <= "9")
    ? BigInt(value)
    : value;

/** Reads the parameter of each JSON-RPC method that signs or sends a transaction. */
const methods: Readonly<Record<string, Read<unknown>>> = {
  ...sameRow<Read<unknown>>(
    (input, at) => Result.flatMap(record(input, wholeOf(at)), (call) => foreign(call, at)),
    ["eth_sendTransaction", "eth_signTransaction"],
  ),
  eth_sendRawTransaction: bytes,
  wallet_sendCalls: (input, at) => Result.flatMap(record(input, wholeOf(at)), (request) => callBatch(request, at)),
};

const rpcRequest: Read = ({ method, params, ...rest }, at) =>
  Result.gen(function* () {
    yield* onlyHas(rest, ["method", "params", "id", "jsonrpc"], "a field of a JSON-RPC request", at);
    const read = Object.hasOwn(methods, String(method)) ? methods[String(method)] : undefined;
    if (read === undefined) return yield* no(`${at}method`, `must be ${Object.keys(methods).join(", ")}`);
    if (!Array.isArray(params) || params.length !== 1) return yield* no(`${at}params`, "must be a list of one");
    return yield* read(params[0], `${at}params[0].`);
  });

/** Every form of an object by its marks; the first that applies. What has none is fields of our own. */
const forms: ReadonlyArray<readonly [is: (input: Given) => boolean, read: Read]> = [
  [({ method }) => typeof method === "string", rpcRequest],
  [({ raw }) => given(raw), bytesFrom],
  [({ unsignedSerialized }) => typeof unsignedSerialized === "string", ethersTransaction],
  [(input) => given(input["_type"]) || "sig" in input, ethersJson],
  [({ address, functionName }) => given(address) && given(functionName), contractCall],
  [({ calls }) => given(calls), callBatch],
  [({ transactions }) => given(transactions), safeFile],
  [isForeign, foreign],
];

/** Names that no field of ours has; with numbers written as text, what marks another form. */
const otherNames = new Set([
  ...["method", "raw", "calls", "transactions", "type", "address", "_type", "sig", "unsignedSerialized"],
  ...[...shownBy, ...Struct.keys(synonyms)],
]);
const numeric = new Set<string>(quantities);

/** True of what cannot be another form: it is seen without a call, for most inputs are fields of our own. */
const isOwn = (input: object): boolean => {
  // why: an object of a class may hold another form in its getters
  if (!isPlain(input)) return false;
  for (const [name, value] of Object.entries(input))
    if (otherNames.has(name) || (typeof value === "string" && numeric.has(name))) return false;
  return true;
};

const formOf = (input: Given): Read | undefined => forms.find(([is]) => is(input))?.[1];
const isBytes = (input: unknown): boolean => isHex(input) && input.length > 2;

/** The transactions in an input of any form; `at`: the path in front of the names of its fields. */
export const unfold: Read<unknown> = (input, at) => {
  if (isRecord(input)) {
    const form = (isOwn(input) ? undefined : formOf(input)) ?? plain;
    // why: these two read what is no field of their own, too
    return form === plain || form === ethersTransaction
      ? form(input, at)
      : Result.flatMap(onlyOwn(input, at), () => form(input, at));
  }
  return isBytes(input) ? bytes(input, at) : Result.flatMap(record(input, wholeOf(at)), (call) => plain(call, at));
};

/** True of what only the table of forms can read: bytes, requests, batches, and objects of others. */
export const isOtherForm = (input: unknown): boolean =>
  isRecord(input) ? formOf(input) !== undefined : isBytes(input);

/** True of the fields of one transaction, in whatever words: neither bytes nor what holds transactions. */
export const isOneByFields = (input: unknown): boolean => isRecord(input) && (formOf(input) ?? foreign) === foreign;
