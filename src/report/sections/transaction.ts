/** One transaction of the bundle: what it is, what it would do, what to sign; and whether it can be paid. */
import { callText, innerLines, type DecodedCall, type CallLook } from "../../abi/calls.js";
import { eventByTopic } from "../../abi/decodeCall.js";
import { describeResult, describeRevert, sizeOf } from "../../abi/print.js";
import { isNobody } from "../../abi/words.js";
import { checksummed, escapeText } from "../../primitives/text.js";
import { type Currency, formatGas, formatGasPrice, formatWei, grouped } from "../../primitives/units.js";
import type { Authorization, UnsignedAuthorization } from "../../transaction/fields.js";
import { hasUnsigned } from "../../transaction/request.js";
import type { CallFrame } from "../beside.js";
import type { AccountCode, By, Fee, Funds, Gas, Nonce, Outcome } from "../parts.js";
import {
  dim,
  fact,
  facts,
  factsSection,
  joined,
  known,
  left,
  right,
  section,
  table,
  type Block,
  type Fact,
  type Section,
  type Shown,
} from "../document.js";
import type { Report, Request, TransactionReport } from "../schema.js";
import { fiatText, weiText, type RenderOptions } from "../amounts.js";

/** How native amounts are written. */
interface Money {
  readonly currency: Currency;
  readonly price?: RenderOptions["price"];
}

const moneyText = (wei: bigint, { currency, price }: Money): string =>
  `${weiText(wei, currency)}${fiatText(wei, price, currency)}`;

const kindText = ({ kind, delegate, delegateHasCode }: AccountCode): string => {
  const to = known(delegate, checksummed) ?? "an unknown delegate";
  const isEmpty = delegateHasCode === false ? "the delegate has no code" : null;
  const texts: Readonly<Record<AccountCode["kind"], string>> = {
    ...{ contract: "contract", precompile: "precompile", nobody: "account, no contract", unknown: "code not known" },
    delegated: joined(`account delegated to ${to} (EIP-7702)`, isEmpty),
  };
  return texts[kind];
};

/** Longer than any sentence of our own. */
const maxText = 600;

const outcomeText = ({ status, revert, failure }: Outcome): Pick<Fact, "text" | "tone"> => {
  const why = known(failure, ({ statement }) => escapeText(statement.sentence, maxText));
  const text = revert === null ? "no data to read" : describeRevert(revert, { sources: true });
  if (status === "success") return { text: "success", tone: "good" };
  if (status === "reverted") return { text: `reverted with ${text}`, tone: "bad" };
  if (status === "halted") return { text: joined("halted", why), tone: "bad" };
  return { text: joined("not simulated", why), tone: "warn" };
};

/** The event's name: by an ABI, else by nothing but its topic. */
const eventName = ({ decoded, ...log }: Outcome["logs"][number]): string =>
  decoded === null ? (eventByTopic(log) ?? "undecoded") : escapeText(decoded.name, 60);

const eventsText = (outcome: Outcome): string | null => {
  if (outcome.logs.length === 0) return null;
  const counts = new Map<string, number>();
  // why: of thousands, most are of one kind, and what an ABI explains is decoded already
  const byTopics = new Map<string, string>();
  for (const log of outcome.logs) {
    const kind = log.decoded === null ? `${log.topics[0]}/${log.topics.length}/${log.data.length}` : null;
    const name = (kind === null ? undefined : byTopics.get(kind)) ?? eventName(log);
    if (kind !== null) byTopics.set(kind, name);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const names = [...counts].slice(0, 12).map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
  const rest = counts.size - names.length;
  return `${outcome.logs.length}: ${names.join(", ")}${rest > 0 ? ` and ${rest} more kinds` : ""}`;
};

const chosenBy: Readonly<Record<By, string>> = {
  caller: " (fixed by the caller)",
  reserved: " (reserved)",
  us: "",
};

const gasText = (gas: Gas): string =>
  joined(
    known(gas.limit, (limit) => `limit ${grouped(limit)}${chosenBy[gas.by]}`) ?? "limit not known",
    known(gas.used, (used) => `used ${grouped(used)}`),
    known(gas.peak === gas.used ? null : gas.peak, (peak) => `${grouped(peak)} before refunds`),
    known(gas.estimate, (estimate) => `estimate ${grouped(estimate)}`),
    known(gas.refusal, ({ statement }) => `no estimate: ${escapeText(statement.sentence, maxText)}`),
    known(gas.cap, (cap) => `one transaction may have ${grouped(cap)}`),
  );

const nonceText = (nonce: Nonce): string =>
  joined(
    known(nonce.value, (value) => `${value}${chosenBy[nonce.by]}`) ?? "not known",
    known(nonce.next === nonce.value ? null : nonce.next, (next) => `the node's next is ${next}`),
    known(nonce.latest === nonce.value ? null : nonce.latest, (latest) => `${latest} would be mined now`),
    nonce.inFlight === null || nonce.inFlight === 0 ? null : `${nonce.inFlight} waiting to be mined`,
    nonce.gap === null || nonce.gap === 0 ? null : `${nonce.gap} missing before it`,
  );

const tipSources: Readonly<Record<Fee["tipSource"], string>> = {
  caller: "the caller",
  feeHistory: "eth_feeHistory",
  receipts: "recent receipts",
  minimum: "the chain's minimum",
  unknown: "no source",
};

const feeText = (fee: Fee, { currency }: Money): string => {
  const price = (weiPerGas: bigint) => formatGasPrice(weiPerGas, currency);
  const cap =
    known(fee.gasPrice, (limit) => `gas price ${price(limit)}`) ??
    known(fee.maxFeePerGas, (limit) => `at most ${price(limit)}`);
  return joined(
    known(cap, (most) => `${most}${chosenBy[fee.by]}`) ?? "not known",
    known(fee.maxPriorityFeePerGas, (tip) => `tip ${price(tip)} (from ${tipSources[fee.tipSource]})`),
    known(fee.tipNamed, (tip) => `${price(tip)} named as a tip, more than is ever proposed`),
    known(fee.baseFeePerGas, (base) => `base fee ${price(base)}`),
    known(fee.horizonSeconds, (seconds) => `still enough after ${seconds} s of full blocks`),
  );
};

const prices = ["gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "maxFeePerBlobGas"] as const;

/** The request in one line, every field with its exact value. */
const requestText = (request: Request, money: Money): string =>
  joined(
    `type ${request.type}`,
    `chain ${request.chainId}`,
    `nonce ${request.nonce}`,
    `gas ${request.gas}`,
    ...prices.map((name) => known(request[name] ?? null, (price) => `${name} ${price} wei`)),
    request.to === undefined ? "deployment" : `to ${checksummed(request.to)}`,
    `value ${weiText(request.value, money.currency)}`,
    `data ${(request.data.length - 2) >> 1} bytes`,
    request.accessList === undefined ? null : `${request.accessList.length} access list entries`,
    request.authorizationList === undefined ? null : `${request.authorizationList.length} authorisations`,
    hasUnsigned({ authorizationList: request.authorizationList ?? null }) ? "not all of them signed yet" : null,
    request.blobVersionedHashes === undefined ? null : `${request.blobVersionedHashes.length} blobs`,
  );

/** Shows what is to be signed, a line for each request; nothing where it is not to be. */
export const requestsSection = ({ verdict, transactions }: Report, money: Money): ReadonlyArray<Section> => {
  if (verdict === "blocked" || verdict === "unknown") return [];
  const requests = transactions.map(({ request }, index) => {
    const label = transactions.length === 1 ? "request" : `request ${index + 1}`;
    return request === null ? null : fact(label, requestText(request, money));
  });
  return factsSection("To sign", ...requests);
};

/** Says what the transaction is, in two words for its title. */
const nature = ({ input, code }: TransactionReport): string => {
  if (input.to === null) return "deployment";
  if (input.data.length === 2) return input.value === 0n ? "empty call" : "transfer";
  return code.to?.kind === "nobody" ? "data to an account without a contract" : "call";
};

/** A call, and the calls inside it below. */
export const callFacts = (call: DecodedCall, look: CallLook): ReadonlyArray<Fact> => [
  ...[callText(call, look.look)].flatMap((text) => (text === null ? [] : { label: "call", text })),
  ...innerLines(call, look).map(({ indent, place, text }) => ({ label: `${indent}${place}`, text })),
];

/** A call of a trace, and the calls inside it below: `0.1.2` is the second within the first of the transaction's own. */
const frameFacts = (frame: CallFrame, money: Money, look: CallLook["look"], place = "0"): ReadonlyArray<Fact> => {
  const { kind, contract, value, gasUsed, reason, isCause, calls, more } = frame;
  const text = joined(
    kind === "call" ? null : kind,
    known(contract, look?.address ?? checksummed),
    known(frame.function, escapeText),
    value === 0n ? null : moneyText(value, money),
    known(gasUsed, formatGas),
    known(reason, (why) => `${isCause ? "FAILED" : "failed"}: ${escapeText(why, maxText)}`),
  );
  return [
    { label: place, text, tone: reason === null ? "plain" : isCause ? "bad" : "warn" },
    ...calls.flatMap((inner, index) => frameFacts(inner, money, look, `  ${place}.${index + 1}`)),
    ...(more === 0 ? [] : [{ label: `  ${place}.…`, text: `${more} more, not shown` }]),
  ];
};

/** The calls of each transaction as a tracer showed them. */
export const traceSections = ({ transactions }: Report, money: Money, { look }: CallLook): ReadonlyArray<Section> =>
  transactions.flatMap(({ outcome: { trace } }, index) => {
    const title = transactions.length === 1 ? "Trace" : `Trace of transaction ${index + 1}`;
    return factsSection(title, ...(trace === null ? [] : frameFacts(trace, money, look)));
  });

const delegationText = ({ address, chainId, nonce, ...entry }: Authorization | UnsignedAuthorization): string =>
  joined(
    "authority" in entry ? `${checksummed(entry.authority)}, not signed yet` : null,
    isNobody(address) ? "clears a delegation" : `to ${checksummed(address)}`,
    chainId === 0 ? "on every chain" : `on chain ${chainId}`,
    `account nonce ${nonce}`,
  );

/** `Transaction 1 of 2`, with everything that belongs to it alone. */
export const transactionSection = (
  transaction: TransactionReport,
  index: number,
  count: number,
  money: Money,
  look: CallLook,
): ReadonlyArray<Section> => {
  const { input, code, outcome, gas, nonce, fee, request, call } = transaction;
  const title = count === 1 ? "Transaction" : `Transaction ${index + 1} of ${count}`;
  const { text, tone } = outcomeText(outcome);
  return factsSection(
    `${title}: ${nature(transaction)}`,
    fact("from", joined(checksummed(input.from), kindText(code.from)), code.from),
    input.to === null
      ? fact("creates", known(code.creates, checksummed) ?? "an address not known yet")
      : fact("to", joined(checksummed(input.to), known(code.to, kindText)), code.to ?? {}),
    ...(call === null ? [] : callFacts(call, look)),
    input.to === null ? fact("initcode", `${sizeOf(input.data)} bytes`) : null,
    fact("value", moneyText(input.value, money)),
    ...(input.authorizationList ?? [])
      .slice(0, 8)
      .map((delegation) => fact("delegates", delegationText(delegation), { tone: "warn" })),
    fact("outcome", text, { tone, evidence: outcome.evidence }),
    fact("returns", known(outcome.result, describeResult)),
    fact("events", eventsText(outcome)),
    fact("gas", gasText(gas), gas),
    fact("nonce", nonceText(nonce), nonce),
    fact("fee", feeText(fee, money), fee),
    request === null
      ? fact("request", "none: a field of it is not known", { tone: "warn" })
      : fact("request", requestText(request, money)),
  );
};

/** The calls that were simulated for signatures: nobody sends them. */
export const carriersSection = ({ carriers, signings }: Report, look: CallLook): ReadonlyArray<Section> =>
  carriers.flatMap(({ input, call, outcome }, index) => {
    if (signings[input.origin?.signing ?? -1]?.assumed == null) return [];
    const { text, tone } = outcomeText(outcome);
    return factsSection(
      carriers.length === 1
        ? "Simulated for the signature"
        : `Simulated for the signatures: ${index + 1} of ${carriers.length}`,
      fact("from", checksummed(input.from)),
      fact("to", known(input.to, checksummed)),
      ...(call === null ? [] : callFacts(call, look)),
      fact("outcome", text, { tone, evidence: outcome.evidence }),
      fact("events", eventsText(outcome)),
    );
  });

const termNames: Readonly<Record<Funds["terms"][number]["name"], string>> = {
  value: "value",
  gas: "gas limit × max fee",
  blobGas: "blob gas × max blob fee",
  l1Fee: "L1 data fee, with room to rise",
  operatorFee: "operator fee",
  received: "received earlier in the bundle",
  spent: "spent by the calls",
};

const fundsBlocks = (funds: Funds, bundle: boolean, money: Money): ReadonlyArray<Block> => {
  const wei = (amount: bigint | null): string => known(amount, (some) => moneyText(some, money)) ?? "not known";
  const place: Shown<Funds["terms"][number]> = [left("tx"), ({ transaction }) => `tx ${transaction + 1}`];
  const paid = funds.terms.some(({ name }) => name === "received") ? ", beside what the bundle itself brings in" : "";
  const { account, balance, required, expected, shortfall } = funds;
  return [
    ...facts(
      fact("account", checksummed(account), funds),
      fact("there is", wei(balance)),
      fact("at most", `${wei(required)}${required === null ? "" : paid}`),
      fact("likely", wei(expected)),
      shortfall === 0n
        ? fact("missing", "none", { tone: "good" })
        : fact("missing", wei(shortfall), { tone: shortfall === null ? "warn" : "bad" }),
    ),
    ...table<Funds["terms"][number]>(funds.terms, [
      ...(bundle ? [place] : []),
      [left("for"), ({ name }) => termNames[name]],
      [right("amount"), ({ amount }) => formatWei(amount, money.currency)],
      [right("exact"), ({ amount }) => dim(`${amount} wei`)],
    ]),
  ];
};

/** Each payer's sum, term by term. */
export const fundsSection = (report: Report, money: Money): ReadonlyArray<Section> =>
  section(
    "Funds",
    report.funds.flatMap((funds) => fundsBlocks(funds, report.transactions.length > 1, money)),
  );
