//! The lines of one group while they are being moved.

use std::collections::{HashMap, HashSet};

use super::{Fixed, Reason, Stuck};
use crate::lint::board::{Board, Class, Group, Line};
use crate::lint::near::{Reach, first_steady};
use crate::lint::nearest::{Comfort, Place, Search};
use crate::lint::ring::Ring;
use crate::lint::{Change, Effort, Rule, Severity, peak, seconds};
use crate::schedule::cron::Spacing;

/// One expression of one job, where it stands at present.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// The subject, as an index into those of the board.
    pub(super) subject: usize,
    /// Its line; the class is the subject's place among those of the group.
    pub(super) line: Line,
    /// Its expression.
    pub(super) text: String,
    /// Whether it may move.
    pub(super) hold: Hold,
}

/// Whether a piece may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// It may.
    Free,
    /// It may not.
    Fixed,
    /// It has moved, and is legal against everything else.
    Moved,
}

/// One group as it is, and what in it is too close.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    board: &'a Board<'a>,
    /// The pieces in the order of names, then of the file.
    pub(super) pieces: Vec<Piece>,
    zones: Vec<usize>,
    /// Below so many seconds two firings are too close.
    least: i64,
    /// The same lines, for the ring: a class is a subject.
    group: Group,
    ring: Ring,
    /// For each piece, its shape: pieces of one shape fire together.
    shapes: Vec<usize>,
    /// Which shapes of two jobs come too close.
    known: HashMap<(usize, usize), bool>,
    /// The firings around clock changes, with their pieces, ascending.
    seam: Vec<(i64, usize)>,
    /// The same by piece.
    seams: Vec<Vec<i64>>,
}

impl<'a> Draft<'a> {
    /// Takes one group of the board.
    pub(super) fn new(board: &'a Board<'a>, given: &Group, fixed: &Fixed) -> Self {
        let group = by_subject(board, given);
        let (zones, least) = (group.zones(), seconds(board.rules.min_gap));
        let pieces: Vec<Piece> = group
            .lines
            .iter()
            .map(|line| piece(board, &group, line, fixed))
            .collect();
        let seams: Vec<Vec<i64>> = group
            .lines
            .iter()
            .map(|line| around_changes(board, &zones, line, least))
            .collect();
        let each = seams.iter().enumerate();
        let mut seam: Vec<(i64, usize)> = each
            .flat_map(|(piece, fires)| fires.iter().map(move |at| (*at, piece)))
            .collect();
        seam.sort_unstable();
        Self {
            board,
            shapes: shapes(&group.lines),
            ring: Ring::new(board, &group, least),
            known: HashMap::new(),
            pieces,
            zones,
            least,
            group,
            seam,
            seams,
        }
    }

    /// Whether a piece must move wherever the others are: it lies in a window, or too close to itself.
    pub(super) fn is_forced(&self, piece: usize) -> bool {
        let line = &self.group.lines[piece];
        (self.stops(Rule::PeakWindow, piece) && peak::first(self.board, line).is_some())
            || (self.stops(Rule::KeyGap, piece) && self.meets_itself(piece))
    }

    /// The other pieces that are too close to one, as they were at first.
    pub(super) fn partners(&mut self, piece: usize) -> Vec<usize> {
        if !self.stops(Rule::KeyGap, piece) {
            return Vec::new();
        }
        let mut near = Vec::new();
        self.ring
            .neighbours(&self.group, (piece, 0), self.least, &mut near);
        near.retain(|other| *other != piece && self.meets(piece, *other));
        near.extend(self.partners_at_changes(piece));
        near.retain(|other| self.stops(Rule::KeyGap, *other));
        near.sort_unstable();
        near.dedup();
        near
    }

    /// The nearest legal place for a piece among some others; `None` if it may not move or there is none.
    pub(super) fn nearest<'p>(
        &'p self,
        piece: &'p Piece,
        others: impl Iterator<Item = &'p Piece>,
        comfort: Comfort,
    ) -> Option<Place> {
        match piece.hold {
            Hold::Free => self.search(piece, others).nearest(comfort),
            Hold::Fixed | Hold::Moved => None,
        }
    }

    /// The question for a place of a piece among some others.
    pub(super) fn search<'p>(
        &'p self,
        piece: &'p Piece,
        others: impl Iterator<Item = &'p Piece>,
    ) -> Search<'p> {
        // Pieces that fire together are in the way together.
        let mut seen = HashSet::new();
        let lines = others.map(|other| &other.line);
        Search {
            board: self.board,
            line: &piece.line,
            text: &piece.text,
            others: lines.filter(|line| seen.insert(shape(line))).collect(),
            zones: &self.zones,
        }
    }

    /// What became of the pieces.
    pub(super) fn changes(&self, pieces: &[Piece]) -> Vec<Change> {
        let pairs = self.pieces.iter().zip(pieces);
        let moved = pairs.filter(|(_, new)| new.hold == Hold::Moved);
        let change = |(old, new): (&Piece, &Piece)| {
            let subject = &self.board.subjects[old.subject];
            Change {
                job: subject.job.clone(),
                group: subject.group.clone(),
                cron: old.line.cron,
                from: old.text.split_whitespace().collect::<Vec<_>>().join(" "),
                to: new.text.clone(),
            }
        };
        moved.map(change).collect()
    }

    /// Why a piece is in the way of mending the group.
    pub(super) fn stuck(&self, piece: usize) -> Stuck {
        let piece = &self.pieces[piece];
        let subject = &self.board.subjects[piece.subject];
        let alone = || self.nearest(piece, std::iter::empty(), Comfort::Ignored);
        let reason = match piece.hold {
            Hold::Fixed => Reason::Fixed,
            Hold::Free | Hold::Moved if alone().is_none() => Reason::Itself,
            Hold::Free | Hold::Moved => Reason::NoRoom,
        };
        Stuck {
            group: subject.group.clone(),
            job: subject.job.clone(),
            cron: piece.line.cron,
            reason,
        }
    }

    /// Whether a finding of a rule about a piece stops the daemon.
    fn stops(&self, rule: Rule, piece: usize) -> bool {
        let subject = &self.board.subjects[self.pieces[piece].subject];
        self.board.rules.levels.severity(rule) == Some(Severity::Error)
            && !subject.accepted.contains_key(&rule)
    }

    fn meets_itself(&self, piece: usize) -> bool {
        let line = &self.group.lines[piece];
        let close = |pair: &[i64]| pair[1] - pair[0] < self.least;
        self.close(line, line, Reach::own(self.least)) || self.seams[piece].windows(2).any(close)
    }

    /// Whether two pieces come too close where their zones are steady.
    fn meets(&mut self, one: usize, two: usize) -> bool {
        let lines = (&self.group.lines[one], &self.group.lines[two]);
        if lines.0.class == lines.1.class {
            // Two firings of one job at one instant are one slot.
            return self.close(lines.0, lines.1, Reach::own(self.least));
        }
        let (one, two) = (self.shapes[one], self.shapes[two]);
        let key = (one.min(two), one.max(two));
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = self.close(lines.0, lines.1, Reach::cross(self.least));
        self.known.insert(key, found);
        found
    }

    fn close(&self, one: &Line, two: &Line, reach: Reach) -> bool {
        let until = self.board.calendar.until;
        first_steady(self.board, one, two, reach, until).is_some()
            || first_steady(self.board, two, one, reach, until).is_some()
    }

    fn partners_at_changes(&self, piece: usize) -> impl Iterator<Item = usize> + '_ {
        let class = self.group.lines[piece].class;
        let near = move |at: i64| {
            let start = self
                .seam
                .partition_point(|(other, _)| *other <= at - self.least);
            let near = self.seam[start..].iter();
            near.take_while(move |(other, _)| *other < at + self.least)
                .filter(move |(other, other_piece)| {
                    *other_piece != piece
                        && (*other != at || self.group.lines[*other_piece].class != class)
                })
                .map(|(_, other)| *other)
        };
        self.seams[piece].iter().flat_map(move |at| near(*at))
    }
}

/// The lines of a group with a class for every subject, twins or not, in the order of names.
fn by_subject(board: &Board<'_>, given: &Group) -> Group {
    let members = given.classes.iter().flat_map(|class| {
        let lines = class.lines.clone();
        class
            .members
            .iter()
            .map(move |member| (*member, lines.clone()))
    });
    let mut members: Vec<_> = members.collect();
    members.sort_by_key(|(member, _)| board.rank[*member]);
    let mut group = Group {
        lines: Vec::new(),
        classes: Vec::new(),
    };
    for (class, (member, lines)) in members.into_iter().enumerate() {
        let start = group.lines.len();
        let lines = given.lines[lines].iter().cloned();
        group.lines.extend(lines.map(|line| Line { class, ..line }));
        group.classes.push(Class {
            members: vec![member],
            lines: start..group.lines.len(),
            worst_case: 0,
            effort: Effort::NONE,
            accepted: Vec::new(),
        });
    }
    group
}

fn piece(board: &Board<'_>, group: &Group, line: &Line, fixed: &Fixed) -> Piece {
    let subject = group.classes[line.class].members[0];
    let known = &board.subjects[subject];
    Piece {
        subject,
        line: line.clone(),
        text: known.timetable.exprs()[line.cron].text().to_owned(),
        hold: if fixed.contains(&(known.job.clone(), line.cron)) {
            Hold::Fixed
        } else {
            Hold::Free
        },
    }
}

/// The firings of a line around the clock changes of its group's zones, ascending.
fn around_changes(board: &Board<'_>, zones: &[usize], line: &Line, reach: i64) -> Vec<i64> {
    let mut fires = Vec::new();
    for change in zones.iter().flat_map(|zone| &board.tracks[*zone].changes) {
        board.fires(
            line,
            &(change.start - reach..change.end + reach),
            &mut fires,
        );
    }
    fires.sort_unstable();
    fires.dedup();
    fires
}

/// All that decides when a line fires.
type Shape<'l> = (&'l [i64], usize, usize, bool);

fn shape(line: &Line) -> Shape<'_> {
    (
        &line.times,
        line.days,
        line.zone,
        line.spacing == Spacing::Even,
    )
}

/// For each line the first line of its shape.
fn shapes(lines: &[Line]) -> Vec<usize> {
    let mut known: HashMap<Shape<'_>, usize> = HashMap::new();
    let lines = lines.iter().enumerate();
    lines
        .map(|(index, line)| *known.entry(shape(line)).or_insert(index))
        .collect()
}
