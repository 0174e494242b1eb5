//! The truth about a plan of one group: its least gap, to the second, over the whole horizon.

use crate::lint::board::{Board, Class, Group, Line};
use crate::lint::calendar::DAY;
use crate::lint::demands::Demands;
use crate::lint::near::{Reach, first_steady};
use crate::lint::ring::Ring;
use crate::lint::seams::{Scope, Seams};
use crate::lint::{Subject, peak};

/// Least gaps are looked for below these first: where there is one, few pairs are looked at.
const STEPS: [i64; 2] = [900, 7_200];

/// Whose a line is, in a group in which every job has a class of its own.
pub(super) fn subject<'a>(board: &Board<'a>, group: &Group, line: &Line) -> &'a Subject {
    &board.subjects[group.classes[line.class].members[0]]
}

/// Whether a group in which every job has a class of its own passes: it keeps what the rules demand but for what its
/// jobs accept. Of two that are too close one is enough to accept it.
pub(super) fn passes(board: &Board<'_>, group: &Group, demands: Demands) -> bool {
    let mut lines = group.lines.iter();
    let is_off_peak = lines.all(|line| {
        !demands.off_peak_of(&group.classes[line.class]) || peak::first(board, line).is_none()
    });
    is_off_peak && least_gap(board, &demanding(group, demands), demands.least).is_none()
}

/// The jobs of a group that do not accept a smaller gap than the least.
fn demanding(group: &Group, demands: Demands) -> Group {
    let mut left = Group {
        lines: Vec::new(),
        classes: Vec::new(),
    };
    for class in group.classes.iter().filter(|class| demands.apart_of(class)) {
        let (place, start) = (left.classes.len(), left.lines.len());
        let lines = group.lines[class.lines.clone()].iter().cloned();
        left.lines.extend(lines.map(|line| Line {
            class: place,
            ..line
        }));
        left.classes.push(Class {
            lines: start..left.lines.len(),
            ..class.clone()
        });
    }
    left
}

/// The least seconds between two firings of a group in which every job has a
/// class of its own; `None` if no two are less than `below` apart.
///
/// Two jobs at one instant are no seconds apart, and two expressions of one
/// job at one instant are one slot.
pub(super) fn least_gap(board: &Board<'_>, group: &Group, below: i64) -> Option<i64> {
    let steps = STEPS.into_iter().filter(|step| *step < below);
    steps
        .chain([below])
        .find_map(|step| least_below(board, group, step))
}

fn least_below(board: &Board<'_>, group: &Group, below: i64) -> Option<i64> {
    let mut ring = Ring::new(board, group, below.min(DAY));
    let mut least = below;
    let mut near = Vec::new();
    for line in 0..group.lines.len() {
        near.clear();
        ring.neighbours(group, (line, line), below, &mut near);
        for other in &near {
            least = least_of_pair(board, group, (line, *other), least);
            if least == 0 {
                return Some(0);
            }
        }
    }
    let seams = Seams::new(board, group, least);
    for class in 0..group.classes.len() {
        let scope = Scope {
            below: least,
            until: i64::MAX,
        };
        seams.near(group, class, scope, |hit, _| least = least.min(hit.gap));
    }
    (least < below).then_some(least)
}

/// The least gap between two lines while their zones are steady, if it is less than what is known.
fn least_of_pair(
    board: &Board<'_>,
    group: &Group,
    (one, two): (usize, usize),
    mut least: i64,
) -> i64 {
    let (first, second) = (&group.lines[one], &group.lines[two]);
    let reach = |below| {
        if first.class == second.class {
            Reach::own(below)
        } else {
            Reach::cross(below)
        }
    };
    let until = board.calendar.until;
    for (earlier, later) in [(first, second), (second, first)] {
        while let Some((_, gap)) = first_steady(board, earlier, later, reach(least), until) {
            least = gap;
        }
    }
    least
}
