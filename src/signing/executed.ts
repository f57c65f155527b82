/** The outcome of an account's own input, by the event that its contract emits. Pure. */
import { dataAt, wordAt } from "../abi/words.js";
import { lower, type Hex } from "../primitives/hex.js";
import type { Signing } from "./schema.js";

/** A log, as a receipt or a simulation has it. */
interface Log {
  readonly address: Hex;
  readonly topics: ReadonlyArray<Hex>;
  readonly data: Hex;
}

/** `UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)` of an EntryPoint. */
const operated = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f";
/** ExecutionSuccess and ExecutionFailure(bytes32,uint256) of a Safe, whose hash is indexed since 1.4. */
const safeEvents: Readonly<Record<Hex, boolean>> = {
  "0x442e715f626346e8c54381002da614f62bee8d27386535b2521ec8540898556e": true,
  "0x23428b18acfb3ea64b08dc0c1d296ea9c09702c09083ca5272e64d115b687d23": false,
};

/** The parts of a signature that name what its contract's event is about. */
interface Named {
  readonly operation?: Pick<NonNullable<Signing["operation"]>, "entryPoint" | "hash"> | undefined;
  readonly safe?: Pick<NonNullable<Signing["safe"]>, "safe" | "hash"> | undefined;
}

/** The outcome of an account's input: whether its calls succeeded, and what it was charged, in wei and gas; null = not told. */
export interface Executed {
  readonly success: boolean;
  readonly cost: bigint | null;
  readonly gas: bigint | null;
}

/** True of an event by which a Safe says what became of a transaction. */
export const isExecution = (topic: string): boolean => Object.hasOwn(safeEvents, topic);

/** True of a user operation and of a transaction of a Safe: their contract says what became of them. */
export const isExecuted = ({ operation, safe }: Named): boolean => operation !== undefined || safe !== undefined;

/** The outcome of an account's input by the logs of a transaction; null = nothing: it is not in there. */
export const executedIn = ({ operation, safe }: Named, logs: ReadonlyArray<Log>): Executed | null => {
  if (operation !== undefined) {
    const event = logs.findLast(
      ({ address, topics }) =>
        lower(address) === operation.entryPoint &&
        topics[0] === operated &&
        topics[1]?.toLowerCase() === operation.hash.toLowerCase(),
    );
    const [success = null, cost = null, gas = null] = [1, 2, 3].map((place) =>
      wordAt(event?.data ?? "0x", dataAt + 64 * place),
    );
    return success === null ? null : { success: success === 1n, cost, gas };
  }
  if (safe === undefined) return null;
  const event = logs.findLast(
    ({ address, topics: [kind, hash], data }) =>
      lower(address) === safe.safe &&
      kind !== undefined &&
      isExecution(kind) &&
      (hash ?? data).slice(0, safe.hash.length).toLowerCase() === safe.hash.toLowerCase(),
  );
  const kind = event?.topics[0];
  return kind === undefined ? null : { success: safeEvents[kind] === true, cost: null, gas: null };
};
