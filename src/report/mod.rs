//! What happened: counts, percentiles and the fate of every deferral, as values and as plain text.
//!
//! [`summarize`] takes runs and returns a [`Summary`]; [`render_summary`] and
//! [`render_runs`] draw text from them. Everything here is arithmetic over the
//! history: nothing is read, and nothing depends on when it is asked.

mod chain;
mod listing;
mod percentiles;
mod render;
#[cfg(test)]
mod samples;
mod summary;
mod table;
mod view;

pub use chain::{Chain, ChainEnd, follow};
pub use listing::render_runs;
pub use percentiles::{Completion, Percentiles};
pub use render::render_summary;
pub use summary::{Costs, Outcomes, Summary, Tokens, summarize};
pub(crate) use table::{Align, lay_out};
pub use view::View;
