/** Sending under reserved nonces, as the Promise door does it. */
import * as Arr from "effect/Array";
import * as Effect from "effect/Effect";
import * as Ref from "effect/Ref";
import { InvalidTransaction } from "../errors/input.js";
import { gap, NotProven } from "../errors/verdicts.js";
import { sendRawTransaction } from "../Eth.js";
import * as Nonces from "../Nonces.js";
import { reserving } from "../Preflight.js";
import type { Options } from "../preflight/prepare.js";
import * as Report from "../Report.js";
import type { Rpc } from "../Rpc.js";
import { check } from "../Transaction.js";

/** Signs one cleared request; `index` is its place in the bundle. */
export type Sign = (request: Report.Request, index: number) => Promise<`0x${string}`>;

/** What was proven, signed and sent under reserved nonces, in the order of the bundle. */
export interface Delivered {
  readonly report: Report.Report;
  readonly sent: ReadonlyArray<Nonces.Sent>;
}

const attempt = <A>(ask: () => Promise<A>) => Effect.tryPromise({ try: ask, catch: (error) => error });

/** Scan, reserve, prove, sign, commit, send; the nonces are free again unless they were committed. */
export const deliverAll = (sign: Sign, input: unknown, options: Options) =>
  Effect.scoped(
    Effect.gen(function* () {
      const checked = yield* check(input);
      const fixed = checked.transactions.findIndex(({ nonce }) => nonce !== null);
      if (fixed !== -1) {
        const field = Array.isArray(input) ? `[${fixed}].nonce` : "nonce";
        return yield* new InvalidTransaction({ field, problem: "is reserved by deliver, leave it out" });
      }
      const taken = yield* Ref.make<ReadonlyArray<Nonces.Lease>>([]);
      const reserve = reserving((scanned) =>
        Effect.flatMap(Nonces.reserveAll(scanned), (reserved) => {
          const leases = reserved.flatMap((lease) => lease ?? []);
          return Effect.as(
            Ref.set(taken, leases),
            reserved.map((lease) => lease?.nonce ?? null),
          );
        }),
      );
      // why: no form of input, but one that was checked already
      const report = yield* reserve(checked as never, options);
      const leases = yield* Ref.get(taken);
      const clearance = yield* Report.ready(report);
      const signed = yield* Effect.forEach(clearance.requests, (request, index) => attempt(() => sign(request, index)));
      if (!Report.matches(clearance, signed) || leases.length !== signed.length)
        return yield* new NotProven({ missing: [gap("SignedOtherwise", "what was signed is not what was cleared")] });
      const sent = yield* Effect.forEach(Arr.zip(leases, signed), ([lease, raw]) =>
        Nonces.deliver(lease, raw, (bytes) => sendRawTransaction({ serializedTransaction: bytes })),
      );
      return { report, sent };
    }),
  );

/** `Nonces.withNonce` over Promises; sends by `eth_sendRawTransaction` where `send` is left out. */
export const sendWithNonce = (
  lane: Nonces.Lane,
  sign: (nonce: bigint) => Promise<`0x${string}`>,
  send?: (raw: `0x${string}`) => Promise<unknown>,
) =>
  Nonces.withNonce(
    lane,
    (nonce) => attempt(() => sign(nonce)),
    (raw): Effect.Effect<unknown, unknown, Rpc> =>
      send === undefined ? sendRawTransaction({ serializedTransaction: raw }) : attempt(() => send(raw)),
  );
