/** The round of each request, by what was asked before it and beside it. */
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import * as Eth from "../../../src/Eth.js";
import { type Rpc } from "../../../src/Rpc.js";
import { layerScripted } from "../../../src/testing.js";
import { afterwards, counted, inBranch, inRound, ledgerSoFar, withRun } from "../../rooms/pipeline.js";
import { CurrentRun } from "../../rooms/rpc.js";

/** Asks, under its name, in the round that it finds itself in. */
type Ask = (name: string) => Effect.Effect<void>;

const rounds = async (use: (ask: Ask) => Effect.Effect<unknown, unknown, Rpc>, isInRun = true) => {
  const asked: Array<string> = [];
  const ask: Ask = (name) => Effect.map(CurrentRun, ({ round }) => void asked.push(`${name} ${round}`));
  const run = isInRun ? withRun(1_000, () => use(ask)) : counted(use(ask));
  await Effect.runPromise(Effect.provide(run, layerScripted({})));
  return asked.sort();
};
const all = <E, R>(...asks: ReadonlyArray<Effect.Effect<unknown, E, R>>) =>
  Effect.all(asks, { concurrency: "unbounded" });
/** One after the other. */
const inTurn = (...asks: ReadonlyArray<Effect.Effect<unknown>>) => Effect.all(asks);
const next = (ask: Effect.Effect<unknown>) => inRound("headMoved", ask);
/** Two further rounds that nobody of the pipeline begins, as endpoints of a quorum are asked in. */
const further = Effect.map(CurrentRun, ({ rounds: count }) => void (count !== undefined && (count.last += 2)));

describe("the numbering of rounds", () => {
  it.each<[string, (ask: Ask) => Effect.Effect<unknown>, ReadonlyArray<string>]>([
    ["of one after the other", (ask) => inTurn(next(ask("a")), next(ask("b"))), ["a 1", "b 2"]],
    ["of what is asked side by side", (ask) => next(all(ask("a"), ask("b"))), ["a 1", "b 1"]],
    [
      "of branches, of which one goes on, and of what comes after them all",
      (ask) =>
        inTurn(
          next(
            all(inBranch(inTurn(ask("a"), next(ask("b")), next(ask("c")))), inBranch(inTurn(ask("d"), next(ask("e"))))),
          ),
          next(ask("f")),
        ),
      ["a 1", "b 2", "c 3", "d 1", "e 2", "f 4"],
    ],
    ["of what comes after further rounds", (ask) => inTurn(next(further), next(ask("a"))), ["a 4"]],
    [
      "of branches that begin after further rounds",
      (ask) => inTurn(next(further), afterwards(all(inBranch(next(ask("a"))), inBranch(next(ask("b")))))),
      ["a 4", "b 4"],
    ],
  ])("is right for requests %s", async (_, use, expected) => {
    expect(await rounds(use)).toEqual(expected);
    expect(await rounds(use, false)).toEqual(expected);
  });
});

it("a proof's ledger continues that of the scan, which is kept", async () => {
  const asks = Effect.andThen(inRound("proof", Eth.chainId), ledgerSoFar);
  const ledgerOf = (earlier: Parameters<typeof withRun>[2]) =>
    Effect.runPromise(
      Effect.provide(
        withRun(1_000, () => asks, earlier),
        layerScripted({ eth_chainId: "0x1" }),
      ),
    );
  const first = await ledgerOf(null);
  expect([first.rounds, first.requests.map(({ round }) => round)]).toEqual([1, [1]]);
  const both = await ledgerOf({ ...first, rounds: 2, ms: 70 });
  expect(both.requests[0]).toEqual(first.requests[0]);
  expect(both.requests.map(({ round, because }) => [round, because])).toEqual([
    [1, null],
    [3, "proof"],
  ]);
  expect([both.rounds, both.ms >= 70]).toEqual([3, true]);
});
