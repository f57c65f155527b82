/** A user's CommonJS module, for the compiler only. */
import { Report } from "evm-preflight";
import { createPreflight } from "evm-preflight/promise";

export const report: Promise<Report.Report> = createPreflight({ url: "http://127.0.0.1:8545" }).run({
  from: "0x00000000000000000000000000000000000000a1",
});
// @ts-expect-error `from` is missing
void createPreflight({ url: "http://127.0.0.1:8545" }).run({ value: 1n });
