/**
 * Rights out of calldata: approvals and signed permits that a token may keep silent about. Pure and total.
 *
 * Recognised: ERC-20 approve, increase and decrease (both spellings), setApprovalForAll, EIP-2612 permits,
 * DAI permits, Uniswap's selfPermit family, Permit2 approve and permit (single and batch), operators and
 * approvals of ERC-6909, operators of ERC-777, Aave's credit delegation, Morpho's authorisation, Comet's
 * managers, CryptoPunks' offers, directly or inside the usual batches (Multicall, Multicall3, Safe, ERC-7579-like execute).
 */
import { parseAbiParameters } from "abitype";
import { decodeAbiParameters } from "viem";
import type { Address, Hex } from "../../primitives/hex.js";
import { safely } from "../../primitives/safely.js";
import { addressOf, nobody, type Right } from "./approvalLogs.js";

/** One call, from outside or from within a batch. */
export interface Call {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
}

const maxUint256 = 2n ** 256n - 1n;
/** Batches within batches are read this deep, and this many calls in all. */
const mostDepth = 3;
const mostCalls = 256;

const wordAt = (data: Hex, index: number): bigint | null => {
  const word = data.slice(10 + index * 64, 74 + index * 64);
  return word.length === 64 ? BigInt(`0x${word}`) : null;
};

type Given = Pick<Right, "token" | "owner" | "spender" | "said"> & Partial<Right>;

const right = (given: Given): Right => ({
  standard: "erc20",
  tokenId: null,
  operator: false,
  keeper: given.token,
  open: null,
  expiration: null,
  source: "call",
  transaction: 0,
  ...given,
});

const permit2 = (
  keeper: Address,
  token: bigint,
  owner: Address,
  spender: bigint,
  said: bigint,
  expiration: bigint,
): Right => {
  const parties = { token: addressOf(token), owner, spender: addressOf(spender) };
  return right({ standard: "permit2", keeper, ...parties, said, expiration });
};

const permitBatch = ({ to, data }: Call, owner: bigint, offset: bigint): ReadonlyArray<Right> => {
  // offsets count from the start of the arguments, in bytes
  const start = Number(offset / 32n);
  const [details, spender] = [wordAt(data, start), wordAt(data, start + 1)];
  if (offset > 1_000_000n || details === null || details > 1_000_000n || spender === null) return [];
  const list = start + Number(details / 32n);
  const length = Number(wordAt(data, list) ?? 0n);
  return Array.from({ length: Math.min(length, mostCalls) }, (_, index) => list + 1 + index * 4).flatMap((at) => {
    const [token, amount, expiration] = [wordAt(data, at), wordAt(data, at + 1), wordAt(data, at + 2)];
    return token === null || amount === null || expiration === null
      ? []
      : [permit2(to, token, addressOf(owner), spender, amount, expiration)];
  });
};

/** What one call says that it grants, by its selector. */
const grantsOf = (call: Call): ReadonlyArray<Right> => {
  const { from, to, data } = call;
  const [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map((index) => wordAt(data, index));
  if (a == null) return [];
  const mine = { token: to, owner: from, spender: addressOf(a) };
  const operator = { ...mine, operator: true, said: b === 0n ? 0n : 1n } as const;
  switch (data.slice(0, 10)) {
    case "0x959b8c3f": // ERC-777 authorizeOperator(address)
      return [right({ ...operator, standard: "erc777", said: 1n })];
    case "0xfad8b32a": // ERC-777 revokeOperator(address)
      return [right({ ...operator, standard: "erc777", said: 0n })];
  }
  if (b == null) return [];
  switch (data.slice(0, 10)) {
    case "0x095ea7b3": // approve(address,uint256): an amount, or the id of an NFT
      return [right({ ...mine, said: b, open: b })];
    case "0x39509351": // increaseAllowance(address,uint256)
    case "0xd73dd623": // increaseApproval(address,uint256)
      return [right({ ...mine, said: b })];
    case "0xa457c2d7": // decreaseAllowance(address,uint256)
    case "0x66188463": // decreaseApproval(address,uint256)
      return [right({ ...mine, said: 0n })];
    case "0xa22cb465": // setApprovalForAll(address,bool)
      return [right({ ...operator, standard: "erc721" })];
    case "0x558a7297": // ERC-6909 setOperator(address,bool)
      return [right({ ...operator, standard: "erc6909" })];
    case "0x426a8493": // ERC-6909 approve(address,uint256,uint256)
      return c == null ? [] : [right({ ...mine, standard: "erc6909", tokenId: b, said: c })];
    case "0xc04a8a10": // Aave approveDelegation(address,uint256)
      return [right({ ...mine, standard: "aaveDebt", said: b })];
    case "0x0b52d558": // Aave delegationWithSig(delegator,delegatee,value,deadline,v,r,s)
      return c == null
        ? []
        : [right({ ...mine, standard: "aaveDebt", owner: addressOf(a), spender: addressOf(b), said: c })];
    case "0xeecea000": // Morpho setAuthorization(address,bool)
      return [right({ ...operator, standard: "morpho" })];
    case "0x8069218f": // Morpho setAuthorizationWithSig((authorizer,authorized,isAuthorized,nonce,deadline),signature)
      return c == null
        ? []
        : [
            right({
              ...operator,
              standard: "morpho",
              owner: addressOf(a),
              spender: addressOf(b),
              said: c === 0n ? 0n : 1n,
            }),
          ];
    case "0x110496e5": // Comet allow(manager,isAllowed)
      return [right({ ...mine, said: b === 0n ? 0n : maxUint256 })];
    case "0xbf31196f": // CryptoPunks offerPunkForSaleToAddress(index,least,to)
      return c == null
        ? []
        : [right({ ...mine, standard: "cryptopunks", tokenId: a, spender: addressOf(c), said: 1n })];
    case "0xc44193c3": // CryptoPunks offerPunkForSale(index,least): to anybody
      return [right({ ...mine, standard: "cryptopunks", tokenId: a, spender: nobody, said: 1n })];
    case "0xd505accf": // EIP-2612 permit(owner,spender,value,deadline,v,r,s)
    case "0x9fd5a6cf": // permit(owner,spender,value,deadline,signature)
      return c == null ? [] : [right({ token: to, owner: addressOf(a), spender: addressOf(b), said: c })];
    case "0x8fcbaf0c": // DAI permit(holder,spender,nonce,expiry,allowed,v,r,s)
      return e == null
        ? []
        : [right({ token: to, owner: addressOf(a), spender: addressOf(b), said: e === 0n ? 0n : maxUint256 })];
    case "0xf3995c67": // selfPermit(token,value,deadline,v,r,s)
    case "0xc2e3140a": // selfPermitIfNecessary
      return [right({ token: addressOf(a), owner: from, spender: to, said: b })];
    case "0x4659a494": // selfPermitAllowed(token,nonce,expiry,v,r,s)
    case "0xa4a78f0c": // selfPermitAllowedIfNecessary
      return [right({ token: addressOf(a), owner: from, spender: to, said: maxUint256 })];
    case "0x87517c45": // Permit2 approve(token,spender,amount,expiration)
      return c == null || d == null ? [] : [permit2(to, a, from, b, c, d)];
    case "0x2b67b570": // Permit2 permit(owner,((token,amount,expiration,nonce),spender,sigDeadline),signature)
      return c == null || d == null || f == null ? [] : [permit2(to, b, addressOf(a), f, c, d)];
    case "0x2a2d80d1": // Permit2 permit(owner,((token,amount,expiration,nonce)[],spender,sigDeadline),signature)
      return permitBatch(call, a, b);
    default:
      return [];
  }
};

/** Batches by selector: the parameters, and whether the inner calls keep target and sender (`self`). */
const batches: Readonly<Record<string, { readonly parameters: string; readonly self: boolean }>> = {
  // multicall(bytes[]), multicall(uint256,bytes[]), multicall(bytes32,bytes[])
  "0xac9650d8": { parameters: "bytes[]", self: true },
  "0x5ae401dc": { parameters: "uint256, bytes[]", self: true },
  "0x1f0464d1": { parameters: "bytes32, bytes[]", self: true },
  // Multicall3 aggregate3, aggregate3Value; Multicall aggregate
  "0x82ad56cb": { parameters: "(address to, bool mayFail, bytes data)[]", self: false },
  "0x174dea71": { parameters: "(address to, bool mayFail, uint256 value, bytes data)[]", self: false },
  "0x252dba42": { parameters: "(address to, bytes data)[]", self: false },
  // execute((address,uint256,bytes)[]), executeBatch of the same
  "0x3f707e6b": { parameters: "(address to, uint256 value, bytes data)[]", self: false },
  "0x34fcd5be": { parameters: "(address to, uint256 value, bytes data)[]", self: false },
  // execute(address,uint256,bytes); Safe execTransaction
  "0xb61d27f6": { parameters: "address, uint256, bytes", self: false },
  "0x6a761202": { parameters: "address, uint256, bytes", self: false },
};

const hexIn = (value: unknown): Hex | null =>
  typeof value === "string" && value.startsWith("0x") ? (value.toLowerCase() as Hex) : null;

const innerCalls = ({ from, to, data }: Call): ReadonlyArray<Call> => {
  const batch = batches[data.slice(0, 10)];
  if (batch === undefined) return [];
  // why: viem throws on bytes that do not fit
  const values = safely(
    (): ReadonlyArray<unknown> => decodeAbiParameters(parseAbiParameters(batch.parameters), `0x${data.slice(10)}`),
    null,
  );
  if (values === null) return [];
  const list = values.find((value): value is ReadonlyArray<unknown> => Array.isArray(value));
  if (list === undefined) {
    const [target, bytes] = [hexIn(values[0]), hexIn(values[2])];
    return target === null || bytes === null ? [] : [{ from: to, to: target as string as Address, data: bytes }];
  }
  return list.slice(0, mostCalls).flatMap((entry): ReadonlyArray<Call> => {
    if (batch.self) {
      const bytes = hexIn(entry);
      return bytes === null ? [] : [{ from, to, data: bytes }];
    }
    if (typeof entry !== "object" || entry === null || !("to" in entry) || !("data" in entry)) return [];
    const [target, bytes] = [hexIn(entry.to), hexIn(entry.data)];
    return target === null || bytes === null ? [] : [{ from: to, to: target as string as Address, data: bytes }];
  });
};

/** The call and, where it is a batch, the calls within it. */
export const callsIn = (call: Call): ReadonlyArray<Call> => {
  const all: Array<Call> = [];
  const visit = (one: Call, depth: number): void => {
    if (all.length >= mostCalls) return;
    all.push(one);
    if (depth < mostDepth) for (const inner of innerCalls(one)) visit(inner, depth + 1);
  };
  visit(call, 0);
  return all;
};

/** The rights that a call asks for, as its calldata says. */
export const rightsAsked = (call: Call, transaction: number): ReadonlyArray<Right> =>
  callsIn(call).flatMap((one) => grantsOf(one).map((granted) => ({ ...granted, transaction })));

/** More than any amount is likely to be, less than nearly all addresses: what tells the two apart in a word. */
const leastAddress = 2n ** 128n;

/** Addresses among a call's arguments, its batches' calls and their arguments included, at most `limit`. */
export const addressesIn = (call: Call, limit: number): ReadonlyArray<Address> => {
  const found = new Set<Address>();
  for (const { to, data } of callsIn(call)) {
    found.add(to);
    for (let at = 10; at + 64 <= data.length && found.size < limit; at += 64) {
      if (!data.startsWith("0".repeat(24), at)) continue;
      const value = BigInt(`0x${data.slice(at, at + 64)}`);
      if (value >= leastAddress) found.add(addressOf(value));
    }
    if (found.size >= limit) break;
  }
  return [...found].slice(0, limit);
};
