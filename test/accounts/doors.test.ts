/** A batch of calls asked about by the command, by viem and by an agent's tool: the same report. */
import { createClient, encodeFunctionData, http, parseAbi } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import * as Effect from "effect/Effect";
import { Rpc } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import { preflightActions } from "evm-preflight/viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBin, type Bin } from "../cli/bin.js";
import { toolsOf } from "../rooms/cli.js";
import { kitsFor, type Kit } from "../signing/kit.js";
import { hasBeds } from "../signing/parts.js";

const [first, second] = [
  "0x7700000000000000000000000000000000000005",
  "0x7700000000000000000000000000000000000006",
] as const;
const transfer = encodeFunctionData({
  abi: parseAbi(["function transfer(address to, uint256 amount) returns (bool)"]),
  args: [second, 10n ** 40n],
});

describe.skipIf(!hasBeds("batches by every door")).each(kitsFor("batches by every door").slice(0, 1))(
  "on %s",
  (_, start) => {
    let kit: Kit;
    let bin: Bin;
    let owner: PrivateKeyAccount;
    beforeAll(async () => {
      [kit, bin] = await Promise.all([start(), buildBin()]);
      owner = await kit.account(20, "simple");
    }, 240_000);
    afterAll(async () => {
      bin?.remove();
      await kit?.stop();
    });
    const check = (args: ReadonlyArray<string>, stdin = "") =>
      bin.run(["check", "--rpc-url", kit.scene.url, ...args], { stdin });

    it("is taken by the command, by viem's client for its own account, and by the tool of agents", async () => {
      const from = owner.address;
      const calls = [
        { to: first, value: "0x1" },
        { to: second, value: "0x2" },
      ];
      const whole = { from, calls, atomicRequired: true };
      for (const [args, stdin] of [
        [["--calls", "-", "--from", from, "--chain-id", String(kit.scene.chainId)], calls],
        [["--calls", "-"], whole],
        [["-"], whole],
        [["-"], { method: "wallet_sendCalls", params: [whole] }],
      ] as const) {
        const { code, stdout, stderr } = await check(args, JSON.stringify(stdin));
        expect([code, stdout.split(" ", 1)[0], stderr], String(args)).toEqual([0, "READY", ""]);
      }
      const named = await check(
        ["--calls", "-", "--from", kit.spender.address, "--delegate", kit.delegates.metamask],
        JSON.stringify(calls),
      );
      expect([named.code, named.stdout]).toEqual([2, expect.stringContaining("DelegationSet")]);
      const failing = [...calls, { to: kit.tokens.opened.address, data: transfer }];
      const blocked = await check(["--calls", "-", "--from", from], JSON.stringify(failing));
      expect([blocked.code, blocked.stdout]).toEqual([1, expect.stringContaining("It is call 3 of 3, transfer(")]);
      for (const [args, stdin, says] of [
        [["--calls", "-"], calls, /from/],
        [["--calls", "-", "--from", from], whole, /stands in the file/],
        [["--calls", "-", "--from", from, "--to", from], calls, /cannot be combined/],
        [["--calls", "-", "--from", from], { calls: 1 }, /array of calls/],
        [["--delegate", from, "--from", from, "--to", from], calls, /stands beside --calls/],
      ] as const)
        expect(await check(args, JSON.stringify(stdin))).toMatchObject({
          code: 64,
          stderr: expect.stringMatching(says),
        });

      const client = createClient({ account: owner, transport: http(kit.scene.url) }).extend(preflightActions());
      const own = await client.preflightCalls({ calls: [{ to: first, value: 1n }], atomicRequired: true });
      expect([own.verdict, own.transactions[0].input.from]).toEqual(["ready", from.toLowerCase()]);
      const preflight = createPreflight({ url: kit.scene.url });
      expect((await preflight.callBatch({ from, calls: [{ to: first, value: 1n }] })).digest).toBe(own.digest);
      await expect(preflight.callBatch({ from } as never)).rejects.toMatchObject({ field: "calls" });
      await preflight.dispose();

      const { preflight_calls: tool } = toolsOf({});
      const ask = (args: object) =>
        tool.run(args).pipe(Effect.provide(Rpc.layerHttp(kit.scene.url)), Effect.runPromise);
      expect((await ask(whole)).ours).toMatch(/^ready/);
      expect((await ask({ ...whole, from: kit.spender.address })).ours).toBe("unknown · AtomicNotProven");
      const fails = await ask({ ...whole, calls: failing });
      expect([fails.ours.split(" ", 1)[0], fails.quoted]).toEqual([
        "blocked",
        expect.stringContaining("t is call 3 of 3"),
      ]);
      expect(await ask({ from })).toMatchObject({ isError: true, data: { field: "calls" } });
    });
  },
);
