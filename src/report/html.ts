/** The report as one HTML file that needs nothing else and can do nothing: no script, no request. */
import { sha256, stringToBytes } from "viem";
import { compose, type RenderOptions } from "./compose.js";
import { verdictTone, type Block, type Section } from "./document.js";
import { pageStyle } from "./htmlStyle.js";
import type { Report } from "./schema.js";
import { drawing, svgStyle } from "./svg.js";

const style = `${pageStyle}\n${svgStyle}`;

/** Text as itself, in an element or in a quoted attribute. */
const escapeHtml = (text: string): string => text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Text whose addresses are never broken: the short form in any font, the whole in one that fits a phone. */
const textHtml = (text: string): string =>
  escapeHtml(text).replace(
    /(?<![\da-z])0x(?:[\da-f]{40}|[\da-f]{4}…[\da-f]{4})(?![\da-f])/gi,
    (address) => `<span class="${address.length === 42 ? "address" : "short"}">${address}</span>`,
  );

const evidenceHtml = (evidence: string | undefined): string =>
  evidence === undefined ? "" : ` <span class="dim">${escapeHtml(evidence)}</span>`;

const blockHtml = (block: Block): string => {
  switch (block.kind) {
    case "facts":
      return `<div class="scroll"><table><tbody>${block.facts
        .map(
          ({ label, text, tone, evidence }) =>
            `<tr><th scope="row">${escapeHtml(label)}</th><td><bdi class="${tone ?? "plain"}">${textHtml(text)}</bdi>${evidenceHtml(evidence)}</td></tr>`,
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
                  `<td data-title="${escapeHtml(block.columns[index]?.title ?? "")}" class="${block.columns[index]?.align ?? "left"} ${tone ?? "plain"}"><bdi>${textHtml(text)}</bdi></td>`,
              )
              .join("")}</tr>`,
        )
        .join(
          "\n",
        )}</tbody></table></div>${block.cut === 0 ? "" : `<p class="dim">… and ${block.cut} more, all of them in the JSON</p>`}`;
    case "items":
      return `<ul class="${block.tone}">${block.items
        .map(
          ({ code, what, details, remedy }) =>
            `<li><strong><bdi>${textHtml(what)}</bdi></strong> <span class="code">${escapeHtml(code)}</span>${details.map((detail) => `<br><bdi class="dim">${textHtml(detail)}</bdi>`).join("")}${remedy === "" ? "" : `<br>→ <bdi>${textHtml(remedy)}</bdi>`}</li>`,
        )
        .join("\n")}</ul>`;
  }
};

const sectionHtml = ({ title, tone, blocks }: Section): string =>
  `<section><h2 class="${tone ?? "plain"}">${escapeHtml(title)}</h2>${blocks.map(blockHtml).join("\n")}</section>`;

/**
 * A standalone page for phones, desktops and print, light and dark: verdict, reason and {@link summary}, the findings,
 * the picture of {@link toSvg}, what moves and what it costs, amounts rounded; the technical part, exact, is folded at the
 * end. Its own policy forbids everything but its one style sheet, by hash; every string of the report is escaped.
 */
export const toHtml = (report: Report, options: RenderOptions = {}): string => {
  const { verdict, because, summary, findings, stakes, about, next, technical } = compose(report, options);
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
<header class="${verdictTone(verdict)}"><h1>${verdict.toUpperCase()}</h1>
<p class="because">${textHtml(because)}</p>
${summary.map((line) => `<p class="summary">${textHtml(line)}</p>`).join("\n")}</header>
<main>
${findings.map(sectionHtml).join("\n")}
<div class="picture">${drawing(report, options, "")}</div>
${stakes.map(sectionHtml).join("\n")}
<footer><p><strong>Next:</strong> ${textHtml(next)}</p><p class="dim">${escapeHtml(about)}</p></footer>
<details><summary>Everything else, exact</summary>
${technical.map(sectionHtml).join("\n")}
</details>
</main>
</body>
</html>
`;
};
