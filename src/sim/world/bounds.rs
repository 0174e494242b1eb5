//! What the numbers of a world may be.

use std::time::Duration;

use super::error::WorldError;
use super::model::WorldModel;
use crate::span::show;

/// No span of a world is longer: a week.
const LONGEST: Duration = Duration::from_hours(24 * 7);

/// The first number outside its bounds, in the order of the file.
pub(super) fn check(world: &WorldModel) -> Result<(), WorldError> {
    numbers(world)?;
    spans(world)?;
    let limit = &world.limit;
    if limit.requests == 0 {
        return Err(bounds("limit.requests", &"0", "1 or more"));
    }
    if limit.input_tokens == 0 {
        return Err(bounds("limit.input_tokens", &"0", "1 or more"));
    }
    if limit.per.is_zero() {
        return Err(bounds("limit.per", &"0s", "1ms or more"));
    }
    Ok(())
}

fn numbers(world: &WorldModel) -> Result<(), WorldError> {
    const SHARE: (f64, f64, &str) = (0.0, 1.0, "0 to 1");
    const SPREAD: (f64, f64, &str) = (0.0, 2.0, "0 to 2");
    const FACTOR: (f64, f64, &str) = (1.0, 1000.0, "1 to 1000");
    const RATE: (f64, f64, &str) = (0.0, 1000.0, "0 to 1000");
    let (latency, peaks) = (&world.latency, &world.peaks);
    let (congestion, overload, faults) = (&world.congestion, &world.overload, &world.faults);
    let numbers = [
        ("latency.bend", latency.bend, FACTOR),
        (
            "latency.output_per_second",
            latency.output_per_second,
            (0.1, 1_000_000.0, "0.1 to 1000000"),
        ),
        ("latency.spread", latency.spread, SPREAD),
        ("latency.tail.share", latency.tail.share, SHARE),
        ("latency.tail.factor", latency.tail.factor, FACTOR),
        ("answers.share_of_max", world.answers.share_of_max, SHARE),
        ("answers.spread", world.answers.spread, SPREAD),
        ("peaks.spread", peaks.spread, FACTOR),
        ("peaks.overload", peaks.overload, RATE),
        ("peaks.congestion", peaks.congestion, RATE),
        ("congestion.per_day", congestion.per_day, RATE),
        ("congestion.spread", congestion.spread, SPREAD),
        ("congestion.part", congestion.part, SHARE),
        ("overload.per_day", overload.per_day, RATE),
        ("overload.spread", overload.spread, SPREAD),
        ("overload.failure_ratio", overload.failure_ratio, SHARE),
        ("overload.slowdown", overload.slowdown, FACTOR),
        ("faults.server_error", faults.server_error, SHARE),
        ("faults.cut", faults.cut, SHARE),
        ("faults.silence", faults.silence, SHARE),
        ("faults.refused", faults.refused, SHARE),
    ];
    for (field, found, (least, most, expected)) in numbers {
        if !(least..=most).contains(&found) {
            return Err(bounds(field, &rounded(found), expected));
        }
    }
    let shares = faults.server_error + faults.cut + faults.silence;
    if shares > 1.0 {
        let field = "faults.server_error + cut + silence";
        return Err(bounds(field, &rounded(shares), SHARE.2));
    }
    Ok(())
}

fn spans(world: &WorldModel) -> Result<(), WorldError> {
    let latency = &world.latency;
    let spans = [
        ("latency.first_byte", latency.first_byte),
        ("latency.per_1k_cold", latency.per_1k_cold),
        ("latency.per_1k_cached", latency.per_1k_cached),
        ("limit.per", world.limit.per),
        ("congestion.lasts", world.congestion.lasts),
        ("overload.lasts", world.overload.lasts),
        ("batches.lasts", world.batches.lasts),
    ];
    for (field, found) in spans {
        if found > LONGEST {
            return Err(bounds(field, &show(found), "at most 7d"));
        }
    }
    Ok(())
}

/// Without what adding left at the far end; all that a person would write stays.
fn rounded(number: f64) -> f64 {
    let shown = (number * 1e9).round() / 1e9;
    // Of what is hardly outside its bounds the dust is all there is to see.
    if shown.is_finite() && (shown - number).abs() < 1e-12 * number.abs() {
        shown
    } else {
        number
    }
}

fn bounds(
    field: &'static str,
    found: &dyn std::fmt::Display,
    expected: &'static str,
) -> WorldError {
    WorldError::Bounds {
        field,
        found: found.to_string(),
        expected,
    }
}
