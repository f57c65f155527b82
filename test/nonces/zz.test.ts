import * as PgClient from "@effect/sql-pg/PgClient";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as ManagedRuntime from "effect/ManagedRuntime";
import fc from "fast-check";
import { it } from "vitest";
import { NonceStore } from "../../src/NonceStore.js";
import { layer, migrate } from "../../src/postgres.js";
import { history, liveThrough } from "./model.js";
import { findPostgres, startPostgres } from "./servers.js";
it("pg", async () => {
  const server = await startPostgres(findPostgres("x")!);
  const rt = ManagedRuntime.make(layer.pipe(Layer.provideMerge(PgClient.layer({ path: server.socket, username: server.user, database: server.database }))));
  await rt.runPromise(migrate);
  await rt.runPromise(Effect.flatMap(NonceStore, (store) => Effect.promise(() => fc.assert(fc.asyncProperty(history, (c) => Effect.runPromise(liveThrough(store, c))), { numRuns: 700 }))));
  await rt.dispose(); await server.stop();
}, 300000);
