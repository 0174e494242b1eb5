//! Tables: each in a box of its own that scrolls on a narrow screen and that the keyboard reaches.

use std::fmt::Write;

use super::markings::bdi;
use crate::markup::escaped;
use crate::report::table::Align;

/// A name or a text longer than this may be broken into lines: dates are not, and a phone is no wider.
const UNBROKEN: usize = 24;

/// A table of more rows is folded away: a month of days is not.
const OPEN: usize = 31;

/// A table; the first cell of a row names it.
pub(super) struct Table {
    /// Unique in the page.
    pub id: String,
    /// What it shows.
    pub caption: String,
    /// The heads of its columns.
    pub head: Vec<(String, Align)>,
    /// As many cells each as there are heads.
    pub rows: Vec<Vec<String>>,
}

/// A head of names and one of numbers.
pub(super) fn left(word: &str) -> (String, Align) {
    (word.to_owned(), Align::Left)
}

pub(super) fn right(word: &str) -> (String, Align) {
    (word.to_owned(), Align::Right)
}

impl Table {
    /// The table, folded away if it is long.
    pub(super) fn html(mut self) -> String {
        self.drop_empty();

        if self.rows.len() <= OPEN {
            return self.boxed();
        }
        format!(
            "<details>\n<summary>{}: {} rows</summary>\n{}</details>\n",
            escaped(&self.caption),
            self.rows.len(),
            self.boxed()
        )
    }

    /// Leaves the last column out if no row has anything in it.
    fn drop_empty(&mut self) {
        let last = self.head.len().saturating_sub(1);
        let is_filled = |row: &Vec<String>| row.get(last).is_some_and(|cell| !cell.is_empty());
        if last > 0 && !self.rows.iter().any(is_filled) {
            self.head.truncate(last);
            for row in &mut self.rows {
                row.truncate(last);
            }
        }
    }

    fn boxed(&self) -> String {
        let Self { id, caption, .. } = self;
        let heads = self.head.iter().map(|(word, align)| {
            format!(
                "<th scope=\"col\"{}>{}</th>",
                class_of(*align),
                escaped(word)
            )
        });
        let mut text = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{id}\">\n<table>\n\
             <caption id=\"{id}\">{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n",
            escaped(caption),
            heads.collect::<String>()
        );
        for row in &self.rows {
            self.write_row(&mut text, row);
        }
        text + "</tbody>\n</table>\n</div>\n"
    }

    fn write_row(&self, text: &mut String, row: &[String]) {
        text.push_str("<tr>");
        for (at, (cell, (_, align))) in row.iter().zip(&self.head).enumerate() {
            let (shown, class) = match align {
                Align::Left if cell.chars().count() > UNBROKEN => (bdi(cell), " class=\"w\""),
                Align::Left => (bdi(cell), ""),
                Align::Right => (escaped(cell), class_of(*align)),
            };
            // The memory of a text cannot fail.
            let _ = if at == 0 {
                write!(text, "<th scope=\"row\"{class}>{shown}</th>")
            } else {
                write!(text, "<td{class}>{shown}</td>")
            };
        }
        text.push_str("</tr>\n");
    }
}

const fn class_of(align: Align) -> &'static str {
    match align {
        Align::Left => "",
        Align::Right => " class=\"n\"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: usize) -> Table {
        Table {
            id: "t".to_owned(),
            caption: "Days".to_owned(),
            head: vec![left("day"), right("n")],
            rows: vec![vec!["<b>".to_owned(), "1".to_owned()]; rows],
        }
    }

    #[test]
    fn table_is_reached_by_the_keyboard_and_named_by_its_caption() {
        let html = of(1).html();
        assert!(html.starts_with(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"t\">"
        ));
        assert!(html.contains("<caption id=\"t\">Days</caption>"), "{html}");
        assert!(html.contains("<th scope=\"col\">day</th><th scope=\"col\" class=\"n\">n</th>"));
        assert!(html.contains(
            "<tr><th scope=\"row\"><bdi>&lt;b&gt;</bdi></th><td class=\"n\">1</td></tr>"
        ));
    }

    #[test]
    fn table_of_more_than_a_month_of_days_is_folded_away() {
        assert!(!of(31).html().contains("<details>"));
        let long = of(32).html();
        assert!(long.starts_with("<details>\n<summary>Days: 32 rows</summary>"));
        assert!(long.ends_with("</details>\n"));
    }
}
