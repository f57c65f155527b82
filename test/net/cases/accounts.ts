/** Accounts with code of somebody else's (EIP-7702), contracts that watch, and honest ones that look at the block. */
import type { Hex } from "viem";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata, nobody, other, owner } from "../../preflight/scene.js";
import { proven, scanned, type Asks, type Case } from "../cases.js";
import { me, people, person, watchers, you, type Stage } from "../stage.js";

interface Signing {
  readonly chainId?: number;
  readonly nonce?: number;
}

const authorization = async (
  { scene }: Stage,
  by: ReturnType<typeof person>,
  address: Hex,
  { chainId = scene.chainId, nonce }: Signing = {},
) => {
  const next = Number(await scene.ask("eth_getTransactionCount", [by.address, "latest"]));
  const signed = await by.signAuthorization({ address, chainId, nonce: nonce ?? next });
  const { r, s, yParity = 0 } = signed;
  return { address, chainId: signed.chainId, nonce: signed.nonce, r, s, yParity };
};
const carrying = async (stage: Stage, by: ReturnType<typeof person>, address: Hex, signing?: Signing) => ({
  ...{ from: me, to: you, value: 1n },
  authorizationList: [await authorization(stage, by, address, signing)],
});

const zero = "0x0000000000000000000000000000000000000000";
const { plain, delegated, hollow, fresh } = people;

const execute = (stage: Stage) =>
  calldata(artifacts.Delegate, "execute", [
    [{ to: stage.t.token, value: 0n, data: calldata(artifacts.Token, "mint", [plain.address, 5n]) }],
  ]);

const delegations = {
  "set for somebody else": (stage: Stage) => carrying(stage, plain, stage.at("delegate")),
  "set for somebody new": (stage: Stage) => carrying(stage, fresh, stage.at("delegate")),
  "set to an address without code": (stage: Stage) => carrying(stage, plain, nobody),
  "set for every chain": (stage: Stage) => carrying(stage, plain, stage.at("delegate"), { chainId: 0 }),
  "of another chain": (stage: Stage) => carrying(stage, plain, stage.at("delegate"), { chainId: 5 }),
  "of another nonce": (stage: Stage) => carrying(stage, plain, stage.at("delegate"), { nonce: 7 }),
  cleared: (stage: Stage) => carrying(stage, delegated, zero),
  changed: (stage: Stage) => carrying(stage, delegated, stage.at("delegate")),
  "of the sender itself": async (stage: Stage) => [
    {
      ...{ from: plain.address, to: you, value: 1n },
      authorizationList: [await authorization(stage, plain, stage.at("delegate"), { nonce: 1 })],
    },
    { from: plain.address, to: you, value: 2n },
  ],
  "of the sender itself, used at once": async (stage: Stage) => ({
    ...{ from: plain.address, to: plain.address, data: execute(stage) },
    authorizationList: [await authorization(stage, plain, stage.at("delegate"), { nonce: 1 })],
  }),
  "used at once by somebody who may not": async (stage: Stage) => ({
    ...{ from: me, to: plain.address, data: execute(stage) },
    authorizationList: [await authorization(stage, plain, stage.at("delegate"))],
  }),
  "several at once": async (stage: Stage) => ({
    ...{ from: me, to: you, value: 1n },
    authorizationList: [
      await authorization(stage, plain, stage.at("delegate")),
      await authorization(stage, plain, stage.t.aggregator, { nonce: 1 }),
      await authorization(stage, fresh, nobody),
    ],
  }),
  "that sends": () => ({ from: delegated.address, to: other.address, value: 1n }),
  "that receives ether": () => ({ from: owner.address, to: delegated.address, value: 1n }),
  "that receives a call": () => ({ from: owner.address, to: delegated.address, data: "0x12345678" }),
  "without code that sends": () => ({ from: hollow.address, to: other.address, value: 1n }),
  "without code that receives ether": () => ({ from: owner.address, to: hollow.address, value: 1n }),
  "without code that receives a call": () => ({ from: owner.address, to: hollow.address, data: "0x12345678" }),
} satisfies Asks;

/** `claim` pays where it believes that it is watched, and takes everything where it does not; `gate` reverts there. */
const watching =
  (look: string, functionName: string) =>
  ({ at }: Stage) => ({ from: other.address, to: at(look), data: calldata(artifacts.Spoofer, functionName) });
const claims: Asks = Object.fromEntries(Object.keys(watchers).map((look) => [look, watching(look, "claim")]));
const gates: Asks = Object.fromEntries(
  ["no gas price", "no base fee", "no fee recipient", "more gas than anybody gives", "a sender with any balance"].map(
    (look) => [look, watching(look, "gate")],
  ),
);

export const accounts: ReadonlyArray<Case> = [
  ...proven("delegation", delegations),
  ...scanned("delegation", {
    "set for somebody else": delegations["set for somebody else"],
    "that sends": delegations["that sends"],
  }),
  ...proven("watcher for", claims),
  ...proven("gate for", gates),
  ...scanned("watcher for", { "no base fee": watching("no base fee", "claim") }),
  ...proven("watcher that only returns another value for", { "no gas price": watching("no gas price", "quietly") }),
];
