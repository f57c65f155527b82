/** Every code that a finding can have, rendered: what happened, the numbers and what to do, each exactly once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import * as Errors from "evm-preflight/Errors";
import { GuardRefused, NotCleared, Tampered } from "evm-preflight/promise";
import * as Schema from "effect/Schema";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ofGuard, ofInput, ofSending } from "../../scripts/thrown.js";
import { Reason, RpcError, Verdict } from "../rooms/errors.js";
import { numbersText, type Figure } from "../rooms/primitives.js";
import { codes, note } from "../harness/notes.js";
import {
  detailsOf,
  FindingCode,
  fromError,
  fromJson,
  messageOf,
  namesFor,
  toHtml,
  toJson,
  toMarkdown,
  toText,
  type Finding,
  type Report,
} from "../rooms/report.js";
import { root, walkFiles } from "../harness/sources.js";
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
  ...Object.values(codes).map(({ code }) => note(code, "warning", where, ...numbers)),
];

const sources = [...walkFiles("src"), ...walkFiles("scripts")].map((file) => ({
  file,
  text: readFileSync(join(root, file), "utf8"),
}));

describe("the codes of findings", () => {
  const declarations = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/\bconst (\w+) = code\(\s*"\w+",\s*\[([^\]]*)\],\s*"(\w+)"/g)].map(
      ([, name = "", severities = "", code = ""]) => ({ file, text, name, code, severities }),
    ),
  );
  const homes = new Map<string, string>(declarations.map(({ code, file }) => [code, file]));
  /** Reasons of `NotProven` have a list of their own, with some of the same names. */
  const ofGaps = new Set([
    "src/errors/verdicts.ts",
    "src/promise/deliver.ts",
    "src/report/ready.ts",
    "scripts/thrown.ts",
  ]);
  const gaps: ReadonlySet<string> = new Set(Errors.Gap.fields.reason.literals);

  it("are declared once each, by a constant of the same name, and collected", () => {
    expect(declarations.filter(({ name, code }) => name !== code)).toEqual([]);
    expect(declarations.map(({ code }) => code).sort()).toEqual(Object.keys(codes).sort());
    expect(sources.flatMap(({ text }) => text.match(/ = code\(/g) ?? [])).toHaveLength(declarations.length);
  });

  it("stand in the file that declares them and in the list of code readers, and in no other", () => {
    const readers = sources.filter(({ text }) => [...homes.keys()].some((code) => text.includes(code)));
    const namesIn = (node: ts.Node): ReadonlyArray<string> => [
      ...(ts.isStringLiteralLike(node) ? [node.text] : []),
      ...(ts.isPropertyAssignment(node) || ts.isPropertySignature(node) ? [node.name.getText()] : []),
      ...node.getChildren().flatMap(namesIn),
    ];
    const strange = readers.flatMap(({ file, text }) =>
      namesIn(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)).filter(
        (name) =>
          homes.has(name) &&
          homes.get(name) !== file &&
          file !== "src/report/byCode.ts" &&
          !(gaps.has(name) && ofGaps.has(file)),
      ),
    );
    expect(strange).toEqual([]);
  });

  it("are made only by the file that declares them, with exactly the declared severities", () => {
    const made = (text: string, code: string) =>
      new Set(
        [...text.matchAll(new RegExp(`\\b${code}(?:\\.(\\w+)\\(|\\[)`, "g"))].map(
          ([, one = "by an expression"]) => one,
        ),
      );
    const elsewhere = declarations.flatMap(({ code, file }) =>
      sources.flatMap((other) =>
        other.file !== file && other.text.includes(code) && made(other.text, code).size > 0 ? [[code, other.file]] : [],
      ),
    );
    expect(elsewhere).toEqual([]);
    const direct = declarations.filter(({ text, code }) => {
      const severities = made(text, code);
      return severities.size > 0 && !severities.has("by an expression");
    });
    expect(direct.length).toBeGreaterThan(60);
    for (const { code, text, severities } of direct)
      expect([code, made(text, code)]).toEqual([code, new Set(severities.match(/\w+/g))]);
  });

  it("have different texts each", () => {
    const all = Object.values(codes);
    expect(new Set(all.map(({ sentence }) => sentence)).size).toBe(all.length);
  });
});

const page = readFileSync(join(root, "docs/errors.md"), "utf8");
const count = (text: string, part: string): number => text.split(part).length - 1;
const body = (text: string): string =>
  text.slice(text.search(/(?:Blockers|Could not check|Warnings|Information) \(1\)/), text.lastIndexOf("Next:"));
const plainHtml = (html: string): string =>
  html.replace(/<[^>]*>/g, "").replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
const plainMarkdown = (markdown: string): string =>
  markdown.replace(/\\(.)/g, "$1").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

describe("the sample of every code", () => {
  it("exists once, and is read from JSON", () => {
    expect(new Set(samples.map(({ code }) => code)).size).toBe(samples.length);
    for (const { code } of samples) expect(Schema.is(FindingCode)(code)).toBe(true);
  });

  it.each(samples.map((finding) => [finding.code, finding] as const))("%s reads the same everywhere", (_, finding) => {
    const sentence = finding.sentence;
    const one = report({ chainId: 137, findings: [finding] });
    expect(one.because).toBe(sentence);
    const said = numbersText(finding, "POL");
    const details = detailsOf(finding, namesFor(one, {}), "");
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
    // why: a reader of a page has no such file
    expect(renderings.html).not.toContain(docs);
    expect(page).toContain(`<a id="${finding.code}"></a>`);
    expect(messageOf(finding, "POL")).toBe([sentence, said, finding.remedy].filter((part) => part !== "").join(" · "));
    const again = Effect.runSync(fromJson(JSON.parse(JSON.stringify(toJson(one)))));
    expect(toText(again)).toBe(toText(one));
  });
});

it("a page of a code exists for our codes alone, not for a caller's or another", () => {
  const [own] = samples.map((finding) => ({
    ...finding,
    code: "acme/Listed" as const,
    docs: "https://elsewhere.example",
  }));
  const findings = own === undefined ? [] : [own];
  for (const render of [toHtml, toMarkdown, (one: Report) => toText(one, { full: true })])
    expect(render(report({ findings }))).not.toMatch(/elsewhere|Docs:|errors\.md/);
});

describe("the page of every error", () => {
  const classes = [...Object.values(Errors), GuardRefused, NotCleared, Tampered].filter(
    (one) => typeof one === "function" && one.prototype instanceof Error,
  );
  it("has an entry for it", () => {
    expect(classes.length).toBeGreaterThan(60);
    expect(classes.map(({ name }) => name).filter((name) => !page.includes(`<a id="${name}"></a>`))).toEqual([]);
  });

  it("is named in it, a failed request by its reason, in JSON too, and its message stays one line", () => {
    const errors = [...ofInput, ...ofSending, ...ofGuard].map(({ example }) => example);
    for (const error of [...errors, ...samples.flatMap(({ error }) => error ?? [])]) {
      const code = error instanceof RpcError ? error.reason._tag : error.name;
      expect([error.name, error.docs]).toEqual([error.name, `docs/errors.md#${code}`]);
      expect(page).toContain(`<a id="${code}"></a>`);
      expect(error.message).not.toMatch(/\n|docs\//);
    }
    expect(JSON.parse(JSON.stringify(errors[0]))).toMatchObject({ docs: "docs/errors.md#InvalidTransaction" });
  });

  it("says for every reason of NotProven what to do", () => {
    const reasons = page.slice(page.indexOf("## Why there is no clearance"));
    const said = [...reasons.matchAll(/^- .*`(\w+)`: .* \*\*What to do:\*\* ./gm)].map(([, reason]) => reason);
    expect(said).toEqual(expect.arrayContaining([...Errors.Gap.fields.reason.literals]));
    const entries = page
      .slice(page.indexOf("<!-- codes -->"), page.indexOf("## Why there is no clearance"))
      .split("### ")
      .slice(1);
    expect(entries.filter((entry) => !entry.includes("**What to do:**"))).toEqual([]);
  });
});
