//! The lines of one group while they are being moved.

use std::collections::{HashMap, HashSet};

use super::{Fixed, Reason, Stuck};
use crate::lint::board::{Board, Group, Line};
use crate::lint::demands::Demands;
use crate::lint::near::{Reach, first_steady};
use crate::lint::nearest::{Comfort, Place, Search};
use crate::lint::ring::Ring;
use crate::lint::{Change, Rule, Severity, peak};

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
    demands: Demands,
    /// Below so many seconds two firings are too close.
    least: i64,
    /// The same lines, for the ring: a class is a subject.
    group: Group,
    ring: Ring,
    /// For each piece, its shape: pieces of one shape fire together.
    shapes: Vec<usize>,
    /// Which shapes come too close within a reach.
    known: HashMap<(usize, usize, Reach), bool>,
    /// The firings around clock changes, with their pieces, ascending.
    seam: Vec<(i64, usize)>,
    /// The same by piece.
    seams: Vec<Vec<i64>>,
}

impl<'a> Draft<'a> {
    /// Takes one group of the board.
    pub(super) fn new(board: &'a Board<'a>, given: &Group, fixed: &Fixed) -> Self {
        let group = given.parted(board);
        let (zones, demands) = (group.zones(), Demands::of(board.rules));
        let least = demands.least;
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
            shapes: group.shapes(),
            ring: Ring::new(board, &group, least),
            known: HashMap::new(),
            pieces,
            zones,
            demands,
            least,
            group,
            seam,
            seams,
        }
    }

    /// Whether a piece must move wherever the others are: it lies in a window, or too close to itself.
    pub(super) fn is_forced(&mut self, piece: usize) -> bool {
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
            others: lines.filter(|line| seen.insert(line.shape())).collect(),
            zones: &self.zones,
            demands: self.demands,
            room: self.demands.room_of(&self.group.classes[piece.line.class]),
        }
    }

    /// Whether a piece has a legal place in an empty group.
    pub(super) fn fits_alone(&self, piece: usize) -> bool {
        let search = self.search(&self.pieces[piece], std::iter::empty());
        search.nearest(Comfort::Ignored).is_some()
    }

    /// Whether a piece is of pickup slots.
    pub(super) fn is_pickup(&self, piece: usize) -> bool {
        let subject = &self.board.subjects[self.pieces[piece].subject];
        subject.job.as_str().strip_prefix("pickup:") == Some(subject.group.as_str())
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
    pub(super) fn stuck(&self, at: usize) -> Stuck {
        let piece = &self.pieces[at];
        let subject = &self.board.subjects[piece.subject];
        let reason = match piece.hold {
            Hold::Fixed => Reason::Fixed,
            Hold::Free | Hold::Moved if !self.fits_alone(at) => Reason::Itself,
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

    fn meets_itself(&mut self, piece: usize) -> bool {
        let least = self.least;
        let close = |pair: &[i64]| pair[1] - pair[0] < least;
        self.seams[piece].windows(2).any(close) || self.meets(piece, piece)
    }

    /// Whether two pieces come too close where their zones are steady.
    fn meets(&mut self, one: usize, two: usize) -> bool {
        let lines = (&self.group.lines[one], &self.group.lines[two]);
        // Two firings of one job at one instant are one slot.
        let reach = if lines.0.class == lines.1.class {
            Reach::own(self.least)
        } else {
            Reach::cross(self.least)
        };
        let (one, two) = (self.shapes[one], self.shapes[two]);
        let key = (one.min(two), one.max(two), reach);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = self.close(lines.0, lines.1, reach);
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
