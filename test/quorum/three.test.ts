/** Three endpoints of which two must agree: the second or third may lie, be gone or be behind, and the first only in vain. */
import * as Effect from "effect/Effect";
import type * as Layer from "effect/Layer";
import { keccak256, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Eth from "../../src/Eth.js";
import type { BundleReport } from "../../src/Report.js";
import type * as Rpc from "../../src/Rpc.js";
import {
  inventedHead,
  lagging,
  liar,
  liesAbout,
  liesAlone,
  liesOfJunk,
  liesUnheld,
  noFacts,
  silent,
  type Lie,
} from "../harness/lies.js";
import { isHeld, quorumOf, readingOf } from "../harness/pairs.js";
import { half, share } from "../harness/parts.js";
import { Token } from "../contracts/artifacts.js";
import { furnish, transferOf } from "../preflight/furnished.js";
import {
  calldata,
  codesOf,
  layerOf,
  nobody,
  other,
  owner,
  preflightOn,
  scenesFor,
  type AnyInput,
  type Scene,
} from "../preflight/scene.js";

const held = 10n ** 24n;

/** What one says otherwise in what it runs. */
const liesInRuns = Object.entries(liesAbout(noFacts)).flatMap(([about, { method }]) =>
  method === "eth_simulateV1" ? [about] : [],
);

describe.each(scenesFor("two of three"))("reports by two of three endpoints, on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let lies: Readonly<Record<string, Lie>>;
  let inputs: readonly [AnyInput, ...ReadonlyArray<AnyInput>];
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
    for (let block = 0; block < 4; block++) await scene.mine();
    const codeHash = keccak256((await scene.ask("eth_getCode", [token, "latest"])) as Hex);
    const who = { owner: owner.address, other: other.address, spender: nobody } as const;
    lies = liesAbout({ ...who, token, held, codeHash, chainId: scene.chainId });
    inputs = [
      transferOf(token),
      { from: owner.address, to: other.address, value: 5n },
      // why: it fails, and what it says of itself is what it is
      { from: owner.address, to: token, data: calldata(Token, "transferFrom", [other.address, owner.address, 1n]) },
    ];
  });
  afterAll(() => scene?.stop());

  const among = (odd: Layer.Layer<Rpc.Rpc>, place: number, options?: Rpc.QuorumOptions) =>
    quorumOf(
      [0, 1, 2].map((index) => (index === place ? odd : layerOf(scene.url))),
      options,
    );
  const on = (odd: Layer.Layer<Rpc.Rpc>, place: number, options?: Rpc.QuorumOptions): Promise<BundleReport> =>
    preflightOn(among(odd, place, options), transferOf(token));
  const places = [1, 2];

  it.each([
    ["one behind the first shows an earlier block", () => lagging(scene.url, 1n), places],
    ["one behind the first cannot be reached", () => layerOf("http://127.0.0.1:1"), places],
    ["one behind the first never answers", () => silent(scene.url), places],
  ] as const)(
    "are ready while %s",
    async (_, odd, where) => {
      for (const place of where) {
        const report = await on(odd(), place, { waitMs: 1_500 });
        expect([place, report.verdict, codesOf(report).filter((code) => !code.endsWith("/info"))]).toEqual([
          place,
          "ready",
          [],
        ]);
      }
    },
    60_000,
  );

  it("are unknown while the first stays behind the other two, and do not ask it endlessly", async () => {
    const report = await on(lagging(scene.url, 1n), 0);
    expect([report.verdict, codesOf(report)]).toEqual([
      "unknown",
      expect.arrayContaining(["BaseNotComparable/unavailable"]),
    ]);
    const proofs = report.ledger.requests.filter(({ run, method }) => run === "exact" && method === "eth_simulateV1");
    // of each endpoint
    expect(proofs.length / 3).toBeLessThanOrEqual(3);
  });

  const every = (): Readonly<Record<string, Lie>> => ({ ...lies, ...liesAlone, ...liesUnheld, inventedHead });

  const honest = new Map<AnyInput, ReturnType<typeof readingOf>>();
  const honestly = async (input: AnyInput) => {
    const known = honest.get(input) ?? readingOf(await preflightOn(among(layerOf(scene.url), 0), input));
    honest.set(input, known);
    return known;
  };

  it.each(
    half(
      [...Object.keys(liesAbout(noFacts)), ...Object.keys(liesAlone), ...Object.keys(liesUnheld), "inventedHead"],
      0,
    ),
  )(
    "are the same if the second or third lies: %s",
    async (about, index) => {
      const lie = every()[about] ?? expect.fail();
      for (const input of name === "anvil" ? share(inputs, index) : inputs.slice(0, 1))
        for (const place of share(places, index + Math.floor(index / 2))) {
          const lying = liar(scene.url, lie, null, { count: 0 });
          const report = await preflightOn(among(lying, place), input);
          expect([place, readingOf(report)]).toEqual([place, await honestly(input)]);
        }
    },
    60_000,
  );

  it("are the same where the layer of the second or third breaks", async () => {
    const breaking: Lie = {
      method: "eth_simulateV1",
      tell: () => {
        throw new Error("broken");
      },
    };
    const [input] = inputs;
    for (const place of places)
      expect(readingOf(await preflightOn(among(liar(scene.url, breaking, null, { count: 0 }), place), input))).toEqual(
        await honestly(input),
      );
  });

  // why: every place of every junk is in the long run
  it
    .skipIf(name !== "anvil")
    .each(Object.entries(liesOfJunk).map(([about, lie], index) => [about, lie, index] as const))(
    "are the same if the second or third answers %s",
    async (_, lie, index) => {
      const [input] = inputs;
      const place = 1 + (index % 2);
      const report = await preflightOn(among(liar(scene.url, lie, null, { count: 0 }), place), input);
      expect([place, readingOf(report)]).toEqual([place, await honestly(input)]);
    },
    60_000,
  );

  it.each(
    [
      ...["a head 1 ahead that is nobody's", "a head 3 ahead that is nobody's", "a head 40 ahead that is nobody's"],
      ...[
        "simulated blocks with another gasLimit (-29000000)",
        "simulated blocks with another baseFeePerGas (10000000000000)",
      ],
      ...[
        "it takes ten times the gas",
        "hardly any gas is enough",
        "everybody tips a fortune",
        "a peak of gas beyond all",
      ],
      ...["a header with another time", "a nonce too high", "inventedHead"],
      ...liesInRuns,
    ].map((about, index) => [about, index] as const),
  )(
    "are ready, one block apart, if the second or third lies: %s",
    async (about, index) => {
      const lie = every()[about] ?? expect.fail();
      const input = transferOf(token);
      const alone = await preflightOn(layerOf(scene.url), input);
      for (const place of share(places, index)) {
        const layers = [layerOf(scene.url), lagging(scene.url, 1n, false)];
        layers.splice(place, 0, liar(scene.url, lie, null, { count: 0 }));
        const report = await preflightOn(quorumOf(layers), input);
        const { verdict, transactions } = report;
        const warned = codesOf(report).filter((code) => !code.endsWith("/info"));
        expect([place, verdict, warned]).toEqual([place, "ready", []]);
        expect(transactions[0].gas.limit).toBe(alone.transactions[0].gas.limit);
        // why: from one block to the next the base fee moves by an eighth, and the cap is a multiple of it
        const [fees, own] = [report, alone].map(({ transactions: [one] }) => BigInt(one.request?.maxFeePerGas ?? 0n));
        expect([place, Number(fees) / Number(own)]).toEqual([place, expect.closeTo(1, 0)]);
      }
    },
    60_000,
  );

  it("pass on what two say, outside the pipeline too", async () => {
    const lie: Lie = { method: "eth_getCode", tell: () => "0x" };
    const asked = Eth.getCode({ address: token, block: 3n });
    const honest = await Effect.runPromise(asked.pipe(Effect.provide(layerOf(scene.url))));
    for (const place of places) {
      const layer = among(liar(scene.url, lie, null, { count: 0 }), place);
      expect(await Effect.runPromise(asked.pipe(Effect.provide(layer)))).toBe(honest);
    }
  });

  it.each(half(Object.keys({ ...liesAbout(noFacts), inventedHead }), 1))(
    "are never ready if the first lies: %s",
    async (about, index) => {
      const lie = every()[about] ?? expect.fail();
      for (const input of name === "anvil" ? share(inputs, index) : inputs.slice(0, 1)) {
        const told = { count: 0 };
        const report = await preflightOn(among(liar(scene.url, lie, null, told), 0), input);
        if (told.count > 0) expect([codesOf(report), isHeld(report)]).toEqual([codesOf(report), true]);
      }
    },
    60_000,
  );

  it("propose no higher cap than one full block more if the first claims a huge fee", async () => {
    const lie = liesAlone["the base fee is a fortune"] ?? expect.fail();
    const [alone, report] = [await on(layerOf(scene.url), 0), await on(liar(scene.url, lie, null, { count: 0 }), 0)];
    const [own, cap] = [alone, report].map(({ transactions: [one] }) => Number(one.request?.maxFeePerGas));
    expect([alone.verdict, report.verdict]).toEqual(["ready", "ready"]);
    // an eighth more than the header's, which is at most an eighth above the next one's
    expect(cap).toBeLessThanOrEqual(1.29 * (own ?? 0));
  });

  it("are never ready if only the first has another base fee in the simulated blocks", async () => {
    const lie = liesUnheld["simulated blocks with another baseFeePerGas (10000000000000)"] ?? expect.fail();
    const report = await on(liar(scene.url, lie, null, { count: 0 }), 0);
    expect([report.verdict, codesOf(report)]).toEqual([
      "blocked",
      expect.arrayContaining(["WitnessesDisagree/blocker"]),
    ]);
  });

  it("are not ready while the first cannot be reached", async () => {
    const report = await on(layerOf("http://127.0.0.1:1"), 0);
    expect(report.verdict).toBe("unknown");
  });

  it("are blocked where three must agree", async () => {
    const lie = lies["it takes less gas"] ?? expect.fail();
    for (const place of [0, 1, 2]) {
      const report = await on(liar(scene.url, lie, null, { count: 0 }), place, { agree: 3 });
      expect([place, report.verdict, codesOf(report)]).toEqual([
        place,
        "blocked",
        expect.arrayContaining(["WitnessesDisagree/blocker"]),
      ]);
    }
  });
});
