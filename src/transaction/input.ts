/** What a caller may hand in, as types: a raw call, an ABI call, a deployment, a list of them. */
import type {
  Abi,
  AbiStateMutability,
  ContractConstructorArgs,
  ContractFunctionArgs,
  ContractFunctionName,
  UnionWiden,
  Widen,
} from "viem";

/** An address as callers write it. */
export type AddressLike = `0x${string}`;

/** The fields that every form of input shares. Amounts in wei, prices in wei per gas. */
export interface Fields {
  readonly from: AddressLike;
  readonly value?: bigint | undefined;
  readonly chainId?: number | undefined;
  readonly gas?: bigint | undefined;
  readonly nonce?: number | bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  readonly gasPrice?: bigint | undefined;
  readonly accessList?:
    | ReadonlyArray<{ readonly address: AddressLike; readonly storageKeys: ReadonlyArray<`0x${string}`> }>
    | undefined;
  /** Signed EIP-7702 authorisations. */
  readonly authorizationList?:
    | ReadonlyArray<{
        readonly address: AddressLike;
        readonly chainId: number;
        readonly nonce: number;
        readonly r: `0x${string}`;
        readonly s: `0x${string}`;
        readonly yParity?: number | undefined;
        readonly v?: bigint | undefined;
      }>
    | undefined;
  readonly blobVersionedHashes?: ReadonlyArray<`0x${string}`> | undefined;
  readonly maxFeePerBlobGas?: bigint | undefined;
}

/** A transaction with its data ready: transfer, raw call, or (without `to`) a deployment. */
export interface RawCall extends Fields {
  readonly to?: AddressLike | null | undefined;
  readonly data?: `0x${string}` | undefined;
  readonly abi?: undefined;
  readonly functionName?: undefined;
  readonly args?: undefined;
  readonly bytecode?: undefined;
}

/** A call through an ABI; name and arguments are checked by the compiler when the ABI is `as const`. */
export type AbiCall<
  abi extends Abi | readonly unknown[] = Abi,
  name extends ContractFunctionName<abi> = ContractFunctionName<abi>,
  args extends ContractFunctionArgs<abi, AbiStateMutability, name> = ContractFunctionArgs<
    abi,
    AbiStateMutability,
    name
  >,
  allNames = ContractFunctionName<abi>,
  allArgs = ContractFunctionArgs<abi, AbiStateMutability, name>,
> = Fields & {
  readonly to: AddressLike;
  readonly data?: undefined;
  readonly bytecode?: undefined;
  readonly abi: abi;
  readonly functionName: allNames | (name extends allNames ? name : never);
  readonly args?: (abi extends Abi ? UnionWiden<args> : never) | allArgs | undefined;
} & (readonly [] extends allArgs ? unknown : { readonly args: Widen<args> });

/** A deployment through an ABI: `bytecode` and the constructor's arguments. */
export type DeployCall<abi extends Abi | readonly unknown[] = Abi, allArgs = ContractConstructorArgs<abi>> = Fields & {
  readonly to?: null | undefined;
  readonly data?: undefined;
  readonly functionName?: undefined;
  readonly abi: abi;
  readonly bytecode: `0x${string}`;
  readonly args?: allArgs | undefined;
} & (readonly [] extends allArgs ? unknown : { readonly args: allArgs });

/** An ABI call whose ABI is not known to the compiler: checked when it runs. */
export interface LooseCall extends Fields {
  readonly to?: AddressLike | null | undefined;
  readonly data?: `0x${string}` | undefined;
  readonly abi?: Abi | readonly unknown[] | undefined;
  readonly functionName?: string | undefined;
  readonly args?: ReadonlyArray<unknown> | undefined;
  readonly bytecode?: `0x${string}` | undefined;
}

type Exact<call, shape> = shape & { readonly [key in Exclude<keyof call, keyof shape>]: never };

type WithArgs<args> = readonly [] extends args ? { readonly args?: args | undefined } : { readonly args: args };

type Checked<call> = call extends { readonly abi: infer abi extends Abi; readonly bytecode: `0x${string}` }
  ? Exact<call, DeployCall<abi>>
  : call extends { readonly abi: infer abi extends Abi; readonly functionName: infer name }
    ? // In a tuple, so that a union of names is judged as one.
      [name] extends [ContractFunctionName<abi>]
      ? Exact<
          call,
          Fields & {
            readonly to: AddressLike;
            readonly data?: undefined;
            readonly bytecode?: undefined;
            readonly abi: abi;
            readonly functionName: name;
          } & WithArgs<ContractFunctionArgs<abi, AbiStateMutability, name>>
        >
      : // No plain union: intersected with the literal it would be `never`, and every field would be underlined.
        { readonly functionName: { readonly "is no function of this ABI, which has": ContractFunctionName<abi> } }
    : Exact<call, RawCall>;

/** An ordered list, each entry checked against its own ABI. */
export type Bundle<calls extends readonly unknown[]> = { readonly [index in keyof calls]: Checked<calls[index]> };

/**
 * A function over every form of input. Overloads, because a conditional type over all forms loses
 * inference; three, because the compiler explains up to three when none fits.
 *
 * In a list that is made by `map`, an ABI call needs `as const`, or its name is only a `string`.
 */
export interface TakesInput<options, result> {
  <
    const abi extends Abi | readonly unknown[],
    name extends ContractFunctionName<abi>,
    const args extends ContractFunctionArgs<abi, AbiStateMutability, name>,
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
