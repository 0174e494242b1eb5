//! What jobs may spend, and what an answer of theirs may cost, for the linter.

use crate::answer::Usage;
use crate::anthropic::Models;
use crate::config::Config;
use crate::guard::DollarCaps;
use crate::job::Job;
use crate::lint::{Cap, Toll};
use crate::price::Terms;

/// Reads what jobs may spend.
#[derive(Debug)]
pub struct Tolls<'a> {
    models: &'a Models,
    caps: DollarCaps,
}

impl<'a> Tolls<'a> {
    /// By these settings and prices.
    #[must_use]
    pub fn new(config: &Config, models: &'a Models) -> Self {
        Self {
            models,
            caps: config.guard.budget.dollars(),
        }
    }

    /// What a job may spend, and what its longest answer costs.
    #[must_use]
    pub fn of(&self, job: &Job) -> Toll {
        let caps = [
            ("max_cost", job.max_cost),
            ("budget.dollars.day", self.caps.day),
            ("budget.dollars.month", self.caps.month),
        ];
        let caps = caps.into_iter().filter_map(|(field, most)| {
            let most = most?;
            Some(Cap { field, most })
        });
        let template = &job.template;
        let answer = Usage {
            output_tokens: u64::from(template.max_tokens),
            ..Usage::default()
        };
        let terms = Terms::asked(template.delivery, &template.extra);
        Toll {
            model: template.model.clone(),
            max_tokens: template.max_tokens,
            answer: self.models.cost(&template.model, &answer, terms),
            caps: caps.collect(),
        }
    }
}
