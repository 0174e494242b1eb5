//! Counts attempts once their calls and runs are known.

use super::{Sample, State, Tally, find, narrow};

/// Counts every attempt, and keeps those of the scope that were measured.
pub(super) fn count(tally: &mut Tally) {
    let mut rows = std::mem::take(&mut tally.attempts.rows);
    tally.last.1 = 0;
    rows.retain_mut(|row| attempt(tally, row));
    tally.attempts.rows = rows;
}

/// Whether it is to be ranked.
fn attempt(tally: &mut Tally, row: &mut Sample) -> bool {
    let id = tally.attempts.call_of(row);
    let Some(at) = find(&tally.calls, tally.last.1, id, |call| call.id) else {
        return false;
    };
    tally.last.1 = at;
    row.call = narrow(at as u64);
    let call = &mut tally.calls[at];
    let is_first = !std::mem::replace(&mut call.is_sent, true);
    let run = &mut tally.runs[call.run as usize];
    run.is_retried |= row.n > 1 && !call.is_errand;
    if !run.is_asked {
        return false;
    }
    let keys = tally.days.keys(call.kind, run.started_at);
    if call.is_errand {
        tally.sets.each(keys, |figures| figures.errands += 1);
        return false;
    }
    // Without an end it is under way, unless its run has ended: a crash cut it off.
    let is_cut = row.state == State::Open && run.outcome.is_some();
    let is_wasted = is_cut || matches!(row.state, State::Cancelled | State::Failed);
    let is_lost = usize::from(is_cut || row.is_lost);
    tally.sets.each(keys, |figures| {
        figures.attempts += 1;
        figures.calls += usize::from(is_first);
        figures.wasted += usize::from(is_wasted);
        figures.tokens.unknown += is_lost;
        figures.dollars.unknown += is_lost;
    });
    row.is_peak = tally.peaks.is_peak(row.at());
    row.is_measured()
}
