-- Which work a run carries is asked at the end of each run, and of each that is pruned.
CREATE INDEX deferrals_by_run ON deferrals (run);
-- How far a pruning reaches and what it takes: what ended, by the later of its two ends. A clock that was set back in
-- between ends a run before it began.
CREATE INDEX runs_ended ON runs (max(started_at, finished_at)) WHERE finished_at IS NOT NULL;
CREATE INDEX slots_ended ON slots (max(fire_at, closed_at)) WHERE closed_at IS NOT NULL;
-- Whether somebody has still to do the work of a run.
CREATE INDEX deferrals_open_by_slot ON deferrals (job, fire_at) WHERE state IN ('pending', 'running');
