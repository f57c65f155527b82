/** Who may act, out of logs: owners, roles, proxies, Safe owners and modules. Pure. */
import { eventOf, valueBy, valuesOf, addressOf } from "../../abi/words.js";
import { controlEvents, type ControlRow } from "../../abi/known/rights.js";
import type { Address } from "../../primitives/hex.js";
import type { OutcomeLog } from "../../report/parts.js";

/** One change of control that a contract announced. */
export interface Control extends Pick<ControlRow, "code" | "what"> {
  /** The contract over which it is. */
  readonly contract: Address;
  /** Who gets it; null where the event names nobody or takes it away. */
  readonly gains: Address | null;
  /** Who had it before, or from whom it is taken. */
  readonly loses: Address | null;
  /** The role, where there is one. */
  readonly role: string | null;
  readonly transaction: number;
}

/** Whether an event of this kind tells of control. */
export const tellsOfControl = (signature: string): boolean => controlEvents[signature] !== undefined;

const controlOf = (log: OutcomeLog, transaction: number): Control | null => {
  const row = controlEvents[eventOf(log) ?? ""];
  if (row === undefined) return null;
  const { code, what, values } = row;
  const valueAs = valueBy(values, valuesOf(log, values.length));
  const party = (value: bigint | null): Address | null =>
    value === null || BigInt.asUintN(160, value) === 0n ? null : addressOf(value);
  const role = valueAs("role");
  return {
    ...{ code, what, contract: log.address.toLowerCase() as Address },
    ...{ gains: party(valueAs("gains")), loses: party(valueAs("loses")) },
    role: role === null ? null : `0x${role.toString(16).padStart(64, "0")}`,
    transaction,
  };
};

/** The changes of control that one transaction's logs announce, in their order. */
export const controlsIn = (logs: ReadonlyArray<OutcomeLog>, transaction: number): ReadonlyArray<Control> =>
  logs.map((log) => controlOf(log, transaction)).filter((found) => found !== null);
