/** The errors that are no findings, and why there is no clearance: what `docs/errors.md` says of them. */
import * as Errors from "../src/Errors.js";
import { GuardRefused, NotCleared, SentByOther, Tampered, Unverified } from "../src/guard/failures.js";
import type { Gap } from "../src/errors/verdicts.js";
import type { Report } from "../src/report/schema.js";

/** An error as a program catches it. */
export interface Thrown {
  /** What it means, in whole sentences. */
  readonly means: string;
  readonly example: Error & { readonly docs: string };
  /** What to do, where the error does not say it itself. */
  readonly remedy?: string;
  /** Whether a transaction may have been sent, where that is a question. */
  readonly sent?: string;
}

const ours = `0x${"5c".repeat(32)}` as const;
const theirs = `0x${"7e".repeat(32)}` as const;
const lane = "1:0x70997970c51812dc3a010c7d01b50e0d17dc79c8:0";
const nothing = "no; try again from the start";

/** Rejected before anything is asked. */
export const ofInput: ReadonlyArray<Thrown> = [
  {
    means: "The transaction, the bundle or an option is malformed. `scan` and `preflight` fail with nothing else.",
    example: new Errors.InvalidTransaction({ field: "[1].value", problem: "must be a bigint in wei" }),
  },
  {
    means: "A part of the connection cannot be right: the URL, a header, a limit.",
    example: new Errors.InvalidConnection({ field: "timeoutMs", problem: "must be above 0" }),
  },
  {
    means: "A step of your own has a wrong name, or a part of the wrong kind.",
    example: new Errors.InvalidStep({ field: "steps[0].name", problem: "must contain a slash, as in acme/limit" }),
  },
  {
    means: "The client was disposed before the call, or while it ran.",
    example: new Errors.Disposed({ isCut: false }),
  },
  {
    means:
      "The report has another format. `Report.fromJson` reads version 5 and, of older ones, version 4. A report of version 4 can be shown, compared, settled and proven again, but `ready` refuses it until it is proven.",
    example: new Errors.ReportVersion({ found: 3, supported: 5 }),
  },
];

/** Of `deliver`, `withNonce` and the nonce store. */
export const ofSending: ReadonlyArray<Thrown> = [
  {
    means: "A field of the lane is wrong: the chain id, the address or the key.",
    example: new Errors.InvalidLane({ field: "chainId", problem: "must be a whole number above 0" }),
    sent: nothing,
  },
  {
    means: "The account already has as many transactions in flight as the store allows.",
    example: new Errors.NonceBusy({
      ...{ lane, inFlight: 16, cap: 16, retryInMs: null },
      head: { nonce: 7n, hash: ours, outcome: "accepted", ageMs: 42_000 },
    }),
    sent: nothing,
  },
  {
    means: "The store does not know the account: it is new, or the store lost its data.",
    example: new Errors.NonceColdStart({ lane, latest: 7n, pending: 7n, lost: null }),
    sent: nothing,
  },
  {
    means: "Signing took longer than the lease. Another process may have the nonce now.",
    example: new Errors.LeaseLost({ lane, nonce: 7n }),
    sent: nothing,
  },
  {
    means: "Redis or Postgres did not answer, or failed.",
    example: new Errors.NonceStoreError({
      ...{ operation: "reserve", detail: "no answer in 5000 ms", isRetryable: true, nonce: null, hash: null },
    }),
    sent: "no; but after a `commit` or a `replace` yes",
  },
  {
    means: "The node's transaction count is far above every nonce that the store handed out.",
    example: new Errors.NonceImplausible({ lane, count: 90_000n, next: 12n }),
    sent: nothing,
  },
  {
    means: "The chain's count fell below everything that the store still keeps.",
    example: new Errors.NonceForgotten({ lane, count: 3n, tail: 12n }),
    sent: nothing,
  },
  {
    means: "The node serves another chain with the same id, such as a devnet that was restarted.",
    example: new Errors.NonceChainReset({ lane, block: 120n, expected: ours, actual: theirs }),
    sent: nothing,
  },
  {
    means: "What was signed is not the cleared request: another field, or another key.",
    example: new Errors.SignedMismatch({ field: "gas", expected: "21000", actual: "50000" }),
    sent: nothing,
  },
  {
    means: "The transaction to replace is no longer the one at its nonce.",
    example: new Errors.ReplaceConflict({ lane, nonce: 7n, last: theirs }),
    sent: "no; what stands at the nonce was sent before",
  },
  {
    means: "Another transaction of the account is final at this nonce: somebody else uses the key.",
    example: new Errors.NonceBurned({ lane, nonce: 7n, hash: ours }),
    sent: "no; it can never be mined",
  },
  {
    means: "The node refused the bytes, or wants a higher fee for the nonce.",
    example: new Errors.SendRejected({
      ...{ lane, nonce: 7n, hash: ours, kind: "underpriced", isFree: false },
      detail: "replacement transaction underpriced",
    }),
    sent: "yes, unless `isFree`. Do not pay again under another nonce",
  },
  {
    means: "Some transactions of a bundle were sent when it stopped. `sent` lists them.",
    example: new Errors.PartlySent({
      ...{ sent: [{ lane, nonce: 7n, hash: ours }], inDoubt: null, left: 1, detail: "the node did not answer" },
    }),
    sent: "yes",
  },
];

// why: a whole report says nothing here that its verdict does not
const blocked = { verdict: "blocked", because: "the balance does not cover the cost", findings: [] } as never as Report;

/** Of `guard` and `guardProvider`. */
export const ofGuard: ReadonlyArray<Thrown> = [
  {
    means:
      "The report is `blocked` or `unknown`, or a `caution` that `onCaution` did not accept. `report` is all of it.",
    example: new NotCleared(blocked, null),
    remedy: "read `error.report.findings`, and do what they say",
    sent: "no",
  },
  {
    means: "The wallet sent another transaction than the one that was cleared.",
    example: new Tampered(ours, blocked, [
      {
        ...{ kind: "fact", transaction: 0, event: null, account: null, to: null, unit: null },
        ...{ what: "request to", a: "0x7099…79C8", b: "0x3C44…93BC" },
      } as never,
    ]),
    remedy: "look at `hash` on the chain before anything else, and stop using the wallet",
    sent: "yes",
  },
  {
    means: "The wallet was handed the transaction, and neither the node nor the wallet shows it. The account is held.",
    example: new Unverified(ours, blocked),
    remedy: "do not send it again; look for `hash`, and call `releaseHeld` once you know that it is lost",
    sent: "it may be",
  },
  {
    means: "The wallet answered with a transaction that another account signed. The account is held.",
    example: new SentByOther(ours, "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc" as never, blocked),
    remedy: "look at `hash` on the chain, and call `releaseHeld` once you know what became of yours",
    sent: "it may be",
  },
  {
    means:
      "The guard did not let a request through: a signature, raw bytes, an unknown method, another chain, or an account that is held.",
    example: new GuardRefused("personal_sign", "signatures are refused"),
    remedy: "allow it by the option `signatures`, or send the transaction through the guard",
    sent: "no",
  },
];

/** Why there is no clearance, by the reason in `NotProven.missing`; what to do is null where a finding with the code says it. */
export const gaps: Readonly<Record<Gap["reason"], readonly [means: string, action: string]>> = {
  NotProven: ["The report is a scan.", "Run `prove`, or `preflight` from the start."],
  RequestIncomplete: [
    "The nonce, gas, a fee or the chain of a request is not known.",
    "Use another node, or give the field.",
  ],
  Altered: [
    "The report does not fit its digest, its verdict or its inputs: somebody changed it.",
    "Do not sign. Prove the transaction again from its input.",
  ],
  StatePretended: ["The report was made with overrides.", "Run it again without overrides."],
  BlockNotNewest: ["The report is about an older block.", "Leave the option `block` out."],
  NotSimulated: [
    "The node has no `eth_simulateV1`, so nothing was simulated.",
    "Use a [node that has it](nodes-and-chains.md).",
  ],
  NotSuccessful: ["A transaction fails, or whether it succeeds is not known.", "Read its `outcome`."],
  Expired: [
    "The report is older than `maxAge` (30 s by default), or past `ClosesAt`.",
    "Run `prove` again just before you sign.",
  ],
  DatedInTheFuture: [
    "The report is dated more than 60 s ahead of this clock.",
    "Set the clocks right, and prove again.",
  ],
  Stale: ["The node's newest block was too old.", "Ask again, or use another endpoint."],
  FundsUnknown: ["Whether a payer can pay is not known.", "Ask again, or use another node."],
  CheckUnavailable: ["A needed check could not be made. `code` names the finding.", "Do what that finding says."],
  Blocked: [
    "A finding says that it must not be sent. `code` names the finding.",
    "Do not sign it; do what that finding says.",
  ],
  NotMined: [
    "`deliver` waited for transactions that must be mined first, and they were not.",
    "Deliver again when they are mined.",
  ],
  StepMissing: ["The report was made without a step that your pipeline has.", "Make it again with that pipeline."],
  Caution: [
    "`deliver` met a report that is `caution`.",
    'Read the warnings. Where you accept them, give `onCaution: "send"`, or a function that decides.',
  ],
};
