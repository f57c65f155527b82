/** The entry in one file: in the service worker of an extension, bundled by vite and by esbuild, and compiled for phones. */
import { execFileSync } from "node:child_process";
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
import { build as buildByEsbuild } from "esbuild";
import { createClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { build as buildByVite } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Head } from "../../src/Eth.js";
import { accounts, mineAnvil, startAnvil, type Node } from "../harness/anvil.js";
import { findChromiumOrWarn, startChromium, type Chromium } from "../harness/chromium.js";
import { skip } from "../harness/parts.js";
import { root } from "../harness/sources.js";

const [, alice, bob] = accounts;
const entry = join(root, "dist/static.js");
/** What a page's bundle loads later, and a service worker must not. */
const later = /\bimport\s*\(/;
const folder = mkdtempSync(join(tmpdir(), "evm-preflight-static-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = `
  import { createPreflight, guardProvider, Report } from ${JSON.stringify(entry)};
  import * as Policy from ${JSON.stringify(join(root, "dist/Policy.js"))};
  const told = (error) => error._tag ?? String(error);
  globalThis.run = async (url, tx, most) => {
    const preflight = createPreflight({ url }, { policies: [Policy.maxSpent("native", BigInt(most))] });
    const report = await preflight.preflight({ ...tx, value: 1n });
    const cleared = await preflight.ready(report).then(({ requests }) => requests.length, told);
    await preflight.dispose();
    return [report.verdict, Report.summary(report).split(" and ")[0], cleared];
  };
  globalThis.guard = (url, tx) => {
    const request = (body) => fetch(url, { method: "POST", headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }) })
      .then((answer) => answer.json())
      .then(({ result, error }) => (error === undefined ? result : Promise.reject(error)));
    return guardProvider({ request }).request({ method: "eth_sendTransaction", params: [tx] }).catch(told);
  };`;

/** Writes an extension whose service worker is built by one of the bundlers. */
const extensionBy = async (bundler: "esbuild" | "vite"): Promise<string> => {
  const extension = join(folder, bundler);
  mkdirSync(join(extension, "source"), { recursive: true });
  writeFileSync(join(extension, "source/worker.js"), program);
  const from = join(extension, "source/worker.js");
  if (bundler === "esbuild")
    await buildByEsbuild({
      entryPoints: [from],
      outfile: join(extension, "built/worker.js"),
      ...{ bundle: true, minify: true, format: "esm", platform: "browser", target: "es2022", logLevel: "error" },
      ...{ nodePaths: [join(root, "node_modules")], splitting: false },
    });
  else
    await buildByVite({
      ...{ root: extension, configFile: false, logLevel: "error" },
      build: {
        outDir: join(extension, "built"),
        lib: { entry: from, formats: ["es"], fileName: () => "worker.js" },
      },
    });
  writeFileSync(
    join(extension, "built/manifest.json"),
    JSON.stringify({
      manifest_version: 3,
      ...{ name: "preflight", version: "1.0", host_permissions: ["http://127.0.0.1/*"] },
      background: { service_worker: "worker.js", type: "module" },
    }),
  );
  return join(extension, "built");
};

type Whole = ReturnType<typeof import("../../src/promise.js").createPreflight>;
const transfer = { from: alice.address, to: bob.address, value: 1n };
const unsigned = () => Promise.resolve("0x" as const);
/** A node that answers nothing. */
const silent = { request: () => Promise.reject({ code: -32601, message: "" }) };

describe("evm-preflight/static", () => {
  it("is one file that loads nothing later, with the exports of the Promise entry and the parts of a client", async () => {
    const code = readFileSync(entry, "utf8");
    expect(code).not.toMatch(later);
    expect(code).not.toMatch(/\bfrom\s?"\./);
    const [whole, one] = [await import(join(root, "dist/promise.js")), await import(entry)];
    const parts = ["sending", "settling", "watching"];
    expect(Object.keys(one).sort()).toEqual([...Object.keys(whole), ...parts].sort());
    expect(Object.keys(one.Report).sort()).toEqual(Object.keys(whole.Report).sort());
    expect(Object.isFrozen(one.Report)).toBe(true);
    expect(readFileSync(join(root, "dist/promise/parts.js"), "utf8")).toMatch(later);
  });

  it("leaves out of an app what it does not import: the guard, the report's sentences, the parts, Node's modules", async () => {
    const bundled = async (used: string): Promise<string> => {
      const { outputFiles } = await buildByEsbuild({
        stdin: { contents: `import { ${used} } from ${JSON.stringify(entry)}; use(${used});`, resolveDir: root },
        ...{ bundle: true, minify: true, write: false, format: "esm", logLevel: "error" },
        ...{ platform: "browser", target: "es2022", packages: "external" },
      });
      return outputFiles[0]?.text ?? "";
    };
    const [preflight, guard, report, ...parts] = await Promise.all(
      ["createPreflight", "guardProvider", "Report", "sending", "settling", "watching"].map(bundled),
    );
    const [ofGuard, ofReports] = ["the wallet sent a transaction other than", " may still take {amount} from {of}"];
    expect(guard).toContain(ofGuard);
    expect(report).toContain(ofReports);
    expect(preflight).toContain("is not in evm-preflight/static");
    expect(preflight).not.toContain(ofGuard);
    expect(preflight).not.toContain(ofReports);
    const ofParts = ["only part of the bundle was sent", "what its call asks for", "observed base fee per gas"];
    for (const [index, only] of ofParts.entries()) {
      expect(parts[index]).toContain(only);
      expect(preflight?.includes(only), only).toBe(false);
    }
    // of the connections that only Node keeps
    expect(preflight?.includes("keepAlive")).toBe(false);
  });

  it.each([
    ["sending", "deliver", (on) => on.deliver(transfer, unsigned)],
    ["sending", "deliver", (on) => on.deliver(unsigned)(transfer)],
    ["sending", "withNonce", (on) => on.withNonce({ chainId: 1, address: alice.address }, unsigned)],
    ["sending", "nonces", (on) => on.nonces.status({ chainId: 1, address: alice.address })],
    ["sending", "nonces", (on) => on.nonces.keep({ chainId: 1, address: alice.address })],
    ["settling", "settle", async (on) => on.settle(await on.scan(transfer), [])],
    [
      "watching",
      "watch",
      async (on) =>
        on
          .watch(await on.scan(transfer))
          [Symbol.asyncIterator]()
          .next(),
    ],
    ["watching", "watchHeads", (on) => on.watchHeads()[Symbol.asyncIterator]().next()],
    ["watching", "watchLogs", (on) => on.watchLogs({})[Symbol.asyncIterator]().next()],
  ] satisfies ReadonlyArray<readonly [string, string, (on: Whole) => Promise<unknown>]>)(
    "names the part %s to a caller of %s without it, and can be disposed of",
    async (part, verb, use) => {
      const { createPreflight, sending, settling, watching } = await import(entry);
      const others = [sending, settling, watching].filter(({ name }) => name !== part);
      const client: Whole = createPreflight({ provider: silent }, { parts: others });
      const refused: unknown = await use(client).catch((error: unknown) => error);
      expect(refused).toMatchObject({ _tag: "InvalidConnection", field: "parts" });
      expect(String(refused)).toContain(`lacks \`${part}\``);
      expect(String(refused)).toContain(`\`${verb}\``);
      expect(String(refused)).toContain(`createPreflight(connection, { parts: [${part}] })`);
      await client.dispose();
    },
  );

  it.each(
    [1, {}, [1], [null], ["sending"], [{ name: "sending" }], [{ name: "toString", load: () => 1 }]].map((parts) => ({
      parts,
    })),
  )("refuses $parts by the name of the option", async ({ parts }) => {
    const { createPreflight } = await import(entry);
    expect(() => createPreflight({ provider: silent }, { parts })).toThrow(
      expect.objectContaining({ _tag: "InvalidConnection", field: "parts" }),
    );
  });

  it("refuses several endpoints by the name of the option, and accepts every other option of the Promise entry", async () => {
    const { createPreflight, guardProvider } = await import(entry);
    const named = (field: string) => expect.objectContaining({ _tag: "InvalidConnection", field });
    expect(() => createPreflight({ endpoints: [] })).toThrow(named("endpoints"));
    expect(() => guardProvider(silent, { node: { endpoints: [] } })).toThrow(named("node.endpoints"));
    for (const bad of [undefined, null, {}, 1, { url: 1 }])
      expect(() => createPreflight(bad)).toThrow(expect.objectContaining({ _tag: "InvalidConnection" }));
    const steps = [{ name: "acme/own", check: () => [] }];
    const { verdict } = await createPreflight({ provider: silent, steps }).scan({
      from: alice.address,
      to: bob.address,
    });
    expect(verdict).toBe("unknown");
  });
});

/** A run of every part that the Promise entry loads when it is first needed, of either entry. */
const everyPart = async (file: string, { url }: Node): Promise<unknown> => {
  const { createPreflight, guardProvider, ...parts }: typeof import("../../src/static.js") = await import(file);
  // the Promise entry has every part already, and no such option
  const all = "sending" in parts ? { parts: [parts.sending, parts.settling, parts.watching] } : {};
  const signer = privateKeyToAccount(alice.privateKey);
  const tx = { from: alice.address, to: bob.address, value: 1n };
  const preflight = createPreflight({ url }, all);
  const own = createPreflight({ url, steps: [{ name: "acme/own", ask: () => 1, check: () => [] }] });
  const delivered = await preflight.deliver(tx, (request) => signer.signTransaction(request as never));
  await mineAnvil(url);
  const settled = await preflight.settle(
    delivered.report,
    delivered.sent.map(({ hash }) => hash),
  );
  const { value: head } = await preflight.watchHeads()[Symbol.asyncIterator]().next();
  const fresh = preflight.watch(await preflight.preflight(tx))[Symbol.asyncIterator]();
  const { value: watched } = await fresh.next();
  const { request } = createClient({ transport: http(url) });
  const hash = await guardProvider({ request }).request({
    method: "eth_sendTransaction",
    params: [{ from: alice.address, to: bob.address, value: "0x1" }],
  } as never);
  await mineAnvil(url);
  const reverted = { code: 3, message: "execution reverted", data: `0x96c6fd1e${"0".repeat(64)}` };
  const refusing = ({ method }: { readonly method: string }) =>
    Promise.reject(method === "eth_call" ? reverted : { code: -32601, message: "" });
  const { transactions } = await createPreflight({ provider: { request: refusing } }).scan(tx);
  const verdict = (await own.preflight(tx)).verdict;
  await Promise.all([fresh.return?.(), preflight.dispose(), own.dispose()]);
  return {
    sent: delivered.sent.length,
    settled: settled.class,
    head: typeof (head as Head).header.number,
    watched: (watched as { readonly _tag: string })._tag,
    hash: /^0x[0-9a-f]{64}$/.test(String(hash)),
    reverted: JSON.stringify(transactions[0].outcome?.revert),
    verdict,
  };
};

describe("each part of the one file", () => {
  it("does what the same part of the Promise entry does", async () => {
    const node = await startAnvil({ noMining: true });
    try {
      await mineAnvil(node.url);
      const whole = await everyPart(join(root, "dist/promise.js"), node);
      expect(whole).toMatchObject({ sent: 1, watched: "Fresh", head: "bigint", hash: true, verdict: "ready" });
      expect(JSON.stringify(whole)).toContain("ERC20InvalidSender(address)");
      expect(await everyPart(entry, node)).toEqual(whole);
    } finally {
      await node.stop();
    }
  }, 60_000);
});

const chromium = findChromiumOrWarn("evm-preflight/static in an extension's service worker");

describe.skipIf(chromium === null)("the service worker of an extension", () => {
  let node: Node;
  let browser: Chromium;
  beforeAll(async () => {
    node = await startAnvil({ noMining: true });
    await mineAnvil(node.url);
    browser = startChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser.stop();
    await node.stop();
  });

  it.each(["esbuild", "vite"] as const)(
    "scans, proves, clears and guards with one file made by %s",
    async (bundler) => {
      const built = await extensionBy(bundler);
      expect(readdirSync(built).sort()).toEqual(["manifest.json", "worker.js"]);
      expect(readFileSync(join(built, "worker.js"), "utf8")).not.toMatch(later);
      const worker = await browser.extend(built);
      await worker.until(`typeof run === "function"`);
      expect(await worker.evaluate("globalThis.constructor.name")).toBe("ServiceWorkerGlobalScope");
      const tx = JSON.stringify({ from: alice.address, to: bob.address });
      const run = (most: number) => worker.evaluate(`run(${JSON.stringify(node.url)}, ${tx}, ${most})`);
      expect(await run(1)).toEqual(["ready", expect.stringMatching(/^You send 1 wei to /), 1]);
      expect(await run(0)).toEqual(["blocked", expect.any(String), "PolicyViolation"]);
      const much = JSON.stringify({ from: alice.address, to: bob.address, value: "0xd3c21bcecceda1000000" });
      expect(await worker.evaluate(`guard(${JSON.stringify(node.url)}, ${much})`)).toBe("NotCleared");
      // the other entry fails there, which is why this one is
      await expect(worker.evaluate(`import("data:text/javascript,")`)).rejects.toThrow(/import\(\) is disallowed/);
    },
    120_000,
  );
});

const hermes = join(root, "tools/runtimes/node_modules/hermes/hermesc/linux64-bin/hermesc");
const isCompiled =
  existsSync(hermes) || skip("evm-preflight/static compiled for Hermes", "npm ci --prefix tools/runtimes brings it");

describe.skipIf(isCompiled === null)("a React Native app", () => {
  it("is compiled with the file to bytecode by Hermes", async () => {
    const [script, bytecode] = [join(folder, "app.js"), join(folder, "app.hbc")];
    await buildByEsbuild({
      stdin: { contents: program, resolveDir: root },
      outfile: script,
      ...{ bundle: true, format: "iife", platform: "browser", target: "es2022", logLevel: "error" },
    });
    execFileSync(hermes, ["-w", "-O", "-emit-binary", "-out", bytecode, script], { stdio: "pipe" });
    expect(statSync(bytecode).size).toBeGreaterThan(500_000);
  }, 120_000);
});
