/**
 * Token balances and allowances below what a call tried to move: read from the revert, or measured for a
 * plain `transfer` or `transferFrom` (ERC-20) that failed or returned false. Lives on the witness; pure.
 */
import type { RevertLayer } from "../../abi/revert.js";
import { addressesFrom, argumentsAt, placeOf, wordAt, wordOf, wordsFrom } from "../../abi/words.js";
import { effectsIn } from "../../effects/effects.js";
import type { Address } from "../../primitives/hex.js";
import { address, quote, text, units, count } from "../../primitives/statement.js";
import { code, type Evidence, type Finding } from "../../report/finding.js";
import type { Outcome, Transfer } from "../../report/parts.js";
import { readUint256 } from "../../witness/answers.js";
import { allowance, balanceOf } from "../../witness/queries.js";
import { unseen, type View } from "../../witness/view.js";
import type { Case, Ran } from "./bundle.js";
import type { Sights } from "./runCode.js";
import { safely } from "../../primitives/record.js";

/** The movement that a plain token call asks for, raw units of it, and who moves them where it is not the owner; null where the call is another. */
const moveOf = (entry: Case) => {
  const [outer] = effectsIn([entry], "call");
  const { from: of, amount: at } = outer?.row.move ?? {};
  const [move] = outer?.moves ?? [];
  if (outer === undefined || at === undefined || move?.from == null || move.amount === null) return null;
  const { from, data } = outer.call;
  if (data.length !== placeOf(at + 1) || (of !== undefined && (wordAt(data, placeOf(of)) ?? 0n) >> 160n !== 0n))
    return null;
  return { token: move.token, owner: move.from, spender: move.from === from ? null : from, amount: move.amount };
};

interface Shortfall {
  readonly what: "balance" | "allowance";
  readonly account: string;
  readonly has: bigint;
  /** null = not known. */
  readonly needs: bigint | null;
}

/** OpenZeppelin's ERC-6093 errors: (account, has, needed). */
const customErrors: Readonly<Record<string, Shortfall["what"]>> = {
  ERC20InsufficientBalance: "balance",
  ERC20InsufficientAllowance: "allowance",
  ERC1155InsufficientBalance: "balance",
};

const fromCustom = (layer: RevertLayer): ReadonlyArray<Shortfall> => {
  const what = layer._tag === "Custom" ? customErrors[layer.name] : undefined;
  if (layer._tag !== "Custom" || what === undefined) return [];
  const [account, has, needs] = safely(() => layer.args, []);
  const isNamed = typeof account === "string" && typeof has === "bigint" && typeof needs === "bigint" && has < needs;
  return isNamed ? [{ what, account, has, needs }] : [];
};

const patterns: ReadonlyArray<readonly [Shortfall["what"], RegExp]> = [
  [
    "allowance",
    /(insufficient|exceeds|low|not enough)[ -_a-z]{0,24}(allowance|approval)|allowance[ -_a-z]{0,12}(exceeded|too low)/i,
  ],
  ["balance", /(insufficient|exceeds|low|not enough)[ -_a-z]{0,24}balance|balance[ -_a-z]{0,12}too low/i],
];

const inWords = (layer: RevertLayer): Shortfall["what"] | null =>
  layer._tag === "Reason"
    ? (patterns.find(([, pattern]) => pattern.test(layer.reason.slice(0, 256)))?.[0] ?? null)
    : null;

const hasFailed = ({ status, returnData }: Outcome): boolean =>
  status === "reverted" || status === "halted" || (status === "success" && returnData === wordOf(0n));

const measured = ({ token, owner, spender, amount: needs }: NonNullable<ReturnType<typeof moveOf>>, before: View) => {
  const balance = readUint256(before.call(balanceOf(token, owner)));
  const allowed = spender === null ? null : readUint256(before.call(allowance(token, owner, spender)));
  // why: a token without allowances is an NFT, and the last argument its id
  if (spender !== null && allowed === null) return [];
  const all = [
    { what: "balance", account: owner, has: balance },
    { what: "allowance", account: spender ?? owner, has: allowed },
  ] as const;
  return all.flatMap(({ has, ...of }) => (has !== null && has < needs ? [{ ...of, has, needs }] : []));
};

/**
 * The allowances of the sender for the contract that it calls, as far as they were read: of the tokens that the calldata
 * names, and of those that the bundle gives rights over. `seen` = the state that the call met.
 */
const allowedOf = ({ input }: Case, bundle: ReadonlyArray<Case>, seen: View) => {
  const { from, to: spender, data } = input;
  if (spender === null) return [];
  const granted = effectsIn(bundle, "request").map(({ keeper }) => keeper);
  return [...new Set([...addressesFrom(data, argumentsAt), ...granted])].flatMap((token) => {
    const has = readUint256(seen.call(allowance(token, from, spender)));
    return has === null ? [] : [{ token, owner: from, spender, has }];
  });
};

type Allowed = ReturnType<typeof allowedOf>[number];

/** The one amount of the calldata that exceeds an allowance, and that the owner has where that was read; null where there is none, or several. */
const wantedOf = ({ input: { data } }: Case, { token, owner, has }: Allowed, seen: View): bigint | null => {
  const balance = readUint256(seen.call(balanceOf(token, owner)));
  const words = wordsFrom(data, argumentsAt, mostWords).filter((word) => word > has && word <= (balance ?? mostAmount));
  const [wanted, ...others] = new Set(words);
  return wanted === undefined || others.length > 0 ? null : wanted;
};
const mostWords = 64;
const mostAmount = 2n ** 128n;

/** Words of contracts that pass a failed `transferFrom` on. */
const pulls = /transfer.?from|^STF$|safeerc20/i;

/** True if a failure may be that of a token which the called contract tried to take. */
const maySayPull = ({ revert, status }: Outcome): boolean =>
  status === "reverted" &&
  (revert?.layers ?? []).every(
    ({ layer }) =>
      layer._tag === "Empty" ||
      (layer._tag === "Panic" && layer.code === 0x11n) ||
      inWords(layer) === "allowance" ||
      (layer._tag === "Reason" && pulls.test(layer.reason.slice(0, 256))),
  );

/**
 * The call reverts.
 * @figures text("too low", "allowance"), address("token", usdc), address("spender", pool), units("has", 0n),
 *   units("needs", 25_000_000n), units("short by", 25_000_000n)
 */
export const TokenShortfall = code("funds", ["warning"], "TokenShortfall", [
  "a token balance or allowance is too low for what the call tries to move",
  "lower the amount, obtain the tokens, or approve the amount first",
]);

/** One shortfall; of a token that is not known its amounts are numbers. */
export const shortfall = (
  where: { readonly transaction: number; readonly evidence: Evidence },
  token: Address | null,
  { what, account, has, needs }: Shortfall,
): Finding =>
  TokenShortfall.warning(
    where,
    text("too low", what),
    address("token", token),
    address(what === "balance" ? "account" : "spender", account),
    ...(token === null
      ? [count("has", has), count("needs", needs)]
      : [units("has", has), units("needs", needs), units("short by", needs === null ? null : needs - has)]),
  );

/** The state that a call met: before all, or behind the bundle where all others failed behind it; else nobody saw it. */
const metBy = ({ index }: Case, { before, after }: Sights, bundle: ReadonlyArray<Case & Pick<Ran, "outcome">>) => {
  if (index === 0) return before;
  return bundle.every((other) => other.index <= index || hasFailed(other.outcome)) ? after : unseen;
};

/** The allowances that a call may have failed for by taking more, with how much it wanted where that is known. */
const pulledIn = (entry: Case & Pick<Ran, "outcome">, allowed: ReadonlyArray<Allowed>, seen: View) =>
  !maySayPull(entry.outcome)
    ? []
    : allowed.flatMap((right) => {
        const { token, spender: account, has } = right;
        const needs = wantedOf(entry, right, seen);
        return needs === null && has > 0n ? [] : [{ what: "allowance", token, account, has, needs } as const];
      });

/** A shortfall that a contract tells in words alone. */
const inReason = (layers: ReadonlyArray<RevertLayer>, transaction: number): ReadonlyArray<Finding> => {
  const what = layers.map(inWords).find((word) => word !== null) ?? null;
  const reason = layers.find((layer) => layer._tag === "Reason");
  if (what === null || reason === undefined) return [];
  const numbers = [text("too low", what), quote("the contract says", reason.reason)];
  return [TokenShortfall.warning({ transaction, evidence: "estimated" }, ...numbers)];
};

/** The token of a shortfall: what a contract in between passes on does not say whose it is. */
const tokenOf = ({ what, account, has }: Shortfall, allowed: ReadonlyArray<Allowed>): Address | null => {
  const spender = what === "allowance" ? account.toLowerCase() : null;
  const [one = null, ...others] = allowed.filter((right) => right.has === has && right.spender === spender);
  return others.length > 0 || one === null ? null : one.token;
};

/** `TokenShortfall` where the revert or the measurement shows one. */
export const check = (
  entry: Case & Pick<Ran, "outcome">,
  views: Sights,
  bundle: ReadonlyArray<Case & Pick<Ran, "outcome">>,
): ReadonlyArray<Finding> => {
  const { index: transaction, outcome } = entry;
  if (!hasFailed(outcome)) return [];
  const layers = (outcome.revert?.layers ?? []).map(({ layer }) => layer);
  const named = layers.flatMap(fromCustom);
  const move = moveOf(entry);
  const seen = metBy(entry, views, bundle);
  const allowed = move === null ? allowedOf(entry, bundle, seen) : [];
  // why: the witness read the state before the whole bundle, which is that of its first transaction only
  const found = named.length > 0 || move === null || transaction > 0 ? named : measured(move, views.before);
  const evidence = named.length > 0 ? outcome.evidence : "measured";
  if (found.length > 0)
    return found.map((one) => shortfall({ transaction, evidence }, move?.token ?? tokenOf(one, allowed), one));
  const pulled = pulledIn(entry, allowed, seen);
  return pulled.length > 0
    ? pulled.map((one) => shortfall({ transaction, evidence: "estimated" }, one.token, one))
    : inReason(layers, transaction);
};

/** @figures address("token", usdc), units("amount", 25_000_000n) */
export const TokensStranded = code("assets", ["warning"], "TokensStranded", [
  "tokens are sent to the token contract itself, where they are usually lost",
  "check the receiver: it is the token's own address",
]);

/** Reports tokens sent to the token itself that it still has at the end: a pair that is paid to burn has not. */
export const checkStranded = (bundle: ReadonlyArray<Ran>, transfers: ReadonlyArray<Transfer>): ReadonlyArray<Finding> =>
  transfers
    .filter(({ token, from, to }) => token !== null && to === token && from !== token)
    .filter((transfer, index, all) => all.findIndex(({ token }) => token === transfer.token) === index)
    .flatMap(({ token, tokenId, transaction, evidence }) => {
      const net = transfers
        .filter((other) => other.token === token && (other.to === token || other.from === token))
        .reduce((sum, { to, amount }) => (to === token ? sum + amount : sum - amount), 0n);
      const entry = bundle[transaction];
      if (net <= 0n || token === null || entry === undefined || entry.input.to === null) return [];
      const isAsked = effectsIn([entry], "call").some(({ call, receiver }) => call.to === token && receiver === token);
      const numbers = [address("token", token), count("id", tokenId), units("amount", net)];
      return isAsked ? [TokensStranded.warning({ transaction, evidence }, ...numbers)] : [];
    });
