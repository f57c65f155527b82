/** The modules that Node brings with it, found at run time, so that the same module loads in browsers. */
const host = (globalThis as { readonly process?: NodeJS.Process }).process;

/** True if the program runs on Node. Bun and Deno have a native `fetch`, which their `node:http` is built upon. */
export const isNode: boolean =
  host?.getBuiltinModule !== undefined && host.versions["bun"] === undefined && host.versions["deno"] === undefined;

/** A module of Node's, loaded when it is asked for; only where {@link isNode}. */
export const builtin: NodeJS.Process["getBuiltinModule"] = (name: string) =>
  (host as NodeJS.Process).getBuiltinModule(name as "node:http") as never;
