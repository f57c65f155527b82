/** Every family, and the beds that they are judged on. */
import { asked } from "./asked.js";
import { between } from "./between.js";
import { blocks } from "./blocks.js";
import { control } from "./control.js";
import { judgeOn, type Bed, type Family, type Judged } from "./kit.js";
import { money } from "./money.js";
import { nodes, stopBeside } from "./nodes.js";

export const families: ReadonlyArray<Family> = [...between, ...control, ...nodes, ...money, ...asked, ...blocks];

/** So many members of each class on a bed, attacks and honest ones alike, of the families that are wanted. */
export const familiesOn = async (
  bed: Bed,
  count: number,
  seed: number,
  isWanted: (family: Family) => boolean = () => true,
): Promise<ReadonlyArray<Judged>> => {
  try {
    return await judgeOn(bed, families.filter(isWanted), count, seed);
  } finally {
    await stopBeside(bed.name);
  }
};
