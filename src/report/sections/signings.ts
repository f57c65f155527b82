/** Signatures that a report is about, in words: what each is for, what it lets somebody take, who can use it, and until when. */
import { escapeText, quoteText, shortHex } from "../../primitives/text.js";
import { isNobody } from "../../abi/words.js";
import { isRecord, safely } from "../../primitives/record.js";
import type { Signing, SigningKind } from "../../signing/schema.js";
import { amountInSentence, dateText, type Names } from "../amounts.js";
import { fact, factsSection, joined, known, type Fact, type Section } from "../document.js";
import { roundingOf } from "../flows.js";
import { rightText, spenderText, type RenderSources } from "../stakes.js";
import type { Report } from "../schema.js";

/** As many as a sentence or a row holds. */
const most = 3;

/** The name of each kind of signature. */
const natures: Readonly<Record<SigningKind, string>> = {
  erc2612: "a permit of a token (ERC-2612), which works like an approval",
  dai: "a permit of a token in DAI's form, which works like an approval",
  erc4494: "a permit of an NFT (ERC-4494), which works like an approval",
  erc3009Transfer: "a payment of a token that anybody can submit (ERC-3009)",
  erc3009Receive: "a payment of a token that its receiver submits (ERC-3009)",
  erc3009Cancel: "the cancellation of a payment (ERC-3009)",
  permit2Single: "an approval by Permit2",
  permit2Batch: "several approvals by Permit2",
  permit2Transfer: "a transfer by Permit2",
  permit2BatchTransfer: "several transfers by Permit2",
  permit2Witness: "a transfer by Permit2, on terms that the spender's code alone reads",
  permit2BatchWitness: "several transfers by Permit2, on terms that the spender's code alone reads",
  seaport: "an order at Seaport",
  authorization: "an authorisation (EIP-7702): other code gets to act as the account",
  signIn: "a sign-in (ERC-4361)",
  safeTransaction: "an owner's approval of a Safe's transaction",
  safeMessage: "an owner's approval of a message of a Safe",
  userOperation: "a user operation of an account (ERC-4337)",
  unknown: "",
};

const unknownNatures: Readonly<Record<Signing["sign"]["kind"], string>> = {
  typedData: "typed data of a kind that is not known",
  message: "a message that may mean anything",
  authorization: "an authorisation (EIP-7702)",
  userOperation: "a user operation of an account (ERC-4337)",
  hash: "32 bytes, and nobody can see what they are the hash of",
};

/** Describes a signature in a few words. */
export const natureOf = ({ kind, sign }: Signing): string =>
  sign.kind === "authorization" && isNobody(sign.address)
    ? "an authorisation (EIP-7702) that takes the account's code away"
    : kind === "unknown"
      ? unknownNatures[sign.kind]
      : natures[kind];

/** The rights that outlast their signature, and end when they are revoked or at a time of their own. */
const rightKinds: ReadonlySet<SigningKind> = new Set([
  ...(["erc2612", "dai", "erc4494", "permit2Single", "permit2Batch"] as const),
]);

/** The kinds whose user decides who gets what is taken. */
const usersChoice: ReadonlySet<SigningKind> = new Set([
  ...(["permit2Transfer", "permit2BatchTransfer", "permit2Witness", "permit2BatchWitness"] as const),
]);

const userText = ({ usableBy }: Signing, nameOf: (address: string) => string): string | null =>
  known(usableBy, (user) => (user === "anyone" ? "whoever holds it" : `only ${nameOf(user)}`));

/** When account and paymaster take a user operation. */
const operationTimes = ({ validAfter, validUntil, validIn }: NonNullable<Signing["operation"]>): string => {
  if (validIn === null) return "once; in what time is not known";
  const at = (time: bigint): string => (validIn === "blocks" ? `block ${time}` : dateText(time));
  const bounds = [known(validAfter, (time) => `after ${at(time)}`), known(validUntil, (time) => `until ${at(time)}`)];
  return ["once", ...bounds.filter((bound) => bound !== null)].join(", ");
};

const timesText = ({ from, until, kind, nonce, operation }: Signing): string | null => {
  if (operation !== undefined) return operationTimes(operation);
  if (kind === "authorization") return `as long as the account's nonce is ${nonce?.value ?? "that of the message"}`;
  if (kind === "safeTransaction") return "once enough owners have signed, until another transaction has its nonce";
  const start = from === null || from === 0n ? null : `from ${dateText(from)}`;
  return [start, until === null ? "for ever" : `until ${dateText(until)}`].filter((part) => part !== null).join(" ");
};

/** True of a report about signatures alone: nothing is sent. */
export const isOnlySigned = ({ transactions, signings }: Report): boolean =>
  transactions.length === 0 && signings.length > 0;

/** Each signature in a sentence: what it is, who can use it, and until when. */
export const signingSentences = ({ signings }: Report, names: Names): ReadonlyArray<string> =>
  signings.slice(0, most).map((signing) => {
    const { account, sign } = signing;
    const of = account.toLowerCase() === sign.signer.toLowerCase() ? "" : ` for the account ${names.party(account)}`;
    const user = userText(signing, names.party);
    const use =
      user === null ? "" : ` ${user.slice(0, 1).toUpperCase()}${user.slice(1)} can use it ${timesText(signing)}.`;
    return `What is signed is ${natureOf(signing)}${of}.${use}`;
  });

const simulatedText: Readonly<Record<NonNullable<Signing["assumed"]>, string>> = {
  shim: "the call that uses it at its worst; the node took it for given, and no key has signed",
  equalCall: "the account's own call that does the same, in place of the signature",
  code: "a call to the account with that code set; no key has signed",
  approvals: "the Safe's execution, behind approvals of its owners that nobody has given",
};

/** How much Permit2 may take by the message, where that is more than there is. */
const permittedText = ({ sign, stand }: Signing, names: Names): string | null => {
  if (stand.taken === undefined || sign.kind !== "typedData") return null;
  const { message } = sign.typedData;
  const permitted = isRecord(message) ? message["permitted"] : null;
  const rows = (Array.isArray(permitted) ? permitted : [permitted]).flatMap((row: unknown) => {
    const { token, amount } = isRecord(row) ? row : {};
    return typeof token === "string" && typeof amount === "string" && /^\d{1,78}$/.test(amount)
      ? [amountInSentence(names, { token, tokenId: null }, BigInt(amount), "none")]
      : [];
  });
  return rows.length === 0 ? null : `up to ${rows.slice(0, most).join(" and ")}; there is less now`;
};

const rightsOf = ({ account }: Signing, { grants, names }: RenderSources): ReadonlyArray<string> =>
  grants.flatMap(({ approval, change }) => {
    if (approval.owner.toLowerCase() !== account.toLowerCase() || change === "back") return [];
    const right = rightText(approval, names, names.isYou(approval.owner) ? "your" : "its");
    return `${spenderText(approval, names.whole)} may ${right}`;
  });

const movementsOf = ({ account, sign }: Signing, { movements, names }: RenderSources): ReadonlyArray<string> =>
  sign.kind === "authorization"
    ? isNobody(sign.address)
      ? []
      : ["everything that the account holds, now and later"]
    : movements.flatMap((flow) => {
        if (flow.account !== account.toLowerCase() || flow.way === "in") return [];
        const party = flow.party === null ? "" : ` to ${names.whole(flow.party)}`;
        return `${amountInSentence(names, flow, flow.amount, roundingOf([flow], names))}${party}`;
      });

const nonceText = ({ nonce }: Signing): string | null =>
  known(nonce, ({ value, used }) =>
    joined(
      value < 10n ** 20n ? String(value) : `${String(value).slice(0, 8)}… (${String(value).length} digits)`,
      used === null ? "whether it is used is not known" : used ? "USED already" : "not used yet",
    ),
  );

/** The outcome of a user operation, and its cost. */
const operationFacts = ({ operation, account }: Signing, names: Names): ReadonlyArray<Fact | null> => {
  if (operation === undefined) return [];
  const { version, success, actualGasUsed, actualGasCost, prefund, payer, deposit } = operation;
  const amountOf = (amount: bigint) => amountInSentence(names, { token: null, tokenId: null }, amount, "none");
  const payerText = payer === account ? "the account" : `the paymaster ${names.labelled(payer)}`;
  const costText = known(actualGasCost, (cost) => `${amountOf(cost)} for ${actualGasUsed ?? "?"} gas`);
  return [
    fact("EntryPoint", `version ${version}`),
    fact("its calls", success === null ? null : success ? "succeed" : "FAIL", {
      tone: success === false ? "bad" : "plain",
    }),
    fact("costs", joined(costText, `at most ${amountOf(prefund)}`)),
    fact(
      "paid by",
      joined(
        payerText,
        known(deposit, (has) => `deposit ${amountOf(has)}`),
      ),
    ),
  ];
};
/** A Safe's owners, and who of them has to sign. */
const safeFacts = ({ safe }: Signing, names: Names): ReadonlyArray<Fact | null> => {
  if (safe === undefined) return [];
  const { version, threshold, owners, approved, missing, executor, guard, modules, queued } = safe;
  const list = (all: ReadonlyArray<string>) =>
    all.length === 0 ? "nobody" : joined(...all.slice(0, 6).map((one) => names.labelled(one)), more(all.length - 6));
  return [
    fact("safe", `version ${escapeText(version, 40)}, ${threshold} of ${owners.length} owners`),
    fact("has signed", list(approved)),
    fact("has to sign", list(missing)),
    fact("executed by", names.labelled(executor)),
    guard === null ? null : fact("guard", names.whole(guard)),
    modules.length === 0 ? null : fact("modules", list(modules), { tone: "warn" }),
    queued === 0n ? null : fact("in front", `${queued} transactions of the Safe's queue`, { tone: "warn" }),
  ];
};
const more = (count: number): string | null => (count > 0 ? `and ${count} more` : null);

/** The text of a message line by line, quoted; where it is none, its bytes. */
const messageFacts = ({ sign }: Signing): ReadonlyArray<Fact | null> => {
  if (sign.kind !== "message") return [];
  const text = safely(() => decodeURIComponent(sign.message.slice(2).replaceAll(/../g, "%$&")), null);
  if (text === null) return [fact("message", `bytes that are no text: ${shortHex(sign.message)}`)];
  const lines = text.split("\n");
  const cut = lines.length - mostLines;
  return [
    ...lines.slice(0, mostLines).map((line) => fact("message", quoteText(line, 200))),
    cut > 0 ? fact("message", `and ${cut} more lines`, { tone: "warn" }) : null,
  ];
};
/** More than a sign-in has. */
const mostLines = 24;

/** A section for each signature. What several of them let somebody take is told of all together, below. */
export const signingSections = ({ signings }: Report, reading: RenderSources): ReadonlyArray<Section> =>
  signings.flatMap((signing, index) => {
    const { names } = reading;
    const { sign, kind, account, contract, usableBy, ends, assumed, evidence, origin } = signing;
    const may = signings.length === 1 ? (rightKinds.has(kind) ? rightsOf : movementsOf)(signing, reading) : [];
    const chooses = usersChoice.has(kind) ? ", and decides who gets it" : "";
    const isOfOther = account.toLowerCase() !== sign.signer.toLowerCase();
    const title = signings.length === 1 ? "Signature" : `Signature ${index + 1} of ${signings.length}`;
    const domain = sign.kind === "typedData" ? sign.typedData["domain"] : null;
    const called = isRecord(domain) && typeof domain["name"] === "string" ? domain["name"] : null;
    return factsSection(
      title,
      fact("to sign", natureOf(signing)),
      fact("signer", joined(names.labelled(sign.signer), names.isYou(sign.signer) ? "you" : null)),
      isOfOther
        ? fact("for", joined(names.labelled(account), names.isYou(account) ? "you" : null), { tone: "warn" })
        : null,
      sign.kind === "authorization"
        ? fact(
            "code",
            `${names.whole(sign.address)} ${sign.chainId === 0 ? "on every chain" : `on chain ${sign.chainId}`}`,
          )
        : null,
      ...messageFacts(signing),
      fact(
        "asked by",
        known(origin, (text) => escapeText(text, 100)),
      ),
      fact(
        "contract",
        contract === null
          ? null
          : joined(
              names.whole(contract),
              known(called, (name) => `the message calls it ${quoteText(name, 60)}`),
            ),
      ),
      ...may.slice(0, 6).map((text) => fact("may take", text, { tone: "warn" })),
      may.length > 6 ? fact("may take", `and ${may.length - 6} more`, { tone: "warn" }) : null,
      fact("permits", permittedText(signing, names), { tone: "warn" }),
      usableBy === null
        ? null
        : fact("used by", `${userText(signing, names.whole)}${chooses}`, {
            tone: usableBy === "anyone" ? "warn" : "plain",
          }),
      usableBy === null
        ? null
        : fact("usable", timesText(signing), { tone: signing.until === null ? "warn" : "plain" }),
      rightKinds.has(kind)
        ? fact("right ends", ends === null ? "when it is used up or revoked" : dateText(ends))
        : null,
      ...operationFacts(signing, names),
      ...safeFacts(signing, names),
      fact("nonce", nonceText(signing), { tone: signing.nonce?.used === true ? "bad" : "plain" }),
      assumed === null
        ? fact("simulated", "nothing: what it does was not simulated", { tone: kind === "signIn" ? "plain" : "warn" })
        : fact("simulated", simulatedText[assumed], { evidence, tone: assumed === "equalCall" ? "warn" : "plain" }),
      fact("digest", sign.digest),
    );
  });
