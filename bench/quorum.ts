/**
 * Pairs of honest endpoints, preflighted as a quorum: what they are told to be, and how often one is taken for a liar. And
 * three endpoints of which one lies, by every lie at every place: how often the report reads otherwise than of three honest
 * ones if the second or third lies, and how often a lie about measured state passes if the first does.
 *
 *     npm run quorum        (PAIRS=n, default 1000: half behind different heights, half of two clients)
 */
import { messageOf } from "../src/Report.js";
import { keccak256, type Hex } from "viem";
import { liar, liesAbout, liesAlone, liesOfJunk, liesUnheld, inventedHead } from "../test/harness/lies.js";
import { furnish, transferOf } from "../test/preflight/furnished.js";
import { layerOf, nobody, other, owner, preflightOn } from "../test/preflight/scene.js";
import {
  acrossClients,
  atHeights,
  forkOf,
  furnished,
  isFalseAlarm,
  isHeld,
  quorumOf,
  readingOf,
  type Outcome,
} from "../test/harness/pairs.js";
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

let [trios, changed] = [0, 0];
for (const [name, start] of scenes) {
  const { scene, token } = await furnish(start);
  const codeHash = keccak256((await scene.ask("eth_getCode", [token, "latest"])) as Hex);
  const who = { owner: owner.address, other: other.address, spender: nobody } as const;
  const about = liesAbout({ ...who, token, held: 10n ** 24n, codeHash, chainId: scene.chainId });
  const input = transferOf(token);
  const among = async (lie: (typeof about)[string] | null, place: number) => {
    const layers = [0, 1, 2].map((index) =>
      lie !== null && index === place ? liar(scene.url, lie, null, { count: 0 }) : layerOf(scene.url),
    );
    const report = await preflightOn(quorumOf(layers), input);
    const text = JSON.stringify(readingOf(report), (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    return { text, isSafe: isHeld(report) };
  };
  const { text } = await among(null, 0);
  for (const [lie, how] of Object.entries({ ...about, ...liesAlone, ...liesUnheld, ...liesOfJunk, inventedHead })) {
    for (const place of [0, 1, 2]) {
      trios++;
      const report = await among(how, place);
      if (report.text === text || (place === 0 && (report.isSafe || !Object.values(about).includes(how)))) continue;
      changed++;
      console.log(`${name}, at place ${place + 1}: ${lie} changes the report`);
    }
  }
  await scene.stop();
}
console.log(`${changed} of ${trios} reports were changed by one liar of three`);
if (alarms + changed > 0) process.exitCode = 1;
