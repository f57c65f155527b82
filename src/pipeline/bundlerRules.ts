/**
 * Rules of bundlers for validation (ERC-7562), as a trace by `erc7562Tracer` shows them kept or broken: opcodes, code and storage
 * by entity. What hangs on a bundler's own books is not judged. Pure.
 */
import { frameOf, type Frame } from "../effects/frames.js";
import { Account, Anything, Finite, Flag, list, mapOf, orElse, Quantity, struct, Word } from "../eth/shape.js";
import { keccak256 } from "../primitives/bytes.js";
import { isBytes, lower, type Address, type Hash } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { ecrecover } from "../signing/index.js";

/** Contracts that an operation names, which answer for what runs in their part of the validation. */
type Entity = "factory" | "account" | "paymaster";

/** A rule that an entity breaks. */
interface RuleBroken {
  readonly entity: Entity;
  /** As ERC-7562 numbers it. */
  readonly rule: string;
  /** An opcode, or what was done, in words. */
  readonly what: string;
  /** The contract whose code or storage it is; or whom a call is for. */
  readonly at: Address;
  readonly slot: Hash | null;
  /** Entities of which the stake of one would allow it. */
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

/** Most that is read of a trace, and told of it. */
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

/** Opcodes that tell of the block, the bundle or what is left of it. */
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
/** Those that a stake allows. */
const balances: ReadonlySet<string | undefined> = new Set(["BALANCE", "SELFBALANCE"]);

/** Precompiles that read nothing of the chain: of the first fork, and P256VERIFY. */
const isPlainPrecompile = (account: bigint): boolean => (account > 0n && account <= 9n) || account === 0x100n;
/** Those of later forks, which no rule allows. */
const isPrecompile = (account: bigint): boolean => account > 9n && account <= 0x11n;

/** `depositTo(address)` */
const depositTo = "0xb760faf9";
const padded = (account: Address): string => account.slice(2).padStart(64, "0");

/** True of a call to the EntryPoint that a rule allows: a deposit for the sender, or its payment. */
const isPayment = ({ from, data }: Frame, type: unknown, { factory, account }: Ruled["entities"]): boolean =>
  type === "CALL" &&
  account !== null &&
  ((from === account && data === "0x") ||
    ((from === account || from === factory) && data === `${depositTo}${padded(account)}`));

/** Where the slots begin that belong to an account in storage of others: those of mappings with its address as the key. */
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

/**
 * The rules that an operation's validation breaks, by the trace of the bundler's call; each is told once, the first of them alone.
 * `isWhole`: all of the validation was seen; else more may be broken.
 */
export const rulesBroken = (
  trace: unknown,
  ruled: Ruled,
): { readonly broken: ReadonlyArray<RuleBroken>; readonly isWhole: boolean } => {
  const { entryPoint, creator, entities, staked } = ruled;
  const { factory, account, paymaster } = entities;
  const top = frameOf(trace);
  if (top === null || !isRecord(trace) || top.to !== entryPoint) return { broken: [], isWhole: false };
  const isOf = basesOf(trace, entities);
  const told = new Map<string, RuleBroken>();
  const seen = new Set<Entity>();
  let [frames, slotsLeft, creations, isReadable]: [number, number, number, boolean] = [0, most.slots, 0, true];
  const isNew = () => seen.has("factory");

  const tell = (
    entity: Entity,
    rule: string,
    what: string,
    at: Address,
    stakes: ReadonlyArray<Entity> = [],
    slot: Hash | null = null,
  ) => {
    const key = [entity, rule, what, at, slot].join();
    if (told.size < most.told && !told.has(key)) told.set(key, { entity, rule, what, at, slot, stakes });
  };

  const judgeSlots = (entity: Entity, at: Address, { accessedSlots }: typeof Uses.Type) => {
    const { reads, writes, transientReads, transientWrites } = accessedSlots;
    const itself = entities[entity];
    for (const slot of new Set([reads, writes, transientReads, transientWrites].flatMap((all) => [...all.keys()]))) {
      if (--slotsLeft < 0) return void (isReadable = false);
      const isSenders = isOf(account, slot);
      const isRead = !writes.has(slot) && !transientWrites.has(slot);
      if (isSenders && (!isNew() || staked.has("factory"))) continue;
      const byStake = at === itself ? "STO-031" : isOf(itself, slot) ? "STO-032" : isRead ? "STO-033" : null;
      if (byStake !== null && staked.has(entity)) continue;
      // why: an account that is yet to be made has none
      const own = byStake === null || (isSenders && entity === "account") ? [] : [entity];
      const stakes = isSenders ? new Set<Entity>(["factory", ...own]) : own;
      const rule = isSenders ? "STO-022" : (byStake ?? "STO-010");
      tell(entity, rule, isRead ? "reads storage" : "writes storage", at, [...stakes], slot);
    }
  };
  /** Judges a call by the one that makes it. */
  const judgeCall = (entity: Entity, frame: Frame, type: unknown) => {
    const { from, to, value, isCreation } = frame;
    if (to === entryPoint && !isPayment(frame, type, entities)) tell(entity, "OP-054", "calls the EntryPoint", to);
    if (type === "CALL" && to !== null && to !== entryPoint && value > 0n)
      tell(entity, "OP-061", "CALL with value", to);
    if (!isCreation) return;
    const isFirst = type === "CREATE2" && entity === "factory" && (to === account || to === null) && ++creations === 1;
    const isSenders = type === "CREATE" && isNew() && from === account;
    const byStake = isNew() && (entity === "factory" || from === account);
    if (isFirst || isSenders || (byStake && staked.has("factory"))) return;
    const rule = type === "CREATE" ? "OP-011" : "OP-031";
    tell(entity, rule, type === "CREATE" ? "CREATE" : "CREATE2", from, byStake ? ["factory"] : []);
  };

  const visit = (entity: Entity, value: unknown, depth: number): void => {
    const [frame, uses] = [frameOf(value), Uses.read(value, [])];
    if (frame === null || uses === undefined || !isRecord(value) || depth > most.depth || ++frames > most.frames)
      return void (isReadable = false);
    const { from, to, isBorrowed } = frame;
    const { type } = value;
    // why: it is told as a call, and by its opcode as well
    if (type === "SELFDESTRUCT") return;
    if (depth > 0) judgeCall(entity, frame, type);
    // why: in place of ECRECOVER stands code of ours
    if (to === ecrecover) return;
    const at = to ?? from;
    // why: where its own call runs out of gas the operation fails, and nothing is left to leak
    if (uses.outOfGas && depth > 0) tell(entity, "OP-020", "out of gas", at);
    if (to === entryPoint) return;
    for (const opcode of uses.usedOpcodes.keys()) {
      const name = forbidden.get(opcode);
      const isBalance = balances.has(name);
      if (name === undefined || (isBalance && staked.has(entity))) continue;
      tell(entity, isBalance ? "OP-080" : name === "GAS" ? "OP-012" : "OP-011", name, at, isBalance ? [entity] : []);
    }
    // why: the EVM stops at an opcode that it does not have, and nodes say so
    if (frame.error.startsWith("invalid opcode") && !uses.usedOpcodes.has(0xfen))
      tell(entity, "OP-013", "an unassigned opcode", at);
    for (const [other, { contractSize }] of uses.contractSize) {
      const [of, number] = [lower(other), BigInt(other)];
      if (isPrecompile(number)) tell(entity, "OP-062", "uses a precompile", of);
      else if (contractSize === 0 && of !== account && of !== entryPoint && !isPlainPrecompile(number))
        tell(entity, "OP-041", "uses an account without code", of);
    }
    if (uses.extCodeAccessInfo.some((other) => lower(other) === entryPoint))
      tell(entity, "OP-054", "reads the code of the EntryPoint", at);
    // why: borrowed code has the storage of who borrows it, and of a contract that was not made nothing stays
    const owner = isBorrowed ? from : to;
    if (owner !== null && owner !== account) judgeSlots(entity, owner, uses);
    for (const call of frame.calls) visit(entity, call, depth + 1);
  };
  const enter = (entity: Entity, call: unknown) => {
    seen.add(entity);
    visit(entity, call, 0);
  };

  for (const call of top.calls) {
    const frame = frameOf(call);
    if (frame?.to == null) isReadable = false;
    // why: it calls itself for what comes behind the validation
    else if (frame.to === entryPoint) break;
    else if (frame.to === account) enter("account", call);
    else if (frame.to === paymaster) enter("paymaster", call);
    else if (frame.to === creator)
      for (const inner of frame.calls) {
        const to = frameOf(inner)?.to ?? null;
        if (to !== null && (to === factory || to === account)) enter(to === factory ? "factory" : "account", inner);
      }
  }
  const isAll = seen.has("account") && (paymaster === null || seen.has("paymaster"));
  return { broken: [...told.values()], isWhole: isAll && isReadable };
};
