/**
 * Each field of each kind of message changed by itself: what the report says of it is held against a simulation of the same
 * call with the real signature of the key, which no override helps.
 */
import { createPreflight } from "evm-preflight/promise";
import { hashTypedData, numberToHex, parseSignature, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { diceOf } from "../harness/families/kit.js";
import { kitsFor, type Kit, type TypedData } from "./kit.js";
import { mutationsOf, rows, sign, type Message } from "./messages.js";
import { hasBeds } from "./parts.js";

type Report = Awaited<ReturnType<ReturnType<typeof createPreflight>["signature"]>>;

const what = "every field of every message";
const isThere = hasBeds(what);
const inOrder = new Set<string>(["erc2612", "dai", "erc4494", "permit2Single", "permit2Batch", "seaport"]);
const kinds = rows.filter(({ checks, name }) => checks !== "none" && !name.startsWith("EIP-7702"));

/** The calldata of a carrier with a real signature in place of the one that is assumed; null where it holds none. */
const signedData = (
  { data }: { readonly data: Hex },
  { r, s }: { readonly r: Hex; readonly s: Hex },
  real: Hex,
): Hex | null => {
  const { r: realR, s: realS, yParity } = parseSignature(real);
  const [v, realV] = ["1b", yParity === 0 ? "1b" : "1c"];
  const word = (last: string) => last.padStart(64, "0");
  const [whole, split] = [`${r.slice(2)}${s.slice(2)}`, `${word(v)}${r.slice(2)}${s.slice(2)}`];
  const made = data.includes(split)
    ? data.replace(split, `${word(realV)}${realR.slice(2)}${realS.slice(2)}`)
    : data.replace(`${whole}${v}`, `${realR.slice(2)}${realS.slice(2)}${realV}`);
  return made === data ? null : (made as Hex);
};

const [, start] = kitsFor(what).find(([name]) => name === "geth") ?? [];

describe.skipIf(!isThere || start === undefined)("messages with a field changed, on geth", () => {
  let kit: Kit;
  let seed = 40_000;
  let preflight: ReturnType<typeof createPreflight>;
  beforeAll(async () => {
    if (start === undefined) throw new Error("no geth");
    kit = await start();
    preflight = createPreflight({ url: kit.scene.url });
  }, 240_000);
  afterAll(async () => {
    await preflight?.dispose();
    await kit?.stop();
  });

  /** True if the node runs every call of the report's carriers with the key's own signature; null where nothing uses it. */
  const isUsable = async (report: Report, key: Kit["spender"], typedData: TypedData): Promise<boolean | null> => {
    const real = await sign(key, { typedData });
    const [{ stand }] = report.signings as readonly [Report["signings"][number]];
    const calls = report.carriers.flatMap(({ input }) => {
      const data = signedData(input, stand, real);
      const { from, to, value } = input;
      return data === null
        ? []
        : [{ ...{ from, to, input: data, value: numberToHex(value) }, gas: numberToHex(input.gas ?? 3_000_000n) }];
    });
    if (calls.length === 0) return null;
    // what has no code takes every call, and does nothing
    for (const { to } of calls) if ((await kit.scene.ask("eth_getCode", [to, "latest"])) === "0x") return false;
    const purses = Object.fromEntries(calls.map(({ from }) => [from, { balance: numberToHex(2n ** 96n) }]));
    const params = [{ blockStateCalls: [{ stateOverrides: purses, calls }] }, "latest"];
    const [block] = (await kit.scene.ask("eth_simulateV1", params)) as readonly [
      { readonly calls: ReadonlyArray<{ readonly status: string }> },
    ];
    return block.calls.every(({ status }) => status === "0x1");
  };

  const judged = async (message: Message, field: string, typedData: TypedData, key: Kit["spender"]) => {
    const report = await preflight.signature({ typedData, signer: key.address } as never);
    const told = `${field}: ${report.verdict}, ${report.because}`;
    const isTold = report.verdict === "ready" || report.verdict === "caution";
    // a message that is bound to something else is of no use here; of a nonce in any order another one is as good
    const isInOrder = report.signing !== undefined && inOrder.has(report.signing.kind);
    const isBound = field.startsWith("domain.") || (isInOrder && /nonce|counter/u.test(field));
    if (isBound) expect(isTold, told).toBe(false);
    const isUsed = await isUsable(report, key, typedData);
    if (isUsed === null) expect(isTold, told).toBe(false);
    if (isTold && report.signing?.assumed === "shim") expect(isUsed, told).toBe(true);
    if (isUsed === true) expect(report.verdict, told).not.toBe("blocked");
    if (isTold) expect(report.signing?.sign.digest).toBe(hashTypedData(typedData as never));
  };
  const typed = ({ signing }: Message): TypedData => {
    if (!("typedData" in signing)) throw new Error("no typed data");
    return signing.typedData;
  };

  it.each(kinds)("$name: what is said of it is what its own signature does", { timeout: 240_000 }, async (row) => {
    const key = kit.owners.plain;
    let fields = 0;
    for (let round = 0; round < 2; round++) {
      seed++;
      await kit.fill(key.address);
      const parties = { owner: key, spender: await kit.account(100_000 + seed), now: await kit.now() };
      const message = await row.message(kit, diceOf(seed), parties);
      await judged(message, "nothing", typed(message), key);
      for (const [field, mutated] of mutationsOf(message.signing)) {
        if (!("typedData" in mutated)) throw new Error("no typed data");
        await judged(message, field, mutated.typedData, key);
        fields++;
      }
    }
    expect(fields).toBeGreaterThan(8);
  });
});
