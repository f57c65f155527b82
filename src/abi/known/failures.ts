/**
 * How contracts say that a call which they made failed, while they went on: by events of known kinds, and by the answers
 * of known functions. Tables alone, so that what reads them is loaded where there is something to read.
 */
import type { Hex } from "../../primitives/hex.js";
import { each } from "../../primitives/record.js";
import { valuesOf } from "../layout.js";
import type { families } from "./batches.js";

/** The place of a value in a log: the number of a topic, or of a word of the data. */
export type LogPlace = readonly ["topic" | "word", number];

/** One kind of event about a call that its emitter made. */
export interface InnerEvent {
  /** Events of one family tell of the calls of its functions, one each and in their order; null where nothing orders them. */
  readonly family: (typeof families)[string] | null;
  /** The condition for the call to have failed: always, never, or where a value is zero or is not. */
  readonly fails:
    | boolean
    | { readonly zero: LogPlace }
    | { readonly nonzero: LogPlace }
    | { readonly is: bigint; readonly at: LogPlace };
  /** The word that points to what the call reverted with. */
  readonly reason?: number;
  /** The place of the number that the call has within its batch. */
  readonly index?: LogPlace;
  /** The place of the account that was called. */
  readonly callee?: LogPlace;
  /** The place of the account whose call it was, so that the event counts whoever emitted it. */
  readonly names?: LogPlace;
}

const failed: InnerEvent = { family: null, fails: true };

/** By the first 8 bytes of their topics. */
export const innerEvents: Readonly<Record<string, InnerEvent>> = {
  // Safe: ExecutionSuccess and ExecutionFailure(bytes32,uint256); of 1.0 ExecutionFailed(bytes32)
  "0x442e715f626346e8": { family: "safe", fails: false },
  "0x23428b18acfb3ea6": { family: "safe", fails: true },
  "0xabfd711ecdd15ae3": failed,
  // Safe: ExecutionFromModuleSuccess and ExecutionFromModuleFailure(address)
  "0x6895c13664aa4f67": { family: "module", fails: false, names: ["topic", 1] },
  "0xacd2c8702804128f": { family: "module", fails: true, names: ["topic", 1] },
  // MultiSigWallet: ExecutionFailure(uint256)
  "0x526441bb6c1aba3c": failed,
  // ERC-4337: UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)
  "0x49628fd1471006c1": { family: "operation", fails: { zero: ["word", 1] }, callee: ["topic", 2] },
  // ERC-7579: TryExecuteUnsuccessful and TryDelegateCallUnsuccessful(uint256,bytes), ERC7579TryExecuteFail(uint256,bytes)
  ...each<InnerEvent>({ family: "try", fails: true, index: ["word", 0], reason: 1 }, [
    ...["0xe723f28f104e46b4", "0x11578eed8e46b142", "0x2eea2f51f8391048"],
  ]),
  // Nexus: TryExecuteUnsuccessful and TryDelegateCallUnsuccessful(bytes,bytes)
  ...each<InnerEvent>({ family: "try", fails: true, reason: 1 }, ["0xb5282692b8c578af", "0x5bd4c60b4b38b664"]),
  // Safe7579: TryExecutionFailed(address,uint256), TryExecutionsFailed(address,bool[])
  "0xb8bc84bd77f5eb08": { family: "try", fails: true, index: ["word", 1], names: ["word", 0] },
  "0x808182537251b64a": { family: "try", fails: true, names: ["word", 0] },
  // OpenZeppelin's forwarder: ExecutedForwardRequest(address,uint256,bool)
  "0x842fb24a83793558": { family: "request", fails: { zero: ["word", 1] } },
  // Argent: TransactionExecuted(address,bool,bytes,bytes32)
  "0x7da4525a28052726": { family: null, fails: { zero: ["topic", 2] }, reason: 0 },
  // Sequence: TxFailed(bytes32,bytes), TxFailed and CallFailed(bytes32,uint256,bytes)
  "0x3dbd1590ea96dd32": { ...failed, reason: 1 },
  "0xab46c69f7f32e1bf": { ...failed, reason: 1 },
  "0x115f347c00e69f25": { ...failed, reason: 2 },
  // Ambire: LogErr(address,uint256,bytes,bytes)
  "0x80c2637928bd94d0": { ...failed, reason: 2 },
  // Biconomy: ExecutionFailure(address,uint256,bytes,uint8,uint256)
  "0x3ddd038f78c87617": failed,
  // Ithaca: IntentExecuted(address,uint256,bool,bytes4)
  "0x23a3c1343409f019": { family: null, fails: { nonzero: ["word", 1] } },
  // GSN: TransactionResult(uint8,bytes)
  "0xa1478a4242848419": { family: null, fails: { nonzero: ["word", 0] }, reason: 1 },
  // Chainlink's keepers: UpkeepPerformed(uint256,bool,uint96,uint256,uint256,bytes), UpkeepPerformed(uint256,bool,address,uint96,bytes)
  "0xad8cc9579b21dfe2": { family: null, fails: { zero: ["topic", 2] } },
  "0xcaacad83e47cc45c": { family: null, fails: { zero: ["topic", 2] } },
  // Chainlink's CCIP: ExecutionStateChanged(uint64,bytes32,uint8,bytes), 3 = failure
  "0xd4f851956a5d67c3": { family: null, fails: { is: 3n, at: ["word", 0] }, reason: 1 },
  // LayerZero: MessageFailed(uint16,bytes,uint64,bytes,bytes)
  "0xe183f33de2837795": { ...failed, reason: 4 },
  // OP stack: WithdrawalFinalized(bytes32,bool), FailedRelayedMessage(bytes32)
  "0xdb5c7652857aa163": { family: null, fails: { zero: ["word", 0] } },
  "0x99d0e048484baa1b": failed,
  // Arbitrary message bridge: RelayedMessage and AffirmationCompleted(address,address,bytes32,bool)
  "0x27333edb8bdcd40a": { family: null, fails: { zero: ["word", 0] } },
  "0xe194ef610f9150a2": { family: null, fails: { zero: ["word", 0] } },
  // Avocado: CastFailed(address,address,string,bytes), ExecuteFailed(address,address,address,bytes,string)
  "0x2d7a71829f41b472": failed,
  "0x420a063f564b9a96": failed,
};

/** Reverts of user op or paymaster: UserOperationRevertReason, PostOpRevertReason(bytes32,address,uint256,bytes). */
export const operationReasons: ReadonlyArray<string> = ["0x1c4fada7374c0a9e", "0xf62676f440ff169a"];

const [uint, hash, bool, bytes] = [
  { type: "uint256" },
  { type: "bytes32" },
  { type: "bool" },
  { type: "bytes" },
] as const;
const results = { type: "tuple[]", components: [bool, bytes] } as const;

/**
 * The answer to calldata, by its selector: what Multicall3 answers of each call, whether it succeeded and what it
 * returned; null where it is none of such a function.
 */
export const resultsOf = (
  calldata: string,
  data: Hex,
): ReadonlyArray<readonly [success: boolean, data: Hex]> | null => {
  switch (calldata.slice(0, 10).toLowerCase()) {
    case "0x252dba42": // aggregate
      return valuesOf([uint, { type: "bytes[]" }], data)?.[1].map((result) => [true, result] as const) ?? null;
    case "0xbce38bd7": // tryAggregate
    case "0x82ad56cb": // aggregate3
    case "0x174dea71": // aggregate3Value
      return valuesOf([results], data)?.[0] ?? null;
    case "0xc3077fa9": // blockAndAggregate
    case "0x399542e9": // tryBlockAndAggregate
      return valuesOf([uint, hash, results], data)?.[2] ?? null;
    default:
      return null;
  }
};
