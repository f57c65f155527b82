/** The movements as a picture: who gives what to whom, which way, and what may be taken. Plain strings, no script, nothing from elsewhere. */
import * as Arr from "effect/Array";
import {
  amountForPeople,
  decimalsOf,
  idText,
  mostForPeople,
  signedText,
  symbolOf,
  type AmountOptions,
  type Names,
} from "./amounts.js";
import { isNobody } from "../abi/words.js";
import { formatGasPrice } from "../primitives/units.js";
import { known } from "./document.js";
import type { Approval } from "./parts.js";
import { escapeText } from "../primitives/text.js";
import type { Report } from "./schema.js";
import { failuresOf, roundingOf, type Flow } from "./flows.js";
import { spenderText, readingOf, type Cost, type Grant, type RenderSources } from "./stakes.js";
import { sentencesOf } from "./summary.js";

/** One arrow. */
interface Arrow {
  readonly account: string;
  /** A line each. */
  readonly party: ReadonlyArray<string>;
  readonly kind: "out" | "in" | "right" | "plain" | "fee";
  /** Above the arrow. */
  readonly what: string;
  /** Below it. */
  readonly beside: string;
}

/** As many arrows as a screen of a phone holds; the rest is counted. */
const mostRows = 9;

const nobody = { out: "nobody (burned)", in: "newly made" } as const;

const partyKey = ({ account, party }: Arrow) => `${account}/${party.join("/")}`;

/** An address as lines of a box: below its label, so that no label pushes it out. */
const linesFor = (address: string, names: Names): ReadonlyArray<string> => {
  const label = names.label(address);
  return names.isYou(address) ? ["you"] : [...(label === null ? [] : [label]), names.short(address)];
};

/** A token by its symbol, and which of it. */
const itemText = (names: Names, token: string, tokenId: bigint | null): string =>
  `${symbolOf(names, token) ?? "token"}${tokenId === null ? "" : ` ${idText(tokenId)}`}`;

/** Says above an arrow how much moves, and below it of which token. */
const movedText = (flow: Flow, names: Names): readonly [what: string, beside: string] => {
  const { way, token, tokenId, amount } = flow;
  const sign = way === "out" ? "-" : "+";
  const shown = amountForPeople(names, flow, amount, roundingOf([flow], names));
  const text = signedText(shown, sign);
  if (token === null) return [`${text} ${shown.unit}`, ""];
  const [item, short] = [itemText(names, token, tokenId), names.short(token)];
  if (tokenId !== null) return [amount === 1n ? `${sign}${item}` : `${text} × ${item}`, short];
  return decimalsOf(names, token) === null ? [text, `smallest units, ${short}`] : [`${text} ${item}`, short];
};

const flowRow = (flow: Flow, names: Names): Arrow => {
  const { account, way, party } = flow;
  const [what, beside] = movedText(flow, names);
  const lines = party === null ? ["no event"] : isNobody(party) ? [nobody[way]] : linesFor(party, names);
  return { account, kind: way, party: lines, what, beside };
};

const counted: ReadonlyArray<Approval["standard"]> = ["erc20", "permit2", "aaveDebt", "erc6909"];

const limitOf = ({ standard, token, tokenId, after, unlimited }: Approval, names: Names): string => {
  const item = itemText(names, token, tokenId);
  if (!counted.includes(standard)) return `${tokenId === null ? "all of " : ""}${item}`;
  if (unlimited) return `unlimited ${item}`;
  if (after === null) return item;
  const most = amountForPeople(names, { token, tokenId }, after, names.isTyped(after) ? "none" : "up");
  return `≤ ${signedText(most, "")} ${tokenId === null && decimalsOf(names, token) === null ? "units" : item}`;
};

const grantRow = ({ approval }: Grant, names: Names): Arrow => ({
  account: approval.owner.toLowerCase(),
  party: isNobody(approval.spender) ? [spenderText(approval, names.who)] : linesFor(approval.spender, names),
  kind: "right",
  what: limitOf(approval, names),
  beside: `${approval.standard === "aaveDebt" ? "may borrow" : "may take"} · ${names.short(approval.token)}`,
});

const callRow = ({ input, code }: Report["transactions"][number], fails: boolean, names: Names): Arrow => {
  const { from, to, value } = input;
  const party = to ?? code.creates;
  const does = to === null ? "creates" : to === from && value > 0n ? "sends to itself" : "calls";
  return {
    account: from.toLowerCase(),
    party: party === null ? ["new contract"] : linesFor(party, names),
    kind: "plain",
    what: fails ? "would fail" : does,
    beside: "",
  };
};

const feeRow = ({ account, atMost, perGas, isOpen }: Cost, names: Names): Arrow => {
  const most = known(atMost, (wei) => `${isOpen ? "≥" : "≤"} ${mostForPeople(wei, names)}`);
  const price = known(perGas, (wei) => `≤ ${formatGasPrice(wei, names.native)}`);
  return { account, party: ["network fees"], kind: "fee", what: most ?? price ?? "not known", beside: "" };
};

/** The arrows of each sender together, the worst first: rights, what leaves, what comes, fees. */
const rowsOf = (report: Report, { names, movements, ...reading }: RenderSources) => {
  const failed = new Set(failuresOf(report));
  const grants = reading.grants.filter(({ change }) => change !== "back");
  const moving = [...grants, ...movements];
  const shownRows =
    moving.length === 0
      ? report.transactions.slice(0, mostRows).map((transaction, at) => callRow(transaction, failed.has(at), names))
      : moving.slice(0, mostRows).map((one) => ("approval" in one ? grantRow(one, names) : flowRow(one, names)));
  const costs = reading.costs.filter(({ account }, at) => at === 0 || shownRows.some((row) => row.account === account));
  const fees = costs.map((cost) => feeRow(cost, names));
  const accounts = [...new Set([...shownRows, ...fees].map(({ account }) => account))];
  const rows = accounts.flatMap((account) => {
    const own = shownRows.filter((row) => row.account === account);
    // why: one box for a party, where its first arrow is
    const together = Object.values(Arr.groupBy(own, partyKey)).flat();
    return [...together, ...fees.filter((row) => row.account === account)];
  });
  return { rows, cut: Math.max(0, moving.length - shownRows.length) };
};

const width = 360;
const rowHeight = 50;
const topOf = (at: number): number => 8 + at * rowHeight;
const [leftBox, rightBox] = [92, 124] as const;
const [arrowFrom, arrowTo] = [leftBox + 10, width - rightBox - 10] as const;

/** Colours of the picture where a viewer takes no style sheet, or no variables in it. */
const plainInk: Readonly<Record<Arrow["kind"], string>> = {
  out: "#b3151d",
  in: "#116329",
  right: "#7d4e00",
  plain: "#57606a",
  fee: "#57606a",
};

/** Text as itself, in an element or a quoted attribute of XML or HTML. */
export const escapeXml = (text: string): string =>
  text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);

/** More characters than a box shows. */
const mostText = 44;

/** A line in the middle of `x`, its letters pressed together where they would not fit. */
const line = (text: string, x: number, y: number, room: number, size: number, name: string): string => {
  const shown = text.length > mostText ? `${text.slice(0, mostText - 1)}…` : text;
  const fit = shown.length * size * 0.6 > room ? ` textLength="${room}" lengthAdjust="spacingAndGlyphs"` : "";
  return `<text x="${x}" y="${y}" font-size="${size}" text-anchor="middle" class="${name}"${fit}>${escapeXml(shown)}</text>`;
};

/** A box beside all rows of one key, where the first of them is. */
const boxSvg = (
  rows: ReadonlyArray<Arrow>,
  at: number,
  keyOf: (row: Arrow) => string,
  [x, wide]: readonly [x: number, wide: number],
  name: string,
  texts: ReadonlyArray<string>,
): string => {
  const keys = rows.map(keyOf);
  if (at > 0 && keys[at - 1] === keys[at]) return "";
  const rest = keys.slice(at).findIndex((key) => key !== keys[at]);
  const height = (rest === -1 ? rows.length - at : rest) * rowHeight - 8;
  const top = topOf(at);
  const middle = top + height / 2 + 4 - ((texts.length - 1) * 15) / 2;
  const lines = texts.map((text, nth) =>
    line(text, x + wide / 2, middle + nth * 15, wide - 10, nth === 0 ? 12.5 : 10.5, nth === 0 ? "fg" : "dim"),
  );
  return `<rect x="${x}" y="${top}" width="${wide}" height="${height}" rx="8" fill="#f6f8fa" stroke="#d0d7de" class="box ${name}"/>${lines.join("")}`;
};

const arrowSvg = ({ kind, what, beside }: Arrow, top: number): string => {
  const y = top + rowHeight / 2 - 2;
  const [from, to] = kind === "in" ? [arrowTo, arrowFrom] : [arrowFrom, arrowTo];
  const back = kind === "in" ? 7 : -7;
  const middle = (arrowFrom + arrowTo) / 2;
  const room = arrowTo - arrowFrom - 4;
  const ink = `fill="none" stroke="${plainInk[kind]}" stroke-width="1.75"`;
  const head = `<path d="M${to + back} ${y - 5}L${to} ${y}L${to + back} ${y + 5}" ${ink} class="arrow ${kind}"/>`;
  const shaft = `<path d="M${from} ${y}L${to} ${y}" ${ink}${kind === "right" ? ' stroke-dasharray="5 4"' : ""} class="arrow ${kind}"/>`;
  return `${shaft}${head}${line(what, middle, y - 9, room, 12, `${kind} strong`)}${beside === "" ? "" : line(beside, middle, y + 14, room, 10, "dim")}`;
};

const rowSvg = (rows: ReadonlyArray<Arrow>, row: Arrow, at: number, names: Names): string => {
  const label = names.isYou(row.account) ? ["You", names.short(row.account)] : linesFor(row.account, names);
  const sender = boxSvg(rows, at, ({ account }) => account, [4, leftBox], "", label);
  const risk = row.kind === "right" ? "risky" : "";
  const party = boxSvg(rows, at, partyKey, [width - rightBox - 4, rightBox], risk, row.party);
  return sender + party + arrowSvg(row, topOf(at));
};

/** The colours of the picture; those of the page are the same. */
export const svgStyle = `.evm-preflight{--fg:#1b1f24;--bg:#fff;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--out:#b3151d;--in:#116329;--right:#7d4e00}
@media screen and (prefers-color-scheme:dark){.evm-preflight{--fg:#e6edf3;--bg:#0d1117;--dim:#9198a1;--line:#30363d;--soft:#161b22;--out:#ff7b72;--in:#56d364;--right:#e3b341}}
.evm-preflight text{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--fg)}
.evm-preflight .strong{font-weight:600}
.evm-preflight .dim{fill:var(--dim)}
.evm-preflight text.out{fill:var(--out)}.evm-preflight text.in{fill:var(--in)}.evm-preflight text.right{fill:var(--right)}
.evm-preflight .box{fill:var(--soft);stroke:var(--line)}
.evm-preflight .risky{stroke:var(--right)}
.evm-preflight .back{fill:var(--bg)}
.evm-preflight .arrow{stroke:var(--dim);stroke-linecap:round;stroke-linejoin:round}
.evm-preflight .arrow.out{stroke:var(--out)}.evm-preflight .arrow.in{stroke:var(--in)}.evm-preflight .arrow.right{stroke:var(--right)}`;

const captionHeight = 20;

/** Returns captions of calls, a line for each of the first transactions: the function, by its name alone. */
const captionsOf = ({ transactions }: Report): ReadonlyArray<string> =>
  transactions
    .flatMap(({ call }, index) => {
      if (call === null || call.to === null) return [];
      const by = call.by === "selector" ? " (by selector)" : "";
      const what = call.function === null ? `a function not known (${call.selector})` : `${call.function}${by}`;
      const inside = call.calls.length + call.more;
      const place = transactions.length === 1 ? "" : `${index + 1}. `;
      return [`${place}${escapeText(what, 60)}${inside === 0 ? "" : `, ${inside} calls inside`}`];
    })
    .slice(0, mostCaptions);
const mostCaptions = 3;

/** The picture; `description` describes it, `style` is what stands in it before everything else. */
export const drawing = (report: Report, reading: RenderSources, description: ReadonlyArray<string>, style: string) => {
  const { rows, cut } = rowsOf(report, reading);
  const captions = captionsOf(report);
  const lower = captions.length * captionHeight;
  const height = 12 + lower + rows.length * rowHeight + (cut === 0 ? 0 : 20);
  const called = captions.map((text, at) =>
    line(text, width / 2, 16 + at * captionHeight - lower, width - 20, 12.5, "fg strong"),
  );
  const title = report.verdict === "blocked" || report.verdict === "unknown" ? "What would move" : "What moves";
  const more = cut === 0 ? "" : line(`and ${cut} more`, width / 2, height - lower - 8, width - 20, 12, "dim");
  const text = escapeXml(description.join(" "));
  return `<svg xmlns="http://www.w3.org/2000/svg" class="evm-preflight" viewBox="0 ${-lower} ${width} ${height}" role="img" aria-labelledby="evm-preflight-title evm-preflight-desc"><title id="evm-preflight-title">${title}</title><desc id="evm-preflight-desc">${text}</desc>${style}<rect y="${-lower}" width="${width}" height="${height}" fill="#fff" class="back"/>${called.join("")}${rows.map((row, at) => rowSvg(rows, row, at, reading.names)).join("\n")}${more}</svg>`;
};

/**
 * Draws movements as an SVG picture, 360 units wide, scalable: each sender, the parties, an arrow per amount, a dashed
 * one for every right that is given, the fees. The worst first; of many, nine arrows and how many more there are.
 * For light and dark, with a title and a description; no script, no reference to anything outside. The same report gives
 * the same picture. Every string of the report is escaped and bounded.
 */
export const toSvg = (report: Report, options: AmountOptions = {}): string => {
  const reading = readingOf(report, options);
  return drawing(report, reading, sentencesOf(report, reading), `<style>${svgStyle}</style>`);
};
