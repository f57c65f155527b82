/**
 * The families of attacks that `npm run accuracy:families` counts, and honest transactions beside them: a few members of
 * each. Those that get through by chance are counted there alone.
 */
import { describe, expect, it } from "vitest";
import { familiesOn } from "../harness/families/all.js";
import { beds, classes, type Judged } from "../harness/families/kit.js";

const shown = ({ family, verdict, codes }: Judged) => `${family.kind}: ${family.name}: ${verdict} ${codes.join(" ")}`;

describe.each(beds())("drawn attacks and honest look-alikes on $name", (bed) => {
  it("are all stopped where they attack, and all ready where they are honest", async () => {
    const judged = await familiesOn(bed, 14, 7, ({ isChancy }) => isChancy !== true);
    // why: what only a tracer shows gets through where there is none
    const isKnown = ({ family }: Judged) => bed.isBare && family.needsTrace === true;
    expect(judged.filter((one) => !one.isRight && !isKnown(one)).map(shown)).toEqual([]);
    const met = classes.filter((kind) => judged.some(({ family }) => family.kind === kind));
    expect(met.length).toBeGreaterThanOrEqual(bed.paceMs === null ? 4 : 1);
  }, 600_000);
});
