/**
 * How many honest transactions are `unknown` because the head, or the pending state, moved meanwhile.
 *
 *     npm run accuracy:moving   (MOVING_COUNT=n of each kind on each bed, default 100; MOVING_BEDS=a part of their names)
 */
import { isLost, movingBeds, movingKinds, reportsOn } from "../test/harness/accuracy/moving.js";

const count = Number(process.env["MOVING_COUNT"] ?? 100);
const wanted = process.env["MOVING_BEDS"] ?? "";

console.log(
  `| \`unknown\` of ${count} | ${movingKinds.join(" | ")} | slowest |\n|---|${"---|".repeat(movingKinds.length + 1)}`,
);
for (const [name, start] of movingBeds.filter(([bed]) => bed.includes(wanted))) {
  const on = await start();
  const cells: Array<string> = [];
  let slowest = 0;
  try {
    for (const kind of movingKinds) {
      const reports = await reportsOn(on, kind, count);
      const lost = reports.filter(isLost);
      const others = reports.filter((one) => one.verdict === "blocked");
      cells.push(`${lost.length}${others.length > 0 ? ` (${others.length} blocked)` : ""}`);
      slowest = Math.max(slowest, ...reports.map(({ ledger }) => ledger.ms));
      if (process.argv.includes("--why"))
        for (const one of [...lost, ...others])
          console.log(
            `${kind}: ${one.verdict} ${one.ledger.rounds} rounds ${JSON.stringify(
              one.findings.map(({ code, severity, error, numbers }) => [code, severity, error, numbers]),
              (_, value: unknown) => (typeof value === "bigint" ? String(value) : value),
            ).slice(0, 900)}`,
          );
    }
  } finally {
    await on.stop();
  }
  console.log(`| ${name} | ${cells.join(" | ")} | ${slowest} ms |`);
}
