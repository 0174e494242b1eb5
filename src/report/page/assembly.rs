//! Puts the page together.

use chrono::{DateTime, Utc};

use super::days::Days;
use super::markings::bdi;
use super::{apart, clock, counts, head, latency, slowest};
use crate::markup::escaped;
use crate::report::breakdown::Breakdown;
use crate::report::draw::between;
use crate::report::figures::By;
use crate::report::tail::Advice;
use crate::report::view::View;

const STYLE: &str = include_str!("style.css");

/// How every page of ours begins, and no other: what is written in its place may replace it.
pub const PAGE_START: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
     <meta name=\"generator\" content=\"offpeak\">\n";

/// Nothing is fetched and nothing runs, whatever a name in the store tries; the icon is an empty one, so that no
/// browser asks a server for it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// What a page needs beside its figures.
#[expect(
    missing_debug_implementations,
    reason = "functions have nothing to show"
)]
pub struct PageView<'a> {
    /// How times are shown; the days and hours of a report are those of Japan.
    pub view: View,
    /// Told apart in this way alone; `None` means by group, job, model and hour.
    pub by: Option<By>,
    /// Whether an instant lies in a peak window: asked once a minute of the days shown, of at most a year.
    pub is_peak: &'a dyn Fn(DateTime<Utc>) -> bool,
    /// Where the line stands that a piece of advice is about.
    pub place_of: &'a dyn Fn(&Advice) -> Option<String>,
}

/// Draws a report, beside that of a span before it if there is one, as one page that needs nothing else.
///
/// What there is nothing to show of has a sentence in place of its picture. Ask [`Breakdown::is_empty`] first: a page
/// about nothing is of no use to anybody.
///
/// ```
/// use offpeak::report::{PageView, Scope, Tally, View, render_page};
///
/// let since = "2026-12-01T00:00:00Z".parse().unwrap();
/// let until = "2026-12-15T00:00:00Z".parse().unwrap();
/// let scope = Scope { since, until, job: None, group: None };
/// let nothing = Tally::new(scope, Box::new(|_| false)).finish();
/// let view = PageView { view: View::jst(80), by: None, is_peak: &|_| false, place_of: &|_| None };
/// let page = render_page(&nothing, None, &view);
/// assert!(page.starts_with("<!doctype html>"));
/// assert!(!page.contains("<svg"), "no picture of nothing");
/// ```
#[must_use]
pub fn render_page(now: &Breakdown, before: Option<&Breakdown>, view: &PageView<'_>) -> String {
    let days = Days::of(now, &view.view);
    let span = between(&now.scope, &view.view);
    let mut sections = vec![head::figures(&now.total)];
    sections.extend(before.map(|before| head::comparison(before, now, &view.view)));
    sections.push(latency::part(days.as_ref(), &now.total));
    sections.push(clock::part(now, days.as_ref(), view));
    sections.push(counts::part(days.as_ref(), &now.total));
    sections.extend(slowest::part(&now.tail, view));
    sections.push(apart::part(now, view.by));
    format!(
        "{PAGE_START}\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>offpeak report {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<h1>Report</h1>\n<p class=\"lead\">Work due {}.</p>\n</header>\n{}</main>\n</body>\n</html>\n",
        escaped(&span),
        bdi(&span),
        sections.concat()
    )
}
