/** Why a call may have reverted that gave no reason, by what is known of it: said as likely, never as certain. Pure. */
import { functionsNamed } from "../../abi/decodeCall.js";
import { argumentsAt, wordDigits } from "../../abi/words.js";
import type { Verdict } from "../../errors/verdicts.js";
import { effectsIn } from "../../effects/effects.js";
import type { Address, Hex } from "../../primitives/hex.js";
import { isRecord } from "../../primitives/record.js";
import {
  address,
  count,
  statementOf,
  text,
  units,
  wei,
  type Figure,
  type Statement,
} from "../../primitives/statement.js";
import { instructionsIn } from "./blockReads.js";
import type { Facts } from "./answers.js";
import { successOf } from "./askResult.js";
import type { Ran } from "./bundle.js";
import { levelIn } from "./rightLevel.js";

/** The known facts of the failed call. */
interface Known {
  readonly entry: Ran;
  readonly bundle: ReadonlyArray<Ran>;
  readonly answers: Pick<Facts, "before" | "codes">;
  readonly to: Address;
  readonly selector: string;
}

interface Cause {
  readonly sentence: string;
  readonly numbers: ReadonlyArray<Figure | null>;
  readonly remedy: string;
}

const unpayable: ReadonlySet<unknown> = new Set(["view", "pure", "nonpayable"]);
const askedOf = (entry: Ran) => effectsIn([entry], "call")[0];
/** Functions of tokens that give rights; none of them takes native currency. */
const granting: ReadonlySet<string> = new Set(["0x095ea7b3", "0x39509351", "0xa457c2d7", "0xa22cb465"]);

/** Native currency for a function that takes none, by its ABI, or by what tokens have. */
const unpaid = ({ entry, selector, to }: Known): Cause | null => {
  const { item, value } = entry.input;
  if (value === 0n) return null;
  const isByAbi = isRecord(item) && unpayable.has(item["stateMutability"]);
  const name = isRecord(item) && typeof item["name"] === "string" ? item["name"] : null;
  const numbers = [text("function", name), wei("value", value), address("to", to)];
  if (isByAbi)
    return {
      sentence: "the call reverts: by its ABI the function is not payable",
      numbers,
      remedy: "leave `value` out, or call a payable function",
    };
  if (item === null && (granting.has(selector) || askedOf(entry)?.row.move !== undefined))
    return {
      sentence: "the call reverts, probably because the function is not payable",
      numbers: [text("function", functionsNamed(selector)[0]?.signature ?? null), ...numbers.slice(1)],
      remedy: "leave `value` out",
    };
  return null;
};

/** Less calldata than the arguments of its function take. */
const cut = ({ entry: { input }, selector }: Known): Cause | null => {
  const words = (input.data.length - argumentsAt) / wordDigits;
  const named = functionsNamed(selector);
  const needed = named.map(({ inputs }) => inputs.length);
  // why: a list or a tuple takes at least as many words as there are arguments
  const [first] = named;
  if (first === undefined || !needed.every((least) => words < least)) return null;
  return {
    sentence: "the call reverts, probably because an argument is missing",
    numbers: [
      text("function", first.signature),
      count("arguments", Math.floor(words)),
      count("needed", Math.min(...needed)),
    ],
    remedy: "encode every argument",
  };
};

/** An instruction that runs other code in the contract's own place: its functions may be there. */
const delegating: ReadonlyArray<number> = [0xf2, 0xf4];

/** A function, or a plain payment, for which the code has nothing. */
const absent = ({ entry: { input }, answers, selector, to }: Known): Cause | null => {
  const code = successOf(answers.codes.get(to))?.toLowerCase() ?? "0x";
  if (code === "0x" || code.startsWith("0xef01")) return null;
  const instructions = instructionsIn(code as Hex);
  if (delegating.some((instruction) => instructions.has(instruction))) return null;
  if (input.data === "0x")
    return {
      sentence: "the call reverts, probably because the contract takes no plain payments",
      numbers: [wei("value", input.value), address("to", to)],
      remedy: "call a function of the contract that is payable",
    };
  // why: compilers leave zeros in front of a selector out
  const digits = selector.startsWith("0x00") ? selector.slice(4) : selector.slice(2);
  return input.data.length < argumentsAt || code.includes(digits)
    ? null
    : {
        sentence: "the call reverts, probably because the contract has no function with this selector",
        numbers: [text("selector", selector), address("to", to)],
        remedy: "check the address and the ABI",
      };
};

/** An allowance that is not zero, raised or lowered: some tokens (USDT) take such a change by way of zero alone. */
const unreset = ({ entry, bundle, answers, to, selector }: Known): Cause | null => {
  const { input, index } = entry;
  const { from } = input;
  const [right] = askedOf(entry)?.rights ?? [];
  if (selector !== "0x095ea7b3" || right === undefined || right.claim === 0n) return null;
  const earlier = bundle.filter((other) => other.index < index);
  const last = effectsIn(earlier, "right").findLast(
    ({ keeper, owner, spender }) => keeper === right.keeper && owner === from && spender === right.spender,
  );
  const allowed = last?.claim ?? levelIn(answers.before, { ...right, open: null }).amount;
  if (allowed === null || allowed === 0n) return null;
  return {
    sentence: "the call reverts, probably because the token changes an allowance only from 0",
    numbers: [address("token", to), address("spender", right.spender), units("allowed", allowed)],
    remedy: "approve 0 first, then the amount",
  };
};

/** In the order in which they tell. */
const causes = [unpaid, cut, absent, unreset];

const isSilent = (failure: Verdict): boolean =>
  failure._tag === "ExecutionReverted" &&
  (failure.revert === null ? failure.data === "0x" : failure.revert.layers[0].layer._tag === "Empty");

/** The statement of a failure without a reason that has a likely cause; null where it has a reason, or none is likely. */
export const likelyCause = (
  entry: Ran,
  bundle: ReadonlyArray<Ran>,
  answers: Pick<Facts, "before" | "codes">,
): Statement | null => {
  const { outcome, input } = entry;
  const { to, data } = input;
  if (outcome.failure === null || to === null || !isSilent(outcome.failure)) return null;
  const known: Known = { entry, bundle, answers, to, selector: data.slice(0, argumentsAt).toLowerCase() };
  for (const causeOf of causes) {
    const cause = causeOf(known);
    if (cause !== null) return statementOf(cause.sentence, [...cause.numbers], cause.remedy);
  }
  return null;
};
