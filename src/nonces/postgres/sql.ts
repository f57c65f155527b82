/** The statements. Everything goes in and comes out as text, so that no driver's idea of a type matters. */

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
  ADD COLUMN IF NOT EXISTS format int NOT NULL DEFAULT 2`,
];

/** Two processes that create the tables at once would fail on each other. */
export const lockSchema = "SELECT pg_advisory_xact_lock(7702155915594844)";

/** The lane's row lock is what makes an operation atomic; above this level, waiting for it ends in a failure. */
export const isolation = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED";

const clock = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text";
const bounds = `l.floor::text AS floor, l.next::text AS next, l.tail::text AS tail, l.doubt::text AS doubt,
  l.doubt_at::text AS doubt_at, l.commits::text AS commits, l.format::text AS format`;

/**
 * The lane, locked until the transaction ends. A commit must be on disk before it is acknowledged. A
 * process that stops in the middle loses its session after 2 s, and with it the lock.
 */
export const lockLane = `SELECT ${clock} AS now, ${bounds},
  set_config('idle_in_transaction_session_timeout', '2000', true) AS patience,
  CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', true) END AS synced
FROM evm_preflight_nonce_lane l WHERE l.lane = $1 FOR UPDATE`;

const slot = `nonce::text AS nonce, state, token, width::text AS width, until::text AS until, since::text AS since,
  offered_at::text AS offered_at, shared::text AS shared, outcome, attempts::text AS attempts`;

/** What an operation can touch: the active part, recent history and all from the latest count on, the oldest rows, and one nonce by name. */
export const slotsFor = `SELECT ${slot} FROM evm_preflight_nonce_slot
WHERE lane = $1 AND (nonce >= $2::text::bigint OR nonce < $3::text::bigint OR nonce = $4::text::bigint) ORDER BY nonce`;

/** A lane and its slots from a nonce on, as of one moment; one row without a nonce where there is no slot. */
export const readLane = `SELECT ${clock} AS now, ${bounds},
  s.nonce::text AS nonce, s.state, s.token, s.width::text AS width, s.until::text AS until, s.since::text AS since,
  s.offered_at::text AS offered_at, s.shared::text AS shared, s.outcome, s.attempts::text AS attempts
FROM evm_preflight_nonce_lane l
LEFT JOIN evm_preflight_nonce_slot s ON s.lane = l.lane AND s.nonce >= l.floor - $2::text::bigint
WHERE l.lane = $1 ORDER BY s.nonce`;

/** Its commits are counted from the time, so that one begun anew is ahead of the one that was lost. */
export const newLane = `INSERT INTO evm_preflight_nonce_lane (lane, floor, next, tail, commits)
VALUES ($1, $2::text::bigint, $2::text::bigint, $2::text::bigint, (${clock})::bigint) ON CONFLICT DO NOTHING RETURNING lane`;

export const write = `WITH gone AS (
  DELETE FROM evm_preflight_nonce_slot
  WHERE lane = $1 AND nonce IN (SELECT jsonb_array_elements_text($5::text::jsonb)::bigint)
), kept AS (
  INSERT INTO evm_preflight_nonce_slot (lane, nonce, state, token, width, until, since, offered_at, shared, outcome, attempts)
  SELECT $1, nonce, state, token, width, until, since, offered_at, shared, outcome, attempts
  FROM jsonb_to_recordset($6::text::jsonb) AS it(nonce bigint, state text, token text, width smallint, until bigint,
    since bigint, offered_at bigint, shared boolean, outcome text, attempts jsonb)
  ON CONFLICT (lane, nonce) DO UPDATE SET state = excluded.state, token = excluded.token, width = excluded.width,
    until = excluded.until, since = excluded.since, offered_at = excluded.offered_at, shared = excluded.shared,
    outcome = excluded.outcome, attempts = excluded.attempts
)
UPDATE evm_preflight_nonce_lane
SET floor = $2::text::bigint, next = $3::text::bigint, tail = $4::text::bigint,
  doubt = $7::text::bigint, doubt_at = $8::text::bigint, commits = $9::text::bigint
WHERE lane = $1`;

export const lanes = "SELECT lane FROM evm_preflight_nonce_lane ORDER BY lane";
