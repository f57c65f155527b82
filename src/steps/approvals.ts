/**
 * Rights that accounts get over assets: ERC-20 allowances, operators, single NFT approvals, Permit2.
 *
 * Rights are found in the simulated logs and in the calldata, and measured before and after in the same
 * simulated block: events alone miss tokens that stay silent, and say nothing of what was there before.
 */
import { nobody } from "../abi/words.js";
import { effectsIn } from "../effects/effects.js";
import type { Standards } from "../effects/movements.js";
import { settleRight, type Right } from "../effects/rights.js";
import { type Address, type Hex, lower } from "../primitives/hex.js";
import { address, count, hash, text, units } from "../primitives/statement.js";
import { code, type Finding } from "../report/finding.js";
import type { Approval } from "../report/parts.js";
import { readUint256, type WitnessAnswer } from "../witness/answers.js";
import { totalSupply } from "../witness/queries.js";
import type { Facts } from "./reading/answers.js";
import { ownAccounts, workedIn, type Case, type Ran } from "./reading/bundle.js";
import { checkControl, controlAccounts, checkDelegations, delegationAccounts } from "./reading/control.js";
import { delegateCallAccounts, calledAsSafes } from "./reading/delegateCalls.js";
import { keyOf } from "./reading/rights.js";
import { lasting, levelIn, queryOf } from "./reading/rightLevel.js";
import { codeIn, mayBorrow, type Sights } from "./reading/runCode.js";
import { checkUnexplained } from "./reading/unexplained.js";
import { narrowMaximum } from "../abi/known/rights.js";

/** From here on an allowance counts as unlimited, whatever its token says of its supply. */
const unlimitedFrom = 2n ** 128n;

const spenderKind = (before: WitnessAnswer<"account"> | null, after: WitnessAnswer<"account"> | null) => {
  if (after === null) return "unknown";
  if (after.codeSize === 0n) return "eoa";
  if (after.codePrefix.toLowerCase().startsWith("0xef0100")) return "delegated";
  return before?.codeSize === 0n ? "created" : "contract";
};

/** True if an amount covers all that there is of a token with this `supply`; null = the supply is not known. */
const isAllOf = (amount: bigint, supply: bigint | null): boolean => {
  // why: a supply of nothing is what a fallback answers, or a token that does not count it
  if (supply === null || supply === 0n) return amount >= narrowMaximum;
  return amount >= (supply < unlimitedFrom ? supply : unlimitedFrom);
};

const supplyOf = (token: Address, { before, after }: Sights): bigint | null =>
  readUint256(after.call(totalSupply(token))) ?? readUint256(before.call(totalSupply(token)));

const isUnlimited = (right: Right, amount: bigint, sights: Sights): boolean => {
  if (right.operator) return amount === 1n;
  if (right.standard === "erc6909" || right.standard === "aaveDebt") return amount >= narrowMaximum;
  if (right.tokenId !== null || amount === 0n) return false;
  return isAllOf(amount, supplyOf(right.token, sights)) || (right.standard === "erc20" && amount === narrowMaximum);
};

const isMore = (a: bigint | null, b: bigint | null): boolean => a !== null && b !== null && a > b;

const approvalOf = (wanting: Right, sights: Sights): Approval | null => {
  const { before } = sights;
  // why: a scan may read the time in front of the calls alone, and it is that of the same block
  const after = { ...sights.after, environment: sights.after.environment ?? before.environment };
  const [had, has] = [levelIn(before, wanting), levelIn(after, wanting)];
  const isTakenBack = wanting.standard === "erc721" && wanting.tokenId !== null && wanting.spender === nobody;
  const holder = had.approved ?? nobody;
  // why: an NFT's approval is taken back by approving nobody; what changes is the right of whoever had it
  if (isTakenBack && holder === nobody) return null;
  const { standard, token, owner, spender, tokenId, ...right } = isTakenBack
    ? { ...wanting, spender: holder }
    : wanting;
  const amount = isTakenBack ? 0n : (has.amount ?? lasting(right.claim, right.expiration, after));
  const isMeasured = (isTakenBack ? has.approved : has.amount) !== null;
  return {
    ...{ standard, token, owner, spender, tokenId },
    before: isTakenBack ? 1n : had.amount,
    after: amount,
    expiration: has.expiration ?? right.expiration,
    extended: isMore(had.amount, 0n) && isMore(has.expiration, had.expiration),
    unlimited: isUnlimited(wanting, amount, sights),
    spenderKind: spenderKind(before.account(spender), after.account(spender)),
    transaction: right.transaction,
    evidence: isMeasured ? "measured" : right.seen === "log" ? "logged" : "estimated",
  };
};

/** The approvals of one run, measured where the witness could. */
export const read = (rights: ReadonlyArray<Right>, answers: Sights & { readonly standards: Standards }) => {
  const all = rights.map((right) => settleRight(right, answers.standards));
  const settled = new Map(all.map((right) => [keyOf(right), right]));
  return [...settled.values()].flatMap((right) => {
    const approval = approvalOf(right, answers);
    // why: what only the calldata says, of a contract that answers nothing like an allowance, is no approval
    const query = queryOf(right);
    const isRefused = approval?.evidence === "estimated" && query !== null && answers.before.call(query) !== null;
    if (approval === null || isRefused) return [];
    const isUntouched =
      approval.evidence !== "measured" ||
      approval.before === null ||
      (approval.before === approval.after && !approval.extended);
    // why: which Permit2 a router calls its plan does not say
    return (right.seen === "nowhere" || right.isMeans === true) && isUntouched ? [] : [approval];
  });
};

const partiesOf = ({ owner, spender }: Pick<Right, "owner" | "spender">): string => `${owner}/${spender}`;

/** True if a transaction does nothing but give or take a right. */
const isGrant = (entry: Case): boolean => effectsIn([entry], "call")[0]?.row.grant !== undefined;

/** The grants, by their parties, that the bundle is asked for: nothing comes behind them that could use them. */
const purposesOf = (bundle: ReadonlyArray<Case>): ReadonlySet<string> => {
  const last = bundle.findLastIndex((entry) => !isGrant(entry));
  return new Set(
    effectsIn(bundle.slice(bundle.length > 1 ? last + 1 : 0), "request")
      .filter(({ isMeans }) => isMeans !== true)
      .map(partiesOf),
  );
};

const spenderWarnings: Partial<Readonly<Record<Approval["spenderKind"], string>>> = {
  eoa: "an account without code",
  delegated: "a delegated account",
  created: "a contract that this bundle creates",
};

const isOperator = ({ standard, tokenId }: Approval): boolean =>
  tokenId === null && standard !== "erc20" && standard !== "permit2" && standard !== "aaveDebt";

/**
 * It lets somebody move tokens, up to a limit.
 * @figures address("token", usdc), address("of", alice), address("to", pool), units("amount", 25_000_000n)
 * @warning where the spender is no contract that was there before
 */
export const ApprovalGranted = code("approvals", ["info", "warning"], "ApprovalGranted", [
  "an approval is given",
  "check that the spender is the contract you mean",
]);

/**
 * The rest can be taken later.
 * @figures address("token", usdc), address("of", alice), address("to", pool), units("amount", 5_000_000n)
 */
export const ApprovalLeftOver = code("approvals", ["warning"], "ApprovalLeftOver", [
  "an approval made along the way remains at the end",
  "approve exactly what is spent, or revoke the rest in the same bundle",
]);

/**
 * The spender can take the whole balance of this token, now and later.
 * @figures address("token", usdc), address("of", alice), address("to", pool)
 */
export const ApprovalUnlimited = code("approvals", ["warning"], "ApprovalUnlimited", [
  "an unlimited approval is given",
  "approve only what is needed, unless you trust the spender with all of these tokens",
]);

/** Reports a right that grows, in one finding; nothing for one that shrinks. */
const say = (approval: Approval, senders: ReadonlySet<Address>, purposes: ReadonlySet<string>) => {
  const { after, before, extended, unlimited, token, tokenId, owner, spender } = approval;
  if (after === null || after === 0n || (before !== null && after <= before && !extended)) return [];
  const exposed = senders.has(spender) ? undefined : spenderWarnings[approval.spenderKind];
  const over = [
    address("token", token),
    count("id", tokenId),
    isOperator(approval) ? text("", "all of it") : null,
    address("of", owner),
    address("to", spender),
    text("", exposed ?? null),
  ];
  const isLeft = !purposes.has(partiesOf(approval));
  if (unlimited)
    return [ApprovalUnlimited.warning(approval, ...over, text("", isLeft ? "left over at the end" : null))];
  const all = [...over, units("amount", after)];
  if (isLeft) return [ApprovalLeftOver.warning(approval, ...all)];
  return [ApprovalGranted[exposed === undefined ? "info" : "warning"](approval, ...all)];
};

/**
 * They are nested too deep, too many, or not encoded as usual, and approvals in the rest are not shown. Or a function
 * such as `execute(address,bytes)` is called, which makes a call in some contracts and runs the called code as its own
 * (DELEGATECALL) in others: a warning where the contract's code can only make calls.
 * @figures count("calls read", 512)
 * @unavailable where calls were not looked at, or may run other code in a contract's place
 */
export const CalldataCut = code("approvals", ["warning", "unavailable"], "CalldataCut", [
  "not all calls in the calldata were read",
  "send fewer calls at once, or sign only if you know what all of them do",
]);

/**
 * Calldata of which not all is known: what calls that were not read ask for, and whether a call that was read is made, or
 * runs other code in the contract's place. The second is a warning where the contract's code can only make calls.
 */
export const checkCalls = (bundle: ReadonlyArray<Case>, facts: Pick<Facts, "codes" | "before" | "after">) =>
  bundle.flatMap(({ index: transaction, calls: { read, either, isCut, isUnread } }) => {
    const where = { transaction, evidence: "measured" } as const;
    const cut = CalldataCut[isUnread ? "unavailable" : "warning"](where, count("calls read", read.length));
    const unclear = [...new Set(either.map(({ to }) => lower(to)))].map((account) => {
      const held = codeIn(account, facts);
      const severity = held === null || held.length === 2 || mayBorrow(held) ? "unavailable" : "warning";
      const unread = text("not read", "whether it makes the call, or runs the called code as its own");
      return CalldataCut[severity](where, address("contract", account), unread);
    });
    return isCut ? [cut, ...unclear] : unclear;
  });

/** Takes requests to merge one validator's stake into another's (EIP-7251): the keys of both, 48 bytes each. */
const consolidations = "0x0000bbddc7ce488642fb579f8b00f3a590007251";
const keyDigits = 96;

/** The validator that gets another's stake by a call; null = none. Whose it is no contract knows. */
const mergedInto = (to: Address, data: Hex): string | null => {
  const [source, target] = [data.slice(2, 2 + keyDigits), data.slice(2 + keyDigits)];
  return lower(to) === consolidations && target.length === keyDigits && source !== target ? `0x${target}` : null;
};

/**
 * The calldata names another receiver for a withdrawal or for rewards.
 * @figures address("contract", pool), address("of", alice), address("to", bob)
 */
export const PaidToOther = code("approvals", ["warning"], "PaidToOther", [
  "assets or earnings of a sender, or of its Safe, go to another account",
  "sign only if you mean to pay that account",
]);

/** Reports payouts from senders, or Safes that execute, to accounts that are neither, nor called in the bundle. */
export const checkPayouts = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Finding> => {
  const own = new Set([...ownAccounts(bundle), ...calledAsSafes(bundle)]);
  // why: a router that is called goes on with what it gets
  const targets = new Set(bundle.flatMap(({ calls }) => calls.read.map(({ to }) => lower(to))));
  return workedIn(bundle).flatMap((entry) =>
    effectsIn([entry], "call").flatMap(({ call: { from, to, data }, contract, payee: receiver, transaction }) => {
      const validator = mergedInto(to, data);
      const isKnown =
        receiver === null ||
        own.has(receiver) ||
        targets.has(receiver) ||
        // why: a deposit that is paid out is told by its event, and shown
        effectsIn([entry], "sum").some(
          ({ what, contract: by, account, to: paid }) =>
            what === "payout" && by === contract && account === lower(from) && paid === receiver,
        );
      if (!own.has(lower(from)) || (validator === null && isKnown)) return [];
      const payee = validator === null ? address("to", receiver) : hash("to", validator);
      const parties = [address("contract", to), address("of", from), payee];
      return [PaidToOther.warning({ transaction, evidence: "estimated" }, ...parties)];
    }),
  );
};

/** Reports the rights that approvals give, and who gets to act: delegations and changes of control. */
export const check = (
  approvals: ReadonlyArray<Approval>,
  bundle: ReadonlyArray<Ran>,
  answers: Sights & { readonly chainId: number | null },
): ReadonlyArray<Finding> => {
  const senders = new Set(ownAccounts(bundle));
  const purposes = purposesOf(bundle);
  return [
    ...approvals.flatMap((approval) => say(approval, senders, purposes)),
    ...checkDelegations(bundle, answers),
    ...checkControl(bundle, answers),
    ...checkUnexplained(bundle, approvals),
    ...checkPayouts(bundle),
  ];
};

/** The accounts whose code tells what the rights mean. */
export const accounts = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Address> => [
  ...new Set([...delegateCallAccounts(bundle), ...delegationAccounts(bundle), ...controlAccounts(bundle)]),
];
