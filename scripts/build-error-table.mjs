// Writes src/abi/table/*.ts from ABIs and sources of published npm packages. `--check` only compares.
//
// Each package is fetched with `npm pack` at a pinned version and checked against its pinned
// integrity, so nothing of their dependency trees is installed and nothing is copied by hand.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keccak256, stringToHex } from "viem";
import { shortReasons } from "./short-reasons.mjs";

const target = fileURLToPath(new URL("../src/abi/table/", import.meta.url));
const pins = fileURLToPath(new URL("error-packages.json", import.meta.url));
const check = process.argv.includes("--check");

/** The packages, by table file; integrity of each tarball is in error-packages.json. */
const { packages, integrity } = JSON.parse(readFileSync(pins, "utf8"));

/** As it was, so that the pins are written only when a package is new. */
const pinned = JSON.stringify(integrity);

const elementary = /^(?:address|bool|string|bytes\d*|u?int\d*)$/;

/** Every file below a folder. */
const walk = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
  });

/** `type name` of one ABI parameter, tuples spelled out. */
const parameter = ({ type, name, components }) => {
  const shown = type.startsWith("tuple") ? `(${components.map(parameter).join(",")})${type.slice(5)}` : type;
  return name ? `${shown} ${name.replace(/^_+|_+$/g, "") || name}` : shown;
};

const canonical = ({ type, components }) =>
  type.startsWith("tuple") ? `(${components.map(canonical).join(",")})${type.slice(5)}` : type;

/** Errors of a JSON ABI. */
const fromAbi = (json) => {
  const abi = Array.isArray(json) ? json : (json?.abi ?? json?.compilerOutput?.abi);
  if (!Array.isArray(abi)) return [];
  return abi
    .filter((item) => item?.type === "error")
    .map(({ name, inputs }) => ({
      signature: `${name}(${inputs.map(canonical).join(",")})`,
      shown: `${name}(${inputs.map(parameter).join(",")})`,
    }));
};

/** What user-defined names of a source tree are on the wire. */
const typesOf = (sources) => {
  const types = new Map();
  for (const source of sources) {
    for (const [, name, base] of source.matchAll(/^\s*type\s+(\w+)\s+is\s+(\w+)\s*;/gm)) types.set(name, base);
    for (const [, name] of source.matchAll(/^\s*enum\s+(\w+)/gm)) types.set(name, "uint8");
    for (const [, name] of source.matchAll(/^\s*(?:abstract\s+)?(?:contract|interface)\s+(\w+)/gm))
      types.set(name, "address");
  }
  return types;
};

/** Errors declared in Solidity sources, for packages that ship no ABI of them. */
const fromSources = (sources, types, label) => {
  const found = [];
  for (const source of sources) {
    for (const [, name, list] of source.matchAll(/^\s*error\s+(\w+)\s*\(([^)]*)\)\s*;/gm)) {
      const inputs = list
        .replace(/\/\/.*$/gm, "")
        .split(",")
        .map((text) => text.trim())
        .filter(Boolean)
        .map((text) => {
          const [type, ...rest] = text.split(/\s+/);
          const [, base, suffix] = /^([\w.]+)((?:\[\d*\])*)$/.exec(type) ?? [];
          const wire = elementary.test(base) ? base : types.get(base?.split(".").pop());
          const full = wire === "uint" || wire === "int" ? `${wire}256` : wire;
          return wire === undefined ? null : { type: full + suffix, name: rest.join("") };
        });
      if (inputs.includes(null)) {
        console.warn(`${label}: ${name}(${list.trim()}) has a type of its own, left out`);
        continue;
      }
      found.push({
        signature: `${name}(${inputs.map(canonical).join(",")})`,
        shown: `${name}(${inputs.map(parameter).join(",")})`,
      });
    }
    // 0x writes its errors as selectors of signatures, with the parameter names in the function around; functions
    // (small letters) and types to be signed (names inside) are hashed alike
    for (const [, name, list, signature] of source.matchAll(
      /function\s+(\w+)\(([^)]*)\)[^{]*\{[^}]*?keccak256\("([A-Z]\w*\([^" ]*\))"\)/g,
    )) {
      const types = /\((.*)\)/.exec(signature)[1].split(",").filter(Boolean);
      const names = list
        .split(",")
        .map((text) => text.trim().split(/\s+/).pop())
        .filter(Boolean);
      const same = signature.startsWith(`${name}(`) && types.length === names.length;
      const inputs = types.map((type, index) => ({ type, name: same ? names[index] : "" }));
      found.push({
        signature,
        shown: `${signature.slice(0, signature.indexOf("("))}(${inputs.map(parameter).join(",")})`,
      });
    }
  }
  return found;
};

const scratch = mkdtempSync(join(tmpdir(), "error-table-"));
const allSources = [];
const allBytecode = [];

/** The folder of an unpacked package; fetched once. */
const unpack = (name) => {
  const folder = join(scratch, name.replaceAll(/[^\w.-]/g, "_"));
  if (existsSync(folder)) return folder;
  const packed = execFileSync("npm", ["pack", "--silent", name], {
    cwd: scratch,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const file = join(scratch, packed.trim().split("\n").at(-1));
  const actual = `sha512-${createHash("sha512").update(readFileSync(file)).digest("base64")}`;
  if (integrity[name] !== undefined && integrity[name] !== actual) throw new Error(`${name}: integrity is ${actual}`);
  integrity[name] = actual;
  mkdirSync(folder);
  execFileSync("tar", ["xzf", file, "-C", folder]);
  return folder;
};

const errorsOf = ({ name, abis, sources, reasons }) => {
  const folder = unpack(name);
  const files = walk(folder).filter(
    (path) => !/build-info|\.dbg\.json$|\/test\/|\/tests\/|\/mocks?\/|\.t\.sol|\.s\.sol/i.test(path),
  );
  const found = [];
  if (abis !== undefined) {
    for (const path of files.filter((path) => path.endsWith(".json") && new RegExp(abis).test(path))) {
      const text = readFileSync(path, "utf8");
      if (reasons) allBytecode.push(text);
      found.push(...fromAbi(JSON.parse(text)));
    }
  }
  const solidity = files.filter((path) => path.endsWith(".sol")).map((path) => [path, readFileSync(path, "utf8")]);
  if (reasons) allSources.push(...solidity.map(([, text]) => text));
  if (sources !== undefined) {
    const texts = solidity.filter(([path]) => new RegExp(sources).test(path)).map(([, text]) => text);
    found.push(...fromSources(texts, typesOf(solidity.map(([, text]) => text)), name));
  }
  const unique = new Map(found.map(({ signature, shown }) => [signature, shown]));
  // Error(string) and Panic(uint256) are the language's own
  for (const own of ["Error(string)", "Panic(uint256)"]) unique.delete(own);
  const selectors = new Map([...unique.keys()].map((signature) => [signature, keccak256(stringToHex(signature))]));
  return [...unique].map(([signature, shown]) => [shown, selectors.get(signature)]);
};

/** The commonest types as one letter, which no type has for a name. */
const shortened = { a: "address", b: "bytes32", u: "uint256", y: "bytes", s: "string" };
const short = (declaration) =>
  Object.entries(shortened).reduce(
    (text, [letter, type]) => text.replaceAll(new RegExp(String.raw`(?<=[(,])${type}\b`, "g"), letter),
    declaration,
  );

const note = "Written by `scripts/build-error-table.mjs`; do not edit.";
const outputs = new Map();
/** The packages that declare errors, in order; and where each declaration stands, by their places in it. */
const sources = [];
const places = new Map();
const selectors = new Map();
for (const entry of Object.values(packages).flat()) {
  const errors = errorsOf(entry);
  console.log(`${entry.name} ${errors.length}`);
  if (errors.length > 0 && !sources.includes(entry.name)) sources.push(entry.name);
  for (const [shown, selector] of errors) {
    places.set(shown, new Set([...(places.get(shown) ?? []), sources.indexOf(entry.name)]));
    selectors.set(shown, selector);
  }
}
const groups = new Map();
for (const [shown, found] of places) {
  const where = [...found].map((place) => place.toString(36)).join("");
  groups.set(where, [...(groups.get(where) ?? []), shown]);
}
const lines = [...groups].map(([where, list]) => {
  const ordered = list.sort((a, b) => (selectors.get(a) < selectors.get(b) ? -1 : 1));
  // every declaration ends with a parenthesis, so none is written
  return [where, ...ordered.map((shown) => short(shown.slice(0, -1)))].join(";");
});
outputs.set(
  "errors.ts",
  `/** Custom errors of published packages. ${note} */
export const sources: ReadonlyArray<string> = ${JSON.stringify(sources, null, 2).replace(/"\n\]/, '",\n]')};

/** The commonest types, one letter each in {@link declared}. */
export const types: Readonly<Record<string, string>> = {
${Object.entries(shortened)
  .map(([letter, type]) => `  ${letter}: "${type}",\n`)
  .join("")}};

/**
 * A line each: the places in {@link sources} of the packages that declare the same errors, one character each, then
 * the declarations without their last parenthesis, in the order of their selectors.
 */
export const declared = \`${lines.join("\n")}\`;
`,
);

const spoken = allSources.join("\n");
const compiled = allBytecode.join("\n");
/** The forms in which a compiler pushes a short string: as it is, or without its trailing zero bits. */
const pushed = (code) => {
  let value = BigInt(`0x${Buffer.from(code).toString("hex")}`);
  const forms = [value.toString(16)];
  while (value % 2n === 0n) forms.push((value >>= 1n).toString(16).padStart(code.length * 2, "0"));
  return forms;
};
for (const code of shortReasons.keys()) {
  const inSource = spoken.includes(`"${code}"`) || spoken.includes(`'${code}'`);
  if (!inSource && !pushed(code).some((form) => compiled.includes(form))) throw new Error(`no package says ${code}`);
}
for (const [, code] of spoken.matchAll(/"(GS\d{3})"/g)) {
  if (!shortReasons.has(code)) throw new Error(`${code} has no meaning in short-reasons.mjs`);
}
outputs.set(
  "reasons.ts",
  `/** Codes that contracts use in place of sentences. ${note} */\nexport const shortReasons: ReadonlyMap<string, string> = new Map<string, string>([\n${[...shortReasons].map(([code, meaning]) => `  [${JSON.stringify(code)}, ${JSON.stringify(meaning)}],\n`).join("")}]);\n`,
);
rmSync(scratch, { recursive: true });

let stale = false;
for (const [name, text] of outputs) {
  const path = join(target, name);
  if (!check) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    stale = true;
    console.error(`${name} is out of date`);
  }
}
if (!check && JSON.stringify(integrity) !== pinned)
  writeFileSync(pins, `${JSON.stringify({ packages, integrity }, null, 2)}\n`);
process.exitCode = stale ? 1 : 0;
