/** `evm-preflight verify`, as users run it, on a real node. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accounts, mineAnvil, rawRequest, startAnvil, type Node } from "../harness/anvil.js";
import { buildBin, type Bin } from "./bin.js";
import { guarded } from "./endpoints.js";

const [alice, bob] = accounts;
const nothing: Hex = `0x${"00".repeat(32)}`;

let bin: Bin;
let node: Node;
let file: string;
let hash: Hex;

beforeAll(async () => {
  [bin, node] = await Promise.all([buildBin(), startAnvil({ noMining: true })]);
  await mineAnvil(node.url);
  const flags = ["--from", alice.address, "--to", bob.address, "--value", "1wei", "--json"];
  const { stdout } = await bin.run(["check", "--rpc-url", node.url, ...flags]);
  file = join(bin.directory, "report.json");
  writeFileSync(file, stdout);
  const { transactions } = JSON.parse(stdout) as { transactions: [{ request: Record<string, string> }] };
  const { gas, value, maxFeePerGas, maxPriorityFeePerGas, ...request } = transactions[0].request;
  const whole = (text: string | undefined) => BigInt(text ?? 0);
  const raw = await privateKeyToAccount(alice.privateKey).signTransaction({
    ...{ ...request, type: "eip1559", chainId: Number(request["chainId"]), nonce: Number(request["nonce"]) },
    ...{ gas: whole(gas), value: whole(value), maxFeePerGas: whole(maxFeePerGas) },
    maxPriorityFeePerGas: whole(maxPriorityFeePerGas),
  });
  hash = (await rawRequest(node.url, "eth_sendRawTransaction", [raw])) as Hex;
});
afterAll(async () => {
  await node?.stop();
  bin?.remove();
});

const verify = (...args: ReadonlyArray<string>) => bin.run(["verify", "--rpc-url", node.url, ...args]);

describe("verify", () => {
  it("ends as unknown while the transaction is pending, and with 1 where nobody knows it", async () => {
    const pending = await verify(hash, "--report", file);
    expect([pending.code, pending.stdout]).toEqual([3, expect.stringContaining(`${hash}  pending`)]);
    expect(pending.stdout).toContain("in the pool, in no block");
    const dropped = await verify(nothing, "--report", file);
    expect(dropped.stdout).toContain("not found: the node does not know this hash");
    expect([dropped.code, dropped.stdout]).toEqual([1, expect.stringContaining(`${nothing}  dropped`)]);
  });

  it("ends with 0 when the transaction did as reported, in text and as JSON", async () => {
    await mineAnvil(node.url);
    const told = await verify(hash, "--report", file);
    expect([told.code, told.stdout.split("\n")[0]]).toEqual([0, "SAME · it happened as the report said"]);
    const json = await verify(hash, "--report", file, "--json");
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      0,
      { class: "same", transactions: [{ gasUsed: "21000" }] },
    ]);
  });

  it("ends with 1 under a wrong hash, even where the same request was mined", async () => {
    const other = await verify(nothing, "--report", file);
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining(`transaction 1  ${hash}`)]);
    const [first] = other.stdout.split("\n");
    expect(first).toBe("SAME · it happened as the report said; the hash was not found: what was found instead follows");
    expect(other.stdout).toContain(`found in place of ${nothing}, which is in no block, by its sender and nonce`);
    const told = await verify(nothing, "--report", file, "--json");
    const json = JSON.parse(told.stdout);
    expect(told.code).toBe(1);
    expect(json.transactions).toMatchObject([{ hash, sent: nothing }]);
    expect(JSON.parse((await verify(hash, "--report", file, "--json")).stdout).transactions[0]).not.toHaveProperty(
      "sent",
    );
  });

  it("ends with 1 where another transaction was mined than was proven", async () => {
    const changed = join(bin.directory, "changed.json");
    writeFileSync(changed, readFileSync(file, "utf8").replaceAll('"value": "1"', '"value": "2"'));
    const { code, stdout } = await verify(hash, "--report", changed);
    expect([code, stdout.split("\n")[0]]).toEqual([1, "TAMPERED · what was mined is not what was proven"]);
    expect(stdout).toMatch(/request value: tampered \[logged\]\s+said {6}2 wei\s+happened {2}1 wei/);
  });

  it("ends as unknown where the node is not there", async () => {
    const absent = await bin.run(["verify", hash, "--report", file, "--rpc-url", "http://127.0.0.1:1/secretkey"]);
    expect(absent.code).toBe(3);
    expect(`${absent.stdout}${absent.stderr}`).not.toContain("secretkey");
  });

  it.each([
    [["0x12"], "txhash[0]: must be a hash of 32 bytes"],
    [[nothing, nothing], "txhash: must be one for each"],
  ])("refuses %j with 64", async (hashes, message) => {
    const { code, stderr } = await verify(...hashes, "--report", file);
    expect([code, stderr]).toEqual([64, expect.stringContaining(message)]);
  });

  it.each([
    ["{}", "is no report; check --json writes one ("],
    ['{"name":"a","version":"1.0.0"}', 'is no report; check --json writes one (Expected 4 | 5 at ["version"])'],
    ["not JSON at all", "is no report; check --json writes one (it is no JSON: "],
    ["<!doctype html><h1>READY</h1>", "is no report; check --json writes one (it is no JSON: "],
    [
      JSON.stringify({ from: alice.address, to: bob.address }),
      "is a transaction, no report; check --json writes one\n",
    ],
    [JSON.stringify([{ from: alice.address }]), "is a bundle of transactions, no report; check --json writes one\n"],
    ["[]", "is no report; check --json writes one ("],
  ])("refuses a file that is no report with 64, and names the fault: %s", async (content, says) => {
    const wrong = join(bin.directory, "wrong.json");
    writeFileSync(wrong, content);
    const { code, stdout, stderr } = await verify(hash, "--report", wrong);
    expect([code, stdout, stderr]).toEqual([64, "", expect.stringContaining(`--report: ${says}`)]);
    expect(stderr.trimEnd().split("\n")).toHaveLength(2);
  });

  it("of a report is refused by check, which says that it is no transaction", async () => {
    const { code, stderr } = await bin.run(["check", "--rpc-url", node.url, file]);
    expect([code, stderr]).toEqual([64, expect.stringContaining("input: is a report, not a transaction")]);
  });

  it("accepts headers and the description that doctor wrote of the endpoint", async () => {
    const endpoint = await guarded(node.url, "Bearer sesame-open");
    try {
      const known = await bin.run(["doctor", node.url, "--json"]);
      const described = join(bin.directory, "endpoint.json");
      writeFileSync(described, known.stdout);
      const asked = ["verify", hash, "--report", file, "--rpc-url", endpoint.url, "--endpoint", described];
      const refused = await bin.run([...asked, "--header", "authorization: Bearer wrong-word"]);
      expect([refused.code, refused.stdout]).toEqual([3, expect.not.stringContaining("wrong-word")]);
      expect((await bin.run([...asked, "--header", "authorization: Bearer sesame-open"])).code).toBe(0);
      const wrong = await verify(hash, "--report", file, "--endpoint", file);
      expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("--endpoint: is not what doctor")]);
    } finally {
      await endpoint.stop();
    }
  });
});
