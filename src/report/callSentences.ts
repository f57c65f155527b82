/** Sentences of calls: the function and its arguments, told as what they are known by, and the calls inside. Pure. */
import { callText, type DecodedCall } from "../abi/calls.js";
import { escapeText } from "../primitives/text.js";
import { nativeForPeople, tokenForPeople, type Names } from "./amounts.js";
import { mostItems } from "./reason.js";
import type { Report } from "./schema.js";

/** Our own words as the beginning of a sentence. */
export const upper = (who: string): string =>
  who.startsWith("you") || who.startsWith("transaction ") ? `${who.slice(0, 1).toUpperCase()}${who.slice(1)}` : who;

/** Says of transactions without calldata whom they call, or that they create a contract. */
export const bareCalls = (
  own: ReadonlyArray<Report["transactions"][number]>,
  { names, verb }: { readonly names: Names; readonly verb: (base: string) => string },
): string => {
  const [first, ...more] = own;
  if (first === undefined || more.length > 0) return `${verb("make")} ${own.length} calls`;
  const { to } = first.input;
  if (to !== null) return `${verb("call")} ${names.party(to)}`;
  return `${verb("create")} a contract${first.code.creates === null ? "" : ` at ${names.short(first.code.creates)}`}`;
};

/** More than one sentence takes of a call, and of the calls inside it. */
const mostCall = 320;
const mostInside = 4;

const standards: Readonly<Record<string, string>> = { erc20: "ERC-20", erc721: "ERC-721", erc1155: "ERC-1155" };

const isMade = (type: string): boolean => type.startsWith("bytes") || type.startsWith("tuple");

/** Names the address that is called, by the symbol of a token. */
const calledText = (to: string, names: Names): string =>
  names.label(to) === null && names.token(to) !== null ? tokenForPeople(names, to) : names.party(to);

/** A call in a sentence: by the standard that its contract turned out to have, where several functions fit. */
const callSentence = (call: DecodedCall, names: Names): string => {
  const standard = names.standard(call.to ?? "") ?? "";
  const fitting = [call, ...call.others];
  const known = fitting.find(({ sources }) => sources.includes(standards[standard] ?? ""));
  const likely = known ?? call;
  const named = (address: string) => (names.isYou(address) ? "you" : calledText(address, names));
  const look = { address: named, items: 4, string: 40, bytes: 8 };
  const sources = known?.sources ?? fitting.flatMap((candidate) => candidate.sources);
  // why: what a batch is made of stands behind it, call by call
  const values = likely.arguments.map((argument) =>
    call.calls.length > 0 && isMade(argument.type) ? { ...argument, value: [], more: 1 } : argument,
  );
  const readable = { ...call, ...likely, others: [], sources: [...new Set(sources)], arguments: values };
  return escapeText(callText(readable, look) ?? "nothing", mostCall);
};

const insideText = (call: DecodedCall, names: Names): string => {
  const flat = (within: DecodedCall, above: string): ReadonlyArray<string> =>
    within.calls.flatMap((inner, index) => {
      const place = `${above}${index + 1}`;
      const amount = inner.value ? ` with ${nativeForPeople(inner.value, "none", names)}` : "";
      const whom = inner.to === null ? "" : `${inner.isDelegate ? "the code of " : ""}${calledText(inner.to, names)}`;
      const what = inner.size === 0 ? "" : callSentence(inner, names);
      const text = [`${whom}${amount}`.trim(), what].filter((part) => part !== "").join(": ");
      return [`${place} ${text}`, ...flat(inner, `${place}.`)];
    });
  const lines = flat(call, "");
  const rest = Math.max(0, lines.length - mostInside) + restOf(call);
  const first = lines.slice(0, mostInside).join("; ");
  return lines.length === 0 ? "" : ` Inside: ${first}${rest > 0 ? `; and ${rest} more` : ""}.`;
};
const restOf = ({ more, calls: inside }: DecodedCall): number => inside.reduce((sum, call) => sum + restOf(call), more);

/** Tells each transaction's call in a sentence, by its calldata; `still` = that nothing moves, where nothing does. */
export const callSentences = (report: Report, names: Names, isIf: boolean, still: string): ReadonlyArray<string> => {
  const { transactions } = report;
  const called = transactions.flatMap(({ call, input, code }, index) =>
    call === null || call.to === null ? [] : [{ call, to: call.to, input, code, index }],
  );
  const sentences = called.slice(0, mostItems).map(({ call, to, input, code, index }) => {
    const who = transactions.length === 1 ? names.who(input.from) : `transaction ${index + 1}`;
    const verb = isIf ? "would call" : who === "you" ? "call" : "calls";
    const how = transactions.length === 1 ? still : "";
    const where = code.to?.kind === "nobody" ? `, which is no contract${how === "" ? "" : ","}` : "";
    const text = callSentence(call, names);
    return `${upper(who)} ${verb} ${calledText(to, names)}${where}${how}: ${text}.${insideText(call, names)}`;
  });
  const rest = called.length - sentences.length;
  const others = `${rest} more ${rest === 1 ? "transaction calls" : "transactions call"} functions.`;
  return rest > 0 ? [...sentences, others] : sentences;
};
