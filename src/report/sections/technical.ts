/** Everything exact: what leaves, what arrives, who gets rights, what changes in storage; on which state everything was asked, and what it took. */
import { isNobody } from "../../abi/words.js";
import { checksummed } from "../../primitives/text.js";
import type { Approval, BalanceChange, Transfer } from "../parts.js";
import {
  type Cell,
  counted,
  dim,
  fact,
  type Fact,
  factsSection,
  joined,
  known,
  left,
  right,
  type Section,
  type Shown,
  tableSection,
} from "../document.js";
import type { Evidence } from "../finding.js";
import type { Observed, Report } from "../schema.js";
import {
  accountsOf,
  amountForPeople,
  amountInSentence,
  dateText,
  rolesOf,
  type Names,
  type Unit,
  unitForPeople,
} from "../amounts.js";
import { type Currency, formatGas, formatGasPrice, maxUint256 } from "../../primitives/units.js";
import { minesOnDemand } from "../freshness.js";
import type { StateChange } from "../beside.js";

const evidence: Shown<{ readonly evidence: Evidence }> = [left("evidence"), (row) => dim(row.evidence)];

/** Seen from the bundle's senders: `-` leaves them, `+` reaches them, `=` stays among them or passes by. */
const directed = ({ from, to }: Transfer, senders: ReadonlyArray<string>, amount: string): Cell => {
  const out = senders.includes(from.toLowerCase());
  if (out === senders.includes(to.toLowerCase())) return { text: `=${amount}` };
  return out ? { text: `-${amount}`, tone: "bad" } : { text: `+${amount}`, tone: "good" };
};

const smallest = (token: string | null, amount: bigint): string => (token === null ? `${amount} wei` : String(amount));

/** The movements, in the order they happen. */
export const transfersSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const senders = accountsOf(report);
  const place: Shown<Transfer> = [left("tx"), ({ transaction }) => dim(`tx ${transaction + 1}`)];
  return tableSection<Transfer>("Every movement, exact", report.transfers, [
    [
      right("amount"),
      (transfer) => directed(transfer, senders, amountForPeople(names, transfer, transfer.amount, "up", true).digits),
    ],
    [left("token"), (transfer) => unitForPeople(names, transfer)],
    [right("smallest units"), ({ token, amount }) => dim(smallest(token, amount))],
    [left("from → to"), ({ from, to }) => `${names.short(from)} → ${names.short(to)}`],
    ...(report.transactions.length > 1 ? [place] : []),
    evidence,
  ]);
};

const signed = (delta: bigint, shown: string): Cell =>
  delta > 0n ? { text: `+${shown}`, tone: "good" } : { text: shown, tone: delta < 0n ? "bad" : "plain" };

/** Shows what every account ends with. */
export const balancesSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const shown = (unit: Unit, amount: bigint | null) =>
    amount === null ? "not known" : amountForPeople(names, unit, amount, "up", true).digits;
  return tableSection<BalanceChange>("Balances before and after, fees left out", report.balanceChanges, [
    [left("account"), ({ account }) => names.short(account)],
    [right("change"), (change) => signed(change.delta, shown(change, change.delta))],
    [left("token"), (change) => unitForPeople(names, change)],
    [right("smallest units"), ({ token, delta }) => dim(smallest(token, delta))],
    [left("before → after"), (change) => `${shown(change, change.before)} → ${shown(change, change.after)}`],
    evidence,
  ]);
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
  if (countable && tokenId !== null) return String(amount);
  if (countable) return amount === 0n ? "0" : amountInSentence(names, { token, tokenId }, amount, "up");
  return amount === 0n ? "no" : tokenId === null ? "all" : "yes";
};

const changeCell = (approval: Approval, names: Names): Cell => {
  const { before, after, unlimited } = approval;
  const [had, has] = [standing(approval, before, names), standing(approval, after, names)];
  if (after === 0n || !unlimited) return { text: `${had} → ${has}`, tone: after === 0n ? "good" : "warn" };
  return { text: `${had} → UNLIMITED${after === maxUint256 ? "" : ` (${has})`}`, tone: "bad" };
};

/** The rights that change, before and after. */
export const approvalsSection = (report: Report, names: Names): ReadonlyArray<Section> =>
  tableSection<Approval>("Every approval, exact", report.approvals, [
    [left("token"), (approval) => unitForPeople(names, approval)],
    [left("owner → spender"), ({ owner, spender }) => `${names.short(owner)} → ${names.short(spender)}`],
    [left("spender is"), ({ spenderKind }) => dim(spenderKinds[spenderKind])],
    [left("before → after"), (approval) => changeCell(approval, names)],
    [
      left("kind"),
      ({ standard, expiration: end }) => dim(end === null ? standard : `${standard} until ${dateText(end)}`),
    ],
    evidence,
  ]);

/** A slot by its number, or by the beginning of a hash. */
const slotText = (slot: string): string =>
  BigInt(slot) < 256n ? `slot ${BigInt(slot)}` : `slot ${slot.slice(0, 10)}…`;

const heldText = ({ holds, slot, seen }: StateChange): string =>
  joined(seen === "unseen" ? "not checked" : holds, known(slot, slotText));

/** An address, where a word may be one, else its number. */
const wordText = (word: string | null): string => {
  if (word === null) return "not known";
  const value = BigInt(word);
  if (value >> 160n !== 0n) return word;
  return value >> 96n === 0n ? String(value) : checksummed(`0x${word.slice(26)}`);
};

/** One row for each change, and for each account that was not looked at. */
export const statesSection = ({ stateChanges }: Report): ReadonlyArray<Section> =>
  tableSection<StateChange>("Storage that says who acts", stateChanges, [
    [left("account"), ({ account }) => ({ text: checksummed(account), isAddress: true })],
    [left("what"), heldText],
    [left("before"), ({ before }) => wordText(before)],
    [left("after"), ({ after }) => wordText(after)],
    [left("seen by"), ({ seen }) => dim(seen)],
  ]);

/** The whole addresses behind the short ones, where there are any. */
export const addressesSection = (report: Report, names: Names): ReadonlyArray<Section> => {
  const isShort = report.transfers.length + report.balanceChanges.length + report.approvals.length > 0;
  const rows = [...(isShort ? rolesOf(report) : [])].slice(0, 200).map(([address, roles]): Fact => {
    const symbol = roles.has("token") ? unitForPeople(names, { token: address, tokenId: null }) : "";
    const nobody = isNobody(address) ? "nobody: minted or burned" : "";
    const known = [...roles].filter((role) => role !== "token");
    return {
      label: names.short(address),
      text: joined(checksummed(address), names.label(address), ...known, symbol, nobody),
    };
  });
  return factsSection("Addresses", ...rows);
};

const tiers: Readonly<Record<Observed["tier"], string>> = {
  simulate: "simulate: eth_simulateV1 ran the bundle",
  call: "call: eth_call and eth_estimateGas only, which see no movements and no later transactions",
  none: "none: the node ran nothing",
};

const freshnessText = ({ freshness, latestNumber }: Observed, chainId: number | null): string => {
  const latest = known(latestNumber, (number) => ` (latest is block ${number})`) ?? "";
  const unpaced = minesOnDemand(chainId) ? "; by number alone, for this chain mines on demand" : "";
  return `${freshness === "unknown" ? "not known" : freshness}${latest}${unpaced}`;
};

/** More worlds than any proof has. */
const maxWorlds = 8;

const worldText = ({ run, state, number, timestamp, agrees }: Observed["worlds"][number]): string => {
  const on = typeof state === "bigint" ? `block ${state}` : state;
  const block = number === null ? "a block not known" : `block ${number}`;
  const when = known(timestamp, (seconds) => ` at ${dateText(seconds)}`) ?? "";
  const otherwise = agrees === null ? " (not compared)" : agrees ? "" : " (DIFFERS)";
  return `${on}, ${run} as ${block}${when}${otherwise}`;
};

const worldsFact = (worlds: Observed["worlds"]): Fact | null => {
  if (worlds.length === 0) return null;
  const same = worlds.every(({ agrees }) => agrees === true);
  const cut = worlds.length - maxWorlds;
  const shown = [...worlds.slice(0, maxWorlds).map(worldText), ...(cut > 0 ? [`… and ${cut} more`] : [])].join("; ");
  const text = `${same && worlds.length > 1 ? "the same in" : "in"} ${counted(worlds.length, "simulated block")}: ${shown}`;
  return fact("proven", text, { tone: same ? "good" : "warn" });
};

/** The state everything was asked on, and what it took. */
export const observedSection = ({ observed, ledger, digest, chainId }: Report, currency: Currency) => {
  const { tier, leftOut } = observed;
  const block = joined(
    `asked for ${String(observed.blockTag)}`,
    known(observed.baseNumber, (number) => `state after block ${number}`) ?? "base not known",
    known(observed.simulatedNumber, (number) => `simulated as block ${number}`),
    known(observed.timestamp, (seconds) => `at ${dateText(seconds)}`),
  );
  const header = joined(
    known(observed.baseFeePerGas, (fee) => `base fee ${formatGasPrice(fee, currency)}`),
    known(observed.gasLimit, (gas) => `gas limit ${formatGas(gas)}`),
  );
  const took = `${Math.round(ledger.ms)} ms`;
  return factsSection(
    "What this rests on",
    fact("block", block),
    fact("parent", observed.parentHash),
    fact("header", header === "" ? null : header),
    fact("freshness", freshnessText(observed, chainId), { tone: observed.freshness === "fresh" ? "good" : "warn" }),
    fact("tier", joined(tiers[tier], leftOut.length === 0 ? null : `without ${leftOut.join(", ")}`), {
      tone: tier === "simulate" && leftOut.length === 0 ? "plain" : "warn",
    }),
    worldsFact(observed.worlds),
    fact("fingerprint", digest),
    fact("asked", joined(counted(ledger.rounds, "round"), counted(ledger.requests.length, "question"), took)),
  );
};
