/** The types of what a caller may hand in: a raw call, an ABI call, a deployment, a list of them. */
import type { Abi, AbiStateMutability } from "abitype";
import type { ContractConstructorArgs, ContractFunctionArgs, ContractFunctionName, ParseAbi } from "viem";
import type { Address, Hex } from "../primitives/hex.js";
import type { GivenRows } from "../primitives/record.js";
import type { Authorization, fields } from "./fields.js";

/** The fields that every form of input shares. Amounts in wei, prices in wei per gas. */
export interface Fields extends GivenRows<typeof fields> {
  /** The sender. */
  readonly from: Address;
}

/** A transaction with its data ready: transfer, raw call, or (without `to`) a deployment. */
export interface RawCall extends Fields {
  /** Only in a call through an ABI. */
  readonly abi?: undefined;
  /** Only in a call through an ABI. */
  readonly functionName?: undefined;
  /** Only in a call through an ABI, or its deployment. */
  readonly args?: undefined;
  /** Only in a deployment through an ABI. */
  readonly bytecode?: undefined;
}

/** An ABI as JSON has it, of an ABI in either form: human-readable signatures are parsed. */
export type Parsed<abi> = abi extends readonly []
  ? abi
  : abi extends readonly string[]
    ? ParseAbi<abi> extends infer parsed extends Abi
      ? parsed
      : never
    : abi extends Abi | readonly unknown[]
      ? abi
      : never;

/** The arguments of a function or a constructor; without any they may be left out. */
export type WithArgs<args> = readonly [] extends args
  ? {
      /** The arguments, in order. */
      readonly args?: args | undefined;
    }
  : {
      /** The arguments, in order. */
      readonly args: args;
    };

/** A call of a function: the names that the ABI has. */
export interface FunctionCall<names> extends Fields {
  /** The recipient. */
  readonly to: Address;
  /** Worked out from `functionName` and `args`. */
  readonly data?: undefined;
  /** Only in a deployment. */
  readonly bytecode?: undefined;
  /** The contract's ABI: JSON, or human-readable signatures. */
  readonly abi: Abi | readonly unknown[];
  /** The function to call: its name. */
  readonly functionName: names;
}

/** A deployment through an ABI. */
export interface BytecodeCall extends Fields {
  /** Only in a call. */
  readonly to?: null | undefined;
  /** Worked out from `bytecode` and `args`. */
  readonly data?: undefined;
  /** Only in a call. */
  readonly functionName?: undefined;
  /** The contract's ABI: JSON, or human-readable signatures. */
  readonly abi: Abi | readonly unknown[];
  /** Initcode without the constructor's arguments. */
  readonly bytecode: Hex;
}

/** An ABI call whose ABI is not known to the compiler: checked when it runs. */
export interface LooseCall extends Fields {
  /** The contract's ABI: JSON, or human-readable signatures. */
  readonly abi?: Abi | readonly unknown[] | undefined;
  /** The function to call: its name, signature or selector. */
  readonly functionName?: string | undefined;
  /** The arguments, in order. */
  readonly args?: ReadonlyArray<unknown> | undefined;
  /** Initcode without the constructor's arguments: makes a deployment. */
  readonly bytecode?: Hex | undefined;
  /** Bytes behind the calldata or the initcode (ERC-8021). */
  readonly dataSuffix?: Hex | undefined;
}

/** A call in one of its forms; whose `sender` is a viem client's account may leave `from` out. */
export type SentBy<sender, call> = sender extends "client"
  ? Omit<call, "from"> & Pick<GivenRows<typeof fields>, "from">
  : call;

/**
 * The arguments of the function that is named, and no value where the ABI has none of this name that is payable: by its
 * ABI it reverts when it is sent any. Of a name that is none, neither is judged.
 */
export type ArgsOf<call, abi extends Abi | readonly unknown[]> = call extends { readonly functionName: infer name }
  ? // In a tuple, so that a union of names is judged as one.
    [name] extends [ContractFunctionName<abi>]
    ? WithArgs<ContractFunctionArgs<abi, AbiStateMutability, name>> &
        (Extract<abi[number], { readonly type: "function"; readonly name: name }> extends infer named
          ? [named] extends [never]
            ? unknown
            : [Exclude<named, { readonly stateMutability: Exclude<AbiStateMutability, "payable"> }>] extends [never]
              ? {
                  /** Left out: by its ABI the function is not payable, and reverts when it is sent any. */
                  readonly value?: undefined;
                }
              : unknown
          : never)
    : { readonly args?: unknown }
  : { readonly args?: unknown };

/**
 * The type that a transaction must have, judged by the ABI that it brings. Other forms than our own fields are checked when
 * they run: bytes, objects of viem, ethers and JSON-RPC, requests and batches.
 */
export type Judged<call, sender = "caller"> = call extends
  | Hex
  | { readonly address: unknown; readonly functionName: unknown }
  | ({ readonly value: Hex } | { readonly gas: Hex } | { readonly nonce: Hex } | { readonly chainId: Hex })
  | ({ readonly gasPrice: Hex } | { readonly maxFeePerGas: Hex } | { readonly maxPriorityFeePerGas: Hex })
  | (call extends object
      ? Extract<
          keyof call,
          | ("type" | "typeHex" | "account" | "chain" | "gasLimit" | "input" | "hash" | "blockHash" | "r" | "s")
          | ("method" | "raw" | "unsignedSerialized" | "calls" | "transactions" | "dataSuffix" | "_type" | "sig")
        > extends never
        ? never
        : call
      : never)
  ? call
  : call extends {
        readonly abi: infer given extends Abi | readonly unknown[];
      }
    ? [Parsed<given>] extends [never]
      ? // A signature that the compiler cannot read is said at `abi`.
        Omit<LooseCall, "abi"> & { readonly abi: readonly { readonly "has a signature that is none": true }[] }
      : Parsed<given> extends infer abi extends Abi | readonly unknown[]
        ? call extends { readonly bytecode: unknown }
          ? SentBy<sender, BytecodeCall> & WithArgs<ContractConstructorArgs<abi>>
          : SentBy<sender, FunctionCall<ContractFunctionName<abi>>> & ArgsOf<call, abi>
        : never
    : SentBy<
        sender,
        "abi" extends keyof call ? (call["abi" & keyof call] extends undefined ? RawCall : LooseCall) : RawCall
      >;

/** The type that an input must have: a transaction, or a list in which each is judged by itself. */
export type JudgedInput<input, sender = "caller"> = input extends readonly unknown[]
  ? { readonly [index in keyof input]: Judged<input[index], sender> }
  : Judged<input, sender>;

/**
 * A function over every form of input. One signature, for of overloads a compiler explains only the last:
 * `input` is read from the branch that never applies, and judged in the other. `sender`: who sends what names no sender;
 * with "caller" nobody does, and `from` is required.
 *
 * In a list that is made by `map`, an ABI call needs `as const`, or its name is only a `string`.
 */
export interface TakesInput<options, result, sender extends "caller" | "client" = "caller"> {
  <const input>(input: [input] extends [never] ? input : JudgedInput<input, sender>, options?: options): result;
}

/** Anything a door takes, when it is not known more closely. */
export type Input = LooseCall | ReadonlyArray<LooseCall>;

/** Capabilities of a batch or of a call (EIP-5792), by name. One that is not `optional` is refused, for no proof covers it. */
export type Capabilities = Readonly<Record<string, { readonly optional?: boolean | undefined }>>;

/** A batch of calls from one account, as `wallet_sendCalls` (EIP-5792) takes it. */
export interface CallBatch {
  /** The account that makes the calls, and pays. */
  readonly from: Address;
  /** The calls, in order: 1 to 64. */
  readonly calls: ReadonlyArray<
    Pick<LooseCall, "data" | "abi" | "functionName" | "args" | "dataSuffix"> & {
      /** The receiver. */
      readonly to?: Address | undefined;
      /** Wei, as a bigint or as a quantity of JSON-RPC. */
      readonly value?: bigint | Hex | undefined;
      /** Those of this call. */
      readonly capabilities?: Capabilities | undefined;
    }
  >;
  /** EIP-155 chain id, as a number or as a quantity of JSON-RPC. */
  readonly chainId?: number | Hex | undefined;
  /** True if all calls have to succeed, or none is made. */
  readonly atomicRequired?: boolean | undefined;
  /** Those of the whole batch; an optional `paymasterService` is a warning. */
  readonly capabilities?: Capabilities | undefined;
  /** The version of EIP-5792's request. */
  readonly version?: string | undefined;
  /** The caller's own name of the batch. */
  readonly id?: string | undefined;
  /** The code to which the account is to be delegated (EIP-7702); its authorisation is worked out. */
  readonly delegate?: Address | undefined;
  /** The account's authorisation (EIP-7702), signed or not; its nonce is one more than that of the account's next transaction. */
  readonly authorization?:
    | { readonly address: Address; readonly chainId: number; readonly nonce: number }
    | Authorization
    | undefined;
}
