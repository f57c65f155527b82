/**
 * The caller's own sources of names and descriptors, asked beside the rounds of a run, never in front of them, and cut at the
 * end of the last one.
 */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import type { Abi } from "abitype";
import { indexAbis, selectorOf } from "../abi/abiIndex.js";
import { callIn, namedFunctions, type DecodedCall, type DecodedFunction } from "../abi/calls.js";
import { asKnownAbi } from "../abi/encode.js";
import { innerCalls, type InnerCallList } from "../abi/innerCalls.js";
import type { DecodedArgument } from "../abi/values.js";
import { dataOf } from "../primitives/copy.js";
import { inNextTurn } from "../primitives/effects.js";
import { isAddress, type Address } from "../primitives/hex.js";
import { withJson } from "../primitives/json.js";
import { isRecord, safely } from "../primitives/record.js";
import { escapeText, isIdentifier, shownDecimals } from "../primitives/text.js";
import { collectionsIn, rolesOf } from "../report/amounts.js";
import { checkDescriptors, type Described, type DescribedParts } from "../report/descriptors.js";
import type { ReportNames } from "../report/names.js";
import { abisOf } from "../report/options.js";
import type { Report, ReportOptions } from "../report/schema.js";
import { CurrentRun, Rpc } from "../rpc/index.js";
import type { Transaction } from "../transaction/fields.js";
import { CurrentSources, type NameContext, type NamedParts, type NameSources } from "./sources.js";
import type { SourceKind, SourceOptions } from "./sources.js";

/** Bounds: addresses or selectors of one kind; characters of names, of a signature and of an ABI; signatures of a selector, fields of a call. */
const most = { asked: 64, name: 64, signature: 512, abi: 262_144, signatures: 8, fields: 32, words: 256 } as const;

const textIn = (value: unknown, limit: number = most.name): string | null =>
  typeof value === "string" && value.trim() !== "" ? escapeText(value.trim().slice(0, limit), limit) : null;

/** The items of an ABI; whoever looks one up leaves out what is not well-formed. */
const functionsIn = (abi: unknown): Abi =>
  Result.match(asKnownAbi(abi, ""), { onFailure: () => [], onSuccess: (items) => items as Abi });

/** Reads an answer, which may be anything; null where it says nothing. What throws here is left out like what throws there. */
const read = {
  abi: (answer: unknown): Abi | null => {
    const text = JSON.stringify(answer) ?? "";
    // why: a name that is none would put words of its own into the sentence of the call
    const named = (key: string, part: unknown) => (key === "name" && !isIdentifier(part) ? "" : part);
    return text.length > most.abi ? null : functionsIn(JSON.parse(text, named));
  },
  function: (answer: unknown): Abi => {
    const all: ReadonlyArray<unknown> = Array.isArray(answer) ? answer.slice(0, most.signatures) : [answer];
    return all.flatMap((text) =>
      typeof text === "string" && text.length <= most.signature
        ? functionsIn([text.startsWith("function ") ? text : `function ${text}`])
        : [],
    );
  },
  token: (answer: unknown) => {
    const { symbol, decimals } = isRecord(answer) ? { symbol: answer["symbol"], decimals: answer["decimals"] } : {};
    const isCount = typeof decimals === "number" && Number.isSafeInteger(decimals);
    return { symbol: textIn(symbol), decimals: shownDecimals({ decimals: isCount ? decimals : null }) };
  },
  label: (answer: unknown): string | null => textIn(answer),
};

const rawOf = (value: unknown): Described["fields"][number]["raw"] =>
  typeof value === "bigint" || isAddress(value) ? value : Number.isSafeInteger(value) ? BigInt(value as number) : null;

const describedIn = (answer: unknown): Described | "unread" | null => {
  if (answer === null || answer === undefined) return null;
  const copy = dataOf(answer);
  const { intent, interpolatedIntent, fields } = isRecord(copy) ? copy : {};
  const words = textIn(interpolatedIntent, most.words) ?? textIn(intent, most.words);
  if (words === null || !isRecord(fields)) return "unread";
  const rows = Object.entries(fields).slice(0, most.fields);
  return {
    intent: words,
    fields: rows.flatMap(([label, field]) => {
      const [name, value] = [textIn(label), isRecord(field) ? textIn(field["value"], most.words) : null];
      if (!isRecord(field) || name === null || value === null) return [];
      return [{ label: name, value, format: String(field["format"]), raw: rawOf(field["rawValue"]) }];
    }),
  };
};

/** A call that nothing names yet. */
interface Unnamed {
  readonly place: string;
  readonly to: string | null;
  readonly data: string;
}

/** The calls without a name, by the call as it was decoded and the same calls with their bytes. */
const unnamedIn = (
  call: DecodedCall,
  { calls }: Pick<InnerCallList, "calls">,
  { place, to, data }: Unnamed,
): ReadonlyArray<Unnamed> => [
  ...(call.function === null && call.selector.length === 10 ? [{ place, to, data }] : []),
  ...call.calls.flatMap((inner, at) => {
    const held = calls[at];
    return held === undefined
      ? []
      : unnamedIn(inner, held, { place: `${place}.${at + 1}`, to: held.to ?? to, data: held.data });
  }),
];

const unnamedOf = (
  { transactions }: Pick<NamedParts, "transactions">,
  options: ReportOptions,
): ReadonlyArray<Unnamed> =>
  transactions.flatMap(({ input: { to, data }, call }, index) =>
    call === null
      ? []
      : unnamedIn(call, innerCalls(data, abisOf(options), { address: to }), { place: `${index + 1}`, to, data }),
  );

const addressesOf = (values: ReadonlyArray<DecodedArgument>): ReadonlyArray<string> =>
  values.flatMap(({ value }) =>
    typeof value === "string" ? (isAddress(value) ? [value] : []) : Array.isArray(value) ? addressesOf(value) : [],
  );
const addressesIn = ({ arguments: values, calls, to }: DecodedCall): ReadonlyArray<string> => [
  ...(to === null ? [] : [to]),
  ...addressesOf(values),
  ...calls.flatMap(addressesIn),
];

/** Runs a function of the caller's; `take` gets what it answers, and nobody waits for it. */
const hear = (ask: () => unknown, take: (answer: unknown) => void, fail: () => void = () => undefined): void =>
  // why: a promise takes both what is thrown and what is rejected
  void new Promise((resolve) => resolve(ask())).then(take).catch(fail);

/** Answers by kind, and by address or selector; null = asked, and nothing known. */
type Answers = { readonly [K in SourceKind]: Map<string, ReturnType<(typeof read)[K]> | null> };

/** The functions of an earlier report, as their selectors name them; a place may be another call's by now. */
const functionsOf = (earlier: ReportNames | undefined): Answers["function"] => {
  const found: Answers["function"] = new Map();
  const rows =
    earlier?.calls.slice(0, most.asked).flatMap(({ functions }) => functions.slice(0, most.signatures)) ?? [];
  for (const { signature, arguments: values } of rows)
    safely(() => {
      const selector = selectorOf(signature ?? "");
      const items = read.function(signature).map((item) => {
        if (item.type !== "function") return item;
        return { ...item, inputs: item.inputs.map((input, at) => ({ ...input, name: values[at]?.name ?? "" })) };
      });
      found.set(selector, [...(found.get(selector) ?? []), ...items]);
    }, undefined);
  return found;
};

/** Tokens whose symbol or decimals nobody told. */
const unknownTokensIn = (seen: NamedParts): ReadonlyArray<string> => {
  const collections = collectionsIn(seen);
  return [...rolesOf(seen)].flatMap(([token, roles]) => {
    if (!roles.has("token")) return [];
    const { symbol, name, decimals } = seen.tokens.find((info) => info.token === token) ?? {};
    return (symbol ?? name) == null || (decimals == null && !collections.has(token)) ? [token] : [];
  });
};

/** The sources of names: asked for what is seen, each once for an address or a selector. */
const namesBy = (
  names: NameSources | null | undefined,
  options: ReportOptions,
  context: NameContext,
  earlier: ReportNames | undefined,
) => {
  const answers: Answers = {
    abi: new Map(),
    function: functionsOf(earlier),
    token: new Map(earlier?.tokens.map((row) => [row.token, row])),
    label: new Map(earlier?.labels.map((row) => [row.address, row.label])),
  };
  const known = new Set(answers.function.keys());
  let unnamed: ReadonlyArray<Unnamed> = [];
  const functionsFor = ({ to, data }: Unnamed): ReadonlyArray<DecodedFunction> => {
    const own = answers.abi.get(to?.toLowerCase() ?? "") ?? [];
    const others = answers.function.get(data.slice(0, 10).toLowerCase()) ?? [];
    const all = [own, others].map((abi) => namedFunctions(data, indexAbis([abi])));
    return all.find((fitting) => fitting.length > 0) ?? [];
  };
  const counts = { abi: 0, function: 0, token: 0, label: 0 };
  const askOne = <K extends SourceKind>(kind: K, key: string): void => {
    const source = names?.[kind];
    const found = answers[kind];
    if (source == null || found.has(key) || ++counts[kind] > most.asked) return;
    found.set(key, null);
    // the reader of a kind reads what its source answers
    hear(
      () => source(key as Address, context),
      (answer) => {
        found.set(key, answer == null ? null : (read[kind](answer) as ReturnType<(typeof read)[K]>));
        if (kind === "abi" || kind === "function") askWithin(key);
      },
    );
  };
  // why: who is named in a call is known once its function is
  const askWithin = (key: string): void => {
    const explained = unnamed.filter(
      ({ to, data }) => to?.toLowerCase() === key || data.slice(0, 10).toLowerCase() === key,
    );
    for (const account of addressesOf(explained.flatMap(functionsFor).flatMap((each) => each.arguments)))
      askOne("label", account.toLowerCase());
  };
  const ask = (seen: NamedParts): void => {
    if (names == null) return;
    unnamed = unnamedOf(seen, options);
    for (const { to, data } of unnamed) {
      const selector = data.slice(0, 10).toLowerCase();
      if (to !== null && !known.has(selector)) askOne("abi", to.toLowerCase());
      askOne("function", selector);
    }
    for (const token of unknownTokensIn(seen)) askOne("token", token);
    const called = seen.transactions.flatMap(({ call }) => (call === null ? [] : addressesIn(call)));
    for (const address of [...rolesOf(seen).keys(), ...called]) askOne("label", address.toLowerCase());
  };
  const sorted = <K extends SourceKind>(kind: K) => [...answers[kind]].sort(([a], [b]) => (a < b ? -1 : 1));
  const named = (report: Report): Omit<ReportNames, "described"> => ({
    labels: sorted("label").flatMap(([address, label]) =>
      label === null ? [] : [{ address: address as Address, label }],
    ),
    tokens: sorted("token").flatMap(([token, info]) =>
      info === null || (info.symbol === null && info.decimals === null)
        ? []
        : [{ token: token as Address, symbol: info.symbol, decimals: info.decimals }],
    ),
    calls: unnamedOf(report, options).flatMap((call) => {
      const functions = functionsFor(call);
      return functions.length === 0 ? [] : [{ place: call.place, functions }];
    }),
  });
  return { ask, named };
};

/** The renderer of descriptors: asked for each call once; `judged`: the words so far, which from then on are those that are told. */
const wordsBy = (
  descriptors: SourceOptions["descriptors"],
  inputs: ReadonlyArray<Transaction>,
  { chainId }: NameContext,
) => {
  const described: Array<Described | "unread" | null> = inputs.map(({ to, data }) =>
    descriptors == null || to === null || data === "0x" ? null : "unread",
  );
  // why: an answer that comes after the last judgement was compared with nothing, and is told nowhere
  let judged: typeof described = [];
  const ask = (): void =>
    inputs.forEach(({ from, to, data, value }, at) => {
      if (descriptors == null || to === null || described[at] === null) return;
      hear(
        () => descriptors({ from, to, data, value, chainId }),
        (answer) => (described[at] = describedIn(answer)),
      );
    });
  const told = (): ReportNames["described"] =>
    judged.flatMap((words, transaction) => {
      if (words === null || words === "unread") return [];
      const fields = words.fields.map(({ label, value }) => ({ label, value }));
      return [{ transaction, intent: words.intent, fields }];
    });
  return { ask, judged: () => (judged = [...described]), told };
};

const collectorOf = (
  { names, descriptors }: SourceOptions,
  inputs: ReadonlyArray<Transaction>,
  options: ReportOptions,
  context: NameContext,
  earlier: ReportNames | undefined,
) => {
  const naming = namesBy(names, options, context, earlier);
  const words = wordsBy(descriptors, inputs, context);
  const begin = (): void => {
    words.ask();
    const transactions = inputs.map((input) => {
      const { to: address, data, value, item } = input;
      const call = names == null || address === null ? null : callIn(data, abisOf(options), { address, value, item });
      return { input, call };
    });
    naming.ask({ transactions, transfers: [], approvals: [], tokens: [], exposure: null, balanceChanges: [] });
  };
  /** Adds what was answered so far. */
  const named = <R extends Report>(report: R): R => {
    const all: ReportNames = { ...naming.named(report), described: words.told() };
    return Object.values(all).every((rows) => rows.length === 0) ? report : withJson({ ...report, names: all });
  };
  const intents = () => {
    const judged = words.judged();
    return (measured: DescribedParts) => checkDescriptors(measured, judged);
  };
  const heard = Effect.promise(() => new Promise<void>(inNextTurn));
  return { ask: naming.ask, begin, named, intents, heard };
};

/** The parts of a prepared run that its sources are asked by. */
interface Asking {
  readonly sources: SourceOptions;
  readonly bundle: ReadonlyArray<{ readonly input: Transaction }>;
  readonly options: ReportOptions;
}

/** Runs with the caller's sources asked beside, and adds their answers to the report; `earlier`: those of the report that is proven. */
export const withSources = <A extends Report, E, R>(
  { sources, bundle, options }: Asking,
  run: Effect.Effect<A, E, R>,
  earlier?: ReportNames,
): Effect.Effect<A, E, R | Rpc> =>
  Effect.gen(function* () {
    const { memory } = yield* Rpc;
    const inputs = bundle.map(({ input }) => input);
    const { signal } = yield* CurrentRun;
    const chainId = inputs[0]?.chainId ?? memory.recall("chainId");
    const context = { chainId, signal: signal ?? new AbortController().signal };
    const collector = collectorOf(sources, inputs, options, context, earlier);
    // why: requests to the node go out first
    yield* Effect.forkDetach(Effect.sync(collector.begin));
    const report = yield* Effect.provideService(run, CurrentSources, collector);
    yield* collector.heard;
    return collector.named(report);
  });
