//! What a simulated arm did, in figures, and what sets two arms apart.
//!
//! An arm is one client on one schedule. Each seed of an arm leaves a [`Log`];
//! everything here is arithmetic over logs, and says nothing of how they came
//! to be.
//!
//! A [`Score`] holds the figures of one log, by [`Metric`]; a [`Summary`] says
//! how each figure spreads over the seeds of an arm; a [`Contrast`] sets two
//! arms apart, seed by seed. A [`Condition`] asks one figure of a summary, and
//! a [`Claim`] is what somebody else measured, held against the seeds.

mod claim;
mod condition;
mod contrast;
mod effects;
mod few;
mod figure;
mod log;
mod metric;
mod render;
mod score;
mod summary;
mod table;
mod value;

pub use claim::{Claim, Verdict};
pub use condition::{Condition, ConditionError, Expected, Held};
pub use contrast::{Change, Contrast, Interval, Resamples};
pub use effects::render_effects;
pub use few::few;
pub use log::{Call, Carried, Log, Opening, Send, SendEnd, Work};
pub use metric::{Metric, Unit};
pub use render::{
    Arm, markdown_arms, markdown_contrasts, render_arm, render_arms, render_contrasts,
};
pub use score::Score;
pub use summary::{Spread, Summary};
pub use value::Value;
