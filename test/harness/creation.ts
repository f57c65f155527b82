import type { Hex } from "viem";

/** Init code of a contract with this code, hex without `0x`, at most 255 bytes. */
export const creation = (runtime: string): Hex => {
  const size = (runtime.length / 2).toString(16).padStart(2, "0");
  return `0x60${size}600c60003960${size}6000f3${runtime}`;
};
