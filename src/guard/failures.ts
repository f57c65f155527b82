/** Why a guard kept a request from the key, or tells of one that the wallet changed. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { BaseError } from "viem";
import { ExecutionReverted } from "../errors/index.js";
import { type Address, type Difference, type Hash, type Hex, pageOf } from "../primitives/index.js";
import { decidingSeverity, type Report } from "../report/index.js";

/** The ancestor in whose place {@link beOfViem} puts viem's error. */
const Base: typeof BaseError = Object(Error);

/**
 * The report gives no clearance, or its warnings are not accepted (`onCaution`): nothing was sent by it, and what
 * a slow key had signed meanwhile was dropped.
 * `cause` is the error that `ready` failed with. It is an error of viem's: `walk` finds viem's `ContractFunctionRevertedError`
 * behind a call that reverts.
 */
export class NotCleared extends Base {
  readonly _tag = "NotCleared";
  /** The tag again, as errors have it. */
  override readonly name = "NotCleared";
  /** The page that explains it, from the root of the package. */
  readonly docs = pageOf("NotCleared");
  /** EIP-1474: the transaction is rejected (−32003). Of a call that reverts 3, as nodes answer. */
  readonly code: -32003 | 3;
  /** Nothing is, or will be, sent by this request. */
  readonly mayBeSent = false;
  /** For whoever gets the error over EIP-1193: why, the codes of the findings that decided, and what a call reverts with. */
  readonly data: {
    readonly _tag: "NotCleared";
    readonly sentence: string;
    readonly codes: ReadonlyArray<string>;
    readonly data?: Hex;
  };
  /** The whole report. */
  readonly report: Report;
  constructor(report: Report, cause: unknown) {
    const sentence = cause instanceof Error ? cause.message : report.because;
    const text = `not cleared, ${report.verdict}: ${sentence}`;
    super(text, { cause: cause as Error });
    // why: viem puts its version and the cause into the message
    const { message } = this;
    this.message = text;
    this.stack = (this.stack ?? "").replace(message, () => text);
    this.report = report;
    const isRevert = cause instanceof ExecutionReverted;
    this.code = isRevert ? 3 : -32003;
    // why: by the words of a message viem would put an error of its own in between
    this.details = isRevert ? "execution reverted" : this.name;
    const deciding = decidingSeverity[report.verdict];
    const codes = report.findings.flatMap(({ severity, code }) => (severity === deciding ? [code] : []));
    // why: viem decodes the bytes by the ABI of the call that it made
    const bytes = isRevert && cause.data !== null ? { data: cause.data } : {};
    this.data = { _tag: "NotCleared", sentence, codes: [...new Set(codes)], ...bytes };
  }
}

/**
 * Makes {@link NotCleared} an error of viem's. why: the class stands in the door, and viem's entry costs more to load than all the
 * rest of it; whoever makes the first of them has loaded it
 */
export const beOfViem = (base: typeof BaseError): void => {
  Reflect.setPrototypeOf(NotCleared, base);
  Reflect.setPrototypeOf(NotCleared.prototype, base.prototype);
};

/**
 * The wallet sent something other than what was cleared. It is sent, and may be mined: never try again without looking at
 * `hash`.
 */
export class Tampered extends Error {
  readonly _tag = "Tampered";
  /** The tag again, as errors have it. */
  override readonly name = "Tampered";
  /** The page that explains it, from the root of the package. */
  readonly docs = pageOf("Tampered");
  /** EIP-1474: an internal error, which no caller takes for "not sent". */
  readonly code = -32603;
  /** It is sent. */
  readonly mayBeSent = true;
  /** For whoever gets the error over EIP-1193. */
  readonly data: { readonly _tag: "Tampered"; readonly hash: Hash; readonly sentence: string };
  /** The transaction that was sent, 32 bytes. */
  readonly hash: Hash;
  /** The report that was cleared. */
  readonly report: Report;
  /** Each field that differs: `a` as cleared, `b` as sent. */
  readonly differences: ReadonlyArray<Difference>;
  constructor(hash: Hash, report: Report, differences: ReadonlyArray<Difference>) {
    const fields = differences.map(
      ({ what, a, b }) => `${(what ?? "").replace("request ", "")}: ${a ?? "none"} → ${b ?? "none"}`,
    );
    const sentence = `the wallet sent a transaction other than the one cleared: ${fields.join(", ")}`;
    super(`${sentence} · ${hash}`);
    this.hash = hash;
    this.report = report;
    this.differences = differences;
    this.data = { _tag: "Tampered", hash, sentence };
  }
}

/**
 * The wallet was handed the cleared transaction, and nobody shows what it did with it: do not send it again. The account is held
 * until the transaction is shown, its nonce is passed, or `releaseHeld` lets it go.
 */
export class Unverified extends Error {
  readonly _tag = "Unverified";
  /** The tag again, as errors have it. */
  override readonly name = "Unverified";
  /** The page that explains it, from the root of the package. */
  readonly docs = pageOf("Unverified");
  /** EIP-1474: a resource is not found; no transport tries again by it. */
  readonly code = -32001;
  /** It may be in flight. */
  readonly mayBeSent = true;
  /** For whoever gets the error over EIP-1193. */
  readonly data: { readonly _tag: "Unverified"; readonly hash: Hash | null; readonly sentence: string };
  /** The wallet's answer, 32 bytes; null where that is no hash. */
  readonly hash: Hash | null;
  /** The report that was cleared. */
  readonly report: Report;
  constructor(hash: Hash | null, report: Report) {
    const why = hash === null ? "the wallet answered with no hash" : `nobody shows ${hash}`;
    const sentence = `handed to the wallet; do not send again: ${why}`;
    super(sentence);
    this.hash = hash;
    this.report = report;
    this.data = { _tag: "Unverified", hash, sentence };
  }
}

/**
 * The wallet answered with a transaction that another account signed, as one that pays for others does: whether it does what
 * was cleared is not known. The account is held as by {@link Unverified}.
 */
export class SentByOther extends Error {
  readonly _tag = "SentByOther";
  /** The tag again, as errors have it. */
  override readonly name = "SentByOther";
  /** The page that explains it, from the root of the package. */
  readonly docs = pageOf("SentByOther");
  /** EIP-1474: a resource is not found; no transport tries again by it. */
  readonly code = -32001;
  /** It may be in flight, or within the other's transaction. */
  readonly mayBeSent = true;
  /** For whoever gets the error over EIP-1193. */
  readonly data: { readonly _tag: "SentByOther"; readonly hash: Hash; readonly sentence: string };
  /** The transaction that the wallet named, 32 bytes. */
  readonly hash: Hash;
  /** The account that signed it. */
  readonly sender: Address;
  /** The report that was cleared. */
  readonly report: Report;
  constructor(hash: Hash, sender: Address, report: Report) {
    const sentence = `handed to the wallet; do not send again: it named a transaction that ${sender} signed`;
    super(`${sentence} · ${hash}`);
    this.hash = hash;
    this.sender = sender;
    this.report = report;
    this.data = { _tag: "SentByOther", hash, sentence };
  }
}

/** Refusal of what a guard cannot judge: signatures, raw bytes it did not clear, capabilities it does not know. */
export class GuardRefused extends Error {
  readonly _tag = "GuardRefused";
  /** The tag again, as errors have it. */
  override readonly name = "GuardRefused";
  /** The page that explains it, from the root of the package. */
  readonly docs = pageOf("GuardRefused");
  /** Nothing is, or will be, sent. */
  readonly mayBeSent = false;
  /** For whoever gets the error over EIP-1193. */
  readonly data: { readonly _tag: "GuardRefused"; readonly sentence: string };
  /** The JSON-RPC method, or the name of the capability. */
  readonly what: string;
  /** EIP-1193 4100: not authorised. EIP-5792 5700: a capability is not supported; 5760: atomicity is not. */
  readonly code: 4100 | 5700 | 5760;
  constructor(what: string, sentence: string, code: 4100 | 5700 | 5760 = 4100) {
    super(`${what}: ${sentence}`);
    this.what = what;
    this.code = code;
    this.data = { _tag: "GuardRefused", sentence };
  }
}

/** Fails with {@link GuardRefused}. */
export const refused = (...about: ConstructorParameters<typeof GuardRefused>): Effect.Effect<never, GuardRefused> =>
  Effect.fail(new GuardRefused(...about));

/** Throws, where somebody's synchronous call is refused. */
export const fail = (error: Error): never => Result.getOrThrowWith(Result.fail(error), (same) => same);

/** An error with `details`, which viem's `sendCalls` looks for in all that it catches. */
export const detailed = (error: unknown): unknown => {
  // guard: a reason that viem can read
  const isRead = !(error instanceof Error) || "details" in error;
  // why: only the name, for by the words of a message viem would put an error of its own in between
  if (!isRead) Reflect.defineProperty(error, "details", { value: error.name });
  return error;
};
