/** Batches of calls, told before anything is signed, then signed for real and mined: on real accounts' code. */
import * as Effect from "effect/Effect";
import { concatHex, encodeFunctionData, numberToHex, parseAbi, type Address, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import * as Report from "../../src/Report.js";
import { cleared, layerOf, proveOn, severe } from "../preflight/scene.js";
import { kitsFor, type Kit } from "../signing/kit.js";
import { hasBeds } from "../signing/parts.js";

const abi = parseAbi([
  "function transfer(address to, uint256 amount) returns (bool)",
  "function approve(address spender, uint256 amount) returns (bool)",
  "function transferFrom(address from, address to, uint256 amount) returns (bool)",
]);
type Name = "transfer" | "approve" | "transferFrom";
const data = (functionName: Name, args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi, functionName, args } as never);

interface Call {
  readonly to: Address;
  readonly value?: bigint;
  readonly data?: Hex;
}

/** Numbers that look drawn, the same in each run. */
const drawnBy = (seed: number) => {
  let state = BigInt(seed) * 2_654_435_761n + 12_345n;
  return (below: number): number => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n;
    return Number((state >> 33n) % BigInt(below));
  };
};

/** An address where nobody lives, other than the burn addresses. */
const stranger = (seed: number): Address => concatHex(["0x77", numberToHex(2n ** 140n + BigInt(seed), { size: 19 })]);

const ways = ["plain", "simple", "metamask", "delegating"] as const;
type Way = (typeof ways)[number];

describe.runIf(hasBeds("batches of calls on real accounts' code")).each(kitsFor("batches of calls"))(
  "on %s",
  (name, start) => {
    let kit: Kit;
    let owners: Readonly<Record<Way, PrivateKeyAccount>>;
    beforeAll(async () => {
      kit = await start();
      owners = {
        plain: await kit.account(1),
        simple: await kit.account(2, "simple"),
        metamask: await kit.account(3, "metamask"),
        delegating: await kit.account(4),
      };
      for (const { address } of Object.values(owners)) await kit.fill(address);
    }, 120_000);
    afterAll(() => kit?.stop());

    const told = (batch: object, options?: Preflight.Options) =>
      Effect.runPromise(
        Preflight.callBatch(batch as never, { deadline: "1 minute", ...options }).pipe(
          Effect.provide(layerOf(kit.scene.url)),
        ),
      );

    it("says what it says", async () => {
      for (const way of ways) {
        const from = owners[way].address;
        const calls: ReadonlyArray<Call> = [
          { to: stranger(1), value: 5n },
          { to: kit.tokens.opened.address, data: data("transfer", [stranger(2), 7n]) },
        ];
        const report = await told({
          ...{ from, calls, atomicRequired: way !== "plain" },
          ...(way === "delegating" ? { delegate: kit.delegates.simple } : {}),
        });
        console.log(
          way,
          report.verdict,
          report.because,
          severe(report),
          report.transactions.length,
          report.transactions[0].input.origin,
        );
        console.log(
          report.transfers.map(({ from, to, amount }) => `${from} ${to} ${amount}`),
          report.ledger.rounds,
          report.ledger.requests.length,
        );
        const bad = await told({
          ...{
            from,
            calls: [
              calls[0],
              { to: kit.tokens.opened.address, data: data("transfer", [stranger(2), 10n ** 40n]) },
              calls[1],
            ],
            atomicRequired: way !== "plain",
          },
          ...(way === "delegating" ? { delegate: kit.delegates.simple } : {}),
        });
        console.log(
          way,
          bad.verdict,
          bad.because,
          bad.findings.map(
            (f) => `${f.code} ${JSON.stringify(f.numbers, (_, v) => (typeof v === "bigint" ? String(v) : v))}`,
          ),
        );
      }
    });
  },
);
