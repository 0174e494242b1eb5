//! What each rule's findings say.

use std::time::Duration;

use super::super::board::Line;
use super::super::clock_change::{self, Change, Effect};
use super::super::near::Reach;
use super::super::never::Never;
use super::super::overrun::{self, Overrun, Reached};
use super::super::peak::PeakFiring;
use super::super::regimes::instant;
use super::super::spacing::{Firing, Pair};
use super::super::{Finding, Other, Rule, help, seconds, shorten};
use super::{Teller, human};

impl Teller<'_, '_> {
    pub(super) fn pair(&mut self, rule: Rule, pair: &Pair) -> Finding {
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
            human(seconds(wanted))
        );
        let lines = |firing: Firing| self.group.lines_of(self.group.lines[firing.line].class);
        let below = seconds(wanted);
        let per_year = if own {
            self.year.own_pairs(lines(pair.later), Reach::own(below))
        } else {
            self.year
                .cross_pairs(lines(pair.later), lines(pair.earlier), Reach::cross(below))
        };
        let (suggestion, help) = if rule == Rule::KeyGap {
            self.way_out(pair.later.line, |teller| {
                help::no_room(teller.board, teller.group, pair.later.line)
            })
        } else {
            (None, Some(help::COMFORT.to_owned()))
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
            suggestion,
            help,
            ..self.about(rule, pair.later.subject, pair.later.line, message)
        }
    }

    pub(super) fn peak(&mut self, rule: Rule, firing: &PeakFiring) -> Finding {
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
        let (suggestion, help) = self.way_out(firing.line, |teller| {
            help::off_peak(teller.board, teller.group, firing.line)
        });
        let lines = self.group.lines_of(self.group.lines[firing.line].class);
        Finding {
            at: Some(at),
            per_year: Some(self.year.peaks(lines)),
            suggestion,
            help,
            ..self.about(rule, firing.subject, firing.line, message)
        }
    }

    pub(super) fn never(&mut self, rule: Rule, never: &Never) -> Finding {
        let subject = &self.board.subjects[never.subject];
        let text = self.text(never.line);
        let message = format!(
            "`{text}` of `{}` matches no date of the calendar; it never fires",
            subject.job
        );
        Finding {
            help: Some(help::existing_date(text)),
            ..self.about(rule, never.subject, never.line, message)
        }
    }

    pub(super) fn change(&mut self, rule: Rule, change: &Change) -> Finding {
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
            help: Some(help::steady_hours(
                self.board,
                &self.group.lines[change.line],
            )),
            ..self.about(rule, change.subject, change.line, message)
        }
    }

    pub(super) fn overrun(&mut self, rule: Rule, overrun: &Overrun) -> Finding {
        let subject = &self.board.subjects[overrun.subject];
        let index = self.group.lines[overrun.line].class;
        let class = &self.group.classes[index];
        let distance = overrun.reached.at() - overrun.at;
        let (reached, otherwise) = match overrun.reached {
            Reached::Slot { line, .. } => self.reached_slot(overrun, line),
            Reached::Window { at } => {
                let peaks = &self.board.rules.peaks;
                let window = peaks
                    .containing(instant(at))
                    .map(|window| format!(" {window}"));
                let window = window.unwrap_or_default();
                let reached = format!("the peak window{window} of {} begins", peaks.zone().name());
                (
                    reached,
                    format!("move `{}` to an earlier time", subject.job),
                )
            }
        };
        let message = format!(
            "a run of `{}` may take {}, and {reached} {} after it starts",
            subject.job,
            human(class.worst_case),
            human(distance)
        );
        let room = overrun::room(self.board, self.group, (index, distance), &mut self.near);
        let ways = shorten::ways(class.effort, Duration::from_secs(room.unsigned_abs()));
        let near = overrun::reachable(self.group, index, &mut self.near);
        let near: Vec<&Line> = near
            .into_iter()
            .map(|line| &self.group.lines[line])
            .collect();
        let per_year = self
            .year
            .overruns(self.group.lines_of(index), &near, class.worst_case);
        Finding {
            at: Some(instant(overrun.at)),
            per_year: Some(per_year),
            help: Some(help::in_time(&ways, room, &otherwise)),
            ..self.about(rule, overrun.subject, overrun.line, message)
        }
    }

    /// Which slot a run reaches, and what to do if no setting helps.
    fn reached_slot(&self, overrun: &Overrun, line: usize) -> (String, String) {
        let job = &self.board.subjects[overrun.subject].job;
        if self.group.lines[line].class == self.group.lines[overrun.line].class {
            let otherwise = format!("put more time between the slots of `{job}`");
            return ("its own next slot comes".to_owned(), otherwise);
        }
        let members = &self.group.classes[self.group.lines[line].class].members;
        let next = &self.board.subjects[members[0]].job;
        let otherwise = format!("move `{job}` or `{next}`");
        (format!("the slot of `{next}` comes"), otherwise)
    }
}
