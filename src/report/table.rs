//! Plain tables for a terminal: aligned columns, no colour, never wider than asked.

/// How a column lines up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// The narrowest that the last column gets, however narrow the terminal is.
const LAST_COLUMN: usize = 12;

/// Lays rows out in columns two blanks apart. The last column takes what is left of `width`, and is cut there with `…`.
///
/// The first row is the head. Every row has as many cells as there are alignments.
pub(crate) fn lay_out(rows: &[Vec<String>], aligns: &[Align], width: usize) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| clean(cell)).collect())
        .collect();
    let columns: Vec<usize> = (0..aligns.len())
        .map(|at| {
            rows.iter()
                .filter_map(|row| row.get(at))
                .map(|cell| columns_of(cell))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let before: usize = columns.iter().rev().skip(1).map(|column| column + 2).sum();
    let last = width.saturating_sub(before).max(LAST_COLUMN);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for ((at, cell), align) in row.iter().enumerate().zip(aligns) {
            let is_last = at + 1 == aligns.len();
            let cell = if is_last {
                cut(cell, last)
            } else {
                cell.clone()
            };
            let blanks = " ".repeat(if is_last {
                0
            } else {
                columns[at] - columns_of(&cell)
            });
            match align {
                Align::Left => line.extend([cell.as_str(), &blanks, "  "]),
                Align::Right => line.extend([&blanks, cell.as_str(), "  "]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A cell on one line: what a server or a program said must not move the cursor.
pub(super) fn clean(cell: &str) -> String {
    cell.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// The longest beginning that fits, with a mark if it is not the whole.
pub(super) fn cut(cell: &str, width: usize) -> String {
    if columns_of(cell) <= width {
        return cell.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1; // The mark.
    for c in cell.chars() {
        used += columns_of_char(c);
        if used > width {
            break;
        }
        shown.push(c);
    }
    format!("{}…", shown.trim_end())
}

/// How many columns of a terminal a text takes.
pub(crate) fn columns_of(text: &str) -> usize {
    text.chars().map(columns_of_char).sum()
}

/// East Asian wide characters and pictures take two columns, combining marks none.
fn columns_of_char(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[&str]], width: usize) -> String {
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
            .collect();
        lay_out(&rows, &[Align::Left, Align::Right, Align::Left], width)
    }

    #[test]
    fn columns_line_up_to_the_left_and_to_the_right() {
        let text = table(
            &[
                &["job", "n", "note"],
                &["digest", "12", "x"],
                &["a", "3", ""],
            ],
            80,
        );
        assert_eq!(text, "job      n  note\ndigest  12  x\na        3\n");
    }

    #[test]
    fn last_column_is_cut_at_the_width() {
        let rows: &[&[&str]] = &[&["a", "1", "0123456789abcdef"]];
        assert_eq!(table(rows, 22), "a  1  0123456789abcdef\n");
        assert_eq!(table(rows, 21), "a  1  0123456789abcd…\n");
        assert_eq!(
            table(rows, 0),
            "a  1  0123456789a…\n",
            "a note of twelve columns is the least"
        );
    }

    #[test]
    fn wide_characters_keep_the_columns_straight() {
        assert_eq!(
            table(&[&["日報", "1", "x"], &["abcd", "1", "x"]], 80),
            "日報  1  x\nabcd  1  x\n"
        );
        assert_eq!(cut("日本語日本語日", 13), "日本語日本語…");
        assert_eq!(columns_of("e\u{301}\u{1f319}"), 3);
    }

    #[test]
    fn control_characters_become_blanks() {
        assert_eq!(
            table(&[&["a", "1", "x\x1b[31my\nz"]], 80),
            "a  1  x [31my z\n"
        );
    }
}
