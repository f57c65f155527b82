/** Which rights are looked at, as logs and calldata tell of them, and what is asked about each. */
import { encodeAbiParameters, encodeFunctionData, erc20Abi, parseAbi, parseAbiParameters, toEventSelector } from "viem";
import { describe, expect, it } from "vitest";
import { effectsIn } from "../../rooms/effects.js";
import { newIn, rightQueries as queries, rights, rightUnion as union } from "../../rooms/steps.js";
import { allowance, getApproved, totalSupply } from "../../rooms/witness.js";
import { alice, bob, bundle, filled, hexOf, log, outcome, token, word } from "../parts.js";
import { at, topics } from "./arbitrary.js";

const approving = (amount: bigint) => ({
  to: token,
  data: hexOf(encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [bob, amount] })),
});
const approval = (amount: bigint, spender = bob) =>
  log(token, [topics.approval, word(alice), word(spender)], [word(amount)]);
/** A router's plan of one permit, and what a Permit2 says of it. */
const permitPlan = hexOf(
  encodeFunctionData({
    abi: parseAbi(["function execute(bytes commands, bytes[] inputs, uint256 deadline)"]),
    args: [
      "0x0a",
      [
        encodeAbiParameters(parseAbiParameters("((address,uint160,uint48,uint48),address,uint256), bytes"), [
          [[token, 5n, 77, 0], bob, 1n],
          "0x1234",
        ]),
      ],
      9n,
    ],
  }),
);
const permitted = (keeper: ReturnType<typeof at>) =>
  log(
    keeper,
    [
      toEventSelector("Permit(address,address,address,uint160,uint48,uint48)").slice(2),
      word(alice),
      word(token),
      word(bob),
    ],
    [word(5n), word(77n), word(0n)],
  );
const ran = (
  ...cases: ReadonlyArray<readonly [asked: bigint, logs: ReadonlyArray<ReturnType<typeof log>>, failed?: true]>
) =>
  bundle(...cases.map(([asked]) => approving(asked))).map((one) => {
    const [, logs = [], failed] = cases[one.index] ?? [0n, []];
    return filled(one, { outcome: outcome({ logs, status: failed === true ? "reverted" : "success" }) });
  });

describe("the rights of a bundle", () => {
  it("are first those of events, then those of calldata alone", () => {
    expect(rights(ran([5n, [approval(5n)]]), 9).kept).toMatchObject([{ claim: 5n, seen: "log" }]);
    expect(rights(ran([5n, []]), 9).kept).toMatchObject([{ claim: 5n, seen: "calldata", spender: bob }]);
    const both = rights(ran([5n, [approval(7n, at("7"))]]), 9).kept;
    expect(both.map(({ spender, seen }) => [spender, seen])).toEqual([
      [at("7"), "log"],
      [bob, "calldata"],
    ]);
  });
  it("are the last word on each, without reverted ones", () => {
    expect(rights(ran([5n, [approval(5n), approval(0n)]]), 9).kept).toMatchObject([{ claim: 0n }]);
    expect(rights(ran([5n, [approval(5n)], true]), 9).kept).toEqual([]);
    expect(effectsIn(bundle({ ...approving(1n), to: null }), "request")).toEqual([]);
  });
  it("are cut at the limit, and the cut ones are counted", () => {
    const crowd = Array.from({ length: 9 }, (_, index) => approval(1n, at(String(index + 1))));
    const { kept, cut } = rights(ran([5n, crowd]), 4);
    // the nine and the one of the calldata
    expect([kept.length, cut]).toEqual([4, 6]);
  });
  it("of a router's permit differ from those of another keeper in an event", () => {
    const kept = (...logs: ReadonlyArray<ReturnType<typeof log>>) =>
      rights(
        bundle({ to: at("4"), data: permitPlan }).map((one) =>
          filled(one, { outcome: outcome({ logs, status: "success" }) }),
        ),
        9,
      ).kept;
    expect(kept(permitted(at("9")))).toMatchObject([{ keeper: at("9"), seen: "log", spender: bob }]);
    expect(kept(permitted(at("9")))).toHaveLength(1);
    expect(kept()).toMatchObject([{ seen: "calldata", isMeans: true, spender: bob }]);
  });
  it("are those of the senders first", () => {
    const foreign = Array.from({ length: 9 }, (_, index) =>
      log(token, [topics.approval, word(at("f")), word(at(String(index + 1)))], [word(1n)]),
    );
    expect(rights(ran([5n, [...foreign, approval(7n)]]), 1).kept).toMatchObject([{ claim: 7n, spender: bob }]);
  });
});

describe("merged known and found rights", () => {
  const [first] = rights(ran([5n, [approval(5n)]]), 9).kept;
  const [last] = rights(ran([5n, [approval(8n)]]), 9).kept;
  const [other] = rights(ran([5n, [approval(1n, at("7"))]]), 9).kept;
  if (first === undefined || last === undefined || other === undefined) throw new Error("no rights");
  it("have the order of the first, with the last word", () =>
    expect(union([first, other], [last])).toEqual([last, other]));
  it("are new where they were unknown", () => expect(newIn([first], [last, other])).toEqual([other]));
  it("are read in both ways where the calldata leaves the kind open, and each spender is looked at", () => {
    const [open] = rights(ran([5n, []]), 9).kept;
    expect(open === undefined ? [] : queries([open, open]).slice(-4)).toEqual([
      ...[allowance(token, alice, bob), getApproved(token, 5n), totalSupply(token), { kind: "account", address: bob }],
    ]);
    expect(queries([first])).toEqual([
      ...[allowance(token, alice, bob), totalSupply(token), { kind: "account", address: bob }],
    ]);
  });
});
