/**
 * A Safe's transaction before an owner signs it: what it does, whether its hash is the one that was said, and who has to sign. The
 * file is what the Safe's transaction service gives, or `{ safe, to, value, data, … }`.
 *
 *     PRIVATE_KEY=0x… npx tsx examples/safe.ts http://127.0.0.1:8545 transaction.json
 */
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";
import type { Address, Hex, PrivateKeyAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** An owner's signature, as the transaction service takes it, or why none was given. */
export type Signed =
  | { readonly owner: Address; readonly safeTxHash: Hex; readonly signature: Hex }
  | { readonly refused: string };

/** Proves the transaction, says what it does, and signs it as this owner, if the owner's signature is still missing. */
export const signForSafe = async (
  url: string,
  transaction: { readonly safe: Address },
  owner: PrivateKeyAccount,
  say: (text: string) => void = console.log,
): Promise<Signed> => {
  const preflight = createPreflight({ url });
  try {
    const report = await preflight.safeTransaction({ safe: transaction.safe, transaction });
    say(Report.toText(report));
    if (report.verdict !== "ready") return { refused: report.because };
    const { signs } = await preflight.ready(report);
    const sign = signs.find(({ signer }) => signer === owner.address.toLowerCase());
    if (sign?.kind !== "typedData") return { refused: `${owner.address} has not to sign it` };
    // what was proven is signed, and nothing of the file
    const signature = await owner.signTypedData(sign.typedData as never);
    return { owner: owner.address, safeTxHash: sign.digest, signature };
  } finally {
    await preflight.dispose();
  }
};

const main = async () => {
  const [url = "http://127.0.0.1:8545", file] = process.argv.slice(2);
  const key = process.env["PRIVATE_KEY"];
  if (file === undefined || key === undefined) {
    console.error("Signs a Safe's transaction. Usage: PRIVATE_KEY=0x… npx tsx safe.ts URL FILE");
    process.exitCode = 64;
    return;
  }
  const transaction = JSON.parse(await readFile(file, "utf8")) as { readonly safe: Address };
  console.log(await signForSafe(url, transaction, privateKeyToAccount(key as Hex)));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
