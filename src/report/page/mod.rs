//! A report as one page for a browser: the figures, pictures with their numbers as tables, the slowest attempts.
//!
//! Pure drawing: a [`Breakdown`](super::Breakdown) in, a text out. The page
//! holds all that it shows: no script, no address, and a policy that forbids
//! both, so that it looks the same offline and in years. Whatever comes from
//! files or the store is escaped, and set apart from the direction of the
//! text around it.
//!
//! Colours are in `style.css`, light and dark; nothing is told by colour
//! alone. Each picture is drawn twice, for a wide and for a narrow window, so
//! that its letters can be read on a phone.

mod apart;
mod assembly;
mod clock;
#[cfg(test)]
mod contrast;
mod counts;
mod days;
mod head;
mod latency;
mod markings;
mod scale;
mod shade;
mod sheet;
mod slowest;
mod table;
#[cfg(test)]
mod tests;

pub use assembly::{PAGE_START, PageView, render_page};
