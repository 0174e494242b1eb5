-- A run may want several answers: one for each item, for each step of a chain, and further parts of one that paused.
ALTER TABLE calls ADD COLUMN step INTEGER NOT NULL DEFAULT 1;
ALTER TABLE calls ADD COLUMN part INTEGER NOT NULL DEFAULT 1;
ALTER TABLE calls ADD COLUMN model TEXT;  -- that was asked; absent in rows from before this version
ALTER TABLE calls ADD COLUMN role TEXT;   -- of the answer: owed, step, whole, part
-- Counters like the others: written and read together with them. Absent in older rows, which means none and the list price.
ALTER TABLE calls ADD COLUMN web_searches INTEGER;
ALTER TABLE calls ADD COLUMN tier TEXT;   -- standard, priority, batch
ALTER TABLE calls ADD COLUMN geo TEXT;    -- global, us
ALTER TABLE calls ADD COLUMN speed TEXT;  -- standard, fast
ALTER TABLE attempts ADD COLUMN web_searches INTEGER;
ALTER TABLE attempts ADD COLUMN tier TEXT;
ALTER TABLE attempts ADD COLUMN geo TEXT;
ALTER TABLE attempts ADD COLUMN speed TEXT;
DROP INDEX calls_by_run;
CREATE UNIQUE INDEX calls_by_name ON calls (run, coalesce(item, ''), step, part);

-- What the work of a slot was split into, once. Without an outcome an item is still to be done.
CREATE TABLE items (
  job      TEXT NOT NULL,
  fire_at  INTEGER NOT NULL,         -- of the slot at which the work was due
  position INTEGER NOT NULL,         -- counted from 1
  name     TEXT NOT NULL,
  key      TEXT NOT NULL,            -- what the memory knows it by
  mark     TEXT NOT NULL,            -- of its content when the slot was split
  text     TEXT,                     -- absent for a file
  run      INTEGER,                  -- that ended it
  outcome  TEXT,
  reason   TEXT,
  note     TEXT,
  ended_at INTEGER,
  PRIMARY KEY (job, fire_at, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX items_by_name ON items (job, fire_at, name);
CREATE INDEX items_by_run ON items (run) WHERE run IS NOT NULL;
CREATE INDEX items_left ON items (job, key) WHERE outcome IS NULL;
CREATE INDEX items_by_key ON items (job, key);
CREATE INDEX items_by_age ON items (fire_at);

-- What `changed_since` looks at: the content with which an item was tried last.
CREATE TABLE memory (
  job     TEXT NOT NULL,
  key     TEXT NOT NULL,
  mark    TEXT NOT NULL,
  is_done INTEGER NOT NULL,          -- whether it succeeded
  seen_at INTEGER NOT NULL,          -- it was offered about then
  PRIMARY KEY (job, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_by_age ON memory (seen_at);

-- Complete answers that were owed to their places. A row begins in the transaction that records the answer.
CREATE TABLE deliveries (
  id         INTEGER PRIMARY KEY,
  call       INTEGER NOT NULL UNIQUE REFERENCES calls (id) ON DELETE CASCADE,
  state      TEXT NOT NULL,          -- pending, done, given_up
  tries      INTEGER NOT NULL,
  placed     INTEGER NOT NULL,       -- how many places have it
  since      INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  output     TEXT,
  trouble    TEXT,
  ended_at   INTEGER
) STRICT;
CREATE INDEX deliveries_open ON deliveries (not_before) WHERE state = 'pending';

-- Message batches: the run of one stays open until its results are there.
CREATE TABLE batches (
  run          INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  id           TEXT NOT NULL,        -- the server's name for it
  key          TEXT NOT NULL,        -- the name of the key that it was handed in with
  expires_at   INTEGER NOT NULL,
  look_at      INTEGER NOT NULL,     -- the next look
  looks        INTEGER NOT NULL      -- so far
) STRICT;
CREATE TABLE batch_parts (
  run  INTEGER NOT NULL REFERENCES batches (run) ON DELETE CASCADE,
  n    INTEGER NOT NULL,             -- counted from 1; the part is named by it
  item TEXT,
  PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;
