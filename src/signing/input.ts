/** A signature to be given, in the forms that people hold: typed data, an authorisation, a text or bytes. Pure. */
import * as Result from "effect/Result";
import { fromString } from "ox/Hex";
import { keccak256, concat } from "../primitives/bytes.js";
import { isHash, isHex, type Address, type Hex } from "../primitives/hex.js";
import { address, given, integer, no, nonce, onlyHas, type Checked } from "../primitives/problem.js";
import { isRecord, safely } from "../primitives/record.js";
import { marks } from "./marks.js";
import { authorizationHash } from "../transaction/request.js";
import type { SignatureRequest } from "../transaction/signature.js";
import { useOf, type Use } from "./kinds.js";
import type { SafeState } from "./schema.js";
import { typedDataIn, type TypedData } from "./typedData.js";

/** A signature as callers give it: exactly one of the four, and whose key signs. */
export type GivenSigning =
  | {
      /** EIP-712: an object of viem's or of `eth_signTypedData_v4`, or its JSON. */
      readonly typedData: unknown;
      readonly signer: Address;
      /** The contract in whose name the key signs (ERC-1271), where that is not the message's own. */
      readonly account?: Address | undefined;
    }
  | {
      /** EIP-7702, before it is signed. */
      readonly authorization: {
        readonly chainId: number;
        readonly address: Address;
        readonly nonce: number | bigint;
      };
      readonly signer: Address;
    }
  | {
      /** A text, or bytes as `{ raw }`, of `personal_sign`. */
      readonly message: string | { readonly raw: Hex };
      readonly signer: Address;
      /** The origin that asks, such as `https://example.org`: a sign-in (ERC-4361) is held against it. */
      readonly origin?: string | undefined;
    }
  | {
      /** 32 bytes. */
      readonly hash: Hex;
      readonly signer: Address;
    };

/** A signature that was read. */
export interface ReadSigning {
  readonly sign: SignatureRequest;
  readonly use: Use;
  readonly typed: TypedData | null;
  readonly origin: string | null;
  /** The text of a message that is one; else null. */
  readonly text: string | null;
  /** The Safe of a Safe's transaction, once it is read. */
  readonly safe?: SafeState;
}

const nothing = {
  ...{ from: null, until: null, ends: null, repeats: false, used: [], equal: null, nonce: null, contract: null },
  consume: null,
} as const;

const useOfText = (kind: Use["kind"], account: Address, unread: string): Use => ({
  ...{ ...nothing, kind, account, usableBy: null, unread },
});

/** Text of bytes that are UTF-8; null where they are none. */
const textIn = (bytes: Hex): string | null => {
  const decoded = new TextDecoder().decode(
    Uint8Array.from(bytes.slice(2).match(/../g) ?? [], (byte) => parseInt(byte, 16)),
  );
  return fromString(decoded) === bytes ? decoded : null;
};

/** keccak256 of what `personal_sign` signs (EIP-191). */
export const messageHash = (message: Hex): Hex =>
  keccak256(concat(fromString(`\x19Ethereum Signed Message:\n${(message.length - 2) / 2}`), message));

const mostMessage = 65_536;

/** True of a text that says what ERC-4361 begins with. */
const isSignIn = (text: string): boolean => text.includes(" wants you to sign in with your Ethereum account:\n");

const messageIn = (input: unknown, signer: Address, origin: unknown, at: string): Checked<ReadSigning> => {
  const raw = isRecord(input) ? input["raw"] : null;
  const bytes = typeof input === "string" ? fromString(input) : isHex(raw) && raw.length % 2 === 0 ? raw : null;
  if (bytes === null) return no(`${at}message`, "must be a text, or bytes as { raw }");
  if (bytes.length > 2 + 2 * mostMessage) return no(`${at}message`, `is longer than ${mostMessage} bytes`);
  if (given(origin) && !(typeof origin === "string" && safely(() => new URL(origin).host !== "", false)))
    return no(`${at}origin`, "must be an origin, such as https://example.org");
  const message = bytes.toLowerCase() as Hex;
  const text = textIn(message);
  const isIn = text !== null && isSignIn(text);
  return Result.succeed({
    sign: { kind: "message", signer, digest: messageHash(message), message },
    use: useOfText(isIn ? "signIn" : "unknown", signer, isIn ? "it signs an account in" : "its text may mean anything"),
    ...{ typed: null, origin: typeof origin === "string" ? origin : null, text },
  });
};

const authorizationIn = (input: unknown, signer: Address, at: string): Checked<ReadSigning> =>
  Result.gen(function* () {
    const path = `${at}authorization`;
    if (!isRecord(input)) return yield* no(path, "must be { chainId, address, nonce }");
    yield* onlyHas(
      input,
      ["chainId", "address", "contractAddress", "nonce"],
      "a field of an authorisation",
      `${path}.`,
    );
    const entry = {
      address: yield* address(input["address"] ?? input["contractAddress"], `${path}.address`),
      chainId: yield* integer()(input["chainId"], `${path}.chainId`),
      nonce: yield* nonce(input["nonce"], `${path}.nonce`),
    };
    const digest = authorizationHash({ authority: signer, ...entry });
    if (digest === null) return yield* no(path, "cannot be hashed");
    const use: Use = {
      ...{ ...nothing, kind: "authorization", account: signer, usableBy: "anyone", contract: null, unread: null },
      ...{ nonce: BigInt(entry.nonce), repeats: false },
    };
    return { sign: { kind: "authorization", signer, digest, ...entry }, use, typed: null, origin: null, text: null };
  });

/** The form of a JSON-RPC request, or viem's own, as ours. */
const unwrapped = (
  input: Readonly<Record<string, unknown>>,
  at: string,
): Checked<Readonly<Record<string, unknown>>> => {
  const { method, params, primaryType, types, domain, message, account } = input;
  if (typeof method === "string") {
    if (!Array.isArray(params) || params.length < 2) return no(`${at}params`, "must be a list of two");
    const [first, second] = params as ReadonlyArray<unknown>;
    if (method === "personal_sign") {
      const [content, signer] =
        isRecord(first) || !isHex(second) || second.length !== 42 ? [second, first] : [first, second];
      return Result.succeed({ message: isHex(content) ? { raw: content } : content, signer });
    }
    return Result.succeed(
      method === "eth_sign" ? { hash: second, signer: first } : { typedData: second, signer: first },
    );
  }
  if (!given(primaryType)) return Result.succeed(input);
  // why: what one library means by `account` is the signer to another
  if (given(account) && given(input["signer"])) return no(`${at}account`, "stands beside typedData alone");
  const signer = isRecord(account) ? account["address"] : (account ?? input["signer"]);
  return Result.succeed({ typedData: { primaryType, types, domain, message }, signer });
};

/** A signature, checked; `at`: the path in front of the names of its fields. */
export const signingIn = (input: Readonly<Record<string, unknown>>, at = ""): Checked<ReadSigning> =>
  Result.gen(function* () {
    const given_ = yield* unwrapped(input, at);
    yield* onlyHas(given_, [...marks, "signer", "account", "origin"], "a field of a signature", at);
    const present = marks.filter((mark) => given(given_[mark]));
    if (present.length !== 1)
      return yield* no(`${at}${present[1] ?? "typedData"}`, "must be the one thing that is signed");
    const signer = yield* address(given_["signer"], `${at}signer`);
    const [mark] = present;
    if (given(given_["account"]) && mark !== "typedData")
      return yield* no(`${at}account`, "stands beside typedData alone");
    if (given(given_["origin"]) && mark !== "message") return yield* no(`${at}origin`, "stands beside a message alone");
    if (mark === "message") return yield* messageIn(given_["message"], signer, given_["origin"], at);
    if (mark === "authorization") return yield* authorizationIn(given_["authorization"], signer, at);
    if (mark === "hash") {
      const { hash } = given_;
      if (!isHash(hash)) return yield* no(`${at}hash`, "must be 32 bytes of hex with 0x");
      const digest = hash.toLowerCase() as Hex;
      const use = useOfText("unknown", signer, "nobody can see what the bytes are the hash of");
      return { sign: { kind: "hash", signer, digest }, use, typed: null, origin: null, text: null };
    }
    const typed = yield* typedDataIn(given_["typedData"], `${at}typedData`);
    const account = given(given_["account"]) ? yield* address(given_["account"], `${at}account`) : null;
    const use = useOf(typed, account ?? signer);
    // guard: a message about another account than is said
    if (account !== null && use.account !== account)
      return yield* no(`${at}account`, "is not the account of the message");
    const sign = { kind: "typedData", signer, digest: typed.digest, typedData: typed.json } as const;
    return { sign, use, typed, origin: null, text: null };
  });
