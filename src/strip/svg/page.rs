//! The sheet that a picture is drawn on: shapes in, markup out, growing downwards.

use std::fmt::Write;

use super::super::days::DAY;
use crate::markup::escaped;

/// Where the axis begins.
pub(super) const LEFT: u32 = 90;
/// The width of an hour.
pub(super) const HOUR: u32 = 44;
/// The width of the picture.
pub(super) const WIDTH: u32 = LEFT + 24 * HOUR + 30;
/// The height of a row.
pub(super) const ROW: u32 = 26;
/// From the top of a row to the foot of its text.
pub(super) const BASELINE: u32 = 17;

/// The height of what lies in a row.
const INSIDE: u32 = ROW - 4;
/// The height of a mark.
const MARK: u32 = 16;
/// The width of a mark: a quarter of an hour, so that marks at the least gap touch and do not overlap.
pub(super) const MARK_WIDTH: u32 = HOUR / 4;

/// Light first; dark where the reader asks for it. Each hue keeps a contrast of 4.5 to its letter.
const STYLE: &str = "\
text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2328}\
.bg{fill:#fff}.h1{font-size:20px;font-weight:600}.h2{font-size:14px;font-weight:600}\
.soft,.label,.hour{fill:#59636e}.hour{font-size:10px}.name{font-weight:600}\
.track{fill:#f3f5f8}.peak{fill:url(#peak)}.peak-bg{fill:#dfe3e8}.peak-line{stroke:#b9c0c8}\
.skipped{fill:#fff}.line{stroke:#d4d9df}\
.run{opacity:.32}.sign{font-size:11px;font-weight:600;text-anchor:middle;fill:#fff}\
.j0{fill:#0b5cad}.j1{fill:#1a7431}.j2{fill:#7a3ec8}.j3{fill:#8a5a00}\
.j4{fill:#b3400e}.j5{fill:#0b6f7f}.j6{fill:#a3286c}.j7{fill:#55606b}\
.many{fill:#1f2328}.pickup{fill:#fff;stroke:#55606b;stroke-dasharray:2 2}.run.pickup{stroke:none}\
.pickup+.sign{fill:#55606b}.bad{stroke:#d1242f;stroke-width:2.5}.warn{fill:#d1242f;font-weight:700}\
@media (prefers-color-scheme:dark){\
text{fill:#e6edf3}.bg{fill:#0d1117}.soft,.label,.hour{fill:#9aa4af}\
.track{fill:#171c24}.peak-bg{fill:#2a313b}.peak-line{stroke:#464e59}.skipped{fill:#0d1117}.line{stroke:#2d343e}\
.run{opacity:.42}.sign{fill:#0d1117}\
.j0{fill:#58a6ff}.j1{fill:#4cc463}.j2{fill:#c29bff}.j3{fill:#dba63a}\
.j4{fill:#f78c55}.j5{fill:#45ccd9}.j6{fill:#f58cc0}.j7{fill:#a4aeb9}\
.many{fill:#e6edf3}.pickup{fill:#0d1117;stroke:#a4aeb9}.pickup+.sign{fill:#a4aeb9}\
.bad{stroke:#ff7b72}.warn{fill:#ff7b72}}";

/// Hatching tells the windows without colour.
const PATTERN: &str = "<pattern id=\"peak\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
<rect class=\"peak-bg\" width=\"6\" height=\"6\"/><path class=\"peak-line\" d=\"M0 6L6 0\"/></pattern>";

/// A mark in a row.
pub(super) struct MarkShape<'a> {
    pub(super) class: &'a str,
    pub(super) sign: &'a str,
    /// Where its slot is.
    pub(super) x: u32,
    /// The top of its row.
    pub(super) y: u32,
}

/// A sheet, drawn on from the top.
pub(super) struct Page {
    body: String,
    /// Where to go on.
    pub(super) y: u32,
}

/// Where a minute of the axis stands.
pub(super) fn x_of(minute: u16) -> u32 {
    LEFT + u32::from(minute.min(DAY)) * HOUR / 60
}

impl Page {
    pub(super) const fn new() -> Self {
        Self {
            body: String::new(),
            y: 0,
        }
    }

    pub(super) fn down(&mut self, by: u32) {
        self.y = self.y.saturating_add(by);
    }

    /// A text that begins at `x`.
    pub(super) fn text(&mut self, class: &str, x: u32, y: u32, text: &str) {
        let text = escaped(text);
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>\n"
        ));
    }

    /// A text that ends at `x`.
    pub(super) fn text_end(&mut self, class: &str, x: u32, y: u32, text: &str) {
        let text = escaped(text);
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{text}</text>\n"
        ));
    }

    /// A name and what is said of it.
    pub(super) fn entry(&mut self, x: u32, y: u32, name: &str, text: &str) {
        let (name, text) = (escaped(name), escaped(text));
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\"><tspan class=\"name\">{name}</tspan> \
             <tspan class=\"soft\" dx=\"6\">{text}</tspan></text>\n"
        ));
    }

    /// Ground of a row.
    pub(super) fn rect(&mut self, class: &str, x: u32, y: u32, width: u32) {
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{INSIDE}\"/>\n"
        ));
    }

    /// A run in the row that begins at `y`; the shortest can still be seen.
    pub(super) fn bar(&mut self, class: &str, x: u32, y: u32, width: u32) {
        let (y, width) = (y + 7, width.max(1));
        let height = ROW - 14;
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n"
        ));
    }

    /// A mark with its sign, and what it says when it is pointed at.
    pub(super) fn mark(&mut self, mark: &MarkShape<'_>, tip: &str) {
        let MarkShape { class, sign, x, y } = mark;
        let top = y + (ROW - MARK) / 2;
        let (middle, foot, tip) = (x + MARK_WIDTH / 2, y + BASELINE, escaped(tip));
        self.put(format_args!(
            "<g><title>{tip}</title><rect class=\"{class}\" x=\"{x}\" y=\"{top}\" width=\"{MARK_WIDTH}\" height=\"{MARK}\" \
             rx=\"3\"/><text class=\"sign\" x=\"{middle}\" y=\"{foot}\">{sign}</text></g>\n"
        ));
    }

    /// A mark without a slot, for the legend.
    pub(super) fn swatch(&mut self, class: &str, x: u32, y: u32, sign: &str) {
        let (middle, foot) = (x + MARK_WIDTH / 2, y + 12);
        self.put(format_args!(
            "<g><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{MARK_WIDTH}\" height=\"{MARK}\" rx=\"3\"/>\
             <text class=\"sign\" x=\"{middle}\" y=\"{foot}\">{sign}</text></g>\n"
        ));
    }

    /// The numbers of the hours.
    pub(super) fn hours(&mut self) {
        let y = self.y + 8;
        for hour in (0_u32..=24).step_by(2) {
            let x = LEFT + hour * HOUR;
            self.put(format_args!(
                "<text class=\"hour\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{hour:02}</text>\n"
            ));
        }
        self.down(12);
    }

    /// A line at every second hour, from `top` to here.
    pub(super) fn hour_lines(&mut self, top: u32) {
        let bottom = self.y;
        let mut path = String::new();
        for hour in (0_u32..=24).step_by(2) {
            // The memory of a text cannot fail.
            let _ = write!(path, "M{} {top}V{bottom}", LEFT + hour * HOUR);
        }
        self.put(format_args!("<path class=\"line\" d=\"{path}\"/>\n"));
    }

    /// The whole picture; name and description are for who cannot see it.
    pub(super) fn finish(self, name: &str, description: &str) -> String {
        let height = self.y;
        let (name, description) = (escaped(name), escaped(description));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"name words\">\n\
             <title id=\"name\">{name}</title>\n<desc id=\"words\">{description}</desc>\n\
             <style>{STYLE}</style>\n<defs>{PATTERN}</defs>\n\
             <rect class=\"bg\" width=\"{WIDTH}\" height=\"{height}\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn put(&mut self, shape: std::fmt::Arguments<'_>) {
        // The memory of a text cannot fail.
        let _ = self.body.write_fmt(shape);
    }
}
