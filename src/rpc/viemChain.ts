/** A chain as viem describes it. Pure. */
import * as Result from "effect/Result";
import { address } from "../primitives/problem.js";
import { isRecord } from "../primitives/record.js";
import type { Rpc } from "./service.js";

const part = (whole: unknown, name: string): unknown => (isRecord(whole) ? whole[name] : undefined);

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** More decimals than any currency has. */
const mostDecimals = 36;

/** Returns what a viem chain says of itself, each part as far as it is well-formed. */
export const describedChain = (id: number, chain: unknown): NonNullable<Rpc["Service"]["chain"]> => {
  const [name, currency, blockTimeMs] = [part(chain, "name"), part(chain, "nativeCurrency"), part(chain, "blockTime")];
  const [symbol, decimals] = [part(currency, "symbol"), part(currency, "decimals")];
  const oracle = address(part(part(part(chain, "contracts"), "gasPriceOracle"), "address"), "");
  // why: a symbol beside another currency's decimals would make wrong amounts
  const isCurrency = isText(symbol) && Number.isInteger(decimals) && Number(decimals) >= 0;
  return {
    id,
    described: {
      ...(isText(name) ? { name } : {}),
      ...(isCurrency && Number(decimals) <= mostDecimals ? { symbol, decimals: Number(decimals) } : {}),
      ...(Number.isFinite(blockTimeMs) && Number(blockTimeMs) > 0
        ? { blockTimeMs: Number(blockTimeMs), paceKnown: true }
        : {}),
      ...(Result.isSuccess(oracle) ? { gasPriceOracle: oracle.success } : {}),
    },
  };
};

/** Returns what the option `chain` says; nothing where it is left out. */
export const describedBy = (chain: { readonly id: number } | undefined): Pick<Rpc["Service"], "defaults" | "chain"> =>
  chain === undefined ? {} : { defaults: { chainId: chain.id, from: null }, chain: describedChain(chain.id, chain) };
