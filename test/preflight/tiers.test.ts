/** Nodes that take less than all of a simulation: found out once, told, and never ready on what they did not check. */
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import { encodeDeployData, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { classify, RpcError } from "../rooms/errors.js";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import { toText, type BundleReport } from "../../src/Report.js";
import * as Rpc from "../../src/Rpc.js";
import { Splitter, Token } from "../contracts/artifacts.js";
import { creation } from "../harness/creation.js";
import { rawRequest, startAnvil } from "../harness/anvil.js";
import { furnish, transferOf } from "./furnished.js";
import {
  calldata,
  codesOf,
  nobody,
  other,
  owner,
  scenesFor,
  tampered,
  type AnyInput,
  type Scene,
  type Tampering,
} from "./scene.js";

const method = "eth_simulateV1";
const refusalOf = (code: number, message: string): RpcError => {
  const refusal = classify({ method, error: { code, message } });
  if (refusal._tag !== "RpcError") throw new Error(refusal._tag);
  return refusal;
};

interface Payload {
  readonly validation?: boolean;
  readonly traceTransfers?: boolean;
  readonly blockStateCalls: ReadonlyArray<{
    readonly blockOverrides?: object;
    readonly calls?: ReadonlyArray<{ to?: Hex }>;
  }>;
}
const has = {
  validation: ({ validation }: Payload) => validation === true,
  traceTransfers: ({ traceTransfers }: Payload) => traceTransfers === true,
  blockOverrides: ({ blockStateCalls }: Payload) => blockStateCalls.some((block) => block.blockOverrides !== undefined),
} as const;
type Part = keyof typeof has;

const refusing =
  (parts: ReadonlyArray<Part>, words: (part: Part) => string, code = -32602): Tampering =>
  ({ method: asked, params }) => {
    if (asked !== method) return null;
    const part = parts.find((one) => has[one](params[0] as Payload));
    return part === undefined ? null : refusalOf(code, words(part));
  };

const send = { from: owner.address, to: nobody, value: 1n } as const;
const run = (layer: Layer.Layer<Rpc.Rpc>, inputs: ReadonlyArray<AnyInput>, options: Preflight.Options = {}) =>
  Effect.runPromise(
    Effect.provide(
      Effect.forEach(inputs, (input) => Preflight.preflight(input as never, options)),
      layer,
    ),
  );
const said = (report: BundleReport | undefined) =>
  report && [report.verdict, report.observed.tier, report.observed.leftOut, report.ledger.rounds];
const severe = (report: BundleReport | undefined) =>
  report && codesOf(report).filter((code) => !code.endsWith("/info"));

describe.each(scenesFor("nodes that take less"))("a node without some parts, on %s", (name, start) => {
  let scene: Scene;
  let token: Hex;
  let splitter: Hex;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
    splitter = await scene.deploy(Splitter);
  });
  afterAll(() => scene?.stop());
  const on = (tampering: Tampering) => tampered(scene.url, tampering);
  const words: ReadonlyArray<readonly [string, (part: Part) => string, number]> = [
    ["by name", (part) => `unknown field \`${part}\`, expected one of \`blockStateCalls\``, -32602],
    ["as not supported", (part) => `eth_simulateV1 ${part} is not supported`, -32601],
    ["as not available, by the code of a method", (part) => `${part} not available`, -32004],
  ];
  describe.each(words)("a refusal that says %s", (_, said_, code) => {
    it("gives caution without validation, by our own rules alone, with one more round once", async () => {
      const [first, second] = await run(on(refusing(["validation"], said_, code)), [send, send]);
      expect(said(first)).toEqual(["caution", "simulate", ["validation"], 3]);
      expect(said(second)).toEqual(["caution", "simulate", ["validation"], 2]);
      expect(severe(second)).toEqual(["NotValidated/warning"]);
    });
    it("gives unknown without validation for code that reads a missing base fee", async () => {
      const reader = await scene.deploy({ abi: [], bytecode: creation("485000") });
      const [report] = await run(on(refusing(["validation"], said_, code)), [{ from: owner.address, to: reader }]);
      expect(severe(report)).toEqual([
        "NotValidated/warning",
        ...(name === "anvil" ? ["OverrideIgnored/unavailable"] : []),
      ]);
    });
    it("gives ready without traced transfers for plain sends, and caution for calls, by balances", async () => {
      const policies = [Policy.maxSpent("native", 1n)];
      const layer = on(refusing(["traceTransfers"], said_, code));
      const [first, second] = await run(layer, [send, transferOf(token)], { policies });
      expect(said(first)).toEqual(["ready", "simulate", ["traceTransfers"], 3]);
      expect(first?.transfers).toMatchObject([{ standard: "native", amount: 1n, evidence: "assumed" }]);
      expect(said(second)).toEqual(["caution", "simulate", ["traceTransfers"], 2]);
      expect(severe(second)).toEqual(["NativeMovesUnseen/warning"]);
    });
    it("gives unknown without block overrides, because there is no second block", async () => {
      const [first, second] = await run(on(refusing(["blockOverrides"], said_, code)), [send, send]);
      expect([first?.verdict, first?.transactions[0].outcome.status]).toEqual(["unknown", "success"]);
      expect(severe(second)).toContain("BlockNotPretended/unavailable");
    });
  });

  it("judges without traced transfers the sender's losses by balances, and no other parties", async () => {
    const refund = { from: owner.address, to: splitter, data: calldata(Splitter, "refund"), value: 5n } as const;
    const layer = on(refusing(["traceTransfers"], (part) => `unknown field \`${part}\``));
    const judged = async (policy: Policy.Policy) => {
      const [report] = await run(layer, [refund], { policies: [policy] });
      return [report?.verdict, severe(report)];
    };
    const told = ["NativeMovesUnseen/warning"];
    expect(await judged(Policy.maxSpent("native", 0n))).toEqual(["caution", told]);
    expect(await judged(Policy.onlyTouches([splitter]))).toEqual(["unknown", [...told, "PolicyUnknown/unavailable"]]);
  });

  it("shows without validation nothing of earlier in-flight transactions", async () => {
    const layer = on(refusing(["validation"], (part) => `unknown field \`${part}\``));
    await scene.send(other, { to: nobody, value: 1n });
    const [report] = await run(layer, [{ ...send, from: other.address }]);
    await scene.mine();
    expect(severe(report)).toEqual(
      expect.arrayContaining(["NotValidated/warning", "PredecessorsNotSimulated/warning"]),
    );
  });

  it("is tried without each part where the refusal names none, in one round, and remembered", async () => {
    for (const part of ["validation", "traceTransfers", "blockOverrides"] as const) {
      const [first, second] = await run(on(refusing([part], () => "invalid params")), [send, send]);
      expect([first?.observed.leftOut, second?.observed.leftOut]).toEqual([[part], [part]]);
      expect([first?.ledger.rounds, second?.ledger.rounds]).toEqual([3, 2]);
      expect([first?.verdict, second?.verdict]).toEqual(
        Array(2).fill({ validation: "caution", traceTransfers: "ready", blockOverrides: "unknown" }[part]),
      );
    }
  });

  it("costs one more round for each part, and then eth_call", async () => {
    const both = on(refusing(["validation", "traceTransfers"], (part) => `unknown field \`${part}\``));
    expect((await run(both, [send, send])).map(said)).toEqual([
      ["caution", "simulate", ["validation", "traceTransfers"], 4],
      ["caution", "simulate", ["validation", "traceTransfers"], 2],
    ]);
    const none = on(({ method: asked }) => (asked === method ? refusalOf(-32602, "invalid params") : null));
    expect((await run(none, [send, send])).map(said)).toEqual([
      ["unknown", "call", [], 3],
      ["unknown", "call", [], 1],
    ]);
  });

  it("is reported where it traces no transfers though it was asked to", async () => {
    const mute = on(({ method: asked }) =>
      asked === method
        ? (blocks) =>
            JSON.parse(JSON.stringify(blocks), (key, value: unknown) =>
              key === "logs" && Array.isArray(value)
                ? value.filter((log: { address: string }) => !/^0xe{40}$/i.test(log.address))
                : key === "logsBloom"
                  ? `0x${"00".repeat(256)}`
                  : value,
            )
        : null,
    );
    const [plain, call] = await run(mute, [send, transferOf(token)]);
    expect(said(plain)?.slice(0, 3)).toEqual(["ready", "simulate", ["traceTransfers"]]);
    expect(said(call)?.slice(0, 3)).toEqual(["caution", "simulate", ["traceTransfers"]]);
    expect(severe(call)).toEqual(["NativeMovesUnseen/warning"]);
  });

  it("shows funds and the chain's own fees by one call, where it simulates nothing", async () => {
    const poor = { from: `0x${"5e".repeat(20)}`, to: nobody, value: 10n ** 18n } as const;
    // why: hardhat and ganache call and estimate whatever the sender has
    const answers: Readonly<Record<string, string>> = { eth_call: "0x", eth_estimateGas: "0x5209" };
    const layer = on(({ method: asked }) =>
      asked === method ? refusalOf(-32004, "Method eth_simulateV1 is not supported") : null,
    );
    const lenient = Layer.effect(
      Rpc.Rpc,
      Effect.map(Rpc.Rpc, (node) =>
        Rpc.Rpc.of({
          ...node,
          request: (asked, params) =>
            node
              .request(asked, params)
              .pipe(
                Effect.catch((failure) =>
                  failure._tag === "InsufficientFunds" ? Effect.succeed(answers[asked]) : Effect.fail(failure),
                ),
              ),
        }),
      ),
    ).pipe(Layer.provide(layer));
    const [short, paid] = await run(lenient, [poor, send]);
    expect([short?.verdict, codesOf(short as BundleReport).filter((code) => /Funds|L1Fee|Gas/.test(code))]).toEqual([
      "blocked",
      ["InsufficientFunds/blocker"],
    ]);
    expect(short?.funds[0]).toMatchObject({ balance: 0n, expected: expect.any(BigInt) });
    expect(short?.funds[0]?.shortfall).toBeGreaterThan(10n ** 18n);
    expect(toText(short as BundleReport)).not.toContain("not known beside");
    expect(toText(short as BundleReport)).not.toContain("how much gas is not known");
    expect([paid?.verdict, severe(paid)]).toEqual(["unknown", ["MethodNotSupported/unavailable"]]);
    expect(paid?.funds[0]?.shortfall).toBe(0n);
  });

  it("blames no transaction for another one's nonce, and answers on the latest block", async () => {
    const words_ = "the tx doesn't have the correct nonce. account has nonce of: 4 tx has nonce of: 5";
    const building = (blocks: ReadonlyArray<string>) =>
      on(({ method: asked, params }) => {
        if (asked === method) return refusalOf(-32601, "the method eth_simulateV1 does not exist/is not available");
        const isRun = asked === "eth_call" || asked === "eth_estimateGas";
        const failure = classify({ method: asked, error: { code: -32000, message: words_ } });
        return isRun && blocks.includes(String(params[1])) ? (failure as unknown as RpcError) : null;
      });
    const [report] = await run(building(["pending"]), [send]);
    expect([report?.observed.blockTag, report?.transactions[0].outcome.status]).toEqual(["latest", "success"]);
    expect(severe(report)).toEqual(["MethodNotSupported/unavailable"]);
    const [lost] = await run(building(["pending", "latest"]), [send]);
    expect([lost?.verdict, lost?.transactions[0].outcome.status]).toEqual(["unknown", "unknown"]);
    expect(codesOf(lost as BundleReport).filter((code) => /blocker|Nonce/.test(code))).toEqual([]);
  });

  it("answers a deployment by a call and an estimate, where it simulates nothing", async () => {
    const deploy = { from: owner.address, abi: Token.abi, bytecode: Token.bytecode, args: ["A", "B", 18] } as const;
    const words_ = 'Failed to build transaction: eip1559 transaction can\'t be built due to missing keys: ["to"]';
    const refuse = on(({ method: asked, params }) =>
      name !== "anvil" &&
      asked === method &&
      (params[0] as Payload).blockStateCalls.some(({ calls = [] }) => calls.some(({ to }) => to === undefined))
        ? refusalOf(-32602, words_)
        : null,
    );
    const data = encodeDeployData({
      abi: deploy.abi,
      bytecode: deploy.bytecode as Hex,
      args: [...deploy.args],
    });
    const reports = await run(refuse, [{ from: owner.address, data }, { from: owner.address, data }, send]);
    expect(reports.map(said)).toEqual([
      ["unknown", "call", [], 2],
      ["unknown", "call", [], 1],
      ["ready", "simulate", [], 2],
    ]);
    for (const report of reports.slice(0, 2)) expect(severe(report)).toContain("DeploymentNotSimulated/unavailable");
    const [{ outcome, gas, code, request }] = (reports[1] as BundleReport).transactions;
    expect([outcome.status, code.creates !== null, request !== null]).toEqual(["success", true, true]);
    expect(gas.limit).toBeGreaterThan(gas.estimate ?? 0n);
    expect((outcome.returnData ?? "0x").length).toBeGreaterThan(1_000);
  });
});

describe("a call above other chains' gas cap, on a node that only has eth_call", () => {
  // GAS, 0x01100000 less than it, else INVALID
  const greedy = "0x5a630110000010600b57fe5b00";
  const place = "0x00000000000000000000000000000000000fa7fa";
  const absent = refusalOf(-32601, "the method eth_simulateV1 does not exist/is not available");
  it.each([
    ["is asked once more, with as much as the rules in force allow", "prague", {}, ["unknown", "success", 3]],
    ["is not, where the caller fixed its gas", "prague", { gas: 2n ** 24n }, ["blocked", "halted", 2]],
    ["is not, where the rules in force allow no more", "osaka", {}, ["blocked", "halted", 2]],
  ])("is judged by its own chain: %s", async (_, hardfork, given, expected) => {
    const node = await startAnvil({ hardfork });
    await rawRequest(node.url, "anvil_setCode", [place, greedy]);
    const layer = tampered(node.url, ({ method: asked }) => (asked === method ? absent : null));
    const [report] = await run(layer, [{ from: owner.address, to: place, ...given }]);
    await node.stop();
    expect([report?.verdict, report?.transactions[0].outcome.status, report?.ledger.rounds]).toEqual(expected);
  });
});
