/** Bytes, hex and hashes by the libraries that viem itself is made of: its own entry loads five hundred files for them. */
import { keccak_256 } from "@noble/hashes/sha3";
import * as Bytes from "ox/Bytes";
import * as OxHex from "ox/Hex";
import type { Hex } from "./hex.js";

export { validate as isChecksummed, checksum } from "ox/Address";
export { fromHex as hexToBytes } from "ox/Bytes";
export { concat, fromBytes as bytesToHex, fromNumber as numberToHex } from "ox/Hex";

/** keccak256 of bytes in hex, as bytes. */
export const keccak = (data: Hex): Uint8Array => keccak_256(Bytes.fromHex(data));

/** keccak256 of bytes in hex. */
export const keccak256 = (data: Hex): Hex => OxHex.fromBytes(keccak(data));
