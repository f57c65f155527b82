/** What `eth_config` says of forks. Pure. */
import type { Forks } from "./names.js";

/** Where nobody says anything. */
export const unknownForks: Forks = { fork: null, next: null };

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

const seconds = (value: unknown): bigint | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? BigInt(value) : null;

/** Reads the answer of `eth_config`, whatever it is: Osaka brought P256VERIFY (EIP-7951), Amsterdam the builders' deposits. */
export const forksIn = (config: unknown): Forks => {
  const current = field(config, "current");
  const has = (list: string, name: string) => field(field(current, list), name) !== undefined;
  if (typeof field(current, "precompiles") !== "object") return unknownForks;
  const fork = has("systemContracts", "BUILDER_DEPOSIT_CONTRACT_ADDRESS")
    ? "amsterdam"
    : has("precompiles", "P256VERIFY")
      ? "osaka"
      : "beforeOsaka";
  return { fork, next: seconds(field(field(config, "next"), "activationTime")) };
};
