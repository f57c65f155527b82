/**
 * Random JSON for any schema, by its encoded shape, so that no field of the report can be forgotten:
 * every union member, every verdict and reason, every kind of revert comes up.
 */
import * as Schema from "effect/Schema";
import * as SchemaAST from "effect/SchemaAST";
import fc from "fast-check";
import { Report } from "../rooms/report.js";
import { codes } from "../harness/notes.js";

const hex = (bytes: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => `0x${Buffer.from(array).toString("hex")}`);

/** Strings that try to break a terminal, a page, a table, a link or a JSON object. */
export const hostile: ReadonlyArray<string> = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "\u001b[2J\u001b]0;owned\u0007",
  "\u202egnp.exe",
  "line\nREADY · every check was made",
  "carriage\rreturn",
  "| a | b |\n|---|---|",
  "[click](https://evil.example) ![x](https://evil.example/p.png)",
  "`code` **bold** _it_ ~~no~~ $x$",
  "\u200bzero\u2060width\ufeff",
  "__proto__",
  "constructor",
  "\ud800 lone",
  "x".repeat(5_000),
  "مرحبا 100",
  "",
];
const text = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.constantFrom(...hostile));

const candidates: ReadonlyArray<{ readonly sample: unknown; readonly arbitrary: fc.Arbitrary<unknown> }> = [
  { sample: `0x${"ab".repeat(20)}`, arbitrary: hex(20) },
  { sample: `0x${"ab".repeat(32)}`, arbitrary: hex(32) },
  { sample: "acme/sanctions", arbitrary: fc.stringMatching(/^[A-Za-z0-9][\w.-]{0,39}\/[A-Za-z0-9][\w.-]{0,59}$/) },
  { sample: "NoCode", arbitrary: fc.constantFrom(...Object.keys(codes), "NoCode", "Timeout", "OfALaterEdition") },
  { sample: "0xabcdef", arbitrary: fc.nat(80).chain(hex) },
  {
    sample: "-12",
    arbitrary: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt(), fc.constant(0n)).map(String),
  },
  { sample: "uint256", arbitrary: fc.constantFrom("uint256", "int8", "uint") },
  { sample: "address[]", arbitrary: fc.constantFrom("address[]", "tuple", "bool", "bytes", "") },
  { sample: 0.5, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0) },
  { sample: 7, arbitrary: fc.maxSafeInteger().map((value) => value + 0) },
];

/** The generators whose sample the leaf accepts; for a number the most general one. */
const leaf = (ast: SchemaAST.AST): fc.Arbitrary<unknown> => {
  const accepts = Schema.is(Schema.make(ast));
  const fitting = candidates.filter(({ sample }) => accepts(sample)).map(({ arbitrary }) => arbitrary);
  if (fitting.length === 0) throw new Error(`no random value for ${ast._tag}`);
  return fc.oneof(...fitting).filter((value) => accepts(value));
};

/** How many suspended schemas are within each other. */
let nesting = 0;

const build = (ast: SchemaAST.AST): fc.Arbitrary<unknown> => {
  switch (ast._tag) {
    case "Null":
      return fc.constant(null);
    case "Boolean":
      return fc.boolean();
    case "Literal":
      return fc.constant(ast.literal);
    case "Union":
      return fc.oneof(...ast.types.map(build));
    case "Arrays": {
      const [rest] = ast.rest;
      const fixed = fc.tuple(...ast.elements.map(build));
      if (rest?._tag === "Suspend" && nesting > 1) return fixed;
      return rest === undefined
        ? fixed
        : fc.tuple(fixed, fc.array(build(rest), { maxLength: 3 })).map(([first, more]) => [...first, ...more]);
    }
    case "Objects": {
      const [index] = ast.indexSignatures;
      if (index !== undefined) return fc.dictionary(fc.oneof(hex(32), fc.string()), build(index.type), { maxKeys: 3 });
      // a key of type never can only be left out
      const signatures = ast.propertySignatures.filter(({ type }) => type._tag !== "Never");
      const required = signatures.filter(({ type }) => type.context?.isOptional !== true);
      return fc.record(Object.fromEntries(signatures.map(({ name, type }) => [name, build(type)])), {
        requiredKeys: required.map(({ name }) => String(name)),
        noNullPrototype: true,
      });
    }
    case "Declaration":
      return fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    case "Suspend": {
      nesting++;
      const within = build(ast.thunk());
      nesting--;
      return within;
    }
    case "String":
      return ast.checks === undefined ? text : leaf(ast);
    default:
      return leaf(ast);
  }
};

/** Random JSON that `schema`'s JSON codec decodes. */
export const jsonOf = (schema: Schema.Constraint): fc.Arbitrary<unknown> =>
  build(SchemaAST.toEncoded(Schema.toCodecJson(schema).ast));

/** What may be below nothing: a change, what comes in among costs, and numbers of contracts and errors. */
const signed = new Set(["delta", "terms", "findings", "failure", "refusal", "revert", "result", "decoded", "call"]);
const unsigned = (value: unknown): unknown => {
  if (typeof value === "string") return value.replace(/^-(?=\d+$)/, "");
  if (Array.isArray(value)) return value.map(unsigned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, signed.has(key) ? one : unsigned(one)]));
};

/** Random reports as JSON; that an amount is never negative, its text does not show. */
export const reportJson: fc.Arbitrary<unknown> = jsonOf(Report).map(unsigned);
