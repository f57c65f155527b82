/** What a proven report hangs on, and what all of it held behind the block that the proof stood on. */
import * as Effect from "effect/Effect";
import { keccak256 } from "viem";
import { Chains, type Chain } from "../Chains.js";
import { askAccessList } from "../eth/call.js";
import * as Eth from "../eth/index.js";
import {
  signedOf,
  everyStep,
  measureOfReport,
  MeasureLimits,
  measureQueries,
  policiesOf,
  type Options,
  subjectsOf,
} from "../pipeline/index.js";
import { isHash, type Address, type Hash } from "../primitives/hex.js";
import { isRecord } from "../primitives/record.js";
import { minesOnDemand } from "../report/freshness.js";
import type { Report } from "../report/schema.js";
import { CurrentRun, Rpc } from "../rpc/index.js";
import * as L1Fee from "../steps/reading/l1Fee.js";
import { bareCall } from "../transaction/request.js";
import { totalSupply, type Query } from "../witness/queries.js";
import { accountKey, callKey, read, type Reading, type Touched } from "./reading.js";
import { sweep, type Swept } from "./sweep.js";

/** A report's touched state, with what it held. */
export interface Held {
  readonly block: Hash;
  readonly touched: Touched;
  readonly held: Reading;
}

/**
 * The sealed block that a report says it stood on: it names it by its number, which a reorganisation gives to another. Null where pending state was its base, or nobody told the hash.
 */
export const standOf = ({ observed }: Report): Hash | null => {
  const { worlds, latestNumber, baseNumber, parentHash } = observed;
  const next = worlds.find(({ run }) => run === "next");
  const isHead = next !== undefined && (next.state === "latest" || next.state === latestNumber);
  return isHead && latestNumber !== null && baseNumber === latestNumber ? parentHash : null;
};

/** A proof, with the block that its run `next` was pinned to, else the one that the report names. */
export const withStand = <E>(
  proof: Effect.Effect<Report, E, Rpc>,
): Effect.Effect<{ readonly report: Report; readonly stand: Hash | null }, E, Rpc> =>
  Rpc.use((rpc) => {
    let pinned: Hash | null = null;
    const request: typeof rpc.request = (method, params) =>
      Effect.flatMap(Effect.service(CurrentRun), ({ run }) => {
        const [, block] = params;
        if (run === "next" && isRecord(block) && isHash(block["blockHash"])) pinned = block["blockHash"];
        return rpc.request(method, params);
      });
    return Effect.map(Effect.provideService(proof, Rpc, { ...rpc, request }), (report) => ({
      report,
      stand: pinned ?? standOf(report),
    }));
  });

/** What a report hangs on. `beyondState`: the codes that it runs may read more; null: nobody can say now. */
export type Found = Held | "beyondState" | null;

/**
 * Whether the chain's precompiles are Ethereum's, which read nothing but their calldata. Elsewhere a call may learn of
 * the block from one (Arbitrum, Avalanche), and no list tells of it.
 */
const hasPurePrecompiles = (chain: Chain, chainId: number | null): boolean =>
  minesOnDemand(chainId) || chain.feeModel === "opstack" || [1, 100, 11155111].includes(chainId ?? 0);

/** Whether state alone may decide what a report says. */
const isOfState = (report: Report, chain: Chain): boolean => {
  const { transactions, verdict, options } = report;
  const [{ request, nonce }] = transactions;
  return (
    transactions.length === 1 &&
    verdict === "ready" &&
    request?.to != null &&
    (request.type === "legacy" || request.type === "eip2930" || request.type === "eip1559") &&
    nonce.evidence !== "assumed" &&
    options.stateOverrides === null &&
    options.blockOverrides === null &&
    hasPurePrecompiles(chain, report.chainId)
  );
};

/** Codes that were swept, by their hash. */
const swept = new Map<string, Swept>();
const mostSwept = 4_096;

const sweptOf = (address: Address, codeHash: string, block: Hash): Effect.Effect<Swept | null, Eth.Failure, Rpc> => {
  const known = swept.get(codeHash);
  if (known !== undefined) return Effect.succeed(known);
  return Effect.map(Eth.getCode({ address, block: { blockHash: block } }), (code) => {
    if (keccak256(code) !== codeHash) return null;
    const found = sweep(code);
    if (swept.size >= mostSwept) swept.clear();
    swept.set(codeHash, found);
    return found;
  });
};

/** Of nobody, and of an account without code. */
const noCode = new Set([`0x${"0".repeat(64)}`, keccak256("0x")]);
const delegation = /^0xef0100([0-9a-f]{40})$/;

/** Contracts in one set; who calls more is proven at every head. */
const mostContracts = 64;

/**
 * What the codes of a set say: whose state matters as well, and which accounts are without code, for no code reads what
 * others own; null = they could not be read.
 */
const throughCodes = (touched: Touched, held: Reading, block: Hash) =>
  Effect.gen(function* () {
    const contracts = [...touched.accounts].flatMap((address) => {
      const account = held.get(accountKey(address));
      // why: what could not be read may be anything
      const { codeHash, codePrefix } = account?.kind === "account" ? account : { codeHash: "", codePrefix: "" };
      return noCode.has(codeHash) ? [] : [{ address, codeHash, delegate: delegation.exec(codePrefix)?.[1] }];
    });
    if (contracts.length > mostContracts) return "beyondState" as const;
    const further = contracts.flatMap(({ delegate }): ReadonlyArray<Address> =>
      delegate === undefined ? [] : [`0x${delegate}`],
    );
    const codes = yield* Effect.forEach(
      contracts.filter(({ delegate }) => delegate === undefined),
      ({ address, codeHash }) => sweptOf(address, codeHash, block),
      { concurrency: "unbounded" },
    );
    if (codes.some((code) => code?.isBeyondState === true)) return "beyondState" as const;
    if (codes.includes(null)) return null;
    const coded = new Set(contracts.map((one) => one.address));
    // why: what a sender with code owns while it runs is less by what was paid for gas
    const isPayerRun = [...touched.senders].some((address) => coded.has(address));
    if (isPayerRun && codes.some((code) => code?.readsOwnBalance === true)) return "beyondState" as const;
    return { further, payees: [...touched.accounts].filter((address) => !coded.has(address)) };
  });

const lower = (address: Address): Address => address.toLowerCase() as Address;

/** Whether the list names everybody that the report saw act. */
const isComplete = ({ transactions: [{ outcome }] }: Report, accounts: ReadonlySet<Address>): boolean =>
  outcome.logs.every(({ address }) => accounts.has(lower(address)) || /^0xe{40}$/i.test(address));

/** What the proof of a report asked of contracts beside the transaction itself. */
const askedBy = (report: Report, chain: Chain, options: Options) =>
  Effect.gen(function* () {
    const limits = yield* Effect.service(MeasureLimits);
    const { memory } = yield* Rpc;
    const signed = signedOf(report);
    if (signed === null) return null;
    const ran = signed.map((one) => ({ ...one, outcome: one.said.outcome, transfers: [] }));
    const policies = yield* policiesOf(options.policies, report.options);
    const measure = measureOfReport(report, ran, policies, limits, everyStep);
    const subjects = L1Fee.needsBytes(chain, memory.recall("noFeeOracle")) ? [...subjectsOf(signed).values()] : null;
    return {
      queries: [...measureQueries(measure), ...(subjects === null ? [] : L1Fee.queries(chain, subjects))],
      accounts: measure.accounts,
      judged: policies.flatMap(({ balances }) => balances ?? []).flatMap(({ account }) => account ?? []),
    };
  });

/**
 * The amounts that a report compares with the supply of each token. What the transaction itself does to a supply is in the
 * slots that it touches; a token of which one amount is not known is not among them.
 */
const suppliesOf = ({ approvals }: Report, calls: Touched["calls"]): Touched["supplies"] => {
  const unread = new Set(approvals.flatMap(({ token, after }) => (after === null ? [lower(token)] : [])));
  return new Map(
    calls
      .filter(({ to, data }) => data === totalSupply(to).data && !unread.has(lower(to)))
      .map((call) => {
        const its = approvals.filter(({ token, tokenId }) => lower(token) === lower(call.to) && tokenId === null);
        return [callKey(call), its.flatMap(({ after }) => (after === null || after === 0n ? [] : [after]))];
      }),
  );
};

/**
 * What a report hangs on, and what that held behind the block that its proof stood on.
 * JSON-RPC: `eth_createAccessList`, `eth_getCode` of contracts that were not met before, `eth_simulateV1`.
 */
export const touchedBy = (report: Report, block: Hash, options: Options): Effect.Effect<Found, never, Rpc> =>
  Effect.gen(function* () {
    const chains = yield* Effect.service(Chains);
    const { memory, isQuorum } = yield* Rpc;
    // why: what the list leaves out, and a head that is not the newest, nobody would notice but a proof
    if (isQuorum === true) return null;
    const chain = chains(report.chainId);
    const [{ input, request }] = report.transactions;
    const asked = yield* askedBy(report, chain, options);
    if (request?.to == null || asked === null || !isOfState(report, chain)) return null;
    if (memory.refused("eth_createAccessList") !== null) return null;
    const list = yield* askAccessList(bareCall(input, request.gas), { blockHash: block });
    if (list === null) return null;
    const named = list.map(({ address, storageKeys }) => ({ address: lower(address), storageKeys }));
    const ofQueries = asked.queries.flatMap((query) => (query.kind === "account" ? [query.address] : []));
    const accounts = new Set(
      [input.from, request.to, ...asked.accounts, ...ofQueries, ...named.map(({ address }) => address)].map(lower),
    );
    if (!isComplete(report, accounts)) return null;
    const slots = new Map(
      named
        .filter(({ storageKeys }) => storageKeys.length > 0)
        .map(({ address, storageKeys }) => [address, new Set(storageKeys)]),
    );
    const calls = asked.queries.filter((query): query is Extract<Query, { kind: "call" }> => query.kind === "call");
    const exactly = new Set([input.from, ...asked.judged].map(lower));
    let touched: Touched = {
      ...{ accounts, payees: new Set(), slots, calls },
      ...{ supplies: suppliesOf(report, calls), senders: new Set([lower(input.from)]) },
    };
    for (let pass = 0; pass < 3; pass++) {
      const held = yield* read(touched, block);
      const codes = yield* throughCodes(touched, held, block);
      if (codes === null || codes === "beyondState") return codes;
      const { further } = codes;
      const payees = new Set(codes.payees.filter((address) => !exactly.has(address)));
      if (further.every((address) => touched.accounts.has(address)))
        return { block, touched: { ...touched, payees }, held };
      touched = { ...touched, accounts: new Set([...touched.accounts, ...further]) };
    }
    return null;
  }).pipe(Effect.catch(() => Effect.succeed(null)));
