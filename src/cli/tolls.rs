//! What jobs may spend, and what an answer of theirs may cost, for the linter.

use crate::answer::Usage;
use crate::anthropic::Models;
use crate::config::Config;
use crate::guard::DollarCaps;
use crate::job::{Job, Template};
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

    /// What a job may spend, and what the longest answer of each step costs: of its own model, then of the fallback.
    #[must_use]
    pub fn of(&self, job: &Job) -> Vec<Toll> {
        let own = job.chain().map(|step| self.at(job, step, &step.model));
        let fallback = job.fallback_model.iter();
        let of_fallback = fallback.flat_map(|model| {
            job.chain().map(move |step| Toll {
                is_fallback: true,
                ..self.at(job, step, model)
            })
        });
        own.chain(of_fallback).collect()
    }

    fn at(&self, job: &Job, step: &Template, model: &str) -> Toll {
        let caps = [
            ("max_cost", job.max_cost),
            ("budget.dollars.day", self.caps.day),
            ("budget.dollars.month", self.caps.month),
        ];
        let caps = caps.into_iter().filter_map(|(field, most)| {
            let most = most?;
            Some(Cap { field, most })
        });
        let answer = Usage {
            output_tokens: u64::from(step.max_tokens),
            ..Usage::default()
        };
        let terms = Terms::asked(step.delivery, &step.extra);
        Toll {
            model: model.to_owned(),
            is_fallback: false,
            max_tokens: step.max_tokens,
            answer: self.models.cost(model, &answer, terms),
            caps: caps.collect(),
        }
    }
}
