/**
 * Authorisations (EIP-7702) that are yet to be signed. Every request of a run that carries one goes out with the state that
 * the signature would make, and with an authorisation of a throw-away key in its place: what that costs is what the real one
 * costs, for the key's account exists where the authority does. Nothing touches that account.
 */
import * as Effect from "effect/Effect";
import type { RpcError } from "../errors/rpc.js";
import { AuthorizationList } from "../eth/block.js";
import { CurrentRun, Rpc } from "../rpc/index.js";
import type { BlockParameter } from "../eth/parameters.js";
import * as Questions from "../eth/questions.js";
import { asked, each, one, sent, together, when } from "../eth/round.js";
import type { Verdict } from "../errors/verdicts.js";
import { lazyImport, RandomWords } from "../primitives/effects.js";
import { isQuantity, lower, type Address, type Hex } from "../primitives/hex.js";
import { isRecord, remembered } from "../primitives/record.js";
import { nobody } from "../abi/words.js";
import { failureOf, successOf, type AskResult, type Failure } from "../steps/reading/askResult.js";
import type { Transaction } from "../transaction/fields.js";
import { unsignedIn } from "../transaction/request.js";
import { recoveredAuthority } from "../transaction/authorities.js";
import { inRound } from "./rounds.js";
import { answered, blocksIn, listed, quantity, recordIn, withBlocks, type Wire } from "./wire.js";

/** An account as the chain has it. */
interface Authority {
  readonly nonce: bigint;
  readonly code: string;
  readonly exists: boolean;
}

/** One entry of an authorisation list on the wire, whose numbers are read. */
interface Entry {
  readonly authority: Address | null;
  readonly address: Address;
  readonly chainId: number;
  readonly nonce: number;
  readonly isSigned: boolean;
  readonly wire: unknown;
}

const numberIn = (value: unknown, otherwise: bigint): bigint => (typeof value === "string" ? BigInt(value) : otherwise);
const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
/** Wire addresses and words are the encoder's own. */
const addressIn = (value: unknown): Address => lower(textIn(value) as Address);

const entryOf = (wire: unknown): Entry => {
  const entry = isRecord(wire) ? wire : {};
  const [chainId, nonce] = [entry["chainId"], entry["nonce"]].map((value) => Number(numberIn(value, 0n)));
  const said = { address: addressIn(entry["address"]), chainId: chainId ?? 0, nonce: nonce ?? 0 };
  const isSigned = entry["authority"] === undefined;
  if (!isSigned) return { ...said, authority: addressIn(entry["authority"]), isSigned, wire };
  const [r, s] = [entry["r"], entry["s"]].map((word): Hex => `0x${textIn(word).slice(2).padStart(64, "0")}`);
  const signature = { r: r ?? "0x", s: s ?? "0x", yParity: Number(numberIn(entry["yParity"], 0n)) };
  const authority = recoveredAuthority({ ...said, ...signature });
  return { ...said, authority: authority === null ? null : lower(authority), isSigned, wire };
};

const isUnsignedCall = (call: unknown): call is Wire =>
  isRecord(call) &&
  Array.isArray(call["authorizationList"]) &&
  call["authorizationList"].some((entry: unknown) => isRecord(entry) && entry["authority"] !== undefined);

/** The overrides of an account on the wire, and the key under which they stand. */
const overrideOf = (state: Wire, account: Address): readonly [key: string, override: Wire] => {
  const key = Object.keys(state).find((each) => each.toLowerCase() === account) ?? account;
  const override = state[key];
  return [key, isRecord(override) ? override : {}];
};

/** Gas that an authorisation costs before any is given back (EIP-7702). */
const perAuthorization = 25_000n;
/** Gas of a transaction that does nothing. */
const intrinsicGas = 21_000n;

/** True of code that an authorisation may replace. */
const isReplaceable = (code: string): boolean => code === "0x" || (code.length === 48 && code.startsWith("0xef0100"));

/** The facts and keys of one run. */
interface Assuming {
  readonly chainId: number | null;
  readonly authorityAt: (account: Address, isPending: boolean) => Authority;
  /** Signs for the throw-away key of a place in the list. */
  readonly helperOf: (place: number) => {
    readonly address: Address;
    readonly sign: (entry: Pick<Entry, "address" | "chainId" | "nonce">) => Wire;
  };
}

/** A call as a node takes it, the state that it needs, and how many authorisations stand in for others. */
export const assumed = (call: Wire, state: Wire, isPending: boolean, assuming: Assuming) => {
  const given = call["authorizationList"];
  const entries = (Array.isArray(given) ? given : []).map(entryOf);
  const pretended = new Set(entries.flatMap(({ isSigned, authority }) => (isSigned ? [] : [authority])));
  const sender = addressIn(call["from"]);
  const accounts = new Map<Address, Authority & { readonly count: number }>();
  const changed: Record<string, unknown> = { ...state };
  const put = (account: Address, values: Wire) => {
    const [key, override] = overrideOf(changed, account);
    changed[key] = { ...override, ...values };
  };
  const read = (account: Address) => {
    const fact = assuming.authorityAt(account, isPending);
    const [, { nonce, code, balance }] = overrideOf(state, account);
    const exists = fact.exists || numberIn(balance, 0n) > 0n || numberIn(nonce, 0n) > 0n || textIn(code).length > 2;
    const base = numberIn(nonce, fact.nonce);
    return { nonce: base, code: typeof code === "string" ? code : fact.code, exists, count: 0 };
  };
  const list = entries.map((entry, place) => {
    const { authority, address, chainId } = entry;
    if (authority === null || !pretended.has(authority)) return entry.wire;
    const account = accounts.get(authority) ?? read(authority);
    const helper = assuming.helperOf(place);
    // why: the sender's own nonce is used up before any authorisation is looked at
    const due = account.nonce + BigInt(account.count) + (authority === sender ? 1n : 0n);
    const isOfChain = chainId === 0 || assuming.chainId === null || chainId === assuming.chainId;
    const isApplied = isOfChain && BigInt(entry.nonce) === due && isReplaceable(account.code);
    // why: one that the chain skips costs the same, and gives nothing back
    if (!isApplied) {
      accounts.set(authority, account);
      return helper.sign({ address, chainId, nonce: 1 });
    }
    if (account.exists)
      put(helper.address, { balance: "0x1", ...(account.code === "0x" ? {} : { code: account.code }) });
    const code = address === nobody ? "0x" : `0xef0100${address.slice(2)}`;
    accounts.set(authority, { ...account, code, exists: true, count: account.count + 1 });
    return helper.sign({ address, chainId, nonce: 0 });
  });
  for (const [account, { nonce, code, count }] of accounts)
    if (count > 0) put(account, { nonce: quantity(nonce + BigInt(count)), code });
  const shift = BigInt(accounts.get(sender)?.count ?? 0);
  const own = call["nonce"] === undefined ? {} : { nonce: quantity(numberIn(call["nonce"], 0n) + shift) };
  return { call: { ...call, ...own, authorizationList: list }, state: changed, count: list.length };
};

/** A call without its authorisations, and without the gas that they would take. */
const bare = ({ authorizationList, gas, ...call }: Wire): Wire => {
  const cost = perAuthorization * BigInt(Array.isArray(authorizationList) ? authorizationList.length : 0);
  const rest = numberIn(gas, cost) - cost;
  return { ...call, ...(gas === undefined ? {} : { gas: quantity(rest < 0n ? 0n : rest) }) };
};

/** Gas on the wire with that of authorisations; what is none stays as it is. */
const withCost = (value: unknown, count: number): unknown =>
  isQuantity(value) ? quantity(BigInt(value) + perAuthorization * BigInt(count)) : value;

/** A request that was put together anew: its parameters, and its answer where the authorisations themselves were left out. */
interface Changed {
  readonly params: ReadonlyArray<unknown>;
  readonly read: (answer: unknown) => unknown;
}

/** A request that carries unsigned authorisations, as a node takes it; null of any other. */
const changedIn = (
  method: string,
  params: ReadonlyArray<unknown>,
  assuming: Assuming,
  isWhole: boolean,
): Changed | null => {
  const [first, block, third, ...rest] = params;
  const change = (call: Wire, state: Wire) => {
    const made = assumed(call, state, block === "pending", assuming);
    return { ...made, call: isWhole ? made.call : bare(made.call) };
  };
  if (method === "eth_simulateV1") {
    const blocks = blocksIn(params);
    const at = blocks.findIndex(({ calls }) => listed(calls).some(isUnsignedCall));
    const entry = blocks[at];
    if (entry === undefined) return null;
    const place = listed(entry["calls"]).findIndex(isUnsignedCall);
    const made = change(recordIn(listed(entry["calls"])[place]), recordIn(entry["stateOverrides"]));
    const calls = listed(entry["calls"]).map((call, index) => (index === place ? made.call : call));
    const changed = { ...entry, calls, stateOverrides: made.state };
    const others = blocks.map((each, index) => (index === at ? changed : each));
    return {
      params: withBlocks(params, others),
      read: (answer) =>
        answered(answer, blocks, (result, _, index) => {
          if (index !== at || !isRecord(result)) return result;
          const told = listed(result["calls"]).map((call, index): unknown =>
            index === place && isRecord(call)
              ? {
                  ...call,
                  gasUsed: withCost(call["gasUsed"], made.count),
                  ...(call["maxUsedGas"] == null ? {} : { maxUsedGas: withCost(call["maxUsedGas"], made.count) }),
                }
              : call,
          );
          return { ...result, calls: told };
        }),
    };
  }
  if (!isUnsignedCall(first)) return null;
  const isTrace = method === "debug_traceCall";
  const made = change(first, recordIn(isTrace ? recordIn(third)["stateOverrides"] : third));
  return {
    params: [made.call, block, isTrace ? { ...recordIn(third), stateOverrides: made.state } : made.state, ...rest],
    read: (answer) => (method === "eth_estimateGas" ? withCost(answer, made.count) : answer),
  };
};

/** The reader's own run, on the state that the other runs begin with: they are held against each other. */
const readerIn = (params: ReadonlyArray<unknown>, call: Wire, assuming: Assuming): ReadonlyArray<unknown> => {
  const [, block] = params;
  const [entry, ...others] = blocksIn(params);
  const { state } = assumed(call, recordIn(entry?.["stateOverrides"]), block === "pending", assuming);
  return withBlocks(params, [{ ...entry, stateOverrides: state }, ...others]);
};

/** The trace of a later transaction, on the codes that the first one leaves: its changes are there, and name no code that stayed. */
const traceIn = (params: ReadonlyArray<unknown>, call: Wire, assuming: Assuming): ReadonlyArray<unknown> => {
  const [first, block, third] = params;
  const given = recordIn(recordIn(third)["stateOverrides"]);
  const { state } = assumed(call, {}, block === "pending", assuming);
  const codes = Object.entries(state).flatMap(([account, override]) => {
    const [key, known] = overrideOf(given, lower(account));
    return [[key, { code: recordIn(override)["code"], ...known }] as const];
  });
  return [first, block, { ...recordIn(third), stateOverrides: { ...given, ...Object.fromEntries(codes) } }];
};

/** True if a node may refuse a call for the authorisations that it carries. */
const mayRefuse = (failure: RpcError | Verdict): boolean => failure._tag === "RpcError" && !failure.isRetryable;

/** The node as the requests of a run see it; `call` = the one that carries the authorisations. */
const nodeWith = (
  rpc: Rpc["Service"],
  call: Wire,
  assuming: Assuming | Failure,
  isLeftOut: boolean,
): Rpc["Service"] => {
  let takesList = !isLeftOut;
  // why: the effect of one that is signed is the node's to find, and nobody's where the list is left out
  const isOmissible = listed(call["authorizationList"]).every((entry) => !entryOf(entry).isSigned);
  const request: Rpc["Service"]["request"] = (method, params) =>
    Effect.flatMap(Effect.service(CurrentRun), ({ run }) => {
      const isKnown = !("_tag" in assuming);
      const isCarrying = blocksIn(params).some(({ calls }) => listed(calls).some(isUnsignedCall));
      if (!isKnown)
        return isCarrying || isUnsignedCall(params[0]) ? Effect.fail(assuming) : rpc.request(method, params);
      if (run === "readerOnly" && method === "eth_simulateV1")
        return rpc.request(method, readerIn(params, call, assuming));
      if (method === "debug_traceCall" && !isUnsignedCall(params[0]))
        return rpc.request(method, traceIn(params, call, assuming));
      const [whole, less] = [true, false].map((isWhole) => changedIn(method, params, assuming, isWhole));
      if (whole == null || less == null) return rpc.request(method, params);
      const askLess = Effect.map(rpc.request(method, less.params), less.read);
      if (!isOmissible) return rpc.request(method, whole.params);
      if (!takesList) return askLess;
      return Effect.catchIf(rpc.request(method, whole.params), mayRefuse, (refusal) =>
        // why: what is refused for another part is judged by the words of its first refusal
        Effect.tap(
          Effect.mapError(askLess, () => refusal),
          () => Effect.sync(() => void (takesList = false)),
        ),
      );
    });
  return { ...rpc, request, send: undefined };
};

/** True if a node simulates a call that does nothing, and leaves out in silence the authorisation that it carries. */
const leavesOut = (rpc: Rpc["Service"], from: Address, { address, sign }: ReturnType<Assuming["helperOf"]>) => {
  const authorizationList = [sign({ address: nobody, chainId: 0, nonce: 0 })];
  const calls = [{ from, to: address, gas: quantity(4n * perAuthorization), authorizationList }];
  return Effect.match(rpc.request("eth_simulateV1", [{ blockStateCalls: [{ calls }] }, "latest"]), {
    onFailure: () => false,
    onSuccess: (answer) => {
      const gas = recordIn(listed(recordIn(listed(answer).at(-1))["calls"])[0])["gasUsed"];
      return isQuantity(gas) && BigInt(gas) <= intrinsicGas;
    },
  });
};

/**
 * Runs `ask` on a node that takes unsigned authorisations. JSON-RPC, in a round in front: for each authority
 * `eth_getTransactionCount`, `eth_getCode` and `eth_getBalance`; `eth_chainId` where the chain is not known; and
 * `eth_simulateV1`, which tells whether the node charges for an authorisation.
 */
export const withAssumed = Effect.fnUntraced(function* <A, E, R>(
  input: Transaction,
  named: BlockParameter,
  ask: Effect.Effect<A, E, R>,
): Effect.fn.Return<A, E, R | Rpc> {
  const rpc = yield* Rpc;
  const roll = yield* Effect.service(RandomWords);
  const signer = yield* signing;
  const authorities = [...new Set(unsignedIn(input).map(({ authority }) => lower(authority)))];
  const block = named === "pending" ? "latest" : named;
  const known = input.chainId ?? rpc.memory.recall("chainId");
  const [answers, isLeftOut] = yield* inRound(
    "unsigned",
    Effect.zip(
      sent(
        asked(
          { step: "code" },
          together({
            chainId: when(known === null, one(Questions.chainId), null),
            facts: each(authorities, (address) =>
              together({
                nonce: one(Questions.count({ address, block })),
                pending: when(named === "pending", one(Questions.count({ address, block: "pending" })), null),
                code: one(Questions.code({ address, block })),
                balance: one(Questions.balance({ address, block })),
              }),
            ),
          }),
        ),
      ),
      leavesOut(rpc, input.from, helperBy(roll(32), signer)),
      { concurrent: true },
    ),
  );
  const needed: ReadonlyArray<AskResult<unknown> | null> = [
    answers.chainId,
    ...answers.facts.flatMap(({ nonce, code, balance }) => [nonce, code, balance]),
  ];
  const [failure] = needed.flatMap((answer) => failureOf(answer) ?? []);
  const facts = new Map(authorities.map((account, place) => [account, answers.facts[place]]));
  const helpers = new Map<number, ReturnType<Assuming["helperOf"]>>();
  const assuming: Assuming = {
    chainId: known ?? successOf(answers.chainId),
    authorityAt: (account, isPending) => {
      const fact = facts.get(account);
      const [latest, pending] = [successOf(fact?.nonce) ?? 0n, successOf(fact?.pending)];
      const nonce = isPending ? (pending ?? latest) : latest;
      const code = successOf(fact?.code)?.toLowerCase() ?? "0x";
      return { nonce, code, exists: nonce > 0n || code !== "0x" || (successOf(fact?.balance) ?? 0n) > 0n };
    },
    helperOf: (place) => {
      const made = helpers.get(place) ?? helperBy(roll(32), signer);
      helpers.set(place, made);
      return made;
    },
  };
  const call = { from: input.from, authorizationList: AuthorizationList.write(input.authorizationList, "", []) };
  return yield* Effect.provideService(ask, Rpc, nodeWith(rpc, call, failure ?? assuming, isLeftOut));
});

const signing = lazyImport(() => import("../transaction/signer.js"));

/** A throw-away key, which signs the same only once. */
const helperBy = (
  key: Hex,
  { addressOfKey, signAuthorization }: Effect.Success<typeof signing>,
): ReturnType<Assuming["helperOf"]> => {
  const signatures = remembered<Wire>(4, 512);
  return {
    address: addressOfKey(key),
    sign: ({ address, chainId, nonce }) =>
      signatures(`${address}/${chainId}/${nonce}`, () => {
        const { r, s, yParity } = signAuthorization(key, { address, chainId, nonce });
        const numbers = { chainId: quantity(chainId), nonce: quantity(nonce), yParity: quantity(yParity) };
        return { address, ...numbers, r: quantity(r), s: quantity(s) };
      }),
  };
};
