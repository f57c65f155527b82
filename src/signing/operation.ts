/** A user operation (ERC-4337) as it is hashed, signed and sent by a bundler. Packing and hashing are ox's. Pure. */
import * as Result from "effect/Result";
import type * as Schema from "effect/Schema";
import { hash as hashOf, toPacked } from "ox/erc4337/UserOperation";
import { dataAt, wordOf, wordsFrom } from "../abi/words.js";
import { concat, numberToHex } from "../primitives/bytes.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { no, type Checked } from "../primitives/problem.js";
import { isUnsigned, type Authorization, type UnsignedAuthorization } from "../transaction/fields.js";
import type { SignatureRequest } from "../transaction/signature.js";
import { readGas, staticCall, type CallQuery } from "../witness/queries.js";
import { messageHash, type ReadSigning } from "./input.js";
import { call, type Carrier } from "./kinds.js";
import { delegated, magic, operationIn, type Operation, type OperationInput, type Version } from "./operationInput.js";
import type { Signing } from "./schema.js";
import type { AssumedSignature } from "./shim.js";
import { typedDataIn } from "./typedData.js";

const joined = (head: Address | null, ...rest: ReadonlyArray<Hex>): Hex =>
  head === null ? "0x" : concat(head, ...rest);

/** The paymaster's data as it is sent, or as it is hashed. */
const paymasterDataOf = ({ paymasterData, paymasterSignature: own }: Operation, forHash: boolean): Hex =>
  own === null
    ? paymasterData
    : concat(paymasterData, ...(forHash ? [] : [own, numberToHex((own.length - 2) / 2, { size: 2 })]), `0x${magic}`);

/** The fields as ox has them, of EntryPoint 0.7 and later. */
const unpacked = (operation: Operation, delegate: Address | null, forHash: boolean) => {
  const { factory, paymaster, authorization: _, paymasterSignature: __, ...rest } = operation;
  return {
    ...rest,
    paymasterData: paymasterDataOf(operation, forHash),
    ...(factory === null ? {} : { factory }),
    ...(paymaster === null ? {} : { paymaster }),
    // its hash names the delegate alone, and nothing else of an authorisation
    ...(delegate === null ? {} : { authorization: { address: delegate } as never }),
  };
};

/** The fields as EntryPoint 0.6 has them. */
const bareOf = ({ factory, factoryData, paymaster, paymasterData, ...operation }: Operation) => ({
  ...operation,
  ...{ initCode: joined(factory, factoryData), paymasterAndData: joined(paymaster, paymasterData) },
});

const callsWith = (struct: string) => ({
  handle: call(`function handleOps(${struct}[],address)`),
  paymasterHash: call(`function getHash(${struct},uint48,uint48)`),
});
const bareCalls = callsWith("(address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)");
const packedCalls = callsWith("(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)");
const callsOf = (version: Version) => (version === "0.6" ? bareCalls : packedCalls);

/** The values of the struct that an EntryPoint takes. */
const valuesOf = (operation: Operation, version: Version): ReadonlyArray<unknown> => {
  const { sender, nonce, callData, signature, preVerificationGas } = operation;
  if (version === "0.6") {
    const { initCode, paymasterAndData, callGasLimit, verificationGasLimit, ...own } = bareOf(operation);
    const gas = [callGasLimit, verificationGasLimit, preVerificationGas, own.maxFeePerGas, own.maxPriorityFeePerGas];
    return [sender, nonce, initCode, callData, ...gas, paymasterAndData, signature];
  }
  const packed = toPacked(unpacked(operation, null, false));
  return [
    ...[sender, nonce, packed.initCode, callData, packed.accountGasLimits, preVerificationGas],
    ...[packed.gasFees, packed.paymasterAndData, signature],
  ];
};

/** The hash of a user operation on a chain; `delegate`: the code that its sender delegates to, where the hash names it. */
const operationHash = (
  { operation, entryPoint, version }: Pick<OperationInput, "operation" | "entryPoint" | "version">,
  chainId: number,
  delegate: Address | null,
): Hash =>
  version === "0.6"
    ? hashOf<"0.6">(bareOf(operation), { chainId, entryPointAddress: entryPoint, entryPointVersion: version })
    : hashOf<"0.8">(unpacked(operation, delegate, true), {
        ...{ chainId, entryPointAddress: entryPoint },
        // why: 0.9 hashes as 0.8 does
        entryPointVersion: version === "0.7" ? "0.7" : "0.8",
      });

const quantities = [
  ...(["callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas"] as const),
];
const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`;

const authorizationJson = (entry: Authorization | UnsignedAuthorization) => ({
  ...{ address: entry.address, chainId: hex(entry.chainId), nonce: hex(entry.nonce) },
  ...(isUnsigned(entry) ? {} : { r: entry.r, s: entry.s, yParity: hex(entry.yParity) }),
});

/** The same operation as JSON, as `eth_sendUserOperation` takes it. */
const jsonOf = (operation: Operation, version: Version): Readonly<Record<string, Schema.Json>> => {
  const { sender, nonce, callData, signature, authorization, factory, factoryData, paymaster } = operation;
  const numbers = Object.fromEntries(quantities.map((name) => [name, hex(operation[name])]));
  const { initCode, paymasterAndData } = bareOf(operation);
  const { paymasterData, paymasterSignature, paymasterVerificationGasLimit, paymasterPostOpGasLimit } = operation;
  const own =
    version === "0.6"
      ? { initCode, paymasterAndData }
      : {
          ...(factory === null ? {} : { factory, factoryData }),
          ...(paymaster === null
            ? {}
            : {
                ...{ paymaster, paymasterData },
                paymasterVerificationGasLimit: hex(paymasterVerificationGasLimit),
                paymasterPostOpGasLimit: hex(paymasterPostOpGasLimit),
                ...(paymasterSignature === null ? {} : { paymasterSignature }),
              }),
        };
  const signed = authorization === null ? {} : { eip7702Auth: authorizationJson(authorization) };
  return { sender, nonce: hex(nonce), callData, ...numbers, signature, ...own, ...signed };
};

/** True if the hash names the code that the sender delegates to. */
export const namesDelegate = ({ operation, version }: OperationInput): boolean =>
  operation.factory === delegated && (version === "0.8" || version === "0.9");

/** The delegate by the operation's own authorisation; null = it has none. */
export const delegateOf = ({ authorization }: Operation): Address | null => authorization?.address ?? null;

/** The number of the sender's next operation with this key, as the EntryPoint has it. */
export const nonceQuery = (entryPoint: Address, { sender, nonce }: Operation): CallQuery =>
  staticCall(entryPoint, `0x35567e1a${sender.slice(2).padStart(64, "0")}${wordOf(nonce >> 64n).slice(2)}`);

/** The account that pays for it. */
export const payerOf = ({ sender, paymaster }: Operation): Address => paymaster ?? sender;

/** Wei that an account has in the EntryPoint, and its stake there: `getDepositInfo`. */
export const depositQuery = (entryPoint: Address, account: Address): CallQuery =>
  staticCall(entryPoint, `0x5287ce12${account.slice(2).padStart(64, "0")}`, readGas, 160);

/** The contracts that an operation names. */
export const entitiesOf = ({ sender, factory, paymaster }: Operation) => ({
  ...{ account: sender, factory: factory === delegated ? null : factory, paymaster },
});

/** Gas of all its limits together; 0.6 holds the verification's to the paymaster's two calls, too. */
const gasOf = (operation: Operation, version: Version): bigint => {
  const { verificationGasLimit, paymasterVerificationGasLimit, callGasLimit, paymasterPostOpGasLimit } = operation;
  const times = version === "0.6" && operation.paymaster !== null ? 3n : 1n;
  return verificationGasLimit * times + paymasterVerificationGasLimit + callGasLimit + paymasterPostOpGasLimit;
};

/** Wei that are held back before it runs, and the most that it costs. */
export const prefundOf = (operation: Operation, version: Version): bigint =>
  (gasOf(operation, version) + operation.preVerificationGas) * operation.maxFeePerGas;

/** Most gas of one call: below the most of one transaction (EIP-7825). */
const mostOuterGas = 16_000_000n;

/** Gas of the bundler's call: what the limits need, and a margin. */
const outerGas = (operation: Operation, version: Version): bigint =>
  (gasOf(operation, version) * 66n) / 63n + 500_000n + 20n * BigInt(JSON.stringify(jsonOf(operation, version)).length);

/** True if the limits need more gas than the call is given. */
export const isGasCut = ({ operation, version }: OperationInput): boolean =>
  outerGas(operation, version) > mostOuterGas;

/** A signature of 65 bytes with parts that no key has given; of another form it stays byte for byte. */
const signatureIn = ({ signature }: Operation, { r, s, v }: Signing["stand"]): Hex =>
  signature.length === 132 ? concat(r, s, v === 27n ? "0x1b" : "0x1c") : signature;

/** The operation as it is simulated. */
const simulatedOperation = (operation: Operation, stand: Signing["stand"]): Operation => ({
  ...operation,
  signature: signatureIn(operation, stand),
});

/** `getHash` of a verifying paymaster; null where the data are not in its form: two times, and a signature of 65 bytes. */
export const paymasterHashQuery = ({ operation, version }: OperationInput): CallQuery | null => {
  const { paymaster, paymasterData, paymasterSignature } = operation;
  const size = (paymasterData.length - 2) / 2;
  if (paymaster === null || size !== (paymasterSignature === null ? 64 + 65 : 64)) return null;
  const [until = 0n, after = 0n] = wordsFrom(paymasterData, dataAt, 2);
  return until >= 2n ** 48n || after >= 2n ** 48n
    ? null
    : staticCall(paymaster, callsOf(version).paymasterHash(valuesOf(operation, version), until, after));
};

/** Facts of the chain that a user operation hangs on. */
export interface OperationFacts {
  readonly chainId: number;
  readonly signer: Address;
  /** The code that the sender delegates to, where the hash names it. */
  readonly delegate: Address | null;
}

const bundled = (
  { operation, version, entryPoint }: OperationInput,
  stand: Signing["stand"],
): ReadonlyArray<Carrier> => {
  const data = callsOf(version).handle([valuesOf(simulatedOperation(operation, stand), version)], stand.taker);
  const authorizationList = operation.authorization === null ? null : [operation.authorization];
  const needed = outerGas(operation, version);
  const gas = needed > mostOuterGas ? mostOuterGas : needed;
  return [{ from: stand.stranger, to: entryPoint, data, value: 0n, gas, authorizationList }];
};

/** A user operation as a signature: what is signed, and the bundler's call that uses it. */
export const operationSigning = (
  input: OperationInput,
  { chainId, signer, delegate }: OperationFacts,
  paymaster: AssumedSignature | undefined,
): ReadSigning => {
  const { operation, entryPoint, version } = input;
  const { typedData } = input;
  const digest = operationHash(input, chainId, delegate);
  return {
    sign: {
      ...{ kind: "userOperation", signer, digest, operation: jsonOf(operation, version), entryPoint, version, chainId },
      ...(delegate === null ? {} : { delegate }),
      ...(typedData === null ? {} : { typedData }),
    },
    use: {
      ...{ kind: "userOperation", account: operation.sender, usableBy: "anyone", contract: entryPoint },
      ...{ from: null, until: null, ends: null, repeats: false, nonce: operation.nonce, used: [], equal: null },
      ...{ unread: null, operation: input },
      // why: which of the two an account recovers is its own, and typed data has one digest
      assumes: [
        ...[digest, ...(typedData === null ? [messageHash(digest)] : [])].map((one) => ({ digest: one, signer })),
        ...(paymaster ? [paymaster] : []),
      ],
      looks: [
        nonceQuery(entryPoint, operation),
        ...Object.values(entitiesOf(operation)).flatMap((one) => (one === null ? [] : depositQuery(entryPoint, one))),
        ...(paymaster === undefined ? [] : [paymasterHashQuery(input)].filter((query) => query !== null)),
      ],
      consume: (stand) => bundled(input, stand),
    },
    ...{ typed: null, origin: null, text: null },
  };
};

/** A signature of the form that most keys give, where typed data tells none. */
const usualSignature: Hex = `0x${"00".repeat(65)}`;

/**
 * The operation in typed data of EntryPoint 0.8 and later, whose hash is the digest of that; a failure where no EntryPoint that is
 * known hashes it so, or where what its paymaster signs is no part of it. A code that its sender delegates to stands as its factory.
 */
export const operationOfTyped = ({ typed, sign: { signer, digest } }: ReadSigning): Checked<OperationInput> =>
  Result.gen(function* () {
    const { domain, message = {}, json = null } = typed ?? {};
    const chainId = Number(domain?.["chainId"]);
    const given = { signer, chainId, entryPoint: domain?.["verifyingContract"] };
    const input = yield* operationIn({ ...given, operation: { ...message, signature: usualSignature } }, "typedData.");
    const { factory, paymasterData } = input.operation;
    // guard: typed data that its EntryPoint hashes to another digest
    if (factory === delegated || paymasterData.endsWith(magic) || operationHash(input, chainId, null) !== digest)
      return yield* no("typedData", "is not what its EntryPoint hashes");
    return { ...input, typedData: json };
  });

/** The same out of what a report asks to be signed. */
export const operationAgain = (
  sign: Extract<SignatureRequest, { readonly kind: "userOperation" }>,
  { paymaster }: Signing["stand"],
  at: string,
): Checked<ReadSigning> => {
  const { operation, entryPoint, version, chainId, signer, digest, delegate = null, typedData } = sign;
  const typed = typedData === undefined ? Result.succeed(null) : typedDataIn(typedData, `${at}sign.typedData`);
  return Result.flatMap(Result.all([operationIn({ operation, entryPoint, version }, at), typed]), ([input, its]) =>
    its !== null && its.digest !== digest
      ? no(`${at}sign.typedData`, "is another operation")
      : Result.succeed(
          operationSigning({ ...input, typedData: its?.json ?? null }, { chainId, signer, delegate }, paymaster),
        ),
  );
};
