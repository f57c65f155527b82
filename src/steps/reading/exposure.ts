/**
 * Assets that contracts could take of our accounts beside those that they take: by allowances, as operators, as
 * delegates (EIP-7702), and of the value sent. Read behind the transactions, by the witness in its run. Pure.
 */
import * as Arr from "effect/Array";
import * as BigInts from "effect/BigInt";
import { memoize } from "effect/Function";
import { permit2 } from "../../abi/known/batches.js";
import { nobody } from "../../abi/words.js";
import type { Chain } from "../../Chains.js";
import { conduits } from "../../chains/table.js";
import { askedBy } from "../../effects/asked.js";
import { effectsIn } from "../../effects/effects.js";
import { framesOf } from "../../effects/frames.js";
import { lower, type Address } from "../../primitives/hex.js";
import type { Evidence } from "../../report/finding.js";
import type { Exposure } from "../../report/beside.js";
import type { Transfer } from "../../report/parts.js";
import { readUint256 } from "../../witness/answers.js";
import { allowance, balanceOf, balanceOf1155, costOf, ownerOf, type Query } from "../../witness/queries.js";
import { knows, type View } from "../../witness/view.js";
import type { Facts } from "./answers.js";
import { successOf } from "./askResult.js";
import { accountsIn } from "./blockReads.js";
import { ownAccounts, workedIn, type Case, type Filled, type Ran } from "./bundle.js";
import { likelySafes } from "./delegateCalls.js";
import { amountIn, holding } from "./holdings.js";
import { callees } from "./proxies.js";
import { levelIn, queryOf } from "./rightLevel.js";
import { union, unsaid } from "./rights.js";
import type { Right } from "../../effects/rights.js";
import { knownCode } from "./safeCode.js";
import type { Standards } from "../../effects/movements.js";

/** How many pairs one proof looks at. */
const mostPairs = 64;
/** How many ids of one token; a pair of which there are more counts as not looked at, too. */
const mostIds = 64;

/** Rights that one contract may have over one account and token. */
interface SpenderPair extends Pick<Exposure, "spender" | "account" | "token"> {
  /** Any of these; none of a delegate, which acts as the account. */
  readonly rights: ReadonlyArray<Right>;
  readonly isDelegate: boolean;
  /** Ids of the token that are known. */
  readonly ids: ReadonlyArray<bigint>;
  /** True if somebody named the token: answers that it does not give are then reported. */
  readonly isWanted: boolean;
  /** Queries by which it is read. */
  readonly queries: ReadonlyArray<Query>;
}

/** The accounts, tokens and spenders that a proof looks at. */
export interface Exposed {
  readonly pairs: ReadonlyArray<SpenderPair>;
  /** Pairs beyond those. */
  readonly cut: number;
  /** The chain's best known tokens. */
  readonly known: Chain["tokens"];
  /** Delegates that the caller trusts. */
  readonly trusted: ReadonlyArray<Address>;
}

/** Those over what an account holds, as against what it may borrow. */
const overHoldings: ReadonlySet<string> = new Set(["erc20", "erc721", "erc1155", "erc6909", "erc777", "permit2"]);

/** Accounts with the delegates that act as them, as the state was before or as the bundle has it. */
const delegatesOf = (bundle: ReadonlyArray<Case & Pick<Filled, "code">>) =>
  bundle.flatMap(({ input, code, authorizations }) => [
    ...(code.from.delegate === null ? [] : [[input.from, code.from.delegate] as const]),
    ...authorizations.flatMap(({ authority, entry: { address } }) =>
      authority === null || address === nobody ? [] : [[authority, lower(address)] as const],
    ),
  ]);

/** Queries for one pair; for a spender inside Permit2 also for what Permit2 may take. */
const queriesOf = ({ spender, account, token, rights, isDelegate, ids }: Omit<SpenderPair, "queries">) => [
  ...(isDelegate ? [account, spender] : []).map((address): Query => ({ kind: "account", address })),
  ...(token === null ? [] : [balanceOf(token, account)]),
  ...rights.flatMap((right) => [
    ...[queryOf(right)].filter((query) => query !== null),
    ...(right.standard === "permit2" ? [allowance(right.token, account, right.keeper)] : []),
  ]),
  ...(token === null ? [] : ids.flatMap((id) => [balanceOf1155(token, account, id), ownerOf(token, id)])),
];

/** Tokens that leave a sender by no call of its own: none that a token does by itself, nor what is burnt. */
const takenIn = <C extends Ran>(bundle: ReadonlyArray<C>, transfers: ReadonlyArray<Transfer>) =>
  transfers.flatMap(({ token, from: account, to, amount, transaction }) => {
    const entry = bundle[transaction];
    if (token === null || amount === 0n || entry?.input.from !== account) return [];
    const calls = effectsIn([entry], "call").filter(({ contract }) => [token, account].includes(contract));
    const isOwn = calls.some(({ call, row }) => lower(call.from) === account && (call.as ?? row.grant) === undefined);
    return isOwn || [nobody, token, account].includes(to) ? [] : [{ account, token, entry }];
  });

/** Spenders beside those that are called, of tokens that somebody names, and of what is taken: accounts that their code names, and their conduits. */
const furtherIn = (sources: Parameters<typeof exposed>[0], contracts: ReadonlyArray<Address>, usual: number) => {
  const { wanted } = sources;
  const taken = new Set(takenIn(sources.bundle, sources.transfers).map(({ account, token }) => `${account}/${token}`));
  const isLooked = taken.size > 0 || wanted.length > 0;
  const named = contracts.flatMap((one) => (isLooked ? accountsIn(successOf(sources.codes.get(one)) ?? "0x") : []));
  // why: they push out nothing that is called, and several tokens may be theirs
  const further = named.flatMap((one) => conduits.get(one) ?? one).slice(0, Math.max(0, mostPairs - usual) / 8);
  return (account: Address, token: Address): ReadonlyArray<Address> =>
    taken.has(`${account}/${token}`) || wanted.includes(token) ? further : [];
};

/**
 * The pairs that a proof looks at: of the senders first, of tokens that somebody names before those that the bundle has to
 * do with and the chain's best known ones. Permit2 is no spender: what it moves, others have a right to.
 */
export const exposed = (
  /** `accounts` and `wanted` tokens are those that a policy or the caller names, `tokens` those that the bundle moves or approves. */
  sources: Pick<Exposed & Facts, "known" | "trusted" | "codes"> & {
    readonly [K in "accounts" | "wanted" | "tokens"]: ReadonlyArray<Address>;
  } & {
    readonly bundle: ReadonlyArray<Ran & Pick<Filled, "code">>;
    readonly rights: ReadonlyArray<Right>;
    readonly transfers: ReadonlyArray<Transfer>;
  },
): Exposed => {
  const { bundle, rights, transfers, known, trusted } = sources;
  const best = known.map(({ address }) => address);
  const tokens = [...new Set([...sources.wanted, ...sources.tokens, ...best])];
  const delegates = delegatesOf(bundle);
  const contracts = callees(bundle, ({ code }) => code.to?.kind !== "nobody").filter(
    (account) => account !== permit2 && !best.includes(account),
  );
  const accounts = new Set([
    ...ownAccounts(bundle),
    ...sources.accounts,
    ...delegates.map(([account]) => account),
    ...likelySafes(bundle),
  ]);
  const others = furtherIn(sources, contracts, accounts.size * tokens.length * contracts.length);
  const movedOf = Arr.groupBy(transfers, ({ token }): string => token ?? "");
  const rightsOf = Arr.groupBy(rights, ({ owner, token }): string => `${owner}/${token}`);
  let cut = 0;
  const all = [...accounts].flatMap((account): ReadonlyArray<Omit<SpenderPair, "queries">> => {
    const own = [...new Set(delegates.flatMap(([whose, delegate]) => (whose === account ? [delegate] : [])))];
    const acting = { account, isDelegate: true, rights: [] };
    return [
      ...own.map((spender) => ({ ...acting, spender, token: null, ids: [], isWanted: false })),
      ...tokens.flatMap((token) => {
        const grants = rightsOf[`${account}/${token}`] ?? [];
        const named = new Set([...(movedOf[token] ?? []), ...grants].flatMap(({ tokenId }) => tokenId ?? []));
        const over = { token, ids: [...named].slice(0, mostIds), isWanted: sources.wanted.includes(token) };
        if (named.size > mostIds) cut += 1;
        const standards = ["erc20", "permit2", ...(best.includes(token) ? [] : (["erc721"] as const))] as const;
        const spenders = [
          ...new Set([...contracts, ...grants.map(({ spender }) => spender), ...others(account, token)]),
        ].filter((spender) => spender !== account && spender !== permit2 && spender !== nobody);
        return [
          ...own.map((spender) => ({ ...acting, ...over, spender })),
          ...spenders.map((spender) => {
            const usual = standards.map((standard) => unsaid(standard, { token, owner: account, spender }));
            const its = grants.filter((right) => right.spender === spender && overHoldings.has(right.standard));
            return { spender, account, ...over, rights: union(usual, its), isDelegate: false };
          }),
        ];
      }),
    ];
  });
  const pairs = all.slice(0, mostPairs).map((pair) => ({ ...pair, queries: queriesOf(pair) }));
  return { pairs, cut: cut + all.length - pairs.length, known, trusted };
};

/** Queries of the witness behind the transactions, each once. */
export const queries = memoize(({ pairs }: Exposed): ReadonlyArray<Query> => [
  ...new Map(pairs.flatMap((pair) => pair.queries.map((query) => [costOf(query).text.toLowerCase(), query]))).values(),
]);

/** The view of a run, and the facts by which its exposure is read. */
export interface ExposureFacts extends Pick<Facts, "before" | "after" | "traces"> {
  readonly standards: Standards;
  readonly transfers: ReadonlyArray<Transfer>;
  readonly evidence: Evidence;
}

const least = (a: bigint | null, b: bigint | null) => (a === null || b === null ? null : BigInts.min(a, b));

const row = (
  by: Exposure["by"],
  amount: Exposure["amount"],
  balance: Exposure["balance"],
  tokenId: Exposure["tokenId"] = null,
) => ({ by, amount, balance, tokenId });

/** All that an account holds of a token: by its ids, where balances are kept by id. */
const holdingsOf = (
  { account, token, ids, rights }: SpenderPair,
  by: Exposure["by"],
  { after, standards }: ExposureFacts,
) => {
  const isById =
    token !== null && (standards.get(token) === "erc1155" || rights.some(({ standard }) => standard === "erc6909"));
  if (isById && ids.length === 0) return [row(by, null, null)];
  return (isById ? ids : [null]).map((id) => {
    const balance = amountIn(after, holding(account, token, id));
    return row(by, balance, balance, id);
  });
};

/** An id that a spender has a right to: an amount of it, or an NFT that the account holds. */
const spendableId = (
  { account, token }: SpenderPair,
  { tokenId, standard, amount }: Right & { readonly amount: bigint | null },
  { after }: ExposureFacts,
) => {
  if (tokenId === null || amount === null || amount === 0n) return [];
  const isNft = standard !== "erc6909";
  const balance = amountIn(after, { ...holding(account, token, tokenId), owned: isNft });
  if (!isNft) return [row("allowance", least(amount, balance), balance, tokenId)];
  return balance === 1n ? [row("allowance", 1n, 1n, tokenId)] : [];
};

/** Amounts and ids that a spender has a right to. */
const spendable = (pair: SpenderPair, answers: ExposureFacts): ReadonlyArray<ReturnType<typeof row>> => {
  const { account, token, rights } = pair;
  const { after } = answers;
  if (token === null) return [];
  const levels = rights.map((right) => ({ ...right, amount: levelIn(after, right).amount }));
  if (levels.some(({ operator, amount }) => operator && amount === 1n)) return holdingsOf(pair, "operator", answers);
  const balance = amountIn(after, holding(account, token));
  // why: what answers neither as the one nor as the other kind of token keeps its rights in a way that is not known
  if (!levels.some(({ standard, amount }) => standard !== "permit2" && amount !== null))
    return [row("allowance", null, balance)];
  const meansOf = ({ standard, keeper, amount }: (typeof levels)[number]) =>
    standard === "permit2" ? readUint256(after.call(allowance(token, account, keeper))) : amount;
  const sums = levels.filter(({ operator, tokenId }) => !operator && tokenId === null);
  const allowed = BigInts.sumAll(sums.map((right) => least(right.amount, meansOf(right)) ?? 0n));
  const single = levels.flatMap((right) => spendableId(pair, right, answers));
  return [...(allowed === 0n ? [] : [row("allowance", least(allowed, balance), balance)]), ...single];
};

/** True if nobody but the account itself is known to act by a delegate's code. */
const isTrusted = (delegate: Address, { trusted }: Exposed, after: View): boolean => {
  const hash = after.account(delegate)?.codeHash ?? null;
  return trusted.includes(delegate) || (hash !== null && knownCode(hash, delegate, "delegate") !== null);
};

const rowsOf = (pair: SpenderPair, exposed: Exposed, answers: ExposureFacts) => {
  if (!pair.isDelegate) return spendable(pair, answers);
  const code = answers.after.account(pair.account)?.codePrefix.toLowerCase();
  const isActing = code === `0xef0100${pair.spender.slice(2)}`;
  return isActing && !isTrusted(pair.spender, exposed, answers.after) ? holdingsOf(pair, "delegate", answers) : [];
};

/** Values that an account sends to each contract, which could keep them whatever it gives back. */
const values = (bundle: ReadonlyArray<Filled>, { transfers, evidence }: ExposureFacts): ReadonlyArray<Exposure> => {
  const worked = workedIn(bundle);
  const contracts = new Set(
    worked.flatMap(({ input: { to }, code, calls }) => [
      ...(to === null ? [code.creates] : code.to?.kind === "nobody" ? [] : [to]),
      ...calls.read.flatMap((call) => (call.data.length > 2 ? [call.to] : [])),
    ]),
  );
  return ownAccounts(worked).flatMap((account) =>
    [...contracts].flatMap((spender): ReadonlyArray<Exposure> => {
      if (spender === null || spender === account) return [];
      const traced = transfers.filter(({ token, from, to }) => token === null && from === account && to === spender);
      const sent = worked.filter(({ input, code }) => input.from === account && (input.to ?? code.creates) === spender);
      // why: not every node traces native movements
      const amount = BigInts.max(
        BigInts.sumAll(traced.map((transfer) => transfer.amount)),
        BigInts.sumAll(sent.map(({ input }) => input.value)),
      );
      return amount === 0n ? [] : [{ spender, account, token: null, ...row("value", amount, null), evidence }];
    }),
  );
};

/**
 * Tokens that left a sender through a contract that was not looked at: as a trace shows it, with whoever asks Permit2, else
 * where none that was had a right to them.
 */
const strangeIn = ({ pairs }: Exposed, bundle: ReadonlyArray<Filled>, facts: ExposureFacts) => {
  const found = takenIn(bundle, facts.transfers).flatMap(({ account, token, entry: { index } }) => {
    const own = pairs.filter((pair) => pair.account === account && pair.token === token);
    const known = new Set([account, token, ...own.map(({ spender }) => spender)]);
    const takers = framesOf(facts.traces?.[index]?.trace).flatMap(({ from, to, data }) => {
      const isTaking = to === token && askedBy({ from, to, data }, 0).moves.some((move) => move.from === account);
      return from !== permit2 && (isTaking || to === permit2) ? from : [];
    });
    const isHeld = (right: Right): boolean =>
      right.claim > 0n || [facts.before, facts.after].some((view) => (levelIn(view, right).amount ?? 0n) > 0n);
    const spender = takers.find((taker) => !known.has(taker)) ?? null;
    const isExplained = takers.length > 0 ? spender === null : own.some(({ rights }) => rights.some(isHeld));
    return isExplained ? [] : [{ account, token, spender }];
  });
  return [...new Map(found.map((row) => [`${row.account}/${row.token}`, row])).values()];
};

/** Reads what could be taken, of every pair that was looked at. */
export const read = (exposed: Exposed, bundle: ReadonlyArray<Filled>, answers: ExposureFacts) => {
  const answered = exposed.pairs.filter((pair) => pair.queries.every((query) => knows(answers.after, query)));
  const rows = answered.flatMap((pair) =>
    rowsOf(pair, exposed, answers).flatMap((row): ReadonlyArray<Exposure> => {
      const { spender, account, token } = pair;
      if (row.amount === 0n || row.balance === 0n) return [];
      if (row.amount !== null) return [{ spender, account, token, ...row, evidence: answers.evidence }];
      // why: of what answers nothing at all is told where somebody named it
      const isOpen = pair.isWanted || row.by === "operator" || row.balance !== null;
      return isOpen ? [{ spender, account, token, ...row, evidence: "unavailable" }] : [];
    }),
  );
  // why: who moves what was cut is not known as it is
  const moved = exposed.cut > 0 ? [] : strangeIn(exposed, bundle, answers);
  const unread = exposed.cut + exposed.pairs.length - answered.length + moved.length;
  const shown = moved.length === 0 ? {} : { moved };
  return { rows: [...values(bundle, answers), ...rows], pairs: answered.length, unread, ...shown };
};
