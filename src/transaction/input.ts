/** What a caller may hand in, as types: a raw call, an ABI call, a deployment, a list of them. */
import type { Abi, AbiStateMutability } from "abitype";
import type {
  ContractConstructorArgs,
  ContractFunctionArgs,
  ContractFunctionName,
  UnionWiden,
  Widen,
  ParseAbi,
} from "viem";
import type { Hex } from "../primitives/hex.js";
import type { GivenIn } from "../primitives/rows.js";
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
  readonly abi?: undefined;
  readonly functionName?: undefined;
  readonly args?: undefined;
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

/** Signatures that the compiler cannot read, said at `abi`. */
export type Readable<abi> = [Parsed<abi>] extends [never]
  ? { readonly abi: { readonly "has a signature that is none": true } }
  : unknown;

/** A call through an ABI; name and arguments are checked by the compiler when the ABI is `as const`. */
export type AbiCall<
  abi extends Abi | readonly unknown[] = Abi,
  name extends ContractFunctionName<Parsed<abi>> = ContractFunctionName<Parsed<abi>>,
  args extends ContractFunctionArgs<Parsed<abi>, AbiStateMutability, name> = ContractFunctionArgs<
    Parsed<abi>,
    AbiStateMutability,
    name
  >,
  allNames = ContractFunctionName<Parsed<abi>>,
  allArgs = ContractFunctionArgs<Parsed<abi>, AbiStateMutability, name>,
> = Fields &
  Needs<"to"> & {
    readonly data?: undefined;
    readonly bytecode?: undefined;
    /** The contract's ABI: JSON, or human-readable signatures. */
    readonly abi: abi;
    /** The function to call: its name. */
    readonly functionName: allNames | (name extends allNames ? name : never);
    /** The arguments, in order. */
    readonly args?: (abi extends Abi | readonly string[] ? UnionWiden<args> : never) | allArgs | undefined;
  } & (readonly [] extends allArgs ? unknown : { readonly args: Widen<args> }) &
  Readable<abi>;

/** A deployment through an ABI: `bytecode` and the constructor's arguments. */
export type DeployCall<
  abi extends Abi | readonly unknown[] = Abi,
  allArgs = ContractConstructorArgs<Parsed<abi>>,
> = Fields & {
  readonly to?: null | undefined;
  readonly data?: undefined;
  readonly functionName?: undefined;
  /** The contract's ABI: JSON, or human-readable signatures. */
  readonly abi: abi;
  /** Initcode without the constructor's arguments. */
  readonly bytecode: Hex;
  /** The constructor's arguments, in order. */
  readonly args?: allArgs | undefined;
} & (readonly [] extends allArgs ? unknown : { readonly args: allArgs }) &
  Readable<abi>;

/** An ABI call whose ABI is not known to the compiler: checked when it runs. */
export interface LooseCall extends Fields, Allows<"to", null>, Allows<"data">, AbiFields {}

/** `shape`, and no field of `call` that it does not have. */
export type Exact<call, shape> = shape & { readonly [key in Exclude<keyof call, keyof shape>]: never };

/** The arguments of a function; without any they may be left out. */
export type WithArgs<args> = readonly [] extends args ? { readonly args?: args | undefined } : { readonly args: args };

/** What an entry of a list must be, judged by the ABI that it brings. */
export type CheckedCall<call> = call extends { readonly abi: infer given extends readonly unknown[] }
  ? [Parsed<given>] extends [never]
    ? Readable<given>
    : Parsed<given> extends infer abi extends Abi
      ? Through<call, given, abi>
      : Exact<call, RawCall>
  : Exact<call, RawCall>;

/** What an entry must be to go through this ABI: a deployment, a call of one of its functions. */
export type Through<call, given extends readonly unknown[], abi extends Abi> = call extends { readonly bytecode: Hex }
  ? Exact<call, DeployCall<given>>
  : call extends { readonly functionName: infer name }
    ? // In a tuple, so that a union of names is judged as one.
      [name] extends [ContractFunctionName<abi>]
      ? Exact<
          call,
          Fields &
            Needs<"to"> & {
              readonly data?: undefined;
              readonly bytecode?: undefined;
              readonly abi: given;
              readonly functionName: name;
            } & WithArgs<ContractFunctionArgs<abi, AbiStateMutability, name>>
        >
      : // No plain union: intersected with the literal it would be `never`, and every field would be underlined.
        { readonly functionName: { readonly "is no function of this ABI, which has": ContractFunctionName<abi> } }
    : Exact<call, RawCall>;

/** An ordered list, each entry checked against its own ABI. */
export type Bundle<calls extends readonly unknown[]> = { readonly [index in keyof calls]: CheckedCall<calls[index]> };

/**
 * A function over every form of input. Overloads, because a conditional type over all forms loses
 * inference; three, because the compiler explains up to three when none fits.
 *
 * In a list that is made by `map`, an ABI call needs `as const`, or its name is only a `string`.
 */
export interface TakesInput<options, result> {
  <
    const abi extends Abi | readonly unknown[],
    name extends ContractFunctionName<Parsed<abi>>,
    const args extends ContractFunctionArgs<Parsed<abi>, AbiStateMutability, name>,
  >(
    call: AbiCall<abi, name, args>,
    options?: options,
  ): result;
  <const abi extends Abi | readonly unknown[] = readonly []>(
    call: DeployCall<abi> | RawCall | ReadonlyArray<RawCall>,
    options?: options,
  ): result;
  <const calls extends ReadonlyArray<LooseCall>>(calls: readonly [...calls] & Bundle<calls>, options?: options): result;
}

/** Anything a door takes, when it is not known more closely. */
export type Input = LooseCall | ReadonlyArray<LooseCall>;
