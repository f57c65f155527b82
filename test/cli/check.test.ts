import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import * as NodeServices from "@effect/platform-node/NodeServices";
import * as Effect from "effect/Effect";
import * as Option from "effect/Option";
import * as Sink from "effect/Sink";
import * as Stdio from "effect/Stdio";
import {
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  http,
  parseEther,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rpc } from "../../src/Rpc.js";
import { readOwnConnection } from "../rooms/cli.js";
import { fromJson } from "../rooms/report.js";
import { Token } from "../contracts/artifacts.js";
import { accounts, startAnvil, type Node } from "../harness/anvil.js";
import { startProxy } from "../harness/proxy.js";
import type { Server } from "../harness/server.js";
import { buildBin, inProcess, type Bin, type Ended } from "./bin.js";
import { forbidden, guarded, strict, withoutSimulate } from "./endpoints.js";

const [alice, bob] = [accounts[0].address, accounts[1].address];

let bin: Bin;
let node: Node;
let token: `0x${string}`;
let tokenAbi: string;
const endpoints: Array<Pick<Server, "stop">> = [];
const use = async <A extends Pick<Server, "stop">>(endpoint: Promise<A>): Promise<A> => {
  endpoints.push(await endpoint);
  return endpoint;
};

beforeAll(async () => {
  [bin, node] = await Promise.all([buildBin(), startAnvil()]);
  const transport = http(node.url);
  const wallet = createWalletClient({
    account: privateKeyToAccount(accounts[0].privateKey),
    chain: foundry,
    transport,
  });
  const data: `0x${string}` = `${Token.bytecode}${encodeAbiParameters(
    [{ type: "string" }, { type: "string" }, { type: "uint8" }],
    ["Test Dollar", "TUSD", 6],
  ).slice(2)}`;
  const hash = await wallet.sendTransaction({ data });
  const { contractAddress } = await createPublicClient({ chain: foundry, transport }).waitForTransactionReceipt({
    hash,
  });
  if (contractAddress === null || contractAddress === undefined) throw new Error("the token was not deployed");
  token = contractAddress;
  tokenAbi = join(bin.directory, "Token.json");
  writeFileSync(tokenAbi, JSON.stringify({ contractName: "Token", abi: Token.abi }));
});
afterAll(async () => {
  await Promise.all(endpoints.map(({ stop }) => stop()));
  await node.stop();
  bin.remove();
});

type Mistake = readonly [args: ReadonlyArray<string>, says: string];

const expectRefused = ({ code, stdout, stderr }: Ended, message: string) => {
  expect(stderr).toContain(message);
  expect(stderr.trimEnd().split("\n").at(-1)).toBe("see evm-preflight check --help");
  expect(stdout).toBe("");
  expect(code).toBe(64);
};

const check = (...args: ReadonlyArray<string>) => bin.run(["check", "--rpc-url", node.url, ...args]);
const transfer = ["--from", alice, "--to", bob, "--value", "0.1ether"];
const tokenTransfer = (amount: string) => [
  ...["--from", alice, "--to", token, "--abi", tokenAbi, "--function", "transfer"],
  ...["--args", JSON.stringify([bob, amount])],
];

describe("check", () => {
  it("names the function first, says which accounts are yours, and prints the cleared request in JSON", async () => {
    const own = await check(...transfer, "--account", bob);
    expect(own.stdout).toMatch(/^READY/);
    expect(own.stdout).not.toMatch(/You (send|receive)/);
    const { clearance, requests, transactions } = JSON.parse((await check(...transfer, "--json")).stdout);
    expect(requests).toEqual(clearance.requests);
    expect(requests).toEqual([transactions[0].request]);
    const failing = tokenTransfer("999999999999999999999999999");
    expect((await check(...failing)).stdout).toMatch(/You would call TUSD \(0x\w+…\w+\).*: transfer\(to: /);
    const blocked = JSON.parse((await check(...failing, "--json")).stdout);
    expect(blocked).not.toHaveProperty("requests");
    expect(blocked.transactions[0].call).toMatchObject({ function: "transfer", by: "abi" });
    expect((await check(...transfer, "--account", "0x12")).code).toBe(64);
  });
  it("names a receiver that looks like one of your addresses", async () => {
    const book = join(bin.directory, "book.json");
    writeFileSync(
      book,
      JSON.stringify({ [`${bob.slice(0, 8)}${"5".repeat(28)}${bob.slice(-6)}`.toLowerCase()]: "Savings" }),
    );
    const found = await check(...transfer, "--known-addresses", book);
    expect([found.code, found.stdout]).toEqual([2, expect.stringMatching(/which you call\s+"Savings"/)]);
    writeFileSync(book, "[1]");
    const wrong = await check(...transfer, "--known-addresses", book);
    expect([wrong.code, wrong.stderr]).toEqual([
      64,
      expect.stringContaining("--known-addresses[0]: must be an address"),
    ]);
  });
  it("names the currency of an unknown chain as it is told, and never a false one", async () => {
    const celo = await use(startAnvil({ chainId: 42220 }));
    const ran = (...args: ReadonlyArray<string>) => bin.run(["check", "--rpc-url", celo.url, ...transfer, ...args]);
    const [plain, told, three] = await Promise.all([
      ran(),
      ran("--symbol", "CELO"),
      ran("--symbol", "CELO", "--decimals", "17"),
    ]);
    expect(plain.stdout).toMatch(/^You send 0\.1 native to 0x/m);
    expect(told.stdout).toMatch(/^You send 0\.1 CELO to 0x/m);
    expect(three.stdout).toMatch(/^You send 1\.0? ?CELO to 0x|^You send 1 CELO to 0x/m);
    for (const { stdout } of [plain, told, three]) expect(stdout).not.toMatch(/\bETH\b/);
    for (const wrong of [
      ["--decimals", "6"],
      ["--symbol", "A B"],
      ["--symbol", "A", "--decimals", "37"],
    ])
      expect((await ran(...wrong)).code).toBe(64);
  });
  it("prints a ready report as text, says nothing on stderr, and exits with 0", async () => {
    const { code, stdout, stderr } = await check(...transfer);
    expect(stdout.split("\n")[0]).toMatch(/^READY · /);
    expect(stdout).toMatch(/^You send 0\.1 ETH to 0x/m);
    expect(stdout).toMatch(/^ {2}-0\.1 {2}ETH/m);
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(17);
    expect(stdout.replace(/\s+/g, " ")).toMatch(/ To sign request type eip1559 · chain 31337 · nonce \d+ /);
    expect(stdout).toContain("Next: sign exactly this request");
    expect(stdout).not.toContain("\u001b");
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });

  it("prints every exact detail with --full", async () => {
    const full = await check(...transfer, "--full");
    expect(full.stdout).toContain("0.1 ETH (100000000000000000 wei)");
    expect(full.stdout).toContain("What this rests on");
    const markdown = await check(...transfer, "--full", "--markdown");
    expect(markdown.stdout).toContain("## What this rests on");
    expect((await check(...transfer, "--markdown")).stdout).not.toContain("rests on");
    const call = await check(...tokenTransfer("1000000"), "--full");
    expect(call.stdout).toContain(`transfer(to: ${bob}, amount: 1000000)`);
  });

  it("prints JSON that is a report", async () => {
    const { code, stdout } = await check(...transfer, "--json", "--nonce", "1", "--gas", "30000", "--tip", "1gwei");
    const report = await Effect.runPromise(fromJson(JSON.parse(stdout)));
    expect(report.verdict).toBe("ready");
    const [first] = report.transactions;
    expect(first?.request).toMatchObject({ nonce: 1, gas: 30_000n, maxPriorityFeePerGas: 1_000_000_000n });
    expect(first?.request?.value).toBe(parseEther("0.1"));
    expect(report.ledger.rounds).toBe(2);
    expect(code).toBe(0);
  });

  it("decodes a revert by the ABI with its arguments, and exits with 1", async () => {
    const { code, stdout } = await check(...tokenTransfer("1000000"), "--full");
    expect(stdout.split("\n")[0]).toMatch(/^BLOCKED · the call reverts with /);
    expect(stdout.replace(/\s+/g, " ")).toContain(
      `ERC20InsufficientBalance(sender: ${alice}, balance: 0, needed: 1000000)`,
    );
    expect(stdout).toContain("ExecutionReverted");
    expect(code).toBe(1);
  });

  it("takes a signature in place of a file, and the call's only function", async () => {
    const { code, stdout } = await check(
      ...["--from", alice, "--to", token, "--abi", "mint(address to, uint256 amount)"],
      ...["--args", JSON.stringify([bob, "1ether"]), "--full"],
    );
    expect(stdout).toContain(`mint(to: ${bob}, amount: 1000000000000000000)`);
    expect(stdout).toContain("You call ");
    expect(code).toBe(0);
  });

  it("takes a signature and its arguments, as cast does", async () => {
    const call = ["--from", alice, "--to", token, "transfer(address,uint256)", bob];
    const { code, stdout } = await check(...call, "1");
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^BLOCKED · [^]*: transfer\(0x\w+…\w+, 1\) \(by an ABI you/),
    ]);
    expect((await check(...call, "1", "--abi", tokenAbi)).stdout).toContain(": transfer(");
    const json = JSON.parse((await check(...call, "0.5ether", "--json")).stdout);
    const data = encodeFunctionData({ abi: Token.abi, functionName: "transfer", args: [bob, 5n * 10n ** 17n] });
    expect(json.transactions[0].input.data).toBe(data);
    for (const args of [
      ["f(int256)", "-5"],
      ["--", "f(int256)", "-5"],
    ]) {
      const negative = await check("--from", alice, "--to", token, "--json", ...args);
      expect(JSON.parse(negative.stdout).transactions[0].input.data).toMatch(/f{63}b$/);
    }
  });

  it("tells paths, file:// and signatures apart", async () => {
    const file = join(bin.directory, "f(1).json");
    writeFileSync(file, JSON.stringify({ from: alice, to: bob, value: "1" }));
    for (const path of [file, pathToFileURL(file).href]) {
      expect((await check(path)).stdout, path).toMatch(/^READY/);
      expect((await check(path, "--html", `${pathToFileURL(file).href}.html`)).code).toBe(0);
    }
    expect(readFileSync(`${file}.html`, "utf8")).toContain("<!doctype html>");
    const abi = await check(
      ...tokenTransfer("1").map((arg) => (arg === tokenAbi ? pathToFileURL(tokenAbi).href : arg)),
    );
    expect(abi.stdout).toMatch(/^BLOCKED/);
  });

  it("uses a node on this machine where none is named and a person types, and says so first", async () => {
    const told: Array<string> = [];
    const connect = (isTerminal: boolean, rpcUrl: Option.Option<string>) =>
      readOwnConnection({ rpcUrl, header: [], endpoint: Option.none() }).pipe(
        Effect.flatMap((layer) =>
          Effect.provide(
            Effect.map(Rpc, ({ endpoint }) => endpoint),
            layer,
          ),
        ),
        Effect.provide(
          Stdio.layerTest({
            stdinIsTerminal: Effect.succeed(isTerminal),
            stderr: () =>
              Sink.forEach((chunk: string | Uint8Array) => Effect.sync(() => void told.push(String(chunk)))),
          }),
        ),
        Effect.provide(NodeServices.layer),
        Effect.scoped,
        Effect.result,
        Effect.runPromise,
      );
    expect(await connect(true, Option.none())).toMatchObject({ success: "http://127.0.0.1:8545" });
    expect(told).toEqual(["The node is http://127.0.0.1:8545: neither --rpc-url nor ETH_RPC_URL names one\n"]);
    // an empty variable is a mistake, and names no node
    expect(await connect(true, Option.some(""))).toMatchObject({ failure: { _tag: "WrongUsage" } });
    expect(await connect(true, Option.some(node.url))).toMatchObject({ success: node.url });
    expect(await connect(false, Option.none())).toMatchObject({ failure: { _tag: "WrongUsage" } });
    expect(told).toHaveLength(1);
    const piped = await bin.run(["check", ...transfer]);
    const says = "--rpc-url: is missing (or set ETH_RPC_URL)";
    expect([piped.code, piped.stdout, piped.stderr]).toEqual([64, "", expect.stringContaining(says)]);
    const script = existsSync("/usr/bin/script") ? "/usr/bin/script" : null;
    if (script === null) return;
    const command = [process.execPath, bin.file, "check", ...transfer, "--deadline", "1s"].join(" ");
    const { ETH_RPC_URL: _, ...env } = process.env;
    const typed = spawnSync(script, ["-qec", command, "/dev/null"], {
      encoding: "utf8",
      env: { ...env, TERM: "dumb" },
    });
    expect(typed.stdout.split("\n")[0]?.trim()).toBe(told[0]?.trim());
  });

  it("decodes the revert of a call given as data, by the ABI beside it", async () => {
    const data = encodeFunctionData({ abi: Token.abi, functionName: "transfer", args: [bob, 7n] });
    const { code, stdout } = await check("--from", alice, "--to", token, "--data", data, "--abi", tokenAbi, "--full");
    expect(stdout.replace(/\s+/g, " ")).toContain(`ERC20InsufficientBalance(sender: ${alice}, balance: 0, needed: 7)`);
    expect(stdout.replace(/\s+/g, " ")).toContain(`transfer(to: ${bob}, amount: 7) (by an ABI you gave)`);
    expect(code).toBe(1);
    const bare = await check("--from", alice, "--to", token, "--data", data, "--full");
    expect(bare.stdout.replace(/\s+/g, " ")).toContain(`transfer(to: ${bob}, amount: 7) (by selector: ERC-20)`);
  });

  it("reads signed bytes, a wallet's request and a node's transaction", async () => {
    const key = privateKeyToAccount(accounts[2].privateKey);
    const fields = { to: bob, value: 1n, gas: 30_000n, nonce: 0, chainId: 31_337 };
    const raw = await key.signTransaction({
      ...fields,
      type: "eip1559",
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    const signed = await bin.run(["check", raw, "--rpc-url", node.url, "--json"]);
    expect([signed.code, JSON.parse(signed.stdout).clearance.raw]).toEqual([0, [raw]]);
    const request = {
      method: "eth_sendTransaction",
      params: [{ from: key.address, to: bob, value: "0x1", input: "0x" }],
    };
    const asked = await bin.run(["check", "-", "--rpc-url", node.url], { stdin: JSON.stringify(request) });
    expect([asked.code, asked.stdout.startsWith("READY · ")]).toEqual([0, true]);
    const broken = await bin.run(["check", raw.slice(0, -2), "--rpc-url", node.url]);
    expect([broken.code, broken.stderr]).toEqual([64, expect.stringContaining("is no transaction of type 0 to 4")]);
  });

  it("reads a bundle from a file and from stdin", async () => {
    const bundle = JSON.stringify([
      { from: alice, to: token, abi: Token.abi, functionName: "mint", args: [alice, "5000000"] },
      { from: alice, to: token, abi: Token.abi, functionName: "transfer", args: [bob, "5000000"] },
    ]);
    const file = join(bin.directory, "bundle.json");
    writeFileSync(file, bundle);
    const fromFile = await check(file, "--full");
    expect(fromFile.stdout).toContain("Transaction 2 of 2: call");
    expect(fromFile.code, fromFile.stdout).toBe(0);
    const fromStdin = await bin.run(["check", "-", "--json"], { stdin: bundle, env: { ETH_RPC_URL: node.url } });
    const report = await Effect.runPromise(fromJson(JSON.parse(fromStdin.stdout)));
    expect(report.transactions).toHaveLength(2);
    expect(report.transactions[1]?.outcome.status).toBe("success");
    expect(fromStdin.code).toBe(0);
  });

  it("prints Markdown, and writes HTML into a file", async () => {
    const page = join(bin.directory, "report.html");
    const { code, stdout } = await check(...transfer, "--markdown", "--html", page);
    expect(stdout.split("\n")[0]).toBe("# ✅ READY");
    expect(readFileSync(page, "utf8")).toMatch(/^<!doctype html>[\s\S]*<h1>READY<\/h1>/);
    expect(code).toBe(0);
  });

  it("is ready on a strict node with only the seven methods and no batches", async () => {
    const endpoint = await use(strict(node.url));
    const { code, stdout } = await bin.run(["check", ...transfer], { env: { ETH_RPC_URL: endpoint.url } });
    expect(stdout.split("\n")[0]).toMatch(/^READY/);
    expect(code).toBe(0);
  });

  it("is unknown on a node without eth_simulateV1, and names what is missing", async () => {
    const endpoint = await use(withoutSimulate(node.url));
    const { code, stdout } = await bin.run(["check", ...transfer], { env: { ETH_RPC_URL: endpoint.url } });
    expect(stdout.split("\n")[0]).toMatch(/^UNKNOWN/);
    const full = await bin.run(["check", ...transfer, "--full"], { env: { ETH_RPC_URL: endpoint.url } });
    expect(full.stdout).toMatch(/tier +call: eth_call and eth_estimateGas only/);
    expect(stdout).toContain("Could not check");
    expect(code).toBe(3);
  });

  it("names the slow request and its share of the deadline", async () => {
    const proxy = await use(startProxy({ target: node.url, delayMs: 1_200 }));
    const args = ["check", ...transfer, "--rpc-url", proxy.url, "--deadline"];
    const half = await bin.run([...args, "2s"]);
    expect([half.code, half.stderr]).toEqual([3, ""]);
    expect(half.stdout).toMatch(/^What used the deadline of 2\.0 s\n {2}round 1: \S+.* was answered after 1\.\d s$/m);
    expect(half.stdout).toMatch(/^ {2}round 2: .*eth_simulateV1 \((?:exact|next)\).* had no answer after 0\.\d s/m);
    expect(half.stdout).not.toMatch(/after 0 ms/);
    const none = await bin.run([...args, "600ms"]);
    expect(none.code).toBe(3);
    expect(none.stdout).toMatch(/^UNKNOWN · \S+ did not answer · no answer in time/);
    // why: six of nine requests are named, the slowest first, and all of them waited as long
    expect(none.stdout).toMatch(/^ {2}round 1: .*eth_simulateV1 \(\w+\).* had no answer after 0\.\d s$/m);
    proxy.setDelay(0);
    expect((await bin.run([...args, "10s"])).stdout).not.toContain("What used the deadline");
  });

  it("names both chains where the node serves another", async () => {
    const { code, stdout } = await check(...transfer, "--chain-id", "1");
    expect([code, stdout]).toEqual([1, expect.stringContaining("meant for chain 1 and the node serves chain 31337")]);
  });

  it("is unknown on an endpoint that answers 403 or is not there", async () => {
    const endpoint = await use(forbidden(node.url));
    const refused = await bin.run(["check", ...transfer], { env: { ETH_RPC_URL: endpoint.url } });
    expect(refused.stdout).toContain("HTTP 403");
    expect(refused.stdout).not.toContain("\u001b");
    expect(refused.code).toBe(3);
    expect(refused.stdout.trimEnd().split("\n")).toHaveLength(1);
    const env = { ETH_RPC_URL: "http://me:hunter2@127.0.0.1:1/secretkey" };
    const absent = await bin.run(["check", ...transfer, "--deadline", "2s"], { env });
    expect(absent.code).toBe(3);
    expect(absent.stdout).toMatch(
      /^UNKNOWN · http:\/\/127\.0\.0\.1:1\/… did not answer · the endpoint could not be reached .*ECONNREFUSED.*\n$/,
    );
    const json = await bin.run(["check", ...transfer, "--deadline", "2s", "--json"], { env });
    expect((await Effect.runPromise(fromJson(JSON.parse(json.stdout)))).verdict).toBe("unknown");
    expect(`${absent.stdout}${absent.stderr}`).not.toMatch(/hunter2|secretkey/);
  });

  it.each([
    [["--from", "0x12"], "--from: must be 20 bytes of hex with 0x"],
    [["--to", bob], "--from: is missing"],
    [["--from", alice, "--to", bob, "--max-fee", "1gwei", "--tip", "2gwei"], "--tip: is above maxFeePerGas"],
    [
      ["--from", alice, "--to", bob, "--abi", "f(uint256 a)", "--args", "[1"],
      "--args: must be one JSON array in quotes",
    ],
    [["--from", alice, "--to", bob, "--abi", "f(uint256 a)", "--args", '["x"]'], "--args[0]: must be wei"],
    [["--from", alice, "--to", bob, "--abi", "/nowhere.json"], "--abi: /nowhere.json cannot be read (NotFound)"],
    [["--from", alice, "--to", bob, "--block", "newest"], "--block: must be latest, pending"],
    [["--from", alice, "--to", bob, "--deadline", "0s"], "--deadline: must be a time above 0"],
    [["--from", alice, "--to", bob, "--json", "--markdown"], "--json: cannot be combined with --markdown"],
    [["/nowhere.json"], "input: /nowhere.json cannot be read (NotFound)"],
    [["/nowhere.json", "--from", alice], "--from: cannot be combined with the input file /nowhere.json"],
    [["--from", alice, "--to", bob, "--args", bob, "1000"], "--args: must be one JSON array in quotes"],
    [["/a.json", "/b.json"], "input: there are more arguments than it takes"],
    [["file:///nowhere.json"], "input: /nowhere.json cannot be read (NotFound)"],
    [["file://elsewhere/x.json"], "input: file://elsewhere/… is no URL of a file on this machine"],
    [["--from", alice, "--to", bob, "f(uint256)", "x"], "args[0]: must be wei"],
    [["--from", alice, "--to", bob, "f(uint256", "1"], "signature: is no ABI"],
    [["f(uint256)", "1"], "--from: is missing"],
    [["--from", alice, "--to", "0x12", "f(uint256)", "1"], "--to: must be 20 bytes"],
    [["--from", alice, "--to", bob, "f(address)", "0x12"], "args[0]: does not fit address"],
    ...["--data", "--args", "--function"].map((flag): Mistake => [
      ["--from", alice, flag, "[]", "f()"],
      `${flag}: cannot be combined with a signature`,
    ]),
    [["--from", alice, "--to", bob, "--value", "5"], "--value: needs a unit: 5ether or 5gwei or 5wei"],
    [["--from", alice, "--to", bob, "--max-fee", "2"], "--max-fee: needs a unit: 2gwei or 2wei"],
    [["--from", alice, "--to", bob, "--tip", "0.5"], "--tip: needs a unit: 0.5gwei\nsee"],
    [["--from", alice, "--to", bob, "--gas-price", "2"], "--gas-price: needs a unit: 2gwei or 2wei"],
    [["--from", alice, "--to", bob, "--deadline", "10"], "--deadline: needs a unit: 10s or 10ms"],
    [["--from", alice, "--to", "vitalik.eth"], "--to: is a name, and names are not resolved here"],
    [
      ["--from", alice, "--to", bob, "--abi", "f(address a)", "--args", '["vitalik.eth"]'],
      "--args[0]: is a name, and names are not resolved here",
    ],
    [
      ["--from", alice, "--to", bob, "--abi", "transfer(address a)", "--function", "transfr", "--args", "[]"],
      "--function: the ABI has no function transfr; did you mean transfer?",
    ],
    [
      ["--from", alice, "--to", bob, "--html", "/nowhere/x.html"],
      "--html: /nowhere/x.html cannot be written (NotFound)",
    ],
    [["--from", alice, "--to", bob, "--html", "/tmp"], "--html: /tmp is a directory"],
    [["--from", alice, "--to", bob, "--html", ""], "--html: is empty"],
    [["--from", alice, "--to", bob, "--header", "authorization"], "--header[0]: must be one header in quotes"],
    [["--from", alice, "--header", "a: b\r\nc: d"], "--header[0]: must be one header in quotes"],
    [["--bogus"], "Unrecognized flag: --bogus"],
    ...["--value", "--max-fee", "--tip", "--gas-price"].flatMap((flag) =>
      (flag === "--value" ? ["-1ether", "-vwei"] : ["-.5gwei"]).flatMap((amount): ReadonlyArray<Mistake> => {
        const says = `${flag}: must be wei (decimal or 0x) or an amount such as 0.1ether or 2gwei, got "${amount}"; it cannot be negative\nsee`;
        return [
          [["--from", alice, "--to", bob, flag, amount], says],
          [["--from", alice, "--to", bob, `${flag}=${amount}`], says],
        ];
      }),
    ),
    ...["--gas", "--nonce", "--chain-id", "--block", "--deadline"].flatMap((flag) =>
      ["-5s"].flatMap((amount): ReadonlyArray<Mistake> => {
        const says = `got "${amount}"; it cannot be negative\nsee`;
        return [
          [["--from", alice, "--to", bob, flag, amount], says],
          [["--from", alice, "--to", bob, `${flag}=${amount}`], says],
        ];
      }),
    ),
    [["--from", alice, "--to", bob, "--value", "0.1wei"], "can hold (0); did you mean 0.1gwei or 0.1ether?\nsee"],
    [["--from", alice, "--to", bob, "--value", "0,1ether"], "a decimal has a point: did you mean 0.1ether?\nsee"],
    [["--rpc", "http://127.0.0.1:1", "--from", alice], "Did you mean this? --rpc-url\nsee"],
    [["--gas-limit", "5", "--from", alice], "Did you mean this? --gas\nsee"],
    [["-rpc-url", "http://127.0.0.1:1"], "options begin with two dashes, except -h and -v\nsee"],
    [["--fee-level", "huge"], "huge"],
    [["--signer", alice], "--signer: stands beside --typed-data, --message or --authorization"],
    [["--origin", "https://example.org", "--from", alice], "--origin: stands beside --typed-data, --message or"],
    [["--message", "hello"], "--signer: is missing: the address whose key signs"],
    [["--message", "hello", "--signer", "0x12"], "--signer: must be"],
    [["--message", "hello", "--typed-data", "-", "--signer", alice], "cannot be combined with --"],
    [["--message", "hello", "--signer", alice, "--to", bob], "--to: cannot be combined with --message"],
    [["tx.json", "--message", "hello", "--signer", alice], "input: cannot be combined with --message"],
    [["--typed-data", "/nowhere/x.json", "--signer", alice], "--typed-data: /nowhere/x.json cannot be read (NotFound)"],
    [["--typed-data", "-", "--signer", alice], "--typed-data: is no JSON"],
    [["--authorization", "-", "--signer", alice, "--origin", "x"], "--authorization: is no JSON"],
  ] satisfies ReadonlyArray<Mistake>)("refuses %j as wrong usage, on stderr, with code 64", async (args, message) => {
    expectRefused(await inProcess(["check", "--rpc-url", node.url, ...args]), message);
  });
  it("ends with the code of wrong usage for a mistake", async () => {
    expectRefused(await check("--from", "0x12"), "--from: must be 20 bytes of hex with 0x");
  });

  it("sends headers, and never shows what they hold", async () => {
    const endpoint = await use(guarded(node.url, "Bearer sesame-open"));
    const args = ["check", ...transfer, "--rpc-url", endpoint.url];
    const refused = await bin.run([...args, "--header", "Authorization: Bearer wrong-word"]);
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain("…");
    const let_in = await bin.run([
      ...args,
      "--header",
      "Authorization: Bearer sesame-open",
      "--header",
      "x-team: blue",
    ]);
    expect(let_in.code).toBe(0);
    const unquoted = await bin.run([...args, "--header", "Authorization:", "Bearer", "sesame-open"]);
    expect(unquoted.code).toBe(64);
    for (const { stdout, stderr } of [refused, let_in, unquoted])
      expect(`${stdout}${stderr}`).not.toMatch(/wrong-word|sesame/);
  });

  it("prints the report before it fails to write its file, and ends with code 73", async () => {
    const page = join(bin.directory, "full.html");
    symlinkSync("/dev/full", page);
    const { code, stdout, stderr } = await check(...transfer, "--html", page);
    expect(stdout).toMatch(/^READY/);
    expect(stderr).toMatch(/--html: .*full\.html cannot be written/);
    expect(code).toBe(73);
  });

  it("colours a pipe only when forced, and nothing where colours are unwanted", async () => {
    const env = { ETH_RPC_URL: node.url, FORCE_COLOR: "1", TERM: "xterm" };
    expect((await bin.run(["check", ...transfer], { env })).stdout).toContain("\u001b[");
    const plain = await bin.run(["check", ...transfer], { env: { ...env, NO_COLOR: "1" } });
    expect(plain.stdout).not.toContain("\u001b");
    for (const without of [{ FORCE_COLOR: "0" }, { TERM: "dumb" }]) {
      const uncoloured = await bin.run(["check", ...transfer], { env: { ...env, ...without } });
      expect(uncoloured.stdout).not.toContain("\u001b");
      expect(uncoloured.code).toBe(0);
    }
    expect((await bin.run(["--help"], { env: { ...env, TERM: "dumb" } })).stdout).not.toContain("\u001b");
  });

  it("never shows the credentials of a URL in a complaint", async () => {
    for (const args of [
      ["check", "--rpc-ulr", "https://me:hunter2@host/secretkey"],
      ["check", "in.json", "https://me:hunter2@host/secretkey"],
      ["check", "--rpc-url", "htps://me:hunter2@host/secretkey"],
      ["https://me:hunter2@host/secretkey"],
    ]) {
      const { code, stdout, stderr } = await bin.run(args);
      expect(`${stdout}${stderr}`, args.join(" ")).not.toMatch(/hunter2|secretkey/);
      expect(code).toBe(64);
    }
  });

  it("reads a file of policies, and names the wrong entry", async () => {
    const file = join(bin.directory, "policies.json");
    writeFileSync(file, JSON.stringify([{ policy: "no such policy" }]));
    const unknown = await check(...transfer, "--policies", file);
    expect(unknown.stderr).toContain('--policies[0].policy: "no such policy" is no policy; there are maxSpent');
    expect(unknown.code).toBe(64);
    writeFileSync(file, JSON.stringify([{ policy: "any", policies: [{ policy: "maxFee", wei: "0.1ether" }] }]));
    const wrong = await check(...transfer, "--policies", file);
    expect(wrong.stderr).toContain("--policies[0].policies[0].wei: Expected a whole number of raw units, wei or gas");
    writeFileSync(file, JSON.stringify([{ policy: "maxFee", wei: "5" }]));
    const dear = await check(...transfer, "--policies", file);
    expect(dear.stdout.replace(/\s+/g, " ")).toMatch(/fees of up to [\d.]+ gwei, at most 0.000000005 gwei/);
    expect(dear.code).toBe(1);
    const example = await check(...transfer, "--policies", "examples/policies.json");
    expect(example.stdout).toMatch(/^READY/);
    expect(example.code).toBe(0);
    writeFileSync(file, "[]");
    expect((await check(...transfer, "--policies", file)).code).toBe(0);
  });
});

describe("the program evm-preflight", () => {
  it("shows its help and its version", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      readonly version: string;
    };
    const help = await bin.run(["--help"]);
    const [, list = ""] = /^SUBCOMMANDS\n([\s\S]*)\n\nExit codes: 0 ready.*\n$/m.exec(help.stdout) ?? [];
    expect(list.split("\n").map((line) => line.trim().split(" ")[0])).toEqual([
      ...["check", "verify", "doctor", "decode", "nonces", "mcp"],
    ]);
    expect(help.code).toBe(0);
    expect(await bin.run(["help"])).toEqual(help);
    expect(await bin.run(["help", "verify"])).toEqual(await bin.run(["verify", "--help"]));
    expect(await bin.run(["verify", "help"])).toEqual(await bin.run(["verify", "--help"]));
    expect((await bin.run(["nonces", "--help"])).stdout).toMatch(/[^\n]\n\nEXAMPLES\n/);
    for (const command of [["check"], ["verify"], ["doctor"], ["decode"], ["nonces"], ["nonces", "fill"], ["mcp"]]) {
      const own = await bin.run([...command, "--help"]);
      expect([own.code, own.stdout.trimEnd().split("\n").at(-1)]).toEqual([
        0,
        expect.stringMatching(/^Exit codes: 0 .*64 wrong usage/),
      ]);
    }
    const shown = await bin.run(["--version"]);
    expect(shown.stdout).toContain(version);
    expect(shown.code).toBe(0);
    const checkHelp = (await bin.run(["check", "--help"])).stdout;
    expect(checkHelp).toContain("Exit codes: 0 ready, 1 blocked, 2 caution, 3 unknown, 64 wrong usage");
    expect(checkHelp).toContain('{"policy":"maxSpent","token":"native","amount":"1000000000000000000"}');
    expect(checkHelp).toContain("(default normal)");
    const unknown = await bin.run(["chek", "--from", alice]);
    expect(unknown.stderr.trimEnd().split("\n")).toHaveLength(2);
    expect(unknown.stderr).toContain("Did you mean this? check");
    const bare = await bin.run([]);
    expect(bare.code).toBe(64);
  });

  it("has exactly the options and exit codes of its help in the guide", async () => {
    const guide = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
    const chapter = /^## check\n([^]*?)^## /m.exec(guide)?.[1] ?? "";
    const help = (await bin.run(["check", "--help"])).stdout;
    const flags = [...(/^FLAGS\n([^]*?)\n\n/m.exec(help)?.[1]?.matchAll(/^ {2}(--[a-z-]+)/gm) ?? [])].map(
      ([, flag]) => flag,
    );
    const shown = [...chapter.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag);
    expect(flags.length).toBeGreaterThan(20);
    expect([...new Set(shown)].sort()).toEqual(flags.sort());
    const codes = /^Exit codes: (.*)$/m.exec(help)?.[1]?.split(/, (?=\d)/) ?? [];
    const rows = [...chapter.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)].map(
      ([, code, what = ""]) => `${code} ${what.replaceAll("`", "")}`,
    );
    expect(rows).toEqual([...codes].sort((a, b) => Number.parseInt(a) - Number.parseInt(b)));
  });

  it("never ends with a verdict's code where a check made no report", async () => {
    const whole = ["check", "--rpc-url", node.url, ...transfer];
    for (const args of [
      ...[
        [...whole, "--help"],
        [...whole, "-v"],
        ["check", "-h", ...transfer],
        ["check", "tx.json", "--version"],
      ],
      ...[
        [...whole, "--completions", "bash"],
        [...whole, "-vh"],
        [...whole, "--", "-h"],
        [...whole, "--value", "-h"],
      ],
      ...[
        ["check", "-"],
        ["check", "/"],
        ["check", "--rpc-url"],
        [...whole, "--json=maybe"],
      ],
    ]) {
      const { code } = await bin.run(args);
      expect(code, args.join(" ")).toBe(64);
    }
  });

  it("ends with its own codes where it failed, or could not print", async () => {
    const env = { ETH_RPC_URL: node.url };
    const broken = await bin.start(["check", ...transfer], {
      env: { ...env, NODE_OPTIONS: "--import=data:text/javascript,globalThis.AbortController=null" },
    });
    expect([broken.code, broken.stdout]).toEqual([70, ""]);
    const thrown = await bin.start(["check", ...transfer], {
      env: {
        ...env,
        NODE_OPTIONS:
          "--import=data:text/javascript,const{listenerCount}=process;setInterval(()=>{if(listenerCount.call(process,`uncaughtException`))throw(Error())},1)",
      },
    });
    expect([thrown.code, thrown.stdout]).toEqual([70, ""]);
    const full = await bin.start(["check", ...transfer], { env, stdout: "/dev/full" });
    expect(full.code).toBe(74);
  });
});
