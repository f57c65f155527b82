/** The declarations in the packed package: everything in them can be named, and users' compilers accept them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile, writeConsumers } from "./consumer.js";
import { doorsOf, readExported, type Exported } from "./exported.js";
import { installPacked, manifestIn, type Installed } from "./packed.js";

/**
 * Types of ours that signatures speak of and that no door exports: module and name. An entry that is
 * no longer needed fails the test, so that this list only shrinks.
 */
const stillUnnameable: ReadonlyArray<string> = [
  "Eth AtAccount",
  "errors/abiIndex IndexedItem",
  "errors/abiIndex IndexedParameter",
  "errors/abiLayout Parameter",
  "errors/hex Address",
  "errors/hex Hash",
  "errors/hex Hex",
  "errors/retryAfter HeadersLike",
  "errors/text Parts",
  "eth/parameters AddressText",
  "eth/parameters HashText",
  "eth/parameters HexText",
  "eth/parameters Integer",
  "eth/parameters Maybe",
  "eth/simulation SimulatedBlockWire",
  "nonces/model Decision",
  "nonces/settings Settings",
  "nonces/store Result",
  "preflight/measure Limits",
  "preflight/options AccountOverride",
  "preflight/options BlockOverrides",
  "preflight/promises Actions",
  "preflight/promises Facade",
  "preflight/single Step",
  "preflight/single StepError",
  "report/compose RenderOptions",
  "report/text TextOptions",
  "report/values Price",
  "rpc/post Fetch",
  "rpc/requests Patience",
  "steps/outputs Code",
  "steps/outputs Fee",
  "steps/outputs Gas",
  "steps/outputs Nonce",
  "steps/outputs Outcome",
  "steps/outputs TokenInfo",
  "testing Failure",
  "transaction/input AddressLike",
  "transaction/input Checked",
  "transaction/input Exact",
  "transaction/input Fields",
  "transaction/input LooseCall",
  "transaction/input WithArgs",
  "witness/answers Answer",
  "witness/queries Query",
];

/** Complaints that are not about names, each with the reason why it still stands. */
const stillWrong: ReadonlyArray<RegExp> = [
  // rpc/post exports what it takes from Node, so whoever has no @types/node has no such module.
  /^node_modules\/evm-preflight\/dist\/rpc\/post\.d\.ts.*'node:https?'/,
];

let installed: Installed;
let exported: Exported;
beforeAll(() => {
  installed = installPacked();
  exported = readExported(installed, doorsOf(manifestIn(installed.package)));
  writeConsumers(installed, exported.exports);
});
afterAll(() => installed.remove());

const keyOf = (file: string, name: string) => `${file.replace(/^dist\/|\.d\.ts$/g, "")} ${name}`;

/** Whether a complaint is about a type of the list; TypeScript 5.9 says only which module it is in. */
const isExpected = (complaint: string): boolean =>
  stillWrong.some((pattern) => pattern.test(complaint)) ||
  (/ error TS(?:2742|2883|4\d{3}): /.test(complaint) &&
    stillUnnameable.some((entry) => {
      const [file, name] = entry.split(" ");
      const named = / reference to '(\w+)' from '/.exec(complaint)?.[1] ?? / using name '(\w+)'/.exec(complaint)?.[1];
      return (named === undefined || named === name) && complaint.includes(`/evm-preflight/dist/${file}`);
    }));

describe("the packed declarations", () => {
  it("are read: every door exports something, and types among it", () => {
    for (const door of doorsOf(manifestIn(installed.package)))
      expect(exported.exports.filter((each) => each.door === door).length, door).toBeGreaterThan(0);
    expect(exported.exports.filter(({ type }) => type !== null).length).toBeGreaterThan(100);
    expect(exported.exports.map(({ name }) => name)).toContain("Report.Finding");
  });

  it("speak only of types of ours that some door exports by name", () => {
    const found = exported.unnameable.map(({ file, name, by }) => ({ key: keyOf(file, name), by }));
    const unexpected = found.filter(({ key }) => !stillUnnameable.includes(key));
    expect(unexpected.map(({ key, by }) => `${key}, met in ${by}`)).toEqual([]);
    expect(stillUnnameable.filter((entry) => !found.some(({ key }) => key === entry))).toEqual([]);
  });

  it.each(["typescript-5-9", "typescript", "typescript-7"])(
    "are complete for %s: strict, with skipLibCheck off, and every exported name written out again",
    (compiler) => {
      expect(compile(installed, compiler).filter((complaint) => !isExpected(complaint))).toEqual([]);
    },
    180_000,
  );
});
