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
interface FailureFacts {
  readonly entry: Ran;
  readonly bundle: ReadonlyArray<Ran>;
  readonly answers: Pick<Facts, "before" | "codes">;
  readonly to: Address;
  readonly selector: string;
}

const probably = (why: string, remedy: string, ...numbers: ReadonlyArray<Figure | null>): Statement =>
  statementOf(`the call reverts, probably because ${why}`, numbers, remedy);

const unpayable: ReadonlySet<unknown> = new Set(["view", "pure", "nonpayable"]);
const askedOf = (entry: Ran) => effectsIn([entry], "call")[0];
/** Functions of tokens that give rights; none of them takes native currency. */
const granting: ReadonlySet<string> = new Set(["0x095ea7b3", "0x39509351", "0xa457c2d7", "0xa22cb465"]);

/** Native currency for a function that takes none, by its ABI, or by what tokens have. */
const unpaid = ({ entry, selector, to }: FailureFacts): Statement | null => {
  const { item, value } = entry.input;
  if (value === 0n) return null;
  const paid = [wei("value", value), address("to", to)];
  const name = isRecord(item) && typeof item["name"] === "string" ? item["name"] : null;
  if (isRecord(item) && unpayable.has(item["stateMutability"])) {
    const why = "the call reverts: by its ABI the function is not payable";
    return statementOf(why, [text("function", name), ...paid], "leave `value` out, or call a payable function");
  }
  const signature = functionsNamed(selector)[0]?.signature ?? null;
  return item === null && (granting.has(selector) || askedOf(entry)?.row.move !== undefined)
    ? probably("the function is not payable", "leave `value` out", text("function", signature), ...paid)
    : null;
};

/** Less calldata than the arguments of its function take. */
const cut = ({ entry: { input }, selector }: FailureFacts): Statement | null => {
  const words = (input.data.length - argumentsAt) / wordDigits;
  const named = functionsNamed(selector);
  const needed = named.map(({ inputs }) => inputs.length);
  // why: a list or a tuple takes at least as many words as there are arguments
  const [first] = named;
  if (first === undefined || !needed.every((least) => words < least)) return null;
  const counts = [count("arguments", Math.floor(words)), count("needed", Math.min(...needed))];
  return probably("an argument is missing", "encode every argument", text("function", first.signature), ...counts);
};

/** An instruction that runs other code in the contract's own place: its functions may be there. */
const delegating: ReadonlyArray<number> = [0xf2, 0xf4];

/** A function, or a plain payment, for which the code has nothing. */
const absent = ({ entry: { input }, answers, selector, to }: FailureFacts): Statement | null => {
  const code = successOf(answers.codes.get(to))?.toLowerCase() ?? "0x";
  if (code === "0x" || code.startsWith("0xef01")) return null;
  const instructions = instructionsIn(code as Hex);
  if (delegating.some((instruction) => instructions.has(instruction))) return null;
  if (input.data === "0x") {
    const remedy = "call a function of the contract that is payable";
    return probably("the contract takes no plain payments", remedy, wei("value", input.value), address("to", to));
  }
  // why: compilers leave zeros in front of a selector out
  const digits = selector.startsWith("0x00") ? selector.slice(4) : selector.slice(2);
  if (input.data.length < argumentsAt || code.includes(digits)) return null;
  const numbers = [text("selector", selector), address("to", to)];
  return probably("the contract has no function with this selector", "check the address and the ABI", ...numbers);
};

/** An allowance that is not zero, raised or lowered: some tokens (USDT) take such a change by way of zero alone. */
const unreset = ({ entry, bundle, answers, to, selector }: FailureFacts): Statement | null => {
  const { input, index } = entry;
  const [right] = askedOf(entry)?.rights ?? [];
  if (selector !== "0x095ea7b3" || right === undefined || right.claim === 0n) return null;
  const earlier = bundle.filter((other) => other.index < index);
  const last = effectsIn(earlier, "right").findLast(
    ({ keeper, owner, spender }) => keeper === right.keeper && owner === input.from && spender === right.spender,
  );
  const allowed = last?.claim ?? levelIn(answers.before, { ...right, open: null }).amount;
  if (allowed === null || allowed === 0n) return null;
  const numbers = [address("token", to), address("spender", right.spender), units("allowed", allowed)];
  return probably("the token changes an allowance only from 0", "approve 0 first, then the amount", ...numbers);
};

/** In the order in which they tell. */
const causes = [unpaid, cut, absent, unreset];

const isSilent = (failure: Verdict): boolean =>
  failure._tag === "ExecutionReverted" &&
  (failure.revert === null ? failure.data === "0x" : failure.revert.layers[0].layer._tag === "Empty");

/** The statement of a failure without a reason that has a likely cause; null where it has a reason, or none is likely. */
export const likelyCause = (entry: Ran, bundle: ReadonlyArray<Ran>, answers: Pick<Facts, "before" | "codes">) => {
  const { outcome, input } = entry;
  const { to, data } = input;
  if (outcome.failure === null || to === null || !isSilent(outcome.failure)) return null;
  const known: FailureFacts = { entry, bundle, answers, to, selector: data.slice(0, argumentsAt).toLowerCase() };
  return causes.map((causeOf) => causeOf(known)).find((cause) => cause !== null) ?? null;
};
