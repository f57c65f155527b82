/** Contracts whose `balanceOf` is a deposit in native currency: no token, though it answers as one. Pure. */
import { eventOf, valuesOf, addressOf } from "../../abi/words.js";
import { keeping, withdrawn } from "../../abi/known/others.js";
import type { Address } from "../../primitives/hex.js";
import type { OutcomeLog } from "../../report/parts.js";
import type { Ran } from "./bundle.js";
import { tellsOfMovement } from "./transferLogs.js";

/** Whether a sender's deposit goes to somebody else. */
const isPaidAway = (log: OutcomeLog, senders: ReadonlySet<string>): boolean => {
  const [account = 0n, to = 0n] = valuesOf(log, 2);
  return eventOf(log) === withdrawn && senders.has(addressOf(account)) && !senders.has(addressOf(to));
};

/**
 * The contracts that keep deposits, by events in their own name. Whoever tells of a token's movements is a token, and one
 * that pays a sender's deposit to somebody else is looked at as one, for nothing else tells of that loss.
 */
export const depositsIn = (bundle: ReadonlyArray<Ran>): ReadonlySet<Address> => {
  const senders = new Set(bundle.map(({ input }) => input.from.toLowerCase()));
  const found = new Set<Address>();
  const tokens = new Set<Address>();
  for (const { outcome } of bundle)
    for (const log of outcome.logs) {
      const kind = eventOf(log) ?? "";
      if (tellsOfMovement(kind) || isPaidAway(log, senders)) tokens.add(log.address);
      else if (keeping.has(kind)) found.add(log.address);
    }
  return new Set([...found].filter((contract) => !tokens.has(contract)));
};
