/** Tokens that a call sends to their own contract, where hardly anybody can move them again. Pure. */
import { address, count, units } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Transfer } from "../../report/parts.js";
import { addressOf } from "./approvalLogs.js";
import type { Ran } from "./bundle.js";
import type { Call } from "../../abi/batches.js";

/** Which argument of a transfer is the receiver. */
const receivers: Readonly<Record<string, number>> = {
  // transfer(address,uint256), ERC-6909 transfer(address,uint256,uint256)
  ...{ "0xa9059cbb": 0, "0x095bcdb6": 0 },
  // transferFrom(address,address,uint256), ERC-6909 transferFrom(address,address,uint256,uint256)
  ...{ "0x23b872dd": 1, "0xfe99049a": 1 },
  // safeTransferFrom of ERC-721, with and without data, and of ERC-1155
  ...{ "0x42842e0e": 1, "0xb88d4fde": 1, "0xf242432a": 1 },
};

const isToItself = ({ to, data }: Call): boolean => {
  const at = receivers[data.slice(0, 10)];
  const word = at === undefined ? "" : data.slice(10 + at * 64, 74 + at * 64);
  return word.length === 64 && addressOf(BigInt(`0x${word}`)) === to;
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
