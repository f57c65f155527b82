/** Amounts with their units, as people read them: exact, never rounded. */

/** An integer amount at `decimals`, exact: no rounding, no trailing zeros. */
export const formatUnits = (amount: bigint, decimals: number): string => {
  const negative = amount < 0n;
  const digits = (negative ? -amount : amount).toString().padStart(decimals + 1, "0");
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  const fraction = decimals === 0 ? "" : digits.slice(-decimals).replace(/0+$/, "");
  return `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
};

const wholeEther = 10n ** 15n;
const wholeGwei = 10n ** 5n;

/**
 * Wei in the unit in which it reads best (ETH from 0.001, gwei from 0.0001, else wei), exact.
 * `symbol` names the chain's native currency; 18 decimals, as on every EVM chain.
 */
export const formatWei = (wei: bigint, symbol: string = "ETH"): string => {
  const size = wei < 0n ? -wei : wei;
  if (size === 0n) return `0 ${symbol}`;
  if (size >= wholeEther) return `${formatUnits(wei, 18)} ${symbol}`;
  if (size >= wholeGwei) return `${formatUnits(wei, 9)} gwei`;
  return `${wei} wei`;
};

/** A gas price: gwei with its unit, or wei when it would be too small to read; absurd ones in `symbol`. */
export const formatGasPrice = (weiPerGas: bigint, symbol?: string): string =>
  weiPerGas === 0n ? "0 gwei" : `${formatWei(weiPerGas, symbol)} per gas`;

/** Gas with thousands separated: `21,000 gas`. */
export const formatGas = (gas: bigint): string => `${gas.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",")} gas`;
