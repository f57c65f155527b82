/** Gas limits that cannot hold. */
import * as Schema from "effect/Schema";
import { figures, gas, statementText, type Statement } from "../../primitives/statement.js";
import { amount, raw } from "./fields.js";

/** The gas limit does not even cover the transaction's intrinsic cost. */
export class IntrinsicGasTooLow extends Schema.TaggedError<IntrinsicGasTooLow>()("IntrinsicGasTooLow", {
  have: amount,
  want: amount,
  raw,
}) {
  get statement(): Statement {
    return {
      sentence: "the gas limit is below the transaction's intrinsic cost",
      numbers: figures(gas("has", this.have), gas("needs", this.want)),
      remedy: "raise the gas limit, or leave `gas` out",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** `eth_estimateGas` found no limit within what the balance or the node's cap allows. */
export class GasAllowanceExceeded extends Schema.TaggedError<GasAllowanceExceeded>()("GasAllowanceExceeded", {
  /** The least of: gas given, node's cap, balance ÷ fee cap. */
  allowance: amount,
  raw,
}) {
  get statement(): Statement {
    return {
      sentence: "the call needs more gas than the node allows it",
      numbers: figures(gas("allowance", this.allowance)),
      remedy: "an allowance far below the gas given means the balance cannot pay the fee; otherwise raise the gas",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

const limited = { gas: amount, limit: amount, raw };
const limitFacts = (error: { readonly gas: bigint | null; readonly limit: bigint | null }) =>
  figures(gas("gas", error.gas), gas("limit", error.limit));

/** More gas than a block holds. */
export class BlockGasLimitExceeded extends Schema.TaggedError<BlockGasLimitExceeded>()(
  "BlockGasLimitExceeded",
  limited,
) {
  get statement(): Statement {
    return {
      sentence: "the transaction asks for more gas than a block holds",
      numbers: limitFacts(this),
      remedy: "lower the gas limit or split the work",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** More gas than one transaction may ask for (EIP-7825: 2^24). */
export class TxGasLimitTooHigh extends Schema.TaggedError<TxGasLimitTooHigh>()("TxGasLimitTooHigh", limited) {
  get statement(): Statement {
    return {
      sentence: "the gas limit is above the chain's cap for one transaction",
      numbers: limitFacts(this),
      remedy: "lower the gas limit or split the work",
    };
  }
  override get message() {
    return statementText(this.statement);
  }
}

/** Gas arithmetic overflowed 64 bits. */
export class GasUintOverflow extends Schema.TaggedError<GasUintOverflow>()("GasUintOverflow", { raw }) {
  get statement(): Statement {
    return { sentence: "the gas overflows 64 bits", numbers: [], remedy: "lower gas, fees or the size of the data" };
  }
  override get message() {
    return statementText(this.statement);
  }
}
