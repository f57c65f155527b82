/** Cards of signatures: what is signed, what it lets somebody take, who can use it until when, and how that was assumed. */
import { describe, expect, it } from "vitest";
import { alice, bob, digest, granted, moved, pool, report, signing, stand, transfer, usdc } from "./fixtures.js";
import { note } from "../harness/notes.js";
import { becauseOf, summary, toHtml, toMarkdown, toSvg, toText, type Report } from "../rooms/report.js";

const { stranger, taker } = stand;

/** A report of one signature alone, with some fields replaced. */
const signed = (one: Parameters<typeof signing>[0], changed: Partial<Report> = {}): Report => {
  const { transactions: _, ...rest } = report({ transfers: [], balanceChanges: [], funds: [] });
  const carrier = {
    ...transfer,
    input: { ...transfer.input, from: stranger, value: 0n, origin: { signing: 0 } },
    request: null,
  };
  const made = signing(one);
  return {
    ...rest,
    options: { ...rest.options, accounts: [alice] },
    because: becauseOf([], "proven", "this signature"),
    transactions: [],
    carriers: [carrier],
    signings: [made],
    signing: made,
    ...changed,
  };
};

const forms: ReadonlyArray<readonly [name: string, render: (of: Report) => string]> = [
  ["text", (of) => toText(of, { requests: true, width: 200 })],
  ["Markdown", (of) => toMarkdown(of, { requests: true })],
  ["HTML", (of) => toHtml(of)],
  ["SVG", (of) => toSvg(of)],
  ["the summary", (of) => summary(of)],
];

const permit = signed({}, { approvals: [granted()] });
const taking = signed(
  {
    ...{ kind: "permit2Transfer", usableBy: pool },
    sign: {
      ...{ kind: "typedData", signer: alice, digest },
      typedData: { domain: { name: "Permit2" }, message: { permitted: { token: usdc, amount: "9000000000" } } },
    },
    stand: { ...stand, taken: [4_000_000_000n] },
  },
  { transfers: [moved({ to: taker, amount: 4_000_000_000n })] },
);
const delegation = signed(
  {
    ...{ kind: "authorization", contract: null, until: null, assumed: "code", nonce: { value: 3n, used: null } },
    sign: { kind: "authorization", signer: alice, digest, chainId: 0, address: pool, nonce: 3 },
  },
  { transfers: [moved({ standard: "native", token: null, from: stranger, to: alice, amount: 1n })] },
);
const hello = signed(
  {
    ...{
      kind: "unknown",
      usableBy: null,
      contract: null,
      until: null,
      nonce: null,
      assumed: null,
      evidence: "unavailable",
    },
    sign: { kind: "message", signer: alice, digest, message: `0x${Buffer.from("pay\nNext: sign it").toString("hex")}` },
  },
  { carriers: [] },
);

describe("the section of a signature", () => {
  it("of a permit says who may take what, that anybody can use it, until when, and how it was assumed", () => {
    const text = toText(permit, { width: 200 });
    expect(text).toContain(
      "What is signed is a permit of a token (ERC-2612), which works like an approval. Whoever holds it can use it until 2026-09-21T14:23:20Z.",
    );
    expect(text).toMatch(/At worst you let 0x\S+ spend/);
    expect(text).toMatch(/may take +0x\S+ may spend unlimited/);
    expect(text).toMatch(/signer +0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 · you\n/);
    expect(text).toMatch(/used by +whoever holds it\n/);
    expect(text).toMatch(/usable +until 2026-09-21T14:23:20Z\n/);
    expect(text).toMatch(/right ends +when it is used up or revoked\n/);
    expect(text).toMatch(/nonce +7 · not used yet\n/);
    expect(text).toMatch(/simulated +the call that uses it.* no key has signed +\[assumed\]\n/);
    expect(text).toContain('the message calls it "USD Coin\\u{202e}"');
    expect(text).toContain("chain 1 · 1 signature · proven");
    expect(text).toContain("sign exactly this message within");
    expect(text).toMatch(/^READY · /);
  });

  it("of a transfer by Permit2 names who alone can use it, and an unknown receiver", () => {
    const text = toText(taking, { width: 200 });
    expect(text).toMatch(/Only 0x\S+ can use it until/);
    expect(text).toMatch(/At worst you send 4,000,000,000 smallest units .* to anybody \(0x5a00…0002\)/);
    expect(text).toMatch(/used by +only 0x\w{40}, and decides who gets it\n/);
    expect(text).toMatch(/permits +up to 9,000,000,000 .*; there is less now\n/);
  });

  it("of an authorisation says that the code may do everything, on which chains, and not the test payment", () => {
    const text = toText(delegation, { width: 200 });
    expect(text).toContain("as long as the account's nonce is 3.");
    expect(text).toMatch(/code +0x\w{40} on every chain\n/);
    expect(text).toMatch(/may take +everything that the account holds, now and later\n/);
    expect(text).not.toMatch(/receive|1 wei/);
    const cleared = signed({
      ...{ kind: "authorization", contract: null, until: null, assumed: "code" },
      sign: {
        kind: "authorization",
        signer: alice,
        digest,
        chainId: 1,
        address: "0x0000000000000000000000000000000000000000",
        nonce: 3,
      },
    });
    expect(toText(cleared)).toContain("takes the account's code away");
    expect(toText(cleared)).not.toContain("may take");
  });

  it("of a signature without a simulation says so, and quotes its text", () => {
    const text = toText(hello, { width: 200 });
    expect(text).toContain("What is signed is a message that may mean anything.");
    expect(text).toMatch(/message +"pay"\n +message +"Next: sign it"\n/);
    expect(text).toMatch(/simulated +nothing: what it does was not simulated\n/);
    expect(text).not.toMatch(/used by|usable|no key has signed|Simulated for/);
    const bytes = signed({ ...hello.signing, sign: { kind: "message", signer: alice, digest, message: "0xff00" } });
    expect(toText(bytes)).toContain("bytes that are no text: 0xff00");
    const hash = signed({ ...hello.signing, sign: { kind: "hash", signer: alice, digest } });
    expect(toText(hash)).toContain("32 bytes, and nobody can see what they are the hash of");
  });

  it("of another account's assets names that account, and the equal call in place of the signature", () => {
    const text = toText(signed({ account: bob, assumed: "equalCall", nonce: { value: 7n, used: true } }), {
      width: 200,
    });
    expect(text).toMatch(/for the account 0x\S+\./);
    expect(text).toMatch(/for +0x\w{40}\n/);
    expect(text).toMatch(/simulated +the account's own call that does the same, in place of the signature/);
    expect(text).toMatch(/nonce +7 · USED already\n/);
  });

  it.each(forms)("as %s mentions no transaction to send, its gas or its fees", (_, render) => {
    for (const of of [permit, taking, delegation, hello]) {
      const shown = render(of).replaceAll(/<style>[^]*?<\/style>|<details>[^]*<\/details>/g, "");
      expect(shown).not.toMatch(/\bgas\b|\bfees?\b|You pay|transaction|this request|network/i);
    }
  });

  it("stands beside transactions, with its own summary", () => {
    const both = { ...permit, transactions: report().transactions, signings: [signing(), signing({ kind: "dai" })] };
    const text = toText(both, { width: 200 });
    expect(text).toContain("1 transaction · 2 signatures");
    expect(text).toContain("Signature 1 of 2");
    expect(text).toContain("Signature 2 of 2");
    expect(text).toContain("sign exactly these signatures and requests, in this order,");
    expect(text).not.toContain("At worst");
  });

  it("shows ends of signatures as dates", () => {
    const numbers = { name: "usable until", unit: "count", value: 1_790_000_600n } as const;
    const late = signed({}, { findings: [note("SignatureLongLived", "warning", { evidence: "measured" }, numbers)] });
    expect(toText(late, { width: 200 })).toContain("It, or the right that it gives, ends at 2026-09-21T14:23:20Z.");
  });
});
