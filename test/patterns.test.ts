/** No pattern is matched against text that the sources wrote themselves: who says what a pattern reads stands here. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { linesOf, root, walkFiles } from "./harness/sources.js";

/** Where patterns stand, and from whom the text is that they read. A new place needs a reader of somebody else's text. */
const readers: ReadonlyArray<readonly [paths: RegExp, text: string]> = [
  [/^src\/errors\//, "what nodes say of failures"],
  [/^src\/rpc\/(?!quorum\/normal\.)/, "URLs, headers and answers of servers"],
  [/^src\/nonces\/(check|guard|lane|rows)\.ts$/, "rows of stores, hashes and addresses that callers give"],
  [/^src\/nonces\/(postgres\/store|redis\/(durability|rows))\.ts$/, "rows and failures of servers"],
  [/^src\/nonces\/protocol\/identity\.ts$/, "the mark of a lane, as a store gives it back"],
  [/^src\/cli\//, "what people type, and messages of libraries"],
  [
    /^src\/abi\/(batchForms|encode|layout|print|revertOf|values)\.ts$/,
    "signatures, types, names and calldata that callers and contracts give",
  ],
  [/^src\/abi\/table\.ts$/, "types in a table that is written short: they are written out, and nothing is told by it"],
  [/^src\/eth\/(bloom|encode|shape)\.ts$/, "numbers on the wire"],
  [/^src\/witness\/answers\.ts$/, "bytes that contracts return"],
  [
    /^src\/steps\/(code|reading\/(addressPositions|outputs|unexplained))\.ts$/,
    "code and bytes of contracts, calldata, and the types of contracts' events",
  ],
  [/^src\/steps\/reading\/safeCode\.ts$/, "a template of code: its places are filled in, and nothing is told by it"],
  [/^src\/steps\/reading\/tokenShortfall\.ts$/, "the words that tokens revert with"],
  [/^src\/guard\//, "methods, addresses and numbers that pages ask wallets with"],
  [/^src\/transaction\/signer\.ts$/, "hex that callers give"],
  [/^src\/signing\/(input|signIn|typedData)\.ts$/, "types, numbers and texts that pages want signed"],
  [/^src\/promise\/facade\.ts$/, "frames of a stack"],
  [/^src\/primitives\/(hex|names|problem|text)\.ts$/, "the shapes of addresses, of users' names and of untrusted text"],
  [/^src\/policy\/data\.ts$/, "policies written by hand"],
  [/^src\/settle\/settle\.ts$/, "words of events, and addresses of balances"],
  [/^src\/report\/sections\/signings\.ts$/, "bytes and amounts of messages that are to be signed"],
  [/^src\/report\/finding\.ts$/, "the codes of stored reports"],
  [/^src\/report\/amounts\.ts$/, "the price that a caller gives"],
  [/^src\/report\/reason\.ts$/, "the names that contracts give the arguments of their errors"],
  [/^src\/report\/options\.ts$/, "a time that a caller gives"],
  [
    /^src\/report\/(svg|markdown)\.ts$/,
    "every character that is special in the format: it is escaped, and nothing is told by it",
  ],
];

const pattern =
  /(?:^|[=(,:&|!?[{;>]|\breturn)\s*\/(?![/*\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*(?=\s*[.,;)\]}:]|\s*$)|\bRegExp\(/;

/** The lines of a text that hold a pattern. */
const patternsIn = (file: string, text: string): ReadonlyArray<string> =>
  linesOf(text).flatMap(({ line, code }) => (pattern.test(code) ? [`${file}:${line}`] : []));

describe("regular expressions", () => {
  const found = walkFiles("src").flatMap((file) =>
    file.endsWith(".ts") ? patternsIn(file, readFileSync(join(root, file), "utf8")) : [],
  );

  it("stand only where somebody else's text is read", () =>
    expect(found.filter((place) => !readers.some(([paths]) => paths.test(place.split(":")[0] ?? "")))).toEqual([]));

  it("stand exactly in the listed files", () =>
    expect(readers.filter(([paths]) => !found.some((place) => paths.test(place.split(":")[0] ?? "")))).toEqual([]));

  it("are found however they are written", () => {
    const seen = (code: string) => patternsIn("a.ts", code).length;
    for (const code of [
      "const a = /b/;",
      "text.replace(/[/]x/g, one)",
      "const f = (text) => /^a$/.exec(text);",
      "if (/a/i.test(text)) return;",
      "[/a/, 1]",
      "return /a\\/b/.test(text);",
      "new RegExp(text)",
    ])
      expect([code, seen(code)]).toEqual([code, 1]);
    for (const code of ["const a = b / c / d;", "a(b / 2, c / 2)", "// a /b/ c", "/** /b/ */", "`a/${b}/c`"])
      expect([code, seen(code)]).toEqual([code, 0]);
    expect(found.length).toBeGreaterThan(40);
  });
});
