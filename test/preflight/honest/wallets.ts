/** Accounts of code: delegated ones, wallets, and factories that make them. */
import { getContractAddress } from "viem";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata, other } from "../scene.js";
import { act, approve, ether, mint, stranger, whoOf, type Rows } from "./stage.js";

/** Of ten ether nearly all: what is left pays the gas. */
const nearlyAll = 10n * ether - ether / 50n;

export const wallets: Rows = {
  "nearly all that an account has": {
    input: (_, { address }) => ({ from: address, to: other.address, value: nearlyAll }),
  },
  "a delegated account sends nearly all it has": {
    before: ({ at }, who) => [{ to: who.address, delegate: at.delegate }],
    input: (_, { address }) => ({ from: address, to: other.address, value: nearlyAll }),
  },
  "a delegated account sends nearly all it has, by its own code": {
    before: ({ at }, who) => [{ to: who.address, delegate: at.delegate }],
    input: (_, who) =>
      act(who, who.address, artifacts.Delegate, "execute", [[{ to: stranger, value: nearlyAll, data: "0x" }]]),
  },
  "a delegated account approves and trades at once": {
    before: ({ at }, who) => [{ to: who.address, delegate: at.delegate }, mint(at.gold, who)],
    input: ({ at, now }, who) => {
      const trade = [at.pair, 10n * ether, ether, who.address, now + 1_200n];
      return act(who, who.address, artifacts.Delegate, "execute", [
        [
          { to: at.gold, value: 0n, data: approve(at.gold, at.router, 10n * ether).data },
          { to: at.router, value: 0n, data: calldata(artifacts.Router, "exactInput", trade) },
        ],
      ]);
    },
  },
  "ether to a delegated account": {
    input: (_, { address }) => ({
      from: address,
      to: whoOf("a delegated account approves and trades at once").address,
      value: ether,
    }),
  },
  "a wallet made at a known address": {
    input: ({ at }, who) => act(who, at.factory, artifacts.WalletFactory, "create", [], ether),
  },
  "a wallet made at the next address": {
    input: ({ at }, who) => act(who, at.factory, artifacts.WalletFactory, "createNext"),
  },
  "a contract made by another, at a salted address": {
    input: ({ at }, who) => act(who, at.deployer, artifacts.Deployer, "deploy2", [3n, `0x${"5a".repeat(32)}`]),
  },
  "a wallet pays by its owner's word": {
    before: (_, who) => {
      const to = getContractAddress({ from: who.address, nonce: 0n });
      const data = calldata(artifacts.Wallet, "initialise", [who.address]);
      return [{ data: artifacts.Wallet.bytecode }, { to, data, value: ether }];
    },
    input: ({ at }, who) => {
      const to = getContractAddress({ from: who.address, nonce: 0n });
      const calls = [
        { target: other.address, value: ether / 2n, data: "0x" },
        { target: at.gold, value: 0n, data: calldata(artifacts.Token, "mint", [to, 5n]) },
      ];
      return act(who, to, artifacts.Wallet, "execute", [calls]);
    },
  },
};
