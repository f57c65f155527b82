/**
 * What moves: native currency and tokens, as the logs say and as the balances show.
 *
 * Transfers are read from the simulated logs (`logged`); for every account and token they touch, the
 * witness reads balances before and after in the same simulated block (`measured`), and where the two
 * disagree both numbers are shown. Lives on the witness: `queries` and a pure `decide`.
 */
import { note, type Finding } from "../errors/finding.js";
import type { Address } from "../errors/hex.js";
import { readUint256, type Answer } from "../witness/answers.js";
import { balanceOf, balanceOf1155, type Query } from "../witness/queries.js";
import { transfersOf } from "./logs/transfers.js";
import type { BalanceChange, Outcome, OutcomeLog, Transfer } from "./outputs.js";

type Lookup = (query: Query) => Answer | undefined;

/** One simulated transaction's logs, with the traced native transfers among them. */
export interface Told {
  readonly traced: ReadonlyArray<OutcomeLog>;
  readonly outcome: Pick<Outcome, "evidence">;
}

/** Every movement that the logs tell of, in order. */
export const transfers = (told: ReadonlyArray<Told>): ReadonlyArray<Transfer> =>
  told.flatMap(({ traced, outcome }, transaction) => transfersOf(traced, transaction, outcome.evidence));

/** One balance to measure: whose, of what. */
export interface Holding {
  readonly account: Address;
  readonly token: Address | null;
  readonly tokenId: bigint | null;
}

const zero: string = "0x0000000000000000000000000000000000000000";

const keyOf = ({ account, token, tokenId }: Holding): string => `${token ?? "native"}/${tokenId ?? ""}/${account}`;

/**
 * Every holding the movements touch, senders first, at most `limit`; an ERC-721 is counted by its
 * collection, an ERC-1155 by its id. `cut` says how many were left out.
 */
export const holdings = (
  senders: ReadonlyArray<Address>,
  moved: ReadonlyArray<Transfer>,
  limit: number,
): { readonly kept: ReadonlyArray<Holding>; readonly cut: number } => {
  const all = new Map<string, Holding>();
  const add = (holding: Holding) => {
    if (holding.account !== zero) all.set(keyOf(holding), holding);
  };
  for (const account of senders) add({ account, token: null, tokenId: null });
  const mine = new Set(senders);
  const both = moved.flatMap(({ standard, token, tokenId, from, to }) =>
    [from, to].map((account) => ({ account, token, tokenId: standard === "erc1155" ? tokenId : null })),
  );
  for (const holding of [...both.filter(({ account }) => mine.has(account)), ...both]) add(holding);
  const kept = [...all.values()].slice(0, Math.max(limit, senders.length));
  return { kept, cut: all.size - kept.length };
};

const queryOf = ({ account, token, tokenId }: Holding): Query =>
  token === null
    ? { kind: "account", address: account }
    : tokenId === null
      ? balanceOf(token, account)
      : balanceOf1155(token, account, tokenId);

/** What the witness reads, before and after alike. */
export const queries = (kept: ReadonlyArray<Holding>): ReadonlyArray<Query> => kept.map(queryOf);

const balanceIn = (lookup: Lookup, holding: Holding): bigint | null => {
  const answer = lookup(queryOf(holding));
  return answer?.kind === "account" ? answer.balance : readUint256(answer);
};

/** Wei that each account paid for gas in the simulation, which its balance change must not show. */
export type GasPaid = ReadonlyMap<Address, bigint>;

const loggedDelta = (holding: Holding, moved: ReadonlyArray<Transfer>): bigint => {
  let delta = 0n;
  for (const transfer of moved) {
    if (transfer.token !== holding.token) continue;
    if (holding.tokenId !== null && transfer.tokenId !== holding.tokenId) continue;
    const amount = transfer.standard === "erc721" ? 1n : transfer.amount;
    if (transfer.to === holding.account) delta += amount;
    if (transfer.from === holding.account) delta -= amount;
  }
  return delta;
};

/** Balance changes of every holding, measured where the witness could, and where logs and balances disagree. */
export const decide = (
  moved: ReadonlyArray<Transfer>,
  kept: ReadonlyArray<Holding>,
  before: Lookup,
  after: Lookup,
  gasPaid: GasPaid,
): { readonly outputs: ReadonlyArray<BalanceChange>; readonly findings: ReadonlyArray<Finding> } => {
  const findings: Array<Finding> = [];
  const outputs = kept.flatMap((holding): ReadonlyArray<BalanceChange> => {
    const [had, has] = [balanceIn(before, holding), balanceIn(after, holding)];
    const logged = loggedDelta(holding, moved);
    if (had === null || has === null) {
      if (logged === 0n) return [];
      return [{ ...holding, before: had, after: null, delta: logged, evidence: "logged" }];
    }
    const delta = has - had + (holding.token === null ? (gasPaid.get(holding.account) ?? 0n) : 0n);
    if (delta !== logged) {
      findings.push(
        note(
          "TransferMismatch",
          "warning",
          {
            verdict: "the events and the measured balances disagree",
            evidence: `${holding.token ?? "native currency"}${holding.tokenId === null ? "" : ` id ${holding.tokenId}`} of ${holding.account}: events say ${logged}, measured ${delta}`,
            remedy: "trust the measured amount; the token takes a fee, rebases, or its events lie",
          },
          { step: "assets" },
        ),
      );
    }
    return delta === 0n && logged === 0n ? [] : [{ ...holding, before: had, after: has, delta, evidence: "measured" }];
  });
  return { outputs, findings };
};
