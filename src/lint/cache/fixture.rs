//! Jobs with prompts for the tests of the cache rules.

use std::sync::Arc;

use super::super::fixture::{at, job, rules};
use super::super::{
    Finding, Identity, InputPrice, Known, Model, Prefix, Prompt, Rule, Subject, check,
};
use crate::job::CacheTtl;

/// The prices and the least prefix of a model such as `claude-sonnet-5-5`.
pub(super) fn model() -> Model {
    Model {
        id: "m".to_owned(),
        known: Known::Yes,
        as_of: "2026-11-01".parse().unwrap(),
        ends_on: None,
        successor: None,
        min_cacheable_tokens: Some(512),
        price: Some(InputPrice {
            fresh: 2.0,
            write_5m: 2.5,
            write_1h: 4.0,
            read: 0.1,
        }),
    }
}

/// A job in UTC with a system prompt of 2,000 tokens, the same for all, and 100 tokens more.
pub(super) fn sends(name: &str, crons: &[&str], cache: Option<CacheTtl>) -> Subject {
    Subject {
        prompt: Some(Prompt {
            model: Arc::new(model()),
            tokens: 2_100,
            more_tokens: 0,
            prefixes: vec![Prefix {
                identity: Identity::Steady("be brief".into()),
                tokens: 2_000,
                own_tokens: 2_000,
                cache,
                block: None,
            }],
        }),
        ..job(name, "UTC", crons)
    }
}

/// The same job with another prompt.
pub(super) fn with(mut subject: Subject, change: impl FnOnce(&mut Prompt)) -> Subject {
    change(subject.prompt.as_mut().unwrap());
    subject
}

/// The same job with a system prompt of so many tokens in all.
pub(super) fn sized(subject: Subject, tokens: u64) -> Subject {
    with(subject, |prompt| {
        prompt.prefixes[0].tokens = tokens;
        prompt.prefixes[0].own_tokens = tokens;
    })
}

/// The same job with a system prompt of so many tokens more, which ends with a breakpoint of its own.
pub(super) fn then(subject: Subject, text: &str, tokens: u64, cache: CacheTtl) -> Subject {
    with(subject, |prompt| {
        prompt.tokens += tokens;
        prompt.prefixes[0].block = Some(1);
        let before = prompt.prefixes[0].tokens;
        prompt.prefixes.push(Prefix {
            identity: Identity::Steady(text.into()),
            tokens: before + tokens,
            own_tokens: tokens,
            cache: Some(cache),
            block: Some(2),
        });
    })
}

/// The same job with another model.
pub(super) fn on(subject: Subject, model: Model) -> Subject {
    with(subject, |prompt| prompt.model = Arc::new(model))
}

/// The findings of one rule from 1 December 2026 on.
pub(super) fn found(subjects: &[Subject], rule: Rule) -> Vec<Finding> {
    let verdict = check(subjects, &rules("UTC", vec![]), at("2026-12-01T00:00:00Z"));
    let mut findings = verdict.findings;
    findings.retain(|finding| finding.rule == rule);
    findings
}

/// The jobs of the findings of one rule.
pub(super) fn told(subjects: &[Subject], rule: Rule) -> Vec<String> {
    let found = found(subjects, rule).into_iter();
    found.map(|finding| finding.job.to_string()).collect()
}
