/** Every way to show a report, and addresses by number, for the tests of what showing it costs. */
import { summary, toHtml, toJson, toMarkdown, toSvg, toText, type Report } from "../rooms/report.js";
import { Address } from "../rooms/primitives.js";

export const at = (prefix: string, index: number) => Address.make(`0x${prefix}${index.toString(16).padStart(38, "0")}`);

export const renderings: ReadonlyArray<readonly [name: string, render: (of: Report) => unknown]> = [
  ["summary", summary],
  ["toText", toText],
  ["toText, full", (one) => toText(one, { full: true })],
  ["toHtml", toHtml],
  ["toMarkdown", toMarkdown],
  ["toSvg", toSvg],
  ["toJson", toJson],
];
