//! What happened: counts, percentiles and the fate of every deferral, as values and as plain text.
//!
//! [`summarize`] takes runs and returns a [`Summary`]; [`render_summary`] and
//! [`render_runs`] draw text from them; [`tell`] says in sentences what one
//! slot did. A [`Tally`] takes rows one by one, a million of them, and becomes
//! a [`Breakdown`] by group, job, model, hour and day; [`render_breakdown`]
//! draws it. Everything here is arithmetic over the history: nothing is read,
//! and nothing depends on when it is asked.
//!
//! [`render_page`] makes one page with pictures of a [`Breakdown`] for a browser.

mod breakdown;
mod chain;
mod compare;
mod dots;
mod draw;
mod facts;
mod figures;
#[cfg(test)]
mod fixture;
mod listing;
mod page;
mod percentiles;
mod ranks;
mod render;
#[cfg(test)]
mod samples;
mod story;
mod summary;
mod table;
mod tail;
mod tally;
mod view;

pub use breakdown::{Breakdown, Section};
pub use chain::{Chain, ChainEnd, follow};
pub use compare::{Change, Unit, compare};
pub use dots::{Dot, DotEnd, MAX_DOTS};
pub use draw::{between, render_breakdown, render_comparison};
pub use facts::{AttemptFact, CallFact, EndFact, MergeFact, RunFact, Scope};
pub use figures::{By, Figures};
pub use listing::render_runs;
pub use page::{PAGE_START, PageView, render_page};
pub(crate) use percentiles::rank;
pub use percentiles::{Completion, Percentiles};
pub use render::render_summary;
pub use story::{
    About, Advice, BatchRecord, Civil, Clocks, DeliveryRecord, DeliveryState, HoldRecord,
    ItemRecord, Knowledge, PauseRecord, Record, Story, Sum, Told, Work, WorkState, render_story,
    tell,
};
pub use summary::{Costs, Outcomes, Summary, Tokens, summarize};
pub(crate) use table::{Align, columns_of, lay_out};
pub use tail::{Advice as TailAdvice, Evidence, Field, Tail, TailSample};
pub use tally::{Attempts, Tally};
pub use view::View;
pub(crate) use view::span;
