/** The calls that use signatures, among the transactions of a bundle: made of what is to be signed alone. Pure. */
import * as Arr from "effect/Array";
import * as Result from "effect/Result";
import type { Address } from "../primitives/hex.js";
import { plainJson } from "../primitives/json.js";
import { no, type Checked } from "../primitives/problem.js";
import { isRecord, safely } from "../primitives/record.js";
import type { Transaction } from "../transaction/fields.js";
import { witnessFees } from "../witness/placement.js";
import { signingIn, type ReadSigning } from "./input.js";
import { operationAgain } from "./operation.js";
import type { OperationInput } from "./operationInput.js";
import { areOwed, withSafe, type SafeInput } from "./safe.js";
import type { Signing } from "./schema.js";
import { ecrecover } from "./shim.js";

/** A signature, what it is for, and where it stands among the transactions. */
export interface PlacedSigning extends ReadSigning {
  readonly place: number;
  readonly stand: Signing["stand"];
}

/** An account's own input: what is signed, and the calls that use it, hang on facts of the chain. */
export interface OpenSigning {
  readonly open: OperationInput | SafeInput;
  readonly place: number;
  readonly stand: Signing["stand"];
}

/** A signature, or one that waits for facts. */
export type AnySigning = PlacedSigning | OpenSigning;

/** True of one that needs no fact. */
export const isPlaced = (signing: AnySigning): signing is PlacedSigning => "sign" in signing;

/** The way in which the use of a signature is simulated. */
export type Mode = "shim" | "equalCall";

/** Gas of a call that uses a signature: several times what any kind takes. */
const carrierGas = 3_000_000n;

const bare: Omit<Transaction, "from" | "to" | "origin"> = {
  ...{ data: "0x", value: 0n, chainId: null, gas: carrierGas, nonce: null, gasPrice: null, accessList: null },
  ...{ maxFeePerGas: witnessFees.maxFeePerGas, maxPriorityFeePerGas: 0n, authorizationList: null },
  ...{ blobVersionedHashes: null, maxFeePerBlobGas: null, item: null },
} as const;

const isCarrier = ({ origin }: Transaction): boolean => origin?.signing !== undefined;

/** The signatures of a report, read again out of what it asks to be signed: nothing else of it is believed. */
export const signingsOf = ({
  signings,
}: {
  readonly signings: ReadonlyArray<Signing>;
}): Checked<ReadonlyArray<PlacedSigning>> =>
  Result.all(
    signings.map((signing, index) => {
      const { sign, account, origin, place, stand } = signing;
      const at = `signings[${index}].`;
      const own =
        sign.kind === "userOperation"
          ? operationAgain(sign, stand, at)
          : Result.map(signingIn(givenOf(sign, account, origin), at), (read) =>
              signing.safe === undefined ? read : withSafe(read, signing.safe),
            );
      return Result.flatMap(own, (read) =>
        read.sign.digest !== sign.digest
          ? no(`signings[${index}].sign.digest`, "is not that of what is to be signed")
          : isWhole(read, signing) && isMadeUp(signing)
            ? Result.succeed({ ...read, place, stand })
            : no(`signings[${index}]`, "is not what its signature makes"),
      );
    }),
  );

/** Facts in a report that the signature alone tells. */
const facts = ["kind", "account", "usableBy", "contract", "from", "until", "ends", "repeats"] as const;

/** A value in which no order of fields counts: stores of JSON keep none. */
const unordered = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(unordered)
    : isRecord(value)
      ? Object.entries(value)
          .map(([name, part]) => [name, unordered(part)] as const)
          .sort(([one], [other]) => (one < other ? -1 : 1))
      : value;
const isAlike = (one: unknown, other: unknown): boolean =>
  JSON.stringify(unordered(plainJson(one))) === JSON.stringify(unordered(plainJson(other)));

/** True if a report says of a signature what that makes, and nothing beside it: what no hash has is handed out, too. */
const isWhole = (read: ReadSigning, signing: Signing): boolean =>
  facts.every((name) => isMeasured(name, signing) || read.use[name] === signing[name]) &&
  isAlike(read.sign, signing.sign) &&
  (signing.safe === undefined || areOwed(signing.safe, signing.sign.signer));

/** True of what a run tells: when the account of a user operation takes it. */
const isMeasured = (name: (typeof facts)[number], { kind }: Signing): boolean =>
  kind === "userOperation" && (name === "from" || name === "until");

/** True if the accounts that take part are none that anybody has to do with. */
const isMadeUp = ({ sign, account, usableBy, stand: { stranger, taker } }: Signing): boolean => {
  const named = JSON.stringify(plainJson([sign, account, usableBy])).toLowerCase();
  return [stranger, taker].every((made) => made.startsWith("0x5a") && !named.includes(made.slice(2).toLowerCase()));
};

const givenOf = (
  sign: Exclude<Signing["sign"], { readonly kind: "userOperation" }>,
  account: Address,
  origin: string | null,
): Readonly<Record<string, unknown>> => {
  const { signer } = sign;
  if (sign.kind === "typedData")
    return { typedData: sign.typedData, signer, ...(account === signer ? {} : { account }) };
  if (sign.kind === "message")
    return { message: { raw: sign.message }, signer, ...(origin === null ? {} : { origin }) };
  if (sign.kind === "hash") return { hash: sign.digest, signer };
  const { chainId, address, nonce } = sign;
  return { authorization: { chainId, address, nonce }, signer };
};

/** The calls that use a signature in one way; null = nobody knows how. */
export const carriersOf = (
  { sign, use, stand, safe }: PlacedSigning,
  mode: Mode,
): ReadonlyArray<Partial<Transaction>> | null => {
  if (sign.kind === "authorization") {
    const { signer: authority, address, chainId, nonce } = sign;
    const authorizationList = [{ authority, address, chainId, nonce }];
    return [{ from: stand.stranger, to: authority, value: 1n, nonce: 0, authorizationList }];
  }
  if (mode === "equalCall" && safe === undefined) return use.equal;
  return use.consume?.(stand).map((call) => (call.from === stand.stranger ? { ...call, nonce: 0 } : call)) ?? null;
};

/** The transactions with the calls that use signatures, each where its signature stands. */
export const mergedIn = (
  transactions: ReadonlyArray<Transaction>,
  signings: ReadonlyArray<AnySigning>,
  mode: Mode,
): ReadonlyArray<Transaction> => {
  const senders = new Set(transactions.map(({ from }) => from));
  const own = signings.flatMap((signing, index) => {
    const calls = isPlaced(signing) ? (carriersOf(signing, mode) ?? []) : [];
    // why: a call that its sender does not make would take the nonce of one that he makes
    if (calls.some(({ from }) => from !== undefined && senders.has(from))) return [];
    return calls.map((call) => ({ place: signing.place, call: carrier(call, index) }));
  });
  const all = Arr.makeBy(transactions.length + 1, (at) => [
    ...own.flatMap(({ place, call }) => (place === at ? [call] : [])),
    ...transactions.slice(at, at + 1),
  ]).flat();
  const [first] = signings;
  if (all.length > 0 || first === undefined) return all;
  // why: the state that the facts are read on is that of a run
  return [carrier({ from: first.stand.stranger, to: first.stand.taker, nonce: 0 }, 0)];
};

const carrier = (call: Partial<Transaction>, signing: number): Transaction => ({
  ...{ ...bare, from: ecrecover, to: null, ...call },
  origin: { signing },
});

/** True if a carrier is the one that a signature makes. */
const isSame = (made: Transaction, other: Transaction | undefined): boolean =>
  other !== undefined &&
  (["from", "to", "data", "value", "nonce"] as const).every((name) => other[name] === made[name]) &&
  other.origin?.signing === made.origin?.signing &&
  JSON.stringify(other.authorizationList) === JSON.stringify(made.authorizationList);

const isSameAs = (one: Signing, other: Signing | undefined): boolean =>
  JSON.stringify(plainJson(one)) === JSON.stringify(plainJson(other));

/**
 * True if the carriers that a report tells of are those of its signatures: of what it says nothing else is believed. `transactions`
 * and `carriers` as they stand in it.
 */
export const isTrue = ({
  transactions,
  carriers,
  signings,
  signing,
}: {
  readonly transactions: ReadonlyArray<{ readonly input: Transaction }>;
  readonly carriers: ReadonlyArray<{ readonly input: Transaction }>;
  readonly signings: ReadonlyArray<Signing>;
  readonly signing?: Signing;
}): boolean =>
  // why: what is shown is what is handed out
  (signing === undefined || isSameAs(signing, signings[0])) &&
  Result.match(
    safely(() => signingsOf({ signings }), no("signings", "cannot be read")),
    {
      onFailure: () => false,
      onSuccess: (read) => {
        const own = transactions.map(({ input }) => input);
        const made = mergedIn(own, read, modeOf(signings)).filter(isCarrier);
        const mode = modeOf(signings);
        const wayOf = (signing: PlacedSigning, index: number): Signing["assumed"] =>
          carriersOf(signing, mode) === null || !made.some(({ origin }) => origin?.signing === index)
            ? null
            : signing.safe !== undefined
              ? "approvals"
              : signing.sign.kind === "authorization"
                ? "code"
                : mode;
        return (
          made.length === carriers.length &&
          made.every((input, at) => isSame(input, carriers[at]?.input)) &&
          read.every((signing, index) => signings[index]?.assumed === wayOf(signing, index))
        );
      },
    },
  );

/** The signatures of a report and the transactions that they stand among; "altered" where its carriers are not theirs. */
export const signedIn = (report: Parameters<typeof isTrue>[0]) =>
  isTrue(report)
    ? Result.match(signingsOf(report), {
        onFailure: () => "altered" as const,
        onSuccess: (signings) => ({
          ...{ signings, mode: modeOf(report.signings) },
          transactions: report.transactions.map(({ input }) => input),
        }),
      })
    : "altered";

/** The way in which a report's signatures were simulated. */
export const modeOf = (signings: ReadonlyArray<Signing>): Mode =>
  signings.some(({ assumed }) => assumed === "equalCall") ? "equalCall" : "shim";
