/** The report as one HTML file that needs nothing else and can do nothing: no script, no request. */
import { sha256, stringToBytes } from "viem";
import { compose, type RenderOptions } from "./compose.js";
import { verdictTone, type Block, type Section } from "./document.js";
import type { Report } from "./schema.js";

const style = `:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--dim:#656d76;--line:#d0d7de;--good:#116329;--warn:#7d4e00;--bad:#b3151d;--soft:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--dim:#8d96a0;--line:#30363d;--good:#3fb950;--warn:#d29922;--bad:#f85149;--soft:#161b22}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1.5rem;color:var(--fg);background:var(--bg);font:15px/1.5 system-ui,sans-serif}
h1{margin:0;font-size:1.6rem;letter-spacing:.04em}
h2{margin:2rem 0 .5rem;font-size:1.1rem}
h3{margin:1rem 0 .25rem;font-size:1rem}
header,footer{padding:1rem 1.25rem;border:1px solid var(--line);border-left:.5rem solid var(--line);border-radius:.5rem;background:var(--soft)}
footer{margin-top:2rem}
p{margin:.25rem 0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font:13px/1.5 ui-monospace,Consolas,monospace}
th,td{padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;unicode-bidi:isolate;overflow-wrap:anywhere}
th{color:var(--dim);font-weight:400;white-space:nowrap}
.right{text-align:right;white-space:nowrap}
ul{margin:0;padding-left:1.25rem}
li{margin:.4rem 0;overflow-wrap:anywhere}
.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}.dim{color:var(--dim)}
header.good{border-left-color:var(--good)}header.warn{border-left-color:var(--warn)}header.bad{border-left-color:var(--bad)}
header{color:var(--fg)!important}header.good h1{color:var(--good)}header.warn h1{color:var(--warn)}header.bad h1{color:var(--bad)}`;

/** Text as itself, in an element or in a quoted attribute. */
const escapeHtml = (text: string): string => text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);

const evidenceHtml = (evidence: string | undefined): string =>
  evidence === undefined ? "" : ` <span class="dim">${escapeHtml(evidence)}</span>`;

const blockHtml = (block: Block): string => {
  switch (block.kind) {
    case "facts":
      return `<div class="scroll"><table><tbody>${block.facts
        .map(
          ({ label, text, tone, evidence }) =>
            `<tr><th scope="row">${escapeHtml(label)}</th><td><bdi class="${tone ?? "plain"}">${escapeHtml(text)}</bdi>${evidenceHtml(evidence)}</td></tr>`,
        )
        .join("\n")}</tbody></table></div>`;
    case "table":
      return `<div class="scroll"><table><thead><tr>${block.columns
        .map(({ title, align }) => `<th scope="col" class="${align}">${escapeHtml(title)}</th>`)
        .join("")}</tr></thead><tbody>${block.rows
        .map(
          (row) =>
            `<tr>${row
              .map(
                ({ text, tone }, index) =>
                  `<td class="${block.columns[index]?.align ?? "left"} ${tone ?? "plain"}"><bdi>${escapeHtml(text)}</bdi></td>`,
              )
              .join("")}</tr>`,
        )
        .join(
          "\n",
        )}</tbody></table></div>${block.cut === 0 ? "" : `<p class="dim">… and ${block.cut} more, all of them in the JSON</p>`}`;
    case "items":
      return `<h3 class="${block.tone}">${escapeHtml(block.title)} (${block.items.length})</h3><ul>${block.items
        .map(
          ({ head, what, numbers, remedy }) =>
            `<li><strong>${escapeHtml(head)}</strong>: <bdi>${escapeHtml(what)}</bdi>${numbers === "" ? "" : `<br><bdi class="dim">${escapeHtml(numbers)}</bdi>`}${remedy === "" ? "" : `<br>→ <bdi>${escapeHtml(remedy)}</bdi>`}</li>`,
        )
        .join("\n")}</ul>`;
  }
};

const sectionHtml = ({ title, blocks }: Section): string =>
  `<section><h2>${escapeHtml(title)}</h2>${blocks.map(blockHtml).join("\n")}</section>`;

/**
 * A standalone page, light and dark. Its own policy forbids everything but its one style sheet, by
 * hash; every string of the report is escaped.
 */
export const toHtml = (report: Report, options: RenderOptions = {}): string => {
  const { verdict, because, summary, sections, next } = compose(report, options);
  const hash = btoa(String.fromCharCode(...sha256(stringToBytes(style), "bytes")));
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${verdict.toUpperCase()} · evm-preflight</title>
<style>${style}</style>
</head>
<body>
<header class="${verdictTone(verdict)}"><h1>${verdict.toUpperCase()}</h1><p><strong>${escapeHtml(because)}</strong></p><p class="dim">${escapeHtml(summary)}</p></header>
${sections.map(sectionHtml).join("\n")}
<footer><p><strong>Next:</strong> ${escapeHtml(next)}</p></footer>
</body>
</html>
`;
};
