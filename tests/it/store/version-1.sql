-- A file as version 1 of the schema made it; never edited, so that every later version must read it.

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

PRAGMA user_version = 1;

-- One night as version 1 wrote it: a slot that yielded, its work carried by a later slot, a missed slot, a hold.
UPDATE meta SET watermark = 1792608300000, beat_at = 1792608310000, beat_pid = 4711, beat_next = 1792609200000;
INSERT INTO schedules VALUES ('digest', 'f00d', 1792600000000);
INSERT INTO slots VALUES
  ('digest', 1792602000000, 'main', 1792602000020, 'fire', 'yielded', 'breaker', 1792602004000),
  ('review', 1792604700000, 'main', 1792608300000, 'catch_up', 'yielded', 'missed', 1792608300000);
INSERT INTO runs VALUES
  (1, 'digest', 1792602000000, 'scheduled', 'main', 'claude-sonnet-5-5', 1792602000020, NULL, 1792602004000,
   'yielded', 'breaker', 'the breaker is open', NULL, 1792602064000, 1792604700000, 1),
  (2, 'review', 1792604700000, 'scheduled', 'main', 'claude-sonnet-5-5', 1792608300000, NULL, 1792608300000,
   'yielded', 'missed', NULL, NULL, 1792608300000, NULL, 1),
  (3, 'digest', 1792602000000, 'deferred', 'main', 'claude-sonnet-5-5', 1792608301000, NULL, 1792608309000,
   'succeeded', NULL, NULL, 'out/digest.md', NULL, NULL, NULL);
INSERT INTO calls VALUES
  (1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (2, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, 3, NULL, 'msg_1', 'claude-sonnet-5-5', NULL, 'end_turn', 11, 12, 13, 14, 15, 0.25);
INSERT INTO attempts VALUES
  (1, 1, 1792602000030, 0, 840, NULL, 529, 'retryable', 'overloaded_error', NULL, 'req_1', 4000, 'Overloaded',
   21, 22, 23, 24, 25),
  (3, 1, 1792608301010, 0, 7900, 700, 200, 'success', NULL, NULL, 'req_2', NULL, NULL,
   NULL, NULL, NULL, NULL, NULL);
INSERT INTO deferrals VALUES
  (1, 'digest', 1792602000000, 'main', 'claude-sonnet-5-5', 'done', 1792602064000, 1792604700000, 1, 'next_slot',
   'breaker', 'deferred', 1792602004000, 3, 1792608309000),
  (2, 'review', 1792604700000, 'main', 'claude-sonnet-5-5', 'pending', 1792608300000, NULL, 1, 'own_slot', 'missed',
   'catch_up', 1792608300000, NULL, NULL);
INSERT INTO guards VALUES ('main',
  '{"v":1,"sent":[1792608301010000000],"breaker":"closed","generation":2,"samples":[[1792608309000000000,"s"]],"hold":{"cause":"billing","until":null,"since":1792608309000000000,"note":"credit is used up"},"strikes":0}',
  1792608309000);
