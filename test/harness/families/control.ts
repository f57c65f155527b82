/** Class 2: control, rights and positions that change hands without an event, and honest calls of the same contracts. */
import { encodeAbiParameters, encodeFunctionData, keccak256, numberToHex, pad, parseAbi, type Hex } from "viem";
import { KeyAccount, Token } from "../../contracts/artifacts.js";
import { calldata, delegate, other, owner, third } from "../../preflight/scene.js";
import {
  deploying,
  encode,
  executing,
  making,
  multiSend,
  planting,
  versions,
  type Inner,
  type Version,
} from "../../preflight/safes.js";
import { creation } from "../creation.js";
import { wordsOf, type Dice, type Family, type Next, type Stage } from "./kit.js";

const unnamed = "ff".repeat(20);
/**
 * Keeps words without an event: of 64 bytes of calldata the second in the slot that is the first; of 96 bytes, in the slot
 * that is the first, an address that nobody named.
 */
const silent = creation(`36604014602f575f355f5260203560205260405f2073${unnamed}165f3555005b6020355f355500`);
/**
 * As that with 64 bytes; of more, the same address in the slot that is the first word, from the time that is the second word
 * up to that of the third.
 */
const timed = creation(`366040146031576020354210602f576040354211602f5773${unnamed}5f35555b005b6020355f355500`);
/** `sstore(0, calldataload(4)); return true`, whatever the selector. */
const takingOver: Hex = "0x6004355f5560015f5260205ff3";
/** A token that keeps allowances and tells of none: `approve`, `allowance`, and 1,000 for every other question. */
const mute = creation(
  [
    "5f3560e01c8063095ea7b3146022578063dd62ed3e14603c576103e85f5260205ff3",
    "5b335f5260043560205260243560405f205560015f5260205ff3",
    "5b6004355f5260243560205260405f20545f5260205ff3",
  ].join(""),
);
/** Pays its second argument in wei to its first. */
const paying = creation("5f5f5f5f602435600435" + "5af100");
/** Takes every call. */
const sink = creation("00");

/** Where owners and implementations stand: the first slots, EIP-1967's and the one of zeppelinos. */
const watched: ReadonlyArray<bigint> = [
  0n,
  1n,
  0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbcn,
  0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103n,
  0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3n,
];
const self = BigInt(other.address);
const kind = "2 silent control";

type Draw = (dice: Dice, next: Next) => Hex;
/** A contract in whose watched slots the sender stands, called with what is drawn. */
const holding = (name: string, isHonest: boolean, code: Hex, draw: Draw): Family => ({
  ...{ kind, name, isHonest },
  prepare: async ({ put, scene }) => {
    const to = await put(code);
    for (const slot of watched) await scene.pool(other, { to, data: wordsOf(slot, self) });
    await scene.mine();
    return (dice, next) => ({ input: { from: other.address, to, data: draw(dice, next) } });
  },
});

const libraries = ["MultiSend", "MultiSendCallOnly", "SignMessageLib"] as const;
interface Safe {
  readonly safe: Hex;
  readonly evil: Hex;
  readonly sink: Hex;
  readonly mute: Hex;
  readonly token: Hex;
  readonly of: Readonly<Record<(typeof libraries)[number], Hex>>;
}
const safes = new WeakMap<Stage, Promise<ReadonlyArray<Safe>>>();
/** A Safe of each version with some ether, made once a stage. */
const safesOn = (stage: Stage): Promise<ReadonlyArray<Safe>> => {
  const make = async (version: Version): Promise<Safe> => {
    const { scene, put } = stage;
    const safe = await making(scene, version, owner.address);
    await scene.pool(owner, { to: safe, value: 10n ** 18n });
    await scene.mine();
    const [multi, only, sign] = [
      await deploying(scene, `MultiSend ${version}`),
      await deploying(scene, `MultiSendCallOnly ${version}`),
      await deploying(scene, `SignMessageLib ${version}`),
    ];
    return {
      ...{ safe, evil: await planting(scene, takingOver), sink: await put(sink), mute: await put(mute) },
      token: await scene.deploy(Token, ["Token", "TKN", 18]),
      of: { MultiSend: multi, MultiSendCallOnly: only, SignMessageLib: sign },
    };
  };
  const all = async () => {
    const made: Array<Safe> = [];
    for (const version of versions) made.push(await make(version));
    return made;
  };
  const known = safes.get(stage) ?? all();
  safes.set(stage, known);
  return known;
};
const bySafe = (name: string, isHonest: boolean, draw: (dice: Dice, safe: Safe) => Inner): Family => ({
  ...{ kind, name, isHonest },
  prepare: async (stage) => {
    const all = await safesOn(stage);
    return (dice) => {
      const safe = dice.of(all);
      return { input: { from: owner.address, to: safe.safe, data: executing(draw(dice, safe)) } };
    };
  },
});
const pays = (dice: Dice): Inner => ({ to: dice.address(), value: BigInt(1 + dice.below(1_000)) });
/** One among a few honest calls. */
const among = (dice: Dice, library: Hex, bad: Inner | null): Inner => {
  const calls = Array.from({ length: 1 + dice.below(4) }, () => pays(dice));
  if (bad !== null) calls.splice(dice.below(calls.length + 1), 0, bad);
  return { to: library, data: multiSend(...calls), isDelegate: true };
};
const takes = ({ address }: Dice, { evil }: Safe): Inner => ({
  ...{ to: evil, isDelegate: true, data: encode("transfer", address(), 0n) },
});
const approves = (dice: Dice, token: Hex): Inner => {
  const amount = dice.below(2) === 0 ? 2n ** 256n - 1n : BigInt(1 + dice.below(1_000));
  return { to: token, data: calldata(Token, "approve", [dice.address(), amount]) };
};

const mode = pad("0x01", { dir: "right", size: 32 });
const batch = (...calls: ReadonlyArray<Inner>): Hex => {
  const type = { type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] };
  const data = encodeAbiParameters([type], [calls.map(({ to, value = 0n, data: inner = "0x" }) => [to, value, inner])]);
  return calldata(KeyAccount, "execute", [mode, data]);
};
/** A batch of the user's own delegated account (ERC-7821). */
const byAccount = (
  name: string,
  isHonest: boolean,
  draw: (dice: Dice, token: Hex) => ReadonlyArray<Inner>,
): Family => ({
  ...{ kind, name, isHonest },
  prepare: async ({ put, scene }) => {
    const token = await put(mute);
    if ((await scene.ask("eth_getCode", [third.address, "latest"])) === "0x") {
      await delegate(scene, await scene.deploy(KeyAccount));
    }
    return (dice) => ({ input: { from: third.address, to: third.address, data: batch(...draw(dice, token)) } });
  },
});

const paysOut = parseAbi([
  "function withdrawTo(address to, uint256 amount)",
  "function withdrawFor(address to, uint256 amount)",
  "function redeemTo(address to, uint256 amount)",
  "function claimTo(address to, uint256 amount)",
]);
const payout = (name: string, isHonest: boolean, whom: (dice: Dice) => Hex): Family => ({
  ...{ kind, name, isHonest },
  prepare: async ({ put, scene }) => {
    const to = await put(paying);
    await scene.pool(owner, { to, value: 10n ** 18n, data: wordsOf(0, 0) });
    await scene.mine();
    return (dice) => {
      const args = [whom(dice), BigInt(1 + dice.below(1_000_000))] as const;
      const data = encodeFunctionData({ abi: paysOut, functionName: dice.of(paysOut).name, args });
      return { input: { from: other.address, to, data } };
    };
  },
});

export const control: ReadonlyArray<Family> = [
  holding("hands what the sender controls to somebody whom nobody names", false, silent, (dice) =>
    wordsOf(dice.of(watched), dice.below(1_000_000), 0),
  ),
  holding("hands what the sender controls to somebody whom the calldata names", false, silent, (dice) =>
    wordsOf(dice.of(watched), BigInt(dice.address())),
  ),
  holding("hands its first slots over, for 13 to 24 s only", false, timed, (dice, { time }) => {
    const from = time + 1 + dice.below(16);
    return wordsOf(dice.of(watched), from, from + 13 + dice.below(12));
  }),
  bySafe("a Safe's DELEGATECALL that replaces its singleton", false, takes),
  bySafe("the same inside a MultiSend", false, (dice, safe) => among(dice, safe.of.MultiSend, takes(dice, safe))),
  bySafe("a message that a Safe signs on chain", false, (dice, { of }) => ({
    ...{
      to: of.SignMessageLib,
      isDelegate: true,
      data: encode("signMessage", numberToHex(dice.below(2 ** 31), { size: 32 })),
    },
  })),
  bySafe("an approval without an event, by a Safe", false, (dice, { mute: token }) => approves(dice, token)),
  bySafe("an approval without an event, inside a MultiSend", false, (dice, { of, mute: token }) =>
    among(dice, dice.of([of.MultiSend, of.MultiSendCallOnly]), approves(dice, token)),
  ),
  byAccount("a key added in a batch of the user's own account", false, (dice) => {
    const key = {
      to: dice.of([third.address, pad("0x", { size: 20 })]),
      data: calldata(KeyAccount, "addKey", [dice.address()]),
    };
    return dice.below(2) === 0 ? [key] : [{ to: dice.address() }, key];
  }),
  byAccount("an approval without an event, in a batch of the user's own account", false, (dice, token) => [
    { to: dice.address() },
    approves(dice, token),
  ]),
  payout("a position paid out to a stranger", false, ({ address }) => address()),
  holding("writes the sender where the sender stands already", true, silent, ({ of }) => wordsOf(of(watched), self)),
  holding("keeps a number in slots of its own", true, silent, ({ below }) =>
    wordsOf(2 + below(1_000), below(1_000_000)),
  ),
  holding("keeps the sender in a mapping", true, silent, ({ below }) =>
    wordsOf(BigInt(keccak256(numberToHex(below(1_000_000), { size: 64 }))), self),
  ),
  bySafe("a Safe pays", true, pays),
  bySafe("a Safe pays several", true, (dice, { of }) =>
    among(dice, dice.of([of.MultiSend, of.MultiSendCallOnly]), null),
  ),
  bySafe("a Safe calls a contract", true, (dice, safe) => ({ to: safe.sink, data: wordsOf(dice.below(1_000_000)) })),
  byAccount("the user's own account works in a batch", true, (dice) => [
    { to: dice.address() },
    { to: third.address, data: calldata(KeyAccount, "bump") },
  ]),
  payout("a position paid out to its owner", true, () => other.address),
];
