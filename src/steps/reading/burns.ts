/** Tokens that a call hands to an address that nobody controls, as asked for in its calldata and told by the token's event. Pure. */
import { moves } from "../../abi/known/movements.js";
import { addressAt, argumentsAt, isBurning, placeOf } from "../../abi/words.js";
import { address, count, units } from "../../primitives/statement.js";
import { note, type Finding } from "../../report/finding.js";
import type { Ran } from "./bundle.js";

/**
 * A warning for each token that is burned so. A contract that destroys what it is given back, such as a pool's share, is
 * no such thing: there nobody names the receiver.
 */
export const burns = ({ index, calls, transfers, outcome }: Ran): ReadonlyArray<Finding> =>
  calls.read.flatMap(({ to, data }) => {
    const row = moves[data.slice(0, argumentsAt).toLowerCase()];
    const receiver = row === undefined ? null : addressAt(data, placeOf(row.to));
    if (receiver === null || !isBurning(receiver)) return [];
    const told = transfers.find((one) => one.token === to && one.to === receiver);
    if (told === undefined) return [];
    const { standard, token, tokenId, amount } = told;
    return [
      note(
        "ValueBurned",
        "warning",
        { transaction: index, evidence: outcome.evidence },
        ...[address("token", token), tokenId === null ? null : count("id", tokenId)],
        standard === "erc721" ? null : units("amount", amount),
        address("to", receiver),
      ),
    ];
  });
