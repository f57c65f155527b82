/**
 * Rules of bundlers for validation (ERC-7562) that a trace by `erc7562Tracer` shows kept or broken: opcodes, code and storage
 * by entity. Rules that depend on a bundler's own records are not judged. Pure.
 */
import { frameOf, type Frame } from "../effects/frames.js";
import { Account, Anything, Finite, Flag, list, mapOf, orElse, Quantity, struct, Word } from "../eth/shape.js";
import { keccak256 } from "../primitives/bytes.js";
import { isBytes, lower, type Address, type Hash } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { ecrecover } from "../signing/index.js";

/** Contracts that an operation names; each is responsible for its part of the validation. */
type Entity = "factory" | "account" | "paymaster";

/** A rule that an entity breaks. */
interface RuleBroken {
  readonly entity: Entity;
  /** As ERC-7562 numbers it. */
  readonly rule: string;
  /** An opcode, or what was done, in words. */
  readonly what: string;
  /** The contract that ran the opcode or has the storage, or the account that was called or used. */
  readonly at: Address;
  readonly slot: Hash | null;
  /** Entities; a stake of any one of them would allow it. */
  readonly stakes: ReadonlyArray<Entity>;
}

/** An operation as the rules know it. */
export interface Ruled {
  readonly entryPoint: Address;
  /** The EntryPoint's own contract that calls factories. */
  readonly creator: Address;
  /** null = there is none. */
  readonly entities: Readonly<Record<Entity, Address | null>>;
  /** Entities with a locked stake. */
  readonly staked: ReadonlySet<Entity>;
}

/** The most that is read of a trace, and (`told`) the most broken rules that are reported. */
const most = { frames: 4_096, depth: 1_024, slots: 4_096, hashes: 512, told: 8 } as const;

const slots = /* @__PURE__ */ mapOf(Word, Anything, most.slots);
/** The part of a call that `erc7562Tracer` adds to what `callTracer` tells. */
const Uses = /* @__PURE__ */ struct({
  usedOpcodes: /* @__PURE__ */ mapOf(Quantity, Anything, 256),
  accessedSlots: /* @__PURE__ */ struct({
    ...{ reads: slots, writes: slots, transientReads: slots, transientWrites: slots },
  }),
  contractSize: /* @__PURE__ */ mapOf(Account, /* @__PURE__ */ struct({ contractSize: Finite }), most.slots),
  extCodeAccessInfo: /* @__PURE__ */ list(Account, most.slots),
  outOfGas: /* @__PURE__ */ orElse(Flag, false),
});

/** Opcodes that validation must not use. */
const forbidden: ReadonlyMap<bigint, string> = new Map([
  [0x31n, "BALANCE"],
  [0x32n, "ORIGIN"],
  [0x3an, "GASPRICE"],
  [0x40n, "BLOCKHASH"],
  [0x41n, "COINBASE"],
  [0x42n, "TIMESTAMP"],
  [0x43n, "NUMBER"],
  [0x44n, "PREVRANDAO"],
  [0x45n, "GASLIMIT"],
  [0x47n, "SELFBALANCE"],
  [0x48n, "BASEFEE"],
  [0x49n, "BLOBHASH"],
  [0x4an, "BLOBBASEFEE"],
  // why: the tracer counts it only where no call follows
  [0x5an, "GAS"],
  [0xfen, "INVALID"],
  [0xffn, "SELFDESTRUCT"],
]);
/** Opcodes that a stake allows. */
const balances: ReadonlySet<string | undefined> = new Set(["BALANCE", "SELFBALANCE"]);

/** Precompiles that ERC-7562 allows (OP-062): 0x01 to 0x09, and P256VERIFY. */
const isPlainPrecompile = (account: bigint): boolean => (account > 0n && account <= 9n) || account === 0x100n;
/** Precompiles that no rule allows: 0x0a to 0x11. */
const isPrecompile = (account: bigint): boolean => account > 9n && account <= 0x11n;

/** `depositTo(address)` */
const depositTo = "0xb760faf9";
const padded = (account: Address): string => account.slice(2).padStart(64, "0");

/** True if a rule allows this call to the EntryPoint: a deposit for the sender, or a payment by the sender. */
const isPayment = ({ from, data }: Frame, type: unknown, { factory, account }: Ruled["entities"]): boolean =>
  type === "CALL" &&
  account !== null &&
  ((from === account && data === "0x") ||
    ((from === account || from === factory) && data === `${depositTo}${padded(account)}`));

/**
 * Returns a test for associated storage (ERC-7562): slots in any contract that equal the account's address, or that are at
 * most 128 after the hash of bytes that begin with that address.
 */
const basesOf = (trace: object, entities: Ruled["entities"]): ((of: Address | null, slot: Hash) => boolean) => {
  const { keccak } = trace as { readonly keccak?: unknown };
  const given = (Array.isArray(keccak) ? keccak : []).filter(isBytes);
  const bases = new Map(
    Object.values(entities).flatMap((account) => {
      if (account === null) return [];
      const own = given.filter((bytes) => bytes.slice(2, 66).toLowerCase() === padded(account));
      return [[account, own.slice(0, most.hashes).map((bytes) => BigInt(keccak256(bytes)))] as const];
    }),
  );
  return (of, slot) => {
    if (of === null) return false;
    const at = BigInt(slot);
    return at === BigInt(of) || (bases.get(of) ?? []).some((base) => at >= base && at <= base + 128n);
  };
};

/** A call of the validation, and the entity that answers for it. */
interface Visit {
  readonly entity: Entity;
  readonly frame: Frame;
  readonly uses: typeof Uses.Type;
  /** As the tracer names it: `CALL`, `CREATE2`. */
  readonly type: unknown;
  /** False for the call by which the EntryPoint enters the entity: its caller is not judged. */
  readonly isWithin: boolean;
  /** True if the account is made by the operation. */
  readonly isNew: boolean;
  /** Slots that it uses outside the account's own storage; all calls together keep at most `most.slots`. */
  readonly slots: ReadonlyArray<Hash>;
}

/**
 * The calls by which the EntryPoint validates, with their entities; null = a call that cannot be read or has an unknown target.
 * The list ends where the EntryPoint calls itself, which begins the execution.
 */
const entriesIn = ({ calls }: Frame, { entryPoint, creator, entities }: Ruled) => {
  const { factory, account, paymaster } = entities;
  const entries: Array<readonly [entity: Entity, call: unknown] | null> = [];
  for (const call of calls) {
    const frame = frameOf(call);
    if (frame?.to === entryPoint) break;
    if (frame?.to == null) entries.push(null);
    else if (frame.to === account) entries.push(["account", call]);
    else if (frame.to === paymaster) entries.push(["paymaster", call]);
    else if (frame.to === creator)
      for (const inner of frame.calls) {
        const to = frameOf(inner)?.to ?? null;
        if (to !== null && to === factory) entries.push(["factory", inner]);
        else if (to !== null && to === account) entries.push(["account", inner]);
      }
    // why: an unknown EntryPoint may call factories through another contract
    else if (!isPlainPrecompile(BigInt(frame.to))) entries.push(null);
  }
  return entries;
};

/** True if a call's code and inner calls are judged. The EntryPoint and our code in place of ECRECOVER are not judged. */
const isJudged = ({ frame: { to } }: Pick<Visit, "frame">, { entryPoint }: Ruled): boolean =>
  to !== ecrecover && to !== entryPoint;

/**
 * The slots outside the account that a call uses. Code run by DELEGATECALL or CALLCODE uses its caller's storage; a creation
 * that failed leaves none.
 */
const slotsIn = (
  { frame: { from, to, isBorrowed }, uses: { accessedSlots } }: Pick<Visit, "frame" | "uses">,
  { entities: { account } }: Ruled,
): ReadonlyArray<Hash> => {
  const owner = isBorrowed ? from : to;
  return owner === null || owner === account
    ? []
    : [...new Set(Object.values(accessedSlots).flatMap((used) => [...used.keys()]))];
};

/** Every readable call of the validation, each before its inner calls; `isReadable`: none was left out. */
const visitsIn = (entries: ReturnType<typeof entriesIn>, ruled: Ruled) => {
  const visits: Array<Visit> = [];
  let [left, isReadable]: [number, boolean] = [most.slots, !entries.includes(null)];
  let isNew = false;
  const visit = (entity: Entity, value: unknown, depth: number): void => {
    const [frame, uses] = [frameOf(value), Uses.read(value, [])];
    if (frame === null || uses === undefined || !isRecord(value) || depth > most.depth || visits.length >= most.frames)
      return void (isReadable = false);
    const { type } = value;
    // why: the tracer shows it as a call, and also as an opcode
    if (type === "SELFDESTRUCT") return;
    const isOurs = !isJudged({ frame }, ruled);
    const all = isOurs ? [] : slotsIn({ frame, uses }, ruled);
    isReadable &&= all.length <= left;
    const slots = all.slice(0, left);
    left -= slots.length;
    visits.push({ entity, frame, uses, type, isWithin: depth > 0, isNew, slots });
    if (!isOurs) for (const call of frame.calls) visit(entity, call, depth + 1);
  };
  for (const entry of entries)
    if (entry !== null) {
      isNew ||= entry[0] === "factory";
      visit(entry[0], entry[1], 0);
    }
  return { visits, isReadable };
};

type Broken = Omit<RuleBroken, "entity" | "slot" | "stakes"> & Partial<Pick<RuleBroken, "slot" | "stakes">>;

/** Judges a call's target and value: calls to the EntryPoint, and calls that send wei. */
const checkCall = ({ frame, type, isWithin }: Visit, { entryPoint, entities }: Ruled): ReadonlyArray<Broken> => {
  const { to, value } = frame;
  if (!isWithin || to === null) return [];
  if (to === entryPoint)
    return isPayment(frame, type, entities) ? [] : [{ rule: "OP-054", what: "calls the EntryPoint", at: to }];
  return type === "CALL" && value > 0n ? [{ rule: "OP-061", what: "CALL with value", at: to }] : [];
};

/** True if a factory's call makes the account; a factory may do so once. */
const isMaking = ({ entity, frame: { to, isCreation }, type, isWithin }: Visit, { entities }: Ruled): boolean =>
  isWithin && isCreation && type === "CREATE2" && entity === "factory" && (to === entities.account || to === null);

/** `isFirst`: this is the call that makes the account. */
const checkCreation = (visit: Visit, { entities, staked }: Ruled, isFirst: boolean): ReadonlyArray<Broken> => {
  const { entity, frame, type, isWithin, isNew } = visit;
  if (!isWithin || !frame.isCreation || isFirst) return [];
  const isAccounts = frame.from === entities.account;
  const byStake = isNew && (entity === "factory" || isAccounts);
  if ((type === "CREATE" && isNew && isAccounts) || (byStake && staked.has("factory"))) return [];
  const [rule, what] = type === "CREATE" ? ["OP-011", "CREATE"] : ["OP-031", "CREATE2"];
  return [{ rule, what, at: frame.from, stakes: byStake ? ["factory"] : [] }];
};

const checkOpcodes = ({ entity, frame, uses, isWithin }: Visit, ruled: Ruled): ReadonlyArray<Broken> => {
  const { from, to, error } = frame;
  const at = to ?? from;
  // why: if the entity's own call runs out of gas, the whole operation fails, and no rule matters
  const isEmpty = uses.outOfGas && isWithin && to !== ecrecover;
  const out = isEmpty ? [{ rule: "OP-020", what: "out of gas", at }] : [];
  if (!isJudged({ frame }, ruled)) return out;
  const opcodes = [...uses.usedOpcodes.keys()].flatMap((opcode): ReadonlyArray<Broken> => {
    const what = forbidden.get(opcode);
    if (what === undefined) return [];
    if (!balances.has(what)) return [{ rule: what === "GAS" ? "OP-012" : "OP-011", what, at }];
    return ruled.staked.has(entity) ? [] : [{ rule: "OP-080", what, at, stakes: [entity] }];
  });
  // why: the EVM stops at an opcode that it does not have, and nodes say so
  const isUnassigned = error.startsWith("invalid opcode") && !uses.usedOpcodes.has(0xfen);
  return [...out, ...opcodes, ...(isUnassigned ? [{ rule: "OP-013", what: "an unassigned opcode", at }] : [])];
};

const checkContracts = ({ frame, uses }: Visit, ruled: Ruled): ReadonlyArray<Broken> => {
  if (!isJudged({ frame }, ruled)) return [];
  const { entryPoint, entities } = ruled;
  const met = [...uses.contractSize].flatMap(([other, { contractSize }]): ReadonlyArray<Broken> => {
    const [at, number] = [lower(other), BigInt(other)];
    if (isPrecompile(number)) return [{ rule: "OP-062", what: "uses a precompile", at }];
    const isKnown = at === entities.account || at === entryPoint || isPlainPrecompile(number);
    return contractSize === 0 && !isKnown ? [{ rule: "OP-041", what: "uses an account without code", at }] : [];
  });
  const isRead = uses.extCodeAccessInfo.some((other) => lower(other) === entryPoint);
  const at = frame.to ?? frame.from;
  return isRead ? [...met, { rule: "OP-054", what: "reads the code of the EntryPoint", at }] : met;
};

const checkSlots = (
  { entity, frame: { from, to, isBorrowed }, uses: { accessedSlots }, slots: used, isNew }: Visit,
  { entities, staked }: Ruled,
  isOf: ReturnType<typeof basesOf>,
): ReadonlyArray<Broken> => {
  const { writes, transientWrites } = accessedSlots;
  const [at, itself] = [isBorrowed ? from : (to ?? from), entities[entity]];
  return used.flatMap((slot): ReadonlyArray<Broken> => {
    const isSenders = isOf(entities.account, slot);
    const isRead = !writes.has(slot) && !transientWrites.has(slot);
    if (isSenders && (!isNew || staked.has("factory") || staked.has(entity))) return [];
    const byStake = at === itself ? "STO-031" : isOf(itself, slot) ? "STO-032" : isRead ? "STO-033" : null;
    if (byStake !== null && staked.has(entity)) return [];
    // why: an account that is yet to be made has no stake
    const isOwn = isSenders ? entity !== "account" : byStake !== null;
    const stakes = new Set<Entity>([...(isSenders ? (["factory"] as const) : []), ...(isOwn ? [entity] : [])]);
    const what = isRead ? "reads storage" : "writes storage";
    return [{ rule: isSenders ? "STO-022" : (byStake ?? "STO-010"), what, at, slot, stakes: [...stakes] }];
  });
};

/**
 * The rules that an operation's validation breaks, by the trace of the bundler's call: the first `most.told`, each once.
 * `isWhole`: all of the validation was seen; else more may be broken.
 */
export const rulesBroken = (
  trace: unknown,
  ruled: Ruled,
): { readonly broken: ReadonlyArray<RuleBroken>; readonly isWhole: boolean } => {
  const top = frameOf(trace);
  if (top === null || !isRecord(trace) || top.to !== ruled.entryPoint) return { broken: [], isWhole: false };
  const entries = entriesIn(top, ruled);
  const { visits, isReadable } = visitsIn(entries, ruled);
  const isOf = basesOf(trace, ruled.entities);
  const first = visits.find((visit) => isMaking(visit, ruled));
  const told = new Map<string, RuleBroken>();
  for (const visit of visits)
    for (const one of [
      ...[...checkCall(visit, ruled), ...checkCreation(visit, ruled, visit === first), ...checkOpcodes(visit, ruled)],
      ...[...checkContracts(visit, ruled), ...checkSlots(visit, ruled, isOf)],
    ]) {
      const broken = { entity: visit.entity, slot: null, stakes: [], ...one };
      const key = [broken.entity, broken.rule, broken.what, broken.at, broken.slot].join();
      if (told.size < most.told && !told.has(key)) told.set(key, broken);
    }
  const entered = new Set(entries.map((entry) => entry?.[0]));
  const isAll = entered.has("account") && (ruled.entities.paymaster === null || entered.has("paymaster"));
  return { broken: [...told.values()], isWhole: isAll && isReadable };
};
