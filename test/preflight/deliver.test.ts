/** Delivery holds the clearance: after a slow signer, and for what waits to be mined. */
import * as Layer from "effect/Layer";
import type { Hex, TransactionSerializable } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Nonces from "../../src/Nonces.js";
import { createPreflight, type PreflightClient, type Sign } from "../../src/promise.js";
import type * as Report from "../../src/Report.js";
import { Swap, Token } from "../contracts/artifacts.js";
import {
  calldata,
  layerOf,
  nobody,
  other,
  owner,
  scenesFor,
  spare,
  third,
  type AnyInput,
  type Scene,
} from "./scene.js";
import { layerNonces } from "../../src/testing.js";
import { furnish, passing, turn } from "./furnished.js";

/** Inputs of tests come out of tables. */
const deliver = (preflight: PreflightClient, sign: Sign, input: AnyInput) =>
  preflight.deliver(sign)(input as never, { onCaution: "send" });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(scenesFor("delivery"))("deliver on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  const fresh = privateKeyToAccount(generatePrivateKey());
  const keys = [owner, other, third, spare, fresh];
  const signedBy = (address: string) => (request: Report.Request) => {
    const key = keys.find((one) => one.address.toLowerCase() === address.toLowerCase());
    if (key === undefined) throw new Error(`no key of ${address}`);
    return key.signTransaction(request as TransactionSerializable);
  };
  /** Signs after `first`, longer than a clearance of `maxAge` holds. */
  const slowly =
    (address: string, first: () => Promise<unknown> = () => Promise.resolve()) =>
    async (request: Report.Request) => {
      await first();
      await pause(maxAge * 2);
      return signedBy(address)(request);
    };
  const turned = async (how: "open" | "close") => {
    await turn({ scene, gate }, how);
    await scene.mine();
  };
  const maxAge = 1_000;
  const connect = (ttlMs = Nonces.defaults.ttlMs) =>
    createPreflight(
      { layer: Layer.merge(layerOf(scene.url), Layer.succeed(Nonces.Settings, { ...Nonces.defaults, ttlMs })) },
      { maxAge },
    );

  it("refuses an authorisation that is not signed before anything is asked", async () => {
    const entry = { authority: other.address, address: token, chainId: scene.chainId, nonce: 0 };
    const input = { from: owner.address, to: nobody, authorizationList: [entry] } as const;
    const asked = deliver(connect(), signedBy(owner.address), input);
    await expect(asked).rejects.toMatchObject({ _tag: "InvalidTransaction", field: "authorizationList" });
  });

  it("proves again when the clearance expired during signing, with the same nonce", async () => {
    await using preflight = connect();
    const nonce = await scene.count(other.address);
    const before = Date.now();
    const { report, sent } = await preflight.deliver(slowly(other.address))({
      ...{ from: other.address, to: third.address, value: 3n },
    });
    expect(report.observed.at).toBeGreaterThan(before + 2 * maxAge);
    expect([report.transactions[0].nonce.by, Number(sent[0]?.nonce)]).toEqual(["reserved", nonce]);
    await scene.mine();
    expect((await scene.receipt(sent[0]?.hash ?? "0x")).status).toBe("0x1");
  });

  it("rejects with the error of what is no longer ready, sends nothing, and frees the nonce", async () => {
    await using preflight = connect();
    await turned("open");
    const nonce = await scene.count(other.address);
    await expect(
      deliver(
        preflight,
        slowly(other.address, () => turned("close")),
        passing(gate),
      ),
    ).rejects.toMatchObject({
      _tag: "ExecutionReverted",
    });
    expect(await scene.count(other.address, "pending")).toBe(nonce);
    const { sent } = await preflight.deliver(signedBy(other.address))({
      ...{ from: other.address, to: third.address, value: 1n },
    });
    expect(Number(sent[0]?.nonce)).toBe(nonce);
    await scene.mine();
  });

  it("rejects when the outcome changed meanwhile, which nobody has seen, or the nonce was taken elsewhere", async () => {
    await using preflight = connect();
    const silver = await scene.deploy(Token, ["Silver", "SLV", 18]);
    const pool = await scene.deploy(Swap, [token, silver]);
    const minted = (which: Hex, to: string) =>
      scene.send(owner, { to: which, data: calldata(Token, "mint", [to, 10n ** 9n]) });
    for (const which of [token, silver]) await minted(which, pool);
    await minted(token, spare.address);
    await scene.send(spare, { to: token, data: calldata(Token, "approve", [pool, 10n ** 9n]) });
    await scene.mine();
    const data = calldata(Swap, "swap", [1_000n, 1n, 2n ** 64n]);
    const cheaper = async () => {
      await minted(token, pool);
      await scene.mine();
    };
    const swap = { from: spare.address, to: pool, data };
    await expect(deliver(preflight, slowly(spare.address, cheaper), swap)).rejects.toMatchObject({
      _tag: "OutcomeChanged",
    });
    const taken = async () => {
      await scene.send(spare, { to: nobody, value: 1n });
      await scene.mine();
    };
    await expect(deliver(preflight, slowly(spare.address, taken), swap)).rejects.toMatchObject({ _tag: "NonceTooLow" });
  });

  it("commits a waiting transaction, and sends it when the others are mined", async () => {
    await using preflight = connect();
    const bundle = [
      { from: owner.address, to: fresh.address, value: 10n ** 17n },
      { from: fresh.address, to: third.address, value: 10n ** 15n },
    ];
    const senders = [owner.address, fresh.address];
    let isOver = false;
    const mining = (async () => {
      for (; !isOver; await pause(300)) await scene.mine();
    })();
    const { sent } = await preflight
      .deliver((request, index) => signedBy(senders[index] ?? "")(request))(bundle, { onCaution: "send" })
      .finally(() => {
        isOver = true;
      });
    await mining;
    await scene.mine();
    const [first, second] = await Promise.all(sent.map(({ hash }) => scene.receipt(hash)));
    expect([first?.status, second?.status]).toEqual(["0x1", "0x1"]);
    expect(Number(second?.blockNumber)).toBeGreaterThan(Number(first?.blockNumber));
  });

  it("stops the rest when one is not mined in time, and says which were sent", async () => {
    await using preflight = connect(2_000);
    await turned("close");
    const bundle = [{ ...passing(gate), from: owner.address, functionName: "open" }, passing(gate)];
    const senders = [owner.address, other.address];
    const nonce = await scene.count(owner.address);
    const free = await scene.count(other.address);
    await expect(
      deliver(preflight, (request, index) => signedBy(senders[index] ?? "")(request), bundle),
    ).rejects.toMatchObject({
      ...{ _tag: "PartlySent", mayBeSent: true, left: 1, sent: [{ nonce: BigInt(nonce) }] },
      detail: expect.stringContaining("not mined"),
    });
    expect(await scene.count(other.address, "pending")).toBe(free);
    await scene.mine();
  });

  /** Delivers a bundle through a relay that takes the first longer than a clearance holds, after `meanwhile`. */
  const overSlowRelay = async (meanwhile: () => Promise<unknown>) => {
    let asked = 0;
    const send = async (raw: Hex) => {
      const hash = await scene.ask("eth_sendRawTransaction", [raw]);
      asked += 1;
      if (asked === 1) await Promise.all([meanwhile(), pause(2 * maxAge)]);
      return hash;
    };
    await turned("open");
    await using preflight = createPreflight({ layer: layerOf(scene.url) }, { nonces: layerNonces, maxAge, send });
    const bundle = [{ from: other.address, to: third.address, value: 1n }, passing(gate)];
    return await deliver(preflight, signedBy(other.address), bundle);
  };

  it("proves the rest again when the clearance expired while the first of a bundle was sent", async () => {
    const nonce = await scene.count(other.address);
    const { sent } = await overSlowRelay(() => Promise.resolve());
    expect(sent.map(({ outcome }) => outcome.kind)).toEqual(["accepted", "accepted"]);
    await scene.mine();
    expect(await scene.count(other.address)).toBe(nonce + 2);
    await expect(overSlowRelay(() => turned("close"))).rejects.toMatchObject({
      ...{ _tag: "PartlySent", mayBeSent: true, inDoubt: null, left: 1, sent: [{ nonce: BigInt(nonce + 2) }] },
    });
    expect(await scene.count(other.address, "pending")).toBe(nonce + 3);
  });

  it("rejects when a node refuses for good, with the sent ones and the doubtful ones of the bundle", async () => {
    let refuseFrom = 0;
    let asked = 0;
    const send = async (raw: Hex) => {
      asked += 1;
      if (asked > refuseFrom) throw Object.assign(new Error("insufficient funds for gas"), { code: -32000 });
      return scene.ask("eth_sendRawTransaction", [raw]);
    };
    const one = (value: bigint) => ({ from: other.address, to: third.address, value });
    const refused = createPreflight({ layer: layerOf(scene.url) }, { nonces: layerNonces, send });
    const nonce = BigInt(await scene.count(other.address));
    await expect(refused.deliver(signedBy(other.address))(one(1n))).rejects.toMatchObject({
      ...{ _tag: "SendRejected", nonce, isFree: false, mayBeSent: true },
    });
    await refused.dispose();
    [asked, refuseFrom] = [0, 1];
    await using partly = createPreflight({ layer: layerOf(scene.url) }, { nonces: layerNonces, send });
    const bundle = [one(1n), one(2n), one(3n)];
    await expect(partly.deliver(signedBy(other.address))(bundle as never)).rejects.toMatchObject({
      ...{ _tag: "PartlySent", sent: [{ nonce }], inDoubt: { nonce: nonce + 1n }, left: 1 },
      detail: expect.stringContaining("keeps its nonce"),
    });
    await scene.mine();
  });

  it("waits for a nonce as long as it is told to", async () => {
    const settings = Layer.succeed(Nonces.Settings, { ...Nonces.defaults, inFlight: 1 });
    await using preflight = createPreflight(
      { layer: Layer.merge(layerOf(scene.url), settings) },
      { nonces: layerNonces },
    );
    const wish = { from: third.address, to: other.address, value: 1n };
    const first = await preflight.deliver(signedBy(third.address))(wish);
    await expect(preflight.deliver(signedBy(third.address))(wish, { waitMs: 100 })).rejects.toMatchObject({
      ...{ _tag: "NonceBusy", head: { hash: first.sent[0]?.hash } },
    });
    const waiting = preflight.deliver(signedBy(third.address))(wish, { waitMs: 30_000 });
    await pause(700);
    await scene.mine();
    const { sent } = await waiting;
    expect(sent[0]?.nonce).toBe((first.sent[0]?.nonce ?? 0n) + 1n);
    await scene.mine();
  });
});
