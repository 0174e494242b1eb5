//! From what the rules found to findings that a person can read.

mod closing;
mod sentences;

use std::collections::HashSet;

use super::advice::about;
use super::board::{Board, Group};
use super::breaker::{self, Densest};
use super::ranked::Found;
use super::repair::Repairs;
use super::ring::Neighbourhood;
use super::spacing::{self, Limits};
use super::year::Year;
use super::{Finding, Rule, Suggestion, clock_change, help, never, overrun, peak};
use closing::{Standing, closing};

pub(super) use closing::first_of_each_group;

/// To look for a legal time is to look at every line of the group. In a large
/// group only the first are looked for: so many that they look at this many
/// lines together.
const SEARCHED_LINES: usize = 200_000;

/// However large the group is, so many are looked for.
const LEAST_SEARCHES: usize = 10;

/// What the proof of one group comes to.
#[derive(Debug)]
pub(super) struct Telling {
    /// The findings.
    pub(super) findings: Vec<Finding>,
    /// The subjects that accept a rule that found something in them, told or only counted.
    pub(super) used: Vec<(usize, Rule)>,
}

/// What is found once and serves every group.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    /// Counts over the first year.
    pub(super) year: Year<'a>,
    /// How close together days lie.
    pub(super) densest: Densest,
}

/// Everything that the rules find in one group.
pub(super) fn findings<'a>(
    board: &'a Board<'a>,
    group: &'a Group,
    shared: &mut Shared<'a>,
) -> Telling {
    let is_on = |rule| board.rules.levels.severity(rule).is_some();
    let runs = group.classes.iter().map(|class| class.worst_case);
    let longest = runs.max().filter(|_| is_on(Rule::Overrun)).unwrap_or(0);
    let limits = Limits::of(board.rules);
    let mut teller = Teller {
        board,
        group,
        near: Neighbourhood::new(board, group, longest.max(limits.widest)),
        year: &mut shared.year,
        repairs: Repairs::new(board, group),
        looked_for: HashSet::new(),
        telling: Telling {
            findings: Vec::new(),
            used: Vec::new(),
        },
    };
    let pairs = spacing::pairs(board, group, limits, &mut teller.near);
    teller.tell(pairs.tight, Teller::pair);
    teller.tell(pairs.narrow, Teller::pair);
    if is_on(Rule::PeakWindow) {
        teller.tell(peak::firings(board, group), Teller::peak);
    }
    if is_on(Rule::NeverFires) {
        teller.tell(never::nevers(board, group), Teller::never);
    }
    if is_on(Rule::ClockChange) {
        teller.tell(clock_change::changes(board, group), Teller::change);
    }
    if is_on(Rule::Overrun) {
        let overruns = overrun::overruns(board, group, &mut teller.near);
        teller.tell(overruns, Teller::overrun);
    }
    let mut telling = teller.telling;
    if is_on(Rule::BreakerCannotOpen) {
        let found = breaker::cannot_open(board, group, &mut shared.densest);
        telling.findings.extend(found);
    }
    telling
}

struct Teller<'a, 'y> {
    board: &'a Board<'a>,
    group: &'a Group,
    near: Neighbourhood,
    year: &'y mut Year<'a>,
    repairs: Repairs<'a>,
    /// The lines for which a suggestion was looked for.
    looked_for: HashSet<usize>,
    telling: Telling,
}

impl Teller<'_, '_> {
    fn tell<T>(&mut self, found: Found<T>, finding: fn(&mut Self, Rule, &T) -> Finding) {
        let Found {
            rule,
            open,
            accepted,
            used,
        } = found;
        for class in used {
            let members = self.group.classes[class].members.iter();
            let used = members.map(|subject| (*subject, rule));
            self.telling.used.extend(used);
        }
        for (told, standing) in [(open, Standing::Open), (accepted, Standing::Accepted)] {
            for item in &told.first {
                let finding = finding(self, rule, item);
                self.telling.findings.push(finding);
            }
            if let Some((item, count)) = told.rest {
                let rest = closing(finding(self, rule, &item), count, standing);
                self.telling.findings.push(rest);
            }
        }
    }

    /// The way out of a finding about a line: a suggestion, or words.
    fn way_out(
        &mut self,
        line: usize,
        words: impl FnOnce(&Self) -> String,
    ) -> (Option<Suggestion>, Option<String>) {
        let most = most_searches(self.group.lines.len());
        if !self.looked_for.contains(&line) && self.looked_for.len() >= most {
            let member = self.group.classes[self.group.lines[line].class].members[0];
            let group = &self.board.subjects[member].group;
            return (None, Some(help::mend_first(most, group)));
        }
        self.looked_for.insert(line);
        match self.repairs.suggest(line) {
            Some(suggestion) => (Some(suggestion), None),
            None => (None, Some(words(self))),
        }
    }

    /// A finding about one line of a subject.
    fn about(&self, rule: Rule, subject: usize, line: usize, message: String) -> Finding {
        Finding {
            cron: Some(self.group.lines[line].cron),
            ..about(rule, &self.board.subjects[subject], message)
        }
    }

    /// The text of a line as its job writes it.
    fn text(&self, line: usize) -> &str {
        let line = &self.group.lines[line];
        let member = self.group.classes[line.class].members[0];
        self.board.subjects[member].timetable.exprs()[line.cron].text()
    }
}

/// For how many lines of a group of so many a legal time is looked for.
fn most_searches(lines: usize) -> usize {
    (SEARCHED_LINES / lines.max(1)).max(LEAST_SEARCHES)
}

/// The order of findings: errors first, then in time, then by name; a count of
/// the rest, which marks no expression, after what else starts at its instant.
pub(super) fn order(finding: &Finding) -> impl Ord + use<'_> {
    let other = finding.other.as_ref().map(|other| (&other.job, other.at));
    let place = (finding.severity, finding.at, finding.cron.is_none());
    (
        place,
        &finding.job,
        finding.rule,
        other,
        finding.cron,
        &finding.group,
    )
}

/// A span of time in its largest units: `45 min`, `1 h 30 min`, `90 s`.
pub(super) fn human(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes, rest) {
        (0, 0, _) => format!("{seconds} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, rest) => format!("{minutes} min {rest} s"),
        (hours, 0, 0) => format!("{hours} h"),
        (hours, minutes, 0) => format!("{hours} h {minutes} min"),
        (hours, minutes, rest) => format!("{hours} h {minutes} min {rest} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::{human, most_searches};

    #[test]
    fn searches_are_bounded_by_the_lines_that_they_look_at() {
        let most: Vec<usize> = [0, 20, 2_000, 5_000, 20_000, 1_000_000]
            .into_iter()
            .map(most_searches)
            .collect();
        assert_eq!(most, [200_000, 10_000, 100, 40, 10, 10]);
    }

    #[test]
    fn spans_are_told_in_their_largest_units() {
        let told: Vec<String> = [0, 59, 60, 90, 900, 3_600, 5_400, 3_661]
            .into_iter()
            .map(human)
            .collect();
        assert_eq!(
            told,
            [
                "0 s",
                "59 s",
                "1 min",
                "1 min 30 s",
                "15 min",
                "1 h",
                "1 h 30 min",
                "1 h 1 min 1 s"
            ]
        );
    }
}
