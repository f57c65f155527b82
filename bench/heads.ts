/**
 * How often something is `ready` on a head that is old: a competitor's block at every place among the requests, and each
 * `ready` signed and mined behind it.
 *
 *     npm run accuracy:heads   (HEADS_BEDS, HEADS_KINDS = a part of their names; HEADS_BLOCK = pending or latest; HEADS_BY =
 *     preflight, prove or speculate)
 *     HEADS_RANDOM=2000 npm run accuracy:heads   (speculated reports at places, in orders and at base fees that are drawn;
 *     HEADS_SEED, HEADS_BEDS; HEADS_BY=preflight for reports that are not)
 */
import {
  everyPlace,
  headBeds,
  isFalse,
  manners,
  moveKinds,
  randomRuns,
  type Placed,
} from "../test/harness/accuracy/heads.js";

const has = (variable: string, name: string) => name.includes(process.env[variable] ?? "");

const all: Array<Placed> = [];
const random = Number(process.env["HEADS_RANDOM"] ?? 0);
for (const [name, start] of headBeds.filter(([bed]) => has("HEADS_BEDS", bed))) {
  const ground = await start();
  try {
    if (random > 0) {
      const speculate = process.env["HEADS_BY"] !== "preflight";
      const drawn = { runs: random, seed: Number(process.env["HEADS_SEED"] ?? 1), speculate };
      const tally = await randomRuns(ground, drawn, (one) => console.log(JSON.stringify(one)));
      console.log(`${name} | ${JSON.stringify(tally)}`);
      if (tally.falsely > 0) process.exitCode = 1;
      continue;
    }
    for (const manner of manners.filter(({ block, by }) => has("HEADS_BLOCK", block) && has("HEADS_BY", by)))
      for (const kind of moveKinds.filter((one) => has("HEADS_KINDS", one))) {
        const placed = await everyPlace(ground, kind, manner);
        const count = (is: (one: Placed) => boolean) => placed.filter(is).length;
        const how = [manner.block, manner.order, manner.isFamiliar ? "familiar" : "new", manner.by];
        const unseen = count(({ isTold, isTrue }) => !isTold && isTrue === false);
        console.log(
          `${name} | ${[...how, ...(manner.confirmHead ? ["confirmed"] : [])].join(", ")} | ${kind} | ${placed.length} places, ${count(({ verdict }) => verdict === "ready")} ready, ${count(isFalse)} false, ${unseen} that nobody could tell, ${count(({ verdict }) => verdict === "unknown")} unknown`,
        );
        for (const one of placed.filter((each) => isFalse(each) || (each.kind === "idle" && each.verdict !== "ready")))
          console.log(
            `  at ${one.position}: ${one.verdict} in ${one.rounds} rounds, ${one.codes.join(" ")}\n    ${one.asked.slice(one.position).join("\n    ")}`,
          );
        all.push(...placed);
      }
  } finally {
    await ground.stop();
  }
}
if (random > 0) process.exit();
const wrong = all.filter(isFalse).length;
const unseen = all.filter(({ isTold, isTrue }) => !isTold && isTrue === false).length;
console.log(`\n${all.length} runs: ${wrong} falsely ready, ${unseen} that no answer could tell`);
if (wrong > 0) process.exitCode = 1;
