//! The slowest attempts, their patterns, and what to change.

use super::assembly::PageView;
use super::markings::{bdi, coded, paragraph, section};
use super::table::{Table, left, right};
use crate::report::draw::tail::{evidence, pattern_rows, slowest};
use crate::report::tail::{Advice, Tail};
use crate::report::view::{View, span};

/// The part of the page; `None` where no attempt was measured.
pub(super) fn part(tail: &Tail, page: &PageView<'_>) -> Option<String> {
    if tail.samples == 0 {
        return None;
    }
    let advice = if tail.advice.is_empty() {
        String::new()
    } else {
        advice(&tail.advice, page)
    };
    let body = format!(
        "{}{}{advice}{}",
        paragraph("intro", &format!("Looked at are {}.", slowest(tail))),
        patterns(tail).html(),
        worst(tail, &page.view).html()
    );
    Some(section("slowest", "The slowest attempts", &body))
}

fn patterns(tail: &Tail) -> Table {
    let rows = pattern_rows(tail)
        .map(|(word, count, what)| vec![word.to_owned(), count.to_string(), what.to_owned()]);
    Table {
        id: "patterns".to_owned(),
        caption: "Patterns of the slowest".to_owned(),
        head: vec![left("pattern"), right("attempts"), left("means")],
        rows: rows.to_vec(),
    }
}

fn advice(advice: &[Advice], page: &PageView<'_>) -> String {
    let items = advice.iter().map(|it| {
        let place = (page.place_of)(it).unwrap_or_else(|| format!("job {}", it.job));
        format!(
            "<li>{}: <code>{}</code> of <code>{}</code>, {} of the slowest: {}</li>\n",
            bdi(&place),
            it.field.as_str(),
            bdi(&it.job),
            it.samples,
            coded(&it.words)
        )
    });
    format!(
        "<h3>What to change</h3>\n<ul class=\"advice\">\n{}</ul>\n",
        items.collect::<String>()
    )
}

fn worst(tail: &Tail, view: &View) -> Table {
    let rows = tail.worst.iter().map(|it| {
        vec![
            view.time(it.at),
            span(it.latency),
            it.n.to_string(),
            it.job.clone(),
            it.group.clone(),
            it.model.clone(),
            evidence(it),
        ]
    });
    Table {
        id: "worst".to_owned(),
        caption: "The worst, the slowest first".to_owned(),
        head: vec![
            left("sent (JST)"),
            right("latency"),
            right("try"),
            left("job"),
            left("group"),
            left("model"),
            left("pattern"),
        ],
        rows: rows.collect(),
    }
}
