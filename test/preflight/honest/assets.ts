/** What moves and what is granted: coins, tokens, collectibles, payments. */
import { encodeDeployData, encodeFunctionData, getContractAddress, parseSignature } from "viem";
import * as Policy from "../../../src/Policy.js";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata, other, owner, third } from "../scene.js";
import { act, airdrop, approve, ether, mint, stranger, type Rows, type Stage, type Who } from "./stage.js";

/** A permit of PermitToken, as its owner signs it. */
const permitOf = async ({ scene, at, now }: Stage, who: Who, spender: `0x${string}`, value: bigint) => {
  const deadline = now + 86_400n;
  const signature = await who.signTypedData({
    domain: { name: "Permit Token", version: "1", chainId: scene.chainId, verifyingContract: at.permit },
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
    message: { owner: who.address, spender, value, nonce: 0n, deadline },
  });
  const { r, s, yParity } = parseSignature(signature);
  return [value, deadline, 27 + yParity, r, s] as const;
};

export const assets: Rows = {
  "ether to an account": { input: (_, { address }) => ({ from: address, to: other.address, value: ether }) },
  "ether to somebody new": { input: (_, { address }) => ({ from: address, to: stranger, value: ether }) },
  "ether at one gas price": {
    input: (_, { address }) => ({ from: address, to: other.address, value: 1n, gasPrice: 3_000_000_000n }),
  },
  "a call with an access list": {
    input: ({ at }, who) => ({
      ...act(who, at.box, artifacts.Box, "set", [5n]),
      accessList: [{ address: at.box, storageKeys: [`0x${"00".repeat(32)}`] }],
    }),
  },
  "nothing to oneself": { input: (_, { address }) => ({ from: address, to: address, value: 0n }) },
  "tokens to an account": {
    before: ({ at }, who) => [mint(at.gold, who)],
    input: ({ at }, who) => act(who, at.gold, artifacts.Token, "transfer", [other.address, ether]),
  },
  "all tokens to somebody new": {
    before: ({ at }, who) => [mint(at.gold, who)],
    input: ({ at }, who) => act(who, at.gold, artifacts.Token, "transfer", [stranger, 1_000n * ether]),
    options: ({ at }) => ({ policies: [Policy.maxSpent(at.gold, 1_000n * ether), Policy.noNewApprovals] }),
  },
  "tokens behind a proxy": {
    before: ({ at }, who) => [mint(at.proxied, who)],
    input: ({ at }, who) => act(who, at.proxied, artifacts.Token, "transfer", [other.address, ether]),
  },
  "tokens taken by an allowance": {
    before: ({ at }, who) => [mint(at.gold, who), approve(at.gold, at.vault)],
    input: ({ at }, who) => act(who, at.vault, artifacts.Vault, "deposit", [at.gold, 5n * ether]),
  },
  "an allowance of what is needed": {
    before: ({ at }, who) => [mint(at.gold, who)],
    input: ({ at }, who) => act(who, at.gold, artifacts.Token, "approve", [at.vault, 5n * ether]),
    options: () => ({ policies: [Policy.noUnlimitedApprovals] }),
  },
  "an allowance taken back": {
    before: ({ at }, who) => [mint(at.gold, who), approve(at.gold, at.vault)],
    input: ({ at }, who) => act(who, at.gold, artifacts.Token, "approve", [at.vault, 0n]),
    options: () => ({ policies: [Policy.noNewApprovals] }),
  },
  "an allowance, and what it is for, in one bundle": {
    before: ({ at }, who) => [mint(at.gold, who)],
    input: ({ at }, who) => [
      act(who, at.gold, artifacts.Token, "approve", [at.vault, 5n * ether]),
      act(who, at.vault, artifacts.Vault, "deposit", [at.gold, 5n * ether]),
    ],
  },
  "tokens burnt": {
    before: ({ at }, who) => [mint(at.gold, who)],
    input: ({ at }, who) => act(who, at.gold, artifacts.Token, "burn", [ether]),
  },
  "a permit, and the trade it is for, in one call": {
    before: ({ at }, who) => [mint(at.permit, who)],
    input: async (stage, who) => {
      const { at, now } = stage;
      const signed = await permitOf(stage, who, at.router, 10n * ether);
      const inner = (functionName: string, args: ReadonlyArray<unknown>) =>
        calldata(artifacts.Router, functionName, args);
      const trade = inner("exactInput", [at.permitPair, 10n * ether, ether, who.address, now + 1_200n]);
      return act(who, at.router, artifacts.Router, "multicall", [[inner("selfPermit", [at.permit, ...signed]), trade]]);
    },
  },
  "a collectible": {
    before: ({ at }, who) => [{ to: at.nft, data: calldata(artifacts.Nft, "mint", [who.address, 501n]) }],
    input: ({ at }, who) => act(who, at.nft, artifacts.Nft, "transferFrom", [who.address, other.address, 501n]),
  },
  "several kinds of one collection": {
    before: ({ at }, who) =>
      [1n, 2n].map((id) => ({ to: at.multi, data: calldata(artifacts.Multi, "mint", [who.address, id, 10n]) })),
    input: ({ at }, who) =>
      act(who, at.multi, artifacts.Multi, "safeBatchTransferFrom", [
        ...[who.address, other.address],
        ...[[1n, 2n], [3n, 10n], "0x"],
      ]),
  },
  "ether wrapped": { input: ({ at }, who) => act(who, at.weth, artifacts.WETH9, "deposit", [], ether) },
  "ether unwrapped": {
    before: ({ at }) => [{ to: at.weth, data: calldata(artifacts.WETH9, "deposit"), value: ether }],
    input: ({ at }, who) => act(who, at.weth, artifacts.WETH9, "withdraw", [ether]),
  },
  "ether to many, the rest given back": {
    input: ({ at }, who) =>
      act(
        ...([who, at.till, artifacts.Till, "disperseEther"] as const),
        [
          [other.address, third.address, stranger],
          [1n, 2n, 3n],
        ],
        ether,
      ),
  },
  "tokens to many": {
    before: ({ at }, who) => [mint(at.gold, who), approve(at.gold, at.till, 6n)],
    input: ({ at }, who) =>
      act(who, at.till, artifacts.Till, "disperseToken", [
        ...[at.gold, [other.address, third.address, stranger]],
        [1n, 2n, 3n],
      ]),
  },
  "many calls in one": {
    input: ({ at }, who) =>
      act(who, at.aggregator, artifacts.Aggregator, "aggregate", [
        [
          { target: at.gold, allowFailure: false, value: 0n, callData: mintTo(who) },
          { target: at.box, allowFailure: true, value: 0n, callData: calldata(artifacts.Box, "set", [9n]) },
        ],
      ]),
  },
  "a share of what several own": {
    input: ({ at }, who) => act(who, at.shares, artifacts.Shares, "release", [other.address]),
  },
  "money in escrow": {
    input: ({ at }, who) => act(who, at.patience, artifacts.Patience, "deposit", [third.address], ether),
  },
  "money out of escrow": {
    before: ({ at }) => [
      { to: at.patience, data: calldata(artifacts.Patience, "deposit", [third.address]), value: ether },
    ],
    input: ({ at }, who) => act(who, at.patience, artifacts.Patience, "release"),
  },
  "an airdrop by proof": {
    input: ({ at }, who) => {
      const [index, amount, proof] = airdrop.args;
      return act(who, at.drop, artifacts.Drop, "claim", [index, who.address, amount, proof]);
    },
  },
  "a collectible bought at a fixed price, with a fee for the house": {
    input: ({ at, now }, who) =>
      act(who, at.till, artifacts.Till, "fulfil", [at.nft, owner.address, 601n, now - 60n, now + 86_400n], ether),
    options: ({ at }) => ({ policies: [Policy.maxSpent("native", ether), Policy.minReceived(at.nft, 1n)] }),
  },
  "a loan for one call": {
    input: ({ at }, who) => act(who, at.till, artifacts.Till, "flashLoan", [at.borrower, 100n * ether]),
  },
  "a deployment": {
    isGethOnly: true,
    input: (_, { address }) => ({
      from: address,
      abi: artifacts.Box.abi,
      bytecode: artifacts.Box.bytecode,
      args: [7n],
    }),
  },
  "a deployment, and its first call, in one bundle": {
    isGethOnly: true,
    input: async ({ scene }, who) => {
      const nonce = BigInt(await scene.count(who.address));
      const { abi, bytecode } = artifacts.Wallet;
      const to = getContractAddress({ from: who.address, nonce });
      return [
        { from: who.address, data: encodeDeployData({ abi, bytecode }) },
        act(who, to, artifacts.Wallet, "initialise", [who.address], ether),
      ];
    },
  },
};

const mintTo = (who: Who) =>
  encodeFunctionData({ abi: artifacts.Token.abi, functionName: "mint", args: [who.address, 5n] });
