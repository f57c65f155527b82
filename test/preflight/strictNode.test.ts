/** Nodes that know little, and a node that checks nothing. */
import * as Effect from "effect/Effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import * as artifacts from "../contracts/artifacts.js";
import { faults, sevenMethods, startProxy, type Fault } from "../harness/proxy.js";
import { calldata, codesOf, nobody, other, owner, preflight, quantity, startAnvilScene, type Scene } from "./scene.js";

let scene: Scene;
let token: `0x${string}`;
beforeAll(async () => {
  scene = await startAnvilScene();
  token = await scene.deploy(artifacts.Token, ["Token", "TKN", 18]);
  await scene.send(owner, { to: token, data: calldata(artifacts.Token, "mint", [owner.address, 1_000n]) });
  await scene.mine();
});
afterAll(() => scene.stop());

const transfer = { from: owner.address, to: other.address, value: 1n } as const;

describe("a strict node with only the seven methods and no batches", () => {
  it("reaches ready, and says what it could not ask", async () => {
    const proxy = await startProxy({ target: scene.url, only: sevenMethods, refuseBatches: true });
    const report = await preflight(proxy.url, {
      from: owner.address,
      to: token,
      data: calldata(artifacts.Token, "transfer", [other.address, 5n]),
    });
    await proxy.stop();
    expect(report.verdict).toBe("ready");
    expect(report.ledger.rounds).toBe(2);
    expect(codesOf(report)).toContain("MethodNotSupported/info");
    expect(new Set(proxy.seen.map(({ method }) => method))).toContain("eth_simulateV1");
  });
});

describe("a node without eth_simulateV1", () => {
  const refusals: Readonly<Record<string, Fault>> = {
    "-32601": {
      kind: "error",
      error: { code: -32601, message: "the method eth_simulateV1 does not exist/is not available" },
    },
    "-32604": { kind: "error", error: { code: -32604, message: "Method not enabled" } },
    "-32004": { kind: "error", error: { code: -32004, message: "eth_simulateV1 - Method not supported" } },
    "-32004 without known words": { kind: "error", error: { code: -32004, message: "not available" } },
    "HTTP 403": faults.forbidden,
  };
  for (const [name, fault] of Object.entries(refusals)) {
    it(`falls back to eth_call, says so, and remembers: ${name}`, async () => {
      const proxy = await startProxy({ target: scene.url });
      proxy.fail("eth_simulateV1", fault);
      const run = (input: object) => Preflight.preflight(input as never);
      const reports = await Effect.runPromise(
        Effect.all([
          run(transfer),
          run(transfer),
          run({
            from: owner.address,
            to: token,
            abi: artifacts.Token.abi,
            functionName: "transfer",
            args: [other.address, 10n ** 30n],
          }),
        ]).pipe(Effect.provide(Rpc.layerHttp(proxy.url, { retryTimes: 0 }))),
      );
      await proxy.stop();
      const [first, second, reverting] = reports as [Report, Report, Report];
      expect(first.observed.tier).toBe("call");
      expect(first.verdict).toBe("unknown");
      expect(first.ledger.rounds).toBe(2);
      expect(second.verdict).toBe("unknown");
      expect(second.ledger.rounds).toBe(1);
      expect(reverting.verdict).toBe("blocked");
      expect(reverting.transactions[0].outcome.revert?.layers[0].layer).toMatchObject({
        name: "ERC20InsufficientBalance",
      });
      expect(proxy.seen.filter(({ method }) => method === "eth_simulateV1").length).toBeLessThanOrEqual(2);
    });
  }
});

describe("anvil, whose eth_simulateV1 validates nothing", () => {
  const never = async (input: object, code: string): Promise<void> => {
    const report = await preflight(scene.url, input as never);
    expect(report.verdict).toBe("blocked");
    expect(codesOf(report)).toContain(`${code}/blocker`);
  };
  it("never makes a used nonce ready", () => never({ ...transfer, nonce: 0 }, "NonceTooLow"));
  it("never makes a nonce behind a gap ready", () => never({ ...transfer, nonce: 1_000 }, "NonceTooHigh"));
  it("never makes an unpayable fee ready", () =>
    never({ ...transfer, gas: 21_000n, maxFeePerGas: 10n ** 18n }, "InsufficientFunds"));
  it("never makes a fee below the base fee ready", () =>
    never({ ...transfer, maxFeePerGas: 1n, maxPriorityFeePerGas: 0n }, "FeeCapTooLow"));
  it("never makes a legacy price below the base fee ready", () => never({ ...transfer, gasPrice: 1n }, "FeeCapTooLow"));
  it("never makes another chain ready", () => never({ ...transfer, chainId: 1 }, "ChainIdMismatch"));
  it("never makes calldata to nobody ready", () => never({ ...transfer, to: nobody, data: "0x12345678" }, "NoCode"));
  it("never makes a contract as sender ready", async () => {
    await scene.ask("anvil_setBalance", [token, quantity(10n ** 18n)]);
    await never({ from: token, to: other.address, value: 1n }, "SenderNotEoa");
  });
});
