/** Classes 5 and 6: what a contract could take after the proof, and tokens and nodes that tell the witness something else. */
import { numberToHex, type Hex } from "viem";
import * as Policy from "../../../src/Policy.js";
import type { Report } from "../../../src/Report.js";
import { ChangingToken, KnowingToken, OpenDelegate, Taker, Token } from "../../contracts/artifacts.js";
import { calldata, layerOf, other, owner, spare, tampered } from "../../preflight/scene.js";
import { sendingFrom } from "../../preflight/troupe.js";
import type { Dice, Family, Member, Stage } from "./kit.js";

const me = owner.address;
/** Whether a contract could take so much of it, and the report says so and is not `ready` under the policy. */
const told =
  (token: Hex | null, least: bigint) =>
  ({ verdict, exposure }: Report): boolean =>
    verdict !== "ready" &&
    (exposure?.rows ?? []).some((row) => row.token === token && (row.amount === null || row.amount >= least));

interface Allowance {
  readonly token: Hex;
  readonly taker: Hex;
  readonly amount: bigint;
}
const holdings = 1_000_000n;
const allowances = new WeakMap<Stage, Promise<ReadonlyArray<Allowance>>>();
const allowancesOn = (stage: Stage): Promise<ReadonlyArray<Allowance>> => {
  const make = async () => {
    const { deploy, send, mined } = await sendingFrom(stage.scene);
    const all: Array<Allowance> = [];
    for (const amount of [700n, 50_000n, 999_999n, 5_000_000n, 2n ** 255n, 2n ** 256n - 1n]) {
      const token = await deploy(Token, ["Token", "TKN", 18]);
      const taker = await deploy(Taker);
      await send({ to: token, data: calldata(Token, "mint", [me, holdings]) });
      await send({ to: token, data: calldata(Token, "approve", [taker, amount]) });
      all.push({ token, taker, amount });
    }
    await mined();
    return all;
  };
  const known = allowances.get(stage) ?? make();
  allowances.set(stage, known);
  return known;
};
const kind = "5 the switch";
const isAnvil = (bed: string): boolean => bed === "anvil";
const allowed = (name: string, isHonest: boolean): Family => ({
  ...{ kind, name, isHonest, on: isAnvil },
  prepare: async (stage) => {
    const all = await allowancesOn(stage);
    return (dice): Member => {
      const { token, taker, amount } = dice.of(all);
      const taken = BigInt(1 + dice.below(600));
      const allowance = amount === 2n ** 256n - 1n ? amount : amount - taken;
      const left = allowance < holdings - taken ? allowance : holdings - taken;
      const limit = isHonest ? left + BigInt(dice.below(1_000)) : (left * BigInt(dice.below(1_000))) / 1_000n;
      return {
        input: { from: me, to: taker, data: calldata(Taker, "take", [token, taken]) },
        options: { policies: [Policy.maxExposure(token, limit)] },
        isCaught: told(token, left),
      };
    };
  },
});
const sent = (name: string, isHonest: boolean): Family => ({
  ...{ kind, name, isHonest, on: isAnvil },
  prepare: async (stage) => {
    const all = await allowancesOn(stage);
    return (dice): Member => {
      const value = BigInt(2 + dice.below(1_000_000));
      const limit = isHonest ? value + BigInt(dice.below(1_000)) : (value * BigInt(dice.below(1_000))) / 1_000n;
      return {
        input: { from: me, to: dice.of(all).taker, value, data: calldata(Taker, "half") },
        options: { policies: [Policy.maxExposure("native", limit)] },
        isCaught: told(null, value),
      };
    };
  },
});
const delegating: Family = {
  ...{ kind, name: "another's account that an unknown delegate may empty", isHonest: false, on: isAnvil },
  prepare: async ({ scene }) => {
    const delegate = await scene.deploy(OpenDelegate);
    return async (dice): Promise<Member> => {
      const nonce = await scene.count(spare.address);
      const one = await spare.signAuthorization({ contractAddress: delegate, chainId: scene.chainId, nonce });
      const balance = await scene.balance(spare.address);
      const limit = (balance * BigInt(dice.below(1_000))) / 1_000n;
      return {
        input: { from: me, to: other.address, value: BigInt(1 + dice.below(1_000)), authorizationList: [one] },
        options: { policies: [Policy.maxExposure("native", limit, spare.address)] },
        isCaught: told(null, limit),
      };
    };
  },
};

const witness = "6 the witness";
/** What is asked of a transfer: what a token that lies would have to lie about. */
const asked = (dice: Dice, token: Hex): Member => {
  const [to, amount] = [dice.address(), BigInt(1 + dice.below(1_000))];
  const policy = dice.of([Policy.maxSpent(token, amount), Policy.minReceived(token, amount, to)]);
  return {
    input: { from: me, to: token, data: calldata(Token, "transfer", [to, amount]) },
    options: { policies: [policy] },
  };
};
const knowing = (name: string, isHonest: boolean, kinds: ReadonlyArray<number>): Family => ({
  ...{ kind: witness, name, isHonest },
  prepare: async ({ scene }) => {
    const { deploy, send, mined } = await sendingFrom(scene);
    const tokens: Array<Hex> = [];
    for (const one of kinds) {
      const token = await deploy(KnowingToken);
      await send({ to: token, data: calldata(KnowingToken, "set", [BigInt(one)]) });
      await send({ to: token, data: calldata(Token, "mint", [me, holdings]) });
      tokens.push(token);
    }
    await mined();
    return (dice) => asked(dice, dice.of(tokens));
  },
});
const changing: Family = {
  ...{ kind: witness, name: "decimals, or a symbol, that change by the block", isHonest: false },
  prepare: async ({ scene }) => {
    const { deploy, mined } = await sendingFrom(scene);
    const tokens = [await deploy(ChangingToken, [false]), await deploy(ChangingToken, [true])];
    await mined();
    return (dice) => {
      const data = calldata(Token, "transfer", [dice.address(), BigInt(1 + dice.below(1_000))]);
      return { input: { from: me, to: dice.of(tokens), data } };
    };
  },
};

interface Call {
  readonly logs: ReadonlyArray<{ readonly topics: ReadonlyArray<string> }>;
}
const approval = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
/** The answers to simulations without the logs of approvals. */
const without = (answer: unknown): unknown =>
  (answer as ReadonlyArray<{ readonly calls: ReadonlyArray<Call> }>).map(({ calls, ...block }) => ({
    ...block,
    calls: calls.map(({ logs, ...call }) => ({ ...call, logs: logs.filter(({ topics }) => topics[0] !== approval) })),
  }));
/** `approve` inside the call of a contract is not seen in the calldata: a contract that approves a spender for its caller. */
const approving = (name: string, isHonest: boolean): Family => ({
  ...{ kind: witness, name, isHonest },
  prepare: async ({ scene }) => {
    const token = await scene.deploy(Token, ["Token", "TKN", 18]);
    const taker = await scene.deploy(Taker);
    const layer = tampered(scene.url, ({ method }) => (method === "eth_simulateV1" ? without : null));
    return (dice) => {
      const amount = BigInt(1 + dice.below(1_000));
      const data = calldata(
        Token,
        "approve",
        isHonest ? [taker, amount] : [numberToHex(dice.below(2 ** 31), { size: 20 }), 2n ** 256n - 1n - amount],
      );
      return { input: { from: me, to: token, data }, layer: isHonest ? layerOf(scene.url) : layer };
    };
  },
});

export const money: ReadonlyArray<Family> = [
  allowed("an allowance beyond what the caller allows", false),
  sent("value that a contract could keep, beyond what the caller allows", false),
  delegating,
  allowed("an allowance within what the caller allows", true),
  sent("value within what the caller allows", true),
  knowing("a token that knows the witness", false, [1, 2, 3, 4]),
  changing,
  approving("logs of an unlimited approval that the node leaves out", false),
  knowing("a token that knows nobody", true, [0]),
  approving("an approval to a contract", true),
];
