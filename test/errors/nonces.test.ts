import * as Schema from "effect/Schema";
import { describe, expect, it } from "vitest";
import * as Errors from "../../src/errors/nonces.js";

const lane = "8453:0x00000000000000000000000000000000000000aa:0";
const hash = `0x${"ab".repeat(32)}` as never;
const storeError = (operation: string) =>
  new Errors.NonceStoreError({ operation, detail: "gone \u202e", isRetryable: operation !== "read" });
const partly = new Errors.PartlySent({ sent: [{ lane, nonce: 7n, hash }], left: 2, detail: "not mined in time" });

const all: ReadonlyArray<Errors.NonceError> = [
  new Errors.InvalidLane({ field: "chainId", problem: "a chain id is a positive integer" }),
  new Errors.NonceBusy({ lane, inFlight: 16, cap: 16, retryInMs: 400 }),
  new Errors.NonceBusy({ lane, inFlight: 1, cap: 1 }),
  new Errors.NonceColdStart({ lane, latest: 5n, pending: 7n }),
  new Errors.NonceColdStart({ lane }),
  new Errors.LeaseLost({ lane, nonce: 7n }),
  storeError("commit"),
  storeError("reserve"),
  storeError("read"),
  new Errors.NonceImplausible({ lane, count: 1n << 60n, next: 7n }),
  new Errors.NonceForgotten({ lane, count: 3n, tail: 7n }),
  new Errors.SignedMismatch({ field: "nonce", expected: "7", actual: "8" }),
  new Errors.ReplaceConflict({ lane, nonce: 7n, last: hash }),
  new Errors.NonceBurned({ lane, nonce: 7n, hash }),
  new Errors.SendRejected({ lane, nonce: 7n, hash, detail: "the sender cannot pay" }),
  partly,
];

describe("the failures of the nonce protocol", () => {
  it("read as verdict, evidence, remedy", () =>
    expect(all.map(({ message }) => message)).toMatchInlineSnapshot(`
      [
        "the lane's chainId is wrong · a chain id is a positive integer · correct it",
        "the account has all its transactions in flight · in flight 16, at most 16, lane 8453:0x00000000000000000000000000000000000000aa:0, first lease ends in 400 ms · wait for one to be mined, or use another sender",
        "the account has all its transactions in flight · in flight 1, at most 1, lane 8453:0x00000000000000000000000000000000000000aa:0 · wait for one to be mined, or use another sender",
        "the nonce store knows nothing of this account · lane 8453:0x00000000000000000000000000000000000000aa:0, latest 5, pending 7 · if it is new, or nothing it sent is in flight any more, start it with \`Nonces.bootstrap\`; if the store lost its data, let what is in flight be mined first",
        "the nonce store knows nothing of this account · lane 8453:0x00000000000000000000000000000000000000aa:0 · if it is new, or nothing it sent is in flight any more, start it with \`Nonces.bootstrap\`; if the store lost its data, let what is in flight be mined first",
        "the lease on the nonce is lost, the transaction was not sent · nonce 7, lane 8453:0x00000000000000000000000000000000000000aa:0 · reserve again and sign with the new nonce; a longer \`ttl\` if signing takes long",
        "the nonce store failed at commit · "gone \\u{202e}" · the transaction may be committed and then will be sent: look at \`Nonces.committed\` before trying again",
        "the nonce store failed at reserve · "gone \\u{202e}" · try again",
        "the nonce store failed at read · "gone \\u{202e}" · look at the store",
        "the node's transaction count is not believable · count 1152921504606846976, next 7, lane 8453:0x00000000000000000000000000000000000000aa:0 · check the endpoint; if the account really sent that many elsewhere, try again, for a count that stays is believed, or use a new lane in the store",
        "the chain went back further than the nonce store remembers · count 3, kept from 7, lane 8453:0x00000000000000000000000000000000000000aa:0 · if the node lags, wait or ask another; if the chain was reset, start the lane anew in the store",
        "the signed transaction has another nonce than was leased · leased 7, signed 8 · sign with the lease's nonce, for its chain, with its account's key; nothing was sent",
        "the nonce does not hold the transaction that was to be replaced · nonce 7, holds 0xabababababababababababababababababababababababababababababababab, lane 8453:0x00000000000000000000000000000000000000aa:0 · read \`Nonces.committed\` and replace what stands there",
        "another transaction of the account is final at this nonce · nonce 7, ours 0xabababababababababababababababababababababababababababababababab, lane 8453:0x00000000000000000000000000000000000000aa:0 · send again with a new nonce; find out who else uses the key",
        "the node refused the transaction and its nonce is free again · nonce 7, the sender cannot pay · correct the transaction and send it again",
        "only a part of the bundle was sent · sent 1, left 2, because not mined in time · deliver what is left by itself",
      ]
    `));
  it("survive JSON", () => {
    const codec = Schema.toCodecJson(Errors.NonceError);
    for (const error of all) {
      const json = JSON.stringify(Schema.encodeSync(codec)(error));
      expect(Schema.decodeUnknownSync(codec)(JSON.parse(json))).toEqual(error);
    }
  });
  it("say that a transaction may be sent only where one was, or nobody knows", () =>
    expect(all.filter(({ mayBeSent }) => mayBeSent)).toEqual([storeError("commit"), partly]));
});
