//! Every firing of a group around the clock changes of its zones.
//!
//! Here civil time is skipped or repeated, so firings are mapped one by one
//! and compared as instants.

use std::collections::BTreeMap;
use std::ops::Range;

use super::board::{Board, Group};
use super::near::Hit;

/// The firings around each change, in order.
#[derive(Debug)]
pub(super) struct Seams {
    /// For each change, instants and lines, ascending.
    parts: Vec<Vec<(i64, usize)>>,
    /// For each class, where its firings are: the part and the place in it.
    places: Vec<Vec<(usize, usize)>>,
}

/// Which pairs are of interest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    /// Closer than so many seconds.
    pub(super) below: i64,
    /// Between two classes, only with a firing of the first up to this instant.
    pub(super) until: i64,
}

impl Seams {
    /// Maps the firings of a group that are less than `reach` seconds from a change.
    pub(super) fn new(board: &Board<'_>, group: &Group, reach: i64) -> Self {
        let mut seams = Self {
            parts: Vec::new(),
            places: vec![Vec::new(); group.classes.len()],
        };
        for ((start, end), zones) in windows(board, group, reach) {
            let part = firings(board, group, &(start..end), &zones);
            for (place, (_, line)) in part.iter().enumerate() {
                seams.places[group.lines[*line].class].push((seams.parts.len(), place));
            }
            seams.parts.push(part);
        }
        seams
    }

    /// Shows the pairs of firings of a class and a class from it on, with the other class.
    ///
    /// At one instant the line of the other class counts as the later; two
    /// firings of one class at one instant are one slot and no pair.
    pub(super) fn near(
        &self,
        group: &Group,
        class: usize,
        scope: Scope,
        mut show: impl FnMut(Hit, usize),
    ) {
        let Scope { below, until } = scope;
        let places = &self.places[class];
        let own = |line: usize| group.lines[line].class;
        for (index, (number, place)) in places.iter().enumerate() {
            let part = &self.parts[*number];
            let (at, line) = part[*place];
            if at > until {
                let same_part = places[index + 1..]
                    .iter()
                    .take_while(|(other, _)| other == number);
                let after = same_part.map(|(_, place)| part[*place]);
                for (other, later) in after
                    .take_while(|(other, _)| other - at < below)
                    .filter(|(other, _)| *other > at)
                {
                    show(hit(at, line, other, later), class);
                }
                continue;
            }
            for (other, later) in part[place + 1..]
                .iter()
                .take_while(|(other, _)| other - at < below)
            {
                if own(*later) > class || (own(*later) == class && *other > at) {
                    show(hit(at, line, *other, *later), own(*later));
                }
            }
            for (other, earlier) in part[..*place]
                .iter()
                .rev()
                .take_while(|(other, _)| at - other < below)
            {
                match own(*earlier) > class {
                    true if *other == at => show(hit(at, line, at, *earlier), own(*earlier)),
                    true => show(hit(*other, *earlier, at, line), own(*earlier)),
                    // Found from the earlier one, or from the class before.
                    false => {}
                }
            }
        }
    }

    /// The firings of a class that the next slot of the group follows in less than `below`
    /// seconds, as instants of that slot, each with its line.
    pub(super) fn followers(
        &self,
        class: usize,
        below: i64,
    ) -> impl Iterator<Item = (i64, usize)> + '_ {
        self.places[class].iter().filter_map(move |(part, place)| {
            let part = &self.parts[*part];
            let (at, _) = part[*place];
            let next = part[place + 1..].iter().find(|(other, _)| *other > at)?;
            (next.0 - at < below).then_some(*next)
        })
    }
}

fn hit(earlier_at: i64, earlier: usize, at: i64, later: usize) -> Hit {
    Hit {
        at,
        gap: at - earlier_at,
        later,
        earlier,
    }
}

/// The spans to map, with the zones whose change each is about.
fn windows(board: &Board<'_>, group: &Group, reach: i64) -> BTreeMap<(i64, i64), Vec<usize>> {
    let mut windows: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for zone in group.zones() {
        for change in &board.tracks[zone].changes {
            let span = board
                .calendar
                .clip(&(change.start - reach..change.end + reach));
            if span.start < span.end {
                windows
                    .entry((span.start, span.end))
                    .or_default()
                    .push(zone);
            }
        }
    }
    windows
}

/// The firings of a group in a span, unless no line of these zones fires in it.
fn firings(
    board: &Board<'_>,
    group: &Group,
    span: &Range<i64>,
    zones: &[usize],
) -> Vec<(i64, usize)> {
    let mut part = Vec::new();
    let mut found = Vec::new();
    let (changing, others): (Vec<usize>, Vec<usize>) =
        (0..group.lines.len()).partition(|line| zones.contains(&group.lines[*line].zone));
    for lines in [changing, others] {
        for line in lines {
            board.fires(&group.lines[line], span, &mut found);
            part.extend(found.drain(..).map(|at| (at, line)));
        }
        if part.is_empty() {
            break;
        }
    }
    part.sort_unstable();
    part
}
