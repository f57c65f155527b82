/** The run that a proof's figures are from, where the state does not agree with the node's own counts. */
import * as Result from "effect/Result";
import { expect, it } from "vitest";
import { NonceTooHigh, NonceTooLow } from "../../rooms/errors.js";
import { assumedIn, figuresOf, heldOf, type RunAnswers } from "../../rooms/pipeline.js";
import { alice } from "../../steps/parts.js";
import { run } from "./world.js";

const nonces = { account: alice };
const rows = ["exact", "next", "reserved"].map((key) => ({ key })) as never;
const [own, pretended] = [run([]), run([])];

it.each([
  ["takes the nonces: the exact run", "pending", Result.succeed(own), own, null],
  [
    "is behind them: the run that pretends them",
    "latest",
    Result.fail(new NonceTooHigh(nonces)),
    pretended,
    "NonceTooHigh",
  ],
  [
    "is pending and beyond them: the run that pretends them",
    "pending",
    Result.fail(new NonceTooLow(nonces)),
    pretended,
    "NonceTooLow",
  ],
  ["is mined and beyond them: the refusal", "latest", Result.fail(new NonceTooLow(nonces)), null, null],
] as const)(
  "the figures of a run come from the right answer, where its state %s",
  (_, block, exact, figures, assumed) => {
    const answers = new Map([
      ["exact", exact],
      ["next", Result.succeed(own)],
      ["reserved", Result.succeed(pretended)],
    ]);
    const runs = heldOf({ rows } as never, block, answers as never as RunAnswers);
    expect(Result.getOrNull(figuresOf({ runs }) as never)).toBe(figures);
    expect(assumedIn({ runs })?._tag ?? null).toBe(assumed);
  },
);
