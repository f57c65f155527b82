/** Chains that charge beyond gas: OP-stack oracles with recorded parameters, and models of the caller's own. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import type { Hex } from "viem";
import * as Chains from "../../../src/Chains.js";
import * as Preflight from "../../../src/Preflight.js";
import * as artifacts from "../../contracts/artifacts.js";
import { rawRequest } from "../../harness/anvil.js";
import { calldata, layerOf, nobody, owner, third } from "../../preflight/scene.js";
import { onAnvil, patient, story, type Case, type Input } from "../cases.js";
import { people, type Stage } from "../stage.js";

type Parts = Partial<Chains.Chain>;

const on = (stage: Stage, input: Input, chain: Parts) =>
  Effect.runPromise(
    Preflight.preflight(input as never, patient).pipe(
      Effect.provide(Layer.merge(layerOf(stage.scene.url), Chains.layerWith(stage.scene.chainId, chain))),
    ),
  );

/** The chain's oracle is a contract of the cast. */
const opstack =
  (name: string) =>
  ({ at }: Stage): Parts => ({
    feeModel: "opstack",
    gasPriceOracle: at(name) as Chains.Chain["gasPriceOracle"],
  });

const transfer = () => ({ from: third.address, to: nobody, value: 1n });

const noise = (size: number): string =>
  Array.from({ length: size }, (_, index) =>
    ((Math.imul(index ^ (index >>> 7), 2_246_822_519) >>> 11) & 0xff).toString(16).padStart(2, "0"),
  ).join("");
const data = (hex: string) => (stage: Stage) => ({ from: third.address, to: stage.at("anything"), data: `0x${hex}` });

const cases: Readonly<Record<string, readonly [ask: (stage: Stage) => Input, chain: (stage: Stage) => Parts]>> = {
  "Fjord's oracle": [transfer, opstack("fjord")],
  "Isthmus's, with an operator fee": [transfer, opstack("isthmus")],
  "Jovian's, with an operator fee": [transfer, opstack("jovian")],
  "an oracle that asks for more than the formula": [transfer, opstack("skewed")],
  "an oracle from before Isthmus": [transfer, opstack("oldOracle")],
  "an oracle that reverts": [transfer, opstack("refusingOracle")],
  "an oracle that answers with nonsense": [transfer, opstack("anything")],
  "an oracle that answers too few bytes": [transfer, opstack("shortOracle")],
  "no oracle where there should be one": [
    transfer,
    () => ({ feeModel: "opstack", gasPriceOracle: nobody as Chains.Chain["gasPriceOracle"] }),
  ],
  "calldata that does not compress": [data(noise(3_000)), opstack("jovian")],
  "a legacy price": [(stage) => ({ ...data("01")(stage), gasPrice: 20_000_000_000n }), opstack("jovian")],
  "a bundle of two": [(stage) => [transfer(), data(noise(300))(stage)], opstack("fjord")],
  "a sender who can pay the gas and not the rest": [
    () => ({
      ...{ from: people.plain.address, to: nobody, gas: 21_000n, value: 10n ** 18n - 211n * 10n ** 12n },
      ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n },
    }),
    opstack("jovian"),
  ],
  "its cost inside the gas": [transfer, () => ({ feeModel: "arbitrum", txGasCap: null, minTip: 0n })],
  "blocks of its own": [
    transfer,
    () => ({ blockTimeMs: 2_000, elasticity: 6n, denominator: 250n, blockTag: "latest" }),
  ],
  "a floor under its base fee": [transfer, () => ({ minBaseFeePerGas: 5_000_000_000n })],
  "a flat fee of the caller's own": [
    transfer,
    () => ({
      feeModel: {
        name: "flat",
        queries: () => [],
        decide: () => ({ fees: { l1Fee: 7n, l1FeeAtMost: 9n, operatorFee: 1n, operatorFeeAtMost: 2n } }),
      },
    }),
  ],
  "a model that cannot read its fee": [
    transfer,
    () => ({ feeModel: { name: "mine", queries: () => [], decide: () => ({ unreadable: "my oracle is silent" }) } }),
  ],
};

const oracle = "0x420000000000000000000000000000000000000F";
const l1Block = "0x4200000000000000000000000000000000000015";

/** Puts the predeploys where an OP-stack chain has them: from then on the whole node looks like one. */
const predeployed = async (stage: Stage) => {
  const { scene } = stage;
  const install = (address: string, code: Hex) => rawRequest(scene.url, "anvil_setCode", [address, code]);
  await install(oracle, artifacts.FjordGasPriceOracle.deployedBytecode);
  await install(l1Block, artifacts.L1Block.deployedBytecode);
  const set = [0x5f19cf3n, 0x56d33bn, 0x8dd, 0x101c12, 100, 10n ** 12n, 3];
  await scene.send(owner, { to: oracle, data: calldata(artifacts.FjordGasPriceOracle, "set", set) });
  await scene.send(owner, { to: l1Block, data: calldata(artifacts.L1Block, "set", [60_000]) });
  await scene.mine();
  const reports = [await on(stage, transfer(), {}), await on(stage, data(noise(20_000))(stage), {})];
  await install(oracle, "0x");
  await install(l1Block, "0x");
  return reports;
};

export const chains: ReadonlyArray<Case> = onAnvil(
  Object.entries(cases).map(([name, [ask, chain]]) => ({
    names: [`chain with ${name}`],
    tell: async (stage) => [await on(stage, ask(stage), chain(stage))],
  })),
);

export const predeploys: ReadonlyArray<Case> = story(
  "predeploys",
  ["a transfer", "more data than a block holds"],
  predeployed,
  "anvil",
);
