/** What a person wrote or pasted, as an input of the library. Whatever is wrong is named by its field. */
import type { Transaction } from "evm-preflight";
import { InvalidTransaction } from "evm-preflight/Errors";
import { parseAbiItem, parseUnits, type Abi, type AbiFunction, type AbiParameter, type Address, type Hex } from "viem";

/** The fields of the form, as text. */
export interface Written {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly signature: string;
  readonly args: string;
  readonly data: string;
  readonly chainId: string;
}

const wrong = (field: string, problem: string): InvalidTransaction => new InvalidTransaction({ field, problem });

const decimals: Readonly<Record<string, number>> = { ether: 18, eth: 18, gwei: 9, wei: 0 };

/** Wei: decimal or 0x, or an amount with a unit; a fraction without a unit is refused. */
export const weiOf = (written: unknown, field: string): bigint => {
  const text = String(written).trim();
  if (/^(?:\d{1,78}|0x[0-9a-fA-F]{1,64})$/.test(text)) return BigInt(text);
  const [, amount = "", fraction = "", unit = ""] =
    /^(\d{1,60}(?:\.(\d{1,18}))?)\s*(ether|eth|gwei|wei)$/i.exec(text) ?? [];
  const places = decimals[unit.toLowerCase()];
  if (places === undefined || fraction.length > places)
    throw wrong(field, "must be wei, or an amount with a unit such as 0.1 ether or 5 gwei");
  return parseUnits(amount, places);
};

const numberOf = (written: unknown, field: string): number => {
  const text = String(written).trim();
  const number = /^(?:\d+|0x[0-9a-fA-F]+)$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw wrong(field, "must be a whole number");
  return number;
};

/** JSON whose numbers stay exact: whole ones that a double cannot hold become strings; with an exponent they are refused. */
const jsonOf = (text: string, field: string): unknown => {
  const exact = text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, (found) =>
    found.startsWith('"') ? found : `"${found}"`,
  );
  try {
    return JSON.parse(exact, (_, value: unknown) => {
      if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER)
        throw wrong(field, `has a number too large to be exact, ${value}; write every digit`);
      return value;
    });
  } catch (error) {
    if (error instanceof InvalidTransaction) throw error;
    throw wrong(field, `is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
};

type Components = { readonly components?: ReadonlyArray<AbiParameter> };

/** An argument with its whole numbers as bigints, also where JSON has them as text. What does not fit is left to the library. */
const argumentOf = (parameter: AbiParameter, value: unknown): unknown => {
  const [, element] = /^(.*)\[\d*\]$/.exec(parameter.type) ?? [];
  if (element !== undefined)
    return Array.isArray(value) ? value.map((one) => argumentOf({ ...parameter, type: element }, one)) : value;
  const { components = [] } = parameter as Components;
  if (parameter.type === "tuple" && Array.isArray(value))
    return value.map((one, index) => argumentOf(components[index] ?? { type: "string" }, one));
  if (parameter.type === "tuple" && typeof value === "object" && value !== null) {
    const parts = Object.entries(value).map(([name, part]) => {
      const component = components.find((one) => one.name === name);
      return [name, component === undefined ? part : argumentOf(component, part)];
    });
    return Object.fromEntries(parts);
  }
  const isNumber = /^u?int\d*$/.test(parameter.type) && /^-?(?:\d+|0x[0-9a-fA-F]+)$/.test(String(value));
  return isNumber ? BigInt(value as string) : value;
};

const functionOf = (signature: string, field: string): AbiFunction => {
  try {
    const item = parseAbiItem(/^\s*function\b/.test(signature) ? signature : `function ${signature}`) as Abi[number];
    if (item.type === "function") return item;
  } catch {
    // told below
  }
  throw wrong(field, "must be a function's signature such as transfer(address to, uint256 amount)");
};

/** The function that an ABI and a name mean: a signature as the ABI, or JSON with one such function. */
const calledOf = (abi: unknown, name: unknown, field: (name: string) => string): AbiFunction => {
  if (typeof abi === "string") return functionOf(abi, field("abi"));
  const items = (Array.isArray(abi) ? abi : []).map((item): AbiFunction =>
    typeof item === "string" ? functionOf(item, field("abi")) : (item as AbiFunction),
  );
  const named = items.filter((item) => item?.type === "function" && (name === undefined || item.name === name));
  const [item] = named;
  if (item === undefined || named.length > 1)
    throw wrong(field("functionName"), "must name exactly one function of the ABI");
  return item;
};

const wei: ReadonlyArray<string> = [
  "value",
  "gas",
  "gasLimit",
  "gasPrice",
  "maxFeePerGas",
  "maxPriorityFeePerGas",
  "maxFeePerBlobGas",
];

/** One transaction of pasted JSON; numbers may be text, decimal or 0x, as wallets and nodes write them. */
const transactionOf = (json: unknown, path: (name: string) => string): Transaction.LooseCall => {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw wrong(path(""), "must be an object");
  const { abi, functionName, args, ...fields } = json as Readonly<Record<string, unknown>>;
  const plain = Object.entries(fields).map(([name, value]) => {
    if (value === null) return [name, undefined];
    if (wei.includes(name)) return [name, weiOf(value, path(name))];
    return [name, name === "nonce" || name === "chainId" ? numberOf(value, path(name)) : value];
  });
  // why: the library checks the fields themselves, and names the one that is wrong
  const call = Object.fromEntries(plain) as Transaction.LooseCall;
  if (abi === undefined && args !== undefined && args !== null)
    throw wrong(path("args"), "need an abi and a functionName");
  if (abi === undefined) return functionName === undefined ? call : { ...call, functionName: String(functionName) };
  const item = calledOf(abi, functionName, path);
  const values = Array.isArray(args) ? args : args === undefined ? [] : [args];
  return {
    ...call,
    abi: [item],
    functionName: item.name,
    args: values.map((value, index) => argumentOf(item.inputs[index] ?? { type: "string" }, value)),
  };
};

const given = (text: string): string | undefined => (text.trim() === "" ? undefined : text.trim());

const chainIdOf = (text: string): number | undefined =>
  given(text) === undefined ? undefined : numberOf(text, "chainId");

type Pasted = Transaction.LooseCall | Hex | ReadonlyArray<Transaction.LooseCall | Hex>;

/** Names by which an object is no transaction of fields, or a signature: what it holds names its chain itself. */
const whole = ["method", "raw", "calls", "transactions", "signer", "types", "entryPoint", "safe"];

/**
 * The transaction, the bundle or the signature of a pasted text: JSON in any form that the library takes, or bytes as hex. `chainId` is
 * that of the form. Throws `InvalidTransaction`.
 */
export const pasted = (text: string, chainId: string): Pasted => {
  const wanted = chainIdOf(chainId);
  const read = (json: unknown, path: (name: string) => string): Transaction.LooseCall | Hex => {
    const isHeld = typeof json === "object" && json !== null && whole.some((name) => name in json);
    if (typeof json !== "string" && !isHeld)
      return { ...(wanted === undefined ? {} : { chainId: wanted }), ...transactionOf(json, path) };
    if (wanted !== undefined) throw wrong("chainId", "must be empty: what is pasted names its chain");
    // why: the library judges bytes and what holds transactions, and names what is wrong
    return json as Hex;
  };
  const json = text.trim().startsWith("0x") ? text.trim() : jsonOf(text, "json");
  return Array.isArray(json)
    ? json.map((one: unknown, index) => read(one, (name) => `[${index}]${name === "" ? "" : `.${name}`}`))
    : read(json, (name) => (name === "" ? "json" : name));
};

/** The transaction of the form. Throws `InvalidTransaction`. */
export const written = (form: Written): Transaction.LooseCall => {
  if (given(form.signature) !== undefined && given(form.data) !== undefined)
    throw wrong("data", "cannot stand beside a function");
  const call = {
    from: form.from.trim() as Address,
    to: given(form.to) as Address | undefined,
    value: given(form.value) === undefined ? undefined : weiOf(form.value, "value"),
    data: given(form.data) as Hex | undefined,
    chainId: chainIdOf(form.chainId),
  };
  if (given(form.signature) === undefined && given(form.args) !== undefined) throw wrong("args", "need a function");
  if (given(form.signature) === undefined) return call;
  const item = functionOf(form.signature, "signature");
  const args = jsonOf(given(form.args) ?? "[]", "args");
  if (!Array.isArray(args)) throw wrong("args", "must be a JSON array");
  const values = args.map((value, index) => argumentOf(item.inputs[index] ?? { type: "string" }, value));
  return { ...call, data: undefined, abi: [item], functionName: item.name, args: values };
};
