/** Who gets rights over what, and what policies make of it. */
import { encodeAbiParameters, keccak256, parseAbiParameters, toHex, type Hex } from "viem";
import * as Policy from "../../../src/Policy.js";
import * as artifacts from "../../contracts/artifacts.js";
import { owner } from "../../preflight/scene.js";
import { view } from "../../preflight/troupe.js";
import { onAnvil, proven, provenWith, scanned, type Asks, type Case } from "../cases.js";
import { me, people, they, you, type Stage } from "../stage.js";
import { call } from "./movements.js";

const zero = "0x0000000000000000000000000000000000000000";
const unlimited = 2n ** 256n - 1n;
/** In the year 2096. */
const far = 4_000_000_000n;

const hash = (text: string) => keccak256(toHex(text));
const signed = async (separator: Hex, struct: Hex) => {
  const signature = await owner.sign({ hash: keccak256(`0x1901${separator.slice(2)}${struct.slice(2)}`) });
  return {
    signature,
    parts: [Number(`0x${signature.slice(130)}`), signature.slice(0, 66), `0x${signature.slice(66, 130)}`],
  };
};
const separatorOf = async ({ scene }: Stage, to: Hex) =>
  (await view(scene, artifacts.Permit2, to, "DOMAIN_SEPARATOR", [])) as Hex;

const eip2612 = async (stage: Stage) => {
  const to = stage.at("permitToken");
  const struct = encodeAbiParameters(parseAbiParameters("bytes32, address, address, uint256, uint256, uint256"), [
    hash("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"),
    ...([me, stage.t.vault, 21n, 0n, far] as const),
  ]);
  const { parts } = await signed(await separatorOf(stage, to), keccak256(struct));
  return { ...call(to, artifacts.PermitToken, "permit", [me, stage.t.vault, 21n, far, ...parts]), from: you };
};

const dai = async (stage: Stage) => {
  const to = stage.at("daiToken");
  const struct = encodeAbiParameters(parseAbiParameters("bytes32, address, address, uint256, uint256, bool"), [
    hash("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)"),
    ...([me, stage.t.vault, 0n, far, true] as const),
  ]);
  const { parts } = await signed(await separatorOf(stage, to), keccak256(struct));
  return { ...call(to, artifacts.DaiToken, "permit", [me, stage.t.vault, 0n, far, true, ...parts]), from: you };
};

const permit2 = async (stage: Stage) => {
  const { token, vault, permit2: to } = stage.t;
  const type = "PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)";
  const details = { token, amount: 31n, expiration: Number(far), nonce: 0 };
  const inner = encodeAbiParameters(parseAbiParameters("bytes32, address, uint160, uint48, uint48"), [
    hash(type),
    ...([token, details.amount, details.expiration, details.nonce] as const),
  ]);
  const struct = encodeAbiParameters(parseAbiParameters("bytes32, bytes32, address, uint256"), [
    hash(`PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)${type}`),
    ...([keccak256(inner), vault, far] as const),
  ]);
  const { signature } = await signed(await separatorOf(stage, to), keccak256(struct));
  const single = { details, spender: vault, sigDeadline: far };
  return { ...call(to, artifacts.Permit2, "permit", [me, single, signature]), from: you };
};

const approve = ({ t }: Stage, spender: Hex, amount: bigint) =>
  call(t.token, artifacts.Token, "approve", [spender, amount]);

const approvals = {
  "of an amount": (stage) => approve(stage, stage.t.vault, 5n),
  "without limit": (stage) => approve(stage, stage.t.vault, unlimited),
  "to an account": (stage) => approve(stage, they, 5n),
  "to a delegated account": (stage) => approve(stage, people.delegated.address, 5n),
  "taken back": (stage) => approve(stage, stage.at("swap"), 0n),
  increased: (stage) => [
    approve(stage, stage.t.vault, 5n),
    call(stage.t.token, artifacts.Token, "increaseAllowance", [stage.t.vault, 6n]),
  ],
  "without an event": ({ t }) => call(t.silent, artifacts.SilentToken, "approve", [t.vault, 4n]),
  "with an event like an ERC-721's": ({ t }) => call(t.indexed, artifacts.IndexedToken, "approve", [t.vault, 9n]),
  "all of it spent": (stage) => [
    approve(stage, stage.t.vault, 60n),
    call(stage.t.vault, artifacts.Vault, "deposit", [stage.t.token, 60n]),
  ],
  "some of it left over": (stage) => [
    approve(stage, stage.t.vault, 100n),
    call(stage.t.vault, artifacts.Vault, "deposit", [stage.t.token, 60n]),
  ],
  "of one ERC-721": ({ t }) => call(t.nft, artifacts.Nft, "approve", [t.vault, 1n]),
  "of one ERC-721, taken back": ({ t }) => [
    call(t.nft, artifacts.Nft, "approve", [t.vault, 1n]),
    call(t.nft, artifacts.Nft, "approve", [zero, 1n]),
  ],
  "of an operator of ERC-721s": ({ t }) => call(t.nft, artifacts.Nft, "setApprovalForAll", [t.vault, true]),
  "of an operator of ERC-1155s": ({ t }) => call(t.multi, artifacts.Multi, "setApprovalForAll", [t.vault, true]),
  "in Permit2": ({ t }) => call(t.permit2, artifacts.Permit2, "approve", [t.token, t.vault, 12n, Number(far)]),
  "in Permit2, locked down again": ({ t }) => [
    call(t.permit2, artifacts.Permit2, "approve", [t.token, t.vault, 12n, Number(far)]),
    call(t.permit2, artifacts.Permit2, "lockdown", [[{ token: t.token, spender: t.vault }]]),
  ],
  "in Permit2, expired": ({ t }) => call(t.permit2, artifacts.Permit2, "approve", [t.token, t.vault, 12n, 1]),
  "in Permit2, spent by a contract": ({ t }) => [
    call(t.permit2, artifacts.Permit2, "approve", [t.token, t.permit2Spender, 12n, Number(far)]),
    call(t.permit2Spender, artifacts.Permit2Spender, "pull", [t.permit2, me, you, 12n, t.token]),
  ],
  "by signature (EIP-2612)": eip2612,
  "by signature (DAI)": dai,
  "by signature (Permit2)": permit2,
} satisfies Asks;

const role = `0x${"11".repeat(32)}`;
const control: Asks = {
  "ownership given away": ({ at }) => call(at("owned"), artifacts.Owned, "transferOwnership", [you]),
  "ownership offered": ({ at }) => call(at("owned"), artifacts.Owned, "startTransfer", [you]),
  "ownership renounced": ({ at }) => call(at("owned"), artifacts.Owned, "renounceOwnership"),
  "a role for another": ({ at }) => call(at("roles"), artifacts.Roles, "grantRole", [role, you]),
  "a role for oneself": ({ at }) => call(at("roles"), artifacts.Roles, "grantRole", [role, me]),
  "a role taken away": ({ at }) => call(at("roles"), artifacts.Roles, "revokeRole", [role, you]),
  "a proxy upgraded": ({ at, t }) => call(at("proxy"), artifacts.Proxy, "upgradeTo", [t.token]),
  "a proxy's admin": ({ at }) => call(at("proxy"), artifacts.Proxy, "changeAdmin", [you]),
  "a Safe's owner and threshold": ({ at }) => call(at("safe"), artifacts.Safe, "addOwnerWithThreshold", [you, 2n]),
  "a Safe's module": ({ at }) => call(at("safe"), artifacts.Safe, "enableModule", [you]),
  "a Safe's older events": ({ at }) => call(at("safe"), artifacts.Safe, "legacyEvents", [you]),
};

const transfer = ({ t }: Stage) => call(t.token, artifacts.Token, "transfer", [you, 100n]);
const policies: Parameters<typeof provenWith>[1] = {
  "most spent, held": (stage) => [transfer(stage), { policies: [Policy.maxSpent(stage.t.token, 100n)] }],
  "most spent, violated": (stage) => [transfer(stage), { policies: [Policy.maxSpent(stage.t.token, 99n)] }],
  "most spent of what no event names": ({ t }) => [
    call(t.silent, artifacts.SilentToken, "transfer", [you, 7n]),
    { policies: [Policy.maxSpent(t.silent, 6n)] },
  ],
  "most spent of what is no token": (stage) => [transfer(stage), { policies: [Policy.maxSpent(they, 0n)] }],
  "least received, held": (stage) => [transfer(stage), { policies: [Policy.minReceived(stage.t.token, 100n, you)] }],
  "least received, violated by a fee": ({ t }) => [
    call(t.fee, artifacts.FeeToken, "transfer", [you, 1000n]),
    { policies: [Policy.minReceived(t.fee, 1000n, you)] },
  ],
  "touches, held": (stage) => [
    transfer(stage),
    { policies: [Policy.onlyTouches([stage.t.token, you]), Policy.maxGas(200_000n)] },
  ],
  "touches, violated": (stage) => [transfer(stage), { policies: [Policy.onlyTouches([stage.t.token])] }],
  "fee and gas, violated": (stage) => [transfer(stage), { policies: [Policy.maxFee(1n), Policy.maxGas(1n)] }],
  "new approvals, violated": (stage) => [approve(stage, stage.t.vault, 5n), { policies: [Policy.noNewApprovals] }],
  "unlimited approvals, held": (stage) => [
    approve(stage, stage.t.vault, 5n),
    { policies: [Policy.noUnlimitedApprovals] },
  ],
  "unlimited approvals, violated": ({ t }) => [
    call(t.nft, artifacts.Nft, "setApprovalForAll", [t.vault, true]),
    { policies: [Policy.noUnlimitedApprovals] },
  ],
  "delegated accounts, violated": () => [
    { from: owner.address, to: people.delegated.address, value: 1n },
    { policies: [Policy.denyDelegated] },
  ],
  "all and any": (stage) => [
    transfer(stage),
    {
      policies: [
        Policy.all(Policy.maxSpent("native", 0n), Policy.noNewApprovals),
        Policy.any(Policy.maxFee(1n), Policy.maxSpent(stage.t.token, 99n)),
      ],
    },
  ],
  "of one's own, held and violated": (stage) => [
    transfer(stage),
    { policies: [Policy.make("fine", () => Policy.pass), Policy.make("no", () => Policy.fail("no"))] },
  ],
  "of one's own, throwing": (stage) => [
    transfer(stage),
    {
      policies: [
        Policy.make("throws", () => {
          throw new Error("broken");
        }),
      ],
    },
  ],
};

export const rights: ReadonlyArray<Case> = [
  ...proven("approval", approvals),
  ...scanned("approval", {
    "without limit": approvals["without limit"],
    "some of it left over": approvals["some of it left over"],
    "by signature (Permit2)": permit2,
  }),
  ...onAnvil(proven("control", control)),
  ...onAnvil(provenWith("policy", policies)),
  ...scanned("policy", { "most spent": transfer }, ({ t }) => ({
    policies: [Policy.maxSpent(t.token, 99n), Policy.maxSpent("native", 0n)],
  })),
];
