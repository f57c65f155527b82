/** Parts of a client that a page loads when it first uses them, and that an app of one file hands in. */
import { InvalidConnection } from "../errors/index.js";
import { isRecord } from "../primitives/index.js";

/** Parts by name, and the module of each. */
interface Modules {
  readonly sending: typeof import("./nonces.js");
  readonly settling: typeof import("./settling.js");
  readonly watching: typeof import("./watching.js");
}

/** A part of a client by its name, with its code. */
export interface Part<name extends keyof PartVerbs = keyof PartVerbs> {
  /** The name by which a client finds it. */
  readonly name: name;
  /** Its code. */
  readonly load: () => Promise<unknown>;
}

/** Verbs of a client, by the part that they need. */
export interface PartVerbs {
  /** Those that reserve nonces and send. */
  readonly sending: "deliver" | "withNonce" | "nonces";
  /** The verb that compares a report with what was mined. */
  readonly settling: "settle";
  /** Those that follow the chain. */
  readonly watching: "watch" | "watchHeads" | "watchLogs";
}

/** `deliver`, `withNonce` and `nonces`: reserves nonces, has the requests signed and sends them. */
export const sending: Part<"sending"> = { name: "sending", load: () => import("./nonces.js") };

export const loadSettling = (): Promise<Modules["settling"]> => import("./settling.js");

/** `settle`: compares a report with what was mined. */
export const settling: Part<"settling"> = { name: "settling", load: loadSettling };

/** `watch`, `watchHeads` and `watchLogs`: follows the chain. */
export const watching: Part<"watching"> = { name: "watching", load: () => import("./watching.js") };

const verbsOf: Readonly<Record<keyof Modules, string>> = {
  sending: "`deliver`, `withNonce` and `nonces` need",
  settling: "`settle` needs",
  watching: "`watch`, `watchHeads` and `watchLogs` need",
};

/** The check of a list of parts, as the option of a client. */
export const partsFit: readonly [fits: (input: unknown) => boolean, problem: string] = [
  (input) =>
    Array.isArray(input) &&
    input.every(
      (part) => isRecord(part) && Object.hasOwn(verbsOf, String(part["name"])) && typeof part["load"] === "function",
    ),
  "must be a list of `sending`, `settling` and `watching`",
];

/** The code of a part; of one that is missing the reason, which names it. */
export const loaderOf = <name extends keyof Modules>(
  parts: ReadonlyArray<Part>,
  name: name,
): (() => Promise<Modules[name]>) => {
  const problem = `lacks \`${name}\`, which ${verbsOf[name]}: createPreflight(connection, { parts: [${name}] })`;
  const part = parts.find((each) => each.name === name);
  // a part of that name is the one above
  const load = part?.load as (() => Promise<Modules[name]>) | undefined;
  return load ?? (() => Promise.reject(new InvalidConnection({ field: "parts", problem })));
};
