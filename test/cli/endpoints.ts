/** Endpoints in front of a real node that refuse what theirs refuse. */
import { faults, sevenMethods, startProxy, type Proxy } from "../harness/proxy.js";
import { startServer, type Asked, type Server } from "../harness/server.js";

/** Only the seven methods, no batches. */
export const strict = (target: string): Promise<Proxy> =>
  startProxy({ target, only: sevenMethods, refuseBatches: true });

export const withoutSimulate = async (target: string): Promise<Proxy> => {
  const proxy = await startProxy({ target });
  proxy.fail("eth_simulateV1", faults.notFound);
  return proxy;
};

/** Answers everything with HTTP 403 and a page. */
export const forbidden = async (target: string): Promise<Proxy> => {
  const proxy = await startProxy({ target });
  proxy.fail("*", { ...faults.forbidden, body: "<html><body>\u001b[31mForbidden\u001b[0m</body></html>" });
  return proxy;
};

/** Lets nobody through without this `authorization`, and repeats what it was given. */
export const guarded = (target: string, authorization: string): Promise<Server> =>
  startServer(async (body, { headers }, response) => {
    const message = `the key ${headers.authorization} is not known`;
    const refused = JSON.stringify({
      jsonrpc: "2.0",
      id: (JSON.parse(body) as Asked).id,
      error: { code: -32600, message },
    });
    const passed = { method: "POST", headers: { "content-type": "application/json" }, body };
    response.setHeader("content-type", "application/json");
    response.end(headers.authorization === authorization ? await (await fetch(target, passed)).text() : refused);
  });
