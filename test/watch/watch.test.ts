/** A clearance kept true from head to head, on real nodes. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { concat, toHex, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import type * as Report from "../../src/Report.js";
import { quorum, Rpc } from "../../src/Rpc.js";
import { Gate, Swap, Token } from "../contracts/artifacts.js";
import { until } from "../eth/watching.js";
import { furnish, passing, transferOf, turn } from "../preflight/furnished.js";
import {
  calldata,
  layerOf,
  nobody,
  other,
  owner,
  preflightOn,
  scenesFor,
  startAnvilScene,
  tampered,
  spare,
  third,
  type AnyInput,
  type Scene,
} from "../preflight/scene.js";
import { counted, watching, type WatchedReport } from "./watched.js";
import { CurrentRun } from "../rooms/rpc.js";

/**
 * Reverts by slot 1, which it reads only where the origin does not own what slot 0 says; `set(slot, value)` by bare words.
 * What the origin owns while it runs tells what it paid for gas, and so the base fee.
 */
const purse = {
  abi: [],
  bytecode: "0x602380600b6000396000f336601a573231600054146013576001546015575b005b600080fd5b6020356000355500" as Hex,
};
/**
 * Reverts by slot 0, which it reads only where the gas that is left reaches what it is called with; `set(slot, value)` by bare
 * words. With an access list, which makes it cheaper, less is left there.
 */
const meter = {
  abi: [],
  bytecode:
    "0x603080600b6000396000f3366020146010576020356000355500005b600254506000355a10602457600054602a57005b60015450005b60006000fd" as Hex,
};
const words = (...all: ReadonlyArray<bigint>): Hex => concat(all.map((one) => toHex(one, { size: 32 })));

const short = (one: Preflight.Watched): string => (one._tag === "Lost" ? `Lost: ${one.reason._tag}` : one._tag);
const last = ({ told }: WatchedReport): string => {
  const one = told.at(-1);
  return one === undefined ? "nothing" : short(one);
};

describe.each(scenesFor("watching"))("a watched report on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let gate: Hex;
  let running: ReadonlyArray<WatchedReport> = [];
  beforeAll(async () => {
    ({ scene, token, gate } = await furnish(start));
    await turn({ scene, gate }, "open");
    await scene.mine();
  });
  afterEach(async () => {
    for (const one of running) await one.stop();
  });
  afterAll(() => scene?.stop());

  const proven = async (
    layer: Layer.Layer<Rpc>,
    input: AnyInput,
    options?: Preflight.Options,
  ): Promise<Report.Report> => {
    const report = await preflightOn(layer, input, options);
    expect([report.verdict, report.stage]).toEqual(["ready", "proven"]);
    return report;
  };
  const watch = async (input: AnyInput, options: Preflight.Options = {}) => {
    const { layer, asked } = counted(layerOf(scene.url));
    const report = await proven(layer, input, options);
    running = watching([report], layer, options);
    const [one] = running as [WatchedReport];
    await until(() => one.told.length > 0, "the first word");
    return { one, asked, report };
  };
  const turned = (how: "open" | "close") => scene.pool(owner, { to: gate, data: calldata(Gate, how) });
  const head = async () => Number(await scene.ask("eth_blockNumber", []));
  /** Mines, and waits for the word on the block. */
  const mined = async (one: WatchedReport) => {
    await scene.mine();
    const number = BigInt(await head());
    await until(() => (one.told.at(-1)?.head?.header.number ?? 0n) >= number, `a word on ${number}`);
    return last(one);
  };
  it("is `Fresh` by one proof at each head while it does the same, and still gives a clearance", async () => {
    const { one, asked } = await watch(transferOf(token));
    asked.length = 0;
    let before = 0;
    for (let count = 0; count < 3; count++) {
      await scene.pool(third, { to: nobody, value: 1n });
      before = Date.now();
      expect(await mined(one)).toBe("Fresh");
    }
    for (const run of ["exact", "next"]) expect(asked.filter((purpose) => purpose === run)).toHaveLength(3);
    const fresh = one.told.at(-1);
    expect(fresh?._tag === "Fresh" && fresh.report.observed.at >= before).toBe(true);
  });

  it("shows what moved, and what did not", async () => {
    const mint = () => scene.pool(third, { to: token, data: calldata(Token, "mint", [other.address, 5n]) });
    // the first of it costs the call less gas
    await mint();
    await scene.mine();
    const { one } = await watch(transferOf(token));
    await mint();
    expect(await mined(one)).toBe("Fresh");
    await scene.pool(third, { to: owner.address, value: 7n });
    expect(await mined(one)).toBe("Moved");
    const moved = one.told.at(-1);
    expect(
      moved?._tag === "Moved"
        ? moved.diff.map(({ what, account, a, b }) => [what, account, BigInt(b ?? 0) - BigInt(a ?? 0)])
        : [],
    ).toEqual([["funds balance", owner.address.toLowerCase(), 7n]]);
    expect(await mined(one)).toBe("Fresh");
  });

  it("is lost while the call reverts, and there again afterwards", async () => {
    const { one } = await watch(passing(gate));
    await turned("close");
    expect(await mined(one)).toBe("Lost: ExecutionReverted");
    expect(await mined(one)).toBe("Lost: ExecutionReverted");
    await turned("open");
    expect(await mined(one)).toBe("Fresh");
  });

  it("is lost once the nonce is used", async () => {
    const { one } = await watch({ from: spare.address, to: nobody, value: 1n });
    await scene.pool(spare, { to: nobody, value: 2n });
    expect(await mined(one)).toBe("Lost: NonceTooLow");
  });

  it.runIf(name === "anvil")("is judged again where the chain dropped a block", async () => {
    const { layer } = counted(layerOf(scene.url));
    const report = await proven(layer, passing(gate));
    running = watching([report], layer, { silentMs: 200 });
    const [one] = running as [WatchedReport];
    await turned("close");
    expect(await mined(one)).toBe("Lost: ExecutionReverted");
    await scene.ask("anvil_rollback", [1]);
    await until(() => last(one) === "Fresh", "the word on the block before");
    expect(one.told.at(-1)?.head).toMatchObject({ header: { number: BigInt(await head()) }, replaced: [{}] });
  });

  it("stays `Fresh` where a call reads the clock, and as a bundle", async () => {
    const pool = await scene.deploy(Swap, [token, token]);
    const quote = { from: owner.address, to: pool, data: calldata(Swap, "quote", [1n]) };
    for (const input of [quote, [transferOf(token), transferOf(token, 6n)]]) {
      const { one } = await watch(input);
      for (let count = 0; count < 2; count++) expect(await mined(one)).toBe("Fresh");
      await one.stop();
    }
  });

  it("is proven at every head where a step was left out", async () => {
    const { layer } = counted(layerOf(scene.url));
    const lean = Preflight.make({ without: ["approvals"] });
    const report = await Effect.runPromise(Effect.provide(lean.preflight(transferOf(token) as never), layer));
    running = watching([report], layer, {}, lean);
    const [one] = running as [WatchedReport];
    await until(() => one.told.length > 0, "the first word");
    for (let count = 0; count < 3; count++) expect(await mined(one)).toBe("Fresh");
  });

  it("is lost where others' balances decide, as the base fee shows", async () => {
    const at = await scene.deploy(purse);
    const set = async (slot: bigint, value: bigint) => {
      await scene.pool(third, { to: at, data: words(slot, value) });
      await scene.mine();
    };
    await set(0n, await scene.balance(other.address));
    const { one } = await watch({ from: other.address, to: at });
    expect(await mined(one)).toBe("Fresh");
    await scene.pool(third, { to: at, data: words(1n, 1n) });
    expect(await mined(one)).toBe("Lost: ExecutionReverted");
  });

  it("is lost where the remaining gas decides, which an access list lowers", async () => {
    const at = await scene.deploy(meter);
    const input = { from: other.address, to: at, gas: 100_000n, data: words(75_000n) };
    const { one } = await watch(input);
    expect(await mined(one)).toBe("Fresh");
    await scene.pool(third, { to: at, data: words(0n, 1n) });
    expect(await mined(one)).toBe("Lost: ExecutionReverted");
  });

  it("is lost when it expires during a proof, whose result comes after", async () => {
    const pool = await scene.deploy(Swap, [token, token]);
    let go: () => void = () => undefined;
    const going = new Promise<void>((resolve) => void (go = resolve));
    let isHeld = false;
    const held = Layer.effect(
      Rpc,
      Effect.map(Rpc, (node) =>
        Rpc.of({
          ...node,
          request: (method, params) =>
            Effect.flatMap(Effect.service(CurrentRun), ({ run }) =>
              Effect.andThen(
                isHeld && run != null ? Effect.promise(() => going) : Effect.void,
                node.request(method, params),
              ),
            ),
        }),
      ),
    ).pipe(Layer.provide(layerOf(scene.url)));
    const options = { maxAge: 1_000, deadline: "20 seconds" } as const;
    const quote = { from: owner.address, to: pool, data: calldata(Swap, "quote", [1n]) };
    running = watching([await proven(held, quote, options)], held, options);
    const [one] = running as [WatchedReport];
    await until(() => last(one) === "Fresh", "the first word");
    isHeld = true;
    await scene.mine();
    await until(() => last(one) === "Lost: NotProven", "the end of the clearance");
    expect(one.told.at(-1)?.head).toBeNull();
    go();
    await until(() => last(one) === "Fresh", "the word of the proof");
  });

  it.each([0, 1_000])(
    "is lost when it expires before a head comes, by a clock that went back %i ms, and found again at the next",
    async (back) => {
      const { one } = await watch(transferOf(token), { maxAge: 1_500 });
      await until(() => one.told.length > 0, "the first word");
      const now = Date.now.bind(Date);
      const clock = vi.spyOn(Date, "now").mockImplementation(() => now() - back);
      try {
        await until(() => last(one) === "Lost: NotProven", "the end of the clearance");
      } finally {
        clock.mockRestore();
      }
      expect(one.told.at(-1)?.head).toBeNull();
      expect(await mined(one)).toBe("Fresh");
    },
  );

  it("is refused at the start without a clearance", async () => {
    const { layer } = counted(layerOf(scene.url));
    const report = await preflightOn(layer, { from: other.address, to: gate, data: calldata(Gate, "close") });
    running = watching([{ ...report, stage: "scanned" }], layer);
    const [one] = running as [WatchedReport];
    await until(() => one.failure() !== null, "the end");
    expect([one.failure()?._tag, one.told.length]).toEqual(["NotProven", 0]);
  });
});

describe("a watched report over a quorum", () => {
  it("is lost once the call reverts, whatever one endpoint says of the touched accounts", async () => {
    const { scene, gate } = await furnish(startAnvilScene);
    await turn({ scene, gate }, "open");
    await scene.mine();
    const leaving = tampered(scene.url, ({ method }) =>
      method === "eth_createAccessList" ? (list) => ({ ...Object(list), accessList: [] }) : null,
    );
    const layer = Layer.orDie(
      quorum([
        { layer: leaving, provider: "one" },
        { layer: layerOf(scene.url), provider: "two" },
      ]),
    );
    const running = watching([await preflightOn(layer, passing(gate))], layer);
    const [one] = running as [WatchedReport];
    const mined = async () => {
      const before = one.told.length;
      await scene.mine();
      await until(() => one.told.length > before, "a word");
      return last(one);
    };
    try {
      await until(() => one.told.length > 0, "the first word");
      expect(await mined()).toBe("Fresh");
      await turn({ scene, gate }, "close");
      expect(await mined()).toBe("Lost: ExecutionReverted");
    } finally {
      await one.stop();
      await scene.stop();
    }
  });
});
