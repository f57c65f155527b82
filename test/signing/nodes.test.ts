/** Signatures on nodes that do not simulate, for `eth_call` takes none for given; and where blocks are small. */
import { createPreflight } from "evm-preflight/promise";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PermitToken } from "../contracts/artifacts.js";
import { accounts, mineAnvil, rawRequest, startAnvil } from "../harness/anvil.js";
import { findGethOrWarn, startGethAsIs } from "../harness/geth.js";
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

const permitOf = (token: Address, chainId: number) => ({
  signer: owner,
  typedData: {
    ...{ types, primaryType: "Permit" as const },
    domain: { name: "Permit Token", version: "1", chainId, verifyingContract: token },
    message: { owner, spender, value: 5n, nonce: 0n, deadline: BigInt(Math.floor(Date.now() / 1000)) + 600n },
  },
});

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

  it.each(["not known to lack it", "known to lack it"])(
    "%s, is unknown, and nothing speaks against it",
    async (when) => {
      await using preflight = createPreflight({ url: proxy.url });
      if (when === "known to lack it") await preflight.preflight({ from: owner, to: spender, value: 1n });
      const report = await preflight.signature(permitOf(token, 31337));
      const codesOf = (severity: string) =>
        report.findings.filter((one) => one.severity === severity).map(({ code }) => code);
      expect([report.verdict, codesOf("blocker")]).toEqual(["unknown", []]);
      expect(codesOf("unavailable")).toEqual(["MethodNotSupported", "SignatureNotAssumed", "SignatureNotAssumed"]);
      expect(report.signing?.assumed).toBe("equalCall");
    },
  );
});

const geth = findGethOrWarn("permits in small blocks");

describe.skipIf(geth === null)("a permit, where a block holds no more than geth's own chain", () => {
  it("is not blocked for the gas of the calls that try it", { timeout: 60_000 }, async () => {
    const node = await startGethAsIs(geth ?? "");
    try {
      const deployment = { from: node.account, data: PermitToken.bytecode, gas: "0x2dc6c0" };
      const receiptOf = async (hash: unknown): Promise<{ readonly contractAddress: Address } | null> =>
        rawRequest(node.url, "eth_getTransactionReceipt", [hash]).then(
          (receipt) => receipt as { readonly contractAddress: Address } | null,
          () => null,
        );
      const hash = await rawRequest(node.url, "eth_sendTransaction", [deployment]);
      // why: what comes before the node listens to its own pool is mined with the next that comes
      while ((await receiptOf(hash)) === null) {
        await rawRequest(node.url, "eth_sendTransaction", [{ from: node.account, to: node.account }]);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      // what was sent meanwhile is mined, too, and no block comes while the permit is judged
      const sent = (block: string) => rawRequest(node.url, "eth_getTransactionCount", [node.account, block]);
      while ((await sent("latest")) !== (await sent("pending")))
        await new Promise((resolve) => setTimeout(resolve, 100));
      const token = (await receiptOf(hash))?.contractAddress ?? owner;
      await using preflight = createPreflight({ url: node.url });
      const report = await preflight.signature(permitOf(token, 1337));
      const blockers = report.findings.filter(({ severity }) => severity === "blocker");
      expect([report.stage, report.signing?.assumed, blockers], report.because).toEqual(["proven", "shim", []]);
    } finally {
      await node.stop();
    }
  });
});
