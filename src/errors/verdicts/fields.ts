/** Fields that many verdicts share. */
import * as Schema from "effect/Schema";
import { Address, nullable } from "../../primitives/hex.js";

/** Wei, gas, wei per gas or a count; null = the source did not say. */
export const amount = nullable(Schema.BigInt);
export const account = nullable(Address);
/** The node's answer as it came, when a node said it; null when our own rule decided. */
export const raw = nullable(Schema.Json);
