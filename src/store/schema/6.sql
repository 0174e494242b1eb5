-- The newest runs of a job, of a group or with an outcome, however long the history is: an index is in the order of its
-- rows' numbers where its own column ties.
CREATE INDEX runs_by_job ON runs (job);
CREATE INDEX runs_by_group ON runs (grp);
CREATE INDEX runs_by_outcome ON runs (outcome) WHERE outcome IS NOT NULL;
