/** The rule about signatures in its object form: sign-ins and proven signatures. A guard checks it when it is made. Pure. */
import type { Policy } from "../Policy.js";
import { isAddress, isRecord, safely, type Address } from "../primitives/index.js";
import type { Signing } from "../signing/index.js";

/** Kinds of signatures that a report can simulate, or compare with an origin; for any other the verdict is `unknown`. */
const provableKinds = [
  ...(["erc2612", "dai", "erc4494", "erc3009Transfer", "erc3009Receive"] as const),
  ...(["permit2Single", "permit2Batch", "permit2Transfer", "permit2BatchTransfer"] as const),
  ...(["permit2Witness", "permit2BatchWitness", "seaport", "authorization", "signIn"] as const),
  ...(["safeTransaction", "userOperation"] as const),
] as const satisfies ReadonlyArray<Signing["kind"]>;

/** The rule by which signatures are proven before the key gives them. */
export interface ProveRule {
  /** Policies for the report of a signature, in addition to the guard's own. */
  readonly policies?: ReadonlyArray<Policy> | undefined;
  /** Kinds that may be signed. When left out, all kinds that can be proven. */
  readonly kinds?: ReadonlyArray<(typeof provableKinds)[number]> | undefined;
  /**
   * The only accounts that may use a signature, get a right by it, or be paid by it. A signature by which anyone can take
   * something is refused. When left out, every account may.
   */
  readonly spenders?: ReadonlyArray<Address> | undefined;
}

/** Rules about signatures, at least one of them. */
export interface SignatureRules {
  /** Allows sign-ins (ERC-4361) at this origin, such as `https://app.example`, and no other message. */
  readonly signIn?: { readonly origin: string } | undefined;
  /** Signs what a report clears. Sign-ins are proven as well, and compared with the origin of `signIn` where that is given. */
  readonly prove?: ProveRule | undefined;
}

/** True if it is an origin as browsers write it: `https://app.example`. */
const isOrigin = (input: unknown): boolean =>
  typeof input === "string" && /^https?:/.test(input) && safely(() => new URL(input).origin === input, false);

const isListOf = (input: unknown, isOne: (entry: unknown) => boolean): boolean =>
  Array.isArray(input) && input.every(isOne);

const kindNames: ReadonlyArray<unknown> = provableKinds;

/** The check of each field. */
const demands: Readonly<Record<string, readonly [fits: (input: unknown) => boolean, problem: string]>> = {
  "signIn.origin": [isOrigin, 'must be an origin, such as "https://app.example"'],
  "prove.policies": [(list) => isListOf(list, isRecord), "must be a list of policies"],
  "prove.kinds": [
    (list) => isListOf(list, (kind) => kindNames.includes(kind)),
    `must be a list of ${provableKinds.join(", ")}`,
  ],
  "prove.spenders": [(list) => isListOf(list, isAddress), "must be a list of addresses"],
};

/** The first field of such a rule that is wrong; null where none is. */
export const ruleProblem = (rule: Readonly<Record<string, unknown>>): { field: string; problem: string } | null => {
  const parts = Object.entries(rule).filter(([, part]) => part != null);
  if (parts.length === 0) return { field: "signatures", problem: "must have signIn or prove" };
  const fields = parts.flatMap(([name, part]): ReadonlyArray<readonly [string, unknown]> => {
    // why: `signIn` needs its origin, and `prove` needs no field
    const own = isRecord(part) ? Object.entries(name === "signIn" ? { origin: null, ...part } : part) : null;
    const isKnown = own !== null && (name === "signIn" || name === "prove");
    return isKnown ? own.map(([field, value]) => [`${name}.${field}`, value]) : [[name, part]];
  });
  const wrong = fields.find(([name, value]) => !(name.startsWith("prove.") && value == null) && !fits(name, value));
  return wrong === undefined
    ? null
    : { field: `signatures.${wrong[0]}`, problem: demands[wrong[0]]?.[1] ?? "is not a rule about signatures" };
};

const fits = (name: string, value: unknown): boolean => demands[name]?.[0](value) === true;
