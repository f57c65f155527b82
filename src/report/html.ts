/** The report as one HTML file that needs nothing else and can do nothing: no script, no request. */
import { sha256 } from "@noble/hashes/sha2";
import type { RenderOptions } from "./amounts.js";
import { compose } from "./compose.js";
import { documents } from "../primitives/publisher.js";
import { left, type Block, type Cell, type Column, type Fact, type Section } from "./document.js";
import type { Report } from "./schema.js";
import { drawing, escapeXml, svgStyle } from "./svg.js";

/** How the page looks: one column on a phone, tables on a desktop, dark ink in print. */
const pageStyle = `:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--dim:#57606a;--line:#d0d7de;--good:#116329;--warn:#7d4e00;--bad:#b3151d;--soft:#f6f8fa}
@media screen and (prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--dim:#9198a1;--line:#30363d;--good:#56d364;--warn:#e3b341;--bad:#ff7b72;--soft:#161b22}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;color:var(--fg);background:var(--bg);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.5rem;letter-spacing:.04em;line-height:1.2}
h2{margin:1.5rem 0 .5rem;font-size:1.05rem}
header,footer{padding:.875rem 1rem;border:1px solid var(--line);border-left:.4rem solid var(--line);border-radius:.5rem;background:var(--soft)}
footer{margin-top:1.5rem}
p{margin:.25rem 0}
.because{font-weight:600}
.summary{font-size:1.05rem}
.picture{max-width:30rem;margin:1.5rem auto 0}
.picture svg{display:block;width:100%;height:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;unicode-bidi:isolate;overflow-wrap:anywhere}
th{color:var(--dim);font-weight:400}
th[scope=row]{white-space:nowrap;width:1%}
.right{text-align:right;white-space:nowrap}
ul{margin:0;padding:0;list-style:none}
li{margin:.5rem 0;padding:.5rem .75rem;border-left:.25rem solid var(--line);background:var(--soft);border-radius:.25rem}
ul.bad li{border-left-color:var(--bad)}ul.warn li{border-left-color:var(--warn)}
.whole{white-space:nowrap}
.code{color:var(--dim);font-size:.8rem}
.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}.dim{color:var(--dim)}
header,ul{color:var(--fg)!important}
header.good{border-left-color:var(--good)}header.warn{border-left-color:var(--warn)}header.bad{border-left-color:var(--bad)}
header.good h1{color:var(--good)}header.warn h1{color:var(--warn)}header.bad h1{color:var(--bad)}
details{margin-top:1.5rem;border-top:1px solid var(--line)}
summary{padding:.75rem 0;cursor:pointer;font-weight:600}
details table{font-family:ui-monospace,Consolas,monospace;font-size:.8rem}
td.address{white-space:nowrap;font-family:ui-monospace,Consolas,monospace;font-size:.75rem}
@media screen and (max-width:40rem){
h2{margin-top:1rem}
thead{display:none}
table,tbody,tr,td,tr>th{display:block;width:auto}
tr{padding:.4rem 0;border-bottom:1px solid var(--line)}
td,th{border:0;padding:.05rem 0}
td.right{text-align:left;white-space:normal}
th[scope=row]{width:auto}
main>section td,main>section th[scope=row]{display:inline;padding-right:.4rem}
details td[data-title]::before{content:attr(data-title) " ";color:var(--dim)}
}
@media print{
body{max-width:none;padding:0;font-size:11pt}
header,footer,li,tr,svg{break-inside:avoid}
details::details-content{content-visibility:visible;block-size:auto}
}`;

const style = `${pageStyle}\n${svgStyle}`;

/** Escaped words, of which a shortened address is not broken. */
const proseHtml = (text: string): string => {
  const isShort = (word: string) => word.includes("…") && word.length < 24;
  const words = text.split(" ").map((word) => [escapeXml(word), isShort(word)] as const);
  return words.map(([word, isKept]) => (isKept ? `<span class="whole">${word}</span>` : word)).join(" ");
};

const tableHtml = (head: string, rows: ReadonlyArray<string>): string =>
  `<div class="scroll"><table>${head}<tbody>${rows.map((cells) => `<tr>${cells}</tr>`).join("\n")}</tbody></table></div>`;

const factHtml = ({ label, text, tone, evidence }: Fact): string =>
  `<th scope="row">${escapeXml(label)}</th><td><bdi class="${tone ?? "plain"}">${proseHtml(text)}</bdi>${evidence === undefined ? "" : ` <span class="dim">${escapeXml(evidence)}</span>`}</td>`;

const cellHtml = ({ text, tone, isAddress }: Cell, { title, align }: Column = left("")): string =>
  `<td data-title="${escapeXml(title)}" class="${align} ${tone ?? "plain"}${isAddress === true ? " address" : ""}"><bdi>${proseHtml(text)}</bdi></td>`;

const blockHtml = (block: Block): string => {
  if (block.kind === "facts") return tableHtml("", block.facts.map(factHtml));
  if (block.kind === "table") {
    const { columns, rows, rest } = block;
    const titles = columns.map(({ title, align }) => `<th scope="col" class="${align}">${escapeXml(title)}</th>`);
    const cells = rows.map((row) => row.map((cell, at) => cellHtml(cell, columns[at])).join(" "));
    const more = rest === "" ? "" : `<p class="dim">${rest}</p>`;
    return `${tableHtml(`<thead><tr>${titles.join("")}</tr></thead>`, cells)}${more}`;
  }
  const items = block.items.map(({ code, what, details, remedy, docs }) => {
    // why: a reader of the page has no file of the package
    const page = docs === undefined || documents === null ? null : escapeXml(`${documents}${docs}`);
    const shown =
      page === null ? escapeXml(code) : `<a href="${page}" rel="noreferrer" target="_blank">${escapeXml(code)}</a>`;
    const name = what === "" && page === null ? "" : ` <span class="code">${shown}</span>`;
    const title = `<strong><bdi>${proseHtml(what === "" ? code : what)}</bdi></strong>${name}`;
    const places = details.map((detail) => `<br><bdi class="dim">${proseHtml(detail)}</bdi>`).join("");
    return `<li>${title}${places}${remedy === "" ? "" : `<br>→ <bdi>${escapeXml(remedy)}</bdi>`}</li>`;
  });
  return `<ul class="${block.tone}">${items.join("\n")}</ul>`;
};

const sectionHtml = ({ title, tone, blocks }: Section): string =>
  `<section><h2 class="${tone ?? "plain"}">${escapeXml(title)}</h2>${blocks.map(blockHtml).join("\n")}</section>`;

/**
 * A standalone page for phones, desktops and print, light and dark: verdict, reason and {@link summary}, the findings,
 * the picture of {@link toSvg}, what moves and what it costs, amounts rounded; the technical part, exact, is folded at the
 * end. Its own policy forbids everything but its one style sheet, by hash; every string of the report is escaped.
 */
export const toHtml = (report: Report, options: RenderOptions = {}): string => {
  const document = compose(report, options);
  const { title, tone, because, summary, findings, stakes, about, next, technical } = document;
  const hash = btoa(String.fromCharCode(...sha256(style)));
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title} · evm-preflight</title>
<style>${style}</style>
</head>
<body>
<header class="${tone}"><h1>${title}</h1>
<p class="because">${escapeXml(because)}</p>
${summary.map((line) => `<p class="summary">${proseHtml(line)}</p>`).join("\n")}</header>
<main>
${findings.map(sectionHtml).join("\n")}
<div class="picture">${drawing(document, false)}</div>
${stakes.map(sectionHtml).join("\n")}
<footer><p><strong>Next:</strong> ${escapeXml(next)}</p><p class="dim">${escapeXml(about)}</p></footer>
<details><summary>Everything else, exact</summary>
${technical.map(sectionHtml).join("\n")}
</details>
</main>
</body>
</html>
`;
};
