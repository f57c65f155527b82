/** What forks and chains rule differently, each by transactions at its edge, beside what the node makes of them. */
import assert from "node:assert/strict";
import type { Hex } from "viem";
import { rawRequest } from "../anvil.js";
import type { Bed, BedName } from "./beds.js";
import { kinds, seeded, type Case } from "./cases.js";
import { isRight, measure, type Sample } from "./run.js";

const somebody = "0x00000000000000000000000000000000000fee00";
const someoneNew = "0x00000000000000000000000000000000acc00001";

interface Ground {
  readonly on: Bed;
  readonly name: BedName;
  /** It is handed out and does what was said. */
  readonly works: (...inputs: readonly [Case, ...ReadonlyArray<Case>]) => Promise<Sample>;
  /** It is blocked, and the node refuses it or it fails; where it is not certain which rules are in force, only told. */
  readonly isStopped: (input: Case) => Promise<void>;
  readonly drawn: (kind: string) => Promise<readonly [Case, ...ReadonlyArray<Case>]>;
}

const isHybrid = (name: BedName) => name === "geth --dev";
export const isOpStack = (name: BedName) => name.startsWith("op-geth");
const isAmsterdam = (name: BedName) => name === "geth, Amsterdam";
const isCapped = (name: BedName) => name.endsWith(", Osaka") || isHybrid(name);

export const groundOf = (name: BedName, on: Bed): Ground => {
  const random = seeded(1);
  const said = ({ report, against, mined, worksAnyway, deviation }: Sample) =>
    JSON.stringify({ verdict: report.verdict, against, mined, worksAnyway, deviation }, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
  return {
    ...{ on, name },
    works: async (...inputs) => {
      const sample = await measure(on, name, inputs);
      assert(isRight(sample), said(sample));
      return sample;
    },
    isStopped: async (input) => {
      const sample = await measure(on, name, [input]);
      assert(!sample.worksAnyway, said(sample));
      if (isHybrid(name)) assert(sample.against.includes("RulesUncertain"), said(sample));
      else assert.equal(sample.report.verdict, "blocked", said(sample));
    },
    drawn: async (kind) => (await kinds[kind]?.(on.stage, random)) ?? [{}],
  };
};

const blockOf = async ({ on }: Ground) =>
  (await rawRequest(on.url, "eth_getBlockByNumber", ["latest", false])) as Record<"gasLimit" | "baseFeePerGas", Hex>;

/** By name; what is no rule of a chain is not tried there. */
export const rules: Readonly<
  Record<string, { readonly isOf?: (name: BedName) => boolean; readonly prove: (ground: Ground) => Promise<void> }>
> = {
  "gas of one transaction (EIP-7825)": {
    prove: async ({ name, works, isStopped }) => {
      const above = { to: somebody, value: 1n, gas: 2n ** 24n + 1n } as const;
      await works({ ...above, gas: 2n ** 24n });
      await (isCapped(name) ? isStopped(above) : works(above));
    },
  },
  "gas of one block": {
    prove: async (ground) => {
      const { gasLimit } = await blockOf(ground);
      await ground.isStopped({ to: somebody, value: 1n, gas: BigInt(gasLimit) + 100_000n });
    },
  },
  "size of init code (EIP-3860, EIP-7954)": {
    prove: async ({ name, works, isStopped }) => {
      const deploying = (bytes: number): Case => ({ data: `0x${"00".repeat(bytes)}` });
      await works(deploying(49_152));
      await (isAmsterdam(name) ? works(deploying(60_000)) : isStopped(deploying(49_153)));
    },
  },
  "intrinsic gas, and the floor of calldata (EIP-2930, EIP-7623)": {
    prove: async ({ on, works, isStopped }) => {
      const { anything = "0x", token = "0x" } = on.stage.at;
      const accessList = [{ address: token, storageKeys: [`0x${"00".repeat(32)}` as const] }];
      const data = `0x${"00".repeat(2_000)}11` as const;
      for (const input of [
        { to: anything, data },
        { to: somebody, accessList },
      ] as const) {
        const { mined } = await works(input);
        const least = mined?.[0]?.gasUsed ?? 0n;
        await works({ ...input, gas: least });
        await isStopped({ ...input, gas: least - 1n });
      }
    },
  },
  "a new account, and two hundred new words (EIP-8037)": {
    prove: async ({ name, works, isStopped, drawn }) => {
      const { mined } = await works({ to: someoneNew, value: 1n });
      assert((mined?.[0]?.gasLimit ?? 0n) * 50n <= (mined?.[0]?.gasUsed ?? 0n) * 51n, "a transfer has gas to spare");
      const words = await drawn("two hundred new words");
      // why: the words have the price of one fork there, and a transaction the cap of the other
      await (isHybrid(name) ? isStopped(words[0]) : works(...words));
    },
  },
  "a native move is told once (EIP-7708)": {
    prove: async ({ works, drawn }) => {
      const { report } = await works(...(await drawn("value split")));
      const moves = report.transfers.filter(({ standard }) => standard === "native");
      assert(moves.length > 1);
      assert.equal(new Set(moves.map(({ from, to }) => `${from} ${to}`)).size, moves.length);
    },
  },
  "refunds and the peak before them, in a bundle too (EIP-3529)": {
    prove: async ({ name, works, drawn }) => {
      const clearing = await drawn("storage cleared (refunds)");
      await works(...clearing);
      // why: it mines what comes, so that the second is in a block of another base fee
      if (!isHybrid(name)) await works(...(await drawn("token transfer")), ...clearing);
    },
  },
  "delegations (EIP-7702)": {
    isOf: (name) => name !== "op-geth, Fjord",
    prove: async ({ works, drawn }) => void (await works(...(await drawn("EIP-7702 delegation")))),
  },
  "what asks for a gas price": {
    prove: async ({ works, drawn }) => void (await works(...(await drawn("asks for a gas price")))),
  },
  "base fee of the next block, and the least there may be": {
    prove: async (ground) => {
      const { report } = await ground.works({ to: somebody, value: 1n });
      assert.equal(report.transactions[0]?.fee.baseFeePerGas, BigInt((await blockOf(ground)).baseFeePerGas));
    },
  },
  "fees for L1 and for the operator": {
    isOf: isOpStack,
    prove: async ({ works, drawn }) => {
      for (const kind of ["large calldata (EIP-7623 floor)", "deployment"]) await works(...(await drawn(kind)));
    },
  },
};
