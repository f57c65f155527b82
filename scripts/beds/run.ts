/** One node after another: what it takes, what the product says there of twelve inputs, and what became of them. */
import { spawn } from "node:child_process";
import { Report } from "evm-preflight";
import { createPreflight, type PreflightClient } from "evm-preflight/promise";
import { encodeDeployData, encodeFunctionData, getContractAddress, keccak256, parseSignature, type Hex } from "viem";
import * as artifacts from "../../test/contracts/artifacts.js";
import { rawRequest } from "../../test/harness/anvil.js";
import { owner, permitOf, stranger, texts, transactions, type Asked, type Place } from "./cases.js";
import type { Bed, Row } from "./nodes.js";

/** What became of an input: `none` = a text, which nobody sends; `no status` = in a block, and the receipt does not say how. */
export type Fate = "mined" | "reverted" | "no status" | "refused" | "not mined" | "node ended" | "none";

/** What was said of an input, and what became of it. */
export interface Said {
  readonly verdict: Report.Report["verdict"];
  /** The finding that decided. */
  readonly code: string | null;
  readonly fate: Fate;
  /** Why the node refused it, or nothing. */
  readonly why: string;
  readonly ms: number;
  readonly text: string;
}

export interface Diagnosis {
  readonly level: string;
  readonly findings: ReadonlyArray<{
    readonly id: string;
    readonly group: string;
    readonly status: string;
    readonly detail: string;
  }>;
}

/** What a run on one node showed. */
export interface Seen {
  readonly client: string | null;
  readonly diagnosis: Diagnosis;
  readonly said: Readonly<Record<string, Said>>;
  readonly errors: Readonly<Record<string, string>>;
}

/** The raw answer to a request, and its HTTP status. */
const answerOf = async (url: string, method: string, params: ReadonlyArray<unknown>) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: AbortSignal.timeout(8_000),
  });
  return (await response.json()) as { readonly result?: unknown; readonly error?: unknown };
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The first hex of some length in a value, by the path to it. */
const bytesIn = (value: unknown, path: string): string | null => {
  if (typeof value === "string") return value.length >= 10 && value.startsWith("0x") ? path : null;
  if (!isRecord(value)) return null;
  // why: hashes are named so, and no revert data
  const inner = Object.entries(value).filter(([name]) => !/hash/i.test(name));
  for (const [name, one] of inner) {
    const found = bytesIn(one, `${path}.${name.startsWith("0x") ? "HASH" : name}`);
    if (found !== null) return found;
  }
  return null;
};

/** How a refusal comes: its code, and where the bytes of a revert stand. */
const refusalOf = async (url: string, method: string, params: ReadonlyArray<unknown>): Promise<string> => {
  const { result, error } = await answerOf(url, method, params).catch((failure: unknown) => ({
    error: undefined,
    result: failure instanceof Error ? failure.name : "no answer",
  }));
  if (error === undefined) return `answers \`${String(result).slice(0, 12)}\``;
  const code = isRecord(error) && "code" in error ? String(error["code"]) : "no code";
  const place = isRecord(error) && "data" in error ? bytesIn(error["data"], "data") : null;
  return place === null ? code : `${code}, bytes in \`${place}\``;
};

const errorsOf = async (url: string, { token }: Place): Promise<Seen["errors"]> => {
  const transfer = encodeFunctionData({
    abi: artifacts.PermitToken.abi,
    functionName: "transfer",
    args: [owner.address, 10n ** 30n],
  });
  const poor = "0x70726566000000000000000000000000000000d4";
  return {
    "method that is not there": await refusalOf(url, "eth_nobodyHasThis", []),
    "call that reverts": await refusalOf(url, "eth_call", [
      { from: stranger.address, to: token, data: transfer },
      "latest",
    ]),
    "estimate for who cannot pay": await refusalOf(url, "eth_estimateGas", [
      { from: poor, to: owner.address, value: "0xde0b6b3a7640000" },
    ]),
  };
};

const diagnosisOf = (url: string): Promise<Diagnosis> =>
  new Promise((resolve, reject) => {
    const bin = new URL("../../dist/bin/evm-preflight.js", import.meta.url).pathname;
    const child = spawn(process.execPath, [bin, "doctor", "--json", url], { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.once("error", reject);
    child.once("close", () => {
      try {
        resolve(JSON.parse(text) as Diagnosis);
      } catch {
        reject(new Error(`doctor wrote no JSON: ${text.slice(0, 200)}`));
      }
    });
  });

const hexOf = (value: unknown): bigint => BigInt(String(value));
const countOf = async (url: string, address: string): Promise<number> =>
  Number(hexOf(await rawRequest(url, "eth_getTransactionCount", [address, "latest"])));

const fateOf = ({ status }: Readonly<Record<string, unknown>>): Fate =>
  status === undefined ? "no status" : Number(status) === 1 ? "mined" : "reverted";

/** What becomes of bytes that are signed now. */
const sent = async (bed: Bed, sign: () => Promise<Hex>): Promise<{ readonly fate: Fate; readonly why: string }> => {
  const isAlive = await rawRequest(bed.url, "eth_chainId").then(
    () => true,
    () => false,
  );
  if (!isAlive) return { fate: "node ended", why: "" };
  const raw = await sign();
  const { error } = await answerOf(bed.url, "eth_sendRawTransaction", [raw]).catch((failure: unknown) => ({
    error: String(failure),
  }));
  const why = error === undefined ? "" : (JSON.stringify(error) ?? "");
  await bed.mine();
  // why: a node that runs what it takes may answer with what went wrong, and have mined it
  for (let tries = 0; tries < (error === undefined ? 100 : 10); tries++) {
    const receipt = await rawRequest(bed.url, "eth_getTransactionReceipt", [keccak256(raw)]).catch(() => null);
    if (isRecord(receipt)) return { fate: fateOf(receipt), why };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { fate: error === undefined ? "not mined" : "refused", why };
};

const fees = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n } as const;

/** Signs with what a caller would choose without us. */
const signedAnyway = async (
  { url, signedFor }: Bed,
  chainId: number,
  { signer, authorizationList, ...call }: Asked,
): Promise<Hex> => {
  const nonce = call.nonce ?? (await countOf(url, signer.address));
  const request = { ...call, ...fees, chainId: signedFor ?? chainId, nonce, gas: 3_000_000n };
  return authorizationList === undefined
    ? signer.signTransaction({ ...request, type: "eip1559" })
    : signer.signTransaction({ ...request, type: "eip7702", authorizationList: [...authorizationList] });
};

/** The chain with a token and a reader of blocks on it; its first account has sent before. */
const placeOn = async (bed: Bed): Promise<Place> => {
  const chainId = Number(hexOf(await rawRequest(bed.url, "eth_chainId")));
  const put = async (call: Pick<Asked, "to" | "data">): Promise<Hex> => {
    const nonce = await countOf(bed.url, owner.address);
    const { fate, why } = await sent(bed, () => signedAnyway(bed, chainId, { signer: owner, ...call, nonce }));
    if (fate !== "mined" && fate !== "no status") throw new Error(`setting the scene: ${fate} ${why}`);
    return getContractAddress({ from: owner.address, nonce: BigInt(nonce) });
  };
  const { abi, bytecode } = artifacts.PermitToken;
  const token = await put({ data: encodeDeployData({ abi, bytecode }) });
  const reader = await put({ data: artifacts.ContextReader.bytecode });
  await put({ to: token, data: encodeFunctionData({ abi, functionName: "mint", args: [owner.address, 1_000n] }) });
  return { chainId, token, reader };
};

const decisive = { blocked: "blocker", unknown: "unavailable", caution: "warning", ready: null } as const;

const read = (report: Report.Report): Pick<Said, "verdict" | "code" | "text"> => ({
  verdict: report.verdict,
  code: report.findings.find(({ severity }) => severity === decisive[report.verdict])?.code ?? null,
  text: Report.toText(report),
});

/** A transaction, asked about and then sent: as it was cleared, else as a caller would send it. */
const transactionOn = async (
  bed: Bed,
  preflight: PreflightClient,
  { chainId }: Place,
  { signer, authorizationList, ...call }: Asked,
): Promise<Said> => {
  const input = {
    ...{ ...call, from: signer.address },
    ...(authorizationList === undefined ? {} : { authorizationList: [...authorizationList] }),
  };
  const began = performance.now();
  const report = await preflight.preflight(input);
  const ms = performance.now() - began;
  const isCleared = report.verdict === "ready" || report.verdict === "caution";
  const signed = async (): Promise<Hex> =>
    isCleared
      ? signer.signTransaction((await preflight.ready(report)).requests[0])
      : signedAnyway(bed, chainId, {
          ...{ ...call, signer },
          ...(authorizationList === undefined ? {} : { authorizationList }),
        });
  return { ...read(report), ...(await sent(bed, signed)), ms };
};

/** A permit, asked about, signed and used. */
const permitOn = async (bed: Bed, preflight: PreflightClient, place: Place): Promise<Said> => {
  const typedData = permitOf(place, BigInt(Math.floor(Date.now() / 1000)));
  const began = performance.now();
  const report = await preflight.signature({ typedData, signer: owner.address });
  const ms = performance.now() - began;
  const { r, s, yParity } = parseSignature(await owner.signTypedData(typedData));
  const { owner: from, spender, value, deadline } = typedData.message;
  const data = encodeFunctionData({
    abi: artifacts.PermitToken.abi,
    functionName: "permit",
    args: [from, spender, value, deadline, yParity + 27, r, s],
  });
  const signed = () => signedAnyway(bed, place.chainId, { signer: stranger, to: place.token, data });
  return { ...read(report), ...(await sent(bed, signed)), ms };
};

/** A text, asked about. */
const textOn = async (preflight: PreflightClient): Promise<Said> => {
  const began = performance.now();
  const report = await preflight.signature({ message: "hello", signer: owner.address });
  return { ...read(report), fate: "none", why: "", ms: performance.now() - began };
};

/** Runs `use` on a node with its contracts, and ends that. */
const on = async <A>({ start }: Row, use: (bed: Bed, place: Place) => Promise<A>): Promise<A> => {
  const bed = await start();
  try {
    return await use(bed, await placeOn(bed));
  } catch (failure) {
    console.error(bed.said?.().slice(-2_000) ?? "");
    throw failure;
  } finally {
    await bed.stop();
  }
};

type Ask = (bed: Bed, preflight: PreflightClient, place: Place) => Promise<Said>;
const inputs: ReadonlyArray<readonly [name: string, ask: Ask]> = [
  ...Object.entries(transactions).map(([name, of]): readonly [string, Ask] => [
    name,
    async (bed, preflight, place) => transactionOn(bed, preflight, place, await of(place)),
  ]),
  [texts.permit, permitOn],
  [texts.plain, (_, preflight) => textOn(preflight)],
];

/** Everything on one node; one that does not bear it is started anew for every input. */
export const seenOn = async (row: Row): Promise<Seen> => {
  const asked = async (bed: Bed, place: Place, some: typeof inputs) => {
    await using preflight = createPreflight({ url: bed.url });
    const said: Array<readonly [string, Said]> = [];
    for (const [name, ask] of some) said.push([name, await ask(bed, preflight, place)]);
    return said;
  };
  const isFragile = row.isFragile === true;
  const { said, ...traits } = await on(row, async (bed, place) => {
    const client = await rawRequest(bed.url, "web3_clientVersion").then(String, () => null);
    const diagnosis = await diagnosisOf(bed.url);
    const errors = await errorsOf(bed.url, place);
    return { client, diagnosis, errors, said: isFragile ? [] : await asked(bed, place, inputs) };
  });
  const all = [...said];
  for (const one of isFragile ? inputs : []) all.push(...(await on(row, (bed, place) => asked(bed, place, [one]))));
  return { ...traits, said: Object.fromEntries(all) };
};
