//! `key-gap` and `comfortable-gap`: firings of one group that are too close.
//!
//! A pair of firings lies either in one steady span of both zones, where
//! [`super::near`] finds it from days and times, or it touches a clock change,
//! where [`super::seams`] has every firing of the group. Classes are taken one
//! by one against those from it on, so that memory grows with the number of
//! classes and not with that of near pairs.

use super::board::{Board, Group};
use super::near::{Hit, Reach, first_steady};
use super::ranked::{Found, Ledger, Passed, TOLD};
use super::ring::Neighbourhood;
use super::seams::Scope;
use super::{Rule, Rules};

/// Two jobs of a group, or one, with their first pair of firings that is too close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair {
    /// The later instant, in seconds of UTC.
    pub(super) at: i64,
    /// The seconds between the two firings.
    pub(super) gap: i64,
    /// The places of both jobs in the order of names, later firing first.
    pub(super) rank: (usize, usize),
    /// The later firing.
    pub(super) later: Firing,
    /// The earlier one.
    pub(super) earlier: Firing,
}

/// Whose firing, by which of its expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Firing {
    /// The subject.
    pub(super) subject: usize,
    /// The line, as an index into the group's lines.
    pub(super) line: usize,
}

/// The pairs of one group.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Closer than `min_gap`.
    pub(super) tight: Found<Pair>,
    /// Never closer than `min_gap`, but closer than `comfortable_gap`.
    pub(super) narrow: Found<Pair>,
}

/// The gaps that are looked for, in seconds; 0 for a rule that is off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// `key-gap` is about gaps below this.
    tight: i64,
    /// One of the rules is about gaps below this.
    pub(super) widest: i64,
}

impl Limits {
    /// The gaps of the rules that are on.
    ///
    /// With `key-gap` off, a pair of any gap below the comfortable one is a matter of comfort.
    pub(super) fn of(rules: &Rules) -> Self {
        let below = |rule, gap| match rules.levels.severity(rule) {
            Some(_) => super::seconds(gap),
            None => 0,
        };
        let tight = below(Rule::KeyGap, rules.min_gap);
        let comfortable = below(Rule::ComfortableGap, rules.comfortable_gap);
        Self {
            tight,
            widest: tight.max(comfortable),
        }
    }
}

/// Finds every pair of jobs of a group that fires too close together.
pub(super) fn pairs(
    board: &Board<'_>,
    group: &Group,
    limits: Limits,
    near: &mut Neighbourhood,
) -> Pairs {
    let mut search = Search {
        board,
        group,
        limits,
        near,
        row: Row {
            cells: vec![Cell::default(); group.classes.len()],
            touched: Vec::new(),
        },
    };
    let mut outcome = Outcome {
        tight: Ledger::new(Rule::KeyGap),
        narrow: Ledger::new(Rule::ComfortableGap),
    };
    let classes = if limits.widest > 0 {
        group.classes.len()
    } else {
        0
    };
    for class in 0..classes {
        search.fill(class);
        search.tell(class, &mut outcome);
    }
    Pairs {
        tight: outcome.tight.finish(),
        narrow: outcome.narrow.finish(),
    }
}

struct Outcome {
    tight: Ledger<Pair>,
    narrow: Ledger<Pair>,
}

/// The first hits of one pair of classes; of a class with itself, those of one job.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    tight: Option<Hit>,
    narrow: Option<Hit>,
}

impl Cell {
    fn slot(&mut self, kind: Kind) -> &mut Option<Hit> {
        match kind {
            Kind::Tight => &mut self.tight,
            Kind::Narrow => &mut self.narrow,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tight,
    Narrow,
}

struct Search<'a> {
    board: &'a Board<'a>,
    group: &'a Group,
    limits: Limits,
    near: &'a mut Neighbourhood,
    row: Row,
}

/// The hits of the present class with each class from it on.
struct Row {
    cells: Vec<Cell>,
    /// The cells in use.
    touched: Vec<usize>,
}

impl Row {
    fn clear(&mut self) {
        for other in self.touched.drain(..) {
            self.cells[other] = Cell::default();
        }
    }

    /// The instant after which no pair with another class can matter, because each such class has
    /// one that is too close before it. In a saturated group it comes soon.
    fn settled_at(&self, class: usize) -> Option<i64> {
        let others = self.touched.iter().filter(|other| **other != class);
        let hits: Vec<i64> = others
            .filter_map(|other| Some(self.cells[*other].tight?.at))
            .collect();
        (hits.len() + class + 1 == self.cells.len())
            .then(|| hits.into_iter().max().unwrap_or(i64::MIN))
    }

    fn offer(&mut self, other: usize, kind: Kind, hit: Hit) {
        let cell = &mut self.cells[other];
        if cell.tight.is_none() && cell.narrow.is_none() {
            self.touched.push(other);
        }
        let slot = cell.slot(kind);
        if slot.is_none_or(|known| hit < known) {
            *slot = Some(hit);
        }
    }
}

impl Search<'_> {
    /// Fills the row of one class.
    fn fill(&mut self, class: usize) {
        self.row.clear();
        let mut neighbours: Vec<(usize, usize)> = Vec::new();
        let mut found = Vec::new();
        let lines = self.group.classes[class].lines.clone();
        for line in lines.clone() {
            self.near.ring.neighbours(
                self.group,
                (line, lines.start),
                self.limits.widest,
                &mut found,
            );
            neighbours.extend(found.drain(..).map(|other| (line, other)));
        }
        if self.limits.tight > 0 {
            for (one, two) in &neighbours {
                self.compare(*one, *two, Kind::Tight);
            }
        }
        self.compare_at_changes(class);
        if self.limits.widest == self.limits.tight {
            return;
        }
        for (one, two) in &neighbours {
            // A pair that is too close needs no advice on comfort.
            if self.row.cells[self.group.lines[*two].class].tight.is_none() {
                self.compare(*one, *two, Kind::Narrow);
            }
        }
    }

    /// Compares a line of the present class with another in both orders, where their zones are steady.
    fn compare(&mut self, one: usize, two: usize, kind: Kind) {
        let below = match kind {
            Kind::Tight => self.limits.tight,
            Kind::Narrow => self.limits.widest,
        };
        if self.group.lines[one].class != self.group.lines[two].class {
            self.compare_ordered(one, two, Reach::cross(below), kind);
            // One instant is one pair, whichever line is called the later.
            self.compare_ordered(two, one, Reach::own(below), kind);
        } else if one <= two {
            self.compare_ordered(one, two, Reach::own(below), kind);
            if one < two {
                self.compare_ordered(two, one, Reach::own(below), kind);
            }
        }
    }

    fn compare_ordered(&mut self, earlier: usize, later: usize, reach: Reach, kind: Kind) {
        let (first, second) = (&self.group.lines[earlier], &self.group.lines[later]);
        let other = first.class.max(second.class);
        let before = self.row.cells[other]
            .slot(kind)
            .map_or(self.board.calendar.until, |hit| hit.at + 1);
        if let Some((at, gap)) = first_steady(self.board, first, second, reach, before) {
            self.row.offer(
                other,
                kind,
                Hit {
                    at,
                    gap,
                    later,
                    earlier,
                },
            );
        }
    }

    /// Compares the firings of a class with all others around clock changes.
    fn compare_at_changes(&mut self, class: usize) {
        let until = self
            .row
            .settled_at(class)
            .map_or(i64::MAX, |at| at.saturating_add(self.limits.tight));
        let scope = Scope {
            below: self.limits.widest,
            until,
        };
        let (tight, row) = (self.limits.tight, &mut self.row);
        self.near
            .seams
            .near(self.group, class, scope, |hit, other| {
                let kind = if hit.gap < tight {
                    Kind::Tight
                } else {
                    Kind::Narrow
                };
                row.offer(other, kind, hit);
            });
    }

    /// Turns the row of a class into pairs of jobs.
    fn tell(&self, class: usize, outcome: &mut Outcome) {
        let members = &self.group.classes[class].members;
        self.tell_twins(class, outcome);
        for other in &self.row.touched {
            let cell = self.row.cells[*other];
            let (ledger, hit) = match (cell.tight, cell.narrow) {
                (Some(hit), _) => (&mut outcome.tight, hit),
                (None, Some(hit)) => (&mut outcome.narrow, hit),
                (None, None) => continue,
            };
            let told = ledger.of(self.group, [class, *other]);
            if *other == class {
                for one in members {
                    told.push(self.pair(hit, *one, *one));
                }
                continue;
            }
            let others = &self.group.classes[*other].members;
            let pairs = members.len() * others.len();
            if told.pass_over(pairs, |last| last.at < hit.at) == Passed::Counted {
                continue;
            }
            let (members, others) = (first(members), first(others));
            told.count(pairs - members.len() * others.len());
            let class_is_later = self.group.lines[hit.later].class == class;
            for (one, two) in members
                .iter()
                .flat_map(|one| others.iter().map(move |two| (*one, *two)))
            {
                let (later, earlier) = if class_is_later {
                    (one, two)
                } else {
                    (two, one)
                };
                told.push(self.pair(hit, later, earlier));
            }
        }
    }

    /// Jobs with one timetable fire together from their first firing on.
    fn tell_twins(&self, class: usize, outcome: &mut Outcome) {
        let members = &self.group.classes[class].members;
        if members.len() < 2 {
            return;
        }
        let lines = self.group.classes[class].lines.clone();
        let fires =
            lines.filter_map(|line| Some((self.board.first_fire(&self.group.lines[line])?, line)));
        let Some((at, line)) = fires.min() else {
            return;
        };
        let ledger = if self.limits.tight > 0 {
            &mut outcome.tight
        } else {
            &mut outcome.narrow
        };
        let told = ledger.of(self.group, [class; 2]);
        let pairs = members.len() * (members.len() - 1) / 2;
        if told.pass_over(pairs, |last| last.at < at) == Passed::Counted {
            return;
        }
        let hit = Hit {
            at,
            gap: 0,
            later: line,
            earlier: line,
        };
        let members = first(members);
        told.count(pairs - members.len() * (members.len() - 1) / 2);
        for (place, one) in members.iter().enumerate() {
            members[place + 1..]
                .iter()
                .for_each(|two| told.push(self.pair(hit, *two, *one)));
        }
    }

    /// A hit as a pair of two jobs; at one instant the first by name counts as the earlier.
    fn pair(&self, hit: Hit, later: usize, earlier: usize) -> Pair {
        let mut later = Firing {
            subject: later,
            line: hit.later,
        };
        let mut earlier = Firing {
            subject: earlier,
            line: hit.earlier,
        };
        let rank = |firing: Firing| self.board.rank[firing.subject];
        if hit.gap == 0 && rank(later) < rank(earlier) {
            (later, earlier) = (earlier, later);
        }
        Pair {
            at: hit.at,
            gap: hit.gap,
            rank: (rank(later), rank(earlier)),
            later,
            earlier,
        }
    }
}
/// The members of a class that can be in one of the first pairs.
///
/// Pairs of one hit are in the order of their members' names, later firing first. A member behind `TOLD` others makes no
/// pair that is not behind as many of those others' pairs.
fn first(members: &[usize]) -> &[usize] {
    &members[..members.len().min(TOLD + 1)]
}
