//! From subjects and rules to the board of a proof.
//!
//! Jobs of one group that are alike become one class; expressions with the
//! same day fields share a day set; zones are looked at once.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::board::{Board, Class, Group, Line};
use super::calendar::{Calendar, DaySet};
use super::outline::Almanac;
use super::regimes::{PairSpans, Track};
use super::{Effort, Rule, Rules, Subject};
use crate::job::GroupId;
use crate::schedule::{CronExpr, Zone};

/// Compiles subjects and rules.
pub(super) fn board<'a>(
    subjects: &'a [Subject],
    rules: &'a Rules,
    calendar: Calendar,
) -> Board<'a> {
    let mut order: Vec<usize> = (0..subjects.len()).collect();
    order.sort_by(|a, b| subjects[*a].job.cmp(&subjects[*b].job));
    let mut rank = vec![0; subjects.len()];
    for (place, subject) in order.iter().enumerate() {
        rank[*subject] = place;
    }
    let mut by_group: BTreeMap<&GroupId, Vec<usize>> = BTreeMap::new();
    for index in order {
        by_group
            .entry(&subjects[index].group)
            .or_default()
            .push(index);
    }
    let mut compiler = Compiler::new(calendar);
    let groups: Vec<Group> = by_group
        .into_values()
        .map(|members| compiler.group(subjects, &members))
        .collect();
    let peak_zone = compiler.zone(rules.peaks.zone());
    let Compiler { tracks, sets, .. } = compiler;
    let pairs = zone_pairs(&groups, peak_zone)
        .into_iter()
        .map(|(one, two)| {
            (
                (one, two),
                PairSpans::new(&tracks[one], &tracks[two], &calendar),
            )
        })
        .collect();
    Board {
        subjects,
        rules,
        calendar,
        rank,
        groups,
        tracks,
        peak_zone,
        sets,
        pairs,
    }
}

/// The pairs of zones that meet in a group, or a group and the windows.
fn zone_pairs(groups: &[Group], peak_zone: usize) -> HashSet<(usize, usize)> {
    let mut pairs = HashSet::new();
    for group in groups {
        let zones = group.zones();
        for one in &zones {
            pairs.insert((*one, peak_zone));
            pairs.extend(zones.iter().map(|two| (*one, *two)));
        }
    }
    pairs
}

/// What makes jobs of one group alike.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Alike<'a> {
    zone: usize,
    effort: Effort,
    accepted: Vec<Rule>,
    texts: Vec<&'a str>,
}

/// Collects what subjects share.
#[derive(Debug)]
struct Compiler {
    calendar: Calendar,
    almanac: Almanac,
    tracks: Vec<Track>,
    sets: Vec<DaySet>,
    zone_index: HashMap<String, usize>,
    day_index: HashMap<String, usize>,
}

impl Compiler {
    fn new(calendar: Calendar) -> Self {
        Self {
            calendar,
            almanac: Almanac::of(&calendar.days()),
            tracks: Vec::new(),
            sets: Vec::new(),
            zone_index: HashMap::new(),
            day_index: HashMap::new(),
        }
    }

    fn group(&mut self, subjects: &[Subject], members: &[usize]) -> Group {
        let mut group = Group {
            lines: Vec::new(),
            classes: Vec::new(),
        };
        let mut known: HashMap<Alike<'_>, usize> = HashMap::new();
        for member in members {
            let subject = &subjects[*member];
            let zone = self.zone(subject.timetable.zone());
            let texts = subject.timetable.exprs().iter();
            let alike = Alike {
                zone,
                effort: subject.effort,
                accepted: subject.accepted.keys().copied().collect(),
                texts: texts.map(CronExpr::text).collect(),
            };
            let class = *known
                .entry(alike)
                .or_insert_with(|| self.class(&mut group, subject, zone));
            group.classes[class].members.push(*member);
        }
        group
    }

    fn class(&mut self, group: &mut Group, subject: &Subject, zone: usize) -> usize {
        let (class, start) = (group.classes.len(), group.lines.len());
        for (cron, expr) in subject.timetable.exprs().iter().enumerate() {
            group.lines.push(Line {
                class,
                cron,
                times: expr.times().iter().map(|time| i64::from(*time)).collect(),
                days: self.days(expr),
                zone,
                spacing: expr.spacing(),
            });
        }
        let lines = start..group.lines.len();
        group.classes.push(Class {
            members: Vec::new(),
            lines,
            worst_case: super::seconds(subject.effort.worst_case()),
            effort: subject.effort,
            accepted: subject.accepted.keys().copied().collect(),
        });
        class
    }

    fn zone(&mut self, zone: &Zone) -> usize {
        if let Some(index) = self.zone_index.get(zone.name()) {
            return *index;
        }
        self.tracks.push(Track::new(zone, &self.calendar));
        self.zone_index
            .insert(zone.name().to_owned(), self.tracks.len() - 1);
        self.tracks.len() - 1
    }

    fn days(&mut self, expr: &CronExpr) -> usize {
        if let Some(index) = self.day_index.get(expr.day_key()) {
            return *index;
        }
        self.sets
            .push(DaySet::of(expr, &self.calendar.days(), &self.almanac));
        self.day_index
            .insert(expr.day_key().to_owned(), self.sets.len() - 1);
        self.sets.len() - 1
    }
}
