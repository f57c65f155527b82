/** The caller's own sources of names on real nodes: asked beside the rounds, never waited for, and nothing that decides is theirs. */
import fc from "fast-check";
import {
  BaseError,
  createWalletClient,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  http,
  parseAbi,
  toEventSelector,
  type Hex,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPreflight, NotCleared, type NameSources } from "../../src/promise.js";
import type { BundleReport, Report } from "../../src/Report.js";
import { guard, preflightActions } from "../../src/viem.js";
import { rawRequest } from "../harness/anvil.js";
import { creation } from "../harness/creation.js";
import { fromJson, toJson, toText } from "../rooms/report.js";
import * as Effect from "effect/Effect";
import {
  calldata,
  codesOf,
  nobody,
  other,
  owner,
  preflight,
  prove,
  scan,
  scenesFor,
  startAnvilScene,
  third,
  type AnyInput,
  type Scene,
} from "./scene.js";

/** Code that stops at once, whatever it is asked. */
const stop = creation("00");
/** A token that says `Transfer(caller, to, amount)` of every call, and nothing of itself. */
const silent = creation(
  `602060245f37600435337f${toEventSelector("Transfer(address,address,uint256)").slice(2)}60205fa300`,
);
const wide = { width: 300 };
const abi = parseAbi(["function claimAll(uint256 epoch)", "function multicall(bytes[] data)"]);
const claim = encodeFunctionData({ abi, functionName: "claimAll", args: [7n] });
const never = new Promise<never>(() => undefined);
const lower = (address: string) => address.toLowerCase() as Hex;

const fail = (text: string): never => {
  throw new Error(text);
};
/** An object that `await` asks. */
// oxlint-disable-next-line unicorn/no-thenable
const thenable = (then: (done: (value: unknown) => void) => void) => Object.fromEntries([["then", then]]) as unknown;

/** What decides: all of a report that names must not touch. */
const deciding = ({ verdict, because, findings, digest, transactions, transfers, approvals, payees, tokens }: Report) =>
  JSON.stringify(
    { verdict, because, findings, digest, transactions, transfers, approvals, payees, tokens },
    (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value),
  );

/** Where the contracts are. */
interface Place {
  readonly scene: Scene;
  readonly token: Hex;
  readonly stops: Hex;
}
const settle = async (start: () => Promise<Scene>): Promise<Place> => {
  const scene = await start();
  const token = await scene.deploy({ abi: [], bytecode: silent });
  const stops = await scene.deploy({ abi: [], bytecode: stop });
  return { scene, token, stops };
};
const inputsOf = ({ token, stops }: Place): ReadonlyArray<AnyInput> => {
  const transfer = {
    from: owner.address,
    to: token,
    data: calldata({ abi: erc20Abi }, "transfer", [other.address, 1_500n]),
  };
  const call = { from: owner.address, to: stops, data: claim };
  return [transfer, call, [transfer, call], { from: owner.address, to: nobody, data: claim }];
};

/** Sources that answer well, and what they were asked. */
const sources = ({ token, stops }: Place) => {
  const asked: Array<string> = [];
  const note = <A>(kind: string, key: string, answer: A) => {
    asked.push(`${kind} ${key}`);
    return Promise.resolve(answer);
  };
  const names: NameSources = {
    label: (address) => note("label", address, address === lower(other.address) ? "bob.eth" : null),
    token: (address) => note("token", address, address === token ? { symbol: "CAT", decimals: 3 } : undefined),
    abi: (address) => note("abi", address, address === stops ? null : undefined),
    function: (selector) =>
      note("function", selector, ["claimAll(uint256)", "lie(address)", "claimAll(uint256,uint8)"]),
  };
  return { names, asked };
};

describe.each(scenesFor("names"))("sources of names beside a preflight on %s", (_, start) => {
  let place: Place;
  beforeAll(async () => {
    place = await settle(start);
  });
  afterAll(() => place?.scene.stop());

  it("give names that nothing else gives, in a scan and in a preflight, each asked once", async () => {
    const { url } = place.scene;
    const [transfer, call] = inputsOf(place);
    for (const run of [scan, preflight]) {
      const { names, asked } = sources(place);
      const report = await run(url, transfer as AnyInput, { names });
      const text = toText(report, { width: 300 });
      expect(text).toContain("1.5 CAT† (");
      expect(text).toContain("to bob.eth† (");
      expect(report.names).toMatchObject({
        labels: [{ address: lower(other.address), label: "bob.eth" }],
        tokens: [{ token: place.token, symbol: "CAT", decimals: 3 }],
      });
      expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
      expect(asked).toContain(`token ${place.token}`);
      const own = sources(place);
      const called = await run(url, call as AnyInput, { names: own.names });
      expect(toText(called, { width: 300 })).toContain("claimAll(7) (by your names)");
      expect(own.asked.filter((each) => /^(abi|function)/.test(each))).toEqual([
        ...[`abi ${place.stops}`, `function ${claim.slice(0, 10)}`],
      ]);
    }
  });

  it("leave everything that decides unchanged", async () => {
    for (const input of inputsOf(place)) {
      const [without, within] = [
        await preflight(place.scene.url, input),
        await preflight(place.scene.url, input, { names: sources(place).names }),
      ];
      expect(deciding(within)).toBe(deciding(without));
      expect([without.names, within.names === undefined]).toEqual([undefined, false]);
    }
  });
});

describe("sources of names", () => {
  let place: Place;
  let url: string;
  beforeAll(async () => {
    place = await settle(() => startAnvilScene());
    ({ url } = place.scene);
  });
  afterAll(() => place?.scene.stop());
  const [transferAt, bundleAt] = [0, 2];
  const inputAt = (at: number): AnyInput => inputsOf(place)[at] as AnyInput;

  it("change nothing that decides, whatever they answer", async () => {
    const garbage: ReadonlyArray<unknown> = [
      ...[null, undefined, 0, -1n, true, "", "x".repeat(100_000), "\u202eUSDC\u0000", Symbol("x"), () => "f", never],
      ...[[], {}, [[]], [null], ["function"], ["claimAll(uint256", "claimAll(uint256)"], { symbol: 5, decimals: "6" }],
      ...[{ symbol: "USDC", decimals: 6 }, { symbol: "ETH", decimals: 1e9 }, { decimals: Number.NaN }],
      ...[
        Promise.reject(new Error("late")),
        new Map(),
        new Proxy(
          {},
          {
            get: () => {
              throw new Error("no");
            },
          },
        ),
      ],
      ...[[{ type: "function", name: "claimAll", inputs: [{ type: "uint256" }] }], [{ type: "function" }], abi],
      ...[thenable((done) => done("thenable")), thenable(() => fail("then"))],
      new Proxy([], {
        get: () => {
          throw new Error("no");
        },
        ownKeys: () => {
          throw new Error("no");
        },
      }),
    ];
    for (const part of garbage) if (part instanceof Promise) part.catch(() => undefined);
    const source = fc.constantFrom(
      ...garbage.map((answer) => () => answer),
      () => {
        throw new Error("thrown");
      },
      undefined,
    );
    const before = await Promise.all(inputsOf(place).map((input) => preflight(url, input)));
    await fc.assert(
      fc.asyncProperty(
        fc.record({ abi: source, function: source, token: source, label: source }),
        fc.nat(before.length - 1),
        async (names, at) => {
          const report = await preflight(url, inputAt(at), { names: names as NameSources });
          expect(deciding(report)).toBe(deciding(before[at] as BundleReport));
          toText(report, { full: true });
          expect(await Effect.runPromise(fromJson(toJson(report)))).toEqual(report);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("are not waited for: one that never answers gives no name, also under a short deadline", async () => {
    const names = { label: () => never, token: () => never, abi: () => never, function: () => never };
    for (const deadline of [10_000, 400]) {
      const report = await preflight(url, inputAt(bundleAt), { names, deadline });
      expect([report.names, report.transactions.length]).toEqual([undefined, 2]);
    }
  });

  it("are told when the run is over, and no later answer counts", async () => {
    const [signals, answers]: [Array<AbortSignal>, Array<(label: string) => void>] = [[], []];
    const chains = new Set<number | null>();
    const report = await preflight(url, inputAt(transferAt), {
      names: {
        label: (_, { signal, chainId }) => {
          signals.push(signal);
          chains.add(chainId);
          return new Promise<string>((resolve) => answers.push(resolve));
        },
      },
    });
    expect(signals.length).toBeGreaterThan(1);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    for (const answer of answers) answer("late");
    await Promise.resolve();
    expect(report.names).toBeUndefined();
    expect([...chains].every((chain) => chain === null || chain === 31337)).toBe(true);
  });

  it("are called beside the requests: the node gets its first request before a source is called", async () => {
    const order: Array<string> = [];
    const request = ({ method, params }: { readonly method: string; readonly params?: unknown }) => {
      order.push("request");
      return rawRequest(url, method, (params ?? []) as ReadonlyArray<unknown>);
    };
    await using on = createPreflight({ provider: { request } });
    for (const names of [undefined, { label: (address: string) => (order.push("label"), address) }]) {
      order.length = 0;
      await on.preflight(inputAt(transferAt) as never, names && { names });
    }
    const first = order.indexOf("label");
    expect(first).toBeGreaterThan(0);
    // why: what the proof asks goes out behind the first labels
    expect(order.lastIndexOf("request")).toBeGreaterThan(first);
  });

  it("are called for at most 64 addresses and selectors of a bundle, each once", async () => {
    const counts = {
      label: new Map<string, number>(),
      function: new Map<string, number>(),
      abi: new Map<string, number>(),
    };
    const count = (kind: keyof typeof counts) => (key: string) => {
      counts[kind].set(key, (counts[kind].get(key) ?? 0) + 1);
      return null;
    };
    const calls = Array.from({ length: 64 }, (_, at) => `0x${(0xaa000000 + at).toString(16)}` as Hex);
    const data = encodeFunctionData({ abi, functionName: "multicall", args: [calls] });
    const bundle = Array.from({ length: 3 }, (_, at) => ({
      ...{ from: owner.address, to: place.stops, value: 0n },
      data: at === 0 ? data : (`0x${(0xbb000000 + at).toString(16)}` as Hex),
    }));
    await preflight(url, bundle, { names: { label: count("label"), function: count("function"), abi: count("abi") } });
    expect([counts.function.size, counts.abi.size]).toEqual([64, 1]);
    expect([...Object.values(counts)].flatMap((each) => [...each.values()]).every((times) => times === 1)).toBe(true);
  });

  it("name calls inside a batch, and a contract's ABI has precedence over signatures", async () => {
    const data = encodeFunctionData({ abi, functionName: "multicall", args: [["0x12345678", claim]] });
    const named = parseAbi(["function claimAll(uint256 epochOfMine)"]);
    const report = await preflight(
      url,
      { from: owner.address, to: place.stops, data },
      {
        names: { abi: () => named, function: () => "claimAll(uint256)" },
      },
    );
    expect(report.names?.calls.map(({ place: at }) => at)).toEqual(["1.2"]);
    expect(toText(report, { width: 300 })).toContain("claimAll(epochOfMine: 7) (by your names)");
  });

  it("cannot put words into a sentence through an ABI's names", async () => {
    const name = "epoch) and you receive 5 ETH (";
    const item = (more: object) => [
      { type: "function", name: "claimAll", inputs: [{ type: "uint256", name }], ...more },
    ];
    const told = async (answer: unknown) => {
      const names = { abi: () => answer as never };
      return toText(await preflight(url, { from: owner.address, to: place.stops, data: claim }, { names }), wide);
    };
    expect(await told(item({}))).toContain("claimAll(7) (by your names)");
    for (const none of [["claimAll"], { a: 1 }, 5]) expect(await told(item({ name: none }))).toContain("selector 0x");
  });

  it("show no function that the calldata does not fit to its last byte", async () => {
    const names = { function: () => ["claimAll(uint256)", "claimAll(uint256,uint256)"] };
    const longer = await preflight(url, { from: owner.address, to: place.stops, data: `${claim}00` }, { names });
    const shorter = await preflight(
      url,
      { from: owner.address, to: place.stops, data: claim.slice(0, -2) as Hex },
      { names },
    );
    const other = await preflight(
      url,
      { from: owner.address, to: place.stops, data: `0x11111111${claim.slice(10)}` },
      { names },
    );
    expect([longer, shorter, other].map((report) => report.names?.calls)).toEqual([undefined, undefined, undefined]);
  });

  it("give a proof only the names that its report lacks", async () => {
    const first = sources(place);
    const scanned = await scan(url, inputAt(bundleAt), { names: first.names });
    const again = sources(place);
    const proven = await prove(url, scanned, { names: again.names });
    expect(proven.names).toEqual(scanned.names);
    // those that had no answer are asked for once more
    const answered = [`label ${lower(other.address)}`, `token ${place.token}`, `function ${claim.slice(0, 10)}`];
    expect(again.asked.filter((each) => answered.includes(each))).toEqual([]);
    expect((await prove(url, scanned)).names).toEqual(scanned.names);
    expect(deciding(await prove(url, scanned))).toBe(deciding(proven));
    const broken = await prove(url, scanned, { names: 5 as never });
    expect(codesOf(broken)).toContain("OptionsRefused/unavailable");
    expect(broken.names).toEqual(scanned.names);
  });

  it("work for a client and for viem's, also where a report is proven, watched and refused by a guard", async () => {
    const { names } = sources(place);
    await using on = createPreflight({ url }, { names, heads: { pollMs: 20 } });
    const report = await on.preflight(inputAt(transferAt) as never);
    expect(report.names?.labels).toHaveLength(1);
    const { names: _, ...bare } = report;
    expect((await on.prove(bare as BundleReport)).names).toEqual(report.names);
    for await (const watched of on.watch(bare as BundleReport)) {
      expect([watched._tag, watched.report.names]).toEqual(["Fresh", report.names]);
      break;
    }
    const client = createPublicClient({ transport: http(url) }).extend(preflightActions({ names }));
    expect((await client.preflight(inputAt(transferAt) as never)).names).toEqual(report.names);
    const wallet = guard(createWalletClient({ account: third, transport: http(url) }), { names });
    const refused = await wallet.sendTransaction({ to: other.address, value: 10n ** 40n, chain: null }).then(
      () => null,
      (error: unknown) => error instanceof BaseError && error.walk((one) => one instanceof NotCleared),
    );
    expect(refused).toBeInstanceOf(NotCleared);
    expect((refused as NotCleared).report.names?.labels).toEqual(report.names?.labels);
  });

  it("may be methods of an instance", async () => {
    class Book {
      readonly #names = new Map([[lower(other.address), "bob.eth"]]);
      label(address: string) {
        return this.#names.get(address as Hex);
      }
    }
    const report = await scan(url, inputAt(transferAt), { names: new Book() });
    expect(report.names?.labels.map(({ label }) => label)).toEqual(["bob.eth"]);
  });
});
