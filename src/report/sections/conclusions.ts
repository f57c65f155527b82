/** Whether it can be paid, on which state everything was asked, and what it took. */
import { checksummed } from "../../primitives/text.js";
import { formatGas, formatGasPrice, formatWei } from "../../primitives/units.js";
import type { Funds, FundsTerm } from "../parts.js";
import {
  dim,
  facts,
  joined,
  known,
  left,
  right,
  section,
  table,
  type Block,
  type Shown,
  type Fact,
  type Section,
} from "../document.js";
import type { Observed, Report, World } from "../schema.js";
import { minesOnDemand } from "../freshness.js";
import { dateText, fiatText, weiText } from "../amounts.js";
import type { Money } from "./transaction.js";

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
    amount === null ? "not known" : `${weiText(amount, money.symbol)}${fiatText(amount, money.price)}`;
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
      [right("amount"), ({ amount }) => formatWei(amount, money.symbol)],
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
  symbol: string,
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
              known(observed.baseFeePerGas, (fee) => `base fee ${formatGasPrice(fee, symbol)}`),
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
