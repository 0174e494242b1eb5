//! Real schedules with their verdicts: the linter must agree to the instant.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Finding, Rule, Rules, Severity, Subject, check};
use offpeak::schedule::{CronExpr, PeakWindow, PeakWindows, Timetable, Zones};
use serde_json::Value;

const DATA: &str = include_str!("data/schedules.json");

fn data() -> Value {
    serde_json::from_str(DATA).unwrap()
}

fn instant(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

fn rules(zones: &Zones) -> Rules {
    let window = |start: u16, end: u16| PeakWindow {
        start: start * 60,
        end: end * 60,
        days: [true; 7],
    };
    let peaks = PeakWindows::new(
        zones.get("Asia/Tokyo").unwrap(),
        vec![window(7, 9), window(18, 23)],
    );
    Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks)
}

fn subjects(set: &Value, zones: &Zones) -> Vec<Subject> {
    let own = |job: &Value, field: &str| {
        job[field]
            .as_str()
            .or(set[field].as_str())
            .map(str::to_owned)
    };
    let compile = |job: &Value| {
        let crons: Vec<&str> = match &job["cron"] {
            Value::Array(list) => list.iter().map(|cron| cron.as_str().unwrap()).collect(),
            one => vec![one.as_str().unwrap()],
        };
        let exprs = crons
            .iter()
            .map(|cron| CronExpr::parse(cron).unwrap())
            .collect();
        let group = GroupId::new(own(job, "key").unwrap_or_else(|| "main".to_owned()));
        let timetable = Timetable::new(exprs, zones.get(&own(job, "tz").unwrap()).unwrap());
        let job = JobId::new(job["name"].as_str().unwrap());
        Subject::new(job, group, timetable).lasting(Duration::from_mins(1))
    };
    set["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(compile)
        .collect()
}

/// The name that the data gives to a finding of severity error.
fn name(finding: &Finding) -> &'static str {
    match (finding.rule, &finding.other) {
        (Rule::PeakWindow, None) => "PEAK",
        (Rule::KeyGap, Some(other)) if other.job == finding.job => "GAP-SELF",
        (Rule::KeyGap, Some(_)) => "GAP-CROSS",
        other => panic!("{other:?} is in no set"),
    }
}

fn first<'a>(errors: &[&'a Finding], rule: &str) -> &'a Finding {
    errors
        .iter()
        .copied()
        .filter(|finding| name(finding) == rule)
        .min_by_key(|finding| finding.at)
        .unwrap()
}

#[test]
fn every_real_schedule_has_the_stated_verdict_rules_and_first_instants() {
    let (data, zones) = (data(), Zones::bundled());
    let sets = data["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 30);
    for set in sets {
        let id = set["id"].as_str().unwrap();
        let verdict = check(
            &subjects(set, &zones),
            &rules(&zones),
            instant(&data["from"]),
        );
        let errors: Vec<&Finding> = verdict
            .findings
            .iter()
            .filter(|f| f.severity == Severity::Error)
            .collect();
        let passes = set["verdict"] == "PASS";
        assert_eq!(errors.is_empty(), passes, "{id}: {errors:#?}");
        let stated: BTreeSet<&str> = set["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule.as_str().unwrap())
            .collect();
        assert_eq!(
            errors
                .iter()
                .map(|finding| name(finding))
                .collect::<BTreeSet<_>>(),
            stated,
            "{id}"
        );
        for rule in stated {
            let (found, want) = (first(&errors, rule), &set["first"][rule]);
            assert_eq!(found.at, Some(instant(&want["at"])), "{id} {rule}");
            compare_names(id, found, want);
            if let Some(minutes) = want["minutes"].as_u64() {
                assert_eq!(found.gap, Some(Duration::from_mins(minutes)), "{id} {rule}");
            }
        }
    }
}

fn compare_names(id: &str, found: &Finding, want: &Value) {
    match &want["jobs"] {
        Value::Array(jobs) => {
            let other = &found.other.as_ref().unwrap().job;
            let names: BTreeSet<&str> = [found.job.as_str(), other.as_str()].into();
            assert_eq!(
                names,
                jobs.iter().map(|job| job.as_str().unwrap()).collect(),
                "{id}"
            );
            if found.gap == Some(Duration::ZERO) {
                assert!(
                    *other < found.job,
                    "{id}: at one instant the first by name is the other"
                );
            }
        }
        _ => assert_eq!(found.job.as_str(), want["job"].as_str().unwrap(), "{id}"),
    }
}

#[test]
fn suggestions_for_real_schedules_hold_when_they_are_taken() {
    let (data, zones) = (data(), Zones::bundled());
    let (rules, from) = (rules(&zones), instant(&data["from"]));
    let mut taken = 0;
    for set in data["sets"].as_array().unwrap() {
        let subjects = subjects(set, &zones);
        for finding in check(&subjects, &rules, from).findings {
            if let (Some(suggestion), Some(cron)) = (&finding.suggestion, finding.cron) {
                crate::lint::assert_holds(
                    &subjects,
                    &rules,
                    from,
                    (&finding.job, cron),
                    &suggestion.cron,
                );
                taken += 1;
            }
        }
    }
    assert!(taken >= 10, "only {taken} suggestions");
}
