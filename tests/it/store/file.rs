//! What the file keeps, and what the shell reads from it.

use super::*;
use offpeak::guard::HoldCause;
use offpeak::store::{Liveness, SlotRecord};

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder).unwrap()
}

fn fire(store: &SqliteStore, job: &str, group: &str, fire_at: DateTime<Utc>) -> RunId {
    let claim = Claim {
        group: GroupId::new(group),
        ..claim(job, fire_at, Fate::Fire)
    };
    wait(store.claim(Tick {
        now: fire_at,
        watermark: fire_at,
        slots: vec![claim],
    }))
    .unwrap()[0]
        .run
}

#[test]
fn slot_and_the_runs_under_way_are_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let late = minute(0) + TimeDelta::seconds(40);
    let slots = vec![claim("digest", minute(0), Fate::Fire)];
    let tick = Tick {
        now: late,
        watermark: late,
        slots,
    };
    let run = wait(store.claim(tick)).unwrap()[0].run;
    let going_on = SlotRecord {
        group: main_group(),
        claimed_at: late,
        closed_at: None,
        outcome: None,
    };
    let found = || {
        wait(store.slot(slot("digest", minute(0))))
            .unwrap()
            .unwrap()
    };
    assert_eq!(found(), going_on);
    let under_way = wait(store.under_way()).unwrap();
    assert_eq!(
        under_way.iter().map(|run| run.id).collect::<Vec<_>>(),
        [run]
    );
    wait(store.finish(ended(run, Outcome::Succeeded, minute(1)))).unwrap();
    let (closed_at, outcome) = (Some(minute(1)), Some(Outcome::Succeeded));
    assert_eq!(
        found(),
        SlotRecord {
            closed_at,
            outcome,
            ..going_on
        }
    );
    assert_eq!(wait(store.under_way()).unwrap(), []);
}

fn history(store: &SqliteStore, filter: HistoryFilter) -> Vec<RunId> {
    wait(store.history(filter))
        .unwrap()
        .into_iter()
        .map(|run| run.id)
        .collect()
}

#[test]
fn everything_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("deep/er");
    let store = open(&state);
    wait(store.adopt(&[("digest".to_owned(), "0 5".to_owned())], minute(-9))).unwrap();
    let run = fire(&store, "digest", "main", minute(0));
    let permit = wait(admit(&store, run, 1, minute(0))).unwrap().unwrap();
    let Tell {
        n,
        sample,
        hold,
        end,
    } = overloaded(1);
    let (group, policy) = (main_group(), policy());
    let told = Told {
        run,
        call: &CallName::only(),
        answer: None,
        batch: None,
        cost_usd: None,
        group: &group,
        policy: &policy,
        n,
        permit,
        sample,
        hold,
        bill: Bill::default(),
        end,
        now: minute(1),
    };
    wait(store.record(told)).unwrap();
    let finish = ended(run, Outcome::Yielded(YieldReason::Hint), minute(1));
    let deferral = Some(NewDeferral {
        to: Some(minute(45)),
        ..next_slot(minute(2))
    });
    wait(store.finish(Finish {
        deferral,
        answer: Some(answer("partial")),
        ..finish
    }))
    .unwrap();
    let before = (
        wait(store.history(HistoryFilter::default())).unwrap(),
        wait(store.deferrals()).unwrap(),
        wait(store.guards()).unwrap(),
        wait(store.answer(run)).unwrap(),
    );
    drop(store);
    let store = open(&state);
    let after = (
        wait(store.history(HistoryFilter::default())).unwrap(),
        wait(store.deferrals()).unwrap(),
        wait(store.guards()).unwrap(),
        wait(store.answer(run)).unwrap(),
    );
    assert_eq!(after, before);
    assert_eq!((after.0.len(), after.1.len(), after.2.len()), (1, 1, 1));
    assert_eq!(wait(store.watermark()).unwrap(), Some(minute(0)));
    let adopted = wait(store.adopt(&[("digest".to_owned(), "0 5".to_owned())], minute(9))).unwrap();
    assert_eq!(adopted[0].1, minute(-9));
}

#[test]
fn moment_is_cut_to_the_millisecond_but_a_promise_is_rounded_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let run = fire(&store, "digest", "main", minute(0));
    let odd = minute(1) + TimeDelta::nanoseconds(7_000_001);
    let finish = ended(run, Outcome::Yielded(YieldReason::Budget), odd);
    wait(store.finish(Finish {
        deferral: Some(next_slot(odd)),
        ..finish
    }))
    .unwrap();
    let ended = wait(store.run(run)).unwrap().unwrap();
    assert_eq!(
        ended.finished_at,
        Some(minute(1) + TimeDelta::milliseconds(7))
    );
    let rounded = minute(1) + TimeDelta::milliseconds(8);
    assert_eq!(wait(store.deferrals()).unwrap()[0].wait.not_before, rounded);
    assert_eq!(ended.deferred.unwrap().not_before, rounded);
}

#[test]
fn history_is_filtered_and_its_newest_runs_come_last() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let a = fire(&store, "digest", "main", minute(0));
    let b = fire(&store, "review", "archive", minute(1));
    let c = fire(&store, "digest", "main", minute(2));
    wait(store.finish(ended(b, Outcome::Succeeded, minute(2)))).unwrap();
    let all = HistoryFilter::default;
    assert_eq!(history(&store, all()), [a, b, c]);
    assert_eq!(
        history(
            &store,
            HistoryFilter {
                job: Some(JobId::new("digest")),
                ..all()
            }
        ),
        [a, c]
    );
    assert_eq!(
        history(
            &store,
            HistoryFilter {
                group: Some(GroupId::new("archive")),
                ..all()
            }
        ),
        [b]
    );
    assert_eq!(
        history(
            &store,
            HistoryFilter {
                outcome: Some("succeeded".to_owned()),
                ..all()
            }
        ),
        [b]
    );
    assert_eq!(
        history(
            &store,
            HistoryFilter {
                from: Some(minute(1)),
                ..all()
            }
        ),
        [b, c]
    );
    assert_eq!(
        history(
            &store,
            HistoryFilter {
                until: Some(minute(1)),
                ..all()
            }
        ),
        [a]
    );
    assert_eq!(
        history(
            &store,
            HistoryFilter {
                limit: Some(2),
                ..all()
            }
        ),
        [b, c]
    );
    assert_eq!(wait(store.run(RunId(999))).unwrap(), None);
    assert_eq!(wait(store.slot(slot("digest", minute(7)))).unwrap(), None);
}

#[test]
fn reading_creates_nothing_and_writing_through_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        SqliteStore::open_read(&folder.path().join("none"))
            .unwrap()
            .is_none()
    );
    assert!(!folder.path().join("none").exists());
    assert!(SqliteStore::open_read(folder.path()).unwrap().is_none());
    let writer = open(folder.path());
    let run = fire(&writer, "digest", "main", minute(0));
    let reader = SqliteStore::open_read(folder.path())
        .unwrap()
        .expect("there is a store");
    assert_eq!(history(&reader, HistoryFilter::default()), [run]);
    let error = wait(reader.rewind(minute(0))).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    assert!(error.to_string().contains("--store"), "{error}");
    drop(writer);
    assert_eq!(history(&reader, HistoryFilter::default()), [run]);
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn reading_after_a_clean_stop_leaves_no_file_behind() {
    // A reader may not clean up: the log and the `-shm` file that it made stayed.
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("50% of what? état #1&mode=rw");
    let writer = open(&folder);
    let run = fire(&writer, "digest", "main", minute(0));
    drop(writer);
    let before = names(&folder);
    assert_eq!(before, ["offpeak.db"]);
    let reader = SqliteStore::open_read(&folder).unwrap().unwrap();
    assert_eq!(history(&reader, HistoryFilter::default()), [run]);
    assert_eq!(names(&folder), before, "while it is open");
    assert!(wait(reader.rewind(minute(0))).is_err());
    drop(reader);
    assert_eq!(names(&folder), before);
    assert_eq!(names(root.path()).len(), 1);
}

#[test]
fn reader_beside_a_writer_sees_what_is_only_in_its_log() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let writer = open(folder.path());
    let run = fire(&writer, "digest", "main", minute(0));
    let reader = SqliteStore::open_read(folder.path()).unwrap().unwrap();
    assert_eq!(history(&reader, HistoryFilter::default()), [run]);
    let later = fire(&writer, "digest", "main", minute(1));
    assert_eq!(history(&reader, HistoryFilter::default()), [run, later]);
}

#[test]
fn reader_of_a_store_at_rest_keeps_its_state_while_a_writer_starts() {
    let folder = tempfile::tempdir().unwrap();
    let run = fire(&open(folder.path()), "digest", "main", minute(0));
    let reader = SqliteStore::open_read(folder.path()).unwrap().unwrap();
    let writer = open(folder.path());
    fire(&writer, "digest", "main", minute(1));
    assert_eq!(history(&reader, HistoryFilter::default()), [run]);
}

#[test]
fn pruning_spares_pending_work_and_what_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let old = fire(&store, "digest", "main", minute(0));
    wait(store.finish(ended(old, Outcome::Succeeded, minute(1)))).unwrap();
    let waiting = fire(&store, "review", "main", minute(2));
    let finish = ended(waiting, Outcome::Yielded(YieldReason::Budget), minute(3));
    wait(store.finish(Finish {
        deferral: Some(next_slot(minute(4))),
        ..finish
    }))
    .unwrap();
    let running = fire(&store, "weekly", "main", minute(4));
    let done = fire(&store, "done", "main", minute(4));
    let finish = ended(done, Outcome::Yielded(YieldReason::Budget), minute(5));
    wait(store.finish(Finish {
        deferral: Some(next_slot(minute(5))),
        ..finish
    }))
    .unwrap();
    let again = fire(&store, "done", "main", minute(6));
    wait(store.finish(ended(again, Outcome::Succeeded, minute(10)))).unwrap();

    let pruned = wait(store.prune(minute(10))).unwrap();
    // The old run, the yield whose work was merged, and the record of the merging.
    assert_eq!((pruned.runs, pruned.deferrals, pruned.slots), (3, 1, 0));
    assert_eq!(
        history(&store, HistoryFilter::default()),
        [waiting, running, again]
    );
    assert_eq!(wait(store.deferrals()).unwrap().len(), 1);
    assert_eq!(wait(store.answer(old)).unwrap(), None);

    // Claims go a month later, and only of slots that ended.
    let month = TimeDelta::days(31);
    assert_eq!(wait(store.prune(minute(3) + month)).unwrap().slots, 1);
    assert_eq!(wait(store.slot(slot("digest", minute(0)))).unwrap(), None);
    wait(store.prune(minute(60) + month)).unwrap();
    let going_on = wait(store.slot(slot("weekly", minute(4)))).unwrap();
    assert_eq!(going_on.unwrap().closed_at, None);
    assert_eq!(
        history(&store, HistoryFilter::default()),
        [waiting, running]
    );
    // A name is never given twice.
    assert!(fire(&store, "digest", "main", minute(90)) > again);
}

/// A clock that was a year ahead at the hour of pruning once took the whole history.
#[test]
fn pruning_takes_a_month_at_most_however_far_ahead_the_clock_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let day = 24 * 60;
    for at in [0, 20, 40, 60].map(|days| minute(days * day)) {
        let run = fire(&store, "digest", "main", at);
        wait(store.finish(ended(run, Outcome::Succeeded, at))).unwrap();
    }
    let left = || history(&store, HistoryFilter::default()).len();
    wait(store.prune(minute(1000 * day))).unwrap();
    assert_eq!(left(), 2);
    wait(store.prune(minute(1000 * day))).unwrap();
    assert_eq!(left(), 0);
}

#[test]
fn run_that_ended_before_it_began_keeps_no_pruning_back() {
    // Cause: the oldest end alone said how far a pruning reaches, and a run begun on a clock that was more than a month
    // ahead, ended after it was set back, had the oldest end and a start that was never reached.
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let day = 24 * 60;
    let ahead = fire(&store, "digest", "main", minute(100 * day));
    wait(store.finish(ended(ahead, Outcome::Succeeded, minute(0)))).unwrap();
    for at in [10, 50, 90].map(|days| minute(days * day)) {
        let run = fire(&store, "review", "main", at);
        wait(store.finish(ended(run, Outcome::Succeeded, at))).unwrap();
    }
    for left in [3, 2, 1] {
        wait(store.prune(minute(95 * day))).unwrap();
        assert_eq!(history(&store, HistoryFilter::default()).len(), left);
    }
    wait(store.prune(minute(101 * day))).unwrap();
    assert!(history(&store, HistoryFilter::default()).is_empty());
}

#[test]
fn pauses_are_pruned_by_their_end_and_kept_while_they_are_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let pause = |name: &str, until: Option<i64>| Pause {
        target: PauseTarget::Job(JobId::new(name)),
        since: minute(0),
        until: until.map(minute),
        reason: None,
        ended_at: None,
    };
    let (on, over) = (pause("on", None), pause("over", Some(5)));
    let (later, lifted) = (pause("later", Some(60)), pause("lifted", None));
    for it in [&on, &over, &later, &lifted] {
        wait(store.pause(it.clone())).unwrap();
    }
    wait(store.lift_pause(lifted.target.clone(), minute(6))).unwrap();
    assert_eq!(wait(store.prune(minute(5))).unwrap().pauses, 0);
    assert_eq!(wait(store.prune(minute(7))).unwrap().pauses, 2);
    // They outlive the process too.
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(wait(store.pauses()).unwrap().all(), [on, later]);
}

#[test]
fn person_holds_a_group_and_lifts_the_hold() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let run = fire(&store, "digest", "main", minute(0));
    let note = "moving house".to_owned();
    let hold = Hold {
        cause: HoldCause::Person,
        until: None,
        since: minute(0),
        note,
    };
    wait(store.hold(main_group(), hold.clone())).unwrap();
    let refusal = wait(admit(&store, run, 1, minute(1))).unwrap().unwrap_err();
    assert_eq!((refusal.reason, refusal.until), (YieldReason::Hold, None));
    let guards = wait(store.guards()).unwrap();
    assert_eq!(guards.len(), 1);
    assert_eq!(
        (&guards[0].0, &guards[0].1.hold),
        (&main_group(), &Some(hold))
    );
    wait(store.resume(main_group(), minute(2))).unwrap();
    assert!(wait(admit(&store, run, 1, minute(2))).unwrap().is_ok());
}

#[test]
fn sign_of_life_is_the_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    assert_eq!(wait(store.liveness()).unwrap(), None);
    let first = Liveness {
        at: minute(0),
        pid: 7,
    };
    let second = Liveness {
        at: minute(1),
        pid: 4_000_000_000,
    };
    for beat in [first, second] {
        wait(store.touch(beat)).unwrap();
        assert_eq!(wait(store.liveness()).unwrap(), Some(beat));
    }
}

#[test]
fn checkpoint_empties_the_log_and_waits_for_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    fire(&store, "digest", "main", minute(0));
    let log = || {
        std::fs::metadata(folder.path().join("offpeak.db-wal"))
            .unwrap()
            .len()
    };
    assert!(log() > 0);
    let mut reader = rusqlite::Connection::open(store.path()).unwrap();
    let reading = reader.transaction().unwrap();
    let seen: i64 = reading
        .query_one("SELECT count(*) FROM runs", [], |row| row.get(0))
        .unwrap();
    fire(&store, "digest", "main", minute(1));
    wait(store.checkpoint()).unwrap();
    assert_eq!(seen, 1);
    assert!(log() > 0, "a reader still needs it");
    drop(reading);
    wait(store.checkpoint()).unwrap();
    assert_eq!(log(), 0);
}

#[cfg(unix)]
#[test]
fn folder_and_file_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let store = open(&state);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o077;
    assert_eq!((mode(&state), mode(store.path())), (0, 0));
}

#[test]
fn file_of_version_1_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    sql(folder.path(), include_str!("version-1.sql"));
    let store = open(folder.path());
    let runs = wait(store.history(HistoryFilter::default())).unwrap();
    let outcomes: Vec<_> = runs.iter().filter_map(|run| run.outcome.clone()).collect();
    let (breaker, missed) = (YieldReason::Breaker, YieldReason::Missed);
    assert_eq!(
        outcomes,
        [
            Outcome::Yielded(breaker),
            Outcome::Yielded(missed),
            Outcome::Succeeded
        ]
    );
    // Searches and price words were not kept then.
    let kept = |usage: Option<Usage>| {
        usage.map(|usage| Usage {
            web_searches: 0,
            tier: Tier::Standard,
            geo: Geo::Anywhere,
            speed: Speed::Standard,
            ..usage
        })
    };
    let end = runs[0].attempts[0].end.as_ref().unwrap();
    assert_eq!(
        (end.status, end.usage),
        (Some(529), kept(overloaded(1).end.usage))
    );
    assert_eq!(runs[0].deferred.as_ref().unwrap().to, Some(minute(45)));
    assert_eq!(
        (runs[2].usage, runs[2].cost_usd),
        (kept(answer("").usage), Dollars::from_f64(0.25))
    );
    let pending = wait(store.deferrals()).unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (&pending[0].slot, pending[0].wait.rule),
        (&slot("review", minute(45)), DeferRule::OwnSlot)
    );
    let records = wait(store.all_deferrals()).unwrap();
    assert_eq!(
        (records[0].state, records[0].run),
        (DeferralState::Done, Some(RunId(3)))
    );
    let guard = &wait(store.guards()).unwrap()[0].1;
    assert_eq!(guard.hold.as_ref().unwrap().cause, HoldCause::Billing);
    assert_eq!(wait(store.watermark()).unwrap(), Some(minute(105)));
    assert_eq!(wait(store.liveness()).unwrap().unwrap().pid, 4711);
    let found = wait(store.slot(slot("digest", minute(0))))
        .unwrap()
        .unwrap();
    assert_eq!(found.outcome, Some(Outcome::Yielded(breaker)));
    // And it goes on from there.
    let taken = fire(&store, "review", "main", minute(150));
    assert!(taken > RunId(3));
    assert_eq!(wait(store.deferrals()).unwrap(), []);
}
