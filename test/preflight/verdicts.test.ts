/** What stands against a transaction is found, typed and exact; and a node that validates nothing changes none of it. */
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Report from "../../src/Report.js";
import { Aggregator, Token } from "../contracts/artifacts.js";
import {
  calldata,
  nobody,
  other,
  owner,
  preflight,
  refusedWith,
  scenesFor,
  type AnyInput,
  type Scene,
} from "./scene.js";
import { furnish } from "./furnished.js";

/** Nobody's key, nobody's money. */
const poor = "0x00000000000000000000000000000000dead0002";

/** What is missing, by every finding that says so, whatever its severity. */
const shortfallsIn = ({ findings }: Report.Report) =>
  findings.flatMap(({ error }) => (error?._tag === "InsufficientFunds" ? [error.shortfall] : []));

describe.each(scenesFor("verdicts"))("verdicts on %s", (_, start) => {
  let scene: Scene;
  let token: Hex;
  let wallet: Hex;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
    wallet = await scene.deploy(Aggregator);
  });
  afterAll(() => scene?.stop());

  it("never call a sender without a known key ready, whatever it holds", async () => {
    const burning = "0x000000000000000000000000000000000000dEaD";
    await scene.send(owner, { to: burning, value: 10n ** 17n });
    await scene.mine();
    const report = await preflight(scene.url, { from: burning, to: other.address, value: 1n });
    expect([report.verdict, report.findings.map(({ code }) => code)]).toEqual(["caution", ["SenderWithoutKey"]]);
  });
  it("come without an estimate that cannot pretend the caller's block or a moved precompile, beside a success", async () => {
    const [there, moved] = [
      "0x00000000000000000000000000000000000ca11e",
      "0x0000000000000000000000000000000000005256",
    ] as const;
    const time = 4_000_000_000n;
    // reverts unless TIMESTAMP is above; and unless the hash of nothing comes from where it was moved to
    const afterTime = `0x63${(time - 1n).toString(16)}4211600d575f5ffd5b00` as Hex;
    const ofPrecompile = `0x5f5f5f5f73${moved.slice(2)}5afa503d6023575f5ffd5b00` as Hex;
    const call = { from: owner.address, to: there, data: "0x00" } as const;
    const cases = [
      { stateOverrides: { [there]: { code: afterTime } }, blockOverrides: { time } },
      ...(scene.name === "geth"
        ? [
            {
              stateOverrides: {
                [there]: { code: ofPrecompile },
                "0x0000000000000000000000000000000000000002": { movePrecompileToAddress: moved },
              },
            },
          ]
        : []),
    ];
    for (const options of cases) {
      const { transactions, findings } = await preflight(scene.url, call, options);
      expect(transactions[0].outcome.status).toBe("success");
      expect(findings.filter(({ step }) => step === "estimate")).toEqual([]);
    }
  });
  const transfer = { from: owner.address, to: other.address, value: 1n };
  it.each<[string, (next: bigint) => AnyInput, (next: bigint) => object]>([
    [
      "calldata to nobody",
      () => ({ ...transfer, to: nobody, data: "0x12" }),
      () => ({ _tag: "NoCode", account: nobody }),
    ],
    ["a contract", () => ({ ...transfer, from: wallet }), () => ({ _tag: "SenderNotEoa", account: wallet })],
    [
      "a used nonce",
      (next) => ({ ...transfer, nonce: next - 1n }),
      (next) => ({ _tag: "NonceTooLow", nonce: next - 1n, next }),
    ],
    [
      "a gap",
      (next) => ({ ...transfer, nonce: next + 2n }),
      (next) => ({ _tag: "NonceTooHigh", nonce: next + 2n, next }),
    ],
    [
      "a nonce twice",
      (nonce) => [
        { ...transfer, nonce },
        { ...transfer, nonce },
      ],
      (nonce) => ({ _tag: "NonceTooLow", nonce, next: nonce + 1n }),
    ],
    [
      "a cap below the base fee",
      () => ({ ...transfer, maxFeePerGas: 7n, maxPriorityFeePerGas: 0n }),
      () => ({ _tag: "FeeCapTooLow", maxFeePerGas: 7n }),
    ],
    ["a price below it", () => ({ ...transfer, gasPrice: 7n }), () => ({ _tag: "FeeCapTooLow", maxFeePerGas: 7n })],
    [
      "another chain",
      () => ({ ...transfer, chainId: 5 }),
      () => ({ _tag: "ChainIdMismatch", expected: 5n, actual: BigInt(scene.chainId) }),
    ],
  ])("are the error of %s, whatever the node lets pass", async (_, inputOf, error) => {
    const next = BigInt(await scene.count(owner.address));
    expect(await refusedWith(await preflight(scene.url, inputOf(next)))).toMatchObject(error(next));
  });

  it("show a revert, decoded through the ABI with its arguments", async () => {
    const call = {
      from: other.address,
      to: token,
      abi: Token.abi,
      functionName: "transfer",
      args: [owner.address, 77n],
    };
    const words = `ERC20InsufficientBalance(sender: ${other.address}, balance: 0, needed: 77)`;
    const { verdict, stage, findings } = await preflight(scene.url, call);
    expect([verdict, stage]).toEqual(["blocked", "scanned"]);
    expect(findings.map((finding) => Report.messageOf(finding)).join()).toContain(words);
    const raw = { from: other.address, to: token, data: calldata(Token, "transfer", [owner.address, 77n]) };
    const report = await preflight(scene.url, raw, { abis: [{ address: token, abi: Token.abi }] });
    expect(report.findings.map(({ error }) => error?.message).join()).toContain(words);
  });

  it("give a sender who cannot pay the value the exact shortfall, after one more round", async () => {
    const value = 10n ** 24n;
    const have = await scene.balance(owner.address);
    const report = await preflight(scene.url, { from: owner.address, to: other.address, value });
    expect([report.verdict, report.ledger.rounds]).toEqual(["blocked", 2]);
    const { gas, fee, outcome } = report.transactions[0];
    const want = value + (gas.limit ?? 0n) * (fee.maxFeePerGas ?? 0n);
    expect(await refusedWith(report)).toMatchObject({ _tag: "InsufficientFunds", have, want, shortfall: want - have });
    expect([outcome.status, outcome.evidence, gas.limit]).toEqual(["success", "assumed", 21_000n]);
    expect(report.funds).toMatchObject([{ balance: have, required: want, shortfall: want - have }]);
    expect(shortfallsIn(report)).toEqual([want - have]);
  });

  it("block a sender who cannot pay the gas", async () => {
    const report = await preflight(scene.url, { from: poor, to: other.address });
    const { gas, fee } = report.transactions[0];
    const want = (gas.limit ?? 0n) * (fee.maxFeePerGas ?? 0n);
    expect(want > 0n).toBe(true);
    const fields = { have: 0n, want, shortfall: want, account: poor };
    expect(await refusedWith(report)).toMatchObject({ _tag: "InsufficientFunds", ...fields });
    expect(shortfallsIn(report)).toEqual([want]);
    const both = await preflight(scene.url, { from: poor, to: other.address, value: 7n });
    expect(shortfallsIn(both)).toHaveLength(1);
    const tight = { from: owner.address, to: other.address, gas: 21_000n, maxFeePerGas: 10n ** 18n };
    const have = await scene.balance(owner.address);
    const dear = await preflight(scene.url, { ...tight, maxPriorityFeePerGas: 1n });
    expect(await refusedWith(dear)).toMatchObject({
      have,
      want: 21_000n * 10n ** 18n,
      shortfall: 21_000n * 10n ** 18n - have,
    });
  });

  it("judge two senders of a bundle each by its own nonce and funds", async () => {
    const approve = { from: owner.address, to: token, abi: Token.abi, functionName: "approve", args: [poor, 10n] };
    const pull = {
      from: poor,
      to: token,
      abi: Token.abi,
      functionName: "transferFrom",
      args: [owner.address, poor, 10n],
    };
    const report = await preflight(scene.url, [approve, pull]);
    expect(report.transactions.map(({ outcome }) => outcome.status)).toEqual(["success", "success"]);
    expect(report.transactions.map(({ nonce }) => nonce.value)).toEqual([await scene.count(owner.address), 0]);
    expect(report.funds.map(({ account, shortfall }) => [account, shortfall === 0n])).toEqual([
      [owner.address.toLowerCase(), true],
      [poor, false],
    ]);
    expect(await refusedWith(report)).toMatchObject({ _tag: "InsufficientFunds", account: poor, have: 0n });
    const funded = await preflight(scene.url, [approve, { from: owner.address, to: poor, value: 10n ** 17n }, pull]);
    expect(funded.findings.filter(({ severity }) => severity === "blocker")).toEqual([]);
    expect(funded.funds.map(({ shortfall }) => shortfall)).toEqual([0n, 0n]);
    const next = report.transactions[0].nonce.value ?? 0;
    expect(funded.transactions.map(({ nonce }) => nonce.value)).toEqual([next, next + 1, 0]);
  });
});
