/**
 * Classes 7 to 10: calls that ask for something which does not happen, reach nobody, fail inside or are swallowed, and honest
 * calls that look alike. Judged with debug methods and without.
 */
import { concat, encodeAbiParameters, encodeFunctionData, pad, parseAbi, toHex, type Abi, type Hex } from "viem";
import type { Report } from "../../../src/Report.js";
import * as made from "../../contracts/artifacts.js";
import { calldata, delegate, other, owner, spare, third, type AnyInput } from "../../preflight/scene.js";
import { sendingFrom } from "../../preflight/troupe.js";
import type { Class, Dice, Family, Stage } from "./kit.js";

const [me, you] = [owner.address, other.address];
const unit = 10n ** 9n;
const plenty = 10n ** 9n * unit;
const token = parseAbi([
  "function transfer(address,uint256) returns (bool)",
  "function transferFrom(address,address,uint256) returns (bool)",
  "function approve(address,uint256) returns (bool)",
  "function increaseAllowance(address,uint256) returns (bool)",
  "function permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
  "function mint(address,uint256)",
  "function deposit() payable",
]);
const asks = (functionName: (typeof token)[number]["name"], ...args: ReadonlyArray<unknown>): Hex =>
  encodeFunctionData({ abi: token as Abi, functionName, args: [...args] });

interface Inner {
  readonly to: Hex;
  readonly data: Hex;
  readonly value?: bigint;
}

const make = async ({ scene, put }: Stage) => {
  const { deploy, mined } = await sendingFrom(scene);
  const gold = await deploy(made.Token, ["Gold", "GLD", 18]);
  const silver = await deploy(made.Token, ["Silver", "SLV", 18]);
  const weth = await deploy(made.WETH9);
  const ledger = await deploy(made.Ledger);
  const template = await deploy(made.Wallet);
  const at = {
    ...{ gold, silver, weth, ledger },
    fee: await deploy(made.TaxToken, [100n]),
    dear: await deploy(made.TaxToken, [2_500n]),
    rebasing: await deploy(made.PoolToken),
    mute: await deploy(made.NoReturnToken),
    permit: await deploy(made.PermitToken),
    paused: await deploy(made.ShyToken),
    shy: await deploy(made.ShyToken),
    swallower: await deploy(made.Swallower),
    stall: await deploy(made.Stall),
    courier: await deploy(made.Courier),
    giver: await deploy(made.Giver),
    closed: await deploy(made.Closed),
    multicall: await deploy(made.Multicall3),
    account: await deploy(made.ModularAccount),
    wallet: await deploy(made.Wallet),
    factory: await deploy(made.WalletFactory, [template]),
    router: await deploy(made.Router, [weth]),
    pair: await deploy(made.Pair, [gold, silver]),
    wethPair: await deploy(made.Pair, [weth, silver]),
    savings: await deploy(made.Savings, [gold, 1_700_000_000n]),
    till: await deploy(made.Till, [gold, 2_592_000n]),
    borrower: await deploy(made.Borrower),
    delegate: await deploy(made.KeyAccount),
    emptyProxy: await deploy(made.Proxy, ["0x9c1a4be2d8f07531a6e0c9b8347d25f1e0a3beef"]),
    proxy: await deploy(made.Proxy, [ledger]),
  };
  await mined();
  const clone = (of: Hex) =>
    put(`0x3d602d80600a3d3981f3363d3d373d3d3d363d73${of.slice(2)}5af43d82803e903d91602b57fd5bf3`);
  const beacon = async (of: Hex) => scene.deploy(made.BeaconProxy, [await scene.deploy(made.Beacon, [of])]);
  const nobody: Hex = "0x9c1a4be2d8f07531a6e0c9b8347d25f1e0a3beef";
  const proxies = {
    ...{ clone: await clone(ledger), emptyClone: await clone(nobody) },
    ...{ beacon: await beacon(ledger), emptyBeacon: await beacon(nobody) },
  };
  const rest = await sendingFrom(scene);
  const holders = [
    me,
    you,
    third.address,
    at.account,
    at.wallet,
    at.multicall,
    at.stall,
    at.courier,
    at.till,
    at.borrower,
  ];
  const tokens = [at.gold, at.silver, at.fee, at.dear, at.rebasing, at.mute, at.permit, at.paused, at.shy];
  for (const to of tokens) for (const holder of holders) await rest.send({ to, data: asks("mint", holder, plenty) });
  await rest.mined();
  await rest.send({ to: weth, data: asks("deposit"), value: 10n * plenty });
  for (const to of [at.account, at.wallet, third.address, at.wethPair])
    await rest.send({ to: weth, data: asks("transfer", to, plenty) });
  for (const to of [at.gold, at.silver]) await rest.send({ to, data: asks("mint", at.pair, 1_000n * plenty) });
  await rest.send({ to: at.silver, data: asks("mint", at.wethPair, plenty) });
  for (const to of [at.pair, at.wethPair])
    await rest.send({ to, data: encodeFunctionData({ abi: parseAbi(["function mint(address)"]), args: [me] }) });
  for (const to of [...tokens, weth])
    for (const spender of [at.stall, at.courier, at.multicall, at.router, at.savings])
      await rest.send({ to, data: asks("approve", spender, 100n * plenty) });
  await rest.send({ to: at.savings, data: calldata(made.Savings, "deposit", [plenty / 4n, me]) });
  await rest.send({ to: at.rebasing, data: calldata(made.PoolToken, "grow", [plenty / 7n]) });
  await rest.send({ to: at.paused, data: calldata(made.ShyToken, "pause") });
  await rest.send({ to: at.shy, data: calldata(made.ShyToken, "shun", [spare.address]) });
  await rest.send({ to: at.wallet, data: calldata(made.Wallet, "initialise", [me]) });
  for (const to of [at.account, at.wallet]) await rest.send({ to, value: 10n ** 18n });
  await rest.mined();
  if ((await scene.ask("eth_getCode", [third.address, "latest"])) === "0x") await delegate(scene, at.delegate);
  return { ...at, ...proxies, nobody };
};
type Place = Awaited<ReturnType<typeof make>>;
const places = new WeakMap<Stage, Promise<Place>>();
const placeOn = (stage: Stage): Promise<Place> => {
  const known = places.get(stage) ?? make(stage);
  places.set(stage, known);
  return known;
};

const mode = (isBatch: boolean): Hex => pad(isBatch ? "0x01" : "0x00", { dir: "right", size: 32 });
const packed = (calls: ReadonlyArray<Inner>): Hex =>
  encodeAbiParameters(
    [{ type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] }],
    [calls.map(({ to, value = 0n, data }) => [to, value, data] as never)],
  );
const sumOf = (calls: ReadonlyArray<Inner>): bigint => calls.reduce((sum, { value = 0n }) => sum + value, 0n);

/** The forms in which several calls are one transaction: who calls what is in it, and the transaction. */
interface Form {
  readonly name: string;
  readonly by: (at: Place) => Hex;
  readonly of: (at: Place, calls: ReadonlyArray<Inner>, dice: Dice) => AnyInput;
}
const forms: ReadonlyArray<Form> = [
  {
    name: "a batch of the user's own account (EIP-7702)",
    by: () => third.address,
    of: (_, calls) => ({
      ...{ from: third.address, to: third.address },
      data: calldata(made.KeyAccount, "execute", [mode(true), packed(calls)]),
    }),
  },
  {
    name: "an account of modules (ERC-7579)",
    by: ({ account }) => account,
    of: ({ account }, calls) => {
      const [first] = calls;
      const data =
        calls.length > 1 || first === undefined
          ? packed(calls)
          : concat([first.to, pad(toHex(first.value ?? 0n), { size: 32 }), first.data]);
      return {
        ...{ from: me, to: account },
        data: calldata(made.ModularAccount, "execute", [mode(calls.length !== 1), data]),
      };
    },
  },
  {
    name: "a wallet's batch",
    by: ({ wallet }) => wallet,
    of: ({ wallet }, calls) => ({
      ...{ from: me, to: wallet },
      data: calldata(made.Wallet, "execute", [
        calls.map(({ to: target, value = 0n, data }) => ({ target, value, data })),
      ]),
    }),
  },
  {
    name: "Multicall3",
    by: ({ multicall }) => multicall,
    of: ({ multicall }, calls, dice) => {
      const isPaying = sumOf(calls) > 0n;
      const args = calls.map(({ to: target, data: callData, value = 0n }) => {
        const allowFailure = dice.below(2) === 0;
        return isPaying ? { target, allowFailure, value, callData } : { target, allowFailure, callData };
      });
      return {
        ...{ from: me, to: multicall, value: sumOf(calls) },
        data: calldata(made.Multicall3, isPaying ? "aggregate3Value" : "aggregate3", [args]),
      };
    },
  },
];

/** One call among up to three others that work. */
const among = (dice: Dice, at: Place, ...calls: ReadonlyArray<Inner>): ReadonlyArray<Inner> => {
  const all = [...calls];
  for (let left = dice.below(4); left > 0; left--) {
    const honest: Inner =
      dice.below(2) === 0
        ? { to: at.ledger, data: calldata(made.Ledger, "enter", [BigInt(1 + dice.below(1_000))]) }
        : { to: at.gold, data: asks("transfer", dice.address(), amountOf(dice)) };
    all.splice(dice.below(all.length + 1), 0, honest);
  }
  return all;
};
const amountOf = (dice: Dice, most = 10_000): bigint => BigInt(1 + dice.below(most)) * unit;
const bytes32 = (dice: Dice): Hex => pad(dice.address(), { size: 32 });

/** Whether a warning, or more, of one of these names stands against it. */
const named =
  (...codes: ReadonlyArray<string>) =>
  ({ verdict, findings }: Report): boolean =>
    verdict !== "ready" && findings.some(({ code, severity }) => severity !== "info" && codes.includes(code));

const family = (
  kind: Class,
  name: string,
  isCaught: ((report: Report) => boolean) | null,
  draw: (dice: Dice, at: Place) => AnyInput | Promise<AnyInput>,
  more: Pick<Family, "needsTrace"> = {},
): Family => ({
  ...{ kind, name, isHonest: isCaught === null, withoutDebug: true, ...more },
  prepare: async (stage) => {
    const at = await placeOn(stage);
    return async (dice) => ({ input: await draw(dice, at), ...(isCaught === null ? {} : { isCaught }) });
  },
});
const traced = { needsTrace: true } as const;

const refused = named("ReturnedFalse", "AskedInVain", "TokenShortfall");
/** A call that a token answers with false: it is paused, shuns the receiver, or there is not as much. */
const refusedBy = (dice: Dice, at: Place, by: Hex): Inner => {
  const few = amountOf(dice);
  const lots = plenty + few;
  return dice.of<() => Inner>([
    () => ({ to: at.paused, data: asks("transfer", dice.address(), few) }),
    () => ({ to: at.paused, data: asks("transferFrom", by === me ? you : me, dice.address(), few) }),
    () => ({ to: at.paused, data: asks("approve", at.stall, few) }),
    () => ({ to: at.shy, data: asks("transfer", dice.address(), 10n * lots) }),
    () => ({ to: at.shy, data: asks("transfer", spare.address, few) }),
    () => ({ to: at.shy, data: asks("approve", spare.address, few) }),
    () => ({ to: at.shy, data: asks("transferFrom", you, dice.address(), few) }),
  ])();
};

const falsely = "7 asked in vain";
const answersFalse: ReadonlyArray<Family> = [
  family(falsely, "a token that answers false", refused, (dice, at) => ({ from: me, ...refusedBy(dice, at, me) })),
  family(falsely, "the same in a bundle", refused, (dice, at) => {
    const calls = [{ from: me, ...refusedBy(dice, at, me) }];
    const honest = { from: me, to: at.gold, data: asks("transfer", dice.address(), amountOf(dice)) };
    calls.splice(dice.below(2), 0, honest);
    return calls;
  }),
  ...forms.map((form) =>
    family(falsely, `the same in ${form.name}`, refused, (dice, at) =>
      form.of(at, among(dice, at, refusedBy(dice, at, form.by(at))), dice),
    ),
  ),
  family(
    falsely,
    "the same inside a shop that does not look",
    refused,
    (dice, at) => {
      const few = amountOf(dice);
      const [shy, args] = dice.of([
        ["buy", [at.paused, few, dice.below(8)]],
        ["buy", [at.shy, plenty + few, dice.below(8)]],
        ["buyTwice", [at.gold, at.paused, few]],
        ["buyTwice", [at.paused, at.gold, few]],
        ["payOut", [at.paused, dice.address(), few]],
        ["payOut", [at.shy, spare.address, few]],
        ["payOut", [at.shy, dice.address(), plenty + few]],
        ["lend", [at.paused, at.courier, few]],
      ] as const);
      return { from: me, to: at.stall, data: calldata(made.Stall, shy, args) };
    },
    traced,
  ),
];

const honestToken = (dice: Dice, at: Place): Hex =>
  dice.of([at.gold, at.silver, at.fee, at.dear, at.rebasing, at.mute, at.permit]);
/** Tokens whose `transfer` and `transferFrom` answer. */
const answering = (dice: Dice, at: Place): Hex => dice.of([at.gold, at.silver, at.rebasing, at.permit, at.weth]);
const deadline = 2n ** 40n;
const honestAsks: ReadonlyArray<Family> = [
  family(falsely, "transfers and approvals", null, (dice, at) => {
    const to = honestToken(dice, at);
    const data =
      dice.below(3) > 0
        ? asks("transfer", dice.of([dice.address(), me, at.stall]), BigInt(dice.below(10_000)) * unit)
        : // why: this one takes no other amount where there is an allowance
          asks("approve", dice.of([at.stall, at.router]), to === at.mute ? 0n : amountOf(dice));
    return { from: me, to, data };
  }),
  ...forms.map((form) =>
    family(falsely, `transfers in ${form.name}`, null, (dice, at) =>
      form.of(
        at,
        among(dice, at, { to: honestToken(dice, at), data: asks("transfer", dice.address(), amountOf(dice)) }),
        dice,
      ),
    ),
  ),
  family(falsely, "a shop, at any depth", null, (dice, at) => ({
    ...{ from: me, to: at.stall },
    data:
      dice.below(3) > 0
        ? calldata(made.Stall, "buy", [answering(dice, at), amountOf(dice), dice.below(8)])
        : calldata(made.Stall, "buyTwice", [at.gold, at.silver, amountOf(dice)]),
  })),
  family(falsely, "a router", null, (dice, at) => {
    const amount = 1_000n * unit + amountOf(dice, 100_000);
    const isPaid = dice.below(2) === 0;
    const swap = [isPaid ? at.wethPair : at.pair, amount, 1n, dice.of([me, dice.address()]), deadline] as const;
    const data = calldata(made.Router, "exactInput", swap);
    return {
      ...{ from: me, to: at.router, value: isPaid ? amount : 0n },
      data: dice.below(2) === 0 ? data : calldata(made.Router, "multicall", [[data]]),
    };
  }),
  family(falsely, "a flash loan", null, (dice, at) => ({
    ...{ from: me, to: at.till },
    data: calldata(made.Till, "flashLoan", [at.borrower, amountOf(dice, 900_000)]),
  })),
  family(falsely, "a fee on transfer, and a rebasing token, through a courier", null, (dice, at) => ({
    ...{ from: me, to: at.courier },
    data: calldata(made.Courier, "forward", [
      dice.of([at.fee, at.dear, at.rebasing]),
      dice.address(),
      1_000n * unit + amountOf(dice),
    ]),
  })),
  family(falsely, "shares of a vault (ERC-4626)", null, (dice, at) => ({
    ...{ from: me, to: at.savings },
    data:
      dice.below(2) === 0
        ? calldata(made.Savings, "deposit", [1_000n * unit + amountOf(dice), me])
        : calldata(made.Savings, "redeem", [1_000n * unit + amountOf(dice), me, me]),
  })),
  family(falsely, "wrapped and handed on", null, (dice, at) => ({
    ...{ from: me, to: at.courier, value: amountOf(dice) },
    data: calldata(made.Courier, "wrapTo", [at.weth, dice.of([me, dice.address()])]),
  })),
  family(falsely, "there and back", null, (dice, at) => ({
    ...{ from: me, to: at.courier },
    data: calldata(made.Courier, "roundTrip", [answering(dice, at), amountOf(dice)]),
  })),
  family(falsely, "what an account approves and a shop or router takes in one batch", null, (dice, at) => {
    const amount = 1_000n * unit + amountOf(dice, 100_000);
    const [spender, data] = dice.of([
      [at.router, calldata(made.Router, "exactInput", [at.pair, amount, 1n, third.address, deadline])],
      [at.stall, calldata(made.Stall, "buy", [at.gold, amount, dice.below(8)])],
      [at.savings, calldata(made.Savings, "deposit", [amount, third.address])],
    ] as const);
    const calls = [
      ...(dice.below(2) === 0 ? [{ to: at.gold, data: asks("approve", spender, 0n) }] : []),
      { to: at.gold, data: asks("approve", spender, amount) },
      { to: spender, data },
    ];
    return {
      ...{ from: third.address, to: third.address },
      data: calldata(made.KeyAccount, "execute", [mode(true), packed(calls)]),
    };
  }),
];

const vainly = "8 nobody one hop away";
const nobodyThere = named("CalledNobody");
/** A function that tokens have, or a payment with any call. */
const toNobody = (dice: Dice, at: Place): Inner => {
  const amount = amountOf(dice);
  const data = dice.of([
    asks("transfer", dice.address(), amount),
    asks("approve", dice.address(), amount),
    asks("transferFrom", dice.address(), dice.address(), amount),
  ]);
  return dice.below(3) === 0
    ? { to: dice.address(), value: amount, data: calldata(made.Ledger, "enter", [amount]) }
    : { to: dice.of([at.nobody, dice.address()]), data };
};
const reachesNobody: ReadonlyArray<Family> = [
  ...forms.map((form) =>
    family(vainly, `a call to nobody in ${form.name}`, nobodyThere, (dice, at) =>
      form.of(at, among(dice, at, toNobody(dice, at)), dice),
    ),
  ),
  family(vainly, "a proxy whose code is nobody's", nobodyThere, (dice, at) => ({
    ...{ from: me, to: dice.of([at.emptyProxy, at.emptyClone]), value: BigInt(dice.below(2) * dice.below(1_000)) },
    data: calldata(made.Ledger, dice.of(["enter", "set"]), [amountOf(dice)]),
  })),
  family(
    vainly,
    "a proxy whose beacon names nobody",
    nobodyThere,
    (dice, at) => ({
      ...{ from: me, to: at.emptyBeacon, value: BigInt(dice.below(2) * dice.below(1_000)) },
      data: calldata(made.Ledger, dice.of(["enter", "set"]), [amountOf(dice)]),
    }),
    traced,
  ),
];
/** Names of a wallet in calldata (ERC-8021), and no more. */
const wallets = ["baseapp", "morpho,base", "a wallet"];
const namesOf = (name: string): Hex =>
  concat([toHex(name), toHex(name.length, { size: 1 }), "0x00", `0x${"8021".repeat(8)}`]);
const words = ["thank you", "invoice 2026-17", "gm", "salary for June", "happy birthday!"];
const reachesSomebody: ReadonlyArray<Family> = [
  family(vainly, "a memo to somebody without code", null, (dice) => ({
    ...{ from: me, to: dice.address(), value: BigInt(dice.below(1_000)) },
    data: dice.of<Hex>([toHex(dice.of(words)), namesOf(dice.of(wallets))]),
  })),
  ...forms.map((form) =>
    family(vainly, `payments and memos in ${form.name}`, null, (dice, at) => {
      const data = dice.of<Hex>(["0x", "0x", toHex(dice.of(words))]);
      return form.of(at, among(dice, at, { to: dice.address(), value: amountOf(dice), data }), dice);
    }),
  ),
  family(vainly, "a proxy whose code is there", null, (dice, at) => ({
    ...{ from: me, to: dice.of([at.proxy, at.clone, at.beacon]), value: BigInt(dice.below(2) * dice.below(1_000)) },
    data: calldata(made.Ledger, dice.of(["enter", "set"]), [amountOf(dice)]),
  })),
  family(vainly, "a factory that makes, and begins", null, (dice, at) =>
    dice.below(2) === 0
      ? {
          ...{ from: me, to: at.factory, value: amountOf(dice) },
          data: calldata(made.WalletFactory, dice.of(["create", "createNext"])),
        }
      : { from: me, to: at.giver, value: 10_001n * unit, data: calldata(made.Giver, "makeAndBegin", [amountOf(dice)]) },
  ),
];

const inside = "9 failures inside";
const failed = named("InnerCallFailed", "AskedInVain", "CalledNobody");
const payees = (dice: Dice, ...others: ReadonlyArray<Hex>): ReadonlyArray<Hex> => {
  const all = [...others];
  for (let left = 1 + dice.below(4); left > 0; left--) all.splice(dice.below(all.length + 1), 0, dice.address());
  return all;
};
const paying = (dice: Dice, at: Place, ...closed: ReadonlyArray<Hex>): AnyInput => {
  const [to, amount] = [payees(dice, ...closed), amountOf(dice)];
  const [name, args] = dice.of([
    ["byCall", [to, amount, dice.below(4)]],
    ["bySend", [to, amount]],
    ["byTry", [to, amount]],
  ] as const);
  return { from: me, to: at.giver, value: amount * BigInt(to.length), data: calldata(made.Giver, name, args) };
};
const failsInside: ReadonlyArray<Family> = [
  family(inside, "one receiver of many takes nothing", failed, (dice, at) => paying(dice, at, at.closed), traced),
  family(
    inside,
    "a contract that is not made, and keeps the payment",
    failed,
    (dice, at) => {
      const value = amountOf(dice);
      return { from: me, to: at.giver, value, data: calldata(made.Giver, "make", [value + amountOf(dice)]) };
    },
    traced,
  ),
  family(
    inside,
    "a collection from who has not allowed it",
    failed,
    (dice, at) => ({
      ...{ from: me, to: at.giver },
      data: calldata(made.Giver, "collect", [dice.of([at.gold, at.silver]), payees(dice, you), amountOf(dice)]),
    }),
    traced,
  ),
  family(inside, "a call of Multicall3 that may fail, and does", failed, (dice, at) => {
    const bad = { target: at.gold, allowFailure: true, callData: asks("transferFrom", you, me, amountOf(dice)) };
    const calls = among(dice, at).map(({ to, data }) => ({
      target: to,
      allowFailure: dice.below(2) === 0,
      callData: data,
    }));
    calls.splice(dice.below(calls.length + 1), 0, bad);
    return { from: me, to: at.multicall, data: calldata(made.Multicall3, "aggregate3", [calls]) };
  }),
];
const worksInside: ReadonlyArray<Family> = [
  family(inside, "every receiver takes it", null, (dice, at) => paying(dice, at)),
  family(inside, "a contract that is made", null, (dice, at) => ({
    ...{ from: me, to: at.giver, value: 10_001n * unit },
    data: calldata(made.Giver, "make", [amountOf(dice)]),
  })),
  family(inside, "calls of Multicall3 that may fail, and do not", null, (dice, at) => {
    const calls = among(dice, at, { to: at.ledger, data: calldata(made.Ledger, "enter", [amountOf(dice)]) });
    const args = calls.map(({ to: target, data: callData }) => ({ target, allowFailure: true, callData }));
    return { from: me, to: at.multicall, data: calldata(made.Multicall3, "aggregate3", [args]) };
  }),
  family(inside, "a refund of what is left", null, (dice, at) => {
    const amount = amountOf(dice);
    const data = calldata(made.Courier, "refund", [dice.address(), amount]);
    return { from: me, to: at.courier, value: amount + amountOf(dice), data };
  }),
];

const swallowed = "10 swallowed grants";
const granted = named("AskedInVain", "ReturnedFalse");
const grantOf = (dice: Dice, at: Place, by: Hex): Hex =>
  dice.of([
    asks("approve", dice.of([at.stall, at.router]), amountOf(dice)),
    asks("permit", by, at.stall, amountOf(dice), deadline, 27 + dice.below(2), bytes32(dice), bytes32(dice)),
  ]);
/** A true permit: nobody uses it, so that its nonce is the next one. */
const permitted = async (dice: Dice, at: Place, chainId: number) => {
  const value = amountOf(dice);
  const signature = await owner.signTypedData({
    domain: { name: "Permit Token", version: "1", chainId, verifyingContract: at.permit },
    types: {
      Permit: [
        { name: "owner", type: "address" },
        { name: "spender", type: "address" },
        { name: "value", type: "uint256" },
        { name: "nonce", type: "uint256" },
        { name: "deadline", type: "uint256" },
      ],
    },
    primaryType: "Permit",
    message: { owner: me, spender: at.stall, value, nonce: 0n, deadline },
  });
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, Number(`0x${signature.slice(130)}`)];
  return { value, r: r as Hex, s: s as Hex, v };
};
const swallows: ReadonlyArray<Family> = [
  family(swallowed, "a grant that a fallback swallows", granted, (dice, at) => ({
    ...{ from: me, to: at.swallower, data: grantOf(dice, at, me) },
  })),
  ...forms.map((form) =>
    family(swallowed, `the same in ${form.name}`, granted, (dice, at) =>
      form.of(at, among(dice, at, { to: at.swallower, data: grantOf(dice, at, form.by(at)) }), dice),
    ),
  ),
  family(
    swallowed,
    "a permit that a fallback swallows, inside a shop that does not look",
    granted,
    (dice, at) => {
      const args = [at.swallower, amountOf(dice), deadline, 27 + dice.below(2), bytes32(dice), bytes32(dice)];
      return { from: me, to: at.stall, data: calldata(made.Stall, "permitAndBook", args) };
    },
    traced,
  ),
];
const grants: ReadonlyArray<Family> = [
  family(swallowed, "approvals, and what takes them back", null, (dice, at) => ({
    ...{ from: me, to: dice.of([at.gold, at.fee, at.weth, at.rebasing]) },
    data: asks("approve", dice.of([at.stall, at.router, at.till]), BigInt(dice.below(2) * dice.below(10_000))),
  })),
  {
    ...{ kind: swallowed, name: "a permit, and one that was used before", isHonest: true, withoutDebug: true },
    prepare: async (stage) => {
      const at = await placeOn(stage);
      return async (dice) => {
        const { value, v, r, s } = await permitted(dice, at, stage.scene.chainId);
        const isUsed = dice.below(2) === 0;
        const args = isUsed ? [at.permit, value, deadline, v, s, r] : [at.permit, value, deadline, v, r, s];
        return { input: { from: me, to: at.stall, data: calldata(made.Stall, "permitAndTake", args) } };
      };
    },
  },
  ...forms.map((form) =>
    family(swallowed, `wrapped currency, deposited in ${form.name}`, null, (dice, at) =>
      form.of(at, among(dice, at, { to: at.weth, value: amountOf(dice), data: asks("deposit") }), dice),
    ),
  ),
];

export const asked: ReadonlyArray<Family> = [
  ...[answersFalse, honestAsks, reachesNobody, reachesSomebody, failsInside, worksInside, swallows, grants].flat(),
];
