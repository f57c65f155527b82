/** What moves: ether, tokens, NFTs, and events that say otherwise. */
import type { Abi, Hex } from "viem";
import * as artifacts from "../../contracts/artifacts.js";
import { calldata, nobody, other, owner } from "../../preflight/scene.js";
import { onAnvil, proven, scanned, type Asks, type Case } from "../cases.js";
import { hostileModes, me, people, they, you, type Stage } from "../stage.js";

/** A call of the first account. */
export const call = (
  to: Hex,
  artifact: { readonly abi: Abi },
  functionName: string,
  args: ReadonlyArray<unknown> = [],
) => ({ from: me, to, data: calldata(artifact, functionName, args) });

const ether = {
  "to somebody": () => ({ from: owner.address, to: other.address, value: 10n ** 17n }),
  "to a new account": () => ({ from: owner.address, to: people.fresh.address, value: 5n }),
  "to oneself": () => ({ from: owner.address, to: owner.address, value: 5n }),
  "of nothing": () => ({ from: owner.address, to: nobody }),
  "to a contract that takes it": ({ t }) => ({ from: owner.address, to: t.aggregator, value: 7n }),
  "to a precompile": () => ({ from: owner.address, to: "0x0000000000000000000000000000000000000004", value: 7n }),
  "split by a contract": ({ t }) => ({
    ...call(t.splitter, artifacts.Splitter, "split", [[you, they]]),
    value: 10n,
  }),
  "undone in an inner frame": ({ t }) => ({
    ...call(t.splitter, artifacts.Splitter, "splitAndUndo", [they]),
    value: 8n,
  }),
  "by self-destruction": ({ t }) => ({ ...call(t.destruct, artifacts.DestructFactory, "run", [they]), value: 6n }),
  wrapped: ({ t }) => ({ ...call(t.weth, artifacts.WETH9, "deposit"), value: 3n }),
  unwrapped: ({ t }) => call(t.weth, artifacts.WETH9, "withdraw", [3n]),
} satisfies Asks;

const tokens = {
  "through its ABI": ({ t }) => ({
    ...{ from: owner.address, to: t.token, abi: artifacts.Token.abi, functionName: "transfer" },
    args: [other.address, 1_234n],
  }),
  "as calldata": ({ t }) => call(t.token, artifacts.Token, "transfer", [you, 5n]),
  "with bytes32 names": ({ t }) => call(t.bytes32, artifacts.Bytes32Token, "transfer", [you, 5n]),
  "that returns nothing": ({ t }) => call(t.noReturn, artifacts.NoReturnToken, "transfer", [you, 5n]),
  "with dirty topics": ({ t }) => call(t.spoof, artifacts.SpoofToken, "dirty", [you, 5n]),
  "with events like an ERC-721's": ({ t }) => call(t.indexed, artifacts.IndexedToken, "transfer", [you, 5n]),
  minted: ({ t }) => call(t.token, artifacts.Token, "mint", [they, 9n]),
  burned: ({ t }) => call(t.token, artifacts.Token, "burn", [9n]),
  swapped: ({ at }) => call(at("swap"), artifacts.Swap, "swap", [1000n, 1n, 4_000_000_000n]),
} satisfies Asks;

const nfts = {
  "an ERC-721 moved": ({ t }) => call(t.nft, artifacts.Nft, "transferFrom", [me, you, 1n]),
  "an ERC-721 minted": ({ t }) => call(t.nft, artifacts.Nft, "mint", [me, 77n]),
  "an ERC-721 burned": ({ t }) => call(t.nft, artifacts.Nft, "burn", [2n]),
  "an ERC-721 into a contract that refuses it": ({ t }) => ({
    ...{ from: me, to: t.nft, abi: artifacts.Nft.abi, functionName: "safeTransferFrom" },
    args: [me, t.vault, 1n],
  }),
  "an ERC-1155 moved": ({ t }) => call(t.multi, artifacts.Multi, "safeTransferFrom", [me, you, 1n, 3n, "0x"]),
  "an ERC-1155 batch": ({ t }) =>
    call(t.multi, artifacts.Multi, "safeBatchTransferFrom", [me, you, [1n, 2n, 1n], [3n, 4n, 5n], "0x"]),
  "an ERC-1155 burned": ({ t }) => call(t.multi, artifacts.Multi, "burn", [2n, 10n]),
} satisfies Asks;

const parties = Array.from({ length: 400 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, "c")}`);

const lies = {
  "a fee on transfer": ({ t }) => call(t.fee, artifacts.FeeToken, "transfer", [you, 1000n]),
  "a rebase": ({ t }) => call(t.rebasing, artifacts.RebasingToken, "rebase", [2n * 10n ** 18n]),
  "a transfer that rebases": ({ t }) => call(t.rebasing, artifacts.RebasingToken, "transfer", [you, 1000n]),
  "a spoofed airdrop": ({ t }) => call(t.spoof, artifacts.SpoofToken, "airdrop", [t.vault, [me, you], 50n]),
  "an airdrop to more parties than are measured": ({ t }) =>
    call(t.spoof, artifacts.SpoofToken, "airdrop", [me, parties, 5n]),
  "an understated transfer": ({ t }) => call(t.spoof, artifacts.SpoofToken, "understate", [you]),
  "a silent token": ({ t }) => call(t.silent, artifacts.SilentToken, "transfer", [you, 7n]),
  "a silent token, taken by somebody else": ({ t }) => [
    call(t.silent, artifacts.SilentToken, "approve", [t.vault, 9n]),
    call(t.vault, artifacts.Vault, "deposit", [t.silent, 9n]),
  ],
} satisfies Asks;

const hostile = (mode: string) => (stage: Stage) => [
  call(stage.at(`hostile ${mode}`), artifacts.HostileToken, "transferPrimed", [you, 3n]),
  call(stage.t.token, artifacts.Token, "transfer", [you, 5n]),
];

/** These answer with the address of who asks, or the gas they have left: what is measured there is random. */
const unsteady = ["PerCaller", "PerGas"];

const hostiles: Asks = Object.fromEntries(
  hostileModes.filter((mode) => !unsteady.includes(mode)).map((mode) => [mode, hostile(mode)]),
);

export const movements: ReadonlyArray<Case> = [
  ...proven("ether", ether),
  ...scanned("ether", { "to somebody": ether["to somebody"], "split by a contract": ether["split by a contract"] }),
  ...proven("token", tokens),
  ...scanned("token", {
    "through its ABI": tokens["through its ABI"],
    "with events like an ERC-721's": tokens["with events like an ERC-721's"],
  }),
  ...proven("nft", nfts),
  ...scanned("nft", { "an ERC-1155 batch": nfts["an ERC-1155 batch"] }),
  ...proven("events that disagree", lies),
  ...scanned("events that disagree", { "a fee on transfer": lies["a fee on transfer"] }),
  ...onAnvil(proven("hostile token beside an honest one", hostiles)),
];
