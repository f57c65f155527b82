/**
 * Slots that transactions touch, as a node's access lists name them where no tracer is known: asked in a scan, read in its
 * proof. A list is made on the latest block, which a contract can tell from that of a run: one that disagrees shows nothing.
 */
import * as Arr from "effect/Array";
import { knownTokensOf } from "../chains/table.js";
import { accessListOf, type Listing } from "../eth/call.js";
import { asked, each, mapped, one, type Ask } from "../eth/round.js";
import { lower } from "../primitives/hex.js";
import type { StateChange } from "../report/beside.js";
import type { Observed } from "../report/observed.js";
import { isCarrier, isFirst, type Case } from "../steps/reading/bundle.js";
import { successOf } from "../steps/reading/askResult.js";
import { isSystem } from "../steps/reading/nobodyCalled.js";
import type { Run } from "../steps/simulate.js";
import { bareCall, hasUnsigned } from "../transaction/request.js";
import type { Round } from "./answers.js";
import { hidingIn, isTracing, opaqueIn } from "./extras/stateTraces.js";
import type { Claim } from "./proofPlans.js";
import { gasOf } from "./scanPlans.js";
import type { Subject } from "./steps.js";

/** The most access lists that are asked; the contracts that are read for them, and slots of one. */
const mostListed = { lists: 4, contracts: 16, slots: 16 } as const;

/**
 * Asks what the first transaction of each sender touches, where it is opaque and no tracer is known: that shows more, and a
 * request is spared. JSON-RPC: `eth_createAccessList`.
 */
export const askLists =
  (
    { bundle, options, steps }: Subject,
    block: Observed["blockTag"],
    chainId: number | null,
  ): Ask<NonNullable<Round["listed"]>> =>
  (asking, hear) => {
    const { memory } = asking.rpc;
    const isReal = options.stateOverrides === null && options.blockOverrides === null && steps.has("simulate");
    const isAsked = isReal && memory.refused("eth_createAccessList") === null && !isTracing(memory);
    const opaque = opaqueIn(isAsked ? bundle : [], chainId, ({ input: { to, data } }) => to !== null && data !== "0x");
    // why: few nodes make a list under overrides, which one that is not signed yet needs
    const first = opaque
      .filter((entry) => isFirst(entry, bundle) && !hasUnsigned(entry.input) && !isCarrier(entry))
      .slice(0, mostListed.lists);
    const asks = each(first, ({ index, input }) =>
      mapped(one(accessListOf(bareCall(input, gasOf(input)), block)), (list) => ({ index, list: successOf(list) })),
    );
    asked({ step: "simulate" }, asks)(asking, hear);
  };

/** The slots that lists name, by contract; none of best-known tokens. why sorted: nodes name them in any order */
export const namedIn = (listed: NonNullable<Round["listed"]>, chainId: number | null): Observed["named"] => {
  const known = knownTokensOf(chainId);
  const lists = listed.flatMap(({ list }) => list?.accessList ?? []);
  const rows = Arr.groupBy(lists, ({ address }) => lower(address));
  return Object.keys(rows)
    .sort()
    .map(lower)
    .flatMap((address) => {
      const storageKeys = [...new Set((rows[address] ?? []).flatMap((row) => row.storageKeys))].sort();
      return storageKeys.length === 0 || known.has(address) ? [] : [{ address, storageKeys }];
    });
};

/** As many of them as are read; none of precompiles, which a node may refuse to replace. */
export const readNames = (named: Observed["named"]): Observed["named"] => {
  const contracts = named.filter(({ address }) => !isSystem(lower(address))).slice(0, mostListed.contracts);
  return contracts.map((row) => ({ ...row, storageKeys: row.storageKeys.slice(0, mostListed.slots) }));
};

/**
 * True if a list shows what a run did, by the gas of both: a list costs 2,400 for an account and 1,900 for a slot, and spares
 * 2,500 for an account that is cold without it, 2,000 for a slot that is read, 2,100 for one that is written (EIP-2929, EIP-2930).
 */
export const isListOf = (list: Listing | null, { to, from }: Case["input"], used: bigint | null): boolean => {
  const { accessList = [], gasUsed = null } = list ?? {};
  const slots = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0);
  const cold = accessList.filter(({ address }) => ![to, from].includes(lower(address))).length;
  const price = 2_400 * accessList.length - 2_500 * cold + (1_900 - 2_050) * slots;
  // why: nodes differ by some hundred for each name, and a write that is hidden takes 2,900 at least, however many there are
  const tolerance = Math.min(2_000, 100 * (1 + accessList.length + slots));
  return used !== null && gasUsed !== null && Math.abs(Number(gasUsed - used) - price) <= tolerance;
};

/** The contracts of which nobody saw which slots a transaction changes: no tracer, and no list all of whose slots were read. */
export const unseenIn = (claim: Claim, traced: number, isRead: boolean, runs: ReadonlyArray<Run>) => {
  // why: what a report from outside says of its lists is not believed
  const { listed = [] } = claim.scanned ?? {};
  // why: a list is made without prices, in another block
  const isWhole =
    isRead &&
    claim.reads.length === 0 &&
    JSON.stringify(namedIn(listed, claim.report.chainId)) === JSON.stringify(claim.named);
  return hidingIn(claim).flatMap(({ index: transaction, input }): ReadonlyArray<StateChange> => {
    const list = (isWhole ? listed : []).find(({ index }) => index === transaction)?.list ?? null;
    const isOf = ({ readings }: Run) => isListOf(list, input, readings[transaction]?.outcome.gasUsed ?? null);
    if (input.to === null || transaction < traced || runs.every(isOf)) return [];
    const row = { slot: null, holds: null, before: null, after: null, seen: "unseen" } as const;
    return [{ ...row, account: input.to, transaction }];
  });
};
