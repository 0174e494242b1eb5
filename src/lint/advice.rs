//! What a careful reader says of one expression or of one model.
//!
//! Nothing here is wrong for certain: each expression fires as written, but
//! perhaps not as meant. A rule is a plain function from an expression to its
//! advice; an expression that several jobs have is looked at once.

mod either_day;
mod leap_day;
mod skips_months;
mod uneven_step;
mod words;

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::{Finding, Rule, Rules, Subject, model};
use crate::schedule::cron::Spacing;
use crate::schedule::zone::Resolved;
use crate::schedule::{CronExpr, Zone};

/// How far ahead dates are looked for: past a leap day, wherever it starts. Around a year such as 2100, two leap
/// days are eight years apart.
const LOOK_AHEAD: TimeDelta = TimeDelta::days(8 * 366);

/// What there is to say about an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Advice {
    /// The first firing concerned, where there is one.
    at: Option<DateTime<Utc>>,
    /// What follows the expression and the job's name.
    message: String,
    /// The way out.
    help: String,
}

/// A rule about one expression, and what it says.
type ExprRule = (Rule, fn(&Question<'_>) -> Option<Advice>);

/// The rules about one expression.
const EXPR_RULES: [ExprRule; 4] = [
    (Rule::EitherDay, either_day::advice),
    (Rule::UnevenStep, uneven_step::advice),
    (Rule::LeapDay, leap_day::advice),
    (Rule::SkipsMonths, skips_months::advice),
];

/// Everything to say about single expressions and models, from an instant on.
pub(super) fn findings(subjects: &[Subject], rules: &Rules, from: DateTime<Utc>) -> Vec<Finding> {
    let asked = EXPR_RULES
        .iter()
        .filter(|(rule, _)| rules.levels.severity(*rule).is_some());
    let asked: Vec<&ExprRule> = asked.collect();
    let mut known: HashMap<(&str, &str), Vec<(Rule, Advice)>> = HashMap::new();
    let mut findings = model::findings(subjects, rules, from);
    for subject in subjects {
        let zone = subject.timetable.zone();
        let mut told = Vec::new();
        for (cron, expr) in subject.timetable.exprs().iter().enumerate() {
            let question = Question { expr, zone, from };
            let answers = known
                .entry((expr.text(), zone.name()))
                .or_insert_with(|| question.ask(&asked));
            for (rule, advice) in answers.iter() {
                // One finding of a rule says enough about a job.
                if !told.contains(rule) {
                    told.push(*rule);
                    findings.push(finding(*rule, subject, cron, advice));
                }
            }
        }
    }
    findings
}

fn finding(rule: Rule, subject: &Subject, cron: usize, advice: &Advice) -> Finding {
    let expr = subject.timetable.exprs()[cron].text();
    let message = format!("`{expr}` of `{}` {}", subject.job, advice.message);
    Finding {
        cron: Some(cron),
        at: advice.at,
        help: Some(advice.help.clone()),
        ..about(rule, subject, message)
    }
}

/// A finding about a whole job.
pub(super) fn about(rule: Rule, subject: &Subject, message: String) -> Finding {
    Finding {
        rule,
        severity: rule.severity(),
        job: subject.job.clone(),
        group: subject.group.clone(),
        cron: None,
        field: None,
        at: None,
        other: None,
        also: Vec::new(),
        gap: None,
        per_year: None,
        message,
        suggestion: None,
        help: None,
        accepted: None,
        accepts: None,
    }
}

/// One expression in its zone, from an instant on.
#[derive(Debug, Clone, Copy)]
struct Question<'a> {
    expr: &'a CronExpr,
    zone: &'a Zone,
    from: DateTime<Utc>,
}

impl Question<'_> {
    fn ask(&self, asked: &[&ExprRule]) -> Vec<(Rule, Advice)> {
        let answers = asked
            .iter()
            .filter_map(|(rule, advice)| Some((*rule, advice(self)?)));
        answers.collect()
    }

    /// The local date of the instant.
    fn today(&self) -> NaiveDate {
        self.zone.civil(self.from).date()
    }

    /// The dates that the expression names, from today on, as far as it pays to look.
    fn dates(&self) -> impl Iterator<Item = NaiveDate> {
        let expr = self.expr;
        let until = self
            .today()
            .checked_add_signed(LOOK_AHEAD)
            .unwrap_or(NaiveDate::MAX);
        std::iter::successors(expr.next_day(self.today()), |date| {
            expr.next_day(date.succ_opt()?)
        })
        .take_while(move |date| *date <= until)
    }

    /// When it fires by a time of day on a date that it names; `None` before the instant, and where a clock change
    /// drops the firing.
    fn fires_at(&self, date: NaiveDate, minute: u16) -> Option<DateTime<Utc>> {
        let civil = date.and_hms_opt(u32::from(minute / 60), u32::from(minute % 60), 0)?;
        let firings = match (self.zone.resolve(civil), self.expr.spacing()) {
            (Resolved::Unique(at), Spacing::Fixed | Spacing::Even)
            | (Resolved::Gap(at) | Resolved::Fold(at, _), Spacing::Fixed) => [Some(at), None],
            (Resolved::Gap(_), Spacing::Even) => [None, None],
            (Resolved::Fold(first, second), Spacing::Even) => [Some(first), Some(second)],
        };
        firings.into_iter().flatten().find(|at| *at >= self.from)
    }

    /// The first firing on a date that it names.
    fn fires_on(&self, date: NaiveDate) -> Option<DateTime<Utc>> {
        self.expr
            .times()
            .iter()
            .find_map(|minute| self.fires_at(date, *minute))
    }
}

#[cfg(test)]
mod tests;
