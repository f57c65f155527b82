/**
 * The net: what the reports said when these lines were frozen, they still say. A line changes only when the change
 * is wanted, with `npm run net:freeze`, and its diff is read.
 */
import * as Effect from "effect/Effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ExecutionReverted } from "../../src/Errors.js";
import { indexAbis } from "../rooms/abi.js";
import { explain } from "../rooms/eth.js";
import { scenesFor, type Scene } from "../preflight/scene.js";
import { casesOn } from "./all.js";
import { isFreezing, readFrozen, writeFrozen } from "./frozen.js";
import { project, type Plain } from "./project.js";
import { setStage, type Stage } from "./stage.js";
import { startStrictScene } from "./strict.js";

/** What is drawn but for the base fee of the last world (bytes 30 to 34 of the 40 of a block), which is paid. */
const { getRandomValues } = globalThis.crypto;
beforeAll(() => {
  globalThis.crypto.getRandomValues = (array) => {
    const drawn = getRandomValues.call(globalThis.crypto, array as never) as typeof array;
    if (drawn instanceof Uint8Array && drawn.length === 40) drawn.fill(0, 30, 35);
    return drawn;
  };
});
afterAll(() => void (globalThis.crypto.getRandomValues = getRandomValues));

const isReport = (line: Plain | undefined): boolean => typeof line === "object" && line !== null;

const took = async (stage: Stage, node: string): Promise<ReadonlyMap<string, Plain>> => {
  const lines = new Map<string, Plain>();
  for (const { names, tell } of casesOn(node)) {
    // a case that breaks says so in its own line, and the others are still told
    const told = await tell(stage).then(
      (reports) => reports.map(project),
      (error: unknown) => names.map((): Plain => `failed: ${String(error)}`),
    );
    const all = told.length === names.length;
    for (const [index, name] of names.entries())
      lines.set(name, (all ? told[index] : null) ?? `failed: ${told.length} reports for ${names.length} names`);
  }
  return lines;
};

/** A busy machine may keep a node from filling a block in time; such a world is given up, and built again. */
const built = async (start: () => Promise<Scene>, tries = 3): Promise<Stage> => {
  const scene = await start();
  try {
    return await setStage(scene);
  } catch (error) {
    await scene.stop();
    if (tries === 1) throw error;
    return built(start, tries - 1);
  }
};

/** ERC20InsufficientBalance(address,uint256,uint256), of which only the built-in errors tell. */
const known = `0xe450d38c${"00".repeat(96)}` as const;

/** The built-in errors are given up after two seconds, and a cold compiler takes longer: until they are there. */
const errorsLoaded = async () => {
  const revert = new ExecutionReverted({ data: known });
  const explained = () => Effect.runPromise(explain(revert, null, indexAbis([])));
  while (!JSON.stringify((await explained()).revert).includes("ERC20"))
    await new Promise((resolve) => setTimeout(resolve, 100));
};

describe.each([...scenesFor("the net"), ["strict", startStrictScene] as const])("the net on %s", (node, start) => {
  const names = casesOn(node).flatMap((one) => one.names);
  const frozen = readFrozen(node);
  let stage: Stage | undefined;
  let lines: ReadonlyMap<string, Plain> = new Map();
  beforeAll(async () => {
    stage = await built(start);
    await errorsLoaded();
    lines = await took(stage, node);
  }, 300_000);
  afterAll(async () => {
    // nothing is frozen where something went wrong
    if (isFreezing && lines.size > 0 && [...lines.values()].every(isReport)) writeFrozen(node, [...lines]);
    await stage?.scene.stop();
  });

  it("have a name of their own each", () => expect(new Set(names).size).toBe(names.length));
  it.skipIf(isFreezing)("cover every case, and no other", () => expect([...frozen.keys()]).toEqual(names));
  it.each(names)("show what they showed: %s", (name) => {
    const line = lines.get(name);
    expect(line).toSatisfy(isReport);
    if (!isFreezing) expect({ case: name, report: line }).toEqual({ case: name, report: frozen.get(name) });
  });
});
