//! Properties: what the decoder takes the schema takes, and jobs made of the schema's examples are right.

use std::time::Duration;

use chrono_tz::TZ_VARIANTS;
use offpeak::schedule::{CronExpr, Zones};
use offpeak::span;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::sample::{Kind, errors, is_valid, wrong_in};
use super::walk::{Spot, Step, spots};

/// The place of a schema with this path.
fn spot(kind: Kind, path: &str) -> Spot {
    let mut all = spots(kind).into_iter();
    all.find(|spot| spot.path() == path).expect(path)
}

#[test]
fn every_zone_that_is_read_fits_the_pattern() {
    let (zones, place) = (Zones::bundled(), spot(Kind::Job, "timezone"));
    let mut read = 0;
    for zone in TZ_VARIANTS {
        let fits = is_valid(Kind::Job, &place.plant(json!(zone.name())));
        match zones.get(zone.name()) {
            Ok(_) => assert!(fits, "{}", zone.name()),
            Err(_) => assert!(!fits, "{}", zone.name()),
        }
        read += usize::from(fits);
    }
    assert!(read > 400, "{read} zones");
}

/// One field in which much is right.
fn cron_field() -> impl Strategy<Value = String> {
    let value =
        "(\\*|00?|[1-9]|[1-5][0-9]|mon|SUN|jan|DEC|L|LW|15W|5L|friL|2#3|mon-fri#0?1|1-5|sat-sun)";
    let item = format!("{value}(-[0-9]{{1,2}})?(/0?[1-9]|/60)?");
    proptest::string::string_regex(&format!("{item}(,{item}){{0,2}}")).unwrap()
}

/// Whether the schema of a job takes a text as its `cron`.
fn is_cron(text: &str) -> bool {
    is_valid(Kind::Job, &spot(Kind::Job, "cron").plant(json!(text)))
}

/// A field where it can be read, minute or weekday; else `*`, so that many expressions are right.
fn readable(field: String) -> String {
    let forms = [format!("{field} 5 * * *"), format!("0 5 * * {field}")];
    if forms.iter().any(|form| CronExpr::parse(form).is_ok()) {
        field
    } else {
        "*".to_owned()
    }
}

/// Spans of settings: where, and the most hours that fit.
const SPANS: [(&str, u32); 4] = [
    ("upstream.timeouts.idle", 24),
    ("breaker.stale_after", 168),
    ("defer.expires_after", 87_600),
    ("retry.max_delay", 1),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_expression_that_is_read_fits_the_pattern(
        fields in proptest::collection::vec(cron_field(), 5),
        blank in "[ \t]{1,2}",
        around in "[ \n]?",
    ) {
        let mut fields: Vec<String> = fields.into_iter().map(readable).collect();
        for _ in 0..fields.len() {
            fields.rotate_left(1);
            let text = format!("{around}{}{around}", fields.join(&blank));
            prop_assert!(CronExpr::parse(&text).is_err() || is_cron(&text), "{text:?}");
        }
    }

    #[test]
    fn any_text_that_is_an_expression_fits_the_pattern(
        text in "@?[0-9*,/LW#a-fA-F -]{0,14}|@(daily|WEEKLY|Hourly|yearly) ?",
    ) {
        prop_assert!(CronExpr::parse(&text).is_err() || is_cron(&text), "{text:?}");
    }

    #[test]
    fn every_span_in_bounds_fits_its_pattern(
        parts in proptest::array::uniform5(proptest::option::of(0_u32..100_000)),
        shown in 0_u64..100_000_000,
    ) {
        let written = parts.iter().zip(["d", "h", "m", "s", "ms"]);
        let written = written.filter_map(|(part, unit)| Some(format!("{}{unit}", (*part)?)));
        for text in [written.collect(), span::show(Duration::from_millis(shown))] {
            for (path, hours) in SPANS {
                let longest = Duration::from_hours(1) * hours;
                if span::parse(&text).is_some_and(|span| !span.is_zero() && span <= longest) {
                    let planted = spot(Kind::Settings, path).plant(json!(text));
                    prop_assert!(is_valid(Kind::Settings, &planted), "{path}: {text}");
                }
            }
        }
    }

    #[test]
    fn a_job_of_the_schemas_examples_is_right(draws in proptest::collection::vec(any::<u16>(), 128)) {
        let root = spot(Kind::Job, "");
        let mut job = make(&root, &mut draws.into_iter().cycle().map(usize::from));
        if job.get("for_each").is_some() {
            // Each item needs a file of its own, and none is no reason to send.
            let job = job.as_object_mut().unwrap();
            job.retain(|name, value| name != "output" && *value != json!("send"));
        }
        if job.get("delivery").is_some_and(|it| it == "batch") {
            // What needs an answer at once.
            let job = job.as_object_mut().unwrap();
            let had_steps = job.remove("steps").is_some();
            job.retain(|name, _| !["fallback_model", "concurrency"].contains(&name.as_str()));
            if had_steps {
                job.insert("prompt".to_owned(), serde_json::json!({ "text": "Hello." }));
            }
        }
        let complaints = errors(Kind::Job, &job);
        prop_assert!(complaints.is_empty(), "{complaints:?}: {job}");
        let wrong = wrong_in(Kind::Job, &job);
        prop_assert!(wrong.is_empty(), "{wrong:?}: {job}");
    }
}

/// Fields of which a map needs one, and often takes no other.
const ALTERNATIVES: [&str; 8] = [
    "file", "text", "command", "files", "lines", "records", "prompt", "steps",
];

/// A value that the place allows: a word, an example, a default; a map of any of its fields.
fn make(place: &Spot, draw: &mut impl Iterator<Item = usize>) -> Value {
    let mut next = |among: usize| draw.next().unwrap() % among;
    let simple = [
        place.words(),
        place.examples(),
        place.default().into_iter().collect(),
    ]
    .concat();
    let inside: Vec<Spot> = spots(place.kind)
        .into_iter()
        .filter(
            |spot| matches!(spot.steps(), [before @ .., Step::Field(_)] if before == place.steps()),
        )
        .collect();
    if inside.is_empty() {
        return match simple.len() {
            0 => json!("because"),
            among => simple[next(among)].clone(),
        };
    }
    let required = ["cron", "timezone", "prompt", "budget_tokens"];
    let names: Vec<&str> = inside.iter().map(last_name).collect();
    let keep = names[next(names.len())];
    let mut map = Map::new();
    for field in &inside {
        let name = last_name(field);
        if required.contains(&name)
            || draw.next().unwrap().is_multiple_of(2)
            || ALTERNATIVES.contains(&name)
        {
            map.insert(name.to_owned(), make(field, draw));
        }
    }
    let mut map = Value::Object(map);
    let alternatives = ALTERNATIVES.into_iter();
    let alternatives: Vec<&str> = alternatives.filter(|name| names.contains(name)).collect();
    let kept = alternatives
        .iter()
        .find(|name| **name == keep)
        .or(alternatives.last());
    if let Some(kept) = kept {
        place.settle(&mut map, kept);
    }
    map
}

fn last_name(spot: &Spot) -> &'static str {
    match spot.steps().last() {
        Some(Step::Field(name)) => name,
        Some(Step::Any | Step::Item) | None => "",
    }
}
