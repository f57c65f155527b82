/** Tokens that a call sends to their own contract, where hardly anybody can move them again. Pure. */
import { moves } from "../../abi/known/movements.js";
import { addressAt, argumentsAt, placeOf } from "../../abi/words.js";
import { address, count, units } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Transfer } from "../../report/parts.js";
import type { Ran } from "./bundle.js";
import type { Call } from "../../abi/batches.js";

const isToItself = ({ to, data }: Call): boolean => {
  const row = moves[data.slice(0, argumentsAt)];
  return row !== undefined && addressAt(data, placeOf(row.to)) === to;
};

/** What the calldata sends to the token itself and the token still has at the end: a pair that is paid to burn has not. */
export const checkStranded = (bundle: ReadonlyArray<Ran>, transfers: ReadonlyArray<Transfer>): ReadonlyArray<Finding> =>
  transfers
    .filter(({ token, from, to }) => token !== null && to === token && from !== token)
    .filter((transfer, index, all) => all.findIndex(({ token }) => token === transfer.token) === index)
    .flatMap(({ token, tokenId, transaction, evidence }) => {
      const kept = transfers
        .filter((other) => other.token === token && (other.to === token || other.from === token))
        .reduce((sum, { to, amount }) => (to === token ? sum + amount : sum - amount), 0n);
      const one = bundle[transaction];
      if (kept <= 0n || token === null || one === undefined || one.input.to === null) return [];
      return one.calls.read.some((call) => call.to === token && isToItself(call))
        ? [
            note(
              "TokensStranded",
              "warning",
              { transaction, evidence },
              ...[address("token", token), count("id", tokenId), units("amount", kept)],
            ),
          ]
        : [];
    });
