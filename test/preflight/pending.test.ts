/** What is in flight, and what the node's pending state holds of it. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classify, type RpcError } from "../rooms/errors.js";
import { Token } from "../contracts/artifacts.js";
import { furnish } from "./furnished.js";
import {
  calldata,
  cleared,
  codesOf,
  other,
  owner,
  preflight,
  preflightOn,
  scanOn,
  scenesFor,
  tampered,
  type Purpose,
  type Scene,
} from "./scene.js";

describe.each(scenesFor("pending state"))("a preflight on the pending state of %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  it("does not believe a false shortage from the node, and is not ready either", async () => {
    const transfer = { from: owner.address, to: other.address, value: 1n };
    const error = { code: -38014, message: "insufficient funds for gas * price + value" };
    const shortage = classify({ method: "eth_simulateV1", error }) as RpcError;
    const once = tampered(scene.url, ({ purpose, before }) => (purpose === "ample" && before === 0 ? shortage : null));
    const scanned = await scanOn(once, transfer);
    expect([scanned.verdict, codesOf(scanned)[0], scanned.ledger.rounds]).toEqual([
      "unknown",
      "InsufficientFunds/unavailable",
      2,
    ]);
    const refusing = (...purposes: ReadonlyArray<Purpose>) =>
      preflightOn(
        tampered(scene.url, ({ purpose }) => (purposes.includes(purpose) ? shortage : null)),
        transfer,
      );
    // the run with funds given makes up for the one without, and the proof runs with what is really there
    expect((await refusing("ample")).verdict).toBe("ready");
    expect((await refusing("ample", "funded")).verdict).not.toBe("ready");
    for (const purpose of ["exact", "next"]) expect((await refusing(purpose)).verdict, purpose).toBe("unknown");
  });

  it("simulates a replacement on the state without the replaced transaction", async () => {
    const held = 10n ** 24n;
    const nonce = await scene.count(owner.address, "pending");
    await scene.send(owner, { to: token, data: calldata(Token, "mint", [owner.address, 5_000n]), nonce });
    const fees = { nonce, maxFeePerGas: 60_000_000_000n, maxPriorityFeePerGas: 5_000_000_000n };
    const transfer = (amount: bigint) => ({
      from: owner.address,
      to: token,
      data: calldata(Token, "transfer", [other.address, amount]),
      ...fees,
    });
    const needing = await preflight(scene.url, transfer(held + 500n));
    expect(needing.verdict).toBe("blocked");
    expect(codesOf(needing)).toContain("ExecutionReverted/blocker");
    const honest = await preflight(scene.url, transfer(held - 100n));
    expect(codesOf(honest)).toContain("ReplacesPending/info");
    expect(honest.verdict).toBe("ready");
    await cleared(honest);
    await scene.mine();
  });
});
