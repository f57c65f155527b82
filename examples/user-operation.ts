/**
 * A user operation before its account signs it: viem's smart account and bundler client fill it in, the library proves it, and only
 * then is it signed and handed to the bundler.
 *
 *     PRIVATE_KEY=0x… npx tsx examples/user-operation.ts http://127.0.0.1:8545 http://127.0.0.1:4337 0xTO
 */
import { pathToFileURL } from "node:url";
import { Errors, Report } from "evm-preflight";
import { preflightActions } from "evm-preflight/viem";
import { createPublicClient, defineChain, http } from "viem";
import type { Address, Hex, PublicClient, Transport } from "viem";
import {
  createBundlerClient,
  formatUserOperationRequest,
  toSimple7702SmartAccount,
  type SmartAccount,
} from "viem/account-abstraction";
import { privateKeyToAccount } from "viem/accounts";

/** The hash by which the operation's receipt is asked, or why it was not sent. */
export type Sent = { readonly userOpHash: Hex } | { readonly refused: string };

/** Has the calls filled in, proves the operation, says what it does, and sends it. `signer`: whose key signs for the account. */
export const sendOperation = async (
  {
    client,
    bundler,
    account,
    signer,
  }: {
    readonly client: PublicClient;
    readonly bundler: Transport;
    readonly account: SmartAccount;
    readonly signer: Address;
  },
  calls: ReadonlyArray<{ readonly to: Address; readonly value?: bigint; readonly data?: Hex }>,
  say: (text: string) => void = console.log,
): Promise<Sent> => {
  const bundlerClient = createBundlerClient({ client, transport: bundler, account });
  const prepared = await bundlerClient.prepareUserOperation({ calls: [...calls] });
  // the account's own form of a signature, which no key has given
  const operation = { ...prepared, signature: await account.getStubSignature() };
  // viem's own field of it is none of an operation
  const { account: _, ...fields } = { account: null, ...operation };
  const { preflightUserOperation, ready } = client.extend(preflightActions());
  const entryPoint = account.entryPoint.address;
  const report = await preflightUserOperation({ entryPoint, operation: fields, signer });
  say(Report.toText(report));
  if (report.verdict === "blocked" || report.verdict === "unknown") return { refused: report.because };
  const [sign] = (await ready(report)).signs;
  const signature = await account.signUserOperation(operation as never);
  try {
    const params = [formatUserOperationRequest({ ...operation, signature } as never), entryPoint] as const;
    const userOpHash = await bundlerClient.request({ method: "eth_sendUserOperation", params: [...params] } as never);
    // what the bundler took is what was proven
    return userOpHash === sign?.digest ? { userOpHash } : { refused: "the bundler took another operation" };
  } catch (error) {
    const refusal = Errors.bundlerErrorOf(error);
    return { refused: refusal?.detail ?? (error instanceof Error ? error.message : String(error)) };
  }
};

const main = async () => {
  const [url = "http://127.0.0.1:8545", bundlerUrl, to] = process.argv.slice(2);
  const key = process.env["PRIVATE_KEY"];
  if (bundlerUrl === undefined || to === undefined || key === undefined) {
    console.error("Sends 1 wei. Usage: PRIVATE_KEY=0x… npx tsx user-operation.ts URL BUNDLER TO");
    process.exitCode = 64;
    return;
  }
  const owner = privateKeyToAccount(key as Hex);
  const transport = http(url);
  const id = await createPublicClient({ transport }).getChainId();
  const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chain = defineChain({ id, name: String(id), nativeCurrency, rpcUrls: { default: { http: [url] } } });
  const client = createPublicClient({ chain, transport });
  // a key that delegates to Simple7702Account signs for itself
  const account = await toSimple7702SmartAccount({ client, owner });
  const by = { client, bundler: http(bundlerUrl), account, signer: owner.address };
  console.log(await sendOperation(by, [{ to: to as Address, value: 1n }]));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
