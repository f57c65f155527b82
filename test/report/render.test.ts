import { createHash } from "node:crypto";
import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, erc20Abi, parseAbi } from "viem";
import * as Schema from "effect/Schema";
import { describe, expect, it } from "vitest";
import { address, Hash, Hex, text as quotedText, units } from "../rooms/primitives.js";
import { note } from "../harness/notes.js";
import { fromError, toHtml, toMarkdown, toText, type OutcomeLog } from "../rooms/report.js";
import { MethodNotSupported, PolicyViolation, RpcError } from "../rooms/errors.js";
import { alice, blocked, report, tokens, transfer, unknown, usdc } from "./fixtures.js";

const lineWith = (text: string, part: string): string => {
  const line = text.split("\n").find((one) => one.includes(part));
  if (line === undefined) throw new Error(`no line with ${part} in\n${text}`);
  return line;
};

describe("toText", () => {
  it("gives a plain transfer eleven lines: verdict, reason, summary, movement, cost, next step", () => {
    expect(toText(report()).trimEnd().split("\n")).toEqual([
      "READY · every check passed, and exactly this request was proven",
      "You send 1.5 ETH to 0x7099…79C8 and pay at most 0.0000441 ETH in fees.",
      "",
      "Movements",
      "  -1.5  ETH  to  0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      "",
      "Cost",
      "  fees    at most 0.0000441 ETH",
      "  total   at most 1.50005 ETH · likely ≈1.50004 ETH · balance 10 ETH",
      "",
      "Ethereum, chain 1 · 1 transaction · proven · 2026-09-21T14:13:20Z",
      "Next: sign exactly this request within 30 s. After that, prove again first",
    ]);
  });

  it("shows who, what, how much and what to sign, exact and with units", () => {
    const text = toText(report(), { full: true });
    expect(lineWith(text, "  from ")).toContain("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 · account");
    expect(lineWith(text, "  to       ")).toContain("0x70997970C51812dc3A010C7d01b50e0d17dc79C8 · account, no");
    expect(lineWith(text, "  value ")).toContain("1.5 ETH (1500000000000000000 wei)");
    expect(lineWith(text, "  gas  ")).toContain("limit 21,000 · used 21,000");
    expect(lineWith(text, "  nonce")).toContain("7 · 6 would be mined now · 1 waiting to be mined");
    expect(lineWith(text, "  fee ")).toContain("at most 2.1 gwei per gas · tip 1 gwei per gas (from eth_feeHistory)");
    expect(lineWith(text, "  request ")).toContain("type eip1559 · chain 1 · nonce 7 · gas 21000");
    expect(lineWith(text, "  at most   ")).toContain("1.5000441 ETH (1500044100000000000 wei)");
    expect(lineWith(text, "gas limit × max fee")).toContain("44100000000000 wei");
    expect(lineWith(text, "  freshness")).toContain("fresh (latest is block 100)");
    expect(lineWith(text, "  asked  ")).toContain("2 rounds · 2 questions · 25 ms");
    expect(text).toContain("state after block 100 · simulated as block 101");
  });

  it("reads the calls within a multicall, each below the call that makes it", () => {
    const inner = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [alice, 5n] });
    const abi = parseAbi(["function aggregate3Value((address,bool,uint256,bytes)[])"]);
    const data = Hex.make(encodeFunctionData({ abi, args: [[[usdc, false, 10n ** 18n, inner]]] }));
    const text = toText(report({ transactions: [{ ...transfer, input: { ...transfer.input, to: usdc, data } }] }), {
      ...{ width: 400, full: true, symbol: "XDAI" },
    });
    expect(text).toMatch(
      /\n {2}call +aggregate3Value\(.*\n {4}1 +to 0xA0b8\S+ with 1 XDAI: transfer\(to: 0xf39F\S+, amount: 5\) \(by selector: ERC-20\)\n/,
    );
  });

  it("decodes the call and the revert with their arguments, and groups findings by severity", () => {
    const text = toText(blocked(), { width: 400, full: true });
    expect(text.split("\n")[0]).toBe(
      "BLOCKED · the call reverts with ERC20InsufficientBalance(sender: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, balance: 5, needed: 1000000) (and 1 more blocker)",
    );
    expect(lineWith(text, "  call ")).toContain(
      "transfer(recipient: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8, amount: 1000000)",
    );
    expect(lineWith(text, "  outcome")).toContain(
      "reverted with ERC20InsufficientBalance(sender: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266, balance: 5, needed: 1000000) (by the ABI given for 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48)",
    );
    expect(lineWith(text, "  request ")).toContain("none: a field of it is not known");
    const at = ["Blockers (2)", "Warnings (1)", "Information (1)"].map((title) => text.indexOf(title));
    expect(at.every((index) => index > 0)).toBe(true);
    expect([...at].sort((a, b) => a - b)).toEqual(at);
    expect(lineWith(text, "short by")).toContain(
      "Your account is short by 1 ETH, has 0.000000000000000001 ETH, and needs up to",
    );
    expect(text).toContain("→ fund the account with what it is short by");
    expect(text.trimEnd().split("\n").at(-1)).toBe("Next: do not sign it as it is");
  });

  it("groups our own findings by problem, and names each", () => {
    const where = { step: "policy", evidence: "measured" } as const;
    const broken = (policy: string, detail: string) =>
      fromError(new PolicyViolation({ policy, detail }), "blocker", where);
    const findings = [broken("maxSpent", "7"), broken("maxFee", "8"), broken("maxFee", "9")];
    const text = toText(report({ findings, verdict: "blocked", because: "it is" }), { width: 300, full: true });
    expect(text).toContain("Blockers (2)");
    expect(text.split("\n")[0]).toBe("BLOCKED · it is (and 1 more blocker)");
    expect(text).toContain("the policy maxSpent does not hold");
    expect(text).toContain("the policy maxFee does not hold");
    // which requests failed of one kind is one problem
    const lost = (method: string) =>
      fromError(new RpcError({ method, reason: new MethodNotSupported({ detail: "no" }) }), "unavailable", where);
    const failed = { findings: [lost("eth_chainId"), lost("eth_getCode")], verdict: "unknown" } as const;
    expect(toText(report(failed), { width: 300, full: true })).toContain("Could not check (1)");
  });

  it("names the tier and what could not be checked", () => {
    const text = toText(unknown(), { width: 200, full: true });
    expect(text.split("\n")[0]).toBe("UNKNOWN · eth_simulateV1: the node does not support this method");
    expect(lineWith(text, "  tier")).toContain("call: eth_call and eth_estimateGas only");
    expect(text).toContain("Could not check (1)");
    expect(text).toContain('The code is -32601 and the words are "the method does not exist".');
    expect(lineWith(text, "Next:")).toContain("doctor URL");
  });

  it("says who chose the values to sign, and why there is no estimate", () => {
    const refused = new RpcError({ method: "eth_estimateGas", reason: new MethodNotSupported({ detail: "no" }) });
    const chosen = {
      ...transfer,
      gas: { ...transfer.gas, by: "caller", estimate: null, refusal: refused },
      nonce: { ...transfer.nonce, by: "reserved" },
      fee: { ...transfer.fee, by: "caller", tipNamed: 10n ** 12n },
    } as const;
    const text = toText(report({ transactions: [chosen] }), { width: 300, full: true });
    expect(lineWith(text, "  gas  ")).toContain("limit 21,000 (fixed by the caller) · used 21,000");
    expect(lineWith(text, "  gas  ")).toContain("no estimate: eth_estimateGas: the node does not support this method");
    expect(lineWith(text, "  nonce")).toContain("7 (reserved) · 6 would be mined now");
    expect(lineWith(text, "  fee ")).toContain("at most 2.1 gwei per gas (fixed by the caller) · tip 1 gwei per gas");
    expect(lineWith(text, "  fee ")).toContain("1000 gwei per gas named as a tip, more than is ever proposed");
    expect(toText(report(), { full: true })).not.toMatch(/fixed by|reserved|named as/);
  });

  it("reads raw calldata and logs by the report's ABIs, else by the built-in table, and says so", () => {
    const you = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    const data = Hex.make(encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [you, 7n] }));
    const topics = encodeEventTopics({ abi: erc20Abi, eventName: "Transfer", args: { from: you, to: you } });
    const log = (first: ReadonlyArray<unknown>): OutcomeLog => ({
      ...{ address: usdc, topics: first.filter(Schema.is(Hash)), decoded: null },
      data: Hex.make(encodeAbiParameters([{ type: "uint256" }], [7n])),
    });
    const logs = [log(topics), log([`0x${"ab".repeat(32)}`])];
    const raw = {
      ...transfer,
      input: { ...transfer.input, to: usdc, data, item: null },
      outcome: { ...transfer.outcome, logs },
    };
    const { options } = report();
    const mine = { address: null, abi: parseAbi(["function transfer(address who, uint256 what)"]) };
    const bare = report({ transactions: [raw] });
    const known = report({ transactions: [raw], options: { ...options, abis: [mine] } });
    for (const text of [toText(bare, { width: 300, full: true }), toMarkdown(bare, { full: true }), toHtml(bare)]) {
      const plain = text.replace(/<[^>]+>|\\/g, "");
      expect(plain).toContain(`transfer(to: ${you}, amount: 7) (by selector: ERC-20)`);
      expect(plain).toContain("2: Transfer (by topic), undecoded");
    }
    expect(toText(known, { width: 300, full: true })).toContain(`transfer(who: ${you}, what: 7) (by an ABI you gave)`);
  });

  it("names the simulated blocks in one line, and which differ", () => {
    const { observed } = report();
    type World = (typeof observed)["worlds"][number];
    const world = (run: World["run"], number: bigint | null, agrees: boolean | null): World => ({
      run,
      state: "pending",
      number,
      timestamp: number === null ? null : 1_790_000_000n + number,
      feeRecipient: null,
      gasLimit: null,
      agrees,
    });
    const proven = (...worlds: ReadonlyArray<World>) =>
      toText(report({ observed: { ...observed, worlds } }), { width: 300, full: true });
    const sealed = { ...world("next", 101n, true), state: 100n };
    expect(lineWith(proven(world("exact", 102n, true), sealed), "  proven")).toContain(
      "the same in 2 simulated blocks: pending, exact as block 102 at 2026-09-21T14:15:02Z; block 100, next as block 101 at 2026-09-21T14:15:01Z",
    );
    expect(lineWith(proven(world("exact", 101n, true), world("next", null, false)), "  proven")).toMatch(
      /  in 2 simulated blocks: pending, exact as block 101 at \S+; pending, next as a block not known \(DIFFERS\)$/,
    );
    expect(lineWith(proven(world("exact", 1n, null)), "  proven")).toMatch(
      /  in 1 simulated block: .+ \(not compared\)$/,
    );
    expect(proven()).not.toContain("world");
  });

  it("gives each movement one aligned line with sign, unit, exact amount and evidence", () => {
    const text = toText(tokens(), { width: 140, full: true });
    const lines = text.split("\n");
    const start = lines.indexOf("Every movement, exact") + 1;
    const rows = lines.slice(start, start + 3);
    expect(rows[0]).toMatch(
      /^ +-1\.234567 {2}USDC \(0xA0b8…eB48\) +1234567 {2}0xf39F…2266 → 0x7099…79C8 {2}tx 1 {2}logged$/,
    );
    expect(rows[1]).toMatch(/^ +\+1 {2}token #42 \(0x0000…8BA3\) +1 {2}/);
    expect(rows[2]).toMatch(/^ +-0\.000000000000000001 {2}ETH +1/);
    expect(new Set(rows.map((row) => row?.indexOf("→"))).size).toBe(1);
    expect(lineWith(text, "UNLIMITED")).toMatch(/0 → UNLIMITED {2}/);
    expect(lineWith(text, "permit2 until")).toContain("not known → 2.5");
    expect(lineWith(text, "permit2 until")).toContain("until 2027-01-15T08:00:00Z");
    expect(text).toContain("0x000000000022D473030F116dDEE9F6B43aC78BA3 · spender");
  });

  it("shows the same problem in several places once, with checksummed parties and token units", () => {
    const [first, second] = ["0", "1"].map((index) =>
      note(
        "ApprovalLeftOver",
        "warning",
        { transaction: Number(index), evidence: "measured" },
        ...[address("token", usdc), address("of", alice), units("amount", 2_500_000n)],
        quotedText("because", "the calldata names it"),
      ),
    );
    if (first === undefined || second === undefined) throw new Error("no findings");
    const text = toText({ ...tokens(), findings: [first, second], because: first.sentence }, { width: 300 });
    expect(text.split("\n")[0]).toBe("CAUTION · an approval made along the way remains at the end");
    expect(text).toContain("Warnings (1)");
    for (const at of [1, 2])
      expect(text).toContain(
        `Transaction ${at}: the token is USDC (0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48), it is about you, the amount is 2.5 USDC (0xA0b8…eB48), and the reason is: the calldata names it.`,
      );
    expect(text.match(/remains at the end/g)).toHaveLength(1);
    expect(text.match(/- ApprovalLeftOver/g)).toHaveLength(1);
  });

  it("writes out two addresses that would look the same when shortened", () => {
    const twin = `0xf39f${"0".repeat(32)}2266` as typeof alice;
    const [first] = report().transfers;
    const text = toText(report({ transfers: first === undefined ? [] : [{ ...first, to: twin }] }), {
      width: 160,
      full: true,
    });
    expect(lineWith(text, "logged")).toMatch(/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 → 0xf39f0{32}2266/i);
  });

  it("uses the chain's own symbol, the caller's, and a price", () => {
    expect(lineWith(toText(report({ chainId: 137 }), { full: true }), "  value ")).toContain("1.5 POL");
    expect(lineWith(toText(report(), { symbol: "TEST", full: true }), "  value ")).toContain("1.5 TEST");
    const priced = toText(report(), { full: true, price: { currency: "USD", amount: "2480.15" } });
    expect(lineWith(priced, "  fees ")).toContain("at most 0.0000441 ETH ≈ 0.11 USD");
    expect(lineWith(priced, "  value ")).toContain("≈ 3720.23 USD");
    const dust = report({ transactions: [{ ...transfer, input: { ...transfer.input, value: 1n } }] });
    expect(lineWith(toText(dust, { full: true, price: { currency: "USD", amount: "2480.15" } }), "  value ")).toContain(
      "1 wei ≈ 0.0000000000000025 USD",
    );
  });

  it("colours only when asked, and wraps at the width", () => {
    expect(toText(report())).not.toContain("\u001b");
    expect(toText(report(), { color: true })).toContain("\u001b[32;1mREADY\u001b[0m");
    const lines = toText(unknown(), { width: 60 }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it("ignores absurd decimals", () => {
    const text = toText(
      report({
        transfers: tokens().transfers.slice(0, 1),
        tokens: [{ token: usdc, name: null, symbol: "USDC", decimals: 2_000_000_000 }],
      }),
      { width: 140, full: true },
    );
    expect(lineWith(text, "logged")).toContain("-1234567  USDC");
    expect(text).toContain("You send 1,234,567 smallest units of USDC (0xA0b8…eB48) (decimals not known)");
  });
});

describe("toHtml", () => {
  const html = toHtml(blocked());
  it("allows its own style sheet by hash and nothing else", () => {
    const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(html).toContain(`content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'`);
    expect(html).not.toMatch(/ style=| on[a-z]+=|src=|href=|url\(/);
    expect(html.match(/<style/g)).toHaveLength(1);
  });
  it("gives one page for light and dark with the content of the text", () => {
    expect(html.startsWith("<!doctype html>")).toBe(true);
    expect(html).toContain("prefers-color-scheme:dark");
    expect(html).toContain("<h1>BLOCKED</h1>");
    expect(html.replace(/<[^>]*>/g, "")).toContain(
      "ERC20InsufficientBalance(sender: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    );
    expect(html).toContain("short by 1 ETH");
    expect(html).toContain("<strong>Next:</strong>");
  });
});

describe("toMarkdown", () => {
  it("has the verdict as its title, tables for movements and lists for findings", () => {
    const markdown = toMarkdown(tokens(), { full: true });
    expect(markdown.split("\n").slice(0, 6)).toEqual([
      "# ⚠️ CAUTION",
      "",
      "**an unlimited approval is given**",
      "",
      expect.stringMatching(
        /^You send ≈1\.23457 USDC \(0xA0b8…eB48\) to 0x7099…79C8 and 1\.5 ETH to 0x7099…79C8 and others\. {2}$/,
      ),
      expect.stringMatching(/^You receive token \\#42 \(0x0000…8BA3\) from 0x7099…79C8\. {2}$/),
    ]);
    expect(markdown).toMatch(
      /\nTransaction 1 calls USDC \(0xA0b8…eB48\), which is no contract: approve\(spender: .*\n\n## /,
    );
    expect(markdown).toContain(
      "| amount | token | smallest units | from → to | tx | evidence |\n| ---: | --- | ---: |",
    );
    expect(markdown).toContain("| -1.234567 | USDC (0xA0b8…eB48) | 1234567 |");
    expect(markdown).toContain("- **ApprovalUnlimited** · Transaction 1: it goes to");
    expect(toMarkdown(tokens())).not.toContain("-1.234567");
  });
});
