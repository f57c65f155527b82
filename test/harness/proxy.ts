/** An HTTP proxy in front of a node that delays, breaks and records what passes through. */
import type { ServerResponse } from "node:http";
import { startServer, type Asked } from "./server.js";

/** What happens to a request instead of, or after, its being answered. */
export type Fault =
  /** Any status and body, without asking the node. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly body?: string;
      readonly headers?: Record<string, string>;
    }
  /** A JSON-RPC error, without asking the node. */
  | { readonly kind: "error"; readonly error: unknown }
  /** This result, without asking the node. */
  | { readonly kind: "result"; readonly result: unknown }
  /** The node's result, changed. */
  | { readonly kind: "map"; readonly map: (result: unknown, asked: Asked) => unknown }
  /** The node's whole answer under another id. */
  | { readonly kind: "wrong-id" }
  /** The first half of the node's answer as a complete body: cut JSON. */
  | { readonly kind: "cut" }
  /** The connection is closed in the middle of the body. */
  | { readonly kind: "reset" }
  /** Never answered; the node is not asked. */
  | { readonly kind: "hang" }
  /** The node acts, its answer is lost with the connection. */
  | { readonly kind: "drop" };

/** The faults that need no arguments, and the two most usual ones. */
export const faults = {
  wrongId: { kind: "wrong-id" },
  cut: { kind: "cut" },
  reset: { kind: "reset" },
  hang: { kind: "hang" },
  drop: { kind: "drop" },
  nullResult: { kind: "result", result: null },
  emptyArray: { kind: "result", result: [] },
  wrongType: { kind: "result", result: { unexpected: [true, 1.5, "0xzz"] } },
  notFound: { kind: "error", error: { code: -32601, message: "the method does not exist/is not available" } },
  forbidden: { kind: "status", status: 403, body: "" },
  rateLimited: { kind: "status", status: 429, body: '{"error":"too many requests"}' },
  html500: { kind: "status", status: 500, body: "<html><body><h1>Internal Server Error</h1></body></html>" },
} as const satisfies Record<string, Fault>;

/** A request that passed, in order of arrival. */
export interface Seen extends Asked {
  /** `performance.now()` at arrival. */
  readonly at: number;
  /** Which POST it came in, from 0. */
  readonly post: number;
  /** Which round it belongs to, from 0; 0 where none are held. */
  readonly round: number;
}

export interface ProxyOptions {
  readonly target: string;
  /** Every answer leaves this many ms after its request arrived, or later. */
  readonly delayMs?: number;
  /** Holds all answers until nothing more comes, for {@link heldMs}: what comes before any of them leaves is one round. */
  readonly inRounds?: boolean;
  /** Refuses arrays with -32600. */
  readonly refuseBatches?: boolean;
  /** Methods that exist; all others are `-32601`. Absent = all. */
  readonly only?: ReadonlyArray<string>;
  /** The parameters that the node gets in place of those asked. */
  readonly rewrite?: (method: string, params: unknown) => unknown;
  /** Methods that the node knows by another name. */
  readonly names?: Readonly<Record<string, string>>;
}

export interface Proxy {
  readonly url: string;
  readonly seen: Array<Seen>;
  /** Sets what happens to a method (`*` = every one); null heals it. `times` = only to the next so many. */
  readonly fail: (method: string, fault: Fault | null, times?: number) => void;
  /** Sets what happens to the request number `position` (from 0) of a method; the others pass. */
  readonly failAt: (method: string, fault: Fault, position: number) => void;
  readonly setDelay: (ms: number) => void;
  /** Forgets faults and what was seen. */
  readonly reset: () => void;
  /** POSTs that arrived. */
  readonly posts: () => number;
  readonly stop: () => Promise<void>;
}

/** The seven methods of the node interface; a strict node has no other. */
export const sevenMethods = [
  "eth_getLogs",
  "eth_call",
  "eth_simulateV1",
  "eth_getBlockReceipts",
  "eth_estimateGas",
  "eth_getTransactionCount",
  "eth_getCode",
] as const;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Record<string, string>;
}

const json = { "content-type": "application/json" };
const wrap = (id: unknown, rest: object): string => JSON.stringify({ jsonrpc: "2.0", id, ...rest });

// why: a node that refuses a long body before it is whole ends the sockets of `node:http` without a listener
const forward = async (target: string, body: string): Promise<Answer> => {
  const answer = await fetch(target, { method: "POST", headers: json, body });
  return { status: answer.status, body: await answer.text(), headers: json };
};

/** Turns of the event loop without a request, and ms between them: however slow the machine, what was sent has come by then. */
const quiet = { turns: 15, ms: 10 };
/** How long answers of rounds are held at least, ms. */
export const heldMs = quiet.turns * quiet.ms;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Starts a proxy in front of `target`. */
export const startProxy = async (options: ProxyOptions): Promise<Proxy> => {
  const seen: Array<Seen> = [];
  const planned = new Map<string, { readonly fault: Fault; left: number }>();
  const placed = new Map<string, { readonly fault: Fault; left: number }>();
  let delayMs = options.delayMs ?? 0;
  let [posts, round, forwarding] = [0, 0, 0];
  let held: Promise<void> | null = null;

  const hold = async () => {
    for (let [turn, known] = [0, -1]; turn < quiet.turns; turn++) {
      await sleep(quiet.ms);
      if (known !== seen.length || forwarding > 0) [turn, known] = [-1, seen.length];
    }
    held = null;
    round++;
  };

  const faultOf = (method: string): Fault | null => {
    const place = placed.get(method);
    if (place !== undefined && place.left-- === 0) return place.fault;
    for (const key of [method, "*"]) {
      const plan = planned.get(key);
      if (plan === undefined) continue;
      if (--plan.left <= 0) planned.delete(key);
      return plan.fault;
    }
    if (options.only !== undefined && !options.only.includes(method)) return faults.notFound;
    return null;
  };

  /** The answer to one request, or how its connection ends. */
  const answer = async (asked: Asked, fault: Fault | null): Promise<Answer | "hang" | "reset" | "drop"> => {
    if (fault?.kind === "hang") return "hang";
    if (fault?.kind === "status") {
      return {
        status: fault.status,
        body: fault.body ?? "",
        headers: fault.headers ?? { "content-type": "text/html" },
      };
    }
    if (fault?.kind === "error") return { status: 200, body: wrap(asked.id, { error: fault.error }), headers: json };
    if (fault?.kind === "result") return { status: 200, body: wrap(asked.id, { result: fault.result }), headers: json };
    const { rewrite = (_, given) => given } = options;
    const params = rewrite(asked.method, asked.params);
    const method = options.names?.[asked.method] ?? asked.method;
    const real = await forward(options.target, JSON.stringify({ ...asked, method, params }));
    if (fault === null) return real;
    if (fault.kind === "drop" || fault.kind === "reset") return fault.kind;
    if (fault.kind === "cut") return { ...real, body: real.body.slice(0, real.body.length >> 1) };
    const parsed = JSON.parse(real.body) as Record<string, unknown>;
    return fault.kind === "wrong-id"
      ? { ...real, body: JSON.stringify({ ...parsed, id: 987_654_321 }) }
      : {
          ...real,
          body: JSON.stringify("result" in parsed ? { ...parsed, result: fault.map(parsed["result"], asked) } : parsed),
        };
  };

  const handle = async (body: string, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    const post = posts++;
    const parsed = JSON.parse(body) as Asked | ReadonlyArray<Asked>;
    const requests = (Array.isArray(parsed) ? parsed : [parsed]) as ReadonlyArray<Asked>;
    const due = options.inRounds === true ? (held ??= hold()) : sleep(delayMs);
    for (const asked of requests) seen.push({ ...asked, at, post, round });
    const send = async ({ status, body: text, headers }: Answer) => {
      await due;
      response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
      response.end(text);
    };
    if (Array.isArray(parsed) && options.refuseBatches === true) {
      return send({
        status: 200,
        body: wrap(null, { error: { code: -32600, message: "batches are not allowed" } }),
        headers: json,
      });
    }
    forwarding++;
    const answers = await Promise.all(requests.map((asked) => answer(asked, faultOf(asked.method)))).finally(
      () => forwarding--,
    );
    if (answers.includes("hang")) return;
    const broken = answers.find((one) => one === "drop" || one === "reset");
    if (broken !== undefined) {
      await due;
      if (broken === "reset") {
        response.writeHead(200, { ...json, "content-length": 1_000 });
        response.write('{"jsonrpc":"2.0","id":');
      }
      setTimeout(() => response.destroy(), 5);
      return;
    }
    const whole = answers as ReadonlyArray<Answer>;
    const [first] = whole;
    if (!Array.isArray(parsed) && first !== undefined) return send(first);
    const refused = whole.find(({ status }) => status !== 200);
    await send(refused ?? { status: 200, body: `[${whole.map((one) => one.body).join(",")}]`, headers: json });
  };

  const server = await startServer((body, _request, response) => {
    handle(body, response).catch(() => response.destroy());
  });
  return {
    url: server.url,
    seen,
    fail: (method, fault, times = Infinity) => {
      if (fault === null) planned.delete(method);
      else planned.set(method, { fault, left: times });
    },
    failAt: (method, fault, position) => placed.set(method, { fault, left: position }),
    setDelay: (ms) => {
      delayMs = ms;
    },
    reset: () => {
      planned.clear();
      placed.clear();
      seen.length = 0;
      [posts, round] = [0, 0];
    },
    posts: () => posts,
    stop: server.stop,
  };
};
