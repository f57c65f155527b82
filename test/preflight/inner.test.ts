/** What fails inside a transaction that succeeds, with the contracts that people use: their bytecode stands in `fixtures/inner.json`. */
import { readFileSync } from "node:fs";
import * as Effect from "effect/Effect";
import {
  concatHex,
  decodeFunctionResult,
  encodeAbiParameters,
  encodePacked,
  hashTypedData,
  multicall3Abi,
  padHex,
  parseAbi,
  parseAbiParameters,
  toHex,
  type Abi,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Policy from "../../src/Policy.js";
import * as Preflight from "../../src/Preflight.js";
import type { Report } from "../../src/Report.js";
import { PermitToken, Reverter } from "../contracts/artifacts.js";
import { encode, executing, making } from "./safes.js";
import { calldata, nobody, other, owner, preflight, scan, scenesFor, third, type Scene } from "./scene.js";

type Hex = `0x${string}`;
const codes = JSON.parse(readFileSync(new URL("../fixtures/inner.json", import.meta.url), "utf8")) as Record<
  string,
  { readonly bytecode: Hex }
>;
const zero = "0x0000000000000000000000000000000000000000";
const zero32 = padHex("0x", { size: 32 });
const plain = calldata(Reverter, "plain", [7n]);
/** A call that does nothing, and succeeds wherever nobody lives. */
const idle = "0x12345678" as Hex;

const inner = ({ findings }: Report) =>
  findings.flatMap(({ code, severity, numbers, remedy }) =>
    code !== "InnerCallFailed"
      ? []
      : [
          {
            ...{ severity, remedy },
            ...Object.fromEntries(
              numbers.map(({ name, value }) => [name, typeof value === "bigint" ? Number(value) : value]),
            ),
          } as { severity: string; remedy: string; "made by"?: string; call?: number; to?: string; reason?: string },
        ],
  );
const said = ({ verdict, findings }: Report) => [
  verdict,
  ...findings.filter(({ severity }) => severity !== "info").map(({ code }) => code),
];
const ready = ["ready"];
const failing = ["caution", "InnerCallFailed"];

describe.each(scenesFor("calls that fail inside"))("calls that fail inside, on %s", (_, start) => {
  let scene: Scene;
  let reverter: Hex = "0x";
  beforeAll(async () => {
    scene = await start();
    reverter = await scene.deploy(Reverter);
  });
  afterAll(() => scene.stop());

  const deploy = (name: string, types = "", args: ReadonlyArray<unknown> = []) =>
    scene.deploy({
      abi: [],
      bytecode: concatHex([
        codes[name]?.bytecode ?? "0x",
        types === "" ? "0x" : encodeAbiParameters(parseAbiParameters(types), args as never),
      ]),
    });
  const send = async (to: Hex, data: Hex, value = 0n) => {
    const hash = await scene.send(owner, { to, data, value, gas: 8_000_000n });
    await scene.mine();
    expect((await scene.receipt(hash)).status).toBe("0x1");
  };
  const view = async (to: Hex, abi: Abi, functionName: string, args: ReadonlyArray<unknown>) =>
    decodeFunctionResult({
      abi,
      functionName,
      data: (await scene.ask("eth_call", [{ to, data: calldata({ abi }, functionName, args) }, "latest"])) as Hex,
    }) as unknown;
  const run = (to: Hex, data: Hex, options: Preflight.Options = {}, value = 0n) =>
    preflight(scene.url, { from: owner.address, to, data, value }, options);

  describe("Multicall3", () => {
    let at: Hex = "0x";
    beforeAll(async () => {
      at = await deploy("Multicall3");
    });
    const abi = [
      ...multicall3Abi,
      ...parseAbi([
        "function aggregate((address target, bytes callData)[] calls) payable returns (uint256, bytes[])",
        "function tryAggregate(bool, (address target, bytes callData)[] calls) payable returns ((bool, bytes)[])",
        "function blockAndAggregate((address target, bytes callData)[] calls) payable returns (uint256, bytes32, (bool, bytes)[])",
        "function tryBlockAndAggregate(bool, (address target, bytes callData)[] calls) payable returns (uint256, bytes32, (bool, bytes)[])",
        "function aggregate3Value((address target, bool allowFailure, uint256 value, bytes callData)[] calls) payable returns ((bool, bytes)[])",
      ]),
    ] as Abi;
    const call = (functionName: string, args: ReadonlyArray<unknown>) => calldata({ abi }, functionName, args);
    const pairs = (data: Hex) => [
      { target: nobody, callData: idle },
      { target: reverter, callData: data },
    ];
    const forms = (data: Hex): ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> => [
      ["tryAggregate", [false, pairs(data)]],
      ["tryBlockAndAggregate", [false, pairs(data)]],
      ["aggregate3", [pairs(data).map((one) => ({ ...one, allowFailure: true }))]],
      ["aggregate3Value", [pairs(data).map((one) => ({ ...one, allowFailure: true, value: 0n }))]],
    ];
    const counter = calldata(Reverter, "swallow", [nobody, idle]);

    it("of Multicall3 are named with their reason in each form that ignores failures", async () => {
      for (const [name, args] of forms(plain)) {
        // its answer holds the hash of the block before
        if (name === "tryBlockAndAggregate") continue;
        const report = await run(at, call(name, args), { abis: [Reverter.abi] });
        expect([name, ...said(report)]).toEqual([name, ...failing]);
        expect(inner(report)).toMatchObject([
          {
            severity: "warning",
            "made by": at,
            call: 2,
            to: reverter,
            reason: expect.stringContaining("Plain(code: 7)"),
          },
        ]);
        expect(inner(report)[0]?.remedy).not.toBe("");
      }
    });

    it("are named in the form that answers with the block", async () => {
      const [name, args] = forms("0xdeadbeef")[1] ?? ["", []];
      const report = await run(at, call(name, args));
      expect(said(report)).toEqual(failing);
      expect(inner(report)).toMatchObject([{ "made by": at, call: 2, to: reverter }]);
    });

    it("are not reported in honest batches, in any form", async () => {
      for (const [name, args] of [
        ...forms(counter),
        ["aggregate", [pairs(counter)]] as const,
        ["blockAndAggregate", [pairs(counter)]] as const,
      ]) {
        const report = await run(at, call(name, args));
        expect([name, ...said(report)]).toEqual([name, ...ready]);
        expect(report.transactions[0].outcome.inner).toBeUndefined();
      }
    });

    it("are found in batches within batches", async () => {
      const within = call("tryAggregate", [false, pairs(plain)]);
      const report = await run(at, call("aggregate", [[{ target: at, callData: within }]]));
      expect(inner(report)).toMatchObject([{ "made by": at, call: 2, to: reverter }]);
    });

    it("are not read from answers of unknown code, and a policy is then unknown", async () => {
      const code = (await scene.ask("eth_getCode", [at, "latest"])) as Hex;
      // another build: one byte more behind the code
      const size = toHex((code.length - 2) / 2 + 1, { size: 2 });
      const lookalike = await scene.deploy({
        abi: [],
        bytecode: concatHex(["0x61", size, "0x600e600039", "0x61", size, "0x6000f3", code, "0x00"]),
      });
      const args = [pairs(counter).map((one) => ({ ...one, allowFailure: true }))];
      const seen = await run(lookalike, call("aggregate3", args));
      expect(said(seen)).toEqual(ready);
      const refusing = await scan(
        scene.url,
        { from: owner.address, to: lookalike, data: call("aggregate3", args) },
        { policies: [Policy.noInnerFailures] },
      );
      expect(refusing.transactions[0].outcome.inner).toEqual({ failed: [], unseen: 2 });
      expect(said(refusing)).toContain("PolicyUnknown");
      // the node's trace tells it all the same
      const traced = await run(
        lookalike,
        call("aggregate3", [pairs(plain).map((one) => ({ ...one, allowFailure: true }))]),
      );
      expect(said(traced)).toEqual(failing);
      expect(inner(traced)).toMatchObject([{ to: reverter, call: 2 }]);
    });

    it("are not counted for a permit that somebody else used before", async () => {
      const coin = await scene.deploy(PermitToken);
      const use = (functionName: "mint" | "approve" | "transferFrom" | "permit", args: ReadonlyArray<unknown>) =>
        calldata(PermitToken, functionName, args);
      await send(coin, use("mint", [owner.address, 1_000n]));
      await send(coin, use("approve", [at, 100n]));
      const paying = (permitted: bigint) =>
        call("aggregate3", [
          [
            {
              target: coin,
              allowFailure: true,
              callData: use("permit", [owner.address, at, permitted, 2n ** 40n, 27, zero32, zero32]),
            },
            { target: coin, allowFailure: false, callData: use("transferFrom", [owner.address, third.address, 60n]) },
          ],
        ]);
      const policies = [Policy.noInnerFailures];
      const granted = await run(at, paying(100n), { policies });
      expect(said(granted)).toEqual(ready);
      expect(inner(granted)).toMatchObject([{ severity: "info", call: 1, to: coin }]);
      expect(said(await run(at, paying(101n)))).toEqual(failing);
      expect((await run(at, paying(101n), { policies })).verdict).toBe("blocked");
    });

    it("are reported when they fail in one simulated block alone", async () => {
      // reverts where the time is odd, as it is in one of the two
      const gate = await scene.deploy({ abi: [], bytecode: "0x600e600c600039600e6000f342600116600857005b60006000fd" });
      const args = [[{ target: gate, allowFailure: true, callData: idle }]];
      const report = await run(at, call("aggregate3", args));
      expect(inner(report)).toMatchObject([{ severity: "warning", call: 1, to: gate }]);
      expect(report.verdict).not.toBe("ready");
      const held = await run(at, call("aggregate3", args), { policies: [Policy.noInnerFailures] });
      expect(held.verdict).toBe("blocked");
    });

    it("are blocked by a policy, and information where the policy names the call", async () => {
      const [, args] = forms(plain)[2] ?? ["", []];
      const data = call("aggregate3", args);
      const selector = plain.slice(0, 10) as Hex;
      const strict = await run(at, data, { policies: [Policy.noInnerFailures] });
      expect(said(strict)).toEqual(["blocked", "InnerCallFailed", "PolicyViolation"]);
      const allow = [{ to: reverter, selector }];
      const lenient = await run(at, data, { policies: [Policy.noInnerFailures({ allow })] });
      expect(said(lenient)).toEqual(ready);
      expect(inner(lenient)).toMatchObject([{ severity: "info" }]);
      const wrong = await run(at, data, { policies: [Policy.noInnerFailures({ allow: [{ to: nobody }] })] });
      expect(wrong.verdict).toBe("blocked");
      const json = await Effect.runPromise(Policy.fromJson([{ policy: "noInnerFailures", allow }]));
      expect((await run(at, data, { policies: json })).verdict).toBe("ready");
      const both = await run(at, data, { policies: [...json, Policy.noInnerFailures] });
      expect(both.verdict).toBe("blocked");
    });
  });

  describe.each(["1.4.1", "1.5.0"] as const)("in a Safe %s", (version) => {
    let safe: Hex = "0x";
    const exec = (to: Hex, value: bigint, data: Hex) => executing({ to, value, data }, owner.address, 50_000n);
    beforeAll(async () => {
      safe = await making(scene, version, owner.address);
      await send(safe, "0x", 1_000n);
      await send(safe, executing({ to: safe, data: encode("enableModule", owner.address) }));
    });

    it("include a payment that used up the Safe's nonce", async () => {
      const report = await run(safe, exec(third.address, 5_000n, "0x"));
      expect(said(report)).toEqual(failing);
      expect(inner(report)).toMatchObject([{ "made by": safe, call: 1, to: third.address.toLowerCase() }]);
      expect(said(await run(safe, exec(third.address, 500n, "0x")))).toEqual(ready);
    });

    it("explain the revert by the node's trace", async () => {
      const report = await run(safe, exec(reverter, 0n, plain), { abis: [Reverter.abi] });
      expect(inner(report)).toMatchObject([{ to: reverter, reason: expect.stringContaining("Plain(code: 7)") }]);
    });

    it("include a module's call", async () => {
      for (const functionName of ["execTransactionFromModule", "execTransactionFromModuleReturnData"] as const) {
        const call = (value: bigint) => encode(functionName, third.address, value, "0x", 0);
        expect(said(await run(safe, call(5_000n)))).toEqual(failing);
        expect(said(await run(safe, call(500n)))).toEqual(ready);
      }
    });
  });

  describe.each(["0.6", "0.7", "0.8", "0.9"])("in EntryPoint %s", (version) => {
    const isOld = version === "0.6";
    const isTyped = version === "0.8" || version === "0.9";
    const op = isOld
      ? "(address sender,uint256 nonce,bytes initCode,bytes callData,uint256 callGasLimit,uint256 verificationGasLimit,uint256 preVerificationGas,uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,bytes paymasterAndData,bytes signature)"
      : "(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData,bytes signature)";
    const abi = parseAbi([
      `function handleOps(${op}[] ops,address beneficiary)`,
      `function getUserOpHash(${op} userOp) view returns (bytes32)`,
      "function depositTo(address) payable",
      "function withdrawTo(address,uint256)",
      "function createAccount(address,uint256) returns (address)",
      "function getAddress(address,uint256) view returns (address)",
      "function execute(address,uint256,bytes)",
    ] as never) as Abi;
    let [entryPoint, factory]: [Hex, Hex] = ["0x", "0x"];
    const accounts: Array<Hex> = [];
    const salts = [1n, 2n];
    beforeAll(async () => {
      entryPoint = await deploy(`EntryPoint ${version}`);
      factory = await deploy(`SimpleAccountFactory ${version}`, "address", [entryPoint]);
      for (const salt of salts) {
        const account = (await view(factory, abi, "getAddress", [owner.address, salt])) as Hex;
        accounts.push(account.toLowerCase() as Hex);
        await send(entryPoint, calldata({ abi }, "depositTo", [account]), 10n ** 18n);
      }
    });
    const signed = async (at: number, to: Hex, value: bigint, data: Hex) => {
      const nonceAbi = parseAbi(["function getNonce(address,uint192) view returns (uint256)"]);
      const account = accounts[at] ?? "0x";
      const nonce = (await view(entryPoint, nonceAbi as Abi, "getNonce", [account, 0n])) as bigint;
      const code = (await scene.ask("eth_getCode", [account, "latest"])) as Hex;
      const create = calldata({ abi }, "createAccount", [owner.address, salts[at]]);
      const common = {
        sender: account,
        nonce,
        initCode: code === "0x" ? concatHex([factory, create]) : "0x",
        callData: calldata({ abi }, "execute", [to, value, data]),
        preVerificationGas: 50_000n,
        paymasterAndData: "0x",
      };
      const fees = isOld
        ? {
            callGasLimit: 200_000n,
            verificationGasLimit: 1_000_000n,
            maxFeePerGas: 10n ** 10n,
            maxPriorityFeePerGas: 1n,
          }
        : {
            accountGasLimits: encodePacked(["uint128", "uint128"], [1_000_000n, 200_000n]),
            gasFees: encodePacked(["uint128", "uint128"], [1n, 10n ** 10n]),
          };
      const draft = { ...common, ...fees, signature: "0x" as Hex };
      const hash = isTyped
        ? hashTypedData({
            domain: { name: "ERC4337", version: "1", chainId: scene.chainId, verifyingContract: entryPoint },
            types: {
              PackedUserOperation: [
                { name: "sender", type: "address" },
                { name: "nonce", type: "uint256" },
                { name: "initCode", type: "bytes" },
                { name: "callData", type: "bytes" },
                { name: "accountGasLimits", type: "bytes32" },
                { name: "preVerificationGas", type: "uint256" },
                { name: "gasFees", type: "bytes32" },
                { name: "paymasterAndData", type: "bytes" },
              ],
            },
            primaryType: "PackedUserOperation",
            message: draft as never,
          })
        : ((await view(entryPoint, abi, "getUserOpHash", [draft])) as Hex);
      const signature = isTyped ? await owner.sign({ hash }) : await owner.signMessage({ message: { raw: hash } });
      return { ...draft, signature };
    };
    const bundle = (ops: ReadonlyArray<unknown>) => calldata({ abi }, "handleOps", [ops, other.address]);

    it("leave honest operations ready: a deposit is no token", async () => {
      const report = await run(
        entryPoint,
        bundle([await signed(0, nobody, 0n, idle), await signed(1, nobody, 0n, "0x")]),
      );
      expect(said(report)).toEqual(ready);
      expect(report.owned.map(({ account, kind }) => [account, kind])).toEqual(accounts.map((one) => [one, "account"]));
      expect(report.transactions[0].call).toMatchObject({
        function: "handleOps",
        calls: [{ to: accounts[0] }, {}, {}, {}],
      });
      expect(report.balanceChanges.filter(({ token }) => token === entryPoint)).toEqual([]);
      const deposit = calldata({ abi }, "depositTo", [owner.address]);
      expect(said(await run(entryPoint, deposit, {}, 1_000n))).toEqual(ready);
      await send(entryPoint, deposit, 1_000n);
      const withdraw = (to: Hex) => calldata({ abi }, "withdrawTo", [to, 1_000n]);
      expect(said(await run(entryPoint, withdraw(owner.address)))).toEqual(ready);
      // what nothing else tells of
      expect(said(await run(entryPoint, withdraw(third.address)))).toEqual(["caution", "TransferMismatch"]);
    });

    it("give one warning for each operation", async () => {
      const one = await run(
        entryPoint,
        bundle([await signed(0, nobody, 0n, idle), await signed(1, reverter, 0n, plain)]),
        { abis: [Reverter.abi] },
      );
      expect(said(one)).toEqual(failing);
      expect(inner(one)).toMatchObject([
        { "made by": entryPoint, call: 2, to: accounts[1], reason: expect.stringContaining("Plain(code: 7)") },
      ]);
      const both = await run(
        entryPoint,
        bundle([await signed(0, nobody, 10n ** 20n, "0x"), await signed(1, reverter, 0n, plain)]),
      );
      expect(inner(both).map(({ call }) => call)).toEqual([1, 2]);
    });
  });

  describe("in a forwarder of ERC-2771", () => {
    const request = "(address from,address to,uint256 value,uint256 gas,uint48 deadline,bytes data,bytes signature)";
    const abi = parseAbi([
      `function executeBatch(${request}[] requests, address refundReceiver) payable`,
      `function execute(${request} request) payable`,
      "function execute((address from,address to,uint256 value,uint256 gas,uint256 nonce,bytes data) req,bytes signature) payable returns (bool,bytes)",
      "function nonces(address) view returns (uint256)",
    ] as never) as Abi;
    const domain = (name: string, version: string, verifyingContract: Hex) => ({
      ...{ name, version, chainId: scene.chainId, verifyingContract },
    });
    const fields = [
      { name: "from", type: "address" },
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "gas", type: "uint256" },
      { name: "nonce", type: "uint256" },
    ] as const;

    it("include failed requests of a batch, and those that never ran", async () => {
      const forwarder = await deploy("ERC2771Forwarder 5.4", "string", ["Forwarder"]);
      // trusts every forwarder, reverts on 0x11111111, and takes anything else
      const target = await scene.deploy({
        abi: [],
        bytecode:
          "0x602c600c600039602c6000f360003560e01c8063572b6c0514601b578063111111111460265700" +
          "5b60016000526020" +
          "6000f35b60006000fd",
      } as { abi: Abi; bytecode: Hex });
      const signed = async (data: Hex, nonce: bigint, from = other) => {
        const body = { from: other.address, to: target, value: 0n, gas: 100_000n, deadline: 2_000_000_000, data };
        const signature = await from.signTypedData({
          domain: domain("Forwarder", "1", forwarder),
          types: { ForwardRequest: [...fields, { name: "deadline", type: "uint48" }, { name: "data", type: "bytes" }] },
          primaryType: "ForwardRequest",
          message: { ...body, nonce },
        });
        return { ...body, signature };
      };
      const batch = (requests: ReadonlyArray<unknown>) => calldata({ abi }, "executeBatch", [requests, owner.address]);
      const [fine, fails] = ["0x22222222", "0x11111111"] as const;
      const second = { ...(await signed(fine, 1n)) };
      expect(said(await run(forwarder, batch([await signed(fine, 0n), second])))).toEqual(ready);
      const failed = await run(forwarder, batch([await signed(fine, 0n), await signed(fails, 1n)]));
      expect(said(failed)).toEqual(failing);
      expect(inner(failed)).toMatchObject([{ "made by": forwarder, call: 2, to: target }]);
      // signed by somebody else: passed over without a word
      const skipped = await run(forwarder, batch([await signed(fine, 0n, third), await signed(fine, 0n)]));
      expect(inner(skipped)).toMatchObject([{ "made by": forwarder }]);
      expect(inner(skipped)[0]?.call).toBeUndefined();
      expect(said(await run(forwarder, batch([await signed(fine, 0n, third)])))).toEqual(failing);
    });

    it("include a request that an older forwarder let fail, by the node's trace", async () => {
      const forwarder = await deploy("MinimalForwarder 4.9");
      const call = async (data: Hex) => {
        const req = { from: other.address, to: reverter, value: 0n, gas: 100_000n, nonce: 0n, data };
        const signature = await other.signTypedData({
          domain: domain("MinimalForwarder", "0.0.1", forwarder),
          types: { ForwardRequest: [...fields, { name: "data", type: "bytes" }] },
          primaryType: "ForwardRequest",
          message: req,
        });
        return calldata({ abi }, "execute", [req, signature]);
      };
      expect(said(await run(forwarder, await call(plain)))).toEqual(failing);
      const fine = calldata(Reverter, "swallow", [nobody, idle]);
      expect(said(await run(forwarder, await call(fine)))).toEqual(ready);
    });
  });

  it("of an ERC-7579 account include its failed executions", async () => {
    const account = await deploy("Account7579");
    const abi = parseAbi(["function execute(bytes32,bytes) payable"]);
    const single = `0x0001${"0".repeat(60)}` as Hex;
    const many = `0x0101${"0".repeat(60)}` as Hex;
    const execute = (mode: Hex, data: Hex) => calldata({ abi }, "execute", [mode, data]);
    const one = (data: Hex) => encodePacked(["address", "uint256", "bytes"], [reverter, 0n, data]);
    const batch = (data: Hex) =>
      encodeAbiParameters(parseAbiParameters("(address,uint256,bytes)[]"), [
        [
          [nobody, 0n, idle],
          [reverter, 0n, data],
        ],
      ]);
    const fine = calldata(Reverter, "swallow", [nobody, idle]);
    const abis = [Reverter.abi];
    expect(inner(await run(account, execute(single, one(plain)), { abis }))).toMatchObject([
      { "made by": account, call: 1, to: reverter, reason: expect.stringContaining("Plain(code: 7)") },
    ]);
    const report = await run(account, execute(many, batch(plain)), { abis });
    expect(said(report)).toEqual(failing);
    expect(inner(report)).toMatchObject([{ call: 2, to: reverter, reason: expect.stringContaining("Plain(code: 7)") }]);
    expect(said(await run(account, execute(many, batch(fine))))).toEqual(ready);
    expect(said(await run(account, execute(single, one(fine))))).toEqual(ready);
  });

  it("of a router include a plan that may fail and did, by the node's trace", async () => {
    const names = `${"address,".repeat(18)}bytes32,bytes32`;
    const values = [...Array.from({ length: 18 }, () => nobody), zero32, zero32];
    const router = await deploy("UniversalRouter 1.6", `(${names})`, [values]);
    const abi = parseAbi(["function execute(bytes,bytes[]) payable"]);
    const list = parseAbiParameters("bytes, bytes[]");
    // SWEEP of the native currency, with the least that has to be there
    const sweep = (least: bigint) =>
      encodeAbiParameters(parseAbiParameters("address, address, uint256"), [zero, third.address, least]);
    const plan = (least: bigint) =>
      calldata({ abi }, "execute", ["0xa1", [encodeAbiParameters(list, ["0x04", [sweep(least)]])]]);
    const report = await run(router, plan(1n));
    expect(said(report)).toEqual(failing);
    expect(inner(report)).toMatchObject([{ "made by": router, call: 1 }]);
    expect(said(await run(router, plan(0n)))).toEqual(ready);
  });

  it("are not read from an event that a stranger emits", async () => {
    // LOG1 of ExecutionFailure(bytes32,uint256) by an account that is called deeper, by no known form
    const topic = "23428b18acfb3ea64b08dc0c1d296ea9c09702c09083ca5272e64d115b687d23";
    const runtime = `7f${topic}60406000a100`;
    const stranger = await scene.deploy({ abi: [], bytecode: `0x6027600c60003960276000f3${runtime}` });
    const data = calldata(Reverter, "swallow", [stranger, "0x"]);
    const report = await run(reverter, data);
    expect(report.transactions[0].outcome.logs).toHaveLength(1);
    expect(inner(report)).toEqual([]);
    // the same by the account that is called
    expect(inner(await run(stranger, idle))).toHaveLength(1);
  });
});
