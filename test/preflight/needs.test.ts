/** What each request of a run is needed for: which answers `ready` rests on, and which another source makes up for. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  InternalError,
  MalformedResponse,
  MethodNotPermitted,
  MethodNotSupported,
  RateLimited,
  RpcError,
  Timeout,
  Transport,
} from "../rooms/errors.js";
import { codesOf, preflightOn, scenesFor, severe, tampered, type Purpose, type Scene } from "./scene.js";
import { furnish, transferOf } from "./furnished.js";

const reasons = [
  new Transport({ detail: "connect ECONNREFUSED" }),
  new MethodNotPermitted({ detail: "", httpStatus: 403 }),
  new RateLimited({ detail: "", httpStatus: 429, retryAfterMs: null }),
  new InternalError({ detail: "<html>", httpStatus: 500 }),
  new MalformedResponse({ path: "result", detail: "" }),
  new MethodNotSupported({ detail: "" }),
  new Timeout({ detail: "", afterMs: 250 }),
];

/** Without any one of these there is no `ready`. */
const needed: ReadonlyArray<Purpose> = ["ample", "exact", "next", "latest count", "pending count"];
/**
 * What makes up for each of the others: the exact run for the witness alone, the witness for the code, the simulation
 * for the estimate and for the base fee, the minimum for the tip, CHAINID for the chain.
 */
const optional: ReadonlyArray<Purpose> = [
  ...["eth_getCode", "eth_estimateGas", "eth_chainId", "eth_getBlockByNumber", "eth_getBlockReceipts"],
  ...["eth_feeHistory", "readerOnly"],
];

/** What adds a warning where it is answered, and nothing is said where it is not. */
const unsaid: ReadonlyArray<Purpose> = ["eth_config"];

describe.each(scenesFor("what is needed"))("a preflight that lacks some answers, on %s", (_, start) => {
  let scene: Scene;
  let token: `0x${string}`;
  beforeAll(async () => {
    ({ scene, token } = await furnish(start));
  });
  afterAll(() => scene?.stop());

  const input = () => transferOf(token);

  /** Every request of an undisturbed run: what for, and which of its kind. */
  const walked = async (): Promise<ReadonlyArray<readonly [purpose: Purpose, position: number]>> => {
    const asked: Array<readonly [Purpose, number]> = [];
    const report = await preflightOn(
      tampered(scene.url, ({ purpose, before }) => {
        asked.push([purpose, before]);
        return null;
      }),
      input(),
    );
    expect([report.verdict, severe(report)]).toEqual(["ready", []]);
    expect(new Set(asked.map(([purpose]) => purpose))).toEqual(new Set([...needed, ...optional, ...unsaid]));
    return asked;
  };

  it("is known to need exactly the listed requests", async () => {
    expect((await walked()).length).toBe(17);
  });

  it.each(reasons.map((reason) => [reason._tag, reason] as const))(
    "doubts or makes up for each request that fails with %s",
    async (tag, reason) => {
      for (const [which, position] of await walked()) {
        let method = "";
        const broken = tampered(scene.url, ({ purpose, before, method: asked }) => {
          if (purpose !== which || before !== position) return null;
          method = asked;
          return new RpcError({ method, reason });
        });
        const report = await preflightOn(broken, input());
        const at = `${tag} of ${which} #${position}`;
        const told = report.findings.some(({ error }) => error?._tag === "RpcError" && error.method === method);
        expect(told || report.ledger.rounds > 2 || unsaid.includes(which), at).toBe(true);
        // counts are read again in the proof, where all of them are judged again
        const again = which.endsWith("count") && position === 0;
        if (needed.includes(which) && !again && report.ledger.rounds === 2)
          expect(report.verdict, at).not.toBe("ready");
        if (unsaid.includes(which)) expect([report.verdict, severe(report)], at).toEqual(["ready", []]);
        if (optional.includes(which)) {
          expect(report.verdict, at).toBe("ready");
          // a header that failed beside the runs is asked again, and both worlds with it
          if (position === 0) expect(codesOf(report), at).toContain(`${tag}/info`);
        }
      }
    },
  );

  it("gives a report where every request of one kind gets no answer", async () => {
    for (const reason of reasons) {
      for (const which of [...needed, ...optional, ...unsaid]) {
        const broken = tampered(scene.url, ({ purpose, method }) =>
          purpose === which ? new RpcError({ method, reason }) : null,
        );
        const { verdict } = await preflightOn(broken, input());
        const at = `${reason._tag} of every ${which}`;
        if (!needed.includes(which)) expect(verdict, at).toBe("ready");
        else expect(verdict, at).not.toBe("ready");
      }
    }
  });

  it("is ready without all optional answers at once", async () => {
    const broken = tampered(scene.url, ({ purpose, method }) =>
      // the witness alone makes up for all that tells the base fee
      optional.includes(purpose) && purpose !== "readerOnly"
        ? new RpcError({ method, reason: new Transport({ detail: "" }) })
        : null,
    );
    const report = await preflightOn(broken, input());
    expect([report.verdict, report.transactions[0].fee.tipSource]).toEqual(["ready", "minimum"]);
  });
});
