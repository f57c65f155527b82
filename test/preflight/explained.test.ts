/** Reverts explained on arrival: by the ABIs, by the built-in errors that are loaded for them, and without these. */
import * as Duration from "effect/Duration";
import * as Effect from "effect/Effect";
import { encodeAbiParameters, encodeErrorResult, parseAbi, type Hex } from "viem";
import { afterEach, describe, expect, it, vi } from "vitest";
import { decodeRevert } from "../rooms/abi.js";
import * as Preflight from "../../src/Preflight.js";
import { layerScripted, rpcError } from "../../src/testing.js";
import { alice, token } from "../steps/parts.js";

const abi = parseAbi(["error ERC20InvalidSender(address sender)", "error NotMine(uint256 a, bytes inner)"]);
const builtin = encodeErrorResult({ abi, errorName: "ERC20InvalidSender", args: [alice] });
const own = (inner: Hex) => encodeErrorResult({ abi, errorName: "NotMine", args: [1n, inner] });
const said = (text: string): Hex => `0x08c379a0${encodeAbiParameters([{ type: "string" }], [text]).slice(2)}`;
const reason = said("no such luck");

const tx = { from: alice, to: token, data: "0x12345678" } as const;

/** `Preflight.simulate` of a call that reverts, on a node that simulates or one that only calls. */
const reverts = async (
  data: Hex,
  way: keyof typeof ways,
  abis: NonNullable<Preflight.Options["abis"]> = [],
  simulate = Preflight.simulate,
) => {
  const asked = simulate(tx, { abis });
  const failure = await Effect.runPromise(Effect.flip(asked).pipe(Effect.provide(layerScripted(ways[way](data)))));
  if (failure._tag !== "ExecutionReverted") throw failure;
  return failure.revert;
};
const reverted = (data: Hex) => rpcError({ code: 3, message: "execution reverted", data });
const callsIn = (asked: unknown) =>
  (asked as { blockStateCalls: [{ calls: ReadonlyArray<{ gas?: Hex }> }] }).blockStateCalls[0].calls;
const ways = {
  eth_simulateV1: (data: Hex) => ({
    eth_simulateV1: ([asked]: ReadonlyArray<unknown>) => [
      {
        ...{ number: "0x65", hash: `0x${"11".repeat(32)}`, parentHash: `0x${"ab".repeat(32)}`, timestamp: "0x1" },
        ...{ gasLimit: "0x1c9c380", gasUsed: "0x0", miner: `0x${"00".repeat(20)}`, baseFeePerGas: "0x0" },
        calls: callsIn(asked).map(() => ({
          ...{ status: "0x0", gasUsed: "0x5208", returnData: "0x", logs: [] },
          error: { code: 3, message: "execution reverted", data },
        })),
        transactions: callsIn(asked).map(({ gas }) => ({
          ...{
            hash: `0x${"22".repeat(32)}`,
            from: alice,
            to: token,
            nonce: "0x0",
            value: "0x0",
            input: "0x",
            type: "0x2",
          },
          gas: gas ?? "0x1312d00",
        })),
      },
    ],
  }),
  eth_call: (data: Hex) => ({ eth_call: reverted(data) }),
  "eth_call as a result": (data: Hex) => ({ eth_call: data }),
};

const every = ["eth_simulateV1", "eth_call"] as const;

/** The pipeline as in a page that has loaded nothing yet, and whose loading of the table goes like this. */
const fresh = async (load: () => unknown): Promise<typeof Preflight> => {
  vi.resetModules();
  vi.doMock("../../src/abi/table.js", load as () => object);
  return import("../../src/Preflight.js");
};
afterEach(() => void vi.doUnmock("../../src/abi/table.js"));

describe("the explanation of a revert equals `Errors.decodeRevert`", () => {
  it.each(every)("where built-in errors explain it, wherever they stand, in %s", async (way) => {
    for (const data of [builtin, own(builtin), said("GS013"), builtin.slice(0, -2) as Hex, "0xdeadbeef", "0x"])
      expect(await reverts(data as Hex, way)).toEqual(decodeRevert(data, [], { address: token }));
    expect((await reverts(builtin, way))?.layers[0].layer).toMatchObject({ name: "ERC20InvalidSender" });
  });
  it.each(every)("where the caller's ABIs and built-in errors explain it together, in %s", async (way) => {
    const revert = await reverts(own(builtin), way, [abi]);
    expect(revert).toEqual(decodeRevert(own(builtin), [abi], { address: token }));
    expect(revert?.layers).toHaveLength(2);
  });
  it("where the node returns it as a result", async () => {
    expect(await reverts(reason, "eth_call as a result")).toEqual(decodeRevert(reason, [], { address: token }));
  });
});

describe("explaining a revert where the built-in errors cannot be loaded", () => {
  it("works for Error, Panic and the contract's own ABI without asking for them", async () => {
    let isAsked = false;
    const { simulate } = await fresh(() => {
      isAsked = true;
      return {};
    });
    for (const data of [reason, own("0x"), "0x"] as const)
      expect(await reverts(data, "eth_simulateV1", [{ address: token, abi }], simulate)).toEqual(
        decodeRevert(data, [{ address: token, abi }], { address: token }),
      );
    expect(isAsked).toBe(false);
  });
  it("leaves a built-in error unknown", async () => {
    const { simulate } = await fresh(() => Promise.reject(new Error("offline")));
    const revert = await reverts(builtin, "eth_simulateV1", [], simulate);
    expect(revert?.layers[0].layer).toMatchObject({ _tag: "Unknown", selector: builtin.slice(0, 10) });
  });
  it("uses them for the next revert when they come late", async () => {
    let come: () => void = () => undefined;
    const coming = new Promise<void>((resolve) => void (come = resolve));
    const { simulate } = await fresh(async () => {
      await coming;
      return vi.importActual("../../src/abi/table.js");
    });
    const first = await reverts(builtin, "eth_simulateV1", [], simulate);
    expect(first?.layers[0].layer).toMatchObject({ _tag: "Unknown" });
    come();
    await expect
      .poll(async () => (await reverts(builtin, "eth_simulateV1", [], simulate))?.layers[0].layer)
      .toMatchObject({ name: "ERC20InvalidSender" });
  });
  it("waits for them once for a bundle, and not for long", async () => {
    const { scan } = await fresh(() => new Promise(() => undefined));
    const asked = scan([tx, tx, tx] as never).pipe(Effect.provide(layerScripted(ways.eth_simulateV1(builtin))));
    const [time, report] = await Effect.runPromise(Effect.timed(asked));
    expect(report.transactions.map(({ outcome }) => outcome.revert?.layers[0].layer._tag)).toEqual([
      "Unknown",
      "Unknown",
      "Unknown",
    ]);
    expect(Duration.toSeconds(time)).toBeLessThan(3.5);
  });
});
