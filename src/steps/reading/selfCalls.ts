/** Calls of accounts to themselves that name somebody. Pure. */
import { isBatch } from "../../abi/batches.js";
import { grants } from "../../abi/known/rights.js";
import { addressOf, argumentsAt, wordsFrom } from "../../abi/words.js";
import { type Address, lower } from "../../primitives/hex.js";
import type { Ran } from "./bundle.js";
import type { Control } from "./control.js";
import { isAccount } from "./stateWords.js";

const most = 2n ** 256n - 1n;
/** Whether a word may be a key or its hash: a text and a selector end in zeros, and numbers begin with them. */
const isKey = (word: bigint): boolean => word >> 224n !== 0n && word % (1n << 32n) !== 0n && word !== most;

/** Calls of a sender's account to itself, or of a Safe's, that name somebody: who may act for it is kept in no known place. */
export const selfCallsIn = (
  { input, index, calls, outcome }: Ran,
  controls: ReadonlyArray<Control>,
  own: ReadonlySet<Address>,
): ReadonlyArray<{ readonly account: Address; readonly word: bigint; readonly transaction: number }> =>
  outcome.status !== "success"
    ? []
    : calls.read.flatMap(({ from, to, data, as }) => {
        const account = lower(to);
        const isSelf = as === undefined && lower(from) === account && own.has(account);
        const isKnown = isBatch(data) || grants[data.slice(0, argumentsAt)] !== undefined;
        if (!isSelf || isKnown || controls.some((one) => one.contract === account && one.transaction === index))
          return [];
        const word = wordsFrom(data, argumentsAt).find((each) =>
          each >> 160n === 0n
            ? isAccount(each) && ![account, lower(input.from)].includes(addressOf(each))
            : isKey(each),
        );
        return word === undefined ? [] : [{ account, word, transaction: index }];
      });
