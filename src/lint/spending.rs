//! `unknown-price` and `over-budget`: what a cap in dollars says of a job.

use super::advice::about;
use super::{Finding, Rule, Rules, Subject, Toll};

/// What there is to say of the jobs that may not spend all they like.
pub(super) fn findings(subjects: &[Subject], rules: &Rules) -> Vec<Finding> {
    let asked = |rule| rules.levels.severity(rule).is_some();
    let (price_asked, budget_asked) = (asked(Rule::UnknownPrice), asked(Rule::OverBudget));
    let mut findings = Vec::new();
    for subject in subjects {
        let Some(toll) = &subject.toll else {
            continue;
        };
        if price_asked {
            findings.extend(unknown_price(subject, toll));
        }
        if budget_asked {
            findings.extend(over_budget(subject, toll));
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

/// The prompt comes on top of the answer, so this is no more than what can be told without it.
fn over_budget(subject: &Subject, toll: &Toll) -> Option<Finding> {
    let answer = toll.answer?;
    let caps = toll.caps.iter().filter(|cap| answer > cap.most);
    let cap = caps.min_by_key(|cap| cap.most)?;
    let message = format!(
        "an answer of {} tokens may cost {answer}, and `{}` of `{}` is {}: no call can be made",
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
            max_tokens: 4_000,
            answer: answer.map(dollars),
            caps: caps.collect(),
        };
        Subject {
            toll: Some(toll),
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
    fn rules_that_are_off_say_nothing() {
        let mut rules = calm();
        rules.levels.set(Rule::OverBudget, Level::Off);
        rules.levels.set(Rule::UnknownPrice, Level::Off);
        assert_eq!(said(subject(Some(9.0), &[("max_cost", 1.0)]), &rules), []);
        assert_eq!(said(subject(None, &[("max_cost", 1.0)]), &rules), []);
    }
}
