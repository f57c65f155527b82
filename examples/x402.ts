/**
 * A facilitator of x402 (scheme `exact`, ERC-3009): it says whether a payment is good, and brings it onto the chain, once. The
 * authorisation is preflighted before the signature counts, and the transaction is proven again with the signature in it.
 *
 *     PRIVATE_KEY=0x… npx tsx examples/x402.ts http://127.0.0.1:8545 payment.json
 */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Errors, Eth, type Report } from "evm-preflight";
import { createPreflight, type Defaults } from "evm-preflight/promise";
import { parseAbi, parseSignature, recoverAddress, type Address, type Hash, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** What a resource costs, as its server says. */
export interface Requirements {
  readonly scheme: string;
  readonly network: string;
  readonly asset: Address;
  readonly amount: string;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

/** What a client sends along with its request. */
export interface Payment {
  readonly accepted: { readonly scheme: string; readonly network: string };
  readonly payload: {
    readonly signature: Hex;
    readonly authorization: Readonly<Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", string>>;
  };
}

export type Verified =
  | { readonly isValid: true; readonly payer: Address }
  | { readonly isValid: false; readonly invalidReason: string };
/** `transaction` is the name of a payment: a resource is handed out once for each, however often it is settled. */
export type Settled =
  | { readonly success: true; readonly transaction: Hash }
  | { readonly success: false; readonly errorReason: string };

const fields = "address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce";
const types = {
  TransferWithAuthorization: fields.split(",").map((field) => {
    const [type = "", name = ""] = field.split(" ");
    return { name, type };
  }),
};
const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
]);

/** A payment that is mined in time has at least so many seconds left. */
const leastSeconds = 6;
/** Ms that a transaction has to be mined; after that it may still be, and is not sent again. */
const patienceMs = 60_000;
/** Warnings that stand against no payment: a node that assumes no signatures, since the signed one is proven before it is sent. */
const accepted = ["SignatureNotAssumed"];

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
/** Heads that move while something is proven leave it unknown, and nothing is sent: another proof may tell. */
const patiently = <A>(work: () => Promise<A>, tries = 4): Promise<A> =>
  work().catch((error: unknown) =>
    tries > 1 && error instanceof Errors.NotProven ? patiently(work, tries - 1) : Promise.reject(error),
  );
const isAccepted = ({ findings }: Report.Report): boolean =>
  findings.every(({ severity, code }) => severity !== "warning" || accepted.includes(code));

/** Starts a facilitator that pays the fees with `key`; `defaults` are those of its client. */
export const startFacilitator = async (
  { url, key }: { readonly url: string; readonly key: Hex },
  { settleMs, ...defaults }: Defaults & { readonly settleMs?: number } = {},
) => {
  const account = privateKeyToAccount(key);
  const preflight = createPreflight({ url }, defaults);
  const chainId = await preflight.effect(Eth.chainId);
  const lane = { chainId, address: account.address };
  await preflight.nonces.bootstrap(lane, { settleMs });
  const keeping = await preflight.nonces.keep(lane);

  /** Why a payment is not what is asked for; null where it is. */
  const mismatch = ({ accepted: chosen, payload: { authorization } }: Payment, asked: Requirements): string | null => {
    const now = Date.now() / 1_000;
    const validBefore = Number(authorization.validBefore);
    if (![asked, chosen].every(({ scheme }) => scheme === "exact")) return "the scheme is not exact";
    if (![asked, chosen].every(({ network }) => network === `eip155:${chainId}`)) return "the network is another one";
    if (!/^\d+$/.test(asked.amount) || authorization.value !== asked.amount) return "the amount is another one";
    if (!isSame(authorization.to, asked.payTo)) return "the payee is another one";
    if (!(Number(authorization.validAfter) < now)) return "it is not valid yet";
    if (!(validBefore >= now + leastSeconds)) return "it has expired, or is about to";
    return validBefore > now + asked.maxTimeoutSeconds + leastSeconds ? "it is valid for longer than was asked" : null;
  };

  const verify = async (payment: Payment, asked: Requirements): Promise<Verified> => {
    try {
      const invalidReason = mismatch(payment, asked);
      if (invalidReason !== null) return { isValid: false, invalidReason };
      const { authorization: message, signature } = payment.payload;
      const domain = { ...asked.extra, chainId, verifyingContract: asked.asset };
      const payer = message.from as Address;
      const typedData = { domain, types, primaryType: "TransferWithAuthorization", message };
      const [report, { signs }] = await patiently(async () => {
        const made = await preflight.signature({ typedData, signer: payer });
        return [made, await preflight.ready(made)] as const;
      });
      if (!isAccepted(report)) return { isValid: false, invalidReason: report.because };
      // what was proven is the digest; that it is signed is still to be seen
      const signers = await Promise.all(signs.map(({ digest }) => recoverAddress({ hash: digest, signature })));
      const isSigned = signers.length === 1 && signers.every((signer) => isSame(signer, payer));
      return isSigned ? { isValid: true, payer } : { isValid: false, invalidReason: "the payer did not sign it" };
    } catch (error) {
      return { isValid: false, invalidReason: reasonOf(error) };
    }
  };

  const deliver = preflight.deliver((request) => account.signTransaction(request));
  const pay = async ({ payload: { authorization, signature } }: Payment, { asset }: Requirements): Promise<Settled> => {
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    const { r, s, yParity } = parseSignature(signature);
    const numbers = [BigInt(value), BigInt(validAfter), BigInt(validBefore)] as const;
    const args = [from as Address, to as Address, ...numbers, nonce as Hex, 27 + yParity, r, s] as const;
    const call = { from: account.address, to: asset, abi, functionName: "transferWithAuthorization", args } as const;
    const delivering = () => deliver(call, { waitMs: patienceMs, onCaution: isAccepted });
    const [sent] = (await patiently(delivering)).sent;
    for (const until = Date.now() + patienceMs; sent !== undefined && Date.now() < until; await sleep(250)) {
      const receipt = await preflight.effect(Eth.getTransactionReceipt({ hash: sent.hash })).catch(() => null);
      if (receipt?.status === "success") return { success: true, transaction: sent.hash };
      if (receipt?.status === "failure") return { success: false, errorReason: `reverted: ${sent.hash}` };
    }
    return { success: false, errorReason: `sent, and not mined yet: ${sent?.hash}` };
  };

  /** Payments in flight and done, by payer and nonce. A facilitator of several processes keeps them in its database. */
  const payments = new Map<string, { readonly signature: Hex; readonly settled: Promise<Settled> }>();

  const settle = async (payment: Payment, asked: Requirements): Promise<Settled> => {
    const wrong = mismatch(payment, asked);
    if (wrong !== null) return { success: false, errorReason: wrong };
    const { authorization, signature } = payment.payload;
    const name = [asked.asset, authorization.from, authorization.nonce].join().toLowerCase();
    const verified = payments.has(name) ? null : await verify(payment, asked);
    // another may have come first while this one was verified; what nobody signed takes no place
    const before = payments.get(name);
    if (before !== undefined)
      return isSame(before.signature, signature)
        ? before.settled
        : { success: false, errorReason: "its nonce is another payment's" };
    if (verified?.isValid !== true) return { success: false, errorReason: verified?.invalidReason ?? "not verified" };
    const settled = pay(payment, asked).catch((error: unknown): Settled => {
      // what may yet be mined is never sent again
      if ((error as { readonly mayBeSent?: boolean }).mayBeSent !== true) payments.delete(name);
      return { success: false, errorReason: reasonOf(error) };
    });
    payments.set(name, { signature, settled });
    return settled;
  };

  const stop = async () => {
    await keeping.stop();
    await preflight.dispose();
  };
  return { verify, settle, [Symbol.asyncDispose]: stop };
};

const main = async () => {
  const [url = "http://127.0.0.1:8545", file] = process.argv.slice(2);
  const key = process.env["PRIVATE_KEY"];
  if (file === undefined || key === undefined) {
    console.error(
      "Verifies and settles a payment of x402, { paymentPayload, paymentRequirements } in a file. Usage: PRIVATE_KEY=0x… npx tsx x402.ts URL FILE",
    );
    process.exitCode = 64;
    return;
  }
  const { paymentPayload, paymentRequirements } = JSON.parse(await readFile(file, "utf8")) as {
    readonly paymentPayload: Payment;
    readonly paymentRequirements: Requirements;
  };
  await using facilitator = await startFacilitator({ url, key: key as Hex });
  const verified = await facilitator.verify(paymentPayload, paymentRequirements);
  console.log(
    verified,
    verified.isValid ? await facilitator.settle(paymentPayload, paymentRequirements) : "not settled",
  );
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) void main();
