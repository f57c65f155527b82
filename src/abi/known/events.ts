/** Every known event in one table, by the beginning of its topics: an event is looked up once, and its row says all that it tells of. */
import { aaveBurn, aaveMint, granting, harmless, keeping, movementEvents, numbered, withdrawn } from "./movements.js";
import { innerEvents, operationReasons, type InnerEvent } from "./failures.js";
import { controlEvents, rightEvents, votes, type ControlRow, type RightRow } from "./rights.js";

/** The meaning of one kind of event, as far as it is known. */
export interface EventRow {
  readonly movement?: (typeof movementEvents)[string];
  readonly right?: RightRow;
  readonly control?: ControlRow;
  /** It reports on a call that its emitter made. */
  readonly inner?: InnerEvent;
  /** It says why that call failed. */
  readonly isReason?: true;
  /** It holds the call that a Safe executes, in the order of that call's arguments. */
  readonly isExecution?: true;
  /** It names two accounts and gives neither a right. */
  readonly isHarmless?: true;
  /** It gives a right in a way that no getter shows. */
  readonly isGranting?: true;
  /** Its emitter keeps deposits. */
  readonly isKeeping?: true;
  /** A deposit is paid out: of whom, and to whom. */
  readonly isPayout?: true;
  /** It names who votes for an account. */
  readonly isVote?: true;
  /** The topic of the account whose interest it names. */
  readonly interestOf?: number;
  /** Its data are numbers alone. */
  readonly isNumbered?: true;
}

/** Events of a SafeL2 that hold what it executes: SafeMultiSigTransaction and SafeModuleTransaction. */
const executed = ["0x66753cd2356569ee", "0xb648d3644f584ed1"];

const under = <K extends keyof EventRow>(name: K, rows: Readonly<Record<string, EventRow[K]>>) =>
  Object.entries(rows).map(([kind, row]): readonly [string, EventRow] => [kind, { [name]: row }]);
const marked = (row: EventRow, kinds: Iterable<string>) => [...kinds].map((kind) => [kind, row] as const);

export const knownEvents: Readonly<Record<string, EventRow>> = [
  ...under("movement", movementEvents),
  ...under("right", rightEvents),
  ...under("control", controlEvents),
  ...under("inner", innerEvents),
  ...marked({ isReason: true }, operationReasons),
  ...marked({ isExecution: true }, executed),
  ...marked({ isHarmless: true }, harmless),
  ...marked({ isGranting: true }, granting),
  ...marked({ isKeeping: true }, keeping),
  ...marked({ isPayout: true }, [withdrawn]),
  ...marked({ isVote: true }, [votes]),
  ...under("interestOf", { [aaveMint]: 2, [aaveBurn]: 1 }),
  ...marked({ isNumbered: true }, numbered),
].reduce<Record<string, EventRow>>((all, [kind, row]) => {
  all[kind] = { ...all[kind], ...row };
  return all;
}, {});
