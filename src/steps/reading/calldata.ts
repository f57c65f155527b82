/**
 * Rights out of calldata: approvals and signed permits that a token may keep silent about. Pure and total.
 *
 * Recognised: ERC-20 approve, increase and decrease (both spellings), setApprovalForAll, EIP-2612 permits,
 * DAI permits, Uniswap's selfPermit family, Permit2 approve and permit (single and batch), operators and
 * approvals of ERC-6909, operators of ERC-777, Aave's credit delegation, Morpho's authorisation, Comet's
 * managers, CryptoPunks' offers.
 */
import type { Address, Hex } from "../../primitives/hex.js";
import { addressOf, nobody, type Right } from "./approvalLogs.js";
import type { Call } from "../../abi/batches.js";

const maxUint256 = 2n ** 256n - 1n;
/** How many grants of one Permit2 batch are read. */
const mostGrants = 256;

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
  return Array.from({ length: Math.min(length, mostGrants) }, (_, index) => list + 1 + index * 4).flatMap((at) => {
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

/** Permits, EIP-2612's, DAI's and Permit2's, and Uniswap's selfPermit family: anybody may have used one before. */
const permits: ReadonlySet<string> = new Set([
  ...["0xd505accf", "0x9fd5a6cf", "0x8fcbaf0c", "0x2b67b570", "0x2a2d80d1"],
  ...["0xf3995c67", "0xc2e3140a", "0x4659a494", "0xa4a78f0c"],
]);

/** Whether calldata is a signed permit. */
export const isPermit = (data: Hex): boolean => permits.has(data.slice(0, 10).toLowerCase());

/** The rights that calls ask for, as their calldata says. */
export const rightsAsked = (calls: ReadonlyArray<Call>, transaction: number): ReadonlyArray<Right> =>
  calls.flatMap((one) => grantsOf(one).map((granted) => ({ ...granted, transaction })));

/** More than any amount is likely to be, less than nearly all addresses: what tells the two apart in a word. */
const leastAddress = 2n ** 128n;

/** Whom calls call, and the addresses among their arguments, at most `limit`. */
export const addressesIn = (calls: ReadonlyArray<Call>, limit: number): ReadonlyArray<Address> => {
  const found = new Set<Address>();
  for (const { to, data } of calls) {
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
