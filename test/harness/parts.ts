/**
 * Programs that tests use beside the embedded node, where they are installed. `npm test` leaves them all out, `npm run
 * test:all` and scripts use them; what is left out or not found is said.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

const isLeftOut = process.env["VITEST"] !== undefined && process.env["TEST_ALL"] !== "1";

/** Whether this is `npm run test:all`, or no test run at all: then proofs take their long form. */
export const isWhole = !isLeftOut;

/** Where Go keeps what it built. */
const goBin = (): string => {
  const fromEnvironment = process.env["GOPATH"];
  if (fromEnvironment !== undefined && fromEnvironment !== "") return join(fromEnvironment, "bin");
  try {
    const out = execFileSync("go", ["env", "GOPATH"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return join(out.trim(), "bin");
  } catch {
    return join(homedir(), "go", "bin");
  }
};

/** Says loudly what is skipped, and for the lack of what; `npm test` says it once for all. */
export const skip = (skipped: string, lack: string): null => {
  if (!isLeftOut) console.warn(`SKIPPED: ${skipped}: ${lack}`);
  return null;
};

/** How a program is found: the variable that names it, its names on the PATH or in Go's bin directory, and how to get it. */
interface Program {
  readonly variable: string;
  readonly names: ReadonlyArray<string>;
  readonly hint: string;
  readonly isOfGo?: boolean;
}

/** Finds a program; null where it is left out or is not there, and the tests that are skipped are named. */
export const finding =
  ({ variable, names, hint, isOfGo = false }: Program) =>
  (skipped: string): string | null => {
    if (isLeftOut) return null;
    const named = process.env[variable];
    const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...(isOfGo ? [goBin()] : [])];
    const places =
      named === undefined || named === ""
        ? folders.flatMap((folder) => names.map((name) => join(folder, name)))
        : [named];
    return (
      places.find((place) => existsSync(place)) ??
      skip(skipped, `no ${names[0] ?? variable} found (${hint}, or ${variable})`)
    );
  };

/** How often a property is tried: as often as told in `npm run test:all`, a fifth of that in `npm test`. */
export const runs = (most: number): number => (isWhole ? most : Math.ceil(most / 5));

/** How many inputs are drawn: so many in the tests, `TEST_DRAWN` of them in the programs that count for long. */
export const drawn = (count: number): number => Number(process.env["TEST_DRAWN"] ?? count);

/** All of them in `npm run test:all`, in `npm test` every other, from `first` on; each with its place among them. */
export const half = <A>(all: ReadonlyArray<A>, first: number): ReadonlyArray<readonly [A, number]> =>
  (isWhole ? all : all.filter((_, index) => index % 2 === first % 2)).map((one, index) => [one, index]);

/** All of them in `npm run test:all`; in `npm test` one, another for every `index`: a table of many rows meets them all. */
export const share = <A>(all: ReadonlyArray<A>, index: number): ReadonlyArray<A> => {
  const at = index % all.length;
  return isWhole ? all : all.slice(at, at + 1);
};
