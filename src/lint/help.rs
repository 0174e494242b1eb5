//! The way out of a finding in words, where no legal time is to be suggested.

use super::board::{Board, Group, Line};
use super::calendar::DAY;
use super::demands::Demands;
use super::near::{Reach, first_steady};
use super::nearest::{Comfort, Search};
use super::tell::human;
use super::{never, peak};
use crate::job::GroupId;
use crate::schedule::CronExpr;
use crate::schedule::cron::Spacing;
use crate::schedule::zone::Transition;

/// What to do about a gap that is legal and short.
pub(super) const COMFORT: &str =
    "it is legal; to leave room for retries, move one of them, or lower `rules.comfortable_gap`";

/// Minutes of an hour.
const HOUR: i64 = 60;

/// What to do about a line that is too close to others, or to itself, wherever it goes.
pub(super) fn no_room(board: &Board<'_>, group: &Group, line: usize) -> String {
    let line = &group.lines[line];
    let least = super::seconds(board.rules.min_gap);
    let subject = &board.subjects[group.classes[line.class].members[0]];
    if keeps_apart(board, line, least) {
        return crowded(&subject.group);
    }
    let dense = format!("its own times are closer than {}", human(least));
    let text = subject.timetable.exprs()[line.cron].text();
    match wider(board, line, text, least) {
        Some(wider) => format!("{dense}: use a wider step such as `{wider}`"),
        None => format!("{dense}: drop some of them"),
    }
}

/// What to do about a line that would have a legal time if the others of its group did not hold it.
fn crowded(group: &GroupId) -> String {
    format!(
        "no legal time was found for it in group `{group}`: move a job to another key, or drop firings"
    )
}

/// What to do about a line for which no time was looked for, because the group is large and `most` others came first.
pub(super) fn mend_first(most: usize, group: &GroupId) -> String {
    format!(
        "in group `{group}` a legal time was looked for in {most} places only: mend those and run this again"
    )
}

/// The expression with the least step that keeps its times apart.
fn wider(board: &Board<'_>, line: &Line, text: &str, least: i64) -> Option<String> {
    let [_, hour, days @ ..] = fields(text)?;
    let first = line.times.first()? % HOUR;
    let least = (least + 59).div_euclid(60);
    let by_minute = (1..=HOUR).find(|step| *step >= least && HOUR % step == 0);
    let by_hour = (1..=24).find(|step| step * HOUR >= least && 24 % step == 0);
    let (minute, hour) = match (by_minute, by_hour) {
        (Some(HOUR), _) => (first.to_string(), hour.to_owned()),
        (Some(step), _) if first == 0 => (format!("*/{step}"), hour.to_owned()),
        (Some(step), _) => (format!("{first}-59/{step}"), hour.to_owned()),
        (None, step) => (first.to_string(), format!("*/{}", step?)),
    };
    let text = format!("{minute} {hour} {}", days.join(" "));
    let line = rewritten(line, &text)?;
    keeps_apart(board, &line, least * 60).then_some(text)
}

/// Whether the times of one line keep this distance from each other all through the horizon.
fn keeps_apart(board: &Board<'_>, line: &Line, least: i64) -> bool {
    let until = board.calendar.until;
    first_steady(board, line, line, Reach::own(least), until).is_none()
        && board.tracks[line.zone].changes.iter().all(|change| {
            let mut fires = Vec::new();
            board.fires(
                line,
                &(change.start - least..change.end + least),
                &mut fires,
            );
            fires.windows(2).all(|pair| pair[1] - pair[0] >= least)
        })
}

/// What to do about a line that fires in a window, whichever way it is moved.
pub(super) fn off_peak(board: &Board<'_>, group: &Group, line: usize) -> String {
    let line = &group.lines[line];
    let subject = &board.subjects[group.classes[line.class].members[0]];
    let text = subject.timetable.exprs()[line.cron].text();
    let alone = Search {
        board,
        line,
        text,
        others: Vec::new(),
        zones: &[line.zone],
        demands: Demands::of(board.rules),
        room: 0,
    };
    if let Some(text) = outside(board, line, text) {
        format!("leave the hours of the windows out: `{text}`")
    } else if alone.nearest(Comfort::Ignored).is_some() {
        crowded(&subject.group)
    } else {
        "no time outside the windows was found for it: drop the firings that lie in them".to_owned()
    }
}

/// The expression without the hours in which it fires in a window.
fn outside(board: &Board<'_>, line: &Line, text: &str) -> Option<String> {
    let [minute, _, days @ ..] = fields(text)?;
    let leads = &board.spans(line.zone, board.peak_zone).leads;
    let is_peak = |time: &i64| {
        let inside = |lead: &i64| peak::weekdays_inside(board, time * 60 - lead) != 0;
        leads.iter().any(inside)
    };
    let (peaks, hours): (Vec<i64>, Vec<i64>) = (0..24)
        .filter(|hour| line.times.iter().any(|time| time / HOUR == *hour))
        .partition(|hour| {
            let mut times = line.times.iter();
            times.any(|time| time / HOUR == *hour && is_peak(time))
        });
    if hours.is_empty() || peaks.is_empty() {
        return None;
    }
    let text = format!("{minute} {} {}", ranges(&hours), days.join(" "));
    let line = rewritten(line, &text)?;
    peak::first(board, &line).is_none().then_some(text)
}

/// What to do about an expression that never fires.
pub(super) fn existing_date(text: &str) -> String {
    let last_day = fields(text)
        .map(|[minute, hour, _, month, weekday]| format!("{minute} {hour} L {month} {weekday}"));
    let exists = |text: &String| CronExpr::parse(text).is_ok_and(|expr| never::ever_matches(&expr));
    match last_day.filter(exists) {
        Some(text) => format!("write a date that exists; `{text}` is the last day of the month"),
        None => "write a date that exists".to_owned(),
    }
}

/// What to do about firings that clock changes touch: the hours to keep out of.
pub(super) fn steady_hours(board: &Board<'_>, line: &Line) -> String {
    let track = &board.tracks[line.zone];
    let touching = track.moves.iter().filter(|change| match line.spacing {
        Spacing::Fixed => change.before < change.after,
        Spacing::Even => true,
    });
    let civil = |change: &Transition| {
        let (low, high) = (
            change.before.min(change.after),
            change.before.max(change.after),
        );
        let start = (change.at.timestamp() + i64::from(low)).rem_euclid(DAY) / 60;
        (start, start + i64::from(high - low) / 60)
    };
    let mut spans: Vec<(i64, i64)> = touching.map(civil).collect();
    spans.sort_unstable();
    spans.dedup();
    let clock = |minute: i64| format!("{:02}:{:02}", minute / HOUR, minute % HOUR);
    let spans: Vec<String> = spans
        .iter()
        .map(|(start, end)| format!("{}-{}", clock(*start), clock(*end)))
        .collect();
    format!(
        "write times outside {} of {}, or the job in UTC, where no clock changes",
        spans.join(" and "),
        track.zone.name()
    )
}

/// How a run is to end in time.
pub(super) fn in_time(ways: &[String], room: i64, otherwise: &str) -> String {
    match ways {
        [] => format!(
            "no attempt is sure to end within {}: {otherwise}",
            human(room)
        ),
        [way] => format!("to end it in time, set {way}"),
        [first, rest @ ..] => format!("to end it in time, set {first}, or {}", rest.join(", or ")),
    }
}

/// The five fields of a text; `None` for a nickname, which fires once a day at most or every hour.
fn fields(text: &str) -> Option<[&str; 5]> {
    let text = if text.trim().eq_ignore_ascii_case("@hourly") {
        "0 * * * *"
    } else {
        text
    };
    text.split_whitespace().collect::<Vec<_>>().try_into().ok()
}

/// A line with another expression in its place.
fn rewritten(line: &Line, text: &str) -> Option<Line> {
    let expr = CronExpr::parse(text).ok()?;
    let times = expr.times().iter().map(|time| i64::from(*time)).collect();
    Some(Line {
        times,
        spacing: expr.spacing(),
        ..line.clone()
    })
}

/// Ascending values as ranges and single values: `0-6,9,11`.
fn ranges(values: &[i64]) -> String {
    let runs = values.chunk_by(|one, next| next - one == 1);
    let written = runs.filter_map(|run| match run {
        [] => None,
        [one] => Some(one.to_string()),
        [first, .., last] => Some(format!("{first}-{last}")),
    });
    written.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use crate::lint::fixture::{findings, job, rules, window};
    use crate::lint::{Rule, Rules, Subject};

    fn help(subjects: &[Subject], rules: &Rules, rule: Rule) -> String {
        let found = findings(subjects, rules, rule);
        assert_eq!(found[0].suggestion, None);
        found[0].help.clone().unwrap()
    }

    /// The expression between the last two backticks.
    fn proposed(help: &str) -> &str {
        help.rsplit('`').nth(1).unwrap()
    }

    #[test]
    fn job_too_close_to_itself_gets_the_least_step_that_is_legal() {
        let table = [
            ("*/5 2 * * *", "*/15 2 * * *"),
            ("* * * * mon", "*/15 * * * mon"),
            ("4-59/10 1-3 * * *", "4-59/15 1-3 * * *"),
            ("0,5,10 2 L * *", "*/15 2 L * *"),
        ];
        let rules = rules("UTC", vec![]);
        for (cron, wider) in table {
            let help = help(&[job("a", "Asia/Tokyo", &[cron])], &rules, Rule::KeyGap);
            assert_eq!(
                help,
                format!("its own times are closer than 15 min: use a wider step such as `{wider}`")
            );
            let taken = [job("a", "Asia/Tokyo", &[wider])];
            assert!(findings(&taken, &rules, Rule::KeyGap).is_empty(), "{wider}");
        }
    }

    #[test]
    fn hours_are_stepped_where_the_gap_is_longer_than_one() {
        let mut rules = rules("UTC", vec![]);
        rules.min_gap = std::time::Duration::from_mins(90);
        let hourly = |cron| help(&[job("a", "UTC", &[cron])], &rules, Rule::KeyGap);
        assert_eq!(proposed(&hourly("5 * * * *")), "5 */2 * * *");
        assert_eq!(proposed(&hourly("@hourly")), "0 */2 * * *");
    }

    #[test]
    fn step_that_a_clock_change_spoils_is_not_proposed() {
        // In October 02:04 fires at the change, 16 minutes after 01:44.
        let mut rules = rules("UTC", vec![]);
        rules.min_gap = std::time::Duration::from_mins(20);
        let of = |zone| {
            help(
                &[job("a", zone, &["4-59/10 1-3 * * *"])],
                &rules,
                Rule::KeyGap,
            )
        };
        assert_eq!(proposed(&of("UTC")), "4-59/20 1-3 * * *");
        assert_eq!(
            of("Australia/Lord_Howe"),
            "its own times are closer than 20 min: drop some of them"
        );
    }

    #[test]
    fn place_without_a_search_says_what_to_mend_first() {
        assert_eq!(
            super::mend_first(40, &crate::job::GroupId::new("main")),
            "in group `main` a legal time was looked for in 40 places only: mend those and run this again"
        );
    }

    #[test]
    fn full_group_says_so() {
        let jobs = [
            job("a", "UTC", &["*/15 * * * *"]),
            job("b", "UTC", &["10 2 * * *"]),
        ];
        let found = findings(&jobs, &rules("UTC", vec![]), Rule::KeyGap);
        let helps: Vec<_> = found
            .iter()
            .filter_map(|finding| finding.help.as_deref())
            .collect();
        assert_eq!(
            helps.last(),
            Some(
                &"no legal time was found for it in group `main`: move a job to another key, or drop firings"
            )
        );
    }

    #[test]
    fn job_of_every_hour_is_told_to_leave_the_hours_of_the_windows_out() {
        let rules = rules("Asia/Tokyo", vec![window(420, 540), window(1_080, 1_380)]);
        let of = |zone, cron| help(&[job("a", zone, &[cron])], &rules, Rule::PeakWindow);
        let told = of("Asia/Tokyo", "0 * * * *");
        assert_eq!(
            told,
            "leave the hours of the windows out: `0 0-6,9-17,23 * * *`"
        );
        let taken = [job("a", "Asia/Tokyo", &[proposed(&told)])];
        assert!(findings(&taken, &rules, Rule::PeakWindow).is_empty());
        // An hour in London is two hours of Tokyo, one in summer and one in winter.
        let told = of("Europe/London", "30 * * * *");
        let taken = [job("a", "Europe/London", &[proposed(&told)])];
        assert!(
            findings(&taken, &rules, Rule::PeakWindow).is_empty(),
            "{told}"
        );
    }

    #[test]
    fn job_without_an_hour_outside_the_windows_is_told_to_drop_firings() {
        let rules = rules("UTC", vec![window(0, 1_440)]);
        assert_eq!(
            help(&[job("a", "UTC", &["@daily"])], &rules, Rule::PeakWindow),
            "no time outside the windows was found for it: drop the firings that lie in them"
        );
    }

    #[test]
    fn job_whose_hours_outside_the_windows_are_held_by_others_is_told_that_the_group_is_full() {
        let rules = rules("UTC", vec![window(60, 1_440)]);
        let jobs = [
            job("a", "UTC", &["0 12 * * *"]),
            job("b", "UTC", &["*/15 0 * * *"]),
        ];
        assert_eq!(
            help(&jobs, &rules, Rule::PeakWindow),
            "no legal time was found for it in group `main`: move a job to another key, or drop firings"
        );
        let alone = findings(&jobs[..1], &rules, Rule::PeakWindow);
        assert!(alone[0].suggestion.is_some());
    }

    #[test]
    fn impossible_date_gets_one_that_exists() {
        let of = |cron| {
            help(
                &[job("a", "UTC", &[cron])],
                &rules("UTC", vec![]),
                Rule::NeverFires,
            )
        };
        assert_eq!(
            of("0 3 30 2 *"),
            "write a date that exists; `0 3 L 2 *` is the last day of the month"
        );
    }

    #[test]
    fn times_outside_the_hours_of_a_clock_change_are_safe() {
        let rules = rules("UTC", vec![]);
        let of = |zone, cron| help(&[job("a", zone, &[cron])], &rules, Rule::ClockChange);
        assert_eq!(
            of("Europe/Berlin", "30 2 * * *"),
            "write times outside 02:00-03:00 of Europe/Berlin, or the job in UTC, where no clock changes"
        );
        assert!(
            of("America/New_York", "*/20 2 * * *")
                .contains("outside 01:00-02:00 and 02:00-03:00 of")
        );
        assert!(of("Australia/Lord_Howe", "15 2 * * *").contains("outside 02:00-02:30 of"));
    }

    #[test]
    fn short_gap_that_is_legal_is_advice() {
        let jobs = [
            job("a", "UTC", &["0 2 * * *"]),
            job("b", "UTC", &["20 2 * * *"]),
        ];
        let told = help(&jobs, &rules("UTC", vec![]), Rule::ComfortableGap);
        assert_eq!(told, super::COMFORT);
    }
}
