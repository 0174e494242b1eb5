//! From what the rules found to findings that a person can read.

use std::time::Duration;

use super::board::{Board, Group, Line};
use super::clock_change::{self, Change, Effect};
use super::near::Reach;
use super::never::{self, Never};
use super::overrun::{self, Overrun, Reached};
use super::peak::{self, PeakFiring};
use super::ranked::{TOLD, Told};
use super::regimes::instant;
use super::repair::Repairs;
use super::ring::Neighbourhood;
use super::spacing::{self, Pair};
use super::year::Year;
use super::{Finding, Other, Rule};

/// Everything that the rules find in one group.
pub(super) fn findings<'a>(
    board: &'a Board<'a>,
    group: &'a Group,
    year: &mut Year<'a>,
) -> Vec<Finding> {
    let longest = group
        .classes
        .iter()
        .map(|class| class.worst_case)
        .max()
        .unwrap_or(0);
    let gaps = [board.rules.min_gap, board.rules.comfortable_gap].map(super::seconds);
    let mut near = Neighbourhood::new(board, group, longest.max(gaps[0]).max(gaps[1]));
    let pairs = spacing::pairs(board, group, &mut near);
    let overruns = overrun::overruns(board, group, &mut near);
    let repairs = Repairs::new(board, group);
    let mut teller = Teller {
        board,
        group,
        near,
        year,
        repairs,
        findings: Vec::new(),
    };
    teller.tell(Rule::KeyGap, pairs.tight, Teller::pair);
    teller.tell(Rule::ComfortableGap, pairs.narrow, Teller::pair);
    teller.tell(Rule::PeakWindow, peak::firings(board, group), Teller::peak);
    teller.tell(Rule::NeverFires, never::nevers(board, group), Teller::never);
    teller.tell(
        Rule::ClockChange,
        clock_change::changes(board, group),
        Teller::change,
    );
    teller.tell(Rule::Overrun, overruns, Teller::overrun);
    teller.findings
}

struct Teller<'a, 'y> {
    board: &'a Board<'a>,
    group: &'a Group,
    near: Neighbourhood,
    year: &'y mut Year<'a>,
    repairs: Repairs<'a>,
    findings: Vec<Finding>,
}

impl Teller<'_, '_> {
    fn tell<T>(&mut self, rule: Rule, told: Told<T>, finding: fn(&mut Self, Rule, &T) -> Finding) {
        for item in &told.first {
            let finding = finding(self, rule, item);
            self.findings.push(finding);
        }
        if let Some((item, count)) = told.rest {
            let next = finding(self, rule, &item);
            let message = format!(
                "{count} more findings of {rule} in group `{}` are not listed, only the first {TOLD}",
                next.group
            );
            let rest = Finding {
                cron: None,
                other: None,
                gap: None,
                per_year: None,
                suggestion: None,
                help: None,
                message,
                ..next
            };
            self.findings.push(rest);
        }
    }

    /// A finding about one line of a subject.
    fn about(&self, rule: Rule, subject: usize, line: usize, message: String) -> Finding {
        let subject = &self.board.subjects[subject];
        Finding {
            rule,
            severity: rule.severity(),
            job: subject.job.clone(),
            group: subject.group.clone(),
            cron: Some(self.group.lines[line].cron),
            at: None,
            other: None,
            gap: None,
            per_year: None,
            message,
            suggestion: None,
            help: None,
            accepted: None,
        }
    }

    fn pair(&mut self, rule: Rule, pair: &Pair) -> Finding {
        let board = self.board;
        let one = &board.subjects[pair.later.subject];
        let two = &board.subjects[pair.earlier.subject];
        let own = pair.later.subject == pair.earlier.subject;
        let wanted = if rule == Rule::KeyGap {
            board.rules.min_gap
        } else {
            board.rules.comfortable_gap
        };
        let distance = match (own, pair.gap) {
            (true, gap) => format!(
                "`{}` fires {} after its own last firing",
                one.job,
                human(gap)
            ),
            (false, 0) => format!("`{}` and `{}` fire at one instant", two.job, one.job),
            (false, gap) => format!("`{}` fires {} after `{}`", one.job, human(gap), two.job),
        };
        let need = if rule == Rule::KeyGap {
            "needs at least"
        } else {
            "is comfortable with"
        };
        let message = format!(
            "{distance}; group `{}` {need} {} between firings",
            one.group,
            human(super::seconds(wanted))
        );
        let lines =
            |firing: spacing::Firing| self.group.lines_of(self.group.lines[firing.line].class);
        let below = super::seconds(wanted);
        let per_year = if own {
            self.year.own_pairs(lines(pair.later), Reach::own(below))
        } else {
            self.year
                .cross_pairs(lines(pair.later), lines(pair.earlier), Reach::cross(below))
        };
        Finding {
            at: Some(instant(pair.at)),
            other: Some(Other {
                job: two.job.clone(),
                cron: self.group.lines[pair.earlier.line].cron,
                at: instant(pair.at - pair.gap),
            }),
            gap: Some(Duration::from_secs(pair.gap.unsigned_abs())),
            per_year: Some(per_year),
            suggestion: if rule == Rule::KeyGap {
                self.repairs.suggest(pair.later.line)
            } else {
                None
            },
            ..self.about(rule, pair.later.subject, pair.later.line, message)
        }
    }

    fn peak(&mut self, rule: Rule, firing: &PeakFiring) -> Finding {
        let subject = &self.board.subjects[firing.subject];
        let at = instant(firing.at);
        let peaks = &self.board.rules.peaks;
        let window = peaks.containing(at).map(|window| format!(" {window}"));
        let message = format!(
            "`{}` fires in the peak window{} of {}",
            subject.job,
            window.unwrap_or_default(),
            peaks.zone().name()
        );
        let lines = self.group.lines_of(self.group.lines[firing.line].class);
        Finding {
            at: Some(at),
            per_year: Some(self.year.peaks(lines)),
            suggestion: self.repairs.suggest(firing.line),
            ..self.about(rule, firing.subject, firing.line, message)
        }
    }

    fn never(&mut self, rule: Rule, never: &Never) -> Finding {
        let subject = &self.board.subjects[never.subject];
        let text = subject.timetable.exprs()[self.group.lines[never.line].cron].text();
        let message = format!(
            "`{text}` of `{}` matches no date of the calendar; it never fires",
            subject.job
        );
        self.about(rule, never.subject, never.line, message)
    }

    fn change(&mut self, rule: Rule, change: &Change) -> Finding {
        let subject = &self.board.subjects[change.subject];
        let (job, zone) = (&subject.job, subject.timetable.zone().name());
        let message = match change.effect {
            Effect::Moved => format!(
                "a clock change in {zone} skips a fire time of `{job}`; it fires at the first valid moment after it"
            ),
            Effect::Skipped => format!(
                "a clock change in {zone} skips a fire time of `{job}`; it does not fire then"
            ),
            Effect::Repeated => {
                format!("a clock change in {zone} repeats a fire time of `{job}`; it fires again")
            }
        };
        let lines = self.group.lines_of(self.group.lines[change.line].class);
        Finding {
            at: Some(instant(change.at)),
            per_year: Some(clock_change::count_year(self.board, lines)),
            ..self.about(rule, change.subject, change.line, message)
        }
    }

    fn overrun(&mut self, rule: Rule, overrun: &Overrun) -> Finding {
        let subject = &self.board.subjects[overrun.subject];
        let class = self.group.lines[overrun.line].class;
        let worst = self.group.classes[class].worst_case;
        let reached = match overrun.reached {
            Reached::Slot { at, line } => {
                let next = &self.group.classes[self.group.lines[line].class].members;
                let next = next
                    .first()
                    .map_or("", |first| self.board.subjects[*first].job.as_str());
                format!(
                    "the slot of `{next}` comes {} after it starts",
                    human(at - overrun.at)
                )
            }
            Reached::Window => "a peak window starts before that".to_owned(),
        };
        let message = format!(
            "a run of `{}` may take {}, and {reached}",
            subject.job,
            human(worst)
        );
        let near = overrun::reachable(self.group, class, &mut self.near);
        let near: Vec<&Line> = near
            .into_iter()
            .map(|line| &self.group.lines[line])
            .collect();
        let per_year = self.year.overruns(self.group.lines_of(class), &near, worst);
        Finding {
            at: Some(instant(overrun.at)),
            per_year: Some(per_year),
            ..self.about(rule, overrun.subject, overrun.line, message)
        }
    }
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
fn human(seconds: i64) -> String {
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
    use super::human;

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
