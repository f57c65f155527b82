/** Where others are at work too: counters, markets, auctions and factories that pending transactions use as well. */
import { encodeAbiParameters, keccak256, parseSignature, type Hex } from "viem";
import * as artifacts from "../../contracts/artifacts.js";
import { nobody, other } from "../scene.js";
import { act, approve, ether, mint, signers, type Rows, type Stage } from "./stage.js";

/** The signatures of both owners over the first call of the multisig. */
const bothSign = async ({ scene, at }: Stage, to: Hex, value: bigint) => {
  const types = ["uint256", "address", "address", "uint256", "bytes32", "uint256"].map((type) => ({ type }));
  const values = [BigInt(scene.chainId), at.multisig, to, value, keccak256("0x"), 0n];
  const hash = keccak256(encodeAbiParameters(types, values));
  const signed = await Promise.all(signers.map(async (one) => parseSignature(await one.sign({ hash }))));
  return [signed.map(({ yParity }) => 27 + yParity), signed.map(({ r }) => r), signed.map(({ s }) => s)];
};

export const crowds: Rows = {
  "a message between those of others": {
    input: ({ at }, who) => act(who, at.pastime, artifacts.Almanac, "post", ["0x1234"]),
  },
  "a trade in a market whose price is a number of 160 bits": {
    before: ({ at }, who) => [mint(at.gold, who), approve(at.gold, at.range)],
    input: ({ at }, who) => act(who, at.range, artifacts.Range, "swap", [who.address, 10n ** 8n, 1n]),
  },
  "an average price, and the sum it is from": {
    input: ({ at }, who) => act(who, at.twap, artifacts.Twap, "update"),
  },
  "a bid where another bids": {
    input: ({ at }, who) => act(who, at.crowdedEnglish, artifacts.English, "bid", [], 2n * ether),
    // the other bid is paid back by this one, or is not there
    crowded: ["DependsOnPending/warning"],
  },
  "a wallet made where others make theirs": {
    input: ({ at }, who) => act(who, at.crowdedFactory, artifacts.WalletFactory, "createNext"),
    // whoever comes first gets the address
    crowded: ["DependsOnPending/warning"],
  },
  "a wallet made at an address that follows the time": {
    input: ({ at }, who) => act(who, at.factory, artifacts.WalletFactory, "createNow"),
    // the address that is told is another in every block
    severe: ["ChanceDependent/warning"],
  },
  "a call by two signatures": {
    before: ({ at }) => [{ to: at.multisig, value: ether }],
    input: async (stage, who) =>
      act(who, stage.at.multisig, artifacts.Multisig, "execTransaction", [
        ...[other.address, ether / 2n, "0x"],
        ...(await bothSign(stage, other.address, ether / 2n)),
      ]),
  },
  "a launch for people alone": {
    input: ({ at }, who) => act(who, at.sale, artifacts.Sale, "buy", [], ether / 10n),
  },
  "a deposit to another chain, which burns gas": {
    input: ({ at }, who) =>
      act(who, at.portal, artifacts.Portal, "depositTransaction", [nobody, ether, 200_000n, "0x"], ether),
  },
};
