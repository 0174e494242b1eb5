-- Jobs and groups that a person keeps still. A row outlives its pause: slots missed meanwhile are recorded as paused.
CREATE TABLE pauses (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  job      TEXT,                     -- of a job
  grp      TEXT,                     -- or of a group
  since    INTEGER NOT NULL,
  until    INTEGER,                  -- ends by itself then
  reason   TEXT,
  ended_at INTEGER,                  -- a person lifted it then, or another pause took its place
  CHECK ((job IS NULL) <> (grp IS NULL))
) STRICT;
