import * as Schema from "effect/Schema";
import { describe, expect, it } from "vitest";
import { NonceErrors as Errors } from "../rooms/errors.js";

const lane = "8453:0x00000000000000000000000000000000000000aa:0";
const hash = `0x${"ab".repeat(32)}` as never;
const storeError = (operation: string) =>
  new Errors.NonceStoreError({
    ...{ operation, detail: "gone \u202e", isRetryable: operation !== "read" },
    ...(operation === "commit" ? { nonce: 7n, hash } : {}),
  });
const held = { lane, nonce: 7n, hash };
const partly = new Errors.PartlySent({ sent: [held], left: 2, detail: "not mined in time" });
const doubtful = new Errors.PartlySent({ sent: [held], inDoubt: { ...held, nonce: 8n }, left: 1, detail: "refused" });
const rejected = (kind: "rejected" | "underpriced", isFree: boolean) =>
  new Errors.SendRejected({ ...held, kind, isFree, detail: "the sender cannot pay" });
const head = { nonce: 3n, hash, outcome: "rejected", ageMs: 9_000 };

const all: ReadonlyArray<Errors.NonceError> = [
  new Errors.InvalidLane({ field: "chainId", problem: "a chain id is a positive integer" }),
  new Errors.NonceBusy({ lane, inFlight: 16, cap: 16, retryInMs: 400 }),
  new Errors.NonceBusy({ lane, inFlight: 1, cap: 1 }),
  new Errors.NonceBusy({ lane, inFlight: 16, cap: 16, head }),
  new Errors.NonceColdStart({ lane, latest: 5n, pending: 7n }),
  new Errors.NonceColdStart({ lane }),
  new Errors.LeaseLost({ lane, nonce: 7n }),
  storeError("commit"),
  storeError("reserve"),
  storeError("read"),
  new Errors.NonceImplausible({ lane, count: 1n << 60n, next: 7n }),
  new Errors.NonceForgotten({ lane, count: 3n, tail: 7n }),
  new Errors.NonceChainReset({ lane, block: 7n, expected: hash }),
  new Errors.NonceColdStart({ lane, lost: "its mark in the store" }),
  new Errors.SignedMismatch({ field: "nonce", expected: "7", actual: "8" }),
  new Errors.ReplaceConflict({ lane, nonce: 7n, last: hash }),
  new Errors.NonceBurned({ lane, nonce: 7n, hash }),
  rejected("rejected", true),
  rejected("rejected", false),
  rejected("underpriced", false),
  partly,
  doubtful,
];

describe("the failures of the nonce protocol", () => {
  it("read as verdict, evidence and remedy", () =>
    expect(all.map(({ message }) => message)).toMatchInlineSnapshot(`
      [
        "the lane's chainId: a chain id is a positive integer · correct \`chainId\`",
        "the account has as many transactions in flight as it may · in flight 16, at most 16, account and chain 8453:0x00000000000000000000000000000000000000aa:0, first lease ends in 400 ms · wait until the first is mined (\`waitMs\` does that), replace it if it is stuck, or use another sender",
        "the account has as many transactions in flight as it may · in flight 1, at most 1, account and chain 8453:0x00000000000000000000000000000000000000aa:0 · wait until the first is mined (\`waitMs\` does that), replace it if it is stuck, or use another sender",
        "the account has as many transactions in flight as it may · in flight 16, at most 16, account and chain 8453:0x00000000000000000000000000000000000000aa:0, the first is nonce 3, with 0xabababababababababababababababababababababababababababababababab, which the node called rejected, since 9000 ms · replace the first (\`Nonces.replace\`, or \`evm-preflight nonces cancel\`): nothing after it is mined until then",
        "the nonce store knows nothing of this account · account and chain 8453:0x00000000000000000000000000000000000000aa:0, latest 5, pending 7 · if the account is new or has nothing in flight, start it once with \`Nonces.bootstrap(lane)\` (Promises: \`preflight.nonces.bootstrap(lane)\`); if the store lost its data, first wait until everything in flight is mined",
        "the nonce store knows nothing of this account · account and chain 8453:0x00000000000000000000000000000000000000aa:0 · if the account is new or has nothing in flight, start it once with \`Nonces.bootstrap(lane)\` (Promises: \`preflight.nonces.bootstrap(lane)\`); if the store lost its data, first wait until everything in flight is mined",
        "the lease on the nonce is lost, so the transaction was not sent · nonce 7, account and chain 8453:0x00000000000000000000000000000000000000aa:0 · reserve again and sign with the new nonce; raise \`ttl\` if signing takes long",
        "the nonce store failed at commit; the transaction may still be sent · "gone \\u{202e}", nonce 7, transaction 0xabababababababababababababababababababababababababababababababab · wait until its lease ends; then try again only if \`Nonces.status\` shows its hash neither as committed nor as settled",
        "the nonce store failed at reserve · "gone \\u{202e}" · try again; where the store is distant, raise \`storeTimeoutMs\` in \`Nonces.Settings\`",
        "the nonce store failed at read · "gone \\u{202e}" · check the store",
        "the node's transaction count is not believable · count 1152921504606846976, next 7, account and chain 8453:0x00000000000000000000000000000000000000aa:0 · check the endpoint; if the account really sent that many elsewhere, try again until the count is believed, or use a new account",
        "the chain went back further than the nonce store remembers · count 3, kept from 7, account and chain 8453:0x00000000000000000000000000000000000000aa:0 · if the node lags, wait or use another; if the chain was reset, \`Nonces.forget(lane)\` and start it anew",
        "the node's chain is not the one on which this account's nonces were used, so nothing is sent again there · block 7, had 0xabababababababababababababababababababababababababababababababab, account and chain 8453:0x00000000000000000000000000000000000000aa:0 · if the node lags, wait or use another; if the chain was reset, \`Nonces.forget(lane)\` and start it anew",
        "the nonce store has lost this account · account and chain 8453:0x00000000000000000000000000000000000000aa:0, known by its mark in the store · restore the store, or check that this process uses the right one; else wait until everything sent is mined, then \`Nonces.forget(lane)\` and start it anew",
        "the signed transaction has a different nonce than expected · should be 7, signed 8 · sign exactly the request that was cleared, with its nonce and chain id; nothing was sent",
        "the nonce does not hold the transaction that was to be replaced · nonce 7, holds 0xabababababababababababababababababababababababababababababababab, account and chain 8453:0x00000000000000000000000000000000000000aa:0 · read \`Nonces.committed\`, and replace the transaction that it shows",
        "another transaction of the account is final at this nonce · nonce 7, ours 0xabababababababababababababababababababababababababababababababab, account and chain 8453:0x00000000000000000000000000000000000000aa:0 · send again with a new nonce; find out who else uses the key",
        "the node refused the transaction and its nonce is free again · nonce 7, ours 0xabababababababababababababababababababababababababababababababab, account and chain 8453:0x00000000000000000000000000000000000000aa:0, because the sender cannot pay · correct the transaction and send it again",
        "the node refused the transaction, which keeps its nonce · nonce 7, ours 0xabababababababababababababababababababababababababababababababab, account and chain 8453:0x00000000000000000000000000000000000000aa:0, because the sender cannot pay · replace it at this nonce (\`Nonces.replace\`), or remove the cause and let \`Nonces.keep\` send it again; under another nonce it may be paid twice",
        "the node wants a higher fee for the transaction, which keeps its nonce · nonce 7, ours 0xabababababababababababababababababababababababababababababababab, account and chain 8453:0x00000000000000000000000000000000000000aa:0, because the sender cannot pay · replace it at this nonce (\`Nonces.replace\`), or remove the cause and let \`Nonces.keep\` send it again; under another nonce it may be paid twice",
        "only part of the bundle was sent · sent 1, left 2, because not mined in time · deliver the rest on its own",
        "only part of the bundle was sent · sent 1, in doubt at nonce 8, left 1, because refused · first settle the one in doubt, which may still be mined; then deliver the rest on its own",
      ]
    `));
  it("survive JSON", () => {
    const codec = Schema.toCodecJson(Errors.NonceError);
    for (const error of all) {
      const json = JSON.stringify(Schema.encodeSync(codec)(error));
      expect(Schema.decodeUnknownSync(codec)(JSON.parse(json))).toEqual(error);
    }
  });
  it("set mayBeSent only where a transaction was sent, or nobody knows", () =>
    expect(all.filter(({ mayBeSent }) => mayBeSent)).toEqual([
      storeError("commit"),
      rejected("rejected", false),
      rejected("underpriced", false),
      partly,
      doubtful,
    ]));
});
