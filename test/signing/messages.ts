/**
 * One row for each kind of message: drawn at random, with the transactions that use its signature at its worst, and what
 * they leave.
 */
import {
  concatHex,
  encodeFunctionData,
  keccak256,
  maxUint160,
  maxUint256,
  numberToHex,
  parseAbi,
  parseSignature,
  stringToHex,
  type Abi,
  type Address,
  type Hex,
  type SignedAuthorization,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import type { Dice } from "../harness/families/kit.js";
import {
  canonical,
  type DelegateName,
  type Kit,
  type PermitToken,
  type Reading,
  type TypedData,
  type Use,
} from "./kit.js";
import { seaportPart, x402Client } from "./parts.js";

/** What a key signs. */
export type Signing =
  | { readonly typedData: TypedData }
  | { readonly authorization: { readonly chainId: number; readonly address: Address; readonly nonce: number } }
  | { readonly message: string };

export interface Expected {
  readonly reading: Reading;
  /** When the message was made. */
  readonly before: bigint;
  /** Behind the last use. */
  readonly after: bigint;
}

export interface Message {
  readonly signing: Signing;
  readonly signer: Address;
  /** The transactions that use this signature at its worst, in order. A text is used by none. */
  readonly use: (signature: Hex) => ReadonlyArray<Use>;
  readonly expects: ReadonlyArray<Expected>;
}

export interface Parties {
  readonly owner: PrivateKeyAccount;
  readonly spender: PrivateKeyAccount;
  /** The time of the latest block, in seconds. */
  readonly now: bigint;
}

export interface Row {
  readonly name: string;
  /**
   * Whom the contract asks about a signature of an owner with code: `key` = nobody, it recovers the key; `code` = the
   * code alone (ERC-1271); `either` = the key, then the code; `none` = there is no contract.
   */
  readonly checks: "key" | "code" | "either" | "none";
  readonly message: (kit: Kit, random: Dice, parties: Parties) => Promise<Message>;
}

/** why: read by the types, too, these signatures cost the compiler minutes */
const abiOf = (...signatures: ReadonlyArray<string>): Abi => parseAbi(signatures);
const abi = abiOf(
  "function transferFrom(address from, address to, uint256 amount) returns (bool)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
);
const daiAbi = abiOf(
  "function permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)",
);
const nftAbi = abiOf("function permit(address spender, uint256 tokenId, uint256 deadline, bytes signature)");
const usdcAbi = abiOf(
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  "function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
);
const permit2Abi = abiOf(
  "struct PermitDetails { address token; uint160 amount; uint48 expiration; uint48 nonce; }",
  "struct PermitSingle { PermitDetails details; address spender; uint256 sigDeadline; }",
  "struct PermitBatch { PermitDetails[] details; address spender; uint256 sigDeadline; }",
  "struct TokenPermissions { address token; uint256 amount; }",
  "struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }",
  "struct PermitBatchTransferFrom { TokenPermissions[] permitted; uint256 nonce; uint256 deadline; }",
  "struct Details { address to; uint256 requestedAmount; }",
  "function permit(address owner, PermitSingle permit, bytes signature)",
  "function permit(address owner, PermitBatch permit, bytes signature)",
  "function transferFrom(address from, address to, uint160 amount, address token)",
  "function permitTransferFrom(PermitTransferFrom permit, Details details, address owner, bytes signature)",
  "function permitTransferFrom(PermitBatchTransferFrom permit, Details[] details, address owner, bytes signature)",
  "function permitWitnessTransferFrom(PermitTransferFrom permit, Details details, address owner, bytes32 witness, string witnessType, bytes signature)",
);
const x402Abi = abiOf(
  "struct TokenPermissions { address token; uint256 amount; }",
  "struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }",
  "struct ExactWitness { address to; uint256 validAfter; }",
  "struct UptoWitness { address to; address facilitator; uint256 validAfter; }",
  "function settle(PermitTransferFrom permit, address owner, ExactWitness witness, bytes signature)",
  "function settle(PermitTransferFrom permit, uint256 amount, address owner, UptoWitness witness, bytes signature)",
);
const executorAbi = abiOf("function execute(address target, uint256 value, bytes data)");
const encode = (of: Abi, functionName: string, ...args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi: of, functionName, args: [...args] });

/** v, r and s of 65 bytes. */
const vrs = (signature: Hex): readonly [v: number, r: Hex, s: Hex] => {
  const { r, s, yParity } = parseSignature(signature);
  return [27 + yParity, r, s];
};
const least = (left: bigint, right: bigint): bigint => (left < right ? left : right);
const word = (random: Dice): bigint => {
  let value = 0n;
  for (let part = 0; part < 8; part++) value = (value << 32n) | BigInt(random.below(2 ** 32));
  return value;
};
/** Between one and a thousand thousandths of what there is, with the edges often. */
const amountOf = (random: Dice, balance: bigint, top = maxUint256): bigint =>
  random.of([
    (balance * BigInt(1 + random.below(999))) / 1_000n,
    (balance * BigInt(1 + random.below(999))) / 1_000n,
    balance,
    balance + 1n + BigInt(random.below(1_000)),
    1n,
    0n,
    top,
  ]);
/** What a transfer can move at most: some of the balance, or all. */
const paymentOf = (random: Dice, balance: bigint): bigint => least(amountOf(random, balance), balance);
/** A second that is far enough for the uses. */
const laterThan = (random: Dice, now: bigint, top = maxUint256): bigint =>
  random.of([now + 600n, now + 3_600n, now + BigInt(600 + random.below(10_000_000)), top]);

const domainFields = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
] as const;
const fieldsOf = (signature: string): ReadonlyArray<{ readonly name: string; readonly type: string }> =>
  signature.split(",").map((field) => {
    const [type = "", name = ""] = field.trim().split(" ");
    return { name, type };
  });
/** The domain of a contract with a version, as the kit's own contracts have it. */
const domainOf = (kit: Kit, { name, version, address }: Omit<PermitToken, "keepsMost">): TypedData["domain"] => ({
  ...{ name, version, chainId: kit.scene.chainId, verifyingContract: address },
});
const typed = (
  domain: TypedData["domain"],
  primaryType: string,
  structs: Readonly<Record<string, string>>,
  message: TypedData["message"],
): TypedData => ({
  domain,
  types: {
    EIP712Domain: domainFields.filter(({ name }) => name !== "version" || domain.version !== undefined),
    ...Object.fromEntries(Object.entries(structs).map(([name, fields]) => [name, fieldsOf(fields)])),
  },
  primaryType,
  message,
});

const balanceOf = (token: { readonly address: Address }, of: Address): Reading => ({
  ...{ kind: "balance", token: token.address, of },
});
const allowanceOf = (token: { readonly address: Address }, owner: Address, spender: Address): Reading => ({
  ...{ kind: "allowance", token: token.address, owner, spender },
});

/** What is expected, as changes of what is read now; a number that is not a change but an end is `{ is }`. */
const expecting = (
  kit: Kit,
  rows: ReadonlyArray<readonly [reading: Reading, change: bigint | { readonly is: bigint }]>,
): Promise<ReadonlyArray<Expected>> =>
  Promise.all(
    rows.map(async ([reading, change]) => {
      const before = await kit.read(reading);
      return { reading, before, after: typeof change === "bigint" ? before + change : change.is };
    }),
  );

/** The code of an account that delegates, as a number. */
const delegatedTo = (address: Address): bigint => BigInt(concatHex(["0xef0100", address]));

/** What is left of an allowance. */
const spent = (token: PermitToken, allowed: bigint, amount: bigint): bigint =>
  allowed === maxUint256 && token.keepsMost ? allowed : allowed - amount;

const permitTokens = (kit: Kit): ReadonlyArray<PermitToken> => Object.values(kit.tokens);
const some = <A>(random: Dice, all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const chosen = all.filter(() => random.below(2) === 0);
  return chosen.length === 0 ? [random.of(all)] : chosen;
};

const erc2612 = (name: string, of: keyof Kit["tokens"]): Row => ({
  name: `ERC-2612 ${name}`,
  checks: of === "usdc" ? "code" : "key",
  message: async (kit, random, { owner, spender, now }) => {
    const token = kit.tokens[of];
    const balance = await kit.read(balanceOf(token, owner.address));
    const value = amountOf(random, balance);
    const taken = least(value, balance);
    const nonce = await kit.call(token.address, "function nonces(address) view returns (uint256)", [owner.address]);
    const deadline = laterThan(random, now);
    const thief = random.address();
    const typedData = typed(
      domainOf(kit, token),
      "Permit",
      { Permit: "address owner,address spender,uint256 value,uint256 nonce,uint256 deadline" },
      { owner: owner.address, spender: spender.address, value, nonce, deadline },
    );
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: kit.stranger,
          to: token.address,
          data: encode(abi, "permit", owner.address, spender.address, value, deadline, ...vrs(signature)),
        },
        { from: spender, to: token.address, data: encode(abi, "transferFrom", owner.address, thief, taken) },
      ],
      expects: await expecting(kit, [
        [balanceOf(token, owner.address), -taken],
        [balanceOf(token, thief), taken],
        [allowanceOf(token, owner.address, spender.address), { is: spent(token, value, taken) }],
      ]),
    };
  },
});

const dai: Row = {
  name: "DAI",
  checks: "key",
  message: async (kit, random, { owner, spender, now }) => {
    const token = kit.tokens.dai;
    const balance = await kit.read(balanceOf(token, owner.address));
    const allowed = random.below(4) !== 0;
    const taken = allowed ? balance : 0n;
    const nonce = await kit.call(token.address, "function nonces(address) view returns (uint256)", [owner.address]);
    const expiry = random.of([0n, laterThan(random, now)]);
    const thief = random.address();
    const typedData = typed(
      domainOf(kit, token),
      "Permit",
      { Permit: "address holder,address spender,uint256 nonce,uint256 expiry,bool allowed" },
      { holder: owner.address, spender: spender.address, nonce, expiry, allowed },
    );
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: kit.stranger,
          to: token.address,
          data: encode(
            daiAbi,
            "permit",
            ...[owner.address, spender.address, nonce, expiry, allowed],
            ...vrs(signature),
          ),
        },
        { from: spender, to: token.address, data: encode(abi, "transferFrom", owner.address, thief, taken) },
      ],
      expects: await expecting(kit, [
        [balanceOf(token, owner.address), -taken],
        [balanceOf(token, thief), taken],
        [allowanceOf(token, owner.address, spender.address), { is: allowed ? maxUint256 : 0n }],
      ]),
    };
  },
};

const erc4494: Row = {
  name: "ERC-4494",
  checks: "either",
  message: async (kit, random, { owner, spender, now }) => {
    const token = kit.nfts.permitted;
    const tokenId = word(random) >> 128n;
    await kit.mintNft("permitted", owner.address, tokenId);
    const nonce = await kit.call(token, "function nonces(uint256) view returns (uint256)", [tokenId]);
    const deadline = laterThan(random, now);
    const thief = random.address();
    const typedData = typed(
      domainOf(kit, { name: "Permitted Pictures", version: "1", address: token }),
      "Permit",
      { Permit: "address spender,uint256 tokenId,uint256 nonce,uint256 deadline" },
      { spender: spender.address, tokenId, nonce, deadline },
    );
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: kit.stranger,
          to: token,
          data: encode(nftAbi, "permit", spender.address, tokenId, deadline, signature),
        },
        { from: spender, to: token, data: encode(abi, "transferFrom", owner.address, thief, tokenId) },
      ],
      expects: await expecting(kit, [
        [{ kind: "holder", token, id: tokenId }, { is: BigInt(thief) }],
        [balanceOf({ address: token }, owner.address), -1n],
        [balanceOf({ address: token }, thief), 1n],
      ]),
    };
  },
};

/** The use of an ERC-3009 message, by whoever may. */
const erc3009Use =
  (kit: Kit, from: PrivateKeyAccount, { primaryType, message }: TypedData): Message["use"] =>
  (signature) => {
    const { from: payer, to, value, validAfter, validBefore, nonce } = message;
    const name = `${primaryType.charAt(0).toLowerCase()}${primaryType.slice(1)}`;
    const args = [payer, to, value, validAfter, validBefore, nonce, ...vrs(signature)];
    return [{ from, to: kit.tokens.usdc.address, data: encode(usdcAbi, name, ...args) }];
  };

const erc3009 = (primaryType: "TransferWithAuthorization" | "ReceiveWithAuthorization"): Row => ({
  name: `ERC-3009 ${primaryType}`,
  checks: "code",
  message: async (kit, random, { owner, spender, now }) => {
    const token = kit.tokens.usdc;
    const value = paymentOf(random, await kit.read(balanceOf(token, owner.address)));
    const to = primaryType === "ReceiveWithAuthorization" ? spender.address : random.address();
    const typedData = typed(
      domainOf(kit, token),
      primaryType,
      {
        [primaryType]: "address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce",
      },
      {
        ...{ from: owner.address, to, value, nonce: numberToHex(word(random), { size: 32 }) },
        ...{ validAfter: random.of([0n, now - 60n]), validBefore: laterThan(random, now) },
      },
    );
    return {
      signing: { typedData },
      signer: owner.address,
      use: erc3009Use(kit, primaryType === "ReceiveWithAuthorization" ? spender : kit.stranger, typedData),
      expects: await expecting(kit, [
        [balanceOf(token, owner.address), -value],
        [balanceOf(token, to), value],
      ]),
    };
  },
});

const permit2Domain = (kit: Kit): TypedData["domain"] => ({
  ...{ name: "Permit2", chainId: kit.scene.chainId, verifyingContract: canonical.permit2 },
});
const permitDetails = "address token,uint160 amount,uint48 expiration,uint48 nonce";
const tokenPermissions = "address token,uint256 amount";

/** A drawn right of Permit2 over a token, and what is taken by it. */
const rightOver = async (kit: Kit, random: Dice, { owner, spender, now }: Parties, token: PermitToken) => {
  const balance = await kit.read(balanceOf(token, owner.address));
  const amount = amountOf(random, balance, maxUint160);
  const packed = await kit.scene.ask("eth_call", [
    {
      to: canonical.permit2,
      data: encode(
        abiOf("function allowance(address, address, address) view returns (uint160, uint48, uint48)"),
        "allowance",
        owner.address,
        token.address,
        spender.address,
      ),
    },
    "latest",
  ]);
  const nonce = Number(BigInt(`0x${String(packed).slice(-64)}`));
  const expiration = Number(laterThan(random, now, 2n ** 48n - 1n));
  return { token, amount, taken: least(amount, balance), details: { token: token.address, amount, expiration, nonce } };
};
type Right = Awaited<ReturnType<typeof rightOver>>;

const rightUses = ({ owner, spender }: Parties, thief: Address, rights: ReadonlyArray<Right>): ReadonlyArray<Use> =>
  rights.map(({ token, taken }) => ({
    from: spender,
    to: canonical.permit2,
    data: encode(permit2Abi, "transferFrom", owner.address, thief, taken, token.address),
  }));
const rightExpects = (kit: Kit, { owner, spender }: Parties, thief: Address, rights: ReadonlyArray<Right>) =>
  expecting(
    kit,
    rights.flatMap(({ token, amount, taken }) => [
      [balanceOf(token, owner.address), -taken] as const,
      [balanceOf(token, thief), taken] as const,
      [
        { kind: "permit2", token: token.address, owner: owner.address, spender: spender.address },
        { is: amount === maxUint160 ? amount : amount - taken },
      ] as const,
    ]),
  );

const permit2Single: Row = {
  name: "Permit2 single",
  checks: "code",
  message: async (kit, random, parties) => {
    const { owner, spender, now } = parties;
    const right = await rightOver(kit, random, parties, random.of(permitTokens(kit)));
    const thief = random.address();
    const message = { details: right.details, spender: spender.address, sigDeadline: laterThan(random, now) };
    const typedData = typed(
      permit2Domain(kit),
      "PermitSingle",
      {
        PermitSingle: "PermitDetails details,address spender,uint256 sigDeadline",
        PermitDetails: permitDetails,
      },
      message,
    );
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: kit.stranger,
          to: canonical.permit2,
          data: encode(permit2Abi, "permit", owner.address, message, signature),
        },
        ...rightUses(parties, thief, [right]),
      ],
      expects: await rightExpects(kit, parties, thief, [right]),
    };
  },
};

const permit2Batch: Row = {
  name: "Permit2 batch",
  checks: "code",
  message: async (kit, random, parties) => {
    const { owner, spender, now } = parties;
    const rights: Array<Right> = [];
    for (const token of some(random, permitTokens(kit))) rights.push(await rightOver(kit, random, parties, token));
    const thief = random.address();
    const message = {
      details: rights.map(({ details }) => details),
      ...{ spender: spender.address, sigDeadline: laterThan(random, now) },
    };
    const typedData = typed(
      permit2Domain(kit),
      "PermitBatch",
      {
        PermitBatch: "PermitDetails[] details,address spender,uint256 sigDeadline",
        PermitDetails: permitDetails,
      },
      message,
    );
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: kit.stranger,
          to: canonical.permit2,
          data: encode(permit2Abi, "permit", owner.address, message, signature),
        },
        ...rightUses(parties, thief, rights),
      ],
      expects: await rightExpects(kit, parties, thief, rights),
    };
  },
};

/** A drawn payment by Permit2: what is permitted may be more than there is. */
const payable = async (kit: Kit, random: Dice, owner: Address, token: PermitToken) => {
  const balance = await kit.read(balanceOf(token, owner));
  const amount = amountOf(random, balance);
  return { token, taken: least(amount, balance), permitted: { token: token.address, amount } };
};
type Payable = Awaited<ReturnType<typeof payable>>;
const paidExpects = (kit: Kit, owner: Address, thief: Address, payables: ReadonlyArray<Payable>) =>
  expecting(
    kit,
    payables.flatMap(({ token, taken }) => [
      [balanceOf(token, owner), -taken] as const,
      [balanceOf(token, thief), taken] as const,
    ]),
  );

const permit2Transfer: Row = {
  name: "Permit2 transfer",
  checks: "code",
  message: async (kit, random, { owner, spender, now }) => {
    const one = await payable(kit, random, owner.address, random.of(permitTokens(kit)));
    const thief = random.address();
    const permit = { permitted: one.permitted, nonce: word(random), deadline: laterThan(random, now) };
    const typedData = typed(
      permit2Domain(kit),
      "PermitTransferFrom",
      {
        PermitTransferFrom: "TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline",
        TokenPermissions: tokenPermissions,
      },
      { ...permit, spender: spender.address },
    );
    const details = { to: thief, requestedAmount: one.taken };
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: spender,
          to: canonical.permit2,
          data: encode(permit2Abi, "permitTransferFrom", permit, details, owner.address, signature),
        },
      ],
      expects: await paidExpects(kit, owner.address, thief, [one]),
    };
  },
};

const permit2BatchTransfer: Row = {
  name: "Permit2 batch transfer",
  checks: "code",
  message: async (kit, random, { owner, spender, now }) => {
    const all: Array<Payable> = [];
    for (const token of some(random, permitTokens(kit))) all.push(await payable(kit, random, owner.address, token));
    const thief = random.address();
    const permit = {
      ...{ permitted: all.map(({ permitted }) => permitted) },
      ...{ nonce: word(random), deadline: laterThan(random, now) },
    };
    const typedData = typed(
      permit2Domain(kit),
      "PermitBatchTransferFrom",
      {
        PermitBatchTransferFrom: "TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline",
        TokenPermissions: tokenPermissions,
      },
      { ...permit, spender: spender.address },
    );
    const details = all.map(({ taken }) => ({ to: thief, requestedAmount: taken }));
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: spender,
          to: canonical.permit2,
          data: encode(permit2Abi, "permitTransferFrom", permit, details, owner.address, signature),
        },
      ],
      expects: await paidExpects(kit, owner.address, thief, all),
    };
  },
};

/** A witness that nobody checks: the spender sends the full amount to whom he wants, whatever it names. */
const permit2Witness: Row = {
  name: "Permit2 witness",
  checks: "code",
  message: async (kit, random, { owner, spender, now }) => {
    const one = await payable(kit, random, owner.address, random.of(permitTokens(kit)));
    const [named, thief] = [random.address(), random.address()];
    const permit = { permitted: one.permitted, nonce: word(random), deadline: laterThan(random, now) };
    const witness = { recipient: named, amount: word(random) };
    const typedData = typed(
      permit2Domain(kit),
      "PermitWitnessTransferFrom",
      {
        PermitWitnessTransferFrom:
          "TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Order witness",
        TokenPermissions: tokenPermissions,
        Order: "address recipient,uint256 amount",
      },
      { ...permit, spender: spender.address, witness },
    );
    const typeHash = keccak256(stringToHex("Order(address recipient,uint256 amount)"));
    const hash = keccak256(
      concatHex([typeHash, numberToHex(BigInt(named), { size: 32 }), numberToHex(witness.amount, { size: 32 })]),
    );
    const witnessType =
      "Order witness)Order(address recipient,uint256 amount)TokenPermissions(address token,uint256 amount)";
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: spender,
          to: canonical.permit2,
          data: encode(
            permit2Abi,
            "permitWitnessTransferFrom",
            permit,
            { to: thief, requestedAmount: one.taken },
            owner.address,
            hash,
            witnessType,
            signature,
          ),
        },
      ],
      expects: await paidExpects(kit, owner.address, thief, [one]),
    };
  },
};

const seaportTypes = {
  OrderComponents:
    "address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter",
  OfferItem: "uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount",
  ConsiderationItem:
    "uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient",
} as const;
const zeroWord = numberToHex(0, { size: 32 });
const nobody: Address = "0x0000000000000000000000000000000000000000";

interface Item {
  readonly itemType: 0 | 1 | 2 | 3;
  readonly token: Address;
  readonly identifierOrCriteria: bigint;
  readonly startAmount: bigint;
  readonly endAmount: bigint;
}
const itemOf = (itemType: Item["itemType"], token: Address, id: bigint, amount: bigint): Item => ({
  ...{ itemType, token, identifierOrCriteria: id, startAmount: amount, endAmount: amount },
});

/** An order of Seaport 1.6: tokens and NFTs for ether and a token, for little, for nothing, or paid to somebody else. */
const seaport: Row = {
  name: "Seaport 1.6 order",
  checks: "either",
  message: async (kit, random, { owner, spender, now }) => {
    const thief = random.address();
    const id = word(random) >> 128n;
    const offer: Array<Item> = [];
    const rows: Array<readonly [Reading, bigint | { readonly is: bigint }]> = [];
    // nobody can give units (ERC-1155) to code that does not say it takes them
    const code = await kit.read({ kind: "code", of: owner.address });
    const takesUnits = [0n, ...[kit.delegates.simple, kit.delegates.metamask].map(delegatedTo)].includes(code);
    const offered = some(random, ["token", "nft", ...(takesUnits ? (["units"] as const) : [])] as const);
    // a token that is asked for is never offered as well: the changes would be sums
    const { solmate: asked, ...others } = kit.tokens;
    for (const kind of offered) {
      if (kind === "token") {
        const token = random.of(Object.values(others));
        const amount = paymentOf(random, await kit.read(balanceOf(token, owner.address))) || 1n;
        offer.push(itemOf(1, token.address, 0n, amount));
        rows.push([balanceOf(token, owner.address), -amount], [balanceOf(token, thief), amount]);
      } else if (kind === "nft") {
        const token = kit.nfts.plain;
        await kit.mintNft("plain", owner.address, id);
        offer.push(itemOf(2, token, id, 1n));
        rows.push([{ kind: "holder", token, id }, { is: BigInt(thief) }]);
      } else {
        const [token, amount] = [kit.nfts.units, BigInt(1 + random.below(50))];
        await kit.mintNft("units", owner.address, id, amount + 7n);
        offer.push(itemOf(3, token, id, amount));
        rows.push([{ kind: "units", token, id, of: owner.address }, -amount]);
        rows.push([{ kind: "units", token, id, of: thief }, amount]);
      }
    }
    const ether = random.of([0n, 1n, 10n ** 15n + BigInt(random.below(10 ** 9))]);
    const units = random.of([0n, 1n, 10n ** 18n + BigInt(random.below(10 ** 9))]);
    const payee = random.of([owner.address, owner.address, spender.address]);
    const consideration = [
      ...(ether === 0n ? [] : [{ ...itemOf(0, nobody, 0n, ether), recipient: payee }]),
      ...(units === 0n ? [] : [{ ...itemOf(1, asked.address, 0n, units), recipient: payee }]),
    ];
    if (ether > 0n) rows.push([{ kind: "native", of: payee }, ether]);
    if (units > 0n) rows.push([balanceOf(asked, payee), units]);
    const counter = await kit.call(canonical.seaport, "function getCounter(address) view returns (uint256)", [
      owner.address,
    ]);
    const components = {
      ...{ offerer: owner.address, zone: nobody, offer, consideration, orderType: random.of([0, 1]) },
      ...{ startTime: random.of([0n, now - 60n]), endTime: laterThan(random, now) },
      ...{ zoneHash: zeroWord, salt: word(random), conduitKey: random.of([zeroWord, kit.conduit.key]) },
    };
    const typedData = typed(
      { name: "Seaport", version: "1.6", chainId: kit.scene.chainId, verifyingContract: canonical.seaport },
      "OrderComponents",
      seaportTypes,
      { ...components, counter },
    );
    const parameters = { ...components, totalOriginalConsiderationItems: BigInt(consideration.length) };
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: kit.stranger,
          to: canonical.seaport,
          value: ether,
          data: encode(
            seaportPart("seaport/contracts/Seaport.sol/Seaport").abi,
            "fulfillAdvancedOrder",
            { parameters, numerator: 1n, denominator: 1n, signature, extraData: "0x" },
            [],
            zeroWord,
            thief,
          ),
        },
      ],
      expects: await expecting(kit, rows),
    };
  },
};

/** The typed data that x402's client has signed for these requirements. */
const x402Message = async (
  kit: Kit,
  scheme: "exact" | "upto",
  signer: Address,
  requirements: Readonly<Record<string, unknown>>,
): Promise<TypedData> => {
  const asked: Array<TypedData> = [];
  const client = await x402Client(scheme, {
    address: signer,
    signTypedData: (typedData) => {
      asked.push(typedData);
      return Promise.resolve(concatHex([numberToHex(1, { size: 32 }), numberToHex(1, { size: 32 }), "0x1b"]));
    },
  });
  const network = `eip155:${kit.scene.chainId}`;
  await client.createPaymentPayload(2, { scheme, network, maxTimeoutSeconds: 3_600, ...requirements });
  const [typedData] = asked;
  if (typedData === undefined || asked.length > 1) throw new Error(`${asked.length} messages of x402 instead of one`);
  return typedData;
};

const x402Exact: Row = {
  name: "x402 exact",
  checks: "code",
  message: async (kit, random, { owner, spender }) => {
    const token = kit.tokens.usdc;
    const value = paymentOf(random, await kit.read(balanceOf(token, owner.address)));
    const payTo = random.address();
    const typedData = await x402Message(kit, "exact", owner.address, {
      ...{ asset: token.address, amount: String(value), payTo },
      extra: { name: token.name, version: token.version },
    });
    return {
      signing: { typedData },
      signer: owner.address,
      use: erc3009Use(kit, spender, typedData),
      expects: await expecting(kit, [
        [balanceOf(token, owner.address), -value],
        [balanceOf(token, payTo), value],
      ]),
    };
  },
};

/** Payments of x402 by Permit2; the spender of the parties is the facilitator. */
const x402Permit2 = (scheme: "exact" | "upto"): Row => ({
  name: scheme === "upto" ? "x402 upto" : "x402 exact by Permit2",
  checks: "code",
  message: async (kit, random, { owner, spender }) => {
    const token = random.of(permitTokens(kit));
    const value = paymentOf(random, await kit.read(balanceOf(token, owner.address)));
    const payTo = random.address();
    const typedData = await x402Message(kit, scheme, owner.address, {
      ...{ asset: token.address, amount: String(value), payTo },
      extra: scheme === "upto" ? { facilitatorAddress: spender.address } : { assetTransferMethod: "permit2" },
    });
    const { permitted, nonce, deadline, witness } = typedData.message as {
      readonly permitted: { readonly token: Address; readonly amount: bigint };
      readonly nonce: bigint;
      readonly deadline: bigint;
      readonly witness: { readonly to: Address; readonly facilitator: Address; readonly validAfter: bigint };
    };
    const permit = { permitted, nonce, deadline };
    return {
      signing: { typedData },
      signer: owner.address,
      use: (signature) => [
        {
          from: scheme === "upto" ? spender : kit.stranger,
          to: scheme === "upto" ? canonical.x402Upto : canonical.x402Exact,
          data:
            scheme === "upto"
              ? encode(x402Abi, "settle", permit, value, owner.address, witness, signature)
              : encode(x402Abi, "settle", permit, owner.address, witness, signature),
        },
      ],
      expects: await paidExpects(kit, owner.address, payTo, [{ token, taken: value, permitted }]),
    };
  },
});

/** An authorisation (EIP-7702): honest accounts, one that anyone commands, and one that sends everything on. */
const authorization: Row = {
  name: "EIP-7702 authorisation",
  checks: "none",
  message: async (kit, random, { owner }) => {
    const name = random.of<DelegateName>(["simple", "metamask", "bare", "open", "open", "sweeping", "sweeping"]);
    const address = kit.delegates[name];
    const signing = {
      ...{ address, chainId: random.of([kit.scene.chainId, 0]), nonce: await kit.scene.count(owner.address) },
    };
    const balance = await kit.read({ kind: "native", of: owner.address });
    const thief = name === "sweeping" ? kit.thief : random.address();
    const taken = name === "open" || name === "sweeping" ? balance + 1n : 0n;
    return {
      signing: { authorization: signing },
      signer: owner.address,
      use: (signature) => {
        const { r, s, yParity } = parseSignature(signature);
        const signed: SignedAuthorization = { ...signing, r, s, yParity };
        return [
          { from: kit.stranger, to: owner.address, data: "0x", value: 1n, authorizationList: [signed] },
          ...(name === "open"
            ? [
                {
                  from: kit.stranger,
                  to: owner.address,
                  data: encode(executorAbi, "execute", thief, taken, "0x"),
                },
              ]
            : []),
        ];
      },
      expects: await expecting(kit, [
        [{ kind: "code", of: owner.address }, { is: delegatedTo(address) }],
        [{ kind: "native", of: thief }, taken],
        [{ kind: "native", of: owner.address }, 1n - taken],
      ]),
    };
  },
};

const signIn: Row = {
  name: "ERC-4361",
  checks: "none",
  message: (kit, random, { owner, now }) => {
    const domain = random.of(["shop.example", "shop.example:8443", "localhost:3000"]);
    const issuedAt = new Date(Number(now) * 1_000);
    const message = createSiweMessage({
      ...{ address: owner.address, chainId: kit.scene.chainId, domain, version: "1", issuedAt },
      ...{ nonce: word(random).toString(36).slice(0, 12).padEnd(12, "x"), uri: `https://${domain}/login` },
      ...(random.below(2) === 0 ? {} : { statement: "Sign in to the shop." }),
      ...(random.below(2) === 0 ? {} : { expirationTime: new Date(Number(now) * 1_000 + 600_000) }),
    });
    return Promise.resolve({ signing: { message }, signer: owner.address, use: () => [], expects: [] });
  },
};

export const rows: ReadonlyArray<Row> = [
  erc2612("Uniswap V2", "v2"),
  erc2612("OpenZeppelin", "opened"),
  erc2612("solmate", "solmate"),
  erc2612("USDC 2.2", "usdc"),
  dai,
  erc4494,
  erc3009("TransferWithAuthorization"),
  erc3009("ReceiveWithAuthorization"),
  permit2Single,
  permit2Batch,
  permit2Transfer,
  permit2BatchTransfer,
  permit2Witness,
  seaport,
  x402Exact,
  x402Permit2("exact"),
  x402Permit2("upto"),
  authorization,
  signIn,
];

/** Signed by the key, as viem does. */
export const sign = async (key: PrivateKeyAccount, signing: Signing): Promise<Hex> => {
  if ("typedData" in signing) return key.signTypedData(signing.typedData as never);
  if ("message" in signing) return key.signMessage({ message: signing.message });
  const { r, s, yParity } = await key.signAuthorization(signing.authorization);
  return concatHex([r, s, numberToHex(27 + (yParity ?? 0), { size: 1 })]);
};

/** Another value of the same type. */
const otherThan = (value: unknown): unknown => {
  if (typeof value === "bigint") return value ^ 1n;
  if (typeof value === "number") return value ^ 1;
  if (typeof value === "boolean") return !value;
  const text = String(value);
  if (!text.startsWith("0x")) return `${text}.`;
  const last = text.slice(-2);
  return `${text.slice(0, -2).toLowerCase()}${(parseInt(last, 16) ^ 1).toString(16).padStart(2, "0")}`;
};

/** Every way to change one value of `tree`, with the path to it; of a list also to leave an element out. */
const changesOf = (tree: unknown, path = ""): ReadonlyArray<readonly [path: string, changed: unknown]> => {
  if (Array.isArray(tree)) {
    const list: ReadonlyArray<unknown> = tree;
    return list.flatMap((element, index) => [
      [`${path}[${index}] left out`, list.filter((_, at) => at !== index)] as const,
      ...changesOf(element, `${path}[${index}]`).map(([at, changed]) => [at, list.with(index, changed)] as const),
    ]);
  }
  if (typeof tree !== "object" || tree === null) return [[path, otherThan(tree)]];
  return Object.entries(tree).flatMap(([name, value]) =>
    changesOf(value, path === "" ? name : `${path}.${name}`).map(
      ([at, changed]) => [at, { ...tree, [name]: changed }] as const,
    ),
  );
};

/** The same with one field changed, for each field: of typed data also the domain's. */
export const mutationsOf = (signing: Signing): ReadonlyArray<readonly [field: string, mutated: Signing]> => {
  if ("message" in signing) return [["text", { message: `${signing.message}.` }]];
  if ("authorization" in signing)
    return changesOf(signing.authorization).map(([field, changed]) => [
      field,
      { authorization: changed as typeof signing.authorization },
    ]);
  const { typedData } = signing;
  return [
    ...changesOf(typedData.message).map(
      ([field, message]) => [field, { typedData: { ...typedData, message: message as TypedData["message"] } }] as const,
    ),
    ...changesOf(typedData.domain).map(
      ([field, domain]) =>
        [`domain.${field}`, { typedData: { ...typedData, domain: domain as TypedData["domain"] } }] as const,
    ),
  ];
};
