-- Instants are milliseconds since 1970 in UTC, spans are milliseconds, words are those of the history.

-- One row: what there is only one of.
CREATE TABLE meta (
  only      INTEGER PRIMARY KEY CHECK (only = 1),
  watermark INTEGER,                 -- every slot up to here has been dealt with
  beat_at   INTEGER,                 -- the daemon was alive then
  beat_pid  INTEGER,
  beat_next INTEGER                  -- and meant to fire next then
) STRICT;
INSERT INTO meta (only) VALUES (1);

-- What the daemon's plan was made of; a changed fingerprint starts anew.
CREATE TABLE schedules (
  name        TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  starts_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The claim: whoever inserts the row owns the slot.
CREATE TABLE slots (
  job        TEXT NOT NULL,
  fire_at    INTEGER NOT NULL,
  grp        TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  fate       TEXT NOT NULL,          -- fire, skip, catch_up
  outcome    TEXT,                   -- of the slot's own run
  reason     TEXT,
  closed_at  INTEGER,
  PRIMARY KEY (job, fire_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice, pruned or not
  job             TEXT NOT NULL,
  fire_at         INTEGER NOT NULL,  -- of the slot at which the work was due
  origin          TEXT NOT NULL,
  grp             TEXT NOT NULL,
  model           TEXT NOT NULL,
  started_at      INTEGER NOT NULL,
  lease_until     INTEGER,           -- of a person's run: lost if it goes on after this
  finished_at     INTEGER,
  outcome         TEXT,
  reason          TEXT,
  note            TEXT,
  output          TEXT,
  next_not_before INTEGER,           -- where the work went, if it yielded
  next_at         INTEGER,
  next_carries    INTEGER
) STRICT;
CREATE INDEX runs_by_slot ON runs (job, fire_at);
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_under_way ON runs (id) WHERE outcome IS NULL;

-- One answer wanted: one a run, or one for each item.
CREATE TABLE calls (
  id                    INTEGER PRIMARY KEY,
  run                   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  item                  TEXT,
  message_id            TEXT,
  answered_by           TEXT,        -- the model that answered
  answer                TEXT,        -- whole, if it went nowhere else
  stop_reason           TEXT,
  input_tokens          INTEGER,
  cache_write_5m_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  cache_read_tokens     INTEGER,
  output_tokens         INTEGER,
  cost_usd              REAL
) STRICT;
CREATE INDEX calls_by_run ON calls (run);

CREATE TABLE attempts (
  call                  INTEGER NOT NULL REFERENCES calls (id) ON DELETE CASCADE,
  n                     INTEGER NOT NULL,
  started_at            INTEGER NOT NULL,
  wait_ms               INTEGER NOT NULL,
  latency_ms            INTEGER,     -- absent while it is under way or after a crash
  first_byte_ms         INTEGER,
  status                INTEGER,
  class                 TEXT,
  error_type            TEXT,
  error_code            TEXT,
  request_id            TEXT,
  hint_ms               INTEGER,
  message               TEXT,
  input_tokens          INTEGER,     -- counted before it failed; an answer is counted with its call
  cache_write_5m_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  cache_read_tokens     INTEGER,
  output_tokens         INTEGER,
  PRIMARY KEY (call, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE deferrals (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  job        TEXT NOT NULL,
  fire_at    INTEGER NOT NULL,       -- of the slot at which the work was due
  grp        TEXT NOT NULL,
  model      TEXT NOT NULL,
  state      TEXT NOT NULL,          -- pending, running, done, failed, merged
  not_before INTEGER NOT NULL,
  to_at      INTEGER,
  carries    INTEGER NOT NULL,
  rule       TEXT NOT NULL,
  reason     TEXT NOT NULL,
  origin     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  run        INTEGER REFERENCES runs (id) ON DELETE SET NULL,  -- that carries it, or that ended it
  ended_at   INTEGER
) STRICT;
CREATE INDEX deferrals_open ON deferrals (grp, fire_at) WHERE state IN ('pending', 'running');

-- A group's budget, breaker and hold: asked and changed under one lock.
CREATE TABLE guards (
  grp        TEXT PRIMARY KEY,
  state      TEXT NOT NULL,          -- JSON with a format version
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
