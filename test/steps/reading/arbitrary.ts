/** Topics that are read, and logs of any shape. */
import fc from "fast-check";
import { keccak256, toHex } from "viem";
import { Address } from "../../rooms/primitives.js";
import type { OutcomeLog } from "../../rooms/report.js";
import { log } from "../parts.js";

export const at = (digit: string): Address => Address.make(`0x${digit.repeat(40)}`);
/** Where traced native movements are told from, and EIP-7708's. */
export const traced = at("e");
export const eip7708 = Address.make(`0x${"f".repeat(39)}e`);

/** Event signatures, without `0x`. */
export const topics = {
  transfer: "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  batch: "4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb",
  deposit: "e1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c",
  approval: "8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925",
  forAll: "17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31",
  ownership: "8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0",
  roleGranted: "2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d",
  upgraded: "bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b",
} as const;

/** The topic of an event, without `0x`. */
export const kind = (event: string): string => keccak256(toHex(event)).slice(2);

/** Up to so many bytes, without `0x`. */
export const hex = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes).toString("hex"));

const anyTopic = fc.oneof(
  fc.constantFrom(...Object.values(topics)),
  hex(32).map((text) => text.padStart(64, "0")),
);
/** Up to six logs of any shape, by a token or by one of the two that tell native movements. */
export const anyLogs = (token: Address): fc.Arbitrary<ReadonlyArray<OutcomeLog>> =>
  fc.array(
    fc
      .tuple(fc.constantFrom(token, traced, eip7708), fc.array(anyTopic, { maxLength: 4 }), hex(400))
      .map(([address, all, data]) => log(address, all, [data])),
    { maxLength: 6 },
  );
