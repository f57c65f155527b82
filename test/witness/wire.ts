/** Questions to the witness with their answers, as they are read and as they stand on the wire. */
import * as fc from "fast-check";
import type { Address, Hash, Hex } from "../rooms/primitives.js";
import type { WitnessAnswer, Query } from "../rooms/witness.js";

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(hexOf);
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const address = bytesOf(20).map((hex) => `0x${hex}` as Address);
const hash = bytesOf(32).map((hex) => `0x${hex}` as Hash);
const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const uint32 = (value: number): string => value.toString(16).padStart(8, "0");

export interface Exchange {
  readonly query: Query;
  readonly answer: WitnessAnswer;
  readonly wire: string;
}

export const environment: fc.Arbitrary<Exchange> = fc
  .tuple(
    ...([uint256, uint256, hash, uint256, uint256, address, hash, uint256, uint256, uint256] as const),
    fc.constantFrom(["00", "beforeOsaka"] as const, ["01", "osaka"] as const, ["03", "amsterdam"] as const),
  )
  .map(
    ([
      chainId,
      number,
      parentHash,
      timestamp,
      fee,
      feeRecipient,
      prevRandao,
      gasLimit,
      gasPrice,
      gasLeft,
      [opcodes, fork],
    ]) => ({
      query: { kind: "environment" },
      answer: {
        ...{ kind: "environment", chainId, number, parentHash, timestamp, baseFeePerGas: fee, feeRecipient },
        ...{ prevRandao, gasLimit, gasPrice, gasLeft, fork },
      },
      wire: [
        ...["01", word(chainId), word(number), parentHash.slice(2), word(timestamp), word(fee)],
        ...[word(BigInt(feeRecipient)), prevRandao.slice(2), word(gasLimit), word(gasPrice), word(gasLeft), opcodes],
      ].join(""),
    }),
  );

const account: fc.Arbitrary<Exchange> = fc
  .tuple(address, uint256, hash, fc.uint8Array({ maxLength: 60 }))
  .map(([at, balance, codeHash, code]) => {
    const prefix = hexOf(code.slice(0, 23));
    return {
      query: { kind: "account", address: at },
      answer: { kind: "account", balance, codeHash, codeSize: BigInt(code.length), codePrefix: `0x${prefix}` as Hex },
      wire: `02${word(balance)}${codeHash.slice(2)}${uint32(code.length)}${prefix.padEnd(46, "0")}`,
    };
  });

const call: fc.Arbitrary<Exchange> = fc
  .tuple(address, fc.boolean(), fc.uint8Array({ maxLength: 100 }), fc.nat(100))
  .map(([to, success, returned, returnCap]) => {
    const data = hexOf(returned.slice(0, returnCap));
    return {
      query: { kind: "call", to, data: "0x" as Hex, gas: 1, returnCap },
      answer: { kind: "call", success, size: BigInt(returned.length), data: `0x${data}` as Hex },
      wire: `03${success ? "01" : "00"}${uint32(returned.length)}${data}`,
    };
  });

export const exchanges = fc.array(fc.oneof(environment, account, call), { maxLength: 12 });
export const queriesOf = (list: ReadonlyArray<Exchange>) => list.map(({ query }) => query);
export const wireOf = (list: ReadonlyArray<Exchange>, end: string) =>
  `0x77697431${list.map(({ wire }) => wire).join("")}${end}` as Hex;
