/** What a chain charges beyond gas × price: read by its model, and what cannot be read is no zero. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lookup, type Chain, type FeeModel } from "../../../src/Chains.js";
import { noExtraFees, type FeeSubject } from "../../rooms/chains.js";
import { L1Fee } from "../../rooms/steps.js";
import { getL1Fee, getOperatorFee, isIsthmus, unseen, type View } from "../../rooms/witness.js";
import { account, answered, caseOf, chain, codes, gas, hexOf, outcome, seeing } from "../parts.js";

const subject = { unsigned: hexOf("0x02c0"), gasLimit: 1_000_000n };
const oracle = chain().gasPriceOracle;
const predeploys = (codeSize: number) =>
  L1Fee.queries(chain({ feeModel: "detect" }), [])
    .slice(0, 2)
    .map((query) => [query, account(`0x${"60".repeat(codeSize)}`)] as const);

interface Known {
  readonly before?: View;
  readonly after?: View;
  readonly about?: FeeSubject | null;
  readonly used?: bigint | null;
  readonly limit?: bigint | null;
}
const read = (on: Chain, oracles: View, known: Known = {}) => {
  const { about = subject, used = 400_000n, limit = 900_000n, before = unseen, after = unseen } = known;
  const one = { ...caseOf(), gas: gas(limit), outcome: outcome({ gasUsed: used }) };
  const { extra, findings } = L1Fee.read(one, {
    ...{ chain: on, oracles, before, after, subjectOf: () => about, blockGasLimit: 30_000_000n, horizonSeconds: 12 },
  });
  return { extra, codes: codes(findings), findings };
};

describe("the L1 fee of chains that charge gas × price", () => {
  it.each([1, 42161])("needs no query and adds nothing, on chain %s", (id) => {
    expect(L1Fee.queries(lookup(id), [subject])).toEqual([]);
    expect(read(lookup(id), unseen)).toEqual({ extra: noExtraFees, codes: [], findings: [] });
    expect(read(lookup(id), unseen, { about: null, limit: null }).extra).toEqual(noExtraFees);
  });
});

describe("the detection of an L1 fee", () => {
  const unknown = chain({ feeModel: "detect" });
  it("finds none without code at the predeploys", () =>
    expect(read(unknown, seeing(...predeploys(0))).extra).toEqual(noExtraFees));
  it("that failed is no zero", () => {
    const { extra, codes: found, findings } = read(unknown, unseen);
    expect([extra, found]).toEqual([null, ["L1FeeUnknown/unavailable"]]);
    expect(findings[0]).toMatchObject({ step: "funds", transaction: 0, evidence: "unavailable" });
    expect(findings[0]?.numbers[1]?.value).toBe("whether the chain charges L1 fees could not be checked");
  });
  it("asks the oracle where there is code, and its silence is no zero", () => {
    const { extra, codes: found } = read(unknown, seeing(...predeploys(9)));
    expect([extra, found]).toEqual([null, ["L1FeeUnknown/unavailable"]]);
  });
});

describe("the fee of an oracle that was deployed where none was known", () => {
  it("is unknown, not zero, because that was not asked about these bytes", () => {
    const { extra, findings } = read(chain({ feeModel: "detect" }), seeing(...predeploys(9)), { about: null });
    expect([extra, findings[0]?.numbers[1]?.value]).toEqual([
      null,
      "the chain's oracle was not asked about this transaction",
    ]);
  });
});

describe("the L1 fee of an incomplete transaction", () => {
  it("is unknown, and the missing part has its own finding", () => {
    const charging = chain({ feeModel: "opstack" });
    expect(read(charging, unseen, { about: null })).toMatchObject({ extra: null, codes: [] });
    expect(read(charging, unseen, { limit: null })).toMatchObject({ extra: null, codes: [] });
  });
});

describe("the operator fee between two gas values", () => {
  const charging = chain({ feeModel: "opstack" });
  it("is within a wei of the line, at any gas", () =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 64n }),
        fc.bigInt({ min: 0n, max: 2n ** 32n }),
        fc.bigInt({ min: 0n, max: 1_000_000n }),
        (constant, scalar, used) => {
          const at = (amount: bigint) => amount * scalar * 100n + constant;
          const oracles = seeing(
            [getL1Fee(subject.unsigned, oracle), answered(7n)],
            [getOperatorFee(0n, oracle), answered(at(0n))],
            [getOperatorFee(subject.gasLimit, oracle), answered(at(subject.gasLimit))],
          );
          const { extra } = read(charging, oracles, { used, limit: 1_000_000n });
          expect(extra?.operatorFeeAtMost).toBe(at(1_000_000n));
          const off = (extra?.operatorFee ?? -9n) - at(used);
          expect(off >= 0n && off <= 1n).toBe(true);
        },
      ),
    ));
  it("has a finding where the node credits it and the oracle does not know it, and its constant is covered", () => {
    const oracles = seeing([getL1Fee(subject.unsigned, oracle), answered(7n)], [isIsthmus(oracle), answered(0n)]);
    const vault = (balance: bigint) =>
      seeing(...L1Fee.earnings(true).map((query) => [query, account("0x", balance)] as const));
    const charged = { before: vault(50n), after: vault(90n), used: 400n, limit: 1_000n };
    const { extra, codes: found } = read(charging, oracles, charged);
    expect(found).toEqual(["L1FeeUnknown/unavailable"]);
    expect([extra?.operatorFee, extra?.operatorFeeAtMost]).toEqual([40n, 101n]);
    expect(L1Fee.earnings(false)).toEqual([]);
    for (const silent of [
      { before: vault(90n), after: vault(90n) },
      { before: vault(91n), after: vault(90n) },
      { before: unseen, after: vault(90n) },
      { before: vault(1n), after: unseen },
    ])
      expect([read(charging, oracles, silent).extra?.operatorFee, read(charging, oracles, silent).codes]).toEqual([
        0n,
        [],
      ]);
  });
  it("is unknown, not zero, where it is there but cannot be read", () => {
    const oracles = seeing([getL1Fee(subject.unsigned, oracle), answered(7n)], [isIsthmus(oracle), answered(1n)]);
    expect(read(charging, oracles).extra).toBeNull();
  });
});

describe("a caller's fee model", () => {
  const readWith = (decide: () => ReturnType<FeeModel["decide"]>) => {
    const feeModel: FeeModel = { name: "mine", queries: () => [], decide };
    return read(chain({ feeModel }), unseen);
  };
  it("is believed within reason", () => {
    const fees = { l1Fee: 1n, l1FeeAtMost: 2n, operatorFee: 3n, operatorFeeAtMost: 4n };
    expect(readWith(() => ({ fees })).extra).toEqual(fees);
    expect(readWith(() => ({ fees: { ...fees, l1FeeAtMost: 0n } })).extra).toBeNull();
    expect(readWith(() => ({ fees: { ...fees, operatorFeeAtMost: 1n << 250n } })).extra).toBeNull();
  });
  it("may limit the data of a block and disagree with the chain", () => {
    const decided = readWith(() => ({ fees: noExtraFees, dataGas: 30_000_001n, disagrees: { chain: 1n, own: 2n } }));
    expect(decided.codes).toEqual(["L1FeeDisagrees/info", "BlockGasLimitExceeded/blocker"]);
    expect(readWith(() => ({ fees: noExtraFees, dataGas: 30_000_000n })).codes).toEqual([]);
  });
  it("gives no fees where it throws while it decides", () => {
    const broken = readWith(() => {
      throw new Error("no");
    });
    expect([broken.extra, broken.codes]).toEqual([null, ["L1FeeUnknown/unavailable"]]);
  });
  it("has no queries where it throws while it is asked for them", () => {
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
