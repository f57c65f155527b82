/** A step asked by itself says what the scan says: the same questions, the same rules. */
import * as Effect from "effect/Effect";
import * as Result from "effect/Result";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as Preflight from "../../src/Preflight.js";
import type { AccountCode } from "../rooms/report.js";
import { type LedgerEntry, type Rpc } from "../../src/Rpc.js";
import { Box, Delegate, StorageClearer, Token } from "../contracts/artifacts.js";
import { calldata, layerOf, nobody, other, owner, scan, scenesFor, third, type AnyInput, type Scene } from "./scene.js";
import { CurrentRun } from "../rooms/rpc.js";

type Fields = Record<string, unknown>;

let scene: Scene;
let contracts: Readonly<Record<"token" | "clearer" | "delegate", `0x${string}`>>;
const sender = fc.constantFrom(owner.address, other.address, third.address);
const amount = fc.bigInt(1n, 10n ** 6n);
/** What the caller fixed; nothing, as often as not. */
const fixed: fc.Arbitrary<Fields> = fc.record(
  {
    gas: fc.constantFrom(300_000n, 1_500_000n),
    maxPriorityFeePerGas: fc.bigInt(0n, 10n ** 9n),
  },
  { requiredKeys: [] },
);
const kinds = (): Readonly<Record<string, fc.Arbitrary<Fields>>> => ({
  "a plain transfer": fc.record({ to: fc.constantFrom(other.address, nobody), value: amount }),
  "a transfer to a delegated account": amount.map((value) => ({ to: third.address, value })),
  "a token transfer": amount.map((sum) => ({
    ...{ to: contracts.token, data: calldata(Token, "transfer", [nobody, sum]) },
  })),
  "a call by its ABI": amount.map((sum) => ({
    ...{ to: contracts.token, abi: Token.abi, functionName: "approve", args: [other.address, sum] },
  })),
  "a call with refunds": fc.nat(20).map((count) => ({
    ...{ to: contracts.clearer, data: calldata(StorageClearer, "clear", [BigInt(count)]) },
  })),
  "a deployment": amount.map((value) => ({ abi: Box.abi, bytecode: Box.bytecode, args: [value] })),
});

const names = [
  "a plain transfer",
  "a transfer to a delegated account",
  "a token transfer",
  "a call by its ABI",
  "a call with refunds",
  "a deployment",
];
/** A transaction of this kind, by any of the senders, with anything fixed. */
const inputs = (kind: string): fc.Arbitrary<AnyInput> => {
  const of = kinds()[kind];
  if (of === undefined) throw new Error(`no such kind: ${kind}`);
  return fc.tuple(sender, of, fixed).map(([from, what, own]) => ({ from, ...what, ...own }) as unknown as AnyInput);
};

/** A step by itself on the node of the scene. */
const alone = <A>(step: (input: never) => Effect.Effect<A, unknown, Rpc>, input: AnyInput): Promise<A> =>
  Effect.runPromise(step(input as never).pipe(Effect.provide(layerOf(scene.url))));

describe.each(scenesFor("steps by themselves"))("single steps on %s", (_, start) => {
  beforeAll(async () => {
    scene = await start();
    contracts = {
      token: await scene.deploy(Token, ["Token", "TKN", 18]),
      clearer: await scene.deploy(StorageClearer),
      delegate: await scene.deploy(Delegate),
    };
    for (const { address } of [owner, other, third])
      await scene.send(owner, { to: contracts.token, data: calldata(Token, "mint", [address, 10n ** 9n]) });
    await scene.send(owner, { to: contracts.clearer, data: calldata(StorageClearer, "fill", [20n]) });
    await scene.mine();
    // the third account delegates to a contract (EIP-7702)
    const authorization = await third.signAuthorization({
      ...{ address: contracts.delegate, chainId: scene.chainId, nonce: 1 },
    });
    await scene.broadcast(
      await third.signTransaction({
        ...{ type: "eip7702", chainId: scene.chainId, nonce: 0, to: other.address, gas: 200_000n },
        ...{ maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
        authorizationList: [authorization],
      }),
    );
    await scene.mine();
  });
  afterAll(() => scene.stop());

  it("report how many rounds their requests took", async () => {
    const rounds = new Set<number>();
    const run = { round: 1, deadline: null, signal: null, record: ({ round }: LedgerEntry) => void rounds.add(round) };
    const poor = { from: "0x00000000000000000000000000000000000a11ce", to: other.address, value: 1n } as const;
    const asked = Effect.provideService(Effect.result(Preflight.simulate(poor)), CurrentRun, run);
    await Effect.runPromise(Effect.provide(asked, layerOf(scene.url)));
    expect([...rounds].sort()).toEqual([1, 2]);
  });

  describe.each(names)("the single step %s", (kind) => {
    it("gives the gas, the nonce, the fee and the outcome of a scan", () =>
      fc.assert(
        fc.asyncProperty(inputs(kind), async (input) => {
          const { transactions, findings } = await scan(scene.url, input);
          const [{ gas, nonce, fee, outcome }] = transactions;
          expect(await alone(Preflight.estimateGas, input)).toEqual(gas);
          expect(await alone(Preflight.resolveNonce, input)).toEqual(nonce);
          expect(await alone(Preflight.quoteFee, input)).toEqual(fee);
          // anvil does not simulate deployments: the step then fails with what the scan tells of
          const simulated = await alone((given: never) => Effect.result(Preflight.simulate(given)), input);
          if (Result.isSuccess(simulated)) expect(simulated.success).toEqual(outcome);
          else expect(findings.map(({ error }) => error)).toContainEqual(simulated.failure);
        }),
        { numRuns: 8 },
      ));

    it("gives both ends as a scan does, as far as they are known without a simulation", () =>
      fc.assert(
        fc.asyncProperty(inputs(kind), fc.option(fc.nat(3), { nil: null }), async (open, own) => {
          const count = Number(
            await scene.ask("eth_getTransactionCount", [(open as { readonly from: string }).from, "pending"]),
          );
          const input = (own === null ? open : { ...open, nonce: count }) as AnyInput;
          const [{ code }] = (await scan(scene.url, input)).transactions;
          const estimated = <A extends AccountCode | null>(seen: A) => seen && { ...seen, evidence: "estimated" };
          expect(await alone(Preflight.checkCode, input)).toEqual({
            from: estimated(code.from),
            to: estimated(code.to),
            // where a deployment puts its contract hangs on the nonce, which is not asked for
            creates: own === null ? null : code.creates,
          });
        }),
        { numRuns: 8 },
      ));
  });

  describe("a single step that fails", () => {
    const failed = (step: (input: never) => Effect.Effect<unknown, unknown, Rpc>, input: Fields) =>
      alone((given: never) => Effect.result(step(given)), input as unknown as AnyInput).then((result) =>
        Result.isFailure(result) ? (result.failure as { readonly _tag: string })._tag : null,
      );
    const plain = { from: owner.address, to: other.address, value: 1n };

    it("fails with the first blocker that its scan finds", async () => {
      const calls = { ...plain, to: nobody, data: "0x12345678" };
      expect(await failed(Preflight.checkCode, calls)).toBe("NoCode");
      expect(await failed(Preflight.resolveNonce, { ...plain, nonce: 10_000 })).toBe("NonceTooHigh");
      expect(await failed(Preflight.resolveNonce, { ...plain, nonce: 0 })).toBe("NonceTooLow");
      expect(await failed(Preflight.quoteFee, { ...plain, maxFeePerGas: 1n })).toBe("FeeCapTooLow");
      const reverting = {
        ...plain,
        value: 0n,
        to: contracts.token,
        data: calldata(Token, "transfer", [nobody, 10n ** 40n]),
      };
      expect(await failed(Preflight.simulate, reverting)).toBe("ExecutionReverted");
      expect(await failed(Preflight.estimateGas, reverting)).toBe("ExecutionReverted");
      expect(await failed(Preflight.estimateGas, { ...plain, gas: 10n ** 9n })).toBe("BlockGasLimitExceeded");
    });
    it("succeeds where nothing is against it, and takes the first of a list", async () => {
      expect(await failed(Preflight.resolveNonce, plain)).toBeNull();
      const list = [plain, { ...plain, nonce: 10_000 }] as unknown as AnyInput;
      expect((await alone(Preflight.resolveNonce, list)).gap).toBe(0);
    });
  });
});
