/** Prints the ten slowest files of a run, for whoever wants it quicker. */
import type { Reporter, TestModule } from "vitest/node";

const msOf = (module: TestModule): number => {
  const { collectDuration, prepareDuration, environmentSetupDuration, setupDuration, duration } = module.diagnostic();
  return collectDuration + prepareDuration + environmentSetupDuration + setupDuration + duration;
};

export default class Slowest implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const slowest = [...modules].sort((one, other) => msOf(other) - msOf(one)).slice(0, 10);
    console.log("\nthe slowest files");
    for (const module of slowest)
      console.log(`${(msOf(module) / 1_000).toFixed(1).padStart(7)} s  ${module.relativeModuleId}`);
  }
}
