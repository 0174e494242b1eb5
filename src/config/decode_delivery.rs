//! `delivery`: how the calls of a job are handed in.

use crate::job::Handing;
use crate::lint::Rule;

use super::context::Context;
use super::fields::Fields;
use super::mistakes::Mistake;
use super::typed;

/// What needs an answer at once, and why.
const AT_ONCE: [(&str, &str); 3] = [
    ("steps", "each step needs the answer of the one before it"),
    (
        "fallback_model",
        "a batch is answered by the model that it was handed in for",
    ),
    ("concurrency", "the calls of a batch are handed in together"),
];

/// Reads it; must come before what it excludes.
pub fn handing(cx: &mut Context<'_>, fields: &mut Fields<'_>) -> Handing {
    let words = [("direct", Handing::Direct), ("batch", Handing::Batch)];
    let Some(field) = fields.take("delivery") else {
        return Handing::Direct;
    };
    let handing = typed::word(cx, field, &words).unwrap_or(Handing::Direct);
    if handing == Handing::Batch {
        for (name, why) in AT_ONCE.iter().filter(|(name, _)| fields.has(name)) {
            let message = format!("`delivery: batch` and `{name}` exclude each other: {why}");
            let mistake = Mistake::new(Rule::BadField, field.key.clone(), message)
                .related(fields.place_of(name), format!("`{name}` stands here"))
                .help("remove one of them");
            cx.report(mistake);
        }
    }
    handing
}
