/** What is asked of every node: ten transactions and two signatures, and what becomes of each if it is sent all the same. */
import { encodeFunctionData, maxUint256, parseEther, type Hex } from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { accounts } from "../../test/harness/anvil.js";
import * as artifacts from "../../test/contracts/artifacts.js";

const [rich, other, spender, empty] = accounts.map(({ privateKey }) => privateKeyToAccount(privateKey));
if (rich === undefined || other === undefined || spender === undefined || empty === undefined)
  throw new Error("there are fewer accounts than four");
export const owner = rich;
export const stranger = other;

/** What stands on the node. */
export interface Place {
  readonly chainId: number;
  readonly token: Hex;
  readonly reader: Hex;
}

/** A transaction as it is asked about: of an account whose key is known. */
export interface Asked {
  readonly signer: PrivateKeyAccount;
  readonly to?: Hex;
  readonly value?: bigint;
  readonly data?: Hex;
  readonly nonce?: number;
  readonly authorizationList?: ReadonlyArray<Awaited<ReturnType<PrivateKeyAccount["signAuthorization"]>>>;
}

const nobody = "0x70726566000000000000000000000000000000c3";
const ofToken = (functionName: string, args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi: artifacts.PermitToken.abi, functionName: functionName as "transfer", args: args as never });

/** The transactions by the words of the table. */
export const transactions: Readonly<Record<string, (place: Place) => Promise<Asked>>> = {
  "1 ETH": async () => ({ signer: owner, to: stranger.address, value: parseEther("1") }),
  "5 tokens": async ({ token }) => ({ signer: owner, to: token, data: ofToken("transfer", [stranger.address, 5n]) }),
  "approval without limit": async ({ token }) => ({
    ...{ signer: owner, to: token, data: ofToken("approve", [spender.address, maxUint256]) },
  }),
  "a custom error": async ({ token }) => ({
    ...{ signer: stranger, to: token, data: ofToken("transfer", [owner.address, 10n ** 30n]) },
  }),
  "data to an address without code": async () => ({ signer: owner, to: nobody, data: "0x12345678" }),
  "more ETH than it has": async () => ({ signer: stranger, to: owner.address, value: parseEther("1000000") }),
  "a nonce used before": async () => ({ signer: owner, to: stranger.address, value: 1n, nonce: 0 }),
  "a deployment": async () => ({ signer: owner, data: artifacts.ContextReader.bytecode }),
  "code that reads the block": async ({ reader }) => ({
    ...{ signer: owner, to: reader },
    data: encodeFunctionData({ abi: artifacts.ContextReader.abi, functionName: "read" }),
  }),
  "an EIP-7702 delegation": async ({ chainId, reader }) => ({
    signer: owner,
    to: stranger.address,
    authorizationList: [await spender.signAuthorization({ chainId, address: reader, nonce: 0 })],
  }),
};

const permitTypes = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** A permit of ERC-2612 for the token, good for ten minutes after `now`, in seconds. */
export const permitOf = ({ chainId, token }: Place, now: bigint) =>
  ({
    domain: { name: "Permit Token", version: "1", chainId, verifyingContract: token },
    types: permitTypes,
    primaryType: "Permit",
    message: { owner: owner.address, spender: spender.address, value: 5n, nonce: 0n, deadline: now + 600n },
  }) as const;

export const texts = { permit: "an ERC-2612 permit", plain: "a plain text" } as const;
