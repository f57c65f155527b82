/** Nodes that ignore one override each: what cannot matter to the transaction is ready, what can is not. */
import { getContractAddress, pad, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BundleReport } from "../../src/Report.js";
import { creation } from "../harness/creation.js";
import { dropping } from "../harness/overriding.js";
import { startProxy, type ProxyOptions } from "../harness/proxy.js";
import { furnish, transferOf } from "./furnished.js";
import {
  cleared,
  codesOf,
  nobody,
  other,
  owner,
  preflight,
  prove,
  scan,
  scenesFor,
  severe,
  type AnyInput,
  type Scene,
} from "./scene.js";

/** Code that pushes what the override says. */
const reading = {
  number: "43",
  time: "42",
  feeRecipient: "41",
  gasLimit: "45",
  baseFeePerGas: "48",
  prevRandao: "44",
  blobBaseFee: "4a",
  // asks the contract of beacon roots for that of this block
  beaconRoot: "425f5260205f60205f73000f3df6d732807ef1319fb7b8bb8522d0beac025afa505f51",
  balance: "3331",
  // no instruction reads a nonce
  nonce: "5f",
  code: "333b",
  storage: "5f54",
} as const;
type Override = keyof typeof reading;
type Block = Readonly<Partial<Record<"difficulty" | "prevRandao", Hex>>>;
const overrides = Object.keys(reading) as ReadonlyArray<Override>;

/** Pushes a value, and reverts where it is one that it never is. */
const branching = (code: string): Hex => {
  const body = `${code}63deadbeef14`;
  return creation(`${body}60${(body.length / 2 + 4).toString(16).padStart(2, "0")}57005b5f5ffd`);
};

const zero = `0x${"00".repeat(32)}` as const;
/** What the caller pretends, for only that is an override of storage. */
const pretending = (account: Hex) => ({
  stateOverrides: { [account]: { stateDiff: { [zero]: `0x${"00".repeat(31)}07` } } },
});

/** Verdicts of a plain transfer, of a token's, and of a call that reads the value. */
type Row = readonly [plain: BundleReport["verdict"], token: BundleReport["verdict"], reader: BundleReport["verdict"]];
const ofCode: Row = ["ready", "ready", "unknown"];
const ofAll: Row = ["unknown", "unknown", "unknown"];
const table: Readonly<Record<string, Readonly<Record<Override, Row>>>> = {
  anvil: {
    // of a sealed state it simulates the block itself, so that nothing tells which one that was
    number: ofAll,
    ...{ time: ofCode, feeRecipient: ofCode, gasLimit: ofCode, baseFeePerGas: ofCode, prevRandao: ofCode },
    blobBaseFee: ofCode,
    // it has no contract of beacon roots
    beaconRoot: ["ready", "ready", "ready"],
    // the reader in the simulation is paid by one, and is the other
    ...{ balance: ofAll, code: ofAll },
    nonce: ["ready", "ready", "ready"],
    storage: ["caution", "unknown", "unknown"],
  },
  geth: {
    // its own numbers are the very ones that are asked for
    number: ["ready", "ready", "ready"],
    ...{ time: ofCode, feeRecipient: ofCode, gasLimit: ofCode, baseFeePerGas: ofCode, prevRandao: ofCode },
    ...{ blobBaseFee: ofCode, beaconRoot: ofCode },
    ...{ balance: ofAll, code: ofAll },
    nonce: ["ready", "ready", "ready"],
    storage: ["caution", "unknown", "unknown"],
  },
};

describe.each(scenesFor("ignored overrides"))("block overrides that are ignored, on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  const readers = new Map<Override, Hex>();
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
    for (const [override, code] of Object.entries(reading))
      readers.set(override as Override, await scene.deploy({ abi: [], bytecode: branching(code) }));
  }, 60_000);
  afterAll(() => scene?.stop());
  const plain = { from: owner.address, to: nobody, value: 1n };
  const readerOf = (override: Override) => readers.get(override) ?? nobody;
  const calling = (override: Override) => ({ from: owner.address, to: readerOf(override), data: "0x12345678" as Hex });
  const through = async <A>(
    rewrite: ProxyOptions["rewrite"],
    ask: (url: string) => Promise<A>,
    map?: (result: unknown) => unknown,
  ) => {
    const proxy = await startProxy({ target: scene.url, ...(rewrite === undefined ? {} : { rewrite }) });
    if (map !== undefined) proxy.fail("eth_simulateV1", { kind: "map", map });
    try {
      return await ask(proxy.url);
    } finally {
      await proxy.stop();
    }
  };
  const ignored = ({ findings }: BundleReport) =>
    findings.flatMap(({ error, severity }) =>
      error?._tag === "RpcError" && error.reason._tag === "OverrideIgnored" && severity === "unavailable"
        ? error.reason.overrides
        : [],
    );

  it.each(overrides.map((override) => [override]))(
    "are reported where they can matter, by a node that ignores %s",
    async (override) => {
      const options = override === "storage" ? pretending(readerOf(override)) : {};
      const reports = await through(dropping(override === "storage" ? "stateDiff" : override), async (url) => {
        const made: Array<BundleReport> = [];
        for (const input of [plain, transferOf(token), calling(override)])
          made.push(await preflight(url, input as AnyInput, options as never));
        return made;
      });
      expect(reports.map(({ verdict }) => verdict)).toEqual(table[name]?.[override]);
      for (const report of reports) {
        expect(codesOf(report).filter((code) => code.endsWith("/blocker"))).toEqual([]);
        if (report.verdict === "unknown") expect(ignored(report)).toEqual([override]);
        else expect(ignored(report)).toEqual([]);
      }
    },
  );

  it("leave the same code ready on a node that honours them, or show that the blob base fee cannot be varied", async () => {
    const verdicts = [];
    for (const override of overrides)
      verdicts.push([override, (await preflight(scene.url, calling(override))).verdict]);
    const untaken = name === "anvil" ? "blobBaseFee" : null;
    expect(verdicts).toEqual(overrides.map((override) => [override, override === untaken ? "unknown" : "ready"]));
  });

  it("are judged in a proof of another's report by the code that the proof reads itself", async () => {
    const asked = [plain, transferOf(token), calling("gasLimit")];
    const verdicts = await through(dropping("gasLimit"), async (url) => {
      const made = [];
      for (const input of asked) made.push((await prove(url, await scan(url, input as AnyInput))).verdict);
      return made;
    });
    expect(verdicts).toEqual(ofCode);
  });

  it("are assumed to matter to code that an earlier transaction deploys", async () => {
    const factory = await scene.deploy({ abi: [], bytecode: creation("365f5f37365f5ff05f5260205ff3") });
    const made = getContractAddress({ from: factory, nonce: 1n });
    const bundle = [
      { from: owner.address, to: factory, data: branching(reading.prevRandao) },
      { from: owner.address, to: made, data: "0x12345678" },
    ];
    const [honest, ignoring] = [
      await preflight(scene.url, bundle),
      await through(dropping("prevRandao"), (url) => preflight(url, bundle)),
    ];
    expect([honest.verdict, ignoring.verdict, ignored(ignoring)]).toEqual(["ready", "unknown", ["prevRandao"]]);
  });

  it("block nothing falsely on a node that ignores nonces, with one of the sender's in flight", async () => {
    await scene.send(other, { to: nobody, value: 1n });
    const report = await through(dropping("nonce"), (url) =>
      preflight(url, { ...plain, from: other.address } as AnyInput),
    );
    await scene.mine();
    expect([report.verdict, codesOf(report).filter((code) => code.endsWith("/blocker"))]).toEqual([
      name === "anvil" ? "ready" : "caution",
      [],
    ]);
  });

  it("leave transfers ready where opcode 0x44 is the difficulty, and give a warning for code that reads it", async () => {
    // as BNB Smart Chain's node: its blocks have one, a simulated block has what it is asked to have, else none
    const entriesOf = (params: unknown) =>
      (params as readonly [{ readonly blockStateCalls: ReadonlyArray<{ readonly blockOverrides?: Block }> }])[0]
        .blockStateCalls;
    const proxy = await startProxy({
      target: scene.url,
      rewrite: (method, params) => {
        if (method !== "eth_simulateV1") return params;
        const [payload, ...rest] = params as readonly [object, ...ReadonlyArray<unknown>];
        const blockStateCalls = entriesOf(params).map(({ blockOverrides = {}, ...entry }) => {
          const { difficulty = "0x0", ...others } = blockOverrides;
          return { ...entry, blockOverrides: { ...others, prevRandao: pad(difficulty) } };
        });
        return [{ ...payload, blockStateCalls }, ...rest];
      },
    });
    const withDifficulty = (block: unknown, difficulty: Hex) => ({ ...(block as object), difficulty });
    proxy.fail("eth_getBlockByNumber", { kind: "map", map: (block) => withDifficulty(block, "0x2") });
    proxy.fail("eth_simulateV1", {
      kind: "map",
      map: (result, { params }) => {
        const [blocks, entries] = [result as ReadonlyArray<unknown>, entriesOf(params)];
        return blocks.map((block, at) =>
          withDifficulty(block, entries[at - blocks.length + entries.length]?.blockOverrides?.difficulty ?? "0x0"),
        );
      },
    });
    const reports: Array<BundleReport> = [];
    for (const input of [plain, transferOf(token), calling("prevRandao")])
      reports.push(await preflight(proxy.url, input as AnyInput));
    await proxy.stop();
    expect(
      reports.map((report) => [report.verdict, codesOf(report).filter((code) => /Difficulty|Ignored/.test(code))]),
    ).toEqual([
      ["ready", []],
      ["ready", ["DifficultyNotVaried/info"]],
      ["caution", ["DifficultyNotVaried/warning"]],
    ]);
    expect(reports.slice(0, 2).flatMap(severe)).toEqual([]);
    for (const report of reports.slice(0, 2)) await cleared(report);
  });
});
