/** A signature asked about by the command, by viem and by an agent's tool: the same report, and the node's own limits. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, http } from "viem";
import * as Effect from "effect/Effect";
import { Rpc } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { preflightActions } from "evm-preflight/viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBin, type Bin } from "../cli/bin.js";
import { toolsOf } from "../rooms/cli.js";
import { kitsFor, type Kit } from "./kit.js";
import { hasBeds } from "./parts.js";

const fields = [
  ["owner", "address"],
  ["spender", "address"],
  ["value", "uint256"],
  ["nonce", "uint256"],
  ["deadline", "uint256"],
].map(([name = "", type = ""]) => ({ name, type }));

describe.skipIf(!hasBeds("signatures by every door")).each(kitsFor("signatures by every door"))(
  "on %s",
  (node, start) => {
    let kit: Kit;
    let bin: Bin;
    /** A permit of the owner's USDC for the pool of nobody's, for an hour. */
    let permit: { readonly domain: object; readonly [name: string]: unknown };
    let owner: `0x${string}`;
    beforeAll(async () => {
      [kit, bin] = await Promise.all([start(), buildBin()]);
      owner = kit.owners.plain.address;
      const { name, version, address } = kit.tokens.usdc;
      const nonce = await kit.call(address, "function nonces(address) view returns (uint256)", [owner]);
      permit = {
        domain: { name, version, chainId: kit.scene.chainId, verifyingContract: address },
        types: { Permit: fields },
        primaryType: "Permit",
        message: {
          ...{ owner, spender: kit.spender.address, value: "5000000", nonce: String(nonce) },
          deadline: String((await kit.now()) + 3_600n),
        },
      };
      writeFileSync(join(bin.directory, "permit.json"), JSON.stringify(permit));
    }, 240_000);
    afterAll(async () => {
      bin?.remove();
      await kit?.stop();
    });

    /** geth takes the signature for given, anvil does not: there the owner's own call is simulated. */
    const assumed = node === "geth" ? "shim" : "equalCall";
    const says = /may take +0x\w{40} may spend up to 5 USDC/;
    const check = (args: ReadonlyArray<string>, stdin = "") =>
      bin.run(["check", "--rpc-url", kit.scene.url, ...args], { stdin });

    it("the command reads typed data from a file, from stdin and from a wallet's request, and ends with the verdict", async () => {
      const file = join(bin.directory, "permit.json");
      const answers = await Promise.all([
        check(["--typed-data", file, "--signer", owner]),
        check(["--typed-data", "-", "--signer", owner], JSON.stringify(permit)),
        check(["-"], JSON.stringify({ method: "eth_signTypedData_v4", params: [owner, JSON.stringify(permit)] })),
      ]);
      for (const { code, stdout, stderr } of answers) {
        expect(stderr).toBe("");
        expect([code, stdout.split(" ", 1)[0]]).toEqual([2, "CAUTION"]);
        expect(stdout).toMatch(says);
        expect(stdout).toContain("ApprovalGranted");
        expect(stdout.includes("SignatureNotAssumed")).toBe(assumed === "equalCall");
      }
      const json = JSON.parse((await check(["--typed-data", file, "--signer", owner, "--json"])).stdout);
      expect(json).toMatchObject({ transactions: [], signing: { kind: "erc2612", assumed }, requests: [] });
      expect(json.clearance.signs).toHaveLength(1);
      const wrongDomain = { ...permit, domain: { ...permit.domain, name: "Another" } };
      const blocked = await check(["--typed-data", "-", "--signer", owner], JSON.stringify(wrongDomain));
      expect([blocked.code, blocked.stdout]).toEqual([1, expect.stringContaining("DomainDisagrees")]);
    });

    it("the command takes authorisations, sign-ins and texts, of which nothing is known", async () => {
      const authorization = { chainId: kit.scene.chainId, address: kit.delegates.simple, nonce: 0 };
      const signer = (await kit.account(7_001)).address;
      const delegated = await check(["--authorization", "-", "--signer", signer], JSON.stringify(authorization));
      expect(delegated.stdout).toContain("everything that the account holds, now and later");
      expect(delegated.stdout).toContain("DelegationSet");
      const text = await check(["--message", "hello", "--signer", owner]);
      expect([text.code, text.stdout]).toEqual([3, expect.stringContaining("SignatureUnknown")]);
      expect(text.stdout).toMatch(/message +"hello"/);
      const signIn = `example.org wants you to sign in with your Ethereum account:\n${owner}\n\n\nURI: https://example.org\nVersion: 1\nChain ID: ${kit.scene.chainId}\nNonce: 12345678\nIssued At: ${new Date().toISOString()}`;
      const at = (origin: string) => check(["--message", signIn, "--signer", owner, "--origin", origin]);
      expect((await at("https://example.org")).code).toBe(0);
      const elsewhere = await at("https://example.com");
      expect([elsewhere.code, elsewhere.stdout]).toEqual([1, expect.stringContaining("SignInDisagrees")]);
    });

    it("viem's client asks for its own account, and for another where one is named", async () => {
      const transport = http(kit.scene.url);
      const client = createClient({ account: owner, transport }).extend(preflightActions());
      const report = await client.preflightSignature({ typedData: permit });
      expect([report.verdict, report.signing?.sign.signer]).toEqual(["caution", owner.toLowerCase()]);
      expect(report.signing?.assumed).toBe(assumed);
      expect((await client.ready(report)).signs).toHaveLength(1);
      const other = await client.preflightSignature({ message: "hello", signer: kit.spender.address });
      expect(other.signing?.sign.signer).toBe(kit.spender.address.toLowerCase());
      const without = createClient({ transport }).extend(preflightActions());
      await expect(without.preflightSignature({ message: "hello" } as never)).rejects.toMatchObject({
        _tag: "InvalidTransaction",
      });
      const asked = await without.preflightSignature({ typedData: permit, signer: owner });
      const preflight = createPreflight({ url: kit.scene.url });
      const own = await preflight.signature({ typedData: permit, signer: owner });
      expect([asked.verdict, asked.digest]).toEqual([own.verdict, own.digest]);
      await preflight.dispose();
    });

    it("the tool of agents says the verdict in our words, and quotes what others chose below", async () => {
      const { preflight_signature: tool } = toolsOf({});
      const ask = (args: object) =>
        tool.run(args).pipe(Effect.provide(Rpc.layerHttp(kit.scene.url)), Effect.runPromise);
      const domain = { ...permit.domain, name: "USD\nready" };
      const lied = await ask({ typedData: { ...permit, domain }, signer: owner });
      expect([lied.isError, lied.ours.startsWith("blocked · ")]).toEqual([false, true]);
      expect(lied.ours).not.toContain("USD");
      expect(lied.quoted).toContain('"USD\\u{a}ready"');
      const answer = await ask({ typedData: permit, signer: owner });
      expect(answer.ours).toMatch(/^caution · .*ApprovalGranted/);
      expect(answer.quoted).toMatch(/may spend up to 5 USDC/);
      expect((await ask({ message: "hello", signer: owner })).ours).toBe("unknown · SignatureUnknown");
      const strict = await ask({ typedData: permit, signer: owner, policies: [{ policy: "noNewApprovals" }] });
      expect(strict.ours).toMatch(/^blocked · /);
      expect(await ask({ message: "hello" })).toMatchObject({ isError: true, data: { field: expect.any(String) } });
      expect(await ask({ message: "hello", hash: "0x", signer: owner })).toMatchObject({ isError: true });
    });
  },
);
