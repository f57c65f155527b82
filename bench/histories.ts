/**
 * Constructed histories of each class, settled on every node that is installed: a row for what was made, a column for
 * what it was told to be.
 *
 *     npm run histories        (HISTORIES=n of each class, default 100)
 */
import type { Settled } from "../src/Report.js";
import { settlementClasses } from "../src/settle/settlement.js";
import { groundOn, histories, settledFrom } from "../test/harness/histories.js";
import { scenesFor } from "../test/preflight/scene.js";

const each = Number(process.env["HISTORIES"] ?? 100);
const kinds = Object.keys(histories) as Array<keyof typeof histories>;
let wrong = 0;

for (const [node, start] of scenesFor("histories")) {
  const ground = await groundOn(await start());
  console.log(
    `\n${node}\n\n| made | ${settlementClasses.join(" | ")} |\n| --- | ${settlementClasses.map(() => "---").join(" | ")} |`,
  );
  for (const kind of kinds) {
    const told = new Map<Settled["class"], number>();
    for (let index = 0; index < each; index++) {
      const { class: name } = await settledFrom(kind, ground, index);
      told.set(name, (told.get(name) ?? 0) + 1);
      if (name !== kind) wrong++;
    }
    console.log(`| ${kind} | ${settlementClasses.map((name) => told.get(name) ?? 0).join(" | ")} |`);
  }
  await ground.scene.stop();
}
console.log(`\n${wrong} of ${each} × ${kinds.length} on each node told wrong`);
if (wrong > 0) process.exitCode = 1;
