//! `unknown-price` and `over-budget`: what a cap in dollars says of a job.

use super::advice::about;
use super::{Finding, Rule, Rules, Subject, Toll};

/// What there is to say of the jobs that may not spend all they like.
pub(super) fn findings(subjects: &[Subject], rules: &Rules) -> Vec<Finding> {
    let asked = |rule| rules.levels.severity(rule).is_some();
    let (price_asked, budget_asked) = (asked(Rule::UnknownPrice), asked(Rule::OverBudget));
    let mut findings = Vec::new();
    for subject in subjects {
        if price_asked {
            findings.extend(unknown_prices(subject));
        }
        if budget_asked {
            findings.extend(over_budget(subject));
        }
    }
    findings
}

/// A finding for each model under a cap whose price is not known.
fn unknown_prices(subject: &Subject) -> Vec<Finding> {
    let mut told: Vec<&str> = Vec::new();
    let mut findings = Vec::new();
    for toll in &subject.tolls {
        if !told.contains(&toll.model.as_str()) {
            told.push(&toll.model);
            findings.extend(unknown_price(subject, toll));
        }
    }
    findings
}

fn unknown_price(subject: &Subject, toll: &Toll) -> Option<Finding> {
    let cap = toll.caps.first().filter(|_| toll.answer.is_none())?;
    let model = &toll.model;
    let message = format!(
        "`{}` is under `{}`, and what the model `{model}` costs is not known",
        subject.job, cap.field
    );
    let help = format!(
        "name its price in offpeak.yaml: `prices: {{ {model}: {{ input: 3, output: 15 }} }}`, in dollars for a million \
         tokens"
    );
    Some(Finding {
        help: Some(help),
        ..about(Rule::UnknownPrice, subject, message)
    })
}

/// The prompt comes on top of the answer, so this is no more than what can be told without it. Of the steps of a chain
/// the dearest is told of, and of the fallback only what the job's own models do not exceed.
fn over_budget(subject: &Subject) -> Option<Finding> {
    let over = subject.tolls.iter().filter_map(|toll| {
        let answer = toll.answer?;
        let caps = toll.caps.iter().filter(|cap| answer > cap.most);
        Some((toll, answer, caps.min_by_key(|cap| cap.most)?))
    });
    let (toll, answer, cap) = over.max_by_key(|(toll, answer, _)| (!toll.is_fallback, *answer))?;
    let what = if toll.is_fallback {
        format!("the fallback `{}` can never be asked", toll.model)
    } else {
        "no call can be made".to_owned()
    };
    let message = format!(
        "an answer of {} tokens may cost {answer}, and `{}` of `{}` is {}: {what}",
        toll.max_tokens, cap.field, subject.job, cap.most
    );
    Some(Finding {
        help: Some(format!("lower `max_tokens`, or raise `{}`", cap.field)),
        ..about(Rule::OverBudget, subject, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::fixture::{job, rules};
    use crate::lint::{Cap, Level};
    use crate::money::Dollars;

    fn dollars(number: f64) -> Dollars {
        Dollars::from_f64(number).unwrap()
    }

    fn subject(answer: Option<f64>, caps: &[(&'static str, f64)]) -> Subject {
        let caps = caps.iter().map(|&(field, most)| Cap {
            field,
            most: dollars(most),
        });
        let toll = Toll {
            model: "claude-foo-9".to_owned(),
            is_fallback: false,
            max_tokens: 4_000,
            answer: answer.map(dollars),
            caps: caps.collect(),
        };
        Subject {
            tolls: vec![toll],
            ..job("a", "UTC", &["0 5 * * *"])
        }
    }

    fn calm() -> Rules {
        rules("UTC", Vec::new())
    }

    fn said(subject: Subject, rules: &Rules) -> Vec<(Rule, String)> {
        let findings = findings(&[subject], rules);
        let said = findings
            .into_iter()
            .map(|finding| (finding.rule, finding.message));
        said.collect()
    }

    #[test]
    fn no_cap_asks_for_no_price() {
        assert_eq!(said(subject(None, &[]), &calm()), []);
        assert_eq!(said(subject(Some(9.0), &[]), &calm()), []);
    }

    #[test]
    fn unknown_price_under_a_cap_is_an_error_with_the_way_out() {
        let subject = subject(None, &[("max_cost", 1.0), ("budget.dollars.day", 2.0)]);
        let findings = findings(&[subject], &calm());
        let messages: Vec<&str> = findings.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(
            messages,
            ["`a` is under `max_cost`, and what the model `claude-foo-9` costs is not known"]
        );
        assert!(findings[0].is_stopping());
        assert!(
            findings[0]
                .help
                .as_ref()
                .unwrap()
                .contains("prices: { claude-foo-9:")
        );
    }

    #[test]
    fn answer_over_a_cap_is_told_and_one_as_dear_as_the_cap_is_not() {
        let caps = [("max_cost", 0.05), ("budget.dollars.day", 0.04)];
        assert_eq!(said(subject(Some(0.04), &caps), &calm()), []);
        let message = "an answer of 4000 tokens may cost $0.0401, and `budget.dollars.day` of `a` is $0.04: no call \
                       can be made";
        assert_eq!(
            said(subject(Some(0.0401), &caps), &calm()),
            [(Rule::OverBudget, message.to_owned())]
        );
    }

    #[test]
    fn dearest_step_is_told_of_and_the_fallback_if_no_step_is_too_dear() {
        let caps = [("max_cost", 1.0)];
        let [cheap, dear, dearest] = [0.5, 2.0, 3.0].map(|answer| subject(Some(answer), &caps));
        let toll = |of: &Subject| of.tolls[0].clone();
        let fallback = Toll {
            model: "claude-bar-1".to_owned(),
            is_fallback: true,
            ..toll(&dearest)
        };
        let with = |tolls| Subject {
            tolls,
            ..cheap.clone()
        };
        let chain = with(vec![toll(&cheap), toll(&dear), fallback.clone()]);
        let message = "an answer of 4000 tokens may cost $2.00, and `max_cost` of `a` is $1.00: no call can be made";
        assert_eq!(
            said(chain, &calm()),
            [(Rule::OverBudget, message.to_owned())]
        );
        let plain = with(vec![toll(&cheap), fallback]);
        let message = "an answer of 4000 tokens may cost $3.00, and `max_cost` of `a` is $1.00: the fallback \
                       `claude-bar-1` can never be asked";
        assert_eq!(
            said(plain, &calm()),
            [(Rule::OverBudget, message.to_owned())]
        );
    }

    #[test]
    fn each_model_without_a_price_is_told_of_once() {
        let caps = [("max_cost", 1.0)];
        let one = subject(None, &caps);
        let fallback = Toll {
            model: "claude-bar-1".to_owned(),
            is_fallback: true,
            ..one.tolls[0].clone()
        };
        let step = one.tolls[0].clone();
        let chain = Subject {
            tolls: vec![step.clone(), step, fallback.clone(), fallback],
            ..one
        };
        let told: Vec<Rule> = said(chain, &calm())
            .into_iter()
            .map(|(rule, _)| rule)
            .collect();
        assert_eq!(told, [Rule::UnknownPrice; 2]);
    }

    #[test]
    fn rules_that_are_off_say_nothing() {
        let mut rules = calm();
        rules.levels.set(Rule::OverBudget, Level::Off);
        rules.levels.set(Rule::UnknownPrice, Level::Off);
        assert_eq!(said(subject(Some(9.0), &[("max_cost", 1.0)]), &rules), []);
        assert_eq!(said(subject(None, &[("max_cost", 1.0)]), &rules), []);
    }
}
