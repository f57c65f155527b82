/** Signatures of authorisations (EIP-7702), put into a report that was made before they were given. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import { InvalidTransaction } from "../errors/input.js";
import { withJson } from "../primitives/json.js";
import { each, no, type Checked } from "../primitives/problem.js";
import { recoverAuthorities, recoveredAuthority } from "../transaction/authorities.js";
import { fields, isUnsigned, type Authorization, type Transaction } from "../transaction/fields.js";
import { buildRequest, filledOf } from "../transaction/request.js";
import { becauseOf, digestOfReport } from "./ready.js";
import type { Report } from "./schema.js";

type Entry = NonNullable<Transaction["authorizationList"]>[number];

/** The signatures, each of which is one. */
const signaturesIn = (given: unknown): Checked<ReadonlyArray<Authorization>> =>
  Result.flatMap(fields.authorizationList.check(given, "authorizations"), (entries) =>
    each(entries, (entry, index) =>
      isUnsigned(entry) ? no(`authorizations[${index}]`, "is not signed") : Result.succeed(entry),
    ),
  );

/** The list with its signatures; each has to be there, and no other. */
const completed = (
  list: ReadonlyArray<Entry>,
  signatures: ReadonlyArray<Authorization>,
): Checked<ReadonlyArray<Entry>> =>
  Result.gen(function* () {
    const isFor = (entry: Entry) => (signed: Authorization) =>
      recoveredAuthority(signed) === recoveredAuthority(entry) &&
      (["address", "chainId", "nonce"] as const).every((name) => signed[name] === entry[name]);
    const open = list.filter(isUnsigned);
    const stray = signatures.findIndex((signed) => !open.some((entry) => isFor(entry)(signed)));
    if (stray !== -1) return yield* no(`authorizations[${stray}]`, "is none that the report asks for");
    return yield* each(list, (entry): Checked<Entry> => {
      const signed = isUnsigned(entry) ? signatures.find(isFor(entry)) : entry;
      return signed === undefined
        ? no("authorizations", `lacks that of ${recoveredAuthority(entry)} for ${entry.address}`)
        : Result.succeed(signed);
    });
  });

/**
 * The report with the signatures that its clearance asks for in `signs`, as viem's `signAuthorization` returns them, in any
 * order. What is signed now is another transaction: `prove` shows what it does with the real signatures, and tells where that
 * differs (`OutcomeChanged`).
 *
 * Fails with `InvalidTransaction` where one is missing, is not of the account, or signs something else.
 */
export const withAuthorizations = Effect.fn("Report.withAuthorizations")(function* <R extends Report>(
  report: R,
  signatures: NonNullable<(typeof fields)["authorizationList"]["given"]>,
): Effect.fn.Return<R, InvalidTransaction> {
  const checked = <A>(result: Checked<A>) =>
    Effect.fromResult(Result.mapError(result, (problem) => new InvalidTransaction(problem)));
  const signed = yield* checked(signaturesIn(signatures));
  yield* recoverAuthorities([...report.transactions.map(({ input }) => input), { authorizationList: signed }]);
  const transactions = [];
  for (const [place, transaction] of report.transactions.entries()) {
    const { input, request } = transaction;
    // why: only the first can have one that is not signed
    const list = place > 0 ? input.authorizationList : yield* checked(completed(input.authorizationList ?? [], signed));
    const whole = { ...input, authorizationList: list?.length === 0 ? null : list };
    transactions.push({
      ...transaction,
      input: whole,
      request: request === null ? null : buildRequest(whole, filledOf(request)),
    });
  }
  const digest = digestOfReport({ ...report, transactions });
  return withJson({
    ...report,
    because: becauseOf(report.findings, "scanned"),
    transactions,
    digest,
    stage: "scanned",
  });
});
