//! The sheet that a picture is drawn on, once for a wide and once for a narrow window.

use std::fmt::{Arguments, Write};

use crate::markup::escaped;

/// For which windows a drawing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A desk's.
    Wide,
    /// A phone's.
    Narrow,
}

impl Layout {
    const ALL: [Self; 2] = [Self::Wide, Self::Narrow];

    const fn word(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }

    /// The width at which letters have their own size: that of the column at 1,000 pixels and more, and of a phone.
    pub(super) const fn width(self) -> f64 {
        match self {
            Self::Wide => 920.0,
            Self::Narrow => 328.0,
        }
    }

    /// The one or the other.
    pub(super) fn pick<T>(self, wide: T, narrow: T) -> T {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }
}

/// The edges of what is drawn within the axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// So far from the left, as a share of the width.
    pub(super) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    /// So far from the bottom, as a share of the height.
    pub(super) fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }
}

/// A picture: its name and, for who cannot see it, its words.
pub(super) struct Picture {
    /// Unique in the page.
    pub id: &'static str,
    pub title: String,
    pub words: String,
}

impl Picture {
    /// Both drawings; the style shows one.
    pub(super) fn html(&self, draw: impl Fn(&mut Sheet)) -> String {
        let drawings = Layout::ALL.map(|layout| {
            let mut sheet = Sheet::new(format!("{}-{}", self.id, layout.word()), layout);
            draw(&mut sheet);
            sheet.finish(self)
        });
        drawings.concat()
    }
}

/// Shapes in, markup out.
pub(super) struct Sheet {
    id: String,
    pub layout: Layout,
    pub width: f64,
    pub height: f64,
    body: String,
}

impl Sheet {
    fn new(id: String, layout: Layout) -> Self {
        Self {
            id,
            layout,
            width: layout.width(),
            height: 0.0,
            body: String::new(),
        }
    }

    /// A text that begins, ends or has its middle at `x`, as the class says: `start`, `end` or `mid` among its words.
    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let text = escaped(text);
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>\n"
        ));
    }

    pub(super) fn path(&mut self, class: &str, d: &str) {
        if !d.is_empty() {
            self.put(format_args!("<path class=\"{class}\" d=\"{d}\"/>\n"));
        }
    }

    /// Stripes under a name: the classes `NAME-ground` and `NAME-line` have their colours.
    pub(super) fn define_stripes(&mut self, name: &str) {
        let id = self.id.clone();
        self.put(format_args!(
            "<defs>{}</defs>\n",
            stripes(&format!("{id}-{name}"), name)
        ));
    }

    /// A shape filled with these stripes.
    pub(super) fn striped(&mut self, name: &str, d: &str) {
        let id = self.id.clone();
        if !d.is_empty() {
            self.put(format_args!(
                "<path class=\"{name}\" fill=\"url(#{id}-{name})\" d=\"{d}\"/>\n"
            ));
        }
    }

    /// One wider than its window stands in a box that scrolls.
    fn finish(self, picture: &Picture) -> String {
        let Self {
            id,
            layout,
            width,
            height,
            body,
        } = self;
        let (class, title) = (layout.word(), escaped(&picture.title));
        let (size, reach) = if width > layout.width() {
            (
                format!(" class=\"long\" width=\"{width:.0}\" height=\"{height:.0}\""),
                format!(" tabindex=\"0\" role=\"region\" aria-label=\"{title}\""),
            )
        } else {
            (String::new(), String::new())
        };
        format!(
            "<div class=\"picture {class}\"{reach}>\n<svg{size} viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-words\" focusable=\"false\">\n<title id=\"{id}-title\">{title}</title>\n\
             <desc id=\"{id}-words\">{}</desc>\n{body}</svg>\n</div>\n",
            escaped(&picture.words)
        )
    }

    fn put(&mut self, shape: Arguments<'_>) {
        // The memory of a text cannot fail.
        let _ = self.body.write_fmt(shape);
    }
}

/// A pattern of stripes: the ground and lines across it.
pub(super) fn stripes(id: &str, name: &str) -> String {
    format!(
        "<pattern id=\"{id}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
         <rect class=\"{name}-ground\" width=\"6\" height=\"6\"/>\
         <path class=\"{name}-line\" d=\"M-1 1l2-2M0 6L6 0M5 7l2-2\"/></pattern>"
    )
}

/// A box for a path, from its upper left corner.
pub(super) fn oblong(d: &mut String, (x, y): (f64, f64), (width, height): (f64, f64)) {
    if width > 0.0 && height > 0.0 {
        // The memory of a text cannot fail.
        let _ = write!(d, "M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z");
    }
}
