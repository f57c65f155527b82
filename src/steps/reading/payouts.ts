/** Calls that hand over what their sender has in a contract, or will earn there. Pure. */
import { payouts } from "../../abi/known/rights.js";
import { withdrawn } from "../../abi/known/movements.js";
import { addressAt, argumentsAt, eventOf, type Log, nobody, placeOf, valuesOf } from "../../abi/words.js";
import { type Address, lower } from "../../primitives/hex.js";
import { address } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import { ownAccounts, type Ran } from "./bundle.js";
import { calledAsSafes } from "./delegateCalls.js";

/** Whether a log says that a deposit of `from` is paid out to `receiver`. */
const isOf = (log: Log, from: Address, receiver: Address): boolean => {
  const [had, has] = valuesOf(log, 2);
  return eventOf(log) === withdrawn && had === BigInt(from) && has === BigInt(receiver);
};

/** What goes from senders, and Safes that execute, to somebody who is neither, nor called in the bundle. */
export const checkPayouts = (bundle: ReadonlyArray<Ran>): ReadonlyArray<Finding> => {
  const own = new Set([...ownAccounts(bundle), ...calledAsSafes(bundle)]);
  // why: a router that is called goes on with what it gets
  const called = new Set(bundle.flatMap(({ calls }) => calls.read.map(({ to }) => lower(to))));
  return bundle.flatMap(({ index, outcome, calls }) =>
    outcome.status !== "success"
      ? []
      : calls.read.flatMap(({ from, to, data }) => {
          const place = payouts[data.slice(0, argumentsAt)];
          const receiver = place === undefined ? null : addressAt(data, placeOf(place));
          if (receiver === null || receiver === nobody || !own.has(lower(from))) return [];
          if (own.has(receiver) || called.has(receiver)) return [];
          // why: a deposit that is paid out is told by its event, and shown
          if (outcome.logs.some((log) => lower(log.address) === lower(to) && isOf(log, lower(from), receiver)))
            return [];
          const parties = [address("contract", to), address("of", from), address("to", receiver)];
          return [note("PaidToOther", "warning", { transaction: index, evidence: "estimated" }, ...parties)];
        }),
  );
};
