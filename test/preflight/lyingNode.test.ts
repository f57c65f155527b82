/** A node that lies or talks nonsense: never a defect, and never a `ready` that rests on it. */
import * as Effect from "effect/Effect";
import fc from "fast-check";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import {
  preflightOn,
  quantity,
  scenesFor,
  severe,
  tampered,
  type Purpose,
  type Scene,
  type Tampering,
} from "./scene.js";
import { furnish, transferOf } from "./furnished.js";
import { blockOf, witnessSays, type BlockWire, type Wire } from "./wire.js";

/** The runs of a preflight that nothing is in doubt of. */
const runs = ["ample", "readerOnly", "exact", "next"] as const;

describe.each(scenesFor("lying answers"))("lying answers of %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  const transfer = () => transferOf(token);

  const garbage =
    (purpose: Purpose, change: (data: Hex) => Hex): Tampering =>
    (asked) =>
      asked.purpose === purpose ? witnessSays(change) : null;
  const changes: Readonly<Record<string, (data: Hex) => Hex>> = {
    nothing: () => "0x",
    noise: () => `0x${"5a".repeat(400)}`,
    "cut short": (data) => data.slice(0, 40) as Hex,
    "no gas left": () => "0x7769743100",
  };
  it.each(Object.entries(changes))("give no false ready where the witness says %s", async (_, change) => {
    for (const purpose of runs) {
      const report = await preflightOn(tampered(scene.url, garbage(purpose, change)), transfer());
      // the witness alone is one of two sources of everything it says, except L1 fees
      const isProof = purpose === "exact" || purpose === "next";
      expect(["unknown", "caution", ...(isProof ? [] : ["ready"])], purpose).toContain(report.verdict);
    }
    const everywhere = await preflightOn(
      tampered(scene.url, ({ method }) => (method === "eth_simulateV1" ? witnessSays(change) : null)),
      transfer(),
    );
    expect(everywhere.verdict).toBe("unknown");
  });

  it("are never a defect, with random bytes changed in any answer of the witness", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(2_000), fc.nat(255), fc.constantFrom(...runs), async (at, byte, which) => {
        const change = (data: Hex): Hex => {
          const index = 2 + 2 * (at % Math.max(1, (data.length - 2) / 2));
          return `${data.slice(0, index)}${byte.toString(16).padStart(2, "0")}${data.slice(index + 2)}` as Hex;
        };
        const report = await preflightOn(tampered(scene.url, garbage(which, change)), transfer());
        expect(["ready", "caution", "unknown", "blocked"]).toContain(report.verdict);
        expect(await Effect.runPromise(Report.fromJson(Report.toJson(report)))).toEqual(report);
        expect(Report.toText(report)).not.toBe("");
      }),
      { numRuns: name === "anvil" ? 25 : 8 },
    );
  });

  const answered = (purpose: Purpose, result: unknown) =>
    preflightOn(
      tampered(scene.url, (asked) => (asked.purpose === purpose ? () => result : null)),
      transfer(),
    );

  it("are never a defect with counts of any size", async () => {
    for (const result of [quantity(2n ** 256n - 1n), quantity(2n ** 64n - 1n), quantity(2n ** 53n), "0x", -1, null]) {
      for (const purpose of ["latest count", "pending count"])
        expect((await answered(purpose, result)).verdict, `${purpose} ${result}`).not.toBe("ready");
    }
    const most = await answered("pending count", quantity(2n ** 52n));
    expect([most.verdict, most.transactions[0].nonce.value]).toEqual(["unknown", 2 ** 52]);
    const bundle = await preflightOn(
      tampered(scene.url, ({ purpose }) => (purpose.endsWith("count") ? () => quantity(2n ** 52n) : null)),
      [transfer(), transfer(), transfer()],
    );
    expect(bundle.transactions[2]?.nonce.value).toBe(2 ** 52 + 2);
    const backwards = await answered("pending count", "0x0");
    expect(severe(backwards)).toContain("CountsDisagree/warning");
  });

  it("are never a defect in a simulation with too few, too many, or contradicting calls", async () => {
    const shapes: ReadonlyArray<(block: BlockWire) => unknown> = [
      (block) => [{ ...block, calls: block.calls.slice(1) }],
      (block) => [{ ...block, calls: [...block.calls, block.calls[0]] }],
      (block) => [block, block],
      () => [],
      () => null,
      () => "0x",
      (block) => [{ ...block, calls: block.calls.map((call) => ({ ...call, status: "0x2" })) }],
      (block) => [
        {
          ...block,
          calls: block.calls.map((call) => ({ ...call, error: { code: 3, message: "execution reverted" } })),
        },
      ],
      (block) => [{ ...block, calls: block.calls.map((call) => ({ ...call, gasUsed: quantity(2n ** 255n) })) }],
      (block) => [
        {
          ...block,
          calls: block.calls.map((call) => ({ ...call, logs: [{ address: "0x", topics: [], data: "0x" }] })),
        },
      ],
      (block) => [{ ...block, calls: block.calls.map((call) => ({ ...call, logs: {} })) }],
    ];
    for (const [index, shape] of shapes.entries()) {
      for (const purpose of ["ample", "exact", "next"]) {
        const lying = tampered(scene.url, (asked) =>
          asked.purpose === purpose ? (result) => shape(blockOf(result)) : null,
        );
        const report = await preflightOn(lying, transfer());
        expect(report.verdict, `shape ${index} of ${purpose}`).not.toBe("ready");
      }
    }
  });

  it("are never a defect in estimates and fees of any size", async () => {
    for (const result of ["0x0", quantity(2n ** 256n - 1n), quantity(2n ** 64n)]) {
      const report = await answered("eth_estimateGas", result);
      expect(report.transactions[0].outcome.status, result).toBe("success");
      if (result !== "0x0") expect(report.verdict, result).not.toBe("ready");
    }
    const block = (await scene.ask("eth_getBlockByNumber", ["latest", false])) as Wire;
    for (const baseFeePerGas of ["0x0", quantity(2n ** 256n - 1n)]) {
      const report = await answered("eth_getBlockByNumber", { ...block, baseFeePerGas });
      expect(["ready", "caution", "blocked", "unknown"]).toContain(report.verdict);
      if (baseFeePerGas !== "0x0") expect(report.verdict).not.toBe("ready");
    }
    const history = {
      oldestBlock: "0x0",
      baseFeePerGas: ["0x1", quantity(2n ** 256n - 1n)],
      gasUsedRatio: [1],
      reward: [["0x1", "0x1", quantity(2n ** 255n)]],
    };
    // an announced base fee is held to one full block above what was seen, so that it harms nobody
    const [honest, lied] = [
      await preflightOn(
        tampered(scene.url, () => null),
        transfer(),
      ),
      await answered("eth_feeHistory", history),
    ];
    const [cap, told] = [honest, lied].map(({ transactions: [one] }) => BigInt(one.request?.maxFeePerGas ?? 0n));
    expect(told).toBeGreaterThan(0n);
    expect(Number(told) / Number(cap)).toBeLessThan(1.5);
  });
});
