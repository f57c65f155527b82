/**
 * Everything exact: what leaves, what arrives, and who gets rights, one line each; whether it can be paid, on which state
 * everything was asked, and what it took.
 */
import { maxUint256 } from "viem";
import { isNobody } from "../../abi/words.js";
import { checksummed } from "../../primitives/text.js";
import type { Approval, BalanceChange, Funds, FundsTerm, Transfer } from "../parts.js";
import {
  type Block,
  type Cell,
  dim,
  type Fact,
  facts,
  joined,
  known,
  left,
  right,
  section,
  type Section,
  type Shown,
  table,
} from "../document.js";
import type { Evidence } from "../finding.js";
import type { Observed, Report, World } from "../schema.js";
import {
  accountsOf,
  amountForPeople,
  amountInSentence,
  dateText,
  fiatText,
  type Names,
  type Unit,
  unitForPeople,
  weiText,
} from "../amounts.js";
import { type Currency, formatGas, formatGasPrice, formatWei } from "../../primitives/units.js";
import { minesOnDemand } from "../freshness.js";
import type { Money } from "./transaction.js";

const evidence: Shown<{ readonly evidence: Evidence }> = [left("evidence"), (one) => dim(one.evidence)];

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
  return section(
    "Every movement, exact",
    table<Transfer>(report.transfers, [
      [right("amount"), (one) => directed(one, senders, amountForPeople(names, one, one.amount, "up", true).digits)],
      [left("token"), (transfer) => unitForPeople(names, transfer)],
      [right("smallest units"), ({ token, amount }) => dim(smallest(token, amount))],
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
    amount === null ? "not known" : amountForPeople(names, unit, amount, "up", true).digits;
  return section(
    "Balances before and after, fees left out",
    table<BalanceChange>(report.balanceChanges, [
      [left("account"), ({ account }) => names.short(account)],
      [right("change"), (change) => signed(change.delta, shown(change, change.delta))],
      [left("token"), (change) => unitForPeople(names, change)],
      [right("smallest units"), ({ token, delta }) => dim(smallest(token, delta))],
      [left("before → after"), (change) => `${shown(change, change.before)} → ${shown(change, change.after)}`],
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
  if (countable && tokenId !== null) return String(amount);
  if (countable) return amount === 0n ? "0" : amountInSentence(names, { token, tokenId }, amount, "up");
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
      [left("token"), (approval) => unitForPeople(names, approval)],
      [left("owner → spender"), ({ owner, spender }) => `${names.short(owner)} → ${names.short(spender)}`],
      [left("spender is"), ({ spenderKind }) => dim(spenderKinds[spenderKind])],
      [
        left("before → after"),
        (approval) => ({
          text: `${standing(approval, approval.before, names)} → ${granted(approval, names)}`,
          tone: approval.after === 0n ? "good" : approval.unlimited ? "bad" : "warn",
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
        const symbol = roles.includes("token") ? unitForPeople(names, { token: address, tokenId: null }) : "";
        const nobody = isNobody(address) ? ["nobody: minted or burned"] : [];
        return {
          label: names.short(address),
          text: joined(checksummed(address), ...roles.filter((role) => role !== "token"), symbol, ...nobody),
        };
      }),
    ),
  );

const termNames: Readonly<Record<FundsTerm["name"], string>> = {
  value: "value",
  gas: "gas limit × max fee",
  blobGas: "blob gas × max blob fee",
  l1Fee: "L1 data fee, with room to rise",
  operatorFee: "operator fee",
  received: "received earlier in the bundle",
  spent: "spent by the calls",
};

const fundsBlocks = (funds: Funds, bundle: boolean, money: Money): ReadonlyArray<Block> => {
  const wei = (amount: bigint | null): string =>
    amount === null
      ? "not known"
      : `${weiText(amount, money.currency)}${fiatText(amount, money.price, money.currency)}`;
  const place: Shown<FundsTerm> = [left("tx"), ({ transaction }) => `tx ${transaction + 1}`];
  const paid = funds.terms.some(({ name }) => name === "received") ? ", beside what the bundle itself brings in" : "";
  return [
    ...facts(
      { label: "account", text: checksummed(funds.account), evidence: funds.evidence },
      { label: "there is", text: wei(funds.balance) },
      { label: "at most", text: `${wei(funds.required)}${funds.required === null ? "" : paid}` },
      { label: "likely", text: wei(funds.expected) },
      {
        label: "missing",
        text: funds.shortfall === 0n ? "none" : wei(funds.shortfall),
        tone: funds.shortfall === 0n ? "good" : funds.shortfall === null ? "warn" : "bad",
      },
    ),
    ...table<FundsTerm>(funds.terms, [
      ...(bundle ? [place] : []),
      [left("for"), ({ name }) => termNames[name]],
      [right("amount"), ({ amount }) => formatWei(amount, money.currency)],
      [right("exact"), ({ amount }) => dim(`${amount} wei`)],
    ]),
  ];
};

/** Each payer's sum, term by term. */
export const fundsSection = (report: Report, money: Money): ReadonlyArray<Section> =>
  section(
    "Funds",
    report.funds.flatMap((funds) => fundsBlocks(funds, report.transactions.length > 1, money)),
  );

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

const worldText = ({ run, state, number, timestamp, agrees }: World): string => {
  const on = typeof state === "bigint" ? `sealed block ${state}` : state;
  const block = number === null ? "a block not known" : `block ${number}`;
  const when = known(timestamp, (seconds) => ` at ${dateText(seconds)}`) ?? "";
  const otherwise = agrees === null ? " (not compared)" : agrees ? "" : " (DIFFERS)";
  return `${on}, ${run} as ${block}${when}${otherwise}`;
};

const worldsFact = (worlds: ReadonlyArray<World>): Fact | null => {
  if (worlds.length === 0) return null;
  const same = worlds.every(({ agrees }) => agrees === true);
  const shown = worlds.slice(0, maxWorlds).map(worldText);
  const cut = worlds.length - shown.length;
  const number = worlds.length === 1 ? "1 world" : `${worlds.length} worlds`;
  return {
    label: "proven",
    text: `${same && worlds.length > 1 ? "the same in" : "in"} ${number}: ${shown.join("; ")}${cut === 0 ? "" : `; … and ${cut} more`}`,
    tone: same ? "good" : "warn",
  };
};

/** The state everything was asked on, and what it took. */
export const observedSection = (
  { observed, ledger, digest, chainId }: Report,
  currency: Currency,
): ReadonlyArray<Section> =>
  section(
    "What this rests on",
    facts(
      {
        label: "block",
        text: joined(
          `asked for ${String(observed.blockTag)}`,
          known(observed.baseNumber, (number) => `state after block ${number}`) ?? "base not known",
          known(observed.simulatedNumber, (number) => `simulated as block ${number}`),
          known(observed.timestamp, (seconds) => `at ${dateText(seconds)}`),
        ),
      },
      observed.parentHash === null ? null : { label: "parent", text: observed.parentHash },
      observed.baseFeePerGas === null && observed.gasLimit === null
        ? null
        : {
            label: "header",
            text: joined(
              known(observed.baseFeePerGas, (fee) => `base fee ${formatGasPrice(fee, currency)}`),
              known(observed.gasLimit, (gas) => `gas limit ${formatGas(gas)}`),
            ),
          },
      {
        label: "freshness",
        text: freshnessText(observed, chainId),
        tone: observed.freshness === "fresh" ? "good" : "warn",
      },
      {
        label: "tier",
        text: joined(
          tiers[observed.tier],
          known(observed.leftOut.join(", ") || null, (left) => `without ${left}`),
        ),
        tone: observed.tier === "simulate" && observed.leftOut.length === 0 ? "plain" : "warn",
      },
      worldsFact(observed.worlds),
      digest === null ? null : { label: "fingerprint", text: digest },
      {
        label: "asked",
        text: `${ledger.rounds} ${ledger.rounds === 1 ? "round" : "rounds"} · ${ledger.requests.length} ${ledger.requests.length === 1 ? "question" : "questions"} · ${Math.round(ledger.ms)} ms`,
      },
    ),
  );
