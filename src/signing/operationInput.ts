/** A user operation (ERC-4337), as callers give it: read into one form for all EntryPoints. Pure. */
import * as Result from "effect/Result";
import { isAddress, isQuantity, type Address, type Hex } from "../primitives/hex.js";
import { address, bytes, given, integer, no, onlyHas, record, uint, type Checked } from "../primitives/problem.js";
import { maxUint256 } from "../primitives/units.js";
import { authorization as readAuthorization } from "../transaction/fields.js";
import type { Authorization, UnsignedAuthorization } from "../transaction/fields.js";
import type { TypedData } from "./typedData.js";

/** Versions of EntryPoint with the address that each has on every chain. */
const entryPoints = {
  "0.6": "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789",
  "0.7": "0x0000000071727de22e5e9d8baf0edac6f37da032",
  "0.8": "0x4337084d9e255ff0702461cf8895ce9e3b5ff108",
  "0.9": "0x433709009b8330fda32311df1c2afa402ed8d009",
} as const satisfies Readonly<Record<string, Address>>;
export type Version = keyof typeof entryPoints;
const versions: ReadonlyArray<Version> = ["0.6", "0.7", "0.8", "0.9"];

/** The fields of gas. */
export type GasField =
  | "verificationGasLimit"
  | "paymasterVerificationGasLimit"
  | "callGasLimit"
  | "paymasterPostOpGasLimit"
  | "preVerificationGas";

/** A user operation in one form for every version: what it does not have is null, `0x` or 0. */
export interface Operation extends Readonly<
  Record<GasField | "nonce" | "maxFeePerGas" | "maxPriorityFeePerGas", bigint>
> {
  readonly sender: Address;
  readonly callData: Hex;
  readonly factory: Address | null;
  readonly factoryData: Hex;
  readonly paymaster: Address | null;
  readonly paymasterData: Hex;
  /** EntryPoint 0.9 alone has it, and does not hash it. */
  readonly paymasterSignature: Hex | null;
  readonly signature: Hex;
  readonly authorization: Authorization | UnsignedAuthorization | null;
}

/** A user operation as callers give it. */
export interface GivenOperation {
  /** The EntryPoint's version, which has one address on every chain, or its address. */
  readonly entryPoint: "0.6" | "0.7" | "0.8" | "0.9" | Address;
  /** viem's `UserOperation`, the JSON of `eth_sendUserOperation`, or the packed struct; with the account's own form of a signature. */
  readonly operation: object;
  /** The version of an EntryPoint at an address of its own. */
  readonly version?: "0.6" | "0.7" | "0.8" | "0.9" | undefined;
  /** The address of the key that signs; by default the account's `owner()`, or the account itself where it is a key that delegates (EIP-7702). */
  readonly signer?: Address | undefined;
  /** The address of the key that signs for the paymaster, where that is yet to sign (EntryPoint 0.9). */
  readonly paymasterSigner?: Address | undefined;
  /** The chain that its hash names; by default the node's. */
  readonly chainId?: number | undefined;
}

/** A user operation that was read; its hash hangs on the chain, and the calls that use it on its account. */
export interface OperationInput {
  readonly form: "userOperation";
  readonly operation: Operation;
  readonly entryPoint: Address;
  readonly version: Version;
  readonly chainId: number | null;
  readonly signer: Address | null;
  readonly paymasterSigner: Address | null;
  /** The typed data that the key is asked for, which tells no form of a signature; null = the operation itself was given. */
  readonly typedData: TypedData["json"] | null;
}

/** The factory of an account that is no contract but a key that delegates (EIP-7702). */
export const delegated: Address = `0x7702${"0".repeat(36)}`;
/** Ends the data of a paymaster that signs beside the account: the first bytes of keccak256 of `PaymasterSignature`. */
export const magic = "22e325a297439656";

type Fields = Readonly<Record<string, unknown>>;

const number =
  (most: bigint) =>
  (value: unknown, field: string): Checked<bigint> =>
    isQuantity(value)
      ? uint("units", most)(BigInt(value), field)
      : typeof value === "number"
        ? Result.map(integer()(value, field), BigInt)
        : uint("units", most)(value, field);
/** Limits and prices have a half of a word each. */
const half = number(2n ** 128n - 1n);
const hexIn = (value: unknown, field: string): Checked<Hex> =>
  Result.map(bytes(value, field), (read) => read.toLowerCase() as Hex);
const hexOr = (value: unknown, field: string): Checked<Hex> =>
  given(value) ? hexIn(value, field) : Result.succeed("0x");
const nullOr =
  <A>(read: (value: unknown, field: string) => Checked<A>) =>
  (value: unknown, field: string): Checked<A | null> =>
    given(value) ? read(value, field) : Result.succeed(null);

/** The two halves of a word. */
const halves = (value: unknown, field: string): Checked<readonly [bigint, bigint]> =>
  Result.flatMap(bytes(value, field), (word) =>
    word.length === 66
      ? Result.succeed([BigInt(word.slice(0, 34)), BigInt(`0x${word.slice(34)}`)] as const)
      : no(field, "must have two numbers of 16 bytes"),
  );

/** Bytes that begin with a contract: the contract, and the rest. */
const headed = (value: unknown, field: string): Checked<readonly [Address | null, Hex]> =>
  Result.flatMap(hexOr(value, field), (all): Checked<readonly [Address | null, Hex]> => {
    if (all === "0x") return Result.succeed([null, "0x"]);
    const whole = all === "0x7702" ? delegated : all;
    return whole.length < 42
      ? no(field, "must begin with the 20 bytes of a contract")
      : Result.succeed([whole.slice(0, 42) as Address, `0x${whole.slice(42)}`]);
  });

/** A paymaster's data, and its signature where that stands behind it. */
const parted = (data: Hex, version: Version): readonly [Hex, Hex | null] => {
  const end = data.length - 20;
  const size = Number.parseInt(data.slice(end, end + 4), 16) * 2;
  return version !== "0.9" || !data.endsWith(magic) || size === 0 || size > end - 2
    ? [data, null]
    : [data.slice(0, end - size) as Hex, `0x${data.slice(end - size, end)}`];
};

const usual = ["sender", "nonce", "callData", "signature", "preVerificationGas", "authorization", "eip7702Auth"];
const unpackedGas = ["callGasLimit", "verificationGasLimit", "maxFeePerGas", "maxPriorityFeePerGas"];
const ofPaymaster = ["paymasterData", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit", "paymasterSignature"];
const names = {
  bare: [...usual, ...unpackedGas, "initCode", "paymasterAndData"],
  packed: [...usual, "accountGasLimits", "gasFees", "initCode", "paymasterAndData"],
  unpacked: [...usual, ...unpackedGas, "factory", "factoryData", "paymaster", ...ofPaymaster],
} as const;

/** The fields by the names that EntryPoint 0.7 and later have for them, whatever their form. */
const unpack = (input: Fields, form: keyof typeof names, at: string): Checked<Fields> =>
  Result.gen(function* () {
    if (form === "unpacked") return input["factory"] === "0x7702" ? { ...input, factory: delegated } : input;
    const [factory, factoryData] = yield* headed(input["initCode"], `${at}.initCode`);
    const [paymaster, rest] = yield* headed(input["paymasterAndData"], `${at}.paymasterAndData`);
    const own = { ...input, factory, factoryData, paymaster, paymasterData: rest };
    if (form === "bare") return { ...own, paymasterVerificationGasLimit: 0n };
    const [verificationGasLimit, callGasLimit] = yield* halves(input["accountGasLimits"], `${at}.accountGasLimits`);
    const [maxPriorityFeePerGas, maxFeePerGas] = yield* halves(input["gasFees"], `${at}.gasFees`);
    const all = { ...own, verificationGasLimit, callGasLimit, maxPriorityFeePerGas, maxFeePerGas };
    if (paymaster === null) return all;
    const [verification, postOp] = yield* halves(rest.slice(0, 66), `${at}.paymasterAndData`);
    const limits = { paymasterVerificationGasLimit: verification, paymasterPostOpGasLimit: postOp };
    return { ...all, ...limits, paymasterData: `0x${rest.slice(66)}` };
  });

const authorizationIn =
  (sender: unknown) =>
  (value: unknown, field: string): Checked<Authorization | UnsignedAuthorization> =>
    Result.flatMap(record(value, field), (entry) => {
      const plain = (name: string): unknown => (isQuantity(entry[name]) ? Number(BigInt(entry[name])) : entry[name]);
      const numbers = { chainId: plain("chainId"), nonce: plain("nonce"), yParity: plain("yParity") };
      const v = isQuantity(entry["v"]) ? BigInt(entry["v"]) : entry["v"];
      return readAuthorization(
        { ...entry, ...numbers, ...(given(entry["r"]) ? { v } : { authority: sender, v: undefined, s: undefined }) },
        field,
      );
    });

const fieldsOf = (input: Fields, version: Version, at: string): Checked<Operation> =>
  Result.gen(function* () {
    const form = version === "0.6" ? "bare" : given(input["accountGasLimits"]) ? "packed" : "unpacked";
    yield* onlyHas(input, names[form], `a field of a user operation of EntryPoint ${version}`, `${at}.`);
    const raw = yield* unpack(input, form, at);
    const read = <A>(name: string, by: (value: unknown, field: string) => Checked<A>) => by(raw[name], `${at}.${name}`);
    const isPaid = given(raw["paymaster"]);
    const stray = ofPaymaster.find((name) => !isPaid && given(input[name]) && input[name] !== "0x");
    if (stray !== undefined) return yield* no(`${at}.${stray}`, "stands beside paymaster alone");
    const data = yield* read("factoryData", hexOr);
    if (data !== "0x" && !given(raw["factory"])) return yield* no(`${at}.factoryData`, "stands beside factory alone");
    const beside = yield* read("paymasterSignature", nullOr(hexIn));
    if (beside !== null && version !== "0.9") return yield* no(`${at}.paymasterSignature`, "came with EntryPoint 0.9");
    if (beside === "0x") return yield* no(`${at}.paymasterSignature`, "must have as many bytes as the real one");
    const whole = yield* read("paymasterData", hexOr);
    const [paymasterData, paymasterSignature] = beside === null ? parted(whole, version) : [whole, beside];
    const named = given(raw["authorization"]) ? "authorization" : "eip7702Auth";
    if (named === "authorization" && given(raw["eip7702Auth"]))
      return yield* no(`${at}.eip7702Auth`, "stands beside authorization, which says the same");
    return yield* Result.all({
      sender: read("sender", address),
      nonce: read("nonce", number(maxUint256)),
      callData: read("callData", hexOr),
      verificationGasLimit: read("verificationGasLimit", half),
      callGasLimit: read("callGasLimit", half),
      preVerificationGas: read("preVerificationGas", half),
      maxFeePerGas: read("maxFeePerGas", half),
      maxPriorityFeePerGas: read("maxPriorityFeePerGas", half),
      factory: read("factory", nullOr(address)),
      factoryData: Result.succeed(data),
      paymaster: read("paymaster", nullOr(address)),
      paymasterVerificationGasLimit: isPaid ? read("paymasterVerificationGasLimit", half) : Result.succeed(0n),
      paymasterPostOpGasLimit: half(raw["paymasterPostOpGasLimit"] ?? 0n, `${at}.paymasterPostOpGasLimit`),
      paymasterData: Result.succeed(paymasterData),
      paymasterSignature: Result.succeed(paymasterSignature),
      // why: its form is the account's own, and nobody can guess it
      signature: read("signature", hexIn),
      authorization: read(named, nullOr(authorizationIn(raw["sender"]))),
    });
  });

/** Reads what is given, or a request of `eth_sendUserOperation`; `at`: the path in front of the names of its fields. */
export const operationIn = (input: Fields, at = ""): Checked<OperationInput> =>
  Result.gen(function* () {
    const { method, params } = input;
    const isRequest = given(method);
    if (isRequest && !(Array.isArray(params) && params.length === 2))
      return yield* no(`${at}params`, "must be the operation and its EntryPoint");
    const own = isRequest ? ["method", "params", "id", "jsonrpc"] : ["entryPoint", "operation"];
    yield* onlyHas(
      input,
      [...own, "signer", "paymasterSigner", "chainId", "version"],
      "a field of a user operation",
      at,
    );
    const [operation, point]: ReadonlyArray<unknown> = Array.isArray(params)
      ? params
      : [input["operation"], input["entryPoint"]];
    const [inOperation, inPoint] = isRequest ? ["params[0]", "params[1]"] : ["operation", "entryPoint"];
    const byName = versions.find((one) => one === point);
    if (byName === undefined && !isAddress(point))
      return yield* no(`${at}${inPoint}`, `must be an address, or a version: ${versions.join(", ")}`);
    const entryPoint = byName === undefined ? yield* address(point, `${at}${inPoint}`) : entryPoints[byName];
    const told = versions.find((one) => one === input["version"]);
    const version = versions.find((one) => entryPoints[one] === entryPoint) ?? told;
    if (version === undefined || (given(input["version"]) && told !== version))
      return yield* no(`${at}version`, `must be that of the EntryPoint: ${versions.join(", ")}`);
    return {
      ...{ form: "userOperation" as const, entryPoint, version },
      operation: yield* fieldsOf(yield* record(operation, `${at}${inOperation}`), version, `${at}${inOperation}`),
      chainId: yield* nullOr(integer())(input["chainId"], `${at}chainId`),
      signer: yield* nullOr(address)(input["signer"], `${at}signer`),
      paymasterSigner: yield* nullOr(address)(input["paymasterSigner"], `${at}paymasterSigner`),
      typedData: null,
    };
  });
