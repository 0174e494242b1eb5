//! How to shorten a run so that it ends in time.

use std::time::Duration;

use super::{Effort, Pieces};

/// No shorter timeout is proposed: a long answer takes about as long.
const LEAST_TIMEOUT: Duration = Duration::from_mins(1);

/// The settings that bring the worst case of a run within `room`, each of them enough by itself; empty if none is.
pub(super) fn ways(effort: Effort, room: Duration) -> Vec<String> {
    let ways = [
        timeout(effort, room).map(|timeout| format!("`timeout` to {}", written(timeout))),
        attempts(effort, room).map(|attempts| format!("`retry.max_attempts` to {attempts}")),
        items(effort, room).map(|items| format!("`for_each.limit` to {items}")),
    ];
    ways.into_iter().flatten().collect()
}

/// The longest timeout that fits, in whole minutes.
fn timeout(effort: Effort, room: Duration) -> Option<Duration> {
    let a_call = room.checked_div(effort.calls_in_a_row())?;
    let waits = effort
        .max_delay
        .saturating_mul(effort.attempts.saturating_sub(1));
    let fits = a_call.checked_sub(waits)?.checked_div(effort.attempts)?;
    let minutes = Duration::from_mins(fits.as_secs() / 60);
    (LEAST_TIMEOUT..effort.timeout)
        .contains(&minutes)
        .then_some(minutes)
}

/// The most attempts that fit: as many as attempts with a wait after each, if there is room for one wait more.
fn attempts(effort: Effort, room: Duration) -> Option<u32> {
    let a_call = room.checked_div(effort.calls_in_a_row())?;
    let each = effort.timeout.saturating_add(effort.max_delay);
    let fits = a_call.saturating_add(effort.max_delay).as_nanos();
    let fits = u32::try_from(fits.checked_div(each.as_nanos())?).ok()?;
    (1..effort.attempts).contains(&fits).then_some(fits)
}

/// The most items that fit.
fn items(effort: Effort, room: Duration) -> Option<u32> {
    let Pieces { chain, at_once, .. } = effort.pieces;
    let one = Effort {
        calls: chain,
        ..effort
    };
    let fits = room.as_nanos().checked_div(one.worst_case().as_nanos())?;
    let fits = u32::try_from(fits).ok()?.saturating_mul(at_once);
    let now = effort.calls.checked_div(chain)?;
    (1..now).contains(&fits).then_some(fits)
}

/// A span in whole minutes as users write it.
fn written(span: Duration) -> String {
    format!("{}m", span.as_secs() / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE_OF_TEN: Effort = Effort {
        calls: 1,
        pieces: Pieces::ONE,
        attempts: 3,
        timeout: Duration::from_mins(10),
        max_delay: Duration::from_secs(30),
    };

    fn ways_in(effort: Effort, minutes: u64) -> Vec<String> {
        ways(effort, Duration::from_mins(minutes))
    }

    #[test]
    fn shorter_timeout_or_fewer_attempts_are_named_as_far_as_they_go() {
        assert_eq!(
            ways_in(THREE_OF_TEN, 25),
            ["`timeout` to 8m", "`retry.max_attempts` to 2"]
        );
        assert_eq!(
            ways_in(THREE_OF_TEN, 15),
            ["`timeout` to 4m", "`retry.max_attempts` to 1"]
        );
        assert_eq!(ways_in(THREE_OF_TEN, 5), ["`timeout` to 1m"]);
    }

    #[test]
    fn lower_limit_is_named_for_a_run_of_several_calls() {
        let twenty = Effort {
            calls: 20,
            ..THREE_OF_TEN
        };
        assert_eq!(
            ways_in(twenty, 100),
            ["`timeout` to 1m", "`for_each.limit` to 3"]
        );
    }

    #[test]
    fn limit_counts_items_and_not_the_steps_of_each() {
        let ten_by_two = Effort {
            calls: 20,
            pieces: Pieces {
                chain: 2,
                ..Pieces::ONE
            },
            ..THREE_OF_TEN
        };
        assert_eq!(
            ways_in(ten_by_two, 130),
            ["`timeout` to 1m", "`for_each.limit` to 2"]
        );
        let one_chain = Effort {
            calls: 2,
            ..ten_by_two
        };
        assert_eq!(
            ways_in(one_chain, 50),
            ["`timeout` to 8m", "`retry.max_attempts` to 2"]
        );
    }

    #[test]
    fn nothing_is_named_where_no_attempt_would_end() {
        assert!(ways_in(THREE_OF_TEN, 3).is_empty());
        let one = Effort {
            attempts: 1,
            ..THREE_OF_TEN
        };
        assert!(ways_in(one, 0).is_empty());
        assert!(ways_in(Effort::NONE, 5).is_empty());
    }

    #[test]
    fn each_way_by_itself_is_enough_and_no_more_than_needed() {
        for minutes in 1..400 {
            let room = Duration::from_mins(minutes);
            for calls_now in [1, 2, 7] {
                let effort = Effort {
                    calls: calls_now,
                    ..THREE_OF_TEN
                };
                let minute = Duration::from_mins(1);
                if let Some(timeout) = timeout(effort, room) {
                    let with = |timeout| Effort { timeout, ..effort }.worst_case();
                    assert!(with(timeout) <= room && with(timeout + minute) > room);
                }
                if let Some(attempts) = attempts(effort, room) {
                    let with = |attempts| Effort { attempts, ..effort }.worst_case();
                    assert!(with(attempts) <= room && with(attempts + 1) > room);
                }
                if let Some(items) = items(effort, room) {
                    let with = |calls| Effort { calls, ..effort }.worst_case();
                    assert!(with(items) <= room && with(items + 1) > room);
                }
            }
        }
    }
}
