-- Files that could not be taken over while a daemon runs: the plan before them stands.
ALTER TABLE meta ADD COLUMN refused_at INTEGER;  -- since then
ALTER TABLE meta ADD COLUMN refused_why TEXT;    -- in words, a line each
