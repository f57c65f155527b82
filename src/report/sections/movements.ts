/** What leaves, what arrives, and who gets rights: one line each. */
import { maxUint256 } from "viem";
import { checksummed } from "../../primitives/text.js";
import type { Approval, BalanceChange, Transfer } from "../parts.js";
import { dim, facts, joined, left, right, section, table, type Cell, type Section, type Shown } from "../document.js";
import type { Evidence } from "../finding.js";
import type { Report } from "../schema.js";
import {
  amountInWords,
  amountText,
  dateText,
  rawText,
  sendersOf,
  unitText,
  type Names,
  type Unit,
} from "../amounts.js";
import { isNobody } from "../stakes.js";

const evidence: Shown<{ readonly evidence: Evidence }> = [left("evidence"), (one) => dim(one.evidence)];

/** Seen from the bundle's senders: `-` leaves them, `+` reaches them, `=` stays among them or passes by. */
const directed = ({ from, to }: Transfer, senders: ReadonlyArray<string>, amount: string): Cell => {
  const out = senders.includes(from.toLowerCase());
  if (out === senders.includes(to.toLowerCase())) return { text: `=${amount}` };
  return out ? { text: `-${amount}`, tone: "bad" } : { text: `+${amount}`, tone: "good" };
};

/** The movements, in the order they happen. */
export const transfersSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const senders = sendersOf(report);
  const place: Shown<Transfer> = [left("tx"), ({ transaction }) => dim(`tx ${transaction + 1}`)];
  return section(
    "Every movement, exact",
    table<Transfer>(report.transfers, [
      [right("amount"), (one) => directed(one, senders, amountText(names, one, one.amount))],
      [left("token"), (one) => unitText(names, one)],
      [right("smallest units"), ({ token, amount }) => dim(rawText(token, amount))],
      [left("from → to"), ({ from, to }) => `${names.short(from)} → ${names.short(to)}`],
      ...(report.transactions.length > 1 ? [place] : []),
      evidence,
    ]),
  );
};

const signed = (delta: bigint, shown: string): Cell =>
  delta > 0n ? { text: `+${shown}`, tone: "good" } : { text: shown, tone: delta < 0n ? "bad" : "plain" };

/** What every account ends with. */
export const balancesSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const shown = (unit: Unit, amount: bigint | null) =>
    amount === null ? "not known" : amountText(names, unit, amount);
  return section(
    "Balances before and after, fees left out",
    table<BalanceChange>(report.balanceChanges, [
      [left("account"), ({ account }) => names.short(account)],
      [right("change"), (one) => signed(one.delta, shown(one, one.delta))],
      [left("token"), (one) => unitText(names, one)],
      [right("smallest units"), ({ token, delta }) => dim(rawText(token, delta))],
      [left("before → after"), (one) => `${shown(one, one.before)} → ${shown(one, one.after)}`],
      evidence,
    ]),
  );
};

const spenderKinds: Readonly<Record<Approval["spenderKind"], string>> = {
  contract: "contract",
  eoa: "account, no contract",
  delegated: "delegated account",
  created: "created in this bundle",
  precompile: "precompile",
  unknown: "kind not known",
};

const standing = (approval: Approval, amount: bigint | null, names: Names): string => {
  const { standard, token, tokenId } = approval;
  if (amount === null) return "not known";
  if (amount === maxUint256) return "unlimited";
  const countable = ["erc20", "permit2", "aaveDebt"].includes(standard) || (standard === "erc6909" && tokenId !== null);
  if (countable) return amountInWords(names, { token, tokenId }, amount);
  return amount === 0n ? "no" : tokenId === null ? "all" : "yes";
};

const granted = (approval: Approval, names: Names): string => {
  const text = standing(approval, approval.after, names);
  if (!approval.unlimited || approval.after === 0n) return text;
  return approval.after === maxUint256 ? "UNLIMITED" : `UNLIMITED (${text})`;
};

/** The rights that change, before and after. */
export const approvalsSection = (report: Report, names: Names): ReadonlyArray<Section> =>
  section(
    "Every approval, exact",
    table<Approval>(report.approvals, [
      [left("token"), (one) => unitText(names, one)],
      [left("owner → spender"), ({ owner, spender }) => `${names.short(owner)} → ${names.short(spender)}`],
      [left("spender is"), ({ spenderKind }) => dim(spenderKinds[spenderKind])],
      [
        left("before → after"),
        (one) => ({
          text: `${standing(one, one.before, names)} → ${granted(one, names)}`,
          tone: one.after === 0n ? "good" : one.unlimited ? "bad" : "warn",
        }),
      ],
      [
        left("kind"),
        ({ standard, expiration }) => dim(expiration === null ? standard : `${standard} until ${dateText(expiration)}`),
      ],
      evidence,
    ]),
  );

/** The whole addresses behind the short ones. */
export const addressesSection = (names: Names): ReadonlyArray<Section> =>
  section(
    "Addresses",
    facts(
      ...names.legend.slice(0, 200).map(({ address, roles }) => {
        const symbol = roles.includes("token") ? unitText(names, { token: address, tokenId: null }) : "";
        const nobody = isNobody(address) ? ["nobody: minted or burned"] : [];
        return {
          label: names.short(address),
          text: joined(checksummed(address), ...roles.filter((role) => role !== "token"), symbol, ...nobody),
        };
      }),
    ),
  );
