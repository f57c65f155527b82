/** Tokens that fight back: they change neither what the user's call does, nor what is measured of others. */
import fc from "fast-check";
import { numberToHex, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import * as Report from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { modes } from "../witness/cast.js";
import { calldata, other, owner, preflight, scenesFor, type Scene } from "./scene.js";
import { sendingFrom } from "./troupe.js";
import { runs } from "../harness/parts.js";

const me = owner.address.toLowerCase() as Hex;
const you = other.address.toLowerCase() as Hex;

interface Simulated {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly returnData: Hex;
  readonly logs: ReadonlyArray<{ readonly address: Hex; readonly topics: ReadonlyArray<Hex>; readonly data: Hex }>;
}

describe.each(scenesFor("hostile tokens"))("hostile tokens on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  let nft: Hex;
  let metadata: Hex;
  let hostile: ReadonlyArray<Hex>;
  beforeAll(async () => {
    scene = await start();
    const { send, deploy, mined } = await sendingFrom(scene);
    token = await deploy(artifacts.Token, ["Gold", "GLD", 18]);
    nft = await deploy(artifacts.Nft);
    metadata = await deploy(artifacts.HostileMetadata);
    await mined();
    const made: Array<Hex> = [];
    for (const index of modes.keys()) made.push(await deploy(artifacts.HostileToken, [index]));
    hostile = made;
    await mined();
    for (const to of [token, ...hostile]) await send({ to, data: calldata(artifacts.Token, "mint", [me, 1_000_000n]) });
    await send({ to: nft, data: calldata(artifacts.Nft, "mint", [me, 1n]) });
    await mined();
  });
  afterAll(() => scene?.stop());

  const honest = (amount: bigint) => ({
    from: me,
    to: token,
    data: calldata(artifacts.Token, "transfer", [you, amount]),
  });
  const fighting = (mode: number, name: string, args: ReadonlyArray<unknown>) => ({
    from: me,
    to: hostile[mode] ?? token,
    data: calldata(artifacts.HostileToken, name, args),
  });

  /** The exact requests of a report, simulated with nobody watching. */
  const unwatched = async (report: Report.Report): Promise<ReadonlyArray<Simulated>> => {
    const calls = report.transactions.map(({ input, request }) => {
      if (request === null) throw new Error("a hole");
      const { to, data, value, gas, nonce, maxFeePerGas, maxPriorityFeePerGas } = request;
      return {
        ...{
          from: input.from,
          to,
          data,
          value: numberToHex(value ?? 0n),
          gas: numberToHex(gas),
          nonce: numberToHex(nonce),
        },
        ...{
          maxFeePerGas: numberToHex(maxFeePerGas ?? 0n),
          maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas ?? 0n),
        },
      };
    });
    const payload = { blockStateCalls: [{ calls }], validation: true };
    const [block] = (await scene.ask("eth_simulateV1", [payload, "pending"])) as [{ calls: ReadonlyArray<Simulated> }];
    return block.calls;
  };

  it("leave the user's own result the same with and without the witness, and others are measured as ever", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(modes.length - 1),
        fc.nat(modes.length - 1),
        fc.bigInt({ min: 1n, max: 1000n }),
        fc.constantFrom("transfer", "transferPrimed"),
        async (first, second, amount, name) => {
          const report = await preflight(scene.url, [
            fighting(first, name, [you, amount]),
            fighting(second, "approve", [token, amount]),
            honest(amount),
          ]);
          expect(report.stage, `${modes[first]} and ${modes[second]}`).toBe("proven");
          const plain = await unwatched(report);
          expect(
            report.transactions.map(({ outcome }) => [
              outcome.status === "success" ? "0x1" : "0x0",
              outcome.gasUsed,
              outcome.returnData,
              outcome.logs.map(({ address, topics, data }) => ({ address, topics, data })),
            ]),
          ).toEqual(
            plain.map(({ status, gasUsed, returnData, logs }) => [
              status,
              BigInt(gasUsed),
              returnData,
              logs.map(({ address, topics, data }) => ({ address, topics, data })),
            ]),
          );
          const of = (account: Hex) =>
            report.balanceChanges.find((change) => change.token === token && change.account === account);
          expect([of(me)?.delta, of(me)?.evidence, of(you)?.delta, of(you)?.evidence]).toEqual([
            ...[-amount, "measured", amount, "measured"],
          ]);
          const info = report.tokens.find((one) => one.token === token);
          expect([info?.symbol, info?.decimals]).toEqual(["GLD", 18]);
          // eslint-disable-next-line no-control-regex
          expect(Report.toText(report)).not.toMatch(/[\u202e\u0007]/);
        },
      ),
      { numRuns: runs(24), seed: 4 },
    );
  });

  it("cannot starve the other questions, all of them at once", async () => {
    const bundle = [...hostile.keys()].map((mode) => fighting(mode, "transfer", [you, 3n]));
    const report = await preflight(scene.url, [...bundle, honest(5n)]);
    const measured = report.balanceChanges.filter((change) => change.token === token);
    expect(measured.map(({ delta, evidence }) => [delta, evidence])).toEqual([
      [-5n, "measured"],
      [5n, "measured"],
    ]);
    expect(report.transactions.map(({ outcome }) => outcome.status)).toEqual(
      bundle.map(() => "success").concat("success"),
    );
  });

  it("are shown bounded and harmless, with metadata of any shape", async () => {
    const { send, mined } = await sendingFrom(scene);
    const text = Buffer.from("\u001b[2JUSD\u202eC");
    const evil: ReadonlyArray<Hex> = [
      "0x",
      `0x${"ff".repeat(32)}`,
      `0x${"00".repeat(31)}20${"ff".repeat(32)}`,
      `0x${"00".repeat(31)}20${"00".repeat(30)}ffff${"41".repeat(600)}`,
      `0x${"00".repeat(31)}20${"00".repeat(31)}${text.length.toString(16).padStart(2, "0")}${text.toString("hex").padEnd(64, "0")}`,
    ];
    const shown: Array<readonly [string | null, number | null]> = [];
    for (const data of evil) {
      await send({ to: metadata, data: calldata(artifacts.HostileMetadata, "set", [data, data, 2n ** 200n]) });
      await mined();
      // a policy over it makes it a token to ask
      const report = await preflight(scene.url, honest(1n), { policies: [Policy.maxSpent(metadata, 0n)] });
      expect([report.stage, report.verdict]).toEqual(["proven", "unknown"]);
      const found = report.tokens.find((info) => info.token === metadata);
      shown.push([found?.symbol ?? null, found?.decimals ?? null]);
      // eslint-disable-next-line no-control-regex
      expect(Report.toText(report)).not.toMatch(/[\u001b\u202e]/);
    }
    expect(shown.map(([symbol]) => symbol)).toEqual([null, expect.any(String), null, null, text.toString()]);
    expect(shown.every(([, decimals]) => decimals === null)).toBe(true);
  });
});
