//! Where findings of the linter belong: jobs and cron expressions back to places in YAML.

use std::collections::BTreeMap;

use crate::job::{GroupId, JobId};

use super::source::Place;

/// The places of every job that could be read.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    jobs: BTreeMap<JobId, JobPlaces>,
    pickups: BTreeMap<GroupId, Vec<Place>>,
}

#[derive(Debug, Clone)]
struct JobPlaces {
    start: Place,
    crons: Vec<Place>,
}

impl Sources {
    pub(super) fn add_job(&mut self, job: JobId, start: Place, crons: Vec<Place>) {
        self.jobs.insert(job, JobPlaces { start, crons });
    }

    pub(super) fn add_pickup(&mut self, group: GroupId, crons: Vec<Place>) {
        self.pickups.insert(group, crons);
    }

    /// Where a job begins.
    #[must_use]
    pub fn job_place(&self, job: &JobId) -> Option<Place> {
        Some(self.jobs.get(job)?.start.clone())
    }

    /// Where a job's cron expression stands, counted from 0 in the order of the file.
    #[must_use]
    pub fn cron_place(&self, job: &JobId, cron: usize) -> Option<Place> {
        self.jobs.get(job)?.crons.get(cron).cloned()
    }

    /// Where a group's pickup expression stands, counted from 0 in the order of the file.
    #[must_use]
    pub fn pickup_place(&self, group: &GroupId, cron: usize) -> Option<Place> {
        self.pickups.get(group)?.get(cron).cloned()
    }
}
