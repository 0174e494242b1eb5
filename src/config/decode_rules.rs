//! `rules`: gaps and peak windows.

use std::time::Duration;

use crate::schedule::{PeakWindow, PeakWindows};

use super::context::Context;
use super::decode_settings::{BUILT_IN, DAY, ZERO};
use super::fields::{Field, Fields};
use super::{typed, value};

/// Reads `rules`: the least gap, the comfortable gap, the windows.
pub fn rules(cx: &mut Context<'_>, root: &mut Fields<'_>) -> (Duration, Duration, PeakWindows) {
    let mut fields = root.section(cx, "rules");
    let mut gap = |cx: &mut Context<'_>, name| {
        fields
            .read(cx, name, |cx, f| typed::duration(cx, f, ZERO..=DAY))
            .expect(BUILT_IN)
    };
    let (min_gap, comfortable_gap) = (gap(cx, "min_gap"), gap(cx, "comfortable_gap"));
    let mut peaks = fields.section(cx, "peaks");
    let zone = peaks.read(cx, "timezone", typed::zone).expect(BUILT_IN);
    let days = peaks.read(cx, "days", days).unwrap_or([true; 7]);
    let windows = peaks
        .read(cx, "windows", |cx, field| windows(cx, field, days))
        .expect(BUILT_IN);
    peaks.close(cx);
    fields.close(cx);
    (min_gap, comfortable_gap, PeakWindows::new(zone, windows))
}

fn days(cx: &mut Context<'_>, field: Field<'_>) -> Option<[bool; 7]> {
    let days = value::days(&typed::text(cx, field)?);
    if days.is_none() {
        cx.expected(field, "days such as `mon-fri` or `sat,sun`");
    }
    days
}

fn windows(cx: &mut Context<'_>, field: Field<'_>, days: [bool; 7]) -> Option<Vec<PeakWindow>> {
    let read = |cx: &mut Context<'_>, item| -> Option<Vec<PeakWindow>> {
        let parts = value::window(&typed::text(cx, item)?);
        if parts.is_none() {
            cx.expected(item, "a window such as `\"07:00-09:00\"`");
        }
        let mut day_after = days;
        day_after.rotate_right(1);
        let window = |(index, (start, end))| PeakWindow {
            start,
            end,
            days: if index == 0 { days } else { day_after },
        };
        Some(parts?.into_iter().enumerate().map(window).collect())
    };
    let read: Vec<_> = typed::one_or_many(field)
        .into_iter()
        .map(|item| read(cx, item))
        .collect();
    Some(read.into_iter().collect::<Option<Vec<_>>>()?.concat())
}
