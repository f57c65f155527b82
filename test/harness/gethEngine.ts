/** The engine API of a geth, and blocks built through it: by whom, when and with what randomness is the caller's choice. */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { rawRequest } from "./anvil.js";

const base64url = (data: string | Buffer): string => Buffer.from(data).toString("base64url");

/** Asks with a token of the JWT secret; throws the node's error text. */
export const engineOf = (url: string, secret: Buffer) => async (method: string, params: ReadonlyArray<unknown>) => {
  const claims = `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(JSON.stringify({ iat: Math.floor(Date.now() / 1000) }))}`;
  const token = `${claims}.${createHmac("sha256", secret).update(claims).digest("base64url")}`;
  return rawRequest(url, method, params, { authorization: `Bearer ${token}` });
};

export type Engine = ReturnType<typeof engineOf>;

/** What is chosen of a block. */
export interface Sealed {
  /** Default 0x…fee00. */
  readonly feeRecipient?: string;
  /** Seconds after its parent; default: the local clock's time, and 1 at least. */
  readonly after?: number;
  /** 32 bytes; default random. */
  readonly prevRandao?: string;
  /** 32 bytes; default zero. */
  readonly parentBeaconBlockRoot?: string;
}

interface Header {
  readonly hash: string;
  readonly number: string;
  readonly timestamp: string;
  readonly gasLimit: string;
}
interface Built {
  readonly executionPayload: { readonly blockHash: string };
  readonly blobsBundle: { readonly commitments: ReadonlyArray<string> };
  readonly executionRequests: ReadonlyArray<string>;
}

const zeroHash = `0x${"00".repeat(32)}`;
const versionedHash = (commitment: string): string =>
  `0x01${createHash("sha256")
    .update(Buffer.from(commitment.slice(2), "hex"))
    .digest("hex")
    .slice(2)}`;

/** The versions of `forkchoiceUpdated`, `getPayload` and `newPayload` that a block of this time is built by. */
const versionsAt = (time: number, forks: Readonly<Record<string, unknown>>) => {
  const isOn = (name: string) => typeof forks[name] === "number" && forks[name] <= time;
  if (isOn("amsterdamTime")) return { choose: 4, get: 6, put: 5 };
  return isOn("osakaTime") ? { choose: 3, get: 5, put: 4 } : { choose: 3, get: 4, put: 4 };
};

/** How long a node may take for what it does beside its answers, on a busy machine. */
const patienceMs = 20_000;

/** Asks every 5 ms until it is so; fails after {@link patienceMs} and says of what it was waiting for. */
export const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  for (const end = Date.now() + patienceMs; !(await isSo());) {
    if (Date.now() > end) throw new Error(`not after ${patienceMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

type Content = Readonly<Record<"pending" | "queued", Readonly<Record<string, Readonly<Record<string, Pooled>>>>>>;
interface Pooled {
  readonly hash: string;
}
const contentOf = async (url: string) => (await rawRequest(url, "txpool_content")) as Content;

/**
 * Waits until the pool has put in line what can be: a transaction is queued at first, and the next block is not made of
 * what is. One behind a gap stays queued: its nonce is above the sender's next.
 */
export const untilInLine = (url: string): Promise<void> =>
  until("the pool puts in line what it got", async () => {
    const { queued: count } = (await rawRequest(url, "txpool_status")) as { readonly queued: string };
    if (count === "0x0") return true;
    const { queued } = await contentOf(url);
    for (const [address, own] of Object.entries(queued)) {
      const next = Number(await rawRequest(url, "eth_getTransactionCount", [address, "pending"]));
      if (Math.min(...Object.keys(own).map(Number)) <= next) return false;
    }
    return true;
  });

/** Waits until the pool has taken note of a block that is the head: by then it judges by the state of the one before. */
const untilNoted = async (url: string, hash: string): Promise<void> => {
  const { transactions } = (await rawRequest(url, "eth_getBlockByHash", [hash, false])) as {
    readonly transactions: ReadonlyArray<string>;
  };
  if (transactions.length === 0) return;
  await until(`the pool takes note of block ${hash}`, async () => {
    const { pending } = await contentOf(url);
    const held = new Set(Object.values(pending).flatMap((own) => Object.values(own).map((one) => one.hash)));
    return !transactions.some((one) => held.has(one));
  });
};

/** Builds a block from the pool and makes it the head. `forks` = activation times by name, as the genesis has them. */
export const sealOne = async (
  node: { readonly url: string; readonly engine: Engine; readonly filled: (payloadId: string) => Promise<void> },
  block: Sealed,
  { now, forks }: { readonly now: () => number; readonly forks: Readonly<Record<string, unknown>> },
): Promise<void> => {
  const { engine: ask } = node;
  await untilInLine(node.url);
  const head = (await rawRequest(node.url, "eth_getBlockByNumber", ["latest", false])) as Header;
  const parent = Number(head.timestamp);
  const time = block.after === undefined ? Math.max(parent + 1, now()) : parent + block.after;
  const { choose, get, put } = versionsAt(time, forks);
  const root = block.parentBeaconBlockRoot ?? zeroHash;
  const state = { headBlockHash: head.hash, safeBlockHash: zeroHash, finalizedBlockHash: zeroHash };
  const attributes = {
    timestamp: `0x${time.toString(16)}`,
    prevRandao: block.prevRandao ?? `0x${randomBytes(32).toString("hex")}`,
    suggestedFeeRecipient: block.feeRecipient ?? "0x00000000000000000000000000000000000fee00",
    withdrawals: [],
    parentBeaconBlockRoot: root,
    ...(choose === 4 ? { slotNumber: head.number, targetGasLimit: head.gasLimit } : {}),
  };
  const { payloadId } = (await ask(`engine_forkchoiceUpdatedV${choose}`, [state, attributes])) as {
    readonly payloadId: string;
  };
  await node.filled(payloadId);
  const built = (await ask(`engine_getPayloadV${get}`, [payloadId])) as Built;
  const hashes = built.blobsBundle.commitments.map(versionedHash);
  const { status } = (await ask(`engine_newPayloadV${put}`, [
    ...[built.executionPayload, hashes, root, built.executionRequests],
  ])) as { readonly status: string };
  if (status !== "VALID") throw new Error(`the block is ${status}`);
  const next = built.executionPayload.blockHash;
  await ask(`engine_forkchoiceUpdatedV${choose}`, [
    { headBlockHash: next, safeBlockHash: head.hash, finalizedBlockHash: head.hash },
    null,
  ]);
  await untilNoted(node.url, next);
};
