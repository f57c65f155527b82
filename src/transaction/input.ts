/** What a caller may hand in, as types: a raw call, an ABI call, a deployment, a list of them. */
import type { Abi, AbiStateMutability } from "abitype";
import type { ContractConstructorArgs, ContractFunctionArgs, ContractFunctionName, ParseAbi } from "viem";
import type { Hex } from "../primitives/hex.js";
import type { GivenIn } from "../primitives/record.js";
import type { AbiFields, fields } from "./fields.js";

/** Fields of these names, which must be given. */
export type Needs<K extends keyof typeof fields> = {
  readonly [P in keyof Pick<typeof fields, K>]: GivenIn<(typeof fields)[P]>;
};
/** Fields of these names, which may be left out; `or` is what may stand there instead. */
export type Allows<K extends keyof typeof fields, or = never> = {
  readonly [P in keyof Pick<typeof fields, K>]?: GivenIn<(typeof fields)[P]> | or | undefined;
};

/** The fields that every form of input shares. Amounts in wei, prices in wei per gas. */
export interface Fields extends Needs<"from">, Allows<Exclude<keyof typeof fields, "from" | "to" | "data">> {}

/** A transaction with its data ready: transfer, raw call, or (without `to`) a deployment. */
export interface RawCall extends Fields, Allows<"to", null>, Allows<"data"> {
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

/** A call of a function that is not payable. */
export interface WithoutValue {
  /** Left out: by its ABI the function is not payable, and reverts when it is sent any. */
  readonly value?: undefined;
}

/** No value for a function of which the ABI has none that is payable, under its name. */
export type ValueOf<abi extends Abi | readonly unknown[], name> =
  Extract<abi[number], { readonly type: "function"; readonly name: name }> extends infer named
    ? [named] extends [never]
      ? unknown
      : [Exclude<named, { readonly stateMutability: Exclude<AbiStateMutability, "payable"> }>] extends [never]
        ? WithoutValue
        : unknown
    : never;

/** A call of a function: the names that the ABI has. */
export interface FunctionCall<names> extends Fields, Needs<"to"> {
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

/** A call whose ABI has a signature that the compiler cannot read, said at `abi`. */
export interface UnreadableAbi extends LooseCall {
  readonly abi: readonly { readonly "has a signature that is none": true }[];
}

/** A call through an ABI; name and arguments are checked by the compiler when the ABI is `as const`. */
export type AbiCall<
  abi extends Abi | readonly unknown[] = Abi,
  name extends ContractFunctionName<Parsed<abi>> = ContractFunctionName<Parsed<abi>>,
> = FunctionCall<name> &
  WithArgs<ContractFunctionArgs<Parsed<abi>, AbiStateMutability, name>> &
  ValueOf<Parsed<abi>, name>;

/** A deployment through an ABI: `bytecode` and the constructor's arguments. */
export type DeployCall<abi extends Abi | readonly unknown[] = Abi> = BytecodeCall &
  WithArgs<ContractConstructorArgs<Parsed<abi>>>;

/** An ABI call whose ABI is not known to the compiler: checked when it runs. */
export interface LooseCall extends Fields, Allows<"to", null>, Allows<"data">, AbiFields {}

/** Default sender where `from` is left out: none, so that `from` is required, or the account of a viem client. */
export type Sender = "caller" | "client";

/** {@link RawCall}, sent by a viem client's account where it names no sender. */
export interface ClientRawCall extends Omit<RawCall, "from">, Allows<"from"> {}
/** {@link FunctionCall}, sent by a viem client's account where it names no sender. */
export interface ClientFunctionCall<names> extends Omit<FunctionCall<names>, "from">, Allows<"from"> {}
/** {@link BytecodeCall}, sent by a viem client's account where it names no sender. */
export interface ClientBytecodeCall extends Omit<BytecodeCall, "from">, Allows<"from"> {}
/** {@link LooseCall}, sent by a viem client's account where it names no sender. */
export interface ClientLooseCall extends Omit<LooseCall, "from">, Allows<"from"> {}

/** A raw call; its sender may be left to the client. */
export type RawOf<sender> = sender extends "client" ? ClientRawCall : RawCall;
/** A call of a function of an ABI, likewise. */
export type FunctionOf<sender, names> = sender extends "client" ? ClientFunctionCall<names> : FunctionCall<names>;
/** A deployment, likewise. */
export type BytecodeOf<sender> = sender extends "client" ? ClientBytecodeCall : BytecodeCall;
/** A call whose types nobody judges, likewise. */
export type LooseOf<sender> = sender extends "client" ? ClientLooseCall : LooseCall;

/** The arguments and the value of the function that is named; of a name that is none, none are judged. */
export type ArgsOf<call, abi extends Abi | readonly unknown[]> = call extends { readonly functionName: infer name }
  ? // In a tuple, so that a union of names is judged as one.
    [name] extends [ContractFunctionName<abi>]
    ? WithArgs<ContractFunctionArgs<abi, AbiStateMutability, name>> & ValueOf<abi, name>
    : { readonly args?: unknown }
  : { readonly args?: unknown };

/** What a transaction must be, judged by the ABI that it brings. */
export type Judged<call, sender = "caller"> = call extends {
  readonly abi: infer given extends Abi | readonly unknown[];
}
  ? [Parsed<given>] extends [never]
    ? UnreadableAbi
    : Parsed<given> extends infer abi extends Abi | readonly unknown[]
      ? call extends { readonly bytecode: unknown }
        ? BytecodeOf<sender> & WithArgs<ContractConstructorArgs<abi>>
        : FunctionOf<sender, ContractFunctionName<abi>> & ArgsOf<call, abi>
      : never
  : "abi" extends keyof call
    ? call["abi" & keyof call] extends undefined
      ? RawOf<sender>
      : LooseOf<sender>
    : RawOf<sender>;

/** What an input must be: a transaction, or a list in which each is judged by itself. */
export type JudgedInput<input, sender = "caller"> = input extends readonly unknown[]
  ? { readonly [index in keyof input]: Judged<input[index], sender> }
  : Judged<input, sender>;

/**
 * A function over every form of input. One signature, for of overloads a compiler explains only the last:
 * `input` is read from the branch that never applies, and judged in the other.
 *
 * In a list that is made by `map`, an ABI call needs `as const`, or its name is only a `string`.
 */
export interface TakesInput<options, result, sender extends Sender = "caller"> {
  <const input>(input: [input] extends [never] ? input : JudgedInput<input, sender>, options?: options): result;
}

/** Anything a door takes, when it is not known more closely. */
export type Input = LooseCall | ReadonlyArray<LooseCall>;
