/** OP-stack fees over oracles at the predeploys' addresses, with fee parameters recorded on main networks. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { serializeTransaction, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Chains from "../../src/Chains.js";
import { fjordL1Fee, oracleLength } from "../rooms/chains.js";
import { Branded } from "../rooms/primitives.js";
import * as Preflight from "../../src/Preflight.js";
import { type BundleReport } from "../../src/Report.js";
import * as Step from "../../src/Step.js";
import * as artifacts from "../contracts/artifacts.js";
import { rawRequest } from "../harness/anvil.js";
import { calldata, codesOf, layerOf, nobody, owner, startAnvilScene, third, type Scene } from "./scene.js";

const oracle = "0x420000000000000000000000000000000000000F";
const l1Block = "0x4200000000000000000000000000000000000015";

/** Recorded on Base (Jovian): see test/chains/opStack.test.ts. */
const base = {
  l1BaseFee: 0x5f19cf3n,
  blobBaseFee: 0x56d33bn,
  baseFeeScalar: 0x8dd,
  blobBaseFeeScalar: 0x101c12,
};
const parameters = {
  ...base,
  baseFeeScalar: BigInt(base.baseFeeScalar),
  blobBaseFeeScalar: BigInt(base.blobBaseFeeScalar),
};
const forks = { fjord: 1, jovian: 3 } as const;

let scene: Scene;
beforeAll(async () => {
  scene = await startAnvilScene();
});
afterAll(() => scene?.stop());

const install = (address: string, code: Hex) => rawRequest(scene.url, "anvil_setCode", [address, code]);
const setOracle = async (fork: keyof typeof forks, skew = 0n) => {
  await install(oracle, artifacts.FjordGasPriceOracle.deployedBytecode);
  await install(l1Block, artifacts.L1Block.deployedBytecode);
  const set = [...Object.values(base), 0, 0n, forks[fork]];
  await scene.send(owner, { to: oracle, data: calldata(artifacts.FjordGasPriceOracle, "set", set) });
  await scene.send(owner, { to: oracle, data: calldata(artifacts.FjordGasPriceOracle, "setSkew", [skew]) });
  await scene.send(owner, { to: l1Block, data: calldata(artifacts.L1Block, "set", [0x94]) });
  await scene.mine();
};

const run = (input: object, chain: Partial<Chains.Chain> = {}): Promise<BundleReport> =>
  Effect.runPromise(
    Preflight.preflight({ from: third.address, ...input } as never).pipe(
      Effect.provide(Layer.merge(layerOf(scene.url), Chains.layerWith(31337, chain))),
    ),
  );
const termOf = (report: BundleReport, name: string): bigint =>
  report.funds[0]?.terms.filter((term) => term.name === name).reduce((sum, { amount }) => sum + amount, 0n) ?? 0n;
/** The L1 fee by the formula over the very bytes that are handed out. */
const formula = (report: BundleReport): bigint => {
  const { request } = report.transactions[0];
  if (request === null) throw new Error(`no request: ${codesOf(report).join(" ")}`);
  return fjordL1Fee(oracleLength(Branded.Hex.make(serializeTransaction(request))), parameters);
};
const minuteLater = (fee: bigint): bigint => {
  let most = fee;
  for (let block = 0; block < 5; block++) most += (most + 7n) / 8n;
  return most;
};

describe("the L1 fee", () => {
  it("is the oracle's for the exact bytes, equal to the formula, with room for a minute of L1 blocks", async () => {
    await setOracle("fjord");
    const report = await run({ to: nobody, value: 1n });
    expect(codesOf(report).filter((code) => !code.endsWith("/info"))).toEqual([]);
    expect(report.verdict).toBe("ready");
    expect(codesOf(report)).not.toContain("L1FeeDisagrees/info");
    expect(termOf(report, "l1Fee")).toBe(minuteLater(formula(report)));
    const [funds] = report.funds;
    const { gas, fee } = report.transactions[0];
    expect(funds?.required).toBe(1n + (gas.limit ?? 0n) * (fee.maxFeePerGas ?? 0n) + termOf(report, "l1Fee"));
    const price = (fee.baseFeePerGas ?? 0n) + (fee.maxPriorityFeePerGas ?? 0n);
    expect(funds?.expected).toBe(1n + (gas.used ?? 0n) * price + formula(report));
  });
  it("counts the bytes of every type: calldata, access lists, authorisations", async () => {
    await setOracle("jovian");
    const anything = await scene.deploy(artifacts.GarbageGasPriceOracle);
    const signed = await owner.signAuthorization({ contractAddress: anything, chainId: 31337, nonce: 9_999 });
    const { r, s, yParity = 0 } = signed;
    const entry = { address: anything, chainId: 31337, nonce: 9_999, r, s, yParity };
    const noise = Array.from({ length: 3_000 }, (_, index) =>
      (Math.imul(index + 7, 48_271) % 251).toString(16).padStart(2, "0"),
    ).join("");
    const fees: Array<bigint> = [];
    for (const input of [
      { to: anything, data: `0x${noise}` },
      { to: anything, data: "0x01", accessList: [{ address: anything, storageKeys: [`0x${noise.slice(0, 64)}`] }] },
      { to: anything, data: "0x01", authorizationList: [entry, entry, entry] },
      { to: anything, data: "0x01", gasPrice: 2_000_000_000n },
    ]) {
      const report = await run(input);
      expect(["ready", "caution"]).toContain(report.verdict);
      expect(codesOf(report)).not.toContain("L1FeeDisagrees/info");
      expect(termOf(report, "l1Fee")).toBe(minuteLater(formula(report)));
      fees.push(termOf(report, "l1Fee"));
    }
    expect(fees[0]).toBeGreaterThan(fees[2] ?? 0n);
    expect(fees[2]).toBeGreaterThan(fees[3] ?? 0n);
  });
  it("of data too large for a contract to compress comes from the formula", async () => {
    await setOracle("jovian", 5n);
    const anything = await scene.deploy(artifacts.GarbageGasPriceOracle);
    const report = await run({ to: anything, data: `0x${"00c0ffee".repeat(10_000)}` });
    expect(report.verdict).toBe("ready");
    expect(termOf(report, "l1Fee")).toBe(minuteLater(formula(report)));
  });
});

it("a caller's fee model is one object: the queries, and the fee that follows", async () => {
  const token = await scene.deploy(artifacts.GasPriceOracle);
  await scene.send(owner, { to: token, data: calldata(artifacts.GasPriceOracle, "set", [3n, 500n, 0n, 0n, 0]) });
  await scene.mine();
  const query = Step.staticCall(
    Branded.Address.make(token),
    Branded.Hex.make(calldata(artifacts.GasPriceOracle, "base")),
  );
  const feeModel: Chains.FeeModel = {
    name: "mine",
    queries: () => [query],
    decide: (_, { limit }, view) => {
      const fee = Chains.readUint256(view.call(query));
      if (fee === null) return { unreadable: "my oracle did not answer" };
      return { fees: { l1Fee: fee, l1FeeAtMost: fee * 2n, operatorFee: 0n, operatorFeeAtMost: limit } };
    },
  };
  const report = await run({ to: nobody, value: 1n }, { feeModel });
  expect(report.verdict).toBe("ready");
  expect([termOf(report, "l1Fee"), termOf(report, "operatorFee")]).toEqual([1_000n, 21_000n]);
});
