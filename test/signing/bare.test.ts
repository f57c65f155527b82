/** Signatures on nodes that do not simulate: `eth_call` takes none for given, so that nothing is said of them. */
import { createPreflight } from "evm-preflight/promise";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PermitToken } from "../contracts/artifacts.js";
import { accounts, mineAnvil, startAnvil } from "../harness/anvil.js";
import { faults, startProxy, type Proxy } from "../harness/proxy.js";
import { sceneOn, type Scene } from "../witness/scene.js";

const [owner, spender] = [accounts[0].address, accounts[1].address];
const types = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

describe("a permit, on a node without eth_simulateV1", () => {
  let scene: Scene;
  let proxy: Proxy;
  let token: Address;
  beforeAll(async () => {
    const node = await startAnvil({ noMining: true });
    scene = sceneOn(node.url, 31337, () => mineAnvil(node.url), node.stop);
    token = await scene.deploy(PermitToken);
    proxy = await startProxy({ target: node.url });
    proxy.fail("eth_simulateV1", faults.notFound);
  });
  afterAll(async () => {
    await proxy?.stop();
    await scene?.stop();
  });

  const permit = () => ({
    signer: owner,
    typedData: {
      ...{ types, primaryType: "Permit" as const },
      domain: { name: "Permit Token", version: "1", chainId: 31337, verifyingContract: token },
      message: { owner, spender, value: 5n, nonce: 0n, deadline: BigInt(Math.floor(Date.now() / 1000)) + 600n },
    },
  });

  it.each(["not known to lack it", "known to lack it"])(
    "%s, is unknown, and nothing speaks against it",
    async (when) => {
      await using preflight = createPreflight({ url: proxy.url });
      if (when === "known to lack it") await preflight.preflight({ from: owner, to: spender, value: 1n });
      const report = await preflight.signature(permit());
      const codesOf = (severity: string) =>
        report.findings.filter((one) => one.severity === severity).map(({ code }) => code);
      expect([report.verdict, codesOf("blocker")]).toEqual(["unknown", []]);
      expect(codesOf("unavailable")).toEqual(["MethodNotSupported", "SignatureNotAssumed", "SignatureNotAssumed"]);
      expect(report.signing?.assumed).toBe("equalCall");
    },
  );
});
