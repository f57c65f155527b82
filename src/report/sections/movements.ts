/** What leaves, what arrives, and who gets rights: one line each. */
import { maxUint256 } from "viem";
import { checksummed } from "../../primitives/text.js";
import type { Approval, BalanceChange, Transfer } from "../parts.js";
import { facts, joined, left, right, section, table, type Cell, type Section, type Tone } from "../document.js";
import type { Report } from "../schema.js";
import { amountInWords, amountText, unitText, type Names } from "../tokens.js";
import { dateText } from "../values.js";

const dim = (text: string): Cell => ({ text, tone: "dim" });

/** Seen from the bundle's senders: `-` leaves them, `+` reaches them, `=` stays among them or passes by. */
const direction = (transfer: Transfer, senders: ReadonlySet<string>): { sign: string; tone: Tone } => {
  const out = senders.has(transfer.from.toLowerCase());
  const into = senders.has(transfer.to.toLowerCase());
  if (out === into) return { sign: "=", tone: "plain" };
  return out ? { sign: "-", tone: "bad" } : { sign: "+", tone: "good" };
};

/** The movements, in the order they happen. */
export const transfersSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const senders = new Set(report.transactions.map(({ input }) => input.from.toLowerCase()));
  const bundle = report.transactions.length > 1;
  const row = (transfer: Transfer): ReadonlyArray<Cell> => {
    const { sign, tone } = direction(transfer, senders);
    const { amount, raw } = amountText(names, transfer, transfer.amount);
    return [
      { text: `${sign}${amount}`, tone },
      { text: unitText(names, transfer) },
      dim(raw),
      { text: `${names.short(transfer.from)} → ${names.short(transfer.to)}` },
      ...(bundle ? [dim(`tx ${transfer.transaction + 1}`)] : []),
      dim(transfer.evidence),
    ];
  };
  const columns = [right("amount"), left("token"), right("smallest units"), left("from → to")];
  return section(
    "Every movement, exact",
    table([...columns, ...(bundle ? [left("tx")] : []), left("evidence")], report.transfers, row),
  );
};

const signed = (delta: bigint, shown: string): Cell =>
  delta > 0n ? { text: `+${shown}`, tone: "good" } : { text: shown, tone: delta < 0n ? "bad" : "plain" };

/** What every account ends with. */
export const balancesSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const row = (change: BalanceChange): ReadonlyArray<Cell> => {
    const shown = (amount: bigint | null) => (amount === null ? "not known" : amountText(names, change, amount).amount);
    const { amount, raw } = amountText(names, change, change.delta);
    return [
      { text: names.short(change.account) },
      signed(change.delta, amount),
      { text: unitText(names, change) },
      dim(raw),
      { text: `${shown(change.before)} → ${shown(change.after)}` },
      dim(change.evidence),
    ];
  };
  return section(
    "Balances before and after, fees left out",
    table(
      [
        left("account"),
        right("change"),
        left("token"),
        right("smallest units"),
        left("before → after"),
        left("evidence"),
      ],
      report.balanceChanges,
      row,
    ),
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

const unlimitedText = (amount: string): string => (amount === "unlimited" ? "UNLIMITED" : `UNLIMITED (${amount})`);

/** The rights that change, before and after. */
export const approvalsSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const row = (approval: Approval): ReadonlyArray<Cell> => {
    const unit = { token: approval.token, tokenId: approval.tokenId };
    const countable =
      ["erc20", "permit2", "aaveDebt"].includes(approval.standard) ||
      (approval.standard === "erc6909" && approval.tokenId !== null);
    const shown = (amount: bigint | null): string => {
      if (amount === null) return "not known";
      if (amount === maxUint256) return "unlimited";
      if (countable) return amountInWords(names, unit, amount);
      return amount === 0n ? "no" : approval.tokenId === null ? "all" : "yes";
    };
    const granted = approval.after !== 0n;
    return [
      { text: unitText(names, unit) },
      { text: `${names.short(approval.owner)} → ${names.short(approval.spender)}` },
      dim(spenderKinds[approval.spenderKind]),
      {
        text: `${shown(approval.before)} → ${approval.unlimited && granted ? unlimitedText(shown(approval.after)) : shown(approval.after)}`,
        tone: !granted ? "good" : approval.unlimited ? "bad" : "warn",
      },
      dim(
        approval.expiration === null
          ? approval.standard
          : `${approval.standard} until ${dateText(approval.expiration)}`,
      ),
      dim(approval.evidence),
    ];
  };
  return section(
    "Every approval, exact",
    table(
      [
        left("token"),
        left("owner → spender"),
        left("spender is"),
        left("before → after"),
        left("kind"),
        left("evidence"),
      ],
      report.approvals,
      row,
    ),
  );
};

/** The whole addresses behind the short ones. */
export const addressesSection = (names: Names): ReadonlyArray<Section> =>
  section(
    "Addresses",
    facts(
      ...names.legend.slice(0, 200).map(({ address, roles }) => {
        const symbol = roles.includes("token") ? unitText(names, { token: address, tokenId: null }) : "";
        const nobody = /^0x0{40}$/.test(address) ? ["nobody: minted or burned"] : [];
        return {
          label: names.short(address),
          text: joined(checksummed(address), ...roles.filter((role) => role !== "token"), symbol, ...nobody),
        };
      }),
    ),
  );
