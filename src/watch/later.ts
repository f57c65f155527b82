/** `watch`, loaded when something is first watched. */
import * as Effect from "effect/Effect";
import * as Stream from "effect/Stream";
import type { Head } from "../eth/heads.js";
import type { Options } from "../pipeline/index.js";
import { later } from "../primitives/effects.js";
import type { Blocker } from "../report/ready.js";
import type { Report } from "../report/schema.js";
import type { Rpc } from "../rpc/index.js";
import type { Prove, Watched } from "./judge.js";

const watching = later(() => import("./watch.js"));

/** The watching of one report: `prove` is the pipeline's. See `Preflight.watch`. */
export const watchBy =
  (prove: Prove) =>
  <E = never, R = never>(
    report: Report,
    heads: Stream.Stream<Head, E, R>,
    options?: Options,
  ): Stream.Stream<Watched, Blocker | E, Rpc | R> =>
    Stream.unwrap(Effect.map(watching, ({ watchWith }) => watchWith(prove, report, heads, options)));
