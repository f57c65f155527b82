/** ERC-7730 descriptors beside what is measured, on real nodes, and by a library that renders them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { toEventSelector, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DescriptorRenderer } from "../../src/promise.js";
import * as Policy from "../../src/Policy.js";
import type { Report } from "../../src/Report.js";
import { FeeToken, Token } from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { skip } from "../harness/parts.js";
import { root } from "../harness/sources.js";
import { toText } from "../rooms/report.js";
import { calldata, codesOf, other, owner, preflight, scan, scenesFor, type AnyInput, type Scene } from "./scene.js";

const library = join(root, "tools/beds/node_modules/micro-eth-signer/abi/index.js");
const isThere =
  existsSync(library) ||
  skip("descriptors by micro-eth-signer", "it is not installed (npm ci --prefix tools/beds --ignore-scripts)") !== null;

/** What is taken of micro-eth-signer's `abi.js`. */
interface Library {
  readonly CLEARSIG_REPO: object;
  readonly addTokens: (repository: object, tokens: object) => object;
  readonly decodeData: (
    to: string,
    data: string,
    value: bigint,
    options: object,
  ) => { readonly clearSig?: ReturnType<DescriptorRenderer> } | ReadonlyArray<unknown> | undefined;
}

const everything = 2n ** 256n - 1n;
const mallory = "66".repeat(20);
/** A token that says of every call that all of it went to somebody else. */
const lying = creation(
  `7f${(10n ** 24n).toString(16).padStart(64, "0")}5f5273${mallory}337f${toEventSelector("Transfer(address,address,uint256)").slice(2)}60205fa360015f5260205ff3`,
);
const told = (report: Report): ReadonlyArray<unknown> =>
  report.findings
    .filter(({ code }) => code.startsWith("Descriptor"))
    .map(({ code, severity, numbers }) => [code, severity, ...numbers.map(({ value }) => value)]);

describe("the lockfiles of the tools", () => {
  it.each(["tools/beds", "tools/runtimes", "tools/site", "."])("in %s name no registry", (folder) =>
    expect(readFileSync(join(root, folder, "package-lock.json"), "utf8")).not.toContain('"resolved": "http'),
  );
});

describe.each(scenesFor("descriptors"))("clear-signing descriptors on %s", (_, start) => {
  let scene: Scene;
  let [token, taxed, liar]: [Hex, Hex, Hex] = ["0x", "0x", "0x"];
  beforeAll(async () => {
    scene = await start();
    token = await scene.deploy(Token, ["Token", "TKN", 6]);
    taxed = await scene.deploy(FeeToken);
    liar = await scene.deploy({ abi: [], bytecode: lying });
    for (const to of [token, taxed])
      await scene.send(owner, { to, data: calldata(Token, "mint", [owner.address, 10n ** 30n]) });
    await scene.mine();
  });
  afterAll(() => scene?.stop());
  const call = (to: Hex, name: string, amount: bigint): AnyInput => ({
    ...{ from: owner.address, to, data: calldata(Token, name, [other.address, amount]), chainId: scene.chainId },
  });
  const saying =
    (amount: bigint, label = "Amount", value = `${amount} TKN`): DescriptorRenderer =>
    () => ({
      intent: "Send",
      fields: { [label]: { value, format: "tokenAmount", rawValue: amount } },
    });

  describe.skipIf(!isThere)("descriptors that micro-eth-signer reads", () => {
    let descriptors: DescriptorRenderer;
    beforeAll(async () => {
      const { CLEARSIG_REPO, addTokens, decodeData } = (await import(pathToFileURL(library).href)) as Library;
      const rows = [token, taxed, liar].map((to) => [
        to,
        { abi: "ERC20", symbol: "TKN", decimals: to === taxed ? 18 : 6 },
      ]);
      const customContracts = Object.fromEntries(rows) as object;
      const options = { customContracts, clearSig: addTokens(CLEARSIG_REPO, customContracts) };
      descriptors = ({ to, data, value }) => {
        const decoded = decodeData(to, data, value, options);
        return decoded !== undefined && "clearSig" in decoded ? decoded.clearSig : null;
      };
    });

    it("give honest calls their words, and disagree with none", async () => {
      const honest = [
        ["transfer", 5_000_000n, "Transfer 5 TKN to "],
        ["transfer", 5n * 10n ** 18n, "Transfer 5 TKN to "],
        ["approve", 7_000_000n, "Allow spending 7 TKN by "],
        ["approve", everything, "Allow spending Unlimited TKN by "],
      ] as const;
      for (const [name, amount, words] of honest)
        for (const run of [scan, preflight])
          for (const to of amount === 5n * 10n ** 18n ? [taxed] : [token]) {
            const [without, within] = [
              await run(scene.url, call(to, name, amount)),
              await run(scene.url, call(to, name, amount), { descriptors }),
            ];
            expect([told(within), codesOf(within), within.digest]).toEqual([[], codesOf(without), without.digest]);
            expect(toText(within, { width: 300 })).toContain(
              `Your descriptors say: "${words}${other.address.toLowerCase()}".`,
            );
            expect(within.names?.described[0]?.fields.length).toBe(2);
          }
    });

    it("give a warning for words with other decimals than the token's", async () => {
      const report = await preflight(scene.url, call(taxed, "transfer", 5_000_000n), {
        descriptors: saying(5_000_000n, "Amount", "5 TKN"),
      });
      expect(told(report)).toEqual([["DescriptorDisagrees", "warning", "Amount", "5 TKN"]]);
    });

    it("give a warning about amount and receiver where the contract does otherwise", async () => {
      const report = await preflight(scene.url, call(liar, "transfer", 5_000_000n), { descriptors });
      expect(told(report)).toEqual([
        ["DescriptorDisagrees", "warning", "Amount", "5 TKN"],
        ["DescriptorDisagrees", "warning", "To", other.address.toLowerCase()],
      ]);
      expect(toText(report, { width: 300 })).toContain('The field "Amount" says "5 TKN".');
    });

    it("give nothing for a call without a descriptor", async () => {
      const input = { from: owner.address, to: token, data: calldata(Token, "burn", [1n]) };
      const report = await preflight(scene.url, input, { descriptors });
      expect([told(report), report.names]).toEqual([[], undefined]);
    });
  });

  it("make a report at most caution when they lie, in a scan and in a proof", async () => {
    const input = call(token, "transfer", 5_000_000n);
    for (const run of [scan, preflight]) {
      const report = await run(scene.url, input, { descriptors: saying(5_000n) });
      expect([report.verdict, told(report)]).toEqual([
        "caution",
        [["DescriptorDisagrees", "warning", "Amount", "5000 TKN"]],
      ]);
      const honest = await run(scene.url, input, {
        descriptors: () => Promise.resolve(saying(5_000_000n)({} as never)),
      });
      expect([honest.verdict, told(honest), honest.digest]).toEqual(["ready", [], report.digest]);
    }
  });

  it("give information, and the same verdict, when they throw, hang or answer something else", async () => {
    const input = call(token, "transfer", 5_000_000n);
    const broken: ReadonlyArray<() => unknown> = [
      () => {
        throw new Error("no");
      },
      () => Promise.reject(new Error("no")),
      () => new Promise(() => undefined),
      ...[5, "text", {}, { intent: 5, fields: {} }, { intent: "Send" }].map((answer) => () => answer),
    ];
    for (const descriptors of broken) {
      const report = await preflight(scene.url, input, { descriptors: descriptors as DescriptorRenderer });
      expect([report.verdict, told(report)]).toEqual(["ready", [["DescriptorUnread", "info"]]]);
    }
    const none = await preflight(
      scene.url,
      { from: owner.address, to: other.address, value: 1n },
      {
        descriptors: () => {
          throw new Error("asked of a plain payment");
        },
      },
    );
    expect([none.verdict, told(none)]).toEqual(["ready", []]);
  });

  it("are dropped when they come after the judgement", async () => {
    let answer: (words: never) => void = () => undefined;
    const late = Policy.make("late", () => {
      answer(saying(5_000n)({} as never) as never);
      return Policy.pass;
    });
    const report = await scan(scene.url, call(token, "transfer", 5_000_000n), {
      policies: [late],
      descriptors: () => new Promise<never>((resolve) => (answer = resolve)),
    });
    expect([told(report), report.names]).toEqual([[["DescriptorUnread", "info"]], undefined]);
  });

  it("are asked for each call of a bundle once, with its fields", async () => {
    const asked: Array<unknown> = [];
    const report = await preflight(scene.url, [call(token, "transfer", 5n), call(token, "approve", 7_000n)], {
      descriptors: (about) => {
        asked.push(about);
        return saying(7_000n)(about);
      },
    });
    const about = { from: owner.address.toLowerCase(), to: token, value: 0n, chainId: scene.chainId };
    expect(asked).toEqual([
      { ...about, data: calldata(Token, "transfer", [other.address, 5n]) },
      { ...about, data: calldata(Token, "approve", [other.address, 7_000n]) },
    ]);
    expect(
      report.findings.filter(({ code }) => code === "DescriptorDisagrees").map(({ transaction }) => transaction),
    ).toEqual([0]);
  });
});
