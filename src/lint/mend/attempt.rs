//! The orders in which the pieces of a group are moved.
//!
//! Every move is proved against everything else as it stands then. So a piece
//! that moved is too close to nothing, and no later move comes too close to
//! it: no piece moves twice, and there are at most as many moves as pieces.

use std::cmp::Ordering;

use super::draft::{Draft, Hold, Piece};
use crate::lint::nearest::{Comfort, Place};

/// In larger groups the third order, which looks at every pair of pieces, is not tried.
const MOST_LIFTED: usize = 3_000;

/// The pieces of a group after the moves that make it legal, by the first order that does.
///
/// The first keeps the comfortable gap where there is room, and may waste what
/// room there is; the second does not. The third takes all pieces that are too
/// close off the day and puts them back, the least flexible first: a piece
/// that fits in few places is not left to what the others leave.
///
/// # Errors
///
/// A piece that no order saves; it is the one at which the last order ended.
pub(super) fn mended(draft: &mut Draft<'_>) -> Result<Vec<Piece>, usize> {
    let forced: Vec<usize> = (0..draft.pieces.len())
        .filter(|piece| draft.is_forced(*piece))
        .collect();
    let first = in_turn(draft, &forced, Comfort::Preferred);
    let lost = |at: usize| draft.pieces[at].hold == Hold::Free && !draft.fits_alone(at);
    // What has no place in an empty group has none in any order.
    if first.as_ref().is_err_and(|at| lost(*at)) {
        return first;
    }
    first
        .or_else(|_| in_turn(draft, &forced, Comfort::Ignored))
        .or_else(|last| match draft.pieces.len() {
            0..=MOST_LIFTED => least_flexible_first(draft, &forced),
            _ => Err(last),
        })
}

/// First what must move wherever the others are, then pair by pair that with the smaller move.
fn in_turn(draft: &mut Draft<'_>, forced: &[usize], comfort: Comfort) -> Result<Vec<Piece>, usize> {
    let mut pieces = draft.pieces.clone();
    for at in forced {
        let place = nearest(draft, &pieces, *at, comfort).ok_or(*at)?;
        pieces[*at].take(place);
    }
    for one in 0..pieces.len() {
        for two in draft.partners(one) {
            if pieces[one].hold == Hold::Moved {
                break;
            }
            if pieces[two].hold == Hold::Moved {
                continue;
            }
            let places = (
                nearest(draft, &pieces, one, comfort),
                nearest(draft, &pieces, two, comfort),
            );
            let (at, place) = smaller(draft, (one, places.0), (two, places.1)).ok_or(two)?;
            pieces[at].take(place);
        }
    }
    Ok(pieces)
}

/// The smaller of two moves; of equal ones that of pickup slots, whose times matter to nobody, and else of the second by
/// name.
fn smaller(
    draft: &Draft<'_>,
    one: (usize, Option<Place>),
    two: (usize, Option<Place>),
) -> Option<(usize, Place)> {
    match (one, two) {
        ((one, Some(first)), (two, Some(second))) => {
            Some(match first.distance.cmp(&second.distance) {
                Ordering::Less => (one, first),
                Ordering::Equal if draft.is_pickup(one) && !draft.is_pickup(two) => (one, first),
                Ordering::Equal | Ordering::Greater => (two, second),
            })
        }
        ((at, Some(place)), (_, None)) | ((_, None), (at, Some(place))) => Some((at, place)),
        ((_, None), (_, None)) => None,
    }
}

/// All pieces that are too close are put back one by one; each stays if it can, and else goes to the nearest legal place.
fn least_flexible_first(draft: &mut Draft<'_>, forced: &[usize]) -> Result<Vec<Piece>, usize> {
    let mut pieces = draft.pieces.clone();
    let mut lifted = Vec::with_capacity(pieces.len());
    for at in 0..pieces.len() {
        let must = forced.contains(&at);
        let partners = draft.partners(at);
        let fixed = |at: &usize| pieces[*at].hold == Hold::Fixed;
        if fixed(&at) && (must || partners.iter().any(fixed)) {
            return Err(at);
        }
        lifted.push(!fixed(&at) && (must || !partners.is_empty()));
    }
    let mut order: Vec<(usize, usize)> = (0..pieces.len())
        .filter(|at| lifted[*at])
        .map(|at| {
            (
                draft
                    .search(&pieces[at], placed(&pieces, &lifted, at))
                    .flexibility(),
                at,
            )
        })
        .collect();
    order.sort_unstable();
    for (_, at) in order {
        let stays = {
            let search = draft.search(&pieces[at], placed(&pieces, &lifted, at));
            search.holds(&pieces[at].line)
        };
        if !stays {
            let others = placed(&pieces, &lifted, at);
            let place = draft.nearest(&pieces[at], others, Comfort::Ignored);
            pieces[at].take(place.ok_or(at)?);
        }
        lifted[at] = false;
    }
    Ok(pieces)
}

fn nearest(draft: &Draft<'_>, pieces: &[Piece], at: usize, comfort: Comfort) -> Option<Place> {
    let others = pieces.iter().enumerate().filter(|(other, _)| *other != at);
    draft.nearest(&pieces[at], others.map(|(_, piece)| piece), comfort)
}

/// The pieces on the day, but for one.
fn placed<'p>(
    pieces: &'p [Piece],
    lifted: &'p [bool],
    but: usize,
) -> impl Iterator<Item = &'p Piece> {
    let pieces = pieces.iter().enumerate();
    pieces
        .filter(move |(at, _)| !lifted[*at] && *at != but)
        .map(|(_, piece)| piece)
}

impl Piece {
    fn take(&mut self, place: Place) {
        self.line = place.line;
        self.text = place.cron;
        self.hold = Hold::Moved;
    }
}
