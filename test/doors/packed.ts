/** The package as it is published: packed, unpacked into a folder of its own, beside links to its peers. No network. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../harness/sources.js";

/** What the tests read of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<
    Record<string, string | Readonly<Record<string, string | Readonly<Record<string, string>>>>>
  >;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

/** An app that has installed the package, its dependencies and its required peers, and nothing else. */
export interface Installed {
  readonly folder: string;
  readonly package: string;
  readonly remove: () => void;
}

/** Packs what is built and installs it. */
export const installPacked = (): Installed => {
  const folder = mkdtempSync(join(tmpdir(), "evm-preflight-packed-"));
  const modules = join(folder, "node_modules");
  const target = join(modules, "evm-preflight");
  mkdirSync(target, { recursive: true });
  const packed = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  const name = packed.trim().split("\n").at(-1) ?? "";
  execFileSync("tar", ["xzf", join(folder, name), "-C", target, "--strip-components=1"]);
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestIn(target);
  const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true);
  for (const needed of [...Object.keys(dependencies), ...peers]) {
    const link = join(modules, needed);
    mkdirSync(join(link, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", needed), link, "junction");
  }
  return { folder, package: target, remove: () => rmSync(folder, { recursive: true, force: true }) };
};
