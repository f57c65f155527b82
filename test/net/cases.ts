/** How cases are written down: a name for every report, and what is asked on the stage to get it. */
import type * as Preflight from "../../src/Preflight.js";
import type { BundleReport, Report, Settled } from "../../src/Report.js";
import * as on from "../preflight/scene.js";
import type { Stage } from "./stage.js";

/** One or more reports that are taken together, in the order of their names; none = the world moves on. */
export interface Case {
  readonly names: ReadonlyArray<string>;
  /** The nodes that can play it; absent = those that know every method. */
  readonly on?: ReadonlyArray<string>;
  readonly tell: (stage: Stage) => Promise<ReadonlyArray<Report | Settled>>;
}

/** A transaction or a bundle: the inputs come out of tables, the types of the doors are proven elsewhere. */
export type Input = object;
export type Ask = (stage: Stage) => Input | Promise<Input>;
export type Asks = Readonly<Record<string, Ask>>;

/** A busy machine must not become a finding. */
export const patient: Preflight.Options = { deadline: 60_000 };

export const preflight = (url: string, input: Input, options?: Preflight.Options): Promise<BundleReport> =>
  on.preflight(url, input as on.AnyInput, { ...patient, ...options });
export const scan = (url: string, input: Input, options?: Preflight.Options): Promise<BundleReport> =>
  on.scan(url, input as on.AnyInput, { ...patient, ...options });

/** For cases that no node tells differently: one of them is enough. */
export const onAnvil = (cases: ReadonlyArray<Case>): ReadonlyArray<Case> =>
  cases.map((one) => ({ ...one, on: ["anvil"] }));

/** geth makes its pending block anew every two seconds: where that was between a scan and its proof, they had two. */
const onOneBlock = async (ask: () => Promise<BundleReport>, tries = 5): Promise<BundleReport> => {
  const report = await ask();
  const isOther = report.findings.some(({ code }) => code === "OutcomeChanged");
  return isOther && tries > 1 ? onOneBlock(ask, tries - 1) : report;
};

const told =
  (run: typeof preflight) =>
  (group: string, asks: Asks, options?: (stage: Stage) => Preflight.Options): ReadonlyArray<Case> =>
    Object.entries(asks).map(([name, ask]) => ({
      names: [`${group}: ${name}`],
      tell: async (stage) => {
        const input = await ask(stage);
        return [await onOneBlock(() => run(stage.scene.url, input, options?.(stage)))];
      },
    }));

/** Scanned and proven, one report each. */
export const proven = told(preflight);

/** Scanned only. */
export const scanned = (group: string, asks: Asks, options?: (stage: Stage) => Preflight.Options) =>
  told(scan)(`${group}, scanned`, asks, options);

/** Each with options of its own. */
export const provenWith = (
  group: string,
  asks: Readonly<Record<string, (stage: Stage) => readonly [input: Input, options: Preflight.Options]>>,
): ReadonlyArray<Case> =>
  Object.entries(asks).map(([name, ask]) => ({
    names: [`${group}: ${name}`],
    tell: async (stage) => {
      const [input, options] = ask(stage);
      return [await preflight(stage.scene.url, input, options)];
    },
  }));

/** Several reports of one course of events. */
export const story = (
  group: string,
  names: ReadonlyArray<string>,
  tell: Case["tell"],
  on?: string,
): ReadonlyArray<Case> => [
  { names: names.map((name) => `${group}: ${name}`), tell, ...(on === undefined ? {} : { on: [on] }) },
];
