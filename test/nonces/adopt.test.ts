/** What an operator's word about the chain does to a lane, and that it leaves every lane sound. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adopt, begin, commit, foreign, maxSettled, reconcile, report, reserve, violations } from "../rooms/nonces.js";
import { pureLane } from "./pure.js";
import { at, attempt, ever, keepAll, request } from "./lanes.js";

const laneAt = (start: bigint) => {
  const lane = pureLane();
  const { state, slots, view, apply, snapshot } = lane;
  apply(begin(at(start), keepAll, 0));
  let given = 0;
  const lease = (width: 1 | 2 = 1): bigint => {
    const token = `token-${given++}`;
    const answer = apply(reserve(view(), request({ token, width, counts: at(state.floor) }), 1));
    return answer._tag === "Granted" ? answer.nonce : -1n;
  };
  const send = (width: 1 | 2 = 1): bigint => {
    const nonce = lease(width);
    const { token } = slots.get(nonce) ?? { token: "" };
    apply(commit(view(), { token, nonce }, attempt(nonce + 1n), 1));
    return nonce;
  };
  const mine = (latest: bigint) =>
    apply(reconcile(view(), { counts: at(latest), keep: keepAll, resendAfterMs: ever }, 2));
  const adoptAt = (latest: bigint, pending = latest) => apply(adopt(view(), at(latest, pending), keepAll, 3));
  const shown = () =>
    snapshot()
      .slots.map(({ nonce, state: is, token }) => `${nonce} ${token === foreign ? "foreign" : is}`)
      .join(", ");
  return { ...lane, lease, send, mine, adoptAt, shown };
};

type Lane = ReturnType<typeof laneAt>;

const cases: ReadonlyArray<readonly [string, (lane: Lane) => unknown, latest: bigint, expected: string, next: bigint]> =
  [
    ["moves an empty lane up", () => 0, 9n, "", 9n],
    [
      "settles what was committed below, and all else there as foreign",
      (lane) => [lane.send(), lane.lease(), lane.send(), lane.send()],
      ...([8n, "5 settled, 6 foreign, 7 settled, 8 committed", 9n] as const),
    ],
    [
      "puts what settled in flight again",
      (lane) => [lane.send(), lane.send(), lane.mine(7n)],
      ...([5n, "5 committed, 6 committed", 7n] as const),
    ],
    [
      "frees what held none of ours, below what is in flight",
      (lane) => [lane.lease(), lane.send(), lane.mine(7n)],
      ...([5n, "5 free, 6 committed", 7n] as const),
    ],
    [
      "frees what is burned",
      (lane) => [
        lane.send(),
        lane.send(),
        lane.mine(7n),
        lane.apply(report(lane.view(), 5n, attempt(6).hash, "burned")),
      ],
      ...([5n, "5 free, 6 committed", 7n] as const),
    ],
    ["makes gaps of what is no longer kept", (lane) => [lane.send()], 3n, "3 free, 4 free, 5 committed", 6n],
    ["begins anew below a lane that holds nothing", () => 0, 2n, "", 2n],
    ["keeps a lease above the count", (lane) => [lane.lease(), lane.lease()], 6n, "5 foreign, 6 reserved", 7n],
  ];

describe("adopting the chain's count", () => {
  it.each(cases)("%s", (_, live, latest, expected, next) => {
    const lane = laneAt(5n);
    live(lane);
    expect(lane.adoptAt(latest)).toEqual({ _tag: "Adopted", floor: latest, next });
    expect(lane.shown()).toBe(expected);
    expect(violations(lane.snapshot())).toEqual([]);
  });
  it("leaves nonces between latest and pending count to others", () => {
    const lane = laneAt(5n);
    expect(lane.adoptAt(7n, 9n)).toEqual({ _tag: "Adopted", floor: 7n, next: 9n });
    expect(lane.lease()).toBe(9n);
  });
  it("refuses a long walk from far below", () => {
    const lane = laneAt(1_000_000n);
    expect(lane.adoptAt(3n)).toEqual({ _tag: "Forgotten", tail: 1_000_000n });
    expect(lane.state.floor).toBe(1_000_000n);
  });
  it("forgets nonces further below than are kept", () => {
    const lane = laneAt(5n);
    lane.send();
    lane.adoptAt(9_000_000_000n);
    expect(lane.state.tail).toBeGreaterThanOrEqual(9_000_000_000n - maxSettled);
    expect([lane.slots.size, violations(lane.snapshot())]).toEqual([0, []]);
  });
  it("leaves every lane sound, at the count, and never frees a committed nonce above it", () => {
    const step = fc.oneof(
      fc.constantFrom("lease", "send", "pair").map((kind) => ({ kind, by: 0 })),
      fc.record({ kind: fc.constantFrom("mine", "adopt"), by: fc.integer({ min: -9, max: 9 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const lane = laneAt(20n);
        for (const { kind, by } of steps) {
          const latest = lane.state.floor + BigInt(by) < 0n ? 0n : lane.state.floor + BigInt(by);
          if (kind === "lease") lane.lease();
          else if (kind !== "mine" && kind !== "adopt") lane.send(kind === "pair" ? 2 : 1);
          else if (kind === "mine") lane.mine(latest < lane.state.next ? latest : lane.state.next);
          else {
            const before = [...lane.slots].filter(([nonce, slot]) => slot.state === "committed" && nonce > latest);
            expect(lane.adoptAt(latest)).toMatchObject({ _tag: "Adopted", floor: latest });
            for (const [nonce, { token }] of before) {
              const after = lane.slots.get(nonce);
              // The second nonce of a pair is free where the count stopped between them
              if (after?.width !== 0 || after.state === "committed") expect(after).toMatchObject({ token });
            }
          }
          expect(violations(lane.snapshot())).toEqual([]);
        }
      }),
    );
  });
});
