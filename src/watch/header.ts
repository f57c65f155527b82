/** What a new head's header alone says of a report: no request is needed to know it. Pure. */
import { nextBaseFee, parametersOf } from "../chains/baseFee.js";
import type { Chain } from "../Chains.js";
import { FeeCapTooLow } from "../errors/verdicts.js";
import type { Header } from "../Eth.js";
import type { Address } from "../primitives/hex.js";
import { minesOnDemand } from "../report/freshness.js";
import type { Report } from "../report/schema.js";

/** `lost`: nothing need be asked to know it. `prove`: only a proof can tell. `quiet`: the header says nothing against it. */
export type ByHeader =
  | { readonly is: "lost"; readonly reason: FeeCapTooLow }
  | { readonly is: "prove" }
  | { readonly is: "quiet" };

const prove: ByHeader = { is: "prove" };
const quiet: ByHeader = { is: "quiet" };

/** Seconds after which a head is doubted: half of what makes a proof call it stale. */
const doubtful = ({ blockTimeMs, known }: Chain): number => Math.max(30, (known ? 5 * blockTimeMs : 60_000) / 1000);

/** What the header says; `now` in epoch ms. */
export const byHeader = (report: Report, header: Header, chain: Chain, now: number): ByHeader => {
  const { transactions, observed, chainId } = report;
  const nextFork = observed.rules.nextFork;
  const coming = header.timestamp + BigInt(Math.ceil(chain.blockTimeMs / 1000));
  const base = nextBaseFee(header, parametersOf(chain, header));
  const isOld = !minesOnDemand(chainId) && now / 1000 - Number(header.timestamp) > doubtful(chain);
  if (base === null || isOld || (nextFork !== null && coming >= nextFork)) return prove;
  for (const { input, request } of transactions) {
    const cap = request?.maxFeePerGas ?? request?.gasPrice;
    if (request === null || cap === undefined || request.gas > header.gasLimit) return prove;
    if (cap >= base) continue;
    // why: of a chain whose formula is not known for sure the node decides
    if (!chain.known || chain.feeModel !== "ethereum") return prove;
    const reason = new FeeCapTooLow({ account: input.from, maxFeePerGas: cap, baseFeePerGas: base, raw: null });
    return { is: "lost", reason };
  }
  return quiet;
};

/**
 * Whether the block is another producer's than the one that a report was proven with, and the outcome may tell: who
 * produces it is warm from the start (EIP-3651), so that calling or paying either of them costs other gas.
 */
export const isForAnother = ({ observed }: Report, { miner }: Header, accounts: ReadonlySet<Address>): boolean => {
  const next = observed.worlds.find(({ run }) => run === "next");
  const [was, is] = [next?.feeRecipient ?? observed.feeRecipient, miner].map((one) => one?.toLowerCase() ?? null);
  if (was === is) return false;
  return [was, is].some((one) => one === null || [...accounts].some((account) => account.toLowerCase() === one));
};
