/**
 * Pairs of honest endpoints, preflighted as a quorum: what they are told to be, and how often one is taken for a liar.
 *
 *     npm run quorum        (PAIRS=n, default 1000: half behind different heights, half of two clients)
 */
import { messageOf } from "../src/Report.js";
import { acrossClients, atHeights, forkOf, furnished, isFalseAlarm, type Outcome } from "../test/harness/pairs.js";
import { scenesFor } from "../test/preflight/scene.js";

const pairs = Number(process.env["PAIRS"] ?? 1000);
const told = new Map<string, Map<string, number>>();
let alarms = 0;

const count = ({ report, pair }: Outcome): void => {
  const codes = report.findings.filter(({ severity }) => severity === "unavailable").map(({ code }) => code);
  const what = [report.verdict, ...new Set(codes)].join(" ");
  const row = told.get(pair) ?? new Map<string, number>();
  told.set(pair, row.set(what, (row.get(what) ?? 0) + 1));
  if (!isFalseAlarm(report)) return;
  alarms++;
  for (const finding of report.findings)
    if (finding.code === "WitnessesDisagree") console.log(`${pair}: ${messageOf(finding)}`);
};

const scenes = scenesFor("quorums");
for (const [, start] of scenes) {
  const scene = await start();
  const at = await furnished(scene);
  for (let index = 0; index < pairs / 2 / scenes.length; index++) count(await atHeights(scene, at, index));
  if (scene.name === "geth") {
    const fork = await forkOf(scene.url, scene.chainId);
    for (let index = 0; index < pairs / 2; index++) {
      if (index % 50 === 49) {
        await scene.mine();
        await fork.follow();
      }
      count(await acrossClients(scene, fork.url, at, index));
    }
    await fork.stop();
  }
  await scene.stop();
}

for (const [pair, row] of told)
  console.log(`${pair}: ${[...row].map(([what, times]) => `${times} ${what}`).join(", ")}`);
console.log(`${alarms} of ${pairs} pairs were taken for liars`);
if (alarms > 0) process.exitCode = 1;
