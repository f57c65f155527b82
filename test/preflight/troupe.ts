/** The fixtures of the asset tests on one node, and what the chain itself says of balances and rights. */
import {
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Abi,
  type Hex,
} from "viem";
import type { Report } from "../../src/Report.js";
import * as artifacts from "../contracts/artifacts.js";
import { calldata, other, owner, type Scene } from "./scene.js";

export interface Troupe {
  readonly token: Hex;
  readonly fee: Hex;
  readonly rebasing: Hex;
  readonly spoof: Hex;
  readonly silent: Hex;
  readonly bytes32: Hex;
  readonly noReturn: Hex;
  readonly indexed: Hex;
  readonly weth: Hex;
  readonly nft: Hex;
  readonly multi: Hex;
  readonly vault: Hex;
  readonly splitter: Hex;
  readonly destruct: Hex;
  readonly permit2: Hex;
  readonly permit2Spender: Hex;
  readonly aggregator: Hex;
}

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

/** Sends from one account without waiting: everything is mined together by `mined`. */
export const sendingFrom = async (scene: Scene, account = owner) => {
  let nonce = Number(await scene.ask("eth_getTransactionCount", [account.address, "latest"]));
  const send = async (transaction: { readonly to?: Hex; readonly data?: Hex; readonly value?: bigint }) => {
    await scene.broadcast(
      await account.signTransaction({
        type: "eip1559",
        chainId: scene.chainId,
        ...transaction,
        nonce: nonce++,
        gas: 2_500_000n,
        maxFeePerGas: 20_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
      }),
    );
  };
  const deploy = async ({ abi, bytecode }: Artifact, args: ReadonlyArray<unknown> = []): Promise<Hex> => {
    const at = getContractAddress({ from: account.address, nonce: BigInt(nonce) }).toLowerCase() as Hex;
    await send({ data: encodeDeployData({ abi, bytecode, args: [...args] }) });
    return at;
  };
  const mined = async () => {
    for (let tries = 0; tries < 20; tries++) {
      await scene.mine();
      if (Number(await scene.ask("eth_getTransactionCount", [account.address, "latest"])) === nonce) return;
    }
    throw new Error("not everything was mined");
  };
  return { send, deploy, mined };
};

/** Deploys everything, and gives the first two accounts something of each. */
export const gather = async (scene: Scene): Promise<Troupe> => {
  const { send, deploy, mined } = await sendingFrom(scene);
  const troupe: Troupe = {
    token: await deploy(artifacts.Token, ["Gold", "GLD", 18]),
    fee: await deploy(artifacts.FeeToken),
    rebasing: await deploy(artifacts.RebasingToken),
    spoof: await deploy(artifacts.SpoofToken),
    silent: await deploy(artifacts.SilentToken),
    bytes32: await deploy(artifacts.Bytes32Token),
    noReturn: await deploy(artifacts.NoReturnToken),
    indexed: await deploy(artifacts.IndexedToken),
    weth: await deploy(artifacts.WETH9),
    nft: await deploy(artifacts.Nft),
    multi: await deploy(artifacts.Multi),
    vault: await deploy(artifacts.Vault),
    splitter: await deploy(artifacts.Splitter),
    destruct: await deploy(artifacts.DestructFactory),
    permit2: await deploy(artifacts.Permit2),
    permit2Spender: await deploy(artifacts.Permit2Spender),
    aggregator: await deploy(artifacts.Aggregator),
  };
  await mined();
  const { token, fee, rebasing, spoof, silent, bytes32, noReturn, indexed, weth, nft, multi } = troupe;
  for (const [index, account] of [owner.address, other.address].entries()) {
    for (const to of [token, fee, rebasing, spoof, silent, bytes32, noReturn, indexed])
      await send({ to, data: calldata(artifacts.Token, "mint", [account, 1_000_000n]) });
    for (const id of [1n, 2n, 3n])
      await send({ to: nft, data: calldata(artifacts.Nft, "mint", [account, id + 10n * BigInt(index)]) });
    for (const id of [1n, 2n]) await send({ to: multi, data: calldata(artifacts.Multi, "mint", [account, id, 1000n]) });
  }
  await send({ to: weth, data: calldata(artifacts.WETH9, "deposit"), value: 10_000n });
  await mined();
  return troupe;
};

const latest = "latest";

/** `eth_call` of a view function; null where it reverts. */
export const view = async (
  scene: Scene,
  artifact: { readonly abi: Abi },
  to: Hex,
  functionName: string,
  args: ReadonlyArray<unknown>,
  block: string = latest,
): Promise<unknown> => {
  const data = encodeFunctionData({ abi: artifact.abi, functionName, args: [...args] });
  const returned = await scene.ask("eth_call", [{ to, data }, block]).catch(() => null);
  return returned === null ? null : decodeFunctionResult({ abi: artifact.abi, functionName, data: returned as Hex });
};

/** What the chain says that an account holds of what a balance change is about. */
export const heldOf = async (
  scene: Scene,
  { multi }: Pick<Troupe, "multi">,
  { account, token, tokenId }: Report["balanceChanges"][number],
  block: string = latest,
): Promise<bigint> => {
  if (token === null) return scene.balance(account, block);
  if (tokenId === null)
    return (await view(scene, artifacts.Token, token as Hex, "balanceOf", [account], block)) as bigint;
  if (token === multi)
    return (await view(scene, artifacts.Multi, multi, "balanceOf", [account, tokenId], block)) as bigint;
  const holder = (await view(scene, artifacts.Nft, token as Hex, "ownerOf", [tokenId], block)) as string | null;
  return holder?.toLowerCase() === account ? 1n : 0n;
};

/** What the chain says that an approval is worth. */
export const grantedOf = async (
  scene: Scene,
  { permit2 }: Troupe,
  { standard, token, owner: by, spender, tokenId }: Report["approvals"][number],
  block: string = latest,
): Promise<bigint> => {
  if (standard === "permit2") {
    const [amount] = (await view(scene, artifacts.Permit2, permit2, "allowance", [by, token, spender], block)) as [
      bigint,
    ];
    return amount;
  }
  if (standard === "erc20")
    return (await view(scene, artifacts.Token, token as Hex, "allowance", [by, spender], block)) as bigint;
  if (tokenId === null)
    return (await view(scene, artifacts.Nft, token as Hex, "isApprovedForAll", [by, spender], block)) === true
      ? 1n
      : 0n;
  const approved = (await view(scene, artifacts.Nft, token as Hex, "getApproved", [tokenId], block)) as string | null;
  return approved?.toLowerCase() === spender ? 1n : 0n;
};
