//! The first findings of a rule and group one by one, and the rest as a count.

use std::collections::BTreeMap;

use super::super::Finding;
use super::super::ranked::TOLD;
use super::order;

/// Whether a job accepts what is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Standing {
    /// Nobody does.
    Open,
    /// A job does.
    Accepted,
}

impl Standing {
    const fn of(finding: &Finding) -> Self {
        match finding.accepted {
            None => Self::Open,
            Some(_) => Self::Accepted,
        }
    }
}

/// The last finding of a rule and group: how many more there are; `next` is the first of them.
pub(in super::super) fn closing(next: Finding, count: usize, standing: Standing) -> Finding {
    let (more, accepted) = match standing {
        Standing::Open => ("more", None),
        Standing::Accepted => ("more accepted", Some("each by one of its jobs".to_owned())),
    };
    let message = format!(
        "{count} {more} findings of {} in group `{}` are not listed, only the first {TOLD}",
        next.rule, next.group
    );
    Finding {
        cron: None,
        field: None,
        other: None,
        also: Vec::new(),
        gap: None,
        per_year: None,
        suggestion: None,
        help: None,
        message,
        accepted,
        accepts: None,
        ..next
    }
}

/// The first hundred of each rule and group, of what is open and of what is accepted, and a count of the rest of each.
///
/// It is for rules that list all they find; those that rank as they look close by themselves.
pub(in super::super) fn first_of_each_group(findings: Vec<Finding>) -> Vec<Finding> {
    let mut crowds: BTreeMap<_, Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        let key = (finding.rule, finding.group.clone(), Standing::of(&finding));
        crowds.entry(key).or_default().push(finding);
    }
    let told = crowds.into_iter().flat_map(|((_, _, standing), mut told)| {
        told.sort_by(|one, two| order(one).cmp(&order(two)));
        let rest = told.split_off(told.len().min(TOLD));
        let count = rest.len();
        told.extend(
            rest.into_iter()
                .next()
                .map(|next| closing(next, count, standing)),
        );
        told
    });
    told.collect()
}
