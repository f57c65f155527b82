/**
 * Kinds of signatures, a row each: recognised by the hash of its type and by its domain, never by a name alone. A row says
 * whose it is, who can use it and until when, and the call that uses it at its worst. Pure.
 */
import { parseAbi, parseAbiParameters, type AbiFunction } from "abitype";
import { encode } from "ox/AbiParameters";
import { fromString } from "ox/Hex";
import { selectorOf, signatureOf } from "../abi/abiIndex.js";
import { nobody, wordOf } from "../abi/words.js";
import { concat, keccak256 } from "../primitives/bytes.js";
import type { Address, Hash, Hex } from "../primitives/hex.js";
import { staticCall, type CallQuery, type Look } from "../witness/queries.js";
import type { Transaction } from "../transaction/fields.js";
import type { OperationInput } from "./operationInput.js";
import type { Signing, SigningKind } from "./schema.js";
import type { AssumedSignature } from "./shim.js";
import type { Struct, TypedData, Value } from "./typedData.js";

export type Stand = Signing["stand"];

/** A call that uses a signature, or does the same without one. */
export interface Carrier {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
  /** Absent = as much as any call that uses a signature takes. */
  readonly gas?: bigint;
  /** Wei per gas; absent = 0. */
  readonly maxPriorityFeePerGas?: bigint;
  readonly authorizationList?: Transaction["authorizationList"];
}

/** The number in a contract that a signature uses up, and what it has to be. */
export interface Used {
  readonly query: CallQuery;
  /** `equal`: the next one. `bit`: that bit is not set. `word`: the word of that place is the next one. */
  readonly by: { readonly kind: "equal"; readonly at: number } | { readonly kind: "bit"; readonly bit: bigint };
  readonly value: bigint;
}

/** The use of one message, as its row tells it. */
export interface Use {
  readonly kind: SigningKind;
  /** The account whose assets it is about. */
  readonly account: Address;
  readonly usableBy: Address | "anyone" | null;
  /** Epoch seconds of the first and the last block that takes it; null = no bound. */
  readonly from: bigint | null;
  readonly until: bigint | null;
  /** Epoch seconds at which the right ends that it gives; null = it is none, or never. */
  readonly ends: bigint | null;
  /** Epoch seconds until which its use leaves the same; absent = up to the last. */
  readonly alike?: bigint;
  /** True if it can be used more than once. */
  readonly repeats: boolean;
  readonly nonce: bigint | null;
  /** The contract that judges it. */
  readonly contract: Address | null;
  readonly used: ReadonlyArray<Used>;
  /** Amounts that its user may take less of, and what tells how much there is; absent = none. */
  readonly taken?: ReadonlyArray<{
    readonly token: Address;
    readonly amount: bigint;
    readonly there: ReadonlyArray<CallQuery>;
  }>;
  /** A word that its use leaves in the contract; absent = the number that it uses up is the mark. */
  readonly leaves?: { readonly query: CallQuery; readonly value: bigint };
  /** Signatures that the code in place of ECRECOVER answers for; absent = that of what is signed, by its signer. */
  readonly assumes?: ReadonlyArray<AssumedSignature>;
  /** Further queries that are read of the chain for it. */
  readonly looks?: ReadonlyArray<Look>;
  /** The user operation that it is. */
  readonly operation?: OperationInput;
  /** Words of storage that are pretended in front of its calls, by account and slot; absent = none. */
  readonly pretends?: Readonly<Record<Address, Readonly<Record<Hash, Hash>>>>;
  /** The calls that use it; null = it is not known how, and why. */
  readonly consume: ((stand: Stand) => ReadonlyArray<Carrier>) | null;
  readonly unread: string | null;
  /** The calls of its account that do the same without it; null = there are none. */
  readonly equal: ReadonlyArray<Carrier> | null;
}

/** Encodes calls of a function. */
export const call = (signature: string) => {
  const [item] = parseAbi([signature]) as readonly unknown[] as readonly [AbiFunction];
  const selector = selectorOf(signatureOf(item.name, item.inputs));
  return (...values: ReadonlyArray<unknown>): Hex => concat(selector, encode(item.inputs, values));
};

const to = (contract: Address, data: Hex, from: Address, value = 0n): Carrier => ({ from, to: contract, data, value });
const whole = ({ r, s, v }: Stand): Hex => concat(r, s, v === 27n ? "0x1b" : "0x1c");
const word = (value: Value | undefined): bigint => (typeof value === "bigint" ? value : 0n);
const text = (value: Value | undefined): string => (typeof value === "string" ? value : "");
/** Values were read as their types have them. */
const addressIn = (value: Value | undefined): Address => text(value) as Address;
const hexIn = (value: Value | undefined): Hex => text(value) as Hex;
const structIn = (value: Value | undefined): Struct =>
  typeof value === "object" && !Array.isArray(value) ? (value as Struct) : {};
const listIn = (value: Value | undefined): ReadonlyArray<Struct> =>
  Array.isArray(value) ? (value as ReadonlyArray<Value>).map(structIn) : [];

const pad = (value: Address | bigint): string =>
  typeof value === "bigint" ? wordOf(value).slice(2) : value.slice(2).padStart(64, "0");
const read = (contract: Address, selector: Hex, ...values: ReadonlyArray<Address | bigint>): CallQuery =>
  staticCall(contract, `${selector}${values.map(pad).join("")}`, undefined, 96);

const never = 2n ** 256n - 1n;
/** Returns the last second of a deadline that counts itself; null where nobody will see it. */
const bound = (deadline: bigint): bigint | null => (deadline >= 2n ** 63n ? null : deadline);

const approve = call("function approve(address,uint256)");
const transfer = call("function transfer(address,uint256)");
const permit = call("function permit(address,address,uint256,uint256,uint8,bytes32,bytes32)");
const permitDai = call("function permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)");
const permitToken = call("function permit(address,uint256,uint256,bytes)");
const authorized = "(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)";
const transferWith = call(`function transferWithAuthorization${authorized}`);
const receiveWith = call(`function receiveWithAuthorization${authorized}`);
const details = "(address,uint160,uint48,uint48)";
const permitSingle = call(`function permit(address,(${details},address,uint256),bytes)`);
const permitBatch = call(`function permit(address,(${details}[],address,uint256),bytes)`);
const permitApprove = call("function approve(address,address,uint160,uint48)");
const takeOne = call(
  "function permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)",
);
const takeMany = call(
  "function permitTransferFrom(((address,uint256)[],uint256,uint256),(address,uint256)[],address,bytes)",
);
const witnessOne = call(
  "function permitWitnessTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes32,string,bytes)",
);
const witnessMany = call(
  "function permitWitnessTransferFrom(((address,uint256)[],uint256,uint256),(address,uint256)[],address,bytes32,string,bytes)",
);
const fulfil = call(
  "function fulfillOrder(((address,address,(uint8,address,uint256,uint256,uint256)[],(uint8,address,uint256,uint256,uint256,address)[],uint8,uint256,uint256,bytes32,uint256,bytes32,uint256),bytes),bytes32)",
);

const calls = "(address,uint256,bytes)[]";
const executeMode = call("function execute(bytes32,bytes)");
const executeMany = call(`function execute(${calls})`);
const executeOne = call("function execute(address,uint256,bytes)");
/** The mode of ERC-7821 in which the calls are a plain batch. */
const batchMode: Hex = `0x01${"00".repeat(31)}`;

/** Calldata by which accounts with code usually send wei, one of each form: an open account obeys whoever calls. */
export const spendingCalls = (to: Address): ReadonlyArray<Hex> => {
  const [batch] = parseAbiParameters(calls);
  return [
    executeMode(batchMode, encode([batch], [[[to, 1n, "0x"]]])),
    executeMany([[to, 1n, "0x"]]),
    executeOne(to, 1n, "0x"),
  ];
};

/** The usual answer of a row; a row says what differs. */
const usual = {
  ...{ from: null, until: null, ends: null, repeats: false, used: [], unread: null, equal: null },
} as const;

/** A message in its contract, and whoever's key signs it. */
interface Message {
  readonly typed: TypedData;
  readonly message: Struct;
  readonly contract: Address;
  readonly signer: Address;
}

const ofNonces = (contract: Address, owner: Address | bigint, value: bigint): Used => ({
  query: read(contract, typeof owner === "bigint" ? "0x141a468c" : "0x7ecebe00", owner),
  by: { kind: "equal", at: 0 },
  value,
});

/** Permit2's numbers that are used in any order, a bit each. */
const ofBitmap = (contract: Address, owner: Address, nonce: bigint): Used => ({
  query: read(contract, "0x4fe02b44", owner, nonce >> 8n),
  by: { kind: "bit", bit: nonce & 255n },
  value: nonce,
});

const authorization =
  (kind: "erc3009Transfer" | "erc3009Receive", use: typeof transferWith) =>
  ({ message, contract }: Message): Use => {
    const [owner, payee] = [addressIn(message["from"]), addressIn(message["to"])];
    const [value, after, before] = [word(message["value"]), word(message["validAfter"]), word(message["validBefore"])];
    const nonce = hexIn(message["nonce"]);
    const isAnybodys = kind === "erc3009Transfer";
    return {
      ...{ ...usual, kind, account: owner, usableBy: isAnybodys ? "anyone" : payee, contract, nonce: BigInt(nonce) },
      // why: both ends are excluded
      ...{ from: after === 0n ? null : after + 1n, until: bound(before === 0n ? 0n : before - 1n) },
      used: [{ query: read(contract, "0xe94a0102", owner, BigInt(nonce)), by: { kind: "equal", at: 0 }, value: 0n }],
      consume: ({ stranger, v, r, s }) => [
        to(contract, use(owner, payee, value, after, before, nonce, v, r, s), isAnybodys ? stranger : payee),
      ],
      equal: [to(contract, transfer(payee, value), owner)],
    };
  };

/** The rights that Permit2's details give, one each. */
const rights = ({ message, contract, signer }: Message, kind: "permit2Single" | "permit2Batch"): Use => {
  const all = kind === "permit2Single" ? [structIn(message["details"])] : listIn(message["details"]);
  const [spender, deadline] = [addressIn(message["spender"]), word(message["sigDeadline"])];
  const rows = all.map(({ token, amount, expiration, nonce }) => ({
    ...{ token: addressIn(token), amount: word(amount), expiration: word(expiration), nonce: word(nonce) },
  }));
  const listed = rows.map(({ token, amount, expiration, nonce }) => [token, amount, expiration, nonce]);
  const last = rows.reduce((latest, { expiration }) => (expiration > latest ? expiration : latest), 0n);
  const alike = rows.reduce((least, { expiration }) => (expiration < least ? expiration : least), last);
  return {
    ...{ ...usual, kind, account: signer, usableBy: "anyone", contract, until: bound(deadline), alike },
    // why: the largest that it can be is never
    ...{ ends: last >= 2n ** 48n - 1n ? null : last, nonce: rows[0]?.nonce ?? null },
    used: rows.map(({ token, nonce }) => ({
      query: read(contract, "0x927da105", signer, token, spender),
      by: { kind: "equal", at: 2 },
      value: nonce,
    })),
    consume: (stand) => [
      to(
        contract,
        kind === "permit2Single"
          ? permitSingle(signer, [listed[0], spender, deadline], whole(stand))
          : permitBatch(signer, [listed, spender, deadline], whole(stand)),
        stand.stranger,
      ),
    ],
    equal: rows.map(({ token, amount, expiration }) =>
      to(contract, permitApprove(token, spender, amount, expiration), signer),
    ),
  };
};

/** A transfer by Permit2, all of it to somebody else: a witness binds nobody but the spender's own code. */
const taking =
  (kind: "permit2Transfer" | "permit2BatchTransfer" | "permit2Witness" | "permit2BatchWitness") =>
  ({ message, contract, signer, typed }: Message): Use => {
    const isOne = kind === "permit2Transfer" || kind === "permit2Witness";
    const all = isOne ? [structIn(message["permitted"])] : listIn(message["permitted"]);
    const [spender, nonce, deadline] = [
      addressIn(message["spender"]),
      word(message["nonce"]),
      word(message["deadline"]),
    ];
    const permitted = all.map(({ token, amount }) => [addressIn(token), word(amount)] as const);
    const isWitness = kind === "permit2Witness" || kind === "permit2BatchWitness";
    const [, witness] = isWitness ? witnessIn(typed) : [];
    const used = [ofBitmap(contract, signer, nonce)];
    return {
      ...{ ...usual, kind, account: signer, usableBy: spender, contract, until: bound(deadline), nonce, used },
      taken: permitted.map(([token, amount]) => ({
        ...{ token, amount },
        there: [read(token, "0x70a08231", signer), read(token, "0xdd62ed3e", signer, contract)],
      })),
      consume: (stand) => {
        const goods = permitted.map(([, amount], at) => [stand.taker, stand.taken?.[at] ?? amount] as const);
        const tail = witness === undefined ? [whole(stand)] : [witness.hash, witness.text, whole(stand)];
        const use = isWitness ? (isOne ? witnessOne : witnessMany) : isOne ? takeOne : takeMany;
        const given = isOne ? permitted[0] : permitted;
        return [to(contract, use([given, nonce, deadline], isOne ? goods[0] : goods, signer, ...tail), spender)];
      },
    };
  };

const witnessStubs = {
  permit2Witness:
    "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,",
  permit2BatchWitness:
    "PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,",
} as const;
const permissions = "TokenPermissions(address token,uint256 amount)";

/** The witness of a message: its hash, and the rest of the type as Permit2 is told it; nothing where there is none. */
const witnessIn = ({ encodedType, hashOf }: TypedData) => {
  const found = Object.entries(witnessStubs).find(([, stub]) => encodedType.startsWith(stub));
  if (found === undefined || !encodedType.includes(permissions)) return [];
  const [kind, stub] = found;
  const hash = hashOf(4);
  return hash === null
    ? []
    : ([kind as keyof typeof witnessStubs, { hash, text: encodedType.slice(stub.length) }] as const);
};

const orderItem =
  "OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)";
const goodsItem =
  "ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)";
const orderType = `OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)${goodsItem}${orderItem}`;

/** An order that anybody fulfils who pays what it asks for in native currency. */
const seaport = ({ message, contract }: Message): Use => {
  const [offer, asks] = [listIn(message["offer"]), listIn(message["consideration"])];
  const [offerer, zone, kind] = [addressIn(message["offerer"]), addressIn(message["zone"]), word(message["orderType"])];
  const [from, end] = [word(message["startTime"]), word(message["endTime"])];
  const fields = ({ itemType, token, identifierOrCriteria, startAmount, endAmount }: Struct) => [
    ...[itemType, token, identifierOrCriteria, startAmount, endAmount],
  ];
  const price = asks.reduce(
    (sum, { itemType, startAmount }) => sum + (word(itemType) === 0n ? word(startAmount) : 0n),
    0n,
  );
  const isOpen = [...offer, ...asks].some(({ itemType }) => word(itemType) > 3n);
  // why: what is taken or paid then is another amount than now
  const isMoving = [...offer, ...asks].some(({ startAmount, endAmount }) => startAmount !== endAmount);
  const isBarter = asks.some(({ itemType }) => word(itemType) !== 0n);
  // why: a restricted order asks its zone, but for who is the zone
  const isRestricted = kind === 2n || kind === 3n;
  const isContract = kind > 3n;
  const unread = isOpen
    ? "its items are chosen by whoever fulfils it"
    : isBarter
      ? "it asks for tokens, which whoever fulfils it would have to hold"
      : isContract
        ? "its offerer's own code makes the order"
        : isMoving
          ? "its amounts change with time"
          : null;
  const order = [
    ...[offerer, zone, offer.map(fields), asks.map((item) => [...fields(item), item["recipient"]])],
    ...[kind, from, end, message["zoneHash"], message["salt"], message["conduitKey"], BigInt(asks.length)],
  ];
  return {
    ...{ ...usual, kind: "seaport", account: offerer, usableBy: isRestricted ? zone : "anyone", contract, unread },
    ...{ from, until: bound(end === 0n ? 0n : end - 1n), nonce: word(message["counter"]) },
    used: [
      { query: read(contract, "0xf07ec373", offerer), by: { kind: "equal", at: 0 }, value: word(message["counter"]) },
    ],
    consume:
      unread === null
        ? (stand) => [
            to(
              contract,
              fulfil([order, whole(stand)], wordOf(0)),
              isRestricted && zone !== nobody ? zone : stand.stranger,
              price,
            ),
          ]
        : null,
  };
};

/** A kind that is known and whose use is not simulated here. */
const told =
  (kind: SigningKind, why: string, account: (message: Struct, contract: Address) => Address | null) =>
  ({ message, contract, signer }: Message): Use => ({
    ...{ ...usual, kind, account: account(message, contract) ?? signer, usableBy: null, nonce: null, contract },
    ...{ consume: null, unread: why },
  });

const tokenDetails = "PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)";
const isPermit2 = ({ domain }: TypedData): boolean => domain["name"] === "Permit2" && domain["version"] === undefined;
const isSeaport = ({ domain }: TypedData): boolean =>
  domain["name"] === "Seaport" && (domain["version"] === "1.5" || domain["version"] === "1.6");
const anyDomain = (): boolean => true;

type Row = readonly [type: string, is: (typed: TypedData) => boolean, use: (message: Message) => Use];

/** Every kind of typed data, by its whole type. */
const rows: ReadonlyArray<Row> = [
  [
    "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)",
    anyDomain,
    ({ message, contract }) => {
      const [owner, spender] = [addressIn(message["owner"]), addressIn(message["spender"])];
      const [value, nonce, deadline] = [word(message["value"]), word(message["nonce"]), word(message["deadline"])];
      return {
        ...{ ...usual, kind: "erc2612", account: owner, usableBy: "anyone", contract, nonce, until: bound(deadline) },
        used: [ofNonces(contract, owner, nonce)],
        consume: ({ stranger, v, r, s }) => [to(contract, permit(owner, spender, value, deadline, v, r, s), stranger)],
        equal: [to(contract, approve(spender, value), owner)],
      };
    },
  ],
  [
    "Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)",
    anyDomain,
    ({ message, contract }) => {
      const [owner, spender] = [addressIn(message["holder"]), addressIn(message["spender"])];
      const [nonce, expiry] = [word(message["nonce"]), word(message["expiry"])];
      const isAllowed = message["allowed"] === true;
      return {
        ...{ ...usual, kind: "dai", account: owner, usableBy: "anyone", contract, nonce },
        until: expiry === 0n ? null : bound(expiry),
        used: [ofNonces(contract, owner, nonce)],
        consume: ({ stranger, v, r, s }) => [
          to(contract, permitDai(owner, spender, nonce, expiry, isAllowed, v, r, s), stranger),
        ],
        equal: [to(contract, approve(spender, isAllowed ? never : 0n), owner)],
      };
    },
  ],
  [
    "Permit(address spender,uint256 tokenId,uint256 nonce,uint256 deadline)",
    anyDomain,
    ({ message, contract, signer }) => {
      const [spender, id] = [addressIn(message["spender"]), word(message["tokenId"])];
      const [nonce, deadline] = [word(message["nonce"]), word(message["deadline"])];
      return {
        ...{ ...usual, kind: "erc4494", account: signer, usableBy: "anyone", contract, nonce, until: bound(deadline) },
        used: [ofNonces(contract, id, nonce)],
        // why: the number counts transfers
        leaves: { query: read(contract, "0x081812fc", id), value: BigInt(spender) },
        consume: (stand) => [to(contract, permitToken(spender, id, deadline, whole(stand)), stand.stranger)],
        equal: [to(contract, approve(spender, id), signer)],
      };
    },
  ],
  [
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)",
    anyDomain,
    authorization("erc3009Transfer", transferWith),
  ],
  [
    "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)",
    anyDomain,
    authorization("erc3009Receive", receiveWith),
  ],
  [
    "CancelAuthorization(address authorizer,bytes32 nonce)",
    anyDomain,
    told("erc3009Cancel", "it cancels an authorisation, and moves nothing", ({ authorizer }) => addressIn(authorizer)),
  ],
  [
    `PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)${tokenDetails}`,
    isPermit2,
    (message) => rights(message, "permit2Single"),
  ],
  [
    `PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)${tokenDetails}`,
    isPermit2,
    (message) => rights(message, "permit2Batch"),
  ],
  [
    `PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)${permissions}`,
    isPermit2,
    taking("permit2Transfer"),
  ],
  [
    `PermitBatchTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline)${permissions}`,
    isPermit2,
    taking("permit2BatchTransfer"),
  ],
  [orderType, isSeaport, seaport],
  [
    "SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)",
    anyDomain,
    told("safeTransaction", "it is one approval of a Safe's transaction", (_, contract) => contract),
  ],
  [
    "SafeMessage(bytes message)",
    anyDomain,
    told("safeMessage", "whoever asks the Safe takes it for the Safe's signature", (_, contract) => contract),
  ],
  [
    "PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)",
    anyDomain,
    told("userOperation", "no EntryPoint that is known takes it as it stands", ({ sender }) => addressIn(sender)),
  ],
];

const byType = new Map(rows.map((row) => [keccak256(fromString(row[0])), row] as const));

const unknown = (message: Message): Use => ({
  ...{ ...usual, kind: "unknown", account: message.signer, usableBy: null, nonce: null },
  ...{ contract: message.contract === nobody ? null : message.contract, consume: null },
  unread: "its type is none that is known here",
});

/** Returns the use of typed data. */
export const useOf = (typed: TypedData, signer: Address): Use => {
  const isAddress = typed.types["EIP712Domain"]?.some(
    ({ name, type }) => name === "verifyingContract" && type === "address",
  );
  const contract = isAddress === true ? addressIn(typed.domain["verifyingContract"]) : nobody;
  const message: Message = { typed, message: typed.message, contract, signer };
  const [kind] = isPermit2(typed) ? witnessIn(typed) : [];
  if (kind !== undefined) return taking(kind)(message);
  const row = byType.get(typed.typeHash);
  return contract === nobody || row === undefined || !row[1](typed) ? unknown(message) : row[2](message);
};
