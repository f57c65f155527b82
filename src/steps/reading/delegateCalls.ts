/** Code that accounts run in their own place (DELEGATECALL), judged by its hash. Pure. */
import { keccak256 } from "../../primitives/bytes.js";
import { UnknownDelegateCall } from "../../errors/verdicts.js";
import { type Address, type Hash, type Hex, lower } from "../../primitives/hex.js";
import { address, hash, text } from "../../primitives/statement.js";
import { fromError, code, type Finding } from "../../report/finding.js";
import { readAddress } from "../../witness/answers.js";
import { staticCall, type Query } from "../../witness/queries.js";
import type { View } from "../../witness/view.js";
import type { PlainCall } from "../../abi/batches.js";
import { effectsIn } from "../../effects/effects.js";
import { addressAt, argumentsAt, bytesAt, nobody, pointedAt } from "../../abi/words.js";
import type { Case, Ran } from "./bundle.js";
import type { Sights } from "./runCode.js";
import { knownCode, migrationHash, type KnownCode } from "./safeCode.js";

/** How many accounts and codes are looked at; what is beyond them counts as not read. */
const mostAccounts = 32;

/** A case, with its outcome where it has run. */
export type Running = Case & Partial<Pick<Ran, "outcome">>;

/** Accounts that are called as a Safe is. */
export const calledAsSafes = (bundle: ReadonlyArray<Running>): ReadonlyArray<Address> =>
  bundle.flatMap((entry) => [
    ...effectsIn([entry], "call").flatMap(({ row, contract }) => (row.isOfSafe === true ? contract : [])),
    ...entry.calls.delegates.flatMap(({ as }) => (as === undefined || as === nobody ? [] : lower(as))),
  ]);

/** Accounts that keep their code's address in slot 0 for all that is known: called as Safes, or saying that they execute. */
export const likelySafes = (bundle: ReadonlyArray<Running>): ReadonlySet<Address> =>
  new Set([
    ...calledAsSafes(bundle),
    ...effectsIn(bundle, "event").flatMap(({ contract, row: { inner } }) =>
      inner?.family === "safe" || inner?.family === "module" ? contract : [],
    ),
  ]);

/** True if the witness saw the code of a Safe's proxy. */
export const isSafeProxy = (account: Address, view: View): boolean => {
  const sighting = view.account(account);
  return sighting !== null && knownCode(sighting.codeHash, account, "safeProxy") !== null;
};

/** Calls that run in accounts' own place in one transaction, by calldata and `isSafe` accounts' events, each once. */
const delegatesOf = (entry: Running, isSafe: (account: Address) => boolean): ReadonlyArray<PlainCall> => {
  const executed = effectsIn([entry], "execution").flatMap(({ safe, delegates }) => (isSafe(safe) ? delegates : []));
  const all = [...entry.calls.delegates, ...executed];
  return [...new Map(all.map((call) => [`${call.as}${call.to}${call.data}`.toLowerCase(), call])).values()];
};

/** The accounts whose code tells what is run, and in whose place. */
export const delegateCallAccounts = (bundle: ReadonlyArray<Running>): ReadonlyArray<Address> => {
  const all = bundle.flatMap((entry) => [
    ...delegatesOf(entry, () => true).flatMap(({ as = nobody, to }) =>
      as === nobody ? [lower(to)] : [to, as].map(lower),
    ),
    ...effectsIn([entry], "execution").map(({ safe }) => safe),
  ]);
  return [...new Set(all)].slice(0, mostAccounts);
};

/** The singletons that the canonical SafeMigrations hold. */
const migrations: Readonly<Record<string, { readonly plain: Address; readonly l2: Address } | undefined>> = {
  "SafeMigration 1.4.1": {
    plain: "0x41675c099f32341bf84bfc5382af534df5c7461a",
    l2: "0x29fcb43b46531bca003ddc8fcb67ffe91900c762",
  },
  "SafeMigration 1.5.0": {
    plain: "0xff51a5898e281db6dfc7855790607438df2ca44b",
    l2: "0xedd160febbd92e350d4d398fb636302fccd67c7e",
  },
};
/** migrateL2Singleton(), migrateL2WithFallbackHandler() */
const toL2: ReadonlySet<string> = new Set(["0x07f464a4", "0x68cb3d94"]);
/** Those, and migrateSingleton(), migrateWithFallbackHandler() */
const migrating: ReadonlySet<string> = new Set([...toL2, "0xf6682ab0", "0xed007fc6"]);

/** SAFE_SINGLETON(), SAFE_L2_SINGLETON(), SAFE_FALLBACK_HANDLER() */
const heldBy = (target: Address) =>
  [staticCall(target, "0xcaa12add"), staticCall(target, "0x9bf47d6e"), staticCall(target, "0x0d7101f7")] as const;

/** Asks SafeMigrations for the singletons and the handler they hold, since their code alone does not tell it. */
export const delegateCallQueries = (bundle: ReadonlyArray<Case>): ReadonlyArray<Query> => {
  const targets = bundle.flatMap(({ calls }) =>
    calls.delegates.filter(({ data }) => migrating.has(data.slice(0, 10))).map(({ to }) => lower(to)),
  );
  return [...new Set(targets)].slice(0, mostAccounts).flatMap(heldBy);
};

/** A SafeMigration with whatever singletons it says that it holds, if its code holds them. */
const migrationAt = (target: Address, codeHash: Hash, view: View): Parameters<typeof deedOf>[0] | null => {
  const [plain, l2, handler] = heldBy(target).map((query) => readAddress(view.call(query)));
  if (plain == null || l2 == null || handler == null) return null;
  const singletons = { plain, l2, handler };
  return migrationHash(target, singletons) === codeHash
    ? { name: "SafeMigration 1.5.0", kind: "safeSingleton", singletons }
    : null;
};

/** The hash that signMessage(bytes) signs: the message where it is a hash, else its hash. */
const messageIn = (data: Hex): Hex | null => {
  const message = bytesAt(data, pointedAt(data, argumentsAt, argumentsAt));
  return message === null || message.length === 66 ? message : keccak256(message);
};

/** Describes what known code does to the account. */
const deedOf = (
  { name, kind, singletons = migrations[name] }: KnownCode & { singletons?: (typeof migrations)[string] },
  data: Hex,
) => {
  if (kind === "signMessageLib") return hash("signs the message, or what hashes to,", messageIn(data));
  if (kind === "safeModules") return text("", "modules are enabled, which may move all it holds");
  const singleton = toL2.has(data.slice(0, 10)) ? singletons?.l2 : singletons?.plain;
  return address("new singleton", singleton ?? addressAt(data, argumentsAt));
};

/** Code that runs calls, which are read for themselves, or makes contracts. */
const harmless: ReadonlySet<string> = new Set(["multiSend", "createCall"]);
const changing: ReadonlySet<string> = new Set(["signMessageLib", "safeSingleton", "safeModules"]);

/**
 * The code is known, such as that of a Safe's MultiSend.
 * @figures address("account", alice), text("known as", "MultiSendCallOnly 1.4.1")
 * @info where the option `delegateTargets` names the code
 */
export const DelegateCall = code("approvals", ["warning", "info"], "DelegateCall", [
  "an account runs another contract's code as its own (DELEGATECALL)",
  "sign only if you know what that code does",
]);

/**
 * Such code can do anything with the account.
 * @figures address("account", alice), address("code", pool)
 */
export const DelegateCallUnread = code("approvals", ["unavailable"], "DelegateCallUnread", [
  "the code that an account runs as its own (DELEGATECALL) was not read",
  "ask again, or use another node",
]);

/** The known code at a target, as it ran; `unread` = nobody saw it, null = it is not known. */
const codeAt = (target: Address, { before, after }: Sights): Parameters<typeof deedOf>[0] | "unread" | null => {
  const [had, has] = [before.account(target), after.account(target)];
  if (had === null) return "unread";
  const isLate = had.codeSize === 0n;
  const codeHash = (isLate ? has : had)?.codeHash ?? had.codeHash;
  const known = knownCode(codeHash, target) ?? migrationAt(target, codeHash, isLate ? after : before);
  if (known === null || !(harmless.has(known.kind) || changing.has(known.kind))) return null;
  // why: what stands there behind the bundle need not be what ran in it
  return isLate ? "unread" : known;
};

type Meant = Sights & { readonly targets: ReadonlyArray<Address> };

/** Reports one call, by what was seen of the accounts. */
const say = ({ as = nobody, to, data }: PlainCall, transaction: number, sights: Meant): ReadonlyArray<Finding> => {
  const account = as === nobody ? null : lower(as);
  const target = lower(to);
  const parties = [address("account", account), address("code", target)];
  const where = { transaction, evidence: "measured" } as const;
  if (sights.targets.includes(target))
    return [DelegateCall.info({ ...where, evidence: "assumed" }, ...parties, text("", "as the option says"))];
  const code = codeAt(target, sights);
  const own = account === null ? null : sights.before.account(account);
  if (code === "unread" || (account !== null && own === null))
    return [DelegateCallUnread.unavailable({ ...where, evidence: "unavailable" }, ...parties)];
  if (code === null)
    return [fromError(new UnknownDelegateCall({ account, target }), "blocker", { step: "approvals", ...where })];
  const isMade = own === null || own.codeSize === 0n;
  if (harmless.has(code.kind) || (isMade && code.kind !== "signMessageLib")) return [];
  return [DelegateCall.warning(where, ...parties, text("known as", code.name), deedOf(code, data))];
};

/**
 * Reports code that accounts run in their own place: nothing of known batchers and makers of contracts, a warning of
 * what is known to sign or to change the account, a blocker of all other code. `targets` = codes that the caller names.
 */
export const checkDelegateCalls = (bundle: ReadonlyArray<Ran>, sights: Meant): ReadonlyArray<Finding> => {
  const safes = new Set(calledAsSafes(bundle));
  const isSafe = (account: Address) =>
    // why: whoever is not looked at, for others said the same before it, may be one
    safes.has(account) || sights.before.account(account) === null || isSafeProxy(account, sights.before);
  return bundle.flatMap((entry) => delegatesOf(entry, isSafe).flatMap((call) => say(call, entry.index, sights)));
};
