/** Raw JSON-RPC: POSTs over kept connections, and nothing but `JSON.parse`. */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent, request, type Dispatcher } from "undici";

/** POSTs a body, and gives back what was answered. */
export type Post = (body: unknown) => Promise<unknown>;

const headers = { "content-type": "application/json" };
const parsed = (chunks: ReadonlyArray<Buffer>): unknown => JSON.parse(Buffer.concat(chunks).toString());

/** Through the dispatcher below Node's own `fetch`: the cheapest client that Node has, without a promise or a stream. */
const viaDispatcher = async (url: string): Promise<Post> => {
  // Node loads its undici with the first `fetch`
  await fetch("data:,");
  const key = Symbol.for("undici.globalDispatcher.1");
  const dispatcher = (globalThis as { readonly [key: symbol]: Dispatcher | undefined })[key];
  if (dispatcher === undefined) throw new Error("this Node has no undici of its own");
  const { origin, pathname: path } = new URL(url);
  return (body) =>
    new Promise((resolve, reject) => {
      const chunks: Array<Buffer> = [];
      dispatcher.dispatch(
        { origin, path, method: "POST", headers, body: JSON.stringify(body) },
        {
          onConnect: () => undefined,
          onHeaders: () => true,
          onData: (chunk) => chunks.push(chunk) > 0,
          onComplete: () => resolve(parsed(chunks)),
          onError: reject,
        },
      );
    });
};

const viaNodeHttp =
  (url: string, agent: HttpAgent): Post =>
  (body) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const length = String(Buffer.byteLength(text));
      httpRequest(url, { agent, method: "POST", headers: { ...headers, "content-length": length } }, (incoming) => {
        const chunks: Array<Buffer> = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("end", () => resolve(parsed(chunks)));
      })
        .on("error", reject)
        .end(text);
    });

/** Through undici's `request`: what a program that counts its milliseconds would write, and therefore `h`. */
const viaUndici =
  (url: string, dispatcher: Dispatcher): Post =>
  async (body) => {
    const answer = await request(url, { method: "POST", headers, body: JSON.stringify(body), dispatcher });
    return JSON.parse(await answer.body.text());
  };

const viaFetch =
  (url: string): Post =>
  async (body) =>
    JSON.parse(await (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).text());

/** Every raw client for one URL; `usual` is that of `h`. */
export const postsTo = async (url: string) => {
  const agent = new HttpAgent({ keepAlive: true });
  const dispatcher = new Agent({ keepAliveTimeout: 60_000 });
  return {
    usual: viaUndici(url, dispatcher),
    others: [
      ["the dispatcher of Node's own undici", await viaDispatcher(url)],
      ["`node:http`", viaNodeHttp(url, agent)],
      ["`fetch`", viaFetch(url)],
    ] as const,
    close: async () => {
      agent.destroy();
      await dispatcher.close();
    },
  };
};
