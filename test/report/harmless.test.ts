/** Whatever a report holds, no rendering lets it through as anything but text. */
import * as Effect from "effect/Effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { note } from "../harness/notes.js";
import { fromJson, Report, summary, toHtml, toMarkdown, toSvg, toText } from "../rooms/report.js";
import { address, count, quote } from "../rooms/primitives.js";
import { hostile, reportJson } from "./arbitrary.js";
import { alice, digest, report, revert, signing, tokens, transfer, usdc } from "./fixtures.js";
import { runs } from "../harness/parts.js";

const withStrings = (text: string): Report =>
  report({
    verdict: "caution",
    tokens: [{ token: usdc, name: text, symbol: text, decimals: 6 }],
    transfers: tokens().transfers,
    findings: [
      {
        ...note(
          "TransferMismatch",
          "warning",
          { evidence: "assumed" },
          count(text, 1n),
          quote("", text),
          address("", text),
        ),
        sentence: text,
        remedy: text,
      },
    ],
    transactions: [{ ...transfer, outcome: { ...transfer.outcome, status: "reverted", revert } }],
    signings: [
      signing({ sign: { kind: "typedData", signer: alice, digest, typedData: { domain: { name: text } } } }),
      signing({
        ...{ kind: "signIn", origin: text, assumed: null },
        sign: { kind: "message", signer: alice, digest, message: `0x${Buffer.from(text).toString("hex")}` },
      }),
    ],
  });

// eslint-disable-next-line no-control-regex
const unseen = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|[^\n]\r/u;
const ownTags =
  /<!doctype html>|<\/?(?:html|head|meta|title|style|body|header|footer|main|section|details|summary|h1|h2|p|strong|div|table|thead|tbody|tr|th|td|bdi|span|ul|li|br|svg|desc|rect|path|text)(?: (?:lang|dir|charset|http-equiv|content|name|class|scope|data-title|xmlns|viewBox|role|aria-labelledby|id|x|y|width|height|rx|d|font-size|textLength|lengthAdjust|fill|stroke|stroke-width|stroke-dasharray|text-anchor)="[^"<>]*")*\/?>/g;
const unescaped = (markdown: string): string =>
  markdown
    .replace(/\\[\\`*_{}[\]|~!#$@^:/.]/g, "")
    .replace(/<sub>[a-z]+<\/sub>/g, "")
    .replace(/\*\*/g, "");

const harmless = (report: Report) => {
  for (const width of [50, 100]) expect(toText(report, { full: true, width })).not.toMatch(unseen);
  const html = toHtml(report);
  expect(html.replace(/<style>[^]*?<\/style>/, "").replace(ownTags, "")).not.toMatch(/[<>]/);
  expect(html).not.toMatch(/<script|<img|<a |<iframe|javascript:[^&]*"/i);
  expect(html).not.toMatch(unseen);
  const svg = toSvg(report);
  expect(svg.replace(/<style>[^]*?<\/style>/, "").replace(ownTags, "")).not.toMatch(/[<>]/);
  expect(svg).not.toMatch(unseen);
  expect(summary(report)).not.toMatch(unseen);
  const markdown = toMarkdown(report, { full: true });
  expect(markdown).not.toMatch(unseen);
  for (const line of markdown.split("\n")) {
    expect(line).toMatch(/^(?:$|#{1,3} |\| |- \*\*|\*\*|… and |(?!\d+[.)])[^|#\-*>+`~=<\s])/);
    expect(unescaped(line.replace(/^#{1,3} /, ""))).not.toMatch(/[`*_[\]~$#@<>]|https?:\/\//);
  }
};

describe("every rendering of hostile text", () => {
  it.each(hostile.map((text) => [JSON.stringify(text).slice(0, 60), text] as const))(
    "shows %s as text and nothing else",
    (_, text) => {
      harmless(withStrings(text));
    },
  );

  it("never throws and stays harmless for random reports", () => {
    fc.assert(
      fc.property(reportJson, (json) => {
        harmless(Effect.runSync(fromJson(json)));
      }),
      { numRuns: runs(60) },
    );
  }, 60_000);

  it("is bounded for a report with thousands of movements", () => {
    const [movement] = tokens().transfers;
    const many = report({ transfers: movement === undefined ? [] : Array.from({ length: 5_000 }, () => movement) });
    const started = performance.now();
    const text = toText(many, { full: true });
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(text).toContain("… and 4800 more, all of them in the JSON");
  });

  it("survives an ABI item made to hang a decoder", () => {
    const item = {
      type: "function",
      name: "f",
      stateMutability: "view",
      inputs: [{ name: "x", type: "tuple[]", components: [] }],
      outputs: [],
    };
    const data = `0x12345678${"20".padStart(64, "0")}${"f".repeat(12).padStart(64, "0")}` as typeof transfer.input.data;
    const text = toText(report({ transactions: [{ ...transfer, input: { ...transfer.input, data, item } }] }), {
      full: true,
    });
    expect(text).toContain("selector 0x12345678, 68 bytes of data");
  });
});
