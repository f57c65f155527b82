/**
 * Whether anything is falsely `ready`, or falsely blocked for its gas, on nodes that simulate with no more than so much gas.
 *
 *     npm run accuracy:purses   (PURSE_COUNT=n on each node, default 100; PURSE_SEED=n; PURSES=10000000,… of which)
 */
import { findGethOrWarn } from "../test/harness/geth.js";
import { purses, tallyOf } from "../test/harness/accuracy/purses.js";

const bin = findGethOrWarn("the purses");
const { PURSE_COUNT = "100", PURSE_SEED = "1", PURSES = purses.join(",") } = process.env;
let wrong = bin === null ? 1 : 0;
for (const purse of bin === null ? [] : PURSES.split(",").map(Number)) {
  const { falseReady, falseBlocked, doubted, ...counts } = await tallyOf(
    bin ?? "",
    purse,
    Number(PURSE_COUNT),
    Number(PURSE_SEED),
  );
  wrong += falseReady.length + falseBlocked.length;
  console.log(purse, counts, "falsely ready", falseReady.length, "falsely blocked", falseBlocked.length);
  for (const line of doubted) console.log("  blocked, and works:", line);
  for (const line of falseReady) console.log("  falsely ready:", line);
  for (const line of falseBlocked) console.log("  falsely blocked:", line);
}
if (wrong > 0) process.exitCode = 1;
