//! Any text as a zone in its first line and a cron expression in the rest: parsed, asked for what is next, proved.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Rules, Subject, check};
use offpeak::schedule::{CronExpr, PeakWindows, Timetable, Zones};
use offpeak_fuzz::from;

fuzz_target!(|text: &str| {
    let (zone, cron) = text.split_once('\n').unwrap_or(("Europe/London", text));
    let zones = Zones::bundled();
    let zone = match zones.get(zone) {
        Ok(zone) => zone,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let expr = match CronExpr::parse(cron) {
        Ok(expr) => expr,
        Err(error) => {
            // The place can be marked, and there is always a way out.
            assert!(cron.get(error.span.clone()).is_some(), "{error:?}");
            assert!(error.help.is_some(), "{error:?}");
            return;
        }
    };
    let timetable = Timetable::new(vec![expr], zone.clone());
    let mut at = from();
    for _ in 0..50 {
        let Some(next) = timetable.next_after(at) else {
            break;
        };
        assert!(next > at);
        at = next;
    }
    let subject = Subject::new(JobId::new("a"), GroupId::new("main"), timetable);
    let peaks = PeakWindows::new(zone, Vec::new());
    let rules = Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks);
    let verdict = check(&[subject], &rules, from());
    assert!(verdict.from < verdict.until);
});
