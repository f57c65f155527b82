/** A bundle as the steps see it: a never-empty list of cases, each carried through the pipeline as one record. */
import * as Arr from "effect/Array";
import type { Address, Hex } from "../../primitives/hex.js";
import type { noExtraFees } from "../../chains/feeModel.js";
import type { Evidence, Finding } from "../../report/finding.js";
import type { By, Fee, Gas, Outcome, Parties, Transfer } from "../../report/parts.js";
import type { TransactionReport } from "../../report/schema.js";
import type { Request } from "../../transaction/request.js";
import type { Authorization, Transaction, UnsignedAuthorization } from "../../transaction/fields.js";
import { recoveredAuthority } from "../../transaction/authorities.js";
import { callsIn, type Calls } from "../../abi/batches.js";

/** One transaction of a bundle. */
export interface Case {
  /** Its place in the bundle, from 0. */
  readonly index: number;
  readonly input: Transaction;
  /** The account that signs and pays, and whose nonce is used: the sender of a plain transaction. */
  readonly signer: Address;
  /** The EIP-7702 authorisations it carries, and the account that signed or is to sign each; null when its signature is none: the chain skips it. */
  readonly authorizations: ReadonlyArray<{
    readonly entry: Authorization | UnsignedAuthorization;
    readonly authority: Address | null;
  }>;
  /** The calls that it makes, batches taken apart; none for a deployment. */
  readonly calls: Calls;
  /** Accounts that count as senders beside the senders, by the option `accounts`; absent = nobody. */
  readonly accounts?: ReadonlyArray<Address>;
  /** Its calldata as the scan of the same run decoded it; absent = it was not. */
  readonly call?: TransactionReport["call"];
}

/** The cases in their order. */
export type Bundle<C extends Case = Case> = Arr.NonEmptyReadonlyArray<C>;

const noCalls: Calls = { read: [], delegates: [], either: [], isCut: false, isUnread: false };
const lastRead = new WeakMap<Transaction, Pick<Transaction, "from" | "to" | "data"> & { readonly calls: Calls }>();

/** The calls that a transaction makes; read once for a scan, its proof and all of their runs. */
export const callsOf = (input: Transaction): Calls => {
  const { from, to, data } = input;
  const last = lastRead.get(input);
  // why: a report may be changed in place
  if (last?.from === from && last.to === to && last.data === data) return last.calls;
  const calls = to === null ? noCalls : callsIn({ from, to, data: data.toLowerCase() as Hex });
  lastRead.set(input, { from, to, data, calls });
  return calls;
};

/** Transactions as cases; `accounts` = who counts as a sender beside the senders. */
export const bundleOf = (inputs: Arr.NonEmptyReadonlyArray<Transaction>, accounts: Case["accounts"] = []): Bundle =>
  Arr.map(inputs, (input, index) => ({
    index,
    input,
    signer: input.from,
    // why: recovering a signer costs more than all the rest
    authorizations: (input.authorizationList ?? []).map((entry) => ({ entry, authority: recoveredAuthority(entry) })),
    calls: callsOf(input),
    accounts,
  }));

/** True of a case that is simulated for a signature, and nobody signs or sends. */
export const isCarrier = ({ input }: Pick<Case, "input">): boolean => input.origin?.signing !== undefined;

/** Accounts that are made up for a run: nobody has sent anything from them. */
export const madeUpIn = (bundle: ReadonlyArray<Case>): ReadonlySet<Address> => {
  const accounts = new Set<Address>();
  for (const { input, signer } of bundle)
    if (input.origin?.signing !== undefined && input.nonce === 0) accounts.add(signer);
  return accounts;
};

/** The senders, each once, and who counts as one; of what is simulated for a signature nobody is the sender. */
export const ownAccounts = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> => {
  const own = new Set<Address>();
  for (const { input } of bundle) if (input.origin?.signing === undefined) own.add(input.from);
  for (const { accounts = [] } of bundle) for (const account of accounts) own.add(account);
  return [...own];
};

/** Each signer once, in order of first appearance. */
export const signers = (bundle: ReadonlyArray<Case>): ReadonlyArray<Address> => [
  ...new Set(bundle.map(({ signer }) => signer)),
];

/** Gas of a transaction's blobs (EIP-4844: 2^17 each). */
export const blobGasOf = ({ blobVersionedHashes }: Transaction) => BigInt(blobVersionedHashes?.length ?? 0) * 131_072n;

/** True if no case before it has the same signer: later ones depend on what it does. */
export const isFirst = ({ signer, index }: Case, bundle: ReadonlyArray<Case>): boolean =>
  !bundle.some((entry) => entry.signer === signer && entry.index < index);

/** The result of one case in a run. */
export interface Reading {
  readonly outcome: Outcome;
  /** Movements by the outcome's logs and traced native transfers, by the shape of the events, in the node's order. */
  readonly transfers: ReadonlyArray<Transfer>;
}

/** A case that has run. */
export interface Ran extends Case, Reading {}

/** The cases that succeeded, as far as anybody knows. */
export const workedIn = <C extends Pick<Ran, "outcome">>(bundle: ReadonlyArray<C>): ReadonlyArray<C> =>
  bundle.filter(({ outcome }) => outcome.status === "success");

/** A value that will be signed, and who chose it. */
export interface Chosen<A> {
  readonly value: A;
  readonly by: By;
  readonly evidence: Evidence;
}

/** A case whose nonce is chosen. */
export interface Numbered extends Case {
  readonly nonce: Chosen<number | null>;
}

/** Wei per gas. */
export type Price = Pick<Fee, "gasPrice" | "maxFeePerGas" | "maxPriorityFeePerGas">;

/** A case with everything chosen: what will be signed, who is at its ends, and what it costs beyond gas. */
export interface Filled extends Ran, Numbered {
  /** The gas limit, with the node's estimate or why there is none. */
  readonly gas: Chosen<bigint | null> & Pick<Gas, "estimate" | "refusal">;
  /** The price, and how it came about. */
  readonly fee: Chosen<Price> & Pick<Fee, "tipSource" | "tipNamed" | "horizonSeconds" | "shortenedFrom">;
  readonly code: typeof Parties.Type;
  /** The chain's charges beyond gas × price, as far as they could be read. */
  readonly charged: {
    /** null = the chain charges, but did not say how much. */
    readonly extra: typeof noExtraFees | null;
    readonly findings: ReadonlyArray<Finding>;
  };
  /** null while a field of it is not known. */
  readonly request: Request | null;
}
