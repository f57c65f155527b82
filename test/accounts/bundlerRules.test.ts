/** Rules of bundlers (ERC-7562) as a node's tracer shows them kept or broken: honest operations of each EntryPoint, and doubles that break one. */
import { createPreflight } from "evm-preflight/promise";
import { encodeFunctionData, parseEther, type Address, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Bystander, RuleAccount, RuleFactory, RulePaymaster } from "../contracts/artifacts.js";
import { keys } from "../preflight/scene.js";
import { hasEntryPoints } from "../signing/parts.js";
import { encode, entryPoints, kitsFor, stub, versions } from "./operationsKit.js";
import type { Account, OperationsKit, UserOperation, Version } from "./operationsKit.js";

const isThere = hasEntryPoints("rules of bundlers");
type Report = Awaited<ReturnType<ReturnType<typeof createPreflight>["signature"]>>;
const said = (report: Report): string =>
  `${report.verdict}, ${report.because}; ${report.findings.map(({ severity, code, numbers }) => `${severity} ${code} ${numbers.map(({ name, value }) => `${name} ${String(value)}`).join(", ")}`).join("; ")}`;

/** The rules that a report names, each with its entity and with what it does. */
const brokenIn = (report: Report): ReadonlyArray<string> =>
  report.findings
    .filter(({ code }) => code === "BundlerRuleBroken")
    .map(({ numbers }) => {
      const of = (name: string) => numbers.find((figure) => figure.name === name)?.value;
      return [of("by"), of("rule"), of("does"), ...[of("allowed with a stake of")].filter(Boolean)]
        .map(String)
        .join(" · ");
    });
const notSeenIn = (report: Report) =>
  report.findings.find(({ code }) => code === "BundlerRulesUnseen")?.numbers.map(({ value }) => value);
const books = "reputation, mempool, tips";

const kits = kitsFor("rules of bundlers").filter(([name]) => name === "geth");

describe.skipIf(!isThere).each(kits)("rules of bundlers on %s", (_, start) => {
  let kit: OperationsKit;
  let preflight: ReturnType<typeof createPreflight>;
  let other: Address;
  let seed = 7_000;
  beforeAll(async () => {
    kit = await start();
    preflight = createPreflight({ url: kit.scene.url });
    other = await kit.scene.deploy(Bystander);
  }, 240_000);
  afterAll(async () => {
    await preflight?.dispose();
    await kit?.stop();
  });

  const operationOf = async (account: Account, over: Partial<UserOperation> = {}): Promise<UserOperation> => ({
    ...{ sender: account.address, nonce: await kit.nonce(account), signature: stub },
    callData: encode("execute", ["0x00000000000000000000000000000000000bEEf1", 10n ** 15n, "0x"]),
    ...{ callGasLimit: 120_000n, verificationGasLimit: 450_000n, preVerificationGas: 60_000n },
    ...(await kit.fees()),
    ...account.init,
    ...over,
  });
  const ask = (version: Version, operation: UserOperation, signer: Address): Promise<Report> =>
    preflight.preflight({ entryPoint: entryPoints[version], operation, signer } as never) as never;

  describe.each(versions)("EntryPoint %s", (version) => {
    const kinds = (["deployed", "fresh", "delegated"] as const).filter(
      (kind) => kind !== "delegated" || version === "0.8" || version === "0.9",
    );
    it.each(kinds)("an honest account, %s, keeps them, also with a paymaster", { timeout: 60_000 }, async (kind) => {
      const account = await kit.account(version, ++seed, kind);
      const plain = await operationOf(account);
      for (const operation of [plain, await kit.vouched(version, plain)]) {
        const report = await ask(version, operation, account.key.address);
        // the paymaster of 0.6 counts the operations of each account, which is not there yet
        const isCounted = version === "0.6" && kind === "fresh" && operation !== plain;
        expect([said(report), brokenIn(report)]).toEqual([
          said(report),
          isCounted ? ["the paymaster · STO-022 · writes storage · the factory"] : [],
        ]);
        expect(report.verdict, said(report)).toBe(isCounted ? "caution" : "ready");
        expect(notSeenIn(report), said(report)).toEqual([books]);
      }
    });
  });
});
