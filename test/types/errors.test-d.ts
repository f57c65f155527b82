import * as Effect from "effect/Effect";
import { expectTypeOf, test } from "vitest";
import {
  classify,
  decodeRevert,
  isVerdict,
  RpcError,
  type Reason,
  type Revert,
  type Verdict,
} from "../../src/Errors.js";

declare const failing: Effect.Effect<number, Verdict | RpcError>;

test("each verdict can be caught by its tag, and the others remain", () => {
  const caught = failing.pipe(
    Effect.catchTag("ExecutionReverted", (error) => Effect.succeed(error.data)),
    Effect.catchTag("VmHalt", (error) => Effect.succeed(error.halt)),
    Effect.catchTag("OutOfGas", (error) => Effect.succeed(error.gasLimit)),
    Effect.catchTag("InsufficientFunds", (error) => Effect.succeed(error.shortfall)),
    Effect.catchTag("NonceTooLow", (error) => Effect.succeed(error.next)),
    Effect.catchTag("NonceTooHigh", (error) => Effect.succeed(error.next)),
    Effect.catchTag("NonceOverflow", (error) => Effect.succeed(error.account)),
    Effect.catchTag("ReplacementRefused", (error) => Effect.succeed(error.inFlight)),
    Effect.catchTag("FeeCapTooLow", (error) => Effect.succeed(error.baseFeePerGas)),
    Effect.catchTag("TipAboveFeeCap", (error) => Effect.succeed(error.maxPriorityFeePerGas)),
    Effect.catchTag("IntrinsicGasTooLow", (error) => Effect.succeed(error.want)),
    Effect.catchTag("GasAllowanceExceeded", (error) => Effect.succeed(error.allowance)),
    Effect.catchTag("BlockGasLimitExceeded", (error) => Effect.succeed(error.limit)),
    Effect.catchTag("TxGasLimitTooHigh", (error) => Effect.succeed(error.limit)),
    Effect.catchTag("GasUintOverflow", (error) => Effect.succeed(error.raw)),
    Effect.catchTag("SenderNotEoa", (error) => Effect.succeed(error.account)),
    Effect.catchTag("InitCodeTooLarge", (error) => Effect.succeed(error.size)),
    Effect.catchTag("NoCode", (error) => Effect.succeed(error.account)),
    Effect.catchTag("UnknownDelegateCall", (error) => Effect.succeed(error.target)),
    Effect.catchTag("ChainIdMismatch", (error) => Effect.succeed(error.actual)),
  );
  expectTypeOf<Effect.Error<typeof caught>["_tag"]>().toEqualTypeOf<
    "PolicyViolation" | "SimulationDiverged" | "OutcomeChanged" | "WitnessesDisagree" | "NotProven" | "RpcError"
  >();
  const rest = caught.pipe(
    Effect.catchTag("PolicyViolation", (error) => Effect.succeed(error.policy)),
    Effect.catchTag("SimulationDiverged", (error) => Effect.succeed(error.differences)),
    Effect.catchTag("OutcomeChanged", (error) => Effect.succeed(error.differences)),
    Effect.catchTag("WitnessesDisagree", (error) => Effect.succeed(error.differences)),
    Effect.catchTag("NotProven", (error) => Effect.succeed(error.missing)),
  );
  expectTypeOf<Effect.Error<typeof rest>>().toEqualTypeOf<RpcError>();
});

test("an RpcError is recovered by its reason", () => {
  const recovered = failing.pipe(
    Effect.catchReason("RpcError", "RateLimited", (reason) => Effect.succeed(reason.retryAfterMs)),
    Effect.catchReason("RpcError", "LogRangeTooLarge", (reason) => Effect.succeed(reason.suggested)),
  );
  expectTypeOf<Effect.Success<typeof recovered>>().toEqualTypeOf<
    number | null | { readonly from: bigint; readonly to: bigint }
  >();
  expectTypeOf<RpcError["reason"]>().toEqualTypeOf<Reason>();
});

test("classify is total, and isVerdict tells its halves apart", () => {
  expectTypeOf(classify).toEqualTypeOf<(input: Parameters<typeof classify>[0]) => RpcError | Verdict>();
  expectTypeOf(decodeRevert).returns.toEqualTypeOf<Revert>();
  const answer = classify({ method: "eth_call" });
  if (isVerdict(answer)) expectTypeOf(answer).toEqualTypeOf<Verdict>();
  else expectTypeOf(answer).toEqualTypeOf<RpcError>();
});
