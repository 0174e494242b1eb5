//! The next entry of an agenda, found without asking every line each time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chrono::{DateTime, Utc};

use super::agenda::{Agenda, Entry, due};

/// A place in an agenda that moves ahead: the next instant of every line, the first on top.
///
/// It answers as [`Agenda::next_after`] does. Going ahead costs what has been passed; going back, or to another
/// agenda, takes a new one.
///
/// ```
/// use offpeak::job::{GroupId, JobId};
/// use offpeak::schedule::{Agenda, AgendaLine, Ahead, CronExpr, Timetable, Zones};
///
/// let tokyo = Zones::bundled().get("Asia/Tokyo").unwrap();
/// let agenda = Agenda::new(vec![AgendaLine {
///     group: GroupId::new("main"),
///     job: Some(JobId::new("digest")),
///     timetable: Timetable::new(vec![CronExpr::parse("0 2 * * *").unwrap()], tokyo),
///     starts_after: "2026-11-30T00:00:00Z".parse().unwrap(),
/// }]);
/// let at = "2026-12-01T17:00:00Z".parse().unwrap();
/// let mut ahead = Ahead::default();
/// assert_eq!(ahead.next_after(&agenda, at), agenda.next_after(at));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ahead {
    /// Up to where the agenda was passed; `None` before it was looked at.
    at: Option<DateTime<Utc>>,
    /// The next instant after that of each line that has one, with the line's number.
    heads: BinaryHeap<Reverse<(DateTime<Utc>, usize)>>,
}

impl Ahead {
    /// The first entry strictly after an instant. The agenda must be the one of the calls before.
    #[must_use]
    pub fn next_after(&mut self, agenda: &Agenda, at: DateTime<Utc>) -> Option<Entry> {
        self.go(agenda, at);
        let first = self.heads.peek()?.0.0;
        let at_once = self
            .heads
            .iter()
            .filter(|Reverse((head, _))| *head == first);
        let lines = at_once.filter_map(|Reverse((_, number))| agenda.lines().get(*number));
        lines.map(|line| line.entry(first)).min()
    }

    /// The entries in `after < fire_at <= until`, in order, each once; as [`Agenda::due`] has them. It does not move
    /// past `after`.
    #[must_use]
    pub fn due(
        &mut self,
        agenda: &Agenda,
        after: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Vec<Entry> {
        self.go(agenda, after);
        let passed = self
            .heads
            .iter()
            .filter(|Reverse((head, _))| *head <= until);
        let lines = passed.filter_map(|Reverse((_, number))| agenda.lines().get(*number));
        due(lines, after, until)
    }

    /// Makes the heads those after an instant.
    fn go(&mut self, agenda: &Agenda, at: DateTime<Utc>) {
        if self.at.is_none_or(|passed| at < passed) {
            let lines = agenda.lines().iter().enumerate();
            let heads =
                lines.filter_map(|(number, line)| Some(Reverse((line.next_after(at)?, number))));
            self.heads = heads.collect();
        }
        self.at = Some(at);
        while let Some(Reverse((head, number))) = self.heads.peek().copied()
            && head <= at
        {
            self.heads.pop();
            let line = agenda.lines().get(number);
            let next = line.and_then(|line| line.next_after(at));
            self.heads.extend(next.map(|next| Reverse((next, number))));
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::job::{GroupId, JobId};
    use crate::schedule::{AgendaLine, CronExpr, Timetable, Zones};

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-12-{text}Z").parse().unwrap()
    }

    /// Lines that fire together, often, seldom, later on, and never.
    fn agenda() -> Agenda {
        let crons = [
            ("a", "*/20 * * * *"),
            ("b", "0 2 * * *"),
            ("c", "0 2 * * *"),
            ("d", "30 4 10 * *"),
            ("e", "0 0 30 2 *"),
        ];
        let line = |(job, cron): (&str, &str)| AgendaLine {
            group: GroupId::new(if job == "c" { "alone" } else { "main" }),
            job: Some(JobId::new(job)),
            timetable: Timetable::new(
                vec![CronExpr::parse(cron).unwrap()],
                Zones::bundled().get("Asia/Tokyo").unwrap(),
            ),
            starts_after: if job == "a" {
                at("03T00:10:00")
            } else {
                at("01T00:00:00")
            },
        };
        Agenda::new(crons.into_iter().map(line).collect())
    }

    #[test]
    fn answers_are_those_of_the_agenda_however_far_one_goes() {
        let agenda = agenda();
        for minutes in [1, 7, 20, 60, 24 * 60, 3 * 24 * 60] {
            let mut ahead = Ahead::default();
            let mut now = at("01T00:00:00");
            while now < at("20T00:00:00") {
                assert_eq!(
                    ahead.next_after(&agenda, now),
                    agenda.next_after(now),
                    "{now}"
                );
                let then = now + TimeDelta::minutes(minutes);
                assert_eq!(
                    ahead.due(&agenda, now, then),
                    agenda.due(now, then),
                    "{now}"
                );
                now = then;
            }
        }
    }

    #[test]
    fn going_back_is_no_trap() {
        let agenda = agenda();
        let mut ahead = Ahead::default();
        for now in [at("05T00:00:00"), at("02T00:00:00"), at("02T00:00:00")] {
            assert_eq!(ahead.next_after(&agenda, now), agenda.next_after(now));
        }
    }

    #[test]
    fn nothing_lies_ahead_where_nothing_ever_fires() {
        let mut ahead = Ahead::default();
        assert_eq!(
            ahead.next_after(&Agenda::new(Vec::new()), at("05T00:00:00")),
            None
        );
    }
}
