/**
 * How many honest transactions are `unknown` because the head, or the pending state, moved meanwhile.
 *
 *     npm run accuracy:moving   (MOVING_COUNT=n of each kind on each bed, default 100; MOVING_BEDS=a part of their names)
 */
import { movingTable } from "../test/harness/accuracy/moving.js";

const count = Number(process.env["MOVING_COUNT"] ?? 100);
const { table, isFailed } = await movingTable(count, process.env["MOVING_BEDS"] ?? "", (line) => console.log(line));
console.log(`\n${table}`);
if (isFailed) process.exitCode = 1;
