import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lookup, type FeeDecision, type FeeModel } from "../../src/Chains.js";
import { noExtraFees } from "../../src/chains/feeModel.js";
import { Hash, Hex } from "../../src/primitives/hex.js";
import * as L1Fee from "../../src/steps/reading/l1Fee.js";
import type { Answer } from "../../src/witness/answers.js";
import { encodeQueries, getL1Fee, getOperatorFee, isIsthmus, type Query } from "../../src/witness/queries.js";
import { chain } from "./parts.js";

const subject = { unsigned: Hex.make("0x02c0"), gasLimit: 1_000_000n };
const gas = { used: 400_000n, limit: 900_000n };
const context = { blockGasLimit: 30_000_000n, horizonSeconds: 12 };
const silent = () => undefined;
const oracle = chain().gasPriceOracle;

const account = (codeSize: bigint): Answer => ({
  kind: "account",
  balance: 0n,
  codeHash: Hash.make(`0x${"0".repeat(64)}`),
  codeSize,
  codePrefix: Hex.make("0x"),
});
const word = (value: bigint): Answer => ({
  kind: "call",
  success: true,
  size: 32n,
  data: Hex.make(`0x${value.toString(16).padStart(64, "0")}`),
});
const table = (...rows: ReadonlyArray<readonly [Query, Answer]>) => {
  const answers = new Map(rows.map(([query, answer]) => [encodeQueries([query]), answer]));
  return (query: Query) => answers.get(encodeQueries([query]));
};
const predeploys = (codeSize: bigint) =>
  L1Fee.queries(chain({ feeModel: "detect" }), [])
    .slice(0, 2)
    .map((query) => [query, account(codeSize)] as const);
const severities = (decision: ReturnType<typeof L1Fee.decide>) =>
  decision.findings.map(({ code, severity }) => `${code}/${severity}`);

describe("chains that charge gas × price", () => {
  it.each([1, 42161])("chain %s: nothing is asked, nothing is added", (id) => {
    expect(L1Fee.queries(lookup(id), [subject])).toEqual([]);
    expect(L1Fee.decide(lookup(id), subject, gas, 0, silent, context)).toEqual({ output: noExtraFees, findings: [] });
  });
});

describe("detection", () => {
  const unknown = chain({ feeModel: "detect" });
  it("without code at the predeploys is a chain without such fees", () =>
    expect(L1Fee.decide(unknown, subject, gas, 0, table(...predeploys(0n)), context).output).toEqual(noExtraFees));
  it("that nobody could make is no zero", () => {
    const decision = L1Fee.decide(unknown, subject, gas, 0, silent, context);
    expect(decision.output).toBeNull();
    expect(severities(decision)).toEqual(["EvidenceReduced/unavailable"]);
  });
  it("with code asks the oracle, whose silence is no zero", () => {
    const decision = L1Fee.decide(unknown, subject, gas, 0, table(...predeploys(9n)), context);
    expect(decision.output).toBeNull();
    expect(severities(decision)).toEqual(["EvidenceReduced/unavailable"]);
  });
});

describe("the operator fee between two points", () => {
  it("is within a wei of the line, at any gas", () =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 64n }),
        fc.bigInt({ min: 0n, max: 2n ** 32n }),
        fc.bigInt({ min: 0n, max: 1_000_000n }),
        (constant, scalar, used) => {
          const at = (amount: bigint) => amount * scalar * 100n + constant;
          const decision = L1Fee.decide(
            chain({ feeModel: "opstack" }),
            subject,
            { used, limit: 1_000_000n },
            0,
            table(
              [getL1Fee(subject.unsigned, oracle), word(7n)],
              [getOperatorFee(0n, oracle), word(at(0n))],
              [getOperatorFee(subject.gasLimit, oracle), word(at(subject.gasLimit))],
            ),
            context,
          );
          expect(decision.output?.operatorFeeAtMost).toBe(at(1_000_000n));
          const off = (decision.output?.operatorFee ?? -9n) - at(used);
          expect(off >= 0n && off <= 1n).toBe(true);
        },
      ),
    ));
  it("that is there but cannot be read is no zero", () => {
    const rows = [
      [getL1Fee(subject.unsigned, oracle), word(7n)],
      [isIsthmus(oracle), word(1n)],
    ] as const;
    const decision = L1Fee.decide(chain({ feeModel: "opstack" }), subject, gas, 0, table(...rows), context);
    expect(decision.output).toBeNull();
  });
});

describe("a model of the caller's own", () => {
  const decideWith = (decide: () => FeeDecision) => {
    const feeModel: FeeModel = { name: "mine", queries: () => [], decide };
    return L1Fee.decide(chain({ feeModel }), subject, gas, 0, silent, context);
  };
  it("is taken at its word within reason", () => {
    const fees = { l1Fee: 1n, l1FeeAtMost: 2n, operatorFee: 3n, operatorFeeAtMost: 4n };
    expect(decideWith(() => ({ fees })).output).toEqual(fees);
    expect(decideWith(() => ({ fees: { ...fees, l1FeeAtMost: 0n } })).output).toBeNull();
    expect(decideWith(() => ({ fees: { ...fees, operatorFeeAtMost: 1n << 250n } })).output).toBeNull();
  });
  it("may limit the data of a block and disagree with the chain", () => {
    const decision = decideWith(() => ({
      fees: noExtraFees,
      dataGas: 30_000_001n,
      disagrees: { chain: 1n, own: 2n },
    }));
    expect(severities(decision)).toEqual(["L1FeeDisagrees/info", "BlockGasLimitExceeded/blocker"]);
    expect(severities(decideWith(() => ({ fees: noExtraFees, dataGas: 30_000_000n })))).toEqual([]);
  });
  it("that throws while it is asked for queries asks nothing", () => {
    const feeModel: FeeModel = {
      name: "mine",
      queries: () => {
        throw new Error("no");
      },
      decide: () => ({ fees: noExtraFees }),
    };
    expect(L1Fee.queries(chain({ feeModel }), [subject])).toEqual([]);
  });
});
