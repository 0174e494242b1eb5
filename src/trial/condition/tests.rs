use super::*;
use crate::trial::{Log, Score};

fn parsed(text: &str) -> Condition {
    Condition::parse(text).expect(text)
}

fn refused(text: &str) -> String {
    Condition::parse(text).expect_err(text).to_string()
}

/// Seeds with these values of one figure.
fn summary(metric: Metric, values: &[Value]) -> Summary {
    let score = |value: &Value| {
        let mut score = Score::of(&Log::default());
        score.set(metric, *value);
        score
    };
    Summary::of(&values.iter().map(score).collect::<Vec<_>>())
}

fn holds(text: &str, values: &[Value]) -> Held {
    let condition = parsed(text);
    condition.holds(&summary(condition.metric(), values))
}

const fn number(number: f64) -> Value {
    Value::Measured(number)
}

#[test]
fn condition_reads_with_and_without_blanks() {
    for (text, shown) in [
        ("p99 > 90s", "median done_p99 > 1m30s"),
        ("p99>90s", "median done_p99 > 1m30s"),
        ("  lost>0 ", "median lost > 0"),
        ("wasted >= 5", "median wasted >= 5"),
        ("dollars > 1.50", "median dollars > 1.5"),
        ("worst lost > 0", "worst lost > 0"),
        ("mean_attempts > 1.5", "median mean_attempts > 1.5"),
        ("done_p95 > 2h", "median done_p95 > 2h"),
        ("least in_slot<300", "least in_slot < 300"),
        ("most\twasted != 3", "most wasted != 3"),
        ("median call_p50<=250ms", "median call_p50 <= 250ms"),
        ("max = 0s", "median done_max = 0s"),
        ("p50 > 15m", "median done_p50 > 15m"),
    ] {
        assert_eq!(parsed(text).to_string(), shown, "{text}");
        assert_eq!(parsed(shown), parsed(text), "{text}");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let signs = "one of `>`, `>=`, `<`, `<=`, `=`, `!=`";
    for (text, message) in [
        (
            "p98 > 90s",
            "column 1: found `p98`, expected a figure; did you mean `p95`?".to_owned(),
        ),
        (
            "worst losst > 0",
            "column 7: found `losst`, expected a figure; did you mean `lost`?".to_owned(),
        ),
        ("lost 0", format!("column 6: found `0`, expected {signs}")),
        ("lost", format!("column 5: found the end, expected {signs}")),
        (
            "lost > ",
            "column 8: found the end, expected a whole number".to_owned(),
        ),
        (
            "lost > 5s",
            "column 8: found `5s`, expected a whole number".to_owned(),
        ),
        (
            "lost >= 1.5",
            "column 9: found `1.5`, expected a whole number".to_owned(),
        ),
        (
            "lost == 1",
            "column 7: found `= 1`, expected a whole number".to_owned(),
        ),
        (
            "p99 > 90",
            "column 7: found `90`, expected a duration with its units, such as `90s` or `1m30s`"
                .to_owned(),
        ),
        (
            "mean_attempts > two",
            "column 17: found `two`, expected a number, such as `1.5`".to_owned(),
        ),
        (
            "dollars > $2",
            "column 11: found `$2`, expected dollars as a number, such as `1.50`".to_owned(),
        ),
    ] {
        assert_eq!(refused(text), message, "{text}");
    }
}

#[test]
fn unknown_figure_is_answered_with_all_of_them() {
    let message = refused("latency > 5s");
    assert!(message.starts_with("column 1: found `latency`, expected a figure: p50, p95, "));
    for metric in Metric::ALL {
        assert!(message.contains(metric.as_str()), "{metric}");
    }
    assert!(refused("").starts_with("column 1: found the end, expected a figure: "));
    assert!(refused("median").starts_with("column 7: found the end, expected a figure: "));
    assert!(refused("> 5").starts_with("column 1: found `> 5`, expected a figure: "));
}

#[test]
fn other_forms_of_numbers_are_refused() {
    for value in [
        "-1", "+1", "1e3", "inf", "nan", ".5", "5.", "1.2.3", "1 2", "１",
    ] {
        refused(&format!("dollars > {value}"));
        refused(&format!("lost > {value}"));
    }
    let too_large = "9".repeat(400);
    refused(&format!("lost > {too_large}"));
}

#[test]
fn columns_count_characters_and_long_mistakes_are_cut() {
    let error = Condition::parse("p99 > 日本 x").unwrap_err();
    assert_eq!((error.column, error.found.as_str()), (7, "日本 x"));
    let error = Condition::parse("日本 > 1").unwrap_err();
    assert_eq!((error.column, error.found.as_str()), (1, "日本"));
    let message = refused(&format!("lost > {}", "x\n".repeat(30)));
    let shown = "x ".repeat(20);
    assert_eq!(
        message,
        format!("column 8: found `{shown}…`, expected a whole number")
    );
    assert!(refused(&"lost".repeat(20)).contains("expected a figure: "));
}

#[test]
fn every_relation_has_both_sides_of_its_bound() {
    for (relation, holding) in [
        (">", [false, false, true]),
        (">=", [false, true, true]),
        ("<", [true, false, false]),
        ("<=", [true, true, false]),
        ("=", [false, true, false]),
        ("!=", [true, false, true]),
    ] {
        for (value, expected) in [4.0, 5.0, 6.0].map(number).into_iter().zip(holding) {
            let held = holds(&format!("wasted {relation} 5"), &[value]);
            let wanted = if expected {
                Held::Holds(value)
            } else {
                Held::DoesNot(value)
            };
            assert_eq!(held, wanted, "{value:?} {relation} 5");
        }
    }
}

#[test]
fn aggregate_says_which_seed_decides() {
    let values = [1.0, 2.0, 9.0].map(number);
    for (text, value) in [
        ("lost > 0", 2.0),
        ("median lost > 0", 2.0),
        ("least lost > 0", 1.0),
        ("most lost > 0", 9.0),
        ("worst lost > 0", 9.0),
        ("worst in_slot > 0", 1.0),
        ("most in_slot > 0", 9.0),
    ] {
        assert_eq!(holds(text, &values), Held::Holds(number(value)), "{text}");
    }
}

#[test]
fn beyond_measure_is_above_every_limit() {
    let values = [Value::Beyond];
    for (text, expected) in [
        ("p99 > 100000d", Held::Holds(Value::Beyond)),
        ("p99 >= 100000d", Held::Holds(Value::Beyond)),
        ("p99 != 1s", Held::Holds(Value::Beyond)),
        ("p99 < 100000d", Held::DoesNot(Value::Beyond)),
        ("p99 = 100000d", Held::DoesNot(Value::Beyond)),
    ] {
        assert_eq!(holds(text, &values), expected, "{text}");
    }
}

#[test]
fn nothing_to_measure_neither_holds_nor_does_not() {
    assert_eq!(holds("p99 > 1s", &[Value::Nothing; 3]), Held::Nothing);
    assert_eq!(holds("p99 <= 1s", &[]), Held::Nothing);
    assert_eq!(
        holds("p99 > 1s", &[Value::Nothing, number(1_001.0)]),
        Held::Holds(number(1_001.0)),
        "one seed had something"
    );
}
