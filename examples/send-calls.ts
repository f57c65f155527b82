/**
 * Several calls as one: an approval and what needs it, sent by viem's `sendCalls` (EIP-5792) once they were proven. An account that
 * is delegated makes them in one transaction, or none of them; of any other account they are one transaction each.
 *
 *     PRIVATE_KEY=0x… npx tsx examples/send-calls.ts http://127.0.0.1:8545 calls.json
 */
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { Report } from "evm-preflight";
import { guard, preflightActions } from "evm-preflight/viem";
import { createPublicClient, createWalletClient, defineChain, http, publicActions } from "viem";
import type { Address, Chain, Hex, Transport } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** A call as a file has it: wei as hex. */
export interface Call {
  readonly to: Address;
  readonly value?: Hex;
  readonly data?: Hex;
}

/** The id by which the calls' status is asked, or why nothing was sent; `isOne` = all of them have to succeed, or none is made. */
export type Sent = { readonly id: string; readonly isOne: boolean } | { readonly refused: string };

/** Warnings that an approval is given, and that some of it stays: that is what such calls are for. */
const accepted = ["ApprovalGranted", "ApprovalLeftOver"];
const isAccepted = ({ severity, code }: Report.Finding): boolean => severity !== "warning" || accepted.includes(code);

/** Proves the calls, says what they do, and sends them. Where the account is delegated, they are sent as one. */
export const sendCalls = async (
  { chain, transport, key }: { readonly chain: Chain; readonly transport: Transport; readonly key: Hex },
  calls: ReadonlyArray<Call>,
  say: (text: string) => void = console.log,
): Promise<Sent> => {
  const account = privateKeyToAccount(key);
  const wallet = createWalletClient({ account, chain, transport }).extend(publicActions);
  const report = await wallet.extend(preflightActions()).preflightCalls({ calls });
  say(Report.toText(report));
  if (report.verdict === "blocked" || report.verdict === "unknown") return { refused: report.because };
  const [{ input }] = report.transactions;
  const isOne = input.to === input.from;
  // the guard proves what is sent once more, and signs nothing else
  const guarded = guard(wallet, { onCaution: ({ findings }) => findings.every(isAccepted) });
  try {
    const asked = calls.map(({ value = "0x0", ...call }) => ({ ...call, value: BigInt(value) }));
    const { id } = await guarded.sendCalls({ calls: asked, forceAtomic: isOne });
    return { id, isOne };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { refused: cause instanceof Error ? cause.message : String(cause) };
  }
};

const main = async () => {
  const [url = "http://127.0.0.1:8545", file] = process.argv.slice(2);
  const key = process.env["PRIVATE_KEY"];
  if (file === undefined || key === undefined) {
    console.error("Sends several calls as one. Usage: PRIVATE_KEY=0x… npx tsx send-calls.ts URL FILE");
    process.exitCode = 64;
    return;
  }
  const calls = JSON.parse(await readFile(file, "utf8")) as ReadonlyArray<Call>;
  const transport = http(url);
  const id = await createPublicClient({ transport }).getChainId();
  const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chain = defineChain({ id, name: String(id), nativeCurrency, rpcUrls: { default: { http: [url] } } });
  console.log(await sendCalls({ chain, transport, key: key as Hex }, calls));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
