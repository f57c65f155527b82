/** The statements. Everything goes in and comes out as text, so that no driver's idea of a type matters. */
import { clockSlackMs } from "../remembered.js";

/** The format of lanes that this version writes; those of 0.1.0 have none, and only 3 has a version. */
export const laneFormat = 3;

const stamp = "md5(random()::text || clock_timestamp()::text)";

/** The tables. Every statement can be run again. */
export const schema: ReadonlyArray<string> = [
  `CREATE TABLE IF NOT EXISTS evm_preflight_nonce_lane (
  lane  text   PRIMARY KEY,
  floor bigint NOT NULL,
  next  bigint NOT NULL,
  tail  bigint NOT NULL,
  CHECK (tail <= floor AND floor <= next)
)`,
  `CREATE TABLE IF NOT EXISTS evm_preflight_nonce_slot (
  lane       text     NOT NULL REFERENCES evm_preflight_nonce_lane (lane) ON DELETE CASCADE,
  nonce      bigint   NOT NULL,
  state      text     NOT NULL CHECK (state IN ('free', 'reserved', 'committed', 'settled')),
  token      text     NOT NULL,
  width      smallint NOT NULL CHECK (width IN (0, 1, 2)),
  until      bigint   NOT NULL,
  since      bigint   NOT NULL,
  offered_at bigint   NOT NULL,
  shared     boolean  NOT NULL,
  outcome    text     NOT NULL,
  attempts   jsonb    NOT NULL,
  PRIMARY KEY (lane, nonce),
  CHECK ((state = 'free') = (token = ''))
)`,
  `ALTER TABLE evm_preflight_nonce_lane
  ADD COLUMN IF NOT EXISTS doubt bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS doubt_at bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS commits bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS format int NOT NULL DEFAULT 2,
  ADD COLUMN IF NOT EXISTS version text NOT NULL DEFAULT ''`,
  // Beside the lanes, so that what is lost there is missed
  `CREATE TABLE IF NOT EXISTS evm_preflight_nonce_mark (lane text PRIMARY KEY, mark text NOT NULL)`,
  // Those who lock a lane do not move its version, and refuse one of a newer format
  `ALTER TABLE evm_preflight_nonce_lane ALTER COLUMN format SET DEFAULT ${laneFormat}`,
  `UPDATE evm_preflight_nonce_lane SET format = ${laneFormat}, version = ${stamp} WHERE format < ${laneFormat}`,
];

/** Two processes that create the tables at once would fail on each other. */
export const lockSchema = "SELECT pg_advisory_xact_lock(7702155915594844)";

const clock = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Bytes that were not asked for are `0x`. */
const selectedAttempts = `CASE WHEN $5::text = '1' OR jsonb_typeof(s.attempts) <> 'array' THEN s.attempts::text ELSE (
    SELECT coalesce(jsonb_agg(jsonb_build_object('hash', a -> 'hash', 'raw', CASE WHEN a ->> 'raw' IS NULL THEN NULL ELSE '0x' END)
      ORDER BY at), '[]')::text FROM jsonb_array_elements(s.attempts) WITH ORDINALITY AS each (a, at)) END`;

/** Numeric, so that no nonce that is asked for overflows. */
const number = (parameter: string) => `${parameter}::text::numeric`;

/** A lane, and the nonce of the same row, whose transactions are read as `attempts`; no nonce where there is none. */
const columns = (attempts: string) => `SELECT ${clock}::text AS now, l.version, l.format::text AS format,
  l.commits::text AS commits, l.floor::text AS floor, l.next::text AS next, l.tail::text AS tail,
  l.doubt::text AS doubt, l.doubt_at::text AS "doubtAt", s.nonce::text AS nonce, s.state, s.token, s.width::text AS width,
  s.until::text AS until, s.since::text AS since, s.offered_at::text AS "offeredAt", s.shared::text AS shared, s.outcome,
  ${attempts} AS attempts
FROM evm_preflight_nonce_lane l`;

/** A lane and what is wanted of it, as of one moment; one row without a nonce where there is no slot. A nonce can come twice. */
export const readLane = `${columns(selectedAttempts)}
LEFT JOIN LATERAL (
  SELECT * FROM evm_preflight_nonce_slot
  WHERE lane = l.lane AND nonce >= greatest(l.tail, least(l.floor - ${number("$2")}, ${number("$3")}))::bigint
  UNION ALL SELECT * FROM evm_preflight_nonce_slot
  WHERE lane = l.lane AND nonce < least(l.tail + ${number("$4")}, l.next)::bigint
) s ON true
WHERE l.lane = $1`;

/** All of a lane, also what lies outside it. */
export const readAll = `${columns("s.attempts::text")}
LEFT JOIN evm_preflight_nonce_slot s ON s.lane = l.lane
WHERE l.lane = $1 ORDER BY s.nonce`;

/** SQL after the lane's row: `held` has it when it was written. A commit must be on disk before it is acknowledged. */
const slots = (deletes: string, upserts: string) => `, gone AS (
  DELETE FROM evm_preflight_nonce_slot s USING held
  WHERE s.lane = held.lane AND s.nonce IN (SELECT jsonb_array_elements_text(${deletes}::text::jsonb)::bigint)
), kept AS (
  INSERT INTO evm_preflight_nonce_slot AS s (lane, nonce, state, token, width, until, since, offered_at, shared, outcome, attempts)
  SELECT held.lane, nonce, state, token, width, until, since, "offeredAt", shared, outcome, attempts
  FROM held, jsonb_to_recordset(${upserts}::text::jsonb) AS it(nonce bigint, state text, token text, width smallint, until bigint,
    since bigint, "offeredAt" bigint, shared boolean, outcome text, attempts jsonb)
  ON CONFLICT (lane, nonce) DO UPDATE SET state = excluded.state, token = excluded.token, width = excluded.width,
    until = excluded.until, since = excluded.since, offered_at = excluded.offered_at, shared = excluded.shared,
    outcome = excluded.outcome, attempts = (
      SELECT coalesce(jsonb_agg(CASE WHEN a ->> 'raw' = '0x' THEN s.attempts -> (at - 1)::int ELSE a END ORDER BY at), '[]')
      FROM jsonb_array_elements(excluded.attempts) WITH ORDINALITY AS each (a, at))
)
SELECT ${clock}::text AS now, (SELECT count(*) FROM held)::text AS written,
  CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END AS synced`;

/** A lane written where it has the version that it was decided on, and its clock is near the server's. */
export const writeLane = `WITH held AS (
  UPDATE evm_preflight_nonce_lane SET version = $3, commits = $4::text::bigint, floor = $5::text::bigint,
    next = $6::text::bigint, tail = $7::text::bigint, doubt = $8::text::bigint, doubt_at = $9::text::bigint
  WHERE lane = $1 AND version = $2 AND abs(${clock} - $10::text::bigint) <= ${clockSlackMs} RETURNING lane
)${slots("$11", "$12")}`;

/** A lane written where there is none. */
export const newLane = `WITH held AS (
  INSERT INTO evm_preflight_nonce_lane (lane, version, format, commits, floor, next, tail, doubt, doubt_at)
  SELECT $1, $2, ${laneFormat}, $3::text::bigint, $4::text::bigint, $5::text::bigint, $6::text::bigint, $7::text::bigint, $8::text::bigint
  WHERE abs(${clock} - $9::text::bigint) <= ${clockSlackMs} ON CONFLICT DO NOTHING RETURNING lane
)${slots("$10", "$11")}`;

/** Its nonces go with it, and its mark. */
export const forgetLane = `WITH mark AS (DELETE FROM evm_preflight_nonce_mark WHERE lane = $1)
DELETE FROM evm_preflight_nonce_lane WHERE lane = $1 RETURNING lane`;

export const mark = "SELECT mark FROM evm_preflight_nonce_mark WHERE lane = $1";

export const setMark =
  "INSERT INTO evm_preflight_nonce_mark VALUES ($1, $2) ON CONFLICT (lane) DO UPDATE SET mark = excluded.mark";

/** Tables of lanes that another `search_path` leads to, as they are written in a statement. */
export const elsewhere = `SELECT format('%I.%I', n.nspname, c.relname) AS found
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relname = 'evm_preflight_nonce_lane' AND c.relkind IN ('r', 'p')
  AND c.oid <> 'evm_preflight_nonce_lane'::regclass
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
ORDER BY 1 LIMIT 64`;

export const holds = (table: string) => `SELECT lane FROM ${table} WHERE lane = $1`;

export const now = `SELECT ${clock}::text AS now`;

export const lanes = "SELECT lane FROM evm_preflight_nonce_lane ORDER BY lane";
