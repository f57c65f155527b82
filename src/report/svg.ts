/** The picture of a document as SVG. Plain strings, no script, nothing from elsewhere. */
import type { AmountOptions } from "./amounts.js";
import { compose, type Document } from "./compose.js";
import { partyKey, type Arrow, type Picture } from "./picture.js";
import type { Report } from "./schema.js";

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

const rowSvg = (rows: Picture["rows"], row: Picture["rows"][number], at: number): string => {
  const sender = boxSvg(rows, at, ({ account }) => account, [4, leftBox], "", row.from);
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

const lineHeight = 20;

/** Colours of a verdict where a viewer takes no style sheet. */
const toneInk = { good: "in", warn: "right", bad: "out", plain: "plain", dim: "plain" } as const;

/** The picture of a document; `isAlone`: it stands by itself, and begins with the verdict. */
export const drawing = ({ title, tone, summary, picture }: Document, isAlone: boolean): string => {
  const { rows, cut, captions } = picture;
  const upper = isAlone ? lineHeight + 4 : 0;
  const lower = 12 + rows.length * rowHeight;
  const below = [...(cut === 0 ? [] : [`and ${cut} more`]), ...captions];
  const height = upper + lower + below.length * lineHeight;
  const lines = below.map((text, at) =>
    line(text, width / 2, lower + 8 + at * lineHeight, width - 20, 12.5, cut > 0 && at === 0 ? "dim" : "fg strong"),
  );
  const head = isAlone ? line(title, width / 2, -6, width - 20, 14, `${toneInk[tone]} strong`) : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" class="evm-preflight" viewBox="0 ${-upper} ${width} ${height}" role="img" aria-labelledby="evm-preflight-title evm-preflight-desc"><title id="evm-preflight-title">${picture.title}</title><desc id="evm-preflight-desc">${escapeXml(summary.join(" "))}</desc>${isAlone ? `<style>${svgStyle}</style>` : ""}<rect y="${-upper}" width="${width}" height="${height}" fill="#fff" class="back"/>${head}${rows.map((row, at) => rowSvg(rows, row, at)).join("\n")}${lines.join("")}</svg>`;
};

/**
 * Draws movements as an SVG picture, 360 units wide, scalable, below the verdict: each sender, the parties, an arrow per amount, a dashed
 * one for every right that is given, the fees. The worst first; of many, nine arrows and how many more there are.
 * For light and dark, with a title and a description; no script, no reference to anything outside. The same report gives
 * the same picture. Every string of the report is escaped and bounded.
 */
export const toSvg = (report: Report, options: AmountOptions = {}): string => drawing(compose(report, options), true);
