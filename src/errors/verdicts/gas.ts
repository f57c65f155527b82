/** Gas limits that cannot hold. */
import * as Schema from "effect/Schema";
import { facts, maybe, sentence, type Parts } from "../../primitives/sentence.js";
import { formatGas } from "../../primitives/units.js";
import { amount, raw } from "./fields.js";

/** The gas limit does not even cover the transaction's intrinsic cost. */
export class IntrinsicGasTooLow extends Schema.TaggedError<IntrinsicGasTooLow>()("IntrinsicGasTooLow", {
  have: amount,
  want: amount,
  raw,
}) {
  get parts(): Parts {
    return {
      verdict: "the gas limit is below the transaction's intrinsic cost",
      evidence: facts(["has", maybe(this.have, formatGas)], ["needs", maybe(this.want, formatGas)]),
      remedy: "raise the gas limit, or leave `gas` out",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** `eth_estimateGas` found no limit within what the balance or the node's cap allows. */
export class GasAllowanceExceeded extends Schema.TaggedError<GasAllowanceExceeded>()("GasAllowanceExceeded", {
  /** The least of: gas given, node's cap, balance ÷ fee cap. */
  allowance: amount,
  raw,
}) {
  get parts(): Parts {
    return {
      verdict: "the call needs more gas than the node allows it",
      evidence: facts(["allowance", maybe(this.allowance, formatGas)]),
      remedy: "an allowance far below the gas given means the balance cannot pay the fee; otherwise raise the gas",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

const limited = { gas: amount, limit: amount, raw };
const limitFacts = (error: { readonly gas: bigint | null; readonly limit: bigint | null }) =>
  facts(["gas", maybe(error.gas, formatGas)], ["limit", maybe(error.limit, formatGas)]);

/** More gas than a block holds. */
export class BlockGasLimitExceeded extends Schema.TaggedError<BlockGasLimitExceeded>()(
  "BlockGasLimitExceeded",
  limited,
) {
  get parts(): Parts {
    return {
      verdict: "the transaction asks for more gas than a block holds",
      evidence: limitFacts(this),
      remedy: "lower the gas limit or split the work",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** More gas than one transaction may ask for (EIP-7825: 2^24). */
export class TxGasLimitTooHigh extends Schema.TaggedError<TxGasLimitTooHigh>()("TxGasLimitTooHigh", limited) {
  get parts(): Parts {
    return {
      verdict: "the gas limit is above the chain's cap for one transaction",
      evidence: limitFacts(this),
      remedy: "lower the gas limit or split the work",
    };
  }
  override get message() {
    return sentence(this.parts);
  }
}

/** Gas arithmetic overflowed 64 bits. */
export class GasUintOverflow extends Schema.TaggedError<GasUintOverflow>()("GasUintOverflow", { raw }) {
  get parts(): Parts {
    return { verdict: "the gas overflows 64 bits", evidence: "", remedy: "lower gas, fees or the size of the data" };
  }
  override get message() {
    return sentence(this.parts);
  }
}
