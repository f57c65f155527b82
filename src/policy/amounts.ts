/** Amounts as policies tell them: in the token's own units, with the raw ones that were judged beside. */
import { lookup } from "../Chains.js";
import type { Address } from "../primitives/hex.js";
import { checksummed } from "../primitives/text.js";
import { formatWei } from "../primitives/units.js";
import type { Report } from "../report/schema.js";
import { amountText, namesOf, unitText } from "../report/tokens.js";

/** Wei of the report's chain, in the unit of the amount that it is told `beside`. */
export const nativeText = ({ chainId }: Pick<Report, "chainId">, wei: bigint, beside: bigint = wei): string =>
  formatWei(wei, lookup(chainId).symbol, beside);

/** `25 USDC 0xA0b8…eB48 (25000000 raw units of 0xA0b8…)`, by what the token says of itself; `1.5 ETH`. */
export const tokenText = (report: Report, token: Address | null, amount: bigint, beside: bigint = amount): string => {
  if (token === null) return nativeText(report, amount, beside);
  const { chainId, tokens, transactions } = report;
  // why: wording looks at nothing that the policy itself does not judge by; the whole address stands beside
  const named = { tokens, transactions, transfers: [], balanceChanges: [], approvals: [] };
  const names = namesOf(named, lookup(chainId).symbol);
  const unit = { token, tokenId: null };
  const { amount: shown } = amountText(names, unit, amount);
  const raw = `${amount} raw units of ${checksummed(token)}`;
  return shown === String(amount) ? raw : `${shown} ${unitText(names, unit)} (${raw})`;
};

/** What is counted: the chain's currency, or a token. */
export const currencyText = ({ chainId }: Pick<Report, "chainId">, token: Address | null): string =>
  token === null ? lookup(chainId).symbol : checksummed(token);
