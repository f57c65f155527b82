import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import * as Schema from "effect/Schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conclude, type ProbeResult } from "../rooms/cli.js";
import * as Preflight from "../../src/Preflight.js";
import * as Rpc from "../../src/Rpc.js";
import { KnownEndpoint } from "../rooms/rpc.js";
import { accounts, startAnvil, type Node } from "../harness/anvil.js";
import { findGethOrWarn, startGethDev } from "../harness/geth.js";
import { buildBin, type Bin } from "./bin.js";
import { dropping } from "../harness/overriding.js";
import { faults, sevenMethods, startProxy, type Proxy } from "../harness/proxy.js";
import { startServer } from "../harness/server.js";
import { forbidden, strict, withoutSimulate } from "./endpoints.js";

interface Printed extends Rpc.KnownEndpoint {
  readonly endpoint: string;
  readonly level: string;
  readonly summary: string;
  readonly findings: ReadonlyArray<ProbeResult>;
  readonly meaning: ReadonlyArray<string>;
}

const [alice, bob] = [accounts[0].address, accounts[1].address];

let bin: Bin;
let node: Node;
const endpoints: Array<Proxy> = [];
const use = async (endpoint: Promise<Proxy>): Promise<Proxy> => {
  endpoints.push(await endpoint);
  return endpoint;
};

beforeAll(async () => {
  [bin, node] = await Promise.all([buildBin(), startAnvil()]);
});
afterAll(async () => {
  await Promise.all(endpoints.map(({ stop }) => stop()));
  await node.stop();
  bin.remove();
});

const diagnose = async (url: string) => {
  const ended = await bin.run(["doctor", url, "--json"]);
  expect(ended.stderr).toBe("");
  const printed = JSON.parse(ended.stdout) as Printed;
  const status = Object.fromEntries(printed.findings.map((finding) => [finding.id, finding.status]));
  return { ...printed, code: ended.code, status };
};

describe("doctor", () => {
  it("lists what anvil has and lacks", async () => {
    const { status, level, code, meaning } = await diagnose(node.url);
    for (const method of sevenMethods) expect(status[method], method).toBe("yes");
    expect(status["pending.eth_simulateV1"]).toBe("yes");
    for (const name of ["balance", "code", "storage", "prevRandao"])
      expect(status[`override.${name}`], name).toBe("yes");
    // it has no contract of beacon roots, and simulates no deployment
    expect([status["override.blobBaseFee"], status["override.beaconRoot"]]).toEqual(["no", "unknown"]);
    expect(status["deployment"]).toBe("no");
    expect(meaning.join("\n")).toContain("no simulated deployments: eth_call and eth_estimateGas answer for them");
    expect(status["traceTransfers"]).toBe("yes");
    expect(status["batches"]).toBe("yes");
    expect(status["validation"]).toBe("yes");
    expect(status["maxUsedGas"]).toBe("no");
    expect(level).toBe("reduced");
    expect(code).toBe(2);
  });

  it("finds on a strict node exactly the seven methods", async () => {
    const endpoint = await use(strict(node.url));
    const { status, level, code, meaning } = await diagnose(endpoint.url);
    for (const method of sevenMethods) expect(status[method], method).toBe("yes");
    for (const method of ["eth_chainId", "eth_feeHistory", "eth_getBlockByNumber"]) expect(status[method]).toBe("no");
    expect(status["batches"]).toBe("no");
    expect(level).toBe("reduced");
    expect(code).toBe(2);
    expect(meaning.join("\n")).toContain("no eth_feeHistory: the tip comes from recent receipts");
  });

  it("says that reports on a node without eth_simulateV1 are at most unknown, and asks it no more", async () => {
    const endpoint = await use(withoutSimulate(node.url));
    const { status, level, code, meaning } = await diagnose(endpoint.url);
    expect(status["eth_simulateV1"]).toBe("no");
    expect(status["eth_call"]).toBe("yes");
    expect(level).toBe("unknown");
    expect(code).toBe(3);
    expect(meaning[0]).toMatch(/^no eth_simulateV1: eth_call and .*the verdict is at most unknown$/);
    expect(meaning.join("\n")).not.toContain("state overrides");
    expect(endpoint.seen.filter(({ method }) => method === "eth_simulateV1").length).toBeLessThanOrEqual(4);
  });

  it("shows an endpoint that answers 403 as one that permits nothing", async () => {
    const endpoint = await use(forbidden(node.url));
    const { findings, level, code } = await diagnose(endpoint.url);
    for (const { id, status } of findings) if (id !== "batches") expect(status, id).not.toBe("yes");
    expect(findings.find(({ id }) => id === "eth_getCode")?.detail).toContain("HTTP 403");
    expect(level).toBe("unknown");
    expect(code).toBe(3);
  });

  it.each([
    [200, "<html><body>Welcome</body></html>"],
    [200, '{"hello":1}'],
    [200, ""],
    [404, '{"message":"Not Found"}'],
    [405, "<html><body>Method Not Allowed</body></html>"],
  ])("says once that a page with HTTP %d, %j is no JSON-RPC endpoint", async (status, body) => {
    const page = await startServer((_body, _request, response) => response.writeHead(status).end(body));
    try {
      const ended = await bin.run(["doctor", page.url]);
      expect([ended.code, ended.stderr, ended.stdout.trimEnd().split("\n").length]).toEqual([3, "", 1]);
      expect(ended.stdout).toContain("UNKNOWN · this is no JSON-RPC endpoint");
      const { level, findings, code, meaning } = await diagnose(page.url);
      expect([level, code, meaning, findings.map(({ status: found }) => found)]).toEqual([
        "unknown",
        3,
        [],
        ["unknown"],
      ]);
    } finally {
      await page.stop();
    }
  });

  it("does not take malformed answers and internal errors for refusals, and repeats none of their words", async () => {
    const endpoint = await use(startProxy({ target: node.url }));
    for (const fault of [faults.wrongType, faults.html500]) {
      endpoint.fail("eth_simulateV1", fault);
      const { status, level, code } = await diagnose(endpoint.url);
      expect([status["eth_getCode"], status["eth_simulateV1"], level, code]).toEqual(["yes", "unknown", "unknown", 3]);
      for (const id of ["validation", "deployment"]) expect(status[id], id).toBe("unknown");
    }
    endpoint.fail("eth_simulateV1", { kind: "error", error: { code: -32004, message: `not ${"here ".repeat(20)}` } });
    const { stdout } = await bin.run(["doctor", endpoint.url]);
    expect(stdout.match(/here here/g)?.length).toBe(10);
    expect(stdout).toMatch(/^ {2}no {7}traceTransfers +as eth_simulateV1 above$/m);
  });

  it("finds a pending block without a number", async () => {
    const endpoint = await use(startProxy({ target: node.url }));
    endpoint.fail("eth_getBlockByNumber", {
      kind: "map",
      map: (block, { params }) => (params[0] === "pending" ? { ...(block as object), number: null } : block),
    });
    const { findings, pending } = await diagnose(endpoint.url);
    expect(findings.find(({ id }) => id === "pending")).toMatchObject({
      status: "yes",
      detail: expect.stringContaining("without a number"),
    });
    expect(pending).toBe("guess");
  });

  it("reports nothing about an endpoint that is not there, and never prints its key", async () => {
    const ended = await bin.run(["doctor", "http://user:hunter2@127.0.0.1:1/v2/secretkey?token=other"]);
    expect(ended.code).toBe(3);
    expect(ended.stdout).toContain("UNKNOWN · the endpoint did not answer; nothing is known about it");
    expect(`${ended.stdout}${ended.stderr}`).not.toMatch(/hunter2|secretkey|token|other/);
    expect(ended.stdout).toContain("http://127.0.0.1:1/…");
    expect(ended.stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(ended.stdout).toContain("ECONNREFUSED");
  });

  it("finds overrides, rules and pending, and its JSON spares the first preflight requests", async () => {
    const ended = await bin.run(["doctor", node.url, "--json"]);
    const printed: unknown = JSON.parse(ended.stdout);
    const endpoint = Schema.decodeUnknownSync(KnownEndpoint)(printed);
    expect(endpoint.facts).toEqual({
      chainId: 31337,
      tellsTip: expect.any(Boolean),
      takesBatches: true,
      noFeeOracle: "0x420000000000000000000000000000000000000f",
      refuses: [],
    });
    expect(endpoint.fork).toBe("osaka");
    expect(endpoint.pending).toBe("guess");
    const { status } = await diagnose(node.url);
    for (const name of ["number", "time", "gasLimit", "feeRecipient", "baseFeePerGas", "balance", "storage"])
      expect(status[`override.${name}`], name).toBe("yes");
    const first = (options: Rpc.HttpOptions) =>
      Effect.runPromise(
        Preflight.preflight({ from: alice, to: bob, value: 1n }).pipe(Effect.provide(Rpc.layerHttp(node.url, options))),
      );
    const [stranger, known] = [await first({}), await first({ endpoint })];
    expect([stranger.verdict, known.verdict]).toEqual(["ready", "ready"]);
    expect(known.ledger.requests.length).toBeLessThan(stranger.ledger.requests.length);
    expect(known.ledger.requests.map(({ method }) => method)).not.toContain("eth_chainId");
    const file = join(bin.directory, "endpoint.json");
    writeFileSync(file, ended.stdout);
    const transfer = ["check", "--rpc-url", node.url, "--from", alice, "--to", bob, "--value", "1wei", "--json"];
    const checked = await bin.run([...transfer, "--endpoint", file]);
    expect(checked.code).toBe(0);
    expect(JSON.parse(checked.stdout).ledger.requests).toHaveLength(known.ledger.requests.length);
    writeFileSync(file, JSON.stringify({ ...endpoint, facts: { ...endpoint.facts, chainId: "1" } }));
    const wrong = await bin.run([...transfer, "--endpoint", file]);
    expect([wrong.code, wrong.stdout]).toEqual([64, ""]);
    expect(wrong.stderr).toMatch(
      /--endpoint: is not what doctor --json writes: Expected .* at \["facts"\]\["chainId"\]/,
    );
  });

  it("spends only more requests on another endpoint's description, or a forged one", async () => {
    const facts = { chainId: 1, tellsTip: true, takesBatches: false, noFeeOracle: bob, refuses: [] } as const;
    const format = "evm-preflight endpoint 1";
    const run = (endpoint: unknown, to = bob, value = 1n) =>
      Effect.runPromise(
        Preflight.preflight({ from: alice, to, value }).pipe(
          Effect.provide(Rpc.layerHttp(node.url, { endpoint: endpoint as Rpc.KnownEndpoint })),
        ),
      );
    const honest = await run(undefined);
    for (const endpoint of [null, 3])
      expect(() => run(endpoint)).toThrow(expect.objectContaining({ _tag: "InvalidConnection", field: "endpoint" }));
    for (const endpoint of [
      { format, facts, fork: "amsterdam", pending: "latest" },
      { format, facts: { ...facts, chainId: 31337, tellsTip: false }, fork: null, pending: "preconfirmed" },
      {
        ...{ format, fork: null, pending: null },
        facts: { ...facts, refuses: ["eth_feeHistory", "eth_getBlockReceipts", "debug_traceCall"] },
      },
      ...[
        {},
        { format, facts: {} },
        { format, facts: { ...facts, refuses: ["eth_simulateV1"] }, fork: null, pending: null },
      ],
    ]) {
      const report = await run(endpoint);
      expect([report.chainId, report.verdict], JSON.stringify(endpoint)).toEqual([31337, "ready"]);
      expect(report.observed.rules).toEqual(honest.observed.rules);
      expect((await run(endpoint, bob, 10n ** 30n)).verdict).toBe("blocked");
    }
  });

  it("prints text in groups by default, without escapes in a pipe", async () => {
    const ended = await bin.run(["doctor"], { env: { ETH_RPC_URL: node.url } });
    expect(ended.code).toBe(2);
    const lines = ended.stdout.split("\n");
    expect(lines[0]).toBe("REDUCED · reports from this endpoint can reach ready, with less evidence");
    expect(ended.stdout).toMatch(/^ {2}yes {6}eth_simulateV1/m);
    expect(ended.stdout).toMatch(/^ {2}no {7}maxUsedGas +a result does not carry it$/m);
    expect(ended.stdout).not.toContain("\u001b");
  });

  it("says on stderr at intervals that it goes on, where the endpoint is slow", async () => {
    const endpoint = await use(startProxy({ target: node.url, delayMs: 700 }));
    const ended = await bin.run(["doctor", endpoint.url, "--json"]);
    expect(ended.stderr).toMatch(/^(?:\d+ s · \d+ of \d+ answered \(eth_\w+\) by http:\/\/127\.0\.0\.1:\d+\n)+$/);
    expect(JSON.parse(ended.stdout)).toMatchObject({ level: "reduced" });
  });

  it("refuses what is not a URL as wrong usage", async () => {
    for (const args of [["doctor"], ["doctor", "ftp://x"], ["doctor", "localhost:8545"], ["doctor", "http://a", "b"]]) {
      const ended = await bin.run(args);
      expect(ended.code, args.join(" ")).toBe(64);
      expect(ended.stdout).toBe("");
    }
  });

  it.each([
    ["prevRandao", "reduced", "does not vary prevRandao: for code that reads it"],
    ["gasLimit", "reduced", "does not vary gasLimit: for code that may read it"],
    ["balance", "unknown", "ignores the state override balance"],
    ["code", "unknown", "ignores the state override code"],
    ["stateDiff", "reduced", "does not vary storage"],
  ])("finds that a node ignores %s, as proofs do", async (name, expected, sentence) => {
    const endpoint = await use(startProxy({ target: node.url, rewrite: dropping(name) }));
    const { level, status, meaning } = await diagnose(endpoint.url);
    expect([level, status[`override.${name === "stateDiff" ? "storage" : name}`]]).toEqual([expected, "no"]);
    expect(meaning.join("\n")).toContain(sentence);
  });

  const geth = findGethOrWarn("doctor on geth");
  it.runIf(geth !== null)("finds on geth all that reports need", async () => {
    const reference = await startGethDev(geth ?? "");
    try {
      const { status, code, meaning, fork, pending } = await diagnose(reference.url);
      for (const id of ["validation", "maxUsedGas", "traceTransfers"])
        expect(status[id], `${id}: ${meaning.join(", ")}`).toBe("yes");
      for (const id of [
        "number",
        "time",
        "gasLimit",
        "feeRecipient",
        "prevRandao",
        "baseFeePerGas",
        ...["blobBaseFee", "beaconRoot", "balance", "nonce", "code", "storage"],
      ])
        expect(status[`override.${id}`], id).toBe("yes");
      expect(status["deployment"]).toBe("yes");
      expect([fork, pending]).toEqual(["osaka", "guess"]);
      expect(code).toBe(0);
    } finally {
      await reference.stop();
    }
  });
});

describe("conclude", () => {
  const all = (status: ProbeResult["status"], but: Readonly<Record<string, ProbeResult["status"]>> = {}) =>
    conclude(
      "http://node",
      [...sevenMethods, "override.code", "maxUsedGas"].map((id) => ({
        id,
        group: id.startsWith("eth_") ? "the seven methods" : "eth_simulateV1",
        name: id,
        status: but[id] ?? status,
        detail: "",
      })),
    );
  it("is full when nothing is missing and unknown when nothing answers", () => {
    expect(all("yes")).toMatchObject({ level: "full", meaning: [] });
    expect(all("unknown")).toMatchObject({ level: "unknown", meaning: [] });
  });
  it("is unknown when what reports cannot do without is missing or silent", () => {
    for (const id of ["eth_getCode", "eth_getTransactionCount", "eth_simulateV1"])
      for (const status of ["no", "unknown"] as const) expect(all("yes", { [id]: status }).level, id).toBe("unknown");
    expect(all("yes", { "override.code": "no" }).level).toBe("unknown");
    expect(all("yes", { maxUsedGas: "no" }).level).toBe("reduced");
    expect(all("yes", { eth_getBlockReceipts: "no" }).level).toBe("reduced");
  });
});
