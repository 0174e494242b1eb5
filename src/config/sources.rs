//! Where findings of the linter belong: jobs and cron expressions back to places in YAML.

use std::collections::BTreeMap;
use std::path::Path;

use crate::job::{GroupId, JobId};
use crate::lint::{Change, Rule};

use super::source::Place;

/// The places of every job that could be read.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    jobs: BTreeMap<JobId, JobPlaces>,
    pickups: BTreeMap<GroupId, Vec<Place>>,
}

/// The places of a job.
#[derive(Debug, Clone)]
pub(super) struct JobPlaces {
    /// Where it begins.
    pub start: Place,
    /// Where its cron expressions stand.
    pub crons: Vec<Place>,
    /// Where the rules that it accepts are named.
    pub accepts: BTreeMap<Rule, Place>,
    /// Where the fields stand that say what is asked of the API.
    pub asking: BTreeMap<String, Place>,
}

impl Sources {
    pub(super) fn add_job(&mut self, job: JobId, places: JobPlaces) {
        self.jobs.insert(job, places);
    }

    pub(super) fn add_pickup(&mut self, group: GroupId, crons: Vec<Place>) {
        self.pickups.insert(group, crons);
    }

    /// The files in which jobs and pickup slots stand, each with its name as shown to people.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        let pickups = self.pickups.values().flatten();
        let places = self
            .jobs
            .values()
            .map(|places| &places.start)
            .chain(pickups);
        let files: BTreeMap<&Path, &str> = places
            .map(|place| (place.source().path(), place.file()))
            .collect();
        files.into_iter()
    }

    /// Where a job begins.
    #[must_use]
    pub fn job_place(&self, job: &JobId) -> Option<Place> {
        Some(self.jobs.get(job)?.start.clone())
    }

    /// Where a rule that a job accepts is named in its `accept`.
    #[must_use]
    pub fn accept_place(&self, job: &JobId, rule: Rule) -> Option<Place> {
        self.jobs.get(job)?.accepts.get(&rule).cloned()
    }

    /// Where a field stands that says what a job asks of the API; it may stand in `request`.
    #[must_use]
    pub fn asking_place(&self, job: &JobId, field: &str) -> Option<Place> {
        let asking = &self.jobs.get(job)?.asking;
        // `STEP.FIELD` stands in the step, or else for the whole chain.
        let whole = field.rsplit_once('.').map(|(_, field)| field);
        let own = asking.get(field);
        own.or_else(|| asking.get(whole?)).cloned()
    }

    /// Where a job's cron expression stands, counted from 0 in the order of the file.
    #[must_use]
    pub fn cron_place(&self, job: &JobId, cron: usize) -> Option<Place> {
        self.jobs.get(job)?.crons.get(cron).cloned()
    }

    /// Where every cron expression stands; a place that several are read from comes as often.
    pub fn cron_places(&self) -> impl Iterator<Item = &Place> {
        let jobs = self.jobs.values().map(|job| &job.crons);
        jobs.chain(self.pickups.values()).flatten()
    }

    /// Where a group's pickup expression stands, counted from 0 in the order of the file.
    #[must_use]
    pub fn pickup_place(&self, group: &GroupId, cron: usize) -> Option<Place> {
        self.pickups.get(group)?.get(cron).cloned()
    }

    /// Where the expression of a change stands.
    #[must_use]
    pub fn place_of(&self, change: &Change) -> Option<Place> {
        let pickup = || self.pickup_place(&change.group, change.cron);
        self.cron_place(&change.job, change.cron).or_else(pickup)
    }

    /// Another group whose pickup slots stand in the list where the expression of a change stands.
    pub(super) fn sharing(&self, change: &Change, place: &Place) -> Option<&GroupId> {
        let shared = |(group, crons): &(&GroupId, &Vec<Place>)| {
            **group != change.group && crons.get(change.cron) == Some(place)
        };
        Some(self.pickups.iter().find(shared)?.0)
    }
}
