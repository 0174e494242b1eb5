use super::super::samples::{night, run};
use super::super::summary::summarize;
use super::*;
use crate::outcome::{Class, Outcome};

#[test]
fn summary_shows_counts_percentiles_and_the_fate_of_deferrals() {
    let expected = "\
slots     6: 3 succeeded, 1 failed, 1 skipped, 1 running
attempts  5 in 4 calls, 1.25 a call; 2 brought no answer
yields    1: 1 breaker
tokens    300 in, 30 out, 0 to the cache, 0 from the cache
dollars   0.0223, and 1 attempt of unknown cost

               p50    p95    p99    max  of
latency       1.0s   1.0s   1.0s   1.0s  5 attempts, too few for p99
first byte   500ms  500ms  500ms  500ms  3 attempts, too few for p99
due to done  1h16m      -      -      -  5 slots, 3 done

deferred work of (JST)  job    deferred  attempts  became
2026-12-05 02:45        links        1x         1  succeeded at 2026-12-05 04:01, 1h16m after it was due
";
    assert_eq!(
        render_summary(&summarize(&night()), &View::jst(120)),
        expected
    );
}

#[test]
fn summary_of_nothing_is_still_a_page() {
    let expected = "\
slots     0
attempts  0 in 0 calls, - a call; 0 brought no answer
yields    0
tokens    0 in, 0 out, 0 to the cache, 0 from the cache
dollars   0.0000

             p50  p95  p99  max  of
latency        -    -    -    -  no attempts
first byte     -    -    -    -  no attempts
due to done    -    -    -    -  0 slots, 0 done
";
    assert_eq!(render_summary(&summarize(&[]), &View::jst(80)), expected);
}

#[test]
fn hundred_samples_are_enough_for_p99() {
    let mut run = run(1, "a", 0, Outcome::Succeeded);
    for _ in 0..100 {
        run = run.attempt(1, Some(Class::Success));
    }
    let text = render_summary(&summarize(&[run]), &View::jst(80));
    assert!(text.contains("100 attempts\n"), "{text}");
}
