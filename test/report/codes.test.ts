/** Every code that a finding can have, rendered: what happened, the numbers and what to do, each exactly once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { Reason, RpcError, Verdict } from "../rooms/errors.js";
import { numbersText, stepNames, type Figure } from "../rooms/primitives.js";
import {
  detailsText,
  FindingCode,
  fromError,
  fromJson,
  messageOf,
  note,
  NoteCode,
  notes,
  toHtml,
  toJson,
  toMarkdown,
  toText,
  type Finding,
  type Report,
} from "../rooms/report.js";
import { root } from "../harness/sources.js";
import { samplesOf } from "../errors/samples.js";
import { report } from "./fixtures.js";

type Make<A> = new (fields: object) => A;

const where = { step: "proof", evidence: "estimated" } as const;
const numbers: ReadonlyArray<Figure> = [
  { name: "balance", unit: "wei", value: 3n * 10n ** 18n },
  { name: "limit", unit: "gas", value: 21_000n },
  { name: "", unit: "quote", value: "the contract's own words" },
];

const samples: ReadonlyArray<Finding> = [
  ...Verdict.members.map((member) =>
    fromError(new (member as Make<Verdict>)(samplesOf(member.fields)), "blocker", where),
  ),
  ...Reason.members.map((member) => {
    const reason = new (member as Make<Reason>)(samplesOf(member.fields));
    return fromError(new RpcError({ method: "eth_call", reason }), "unavailable", where);
  }),
  ...NoteCode.literals.map((code) => note(code, "warning", where, ...numbers)),
];

describe("the catalogue of notes", () => {
  const all = Object.values(notes);
  it("is in the order of the steps", () =>
    expect([...new Set(all.map(({ step }) => step))]).toEqual(
      stepNames.filter((name) => all.some(({ step }) => step === name)),
    ));
  it("says no two things in the same words", () =>
    expect(new Set(all.map(({ sentence }) => sentence)).size).toBe(all.length));
});

const page = readFileSync(join(root, "docs/errors.md"), "utf8");
const count = (text: string, part: string): number => text.split(part).length - 1;
const body = (text: string): string =>
  text.slice(text.search(/(?:Blockers|Could not check|Warnings|Information) \(1\)/), text.lastIndexOf("Next:"));
const plainHtml = (html: string): string =>
  html.replace(/<[^>]*>/g, "").replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
const plainMarkdown = (markdown: string): string =>
  markdown.replace(/\\(.)/g, "$1").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

describe("every code", () => {
  it("has one sample here", () =>
    expect(samples.map(({ code }) => code).sort()).toEqual([...FindingCode.members[0].literals].sort()));

  it.each(samples.map((finding) => [finding.code, finding] as const))("%s reads the same everywhere", (_, finding) => {
    const sentence = finding.sentence;
    const one = report({ chainId: 137, findings: [finding] });
    expect(one.because).toBe(sentence);
    const said = numbersText(finding, "POL");
    const details = detailsText(finding, "POL");
    const renderings = {
      text: toText(one, { width: 1_000_000 }),
      markdown: plainMarkdown(toMarkdown(one)),
      html: plainHtml(toHtml(one)),
    };
    for (const [form, whole] of Object.entries(renderings)) {
      const text = body(whole);
      if (finding.remedy !== "")
        expect([form, finding.remedy, count(text, finding.remedy)]).toEqual([form, finding.remedy, 1]);
      // the headline has it
      expect([form, sentence, count(whole, sentence)]).toEqual([form, sentence, 1]);
      expect([form, details, details === "" || count(text, details) === 1]).toEqual([form, details, true]);
      expect([form, count(text, finding.code) > 0]).toEqual([form, true]);
      expect(text).not.toMatch(/\bETH\b/);
    }
    const docs = `docs/errors.md#${finding.code}`;
    expect([finding.docs, toJson(one)]).toEqual([
      docs,
      expect.objectContaining({ findings: [expect.objectContaining({ docs })] }),
    ]);
    expect(toText(one, { full: true, width: 200 })).toContain(`\n    Docs: ${docs}\n`);
    expect(toText(one)).not.toContain("Docs: ");
    expect(renderings.html).toContain(docs);
    expect(page).toContain(`<a id="${finding.code}"></a>`);
    expect(messageOf(finding, "POL")).toBe([sentence, said, finding.remedy].filter((part) => part !== "").join(" · "));
    const again = Effect.runSync(fromJson(JSON.parse(JSON.stringify(toJson(one)))));
    expect(toText(again)).toBe(toText(one));
  });
});

it("names no page for a code of a user's own, nor another than ours", () => {
  const [own] = samples.map((finding) => ({
    ...finding,
    code: "acme/Listed" as const,
    docs: "https://elsewhere.example",
  }));
  const findings = own === undefined ? [] : [own];
  for (const render of [toHtml, toMarkdown, (one: Report) => toText(one, { full: true })])
    expect(render(report({ findings }))).not.toMatch(/elsewhere|Docs:|errors\.md/);
});
