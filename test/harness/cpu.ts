/** CPU of this thread. */
import { readFileSync } from "node:fs";

/** Ms of CPU that this thread took so far; where the system does not say, of all threads. */
export const cpu = (): number => {
  try {
    // why: not the threads of the compiler and the garbage collector, which run beside the event loop
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
};
