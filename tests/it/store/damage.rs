//! What is wrong with a folder or a file is said, with the way out; nothing panics.

use super::*;
use std::fs;

fn refused(folder: &Path) -> String {
    let error = SqliteStore::open(folder).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    error.to_string()
}

/// A store with one claimed slot.
fn filled(folder: &Path) -> SqliteStore {
    let store = SqliteStore::open(folder).unwrap();
    let slots = vec![claim("digest", minute(0), Fate::Fire)];
    wait(store.claim(Tick {
        now: minute(0),
        watermark: minute(0),
        slots,
    }))
    .unwrap();
    store
}

#[test]
fn file_in_place_of_the_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("deeper")] {
        let message = refused(&path);
        assert!(message.contains(&path.display().to_string()), "{message}");
        assert!(
            message.contains("give another one with --store"),
            "{message}"
        );
    }
}

#[test]
fn folder_in_place_of_the_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("offpeak.db")).unwrap();
    let message = refused(folder.path());
    assert!(message.contains("offpeak.db"), "{message}");
}

#[test]
fn file_that_is_no_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = "dear diary, ".repeat(500);
    fs::write(folder.path().join("offpeak.db"), &text).unwrap();
    let message = refused(folder.path());
    assert!(
        message.contains("not a database") && message.contains("move the file away"),
        "{message}"
    );
    assert!(SqliteStore::open_read(folder.path()).is_err());
    assert_eq!(
        fs::read_to_string(folder.path().join("offpeak.db")).unwrap(),
        text
    );
}

#[test]
fn newer_file_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path()));
    sql(folder.path(), "PRAGMA user_version = 99");
    for error in [
        SqliteStore::open(folder.path()).unwrap_err(),
        SqliteStore::open_read(folder.path()).unwrap_err(),
    ] {
        assert!(
            matches!(error, StoreError::Newer { found: 99, .. }),
            "{error}"
        );
    }
}

#[test]
fn empty_file_of_version_0_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("offpeak.db"), "").unwrap();
    assert!(SqliteStore::open_read(folder.path()).unwrap().is_none());
    filled(folder.path());
    assert!(SqliteStore::open_read(folder.path()).unwrap().is_some());
}

#[test]
fn removed_folder_swallows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    fs::remove_dir_all(folder.path()).unwrap();
    let tick = Tick {
        now: minute(1),
        watermark: minute(1),
        slots: vec![claim("digest", minute(1), Fate::Fire)],
    };
    let error = wait(store.claim(tick.clone())).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    assert!(error.to_string().contains("gone"), "{error}");
    // Another store at the same place is not ours.
    let other = filled(folder.path());
    let error = wait(store.claim(tick.clone())).unwrap_err();
    assert!(error.to_string().contains("replaced"), "{error}");
    assert_eq!(wait(other.claim(tick)).unwrap().len(), 1);
}

#[test]
fn writer_whose_shared_memory_was_replaced_writes_no_more() {
    // Cause: `-shm` was not watched. Whoever opened the file after it was removed made a new one, so that two writers
    // held the one write lock, each in a file of its own.
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let shared = folder.path().join("offpeak.db-shm");
    fs::rename(&shared, folder.path().join("away")).unwrap();
    let tick = Tick {
        now: minute(1),
        watermark: minute(1),
        slots: vec![claim("digest", minute(1), Fate::Fire)],
    };
    let error = wait(store.claim(tick.clone())).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
    fs::write(&shared, "").unwrap();
    let error = wait(store.claim(tick.clone())).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    assert!(
        error.to_string().contains("db-shm: the file was replaced"),
        "{error}"
    );
    fs::rename(folder.path().join("away"), &shared).unwrap();
    assert_eq!(wait(store.claim(tick)).unwrap().len(), 1);
}

#[test]
fn damaged_guard_row_stops_its_group_until_a_person_resumes_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let run = RunId(1);
    assert!(wait(admit(&store, run, 1, minute(0))).unwrap().is_ok());
    sql(
        folder.path(),
        "UPDATE guards SET state = 'once upon a time'",
    );
    let error = wait(admit(&store, run, 2, minute(0))).unwrap_err();
    assert!(
        error.to_string().contains("`offpeak resume main`"),
        "{error}"
    );
    assert_eq!(wait(store.run(run)).unwrap().unwrap().attempts.len(), 1);
    wait(store.resume(main_group(), minute(1))).unwrap();
    assert!(wait(admit(&store, run, 2, minute(1))).unwrap().is_ok());
}

#[test]
fn damaged_guard_row_costs_no_answer_and_stays_as_it_is() {
    // Cause: an attempt under way could not be recorded beside a damaged row, and its answer waited for ever.
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let run = RunId(1);
    let permit = wait(admit(&store, run, 1, minute(0))).unwrap().unwrap();
    sql(
        folder.path(),
        "UPDATE guards SET state = 'once upon a time'",
    );
    let tell = |permit, told: Tell| {
        wait(store.record(Told {
            run,
            call: &CallName::only(),
            answer: None,
            batch: None,
            cost_usd: None,
            group: &main_group(),
            policy: &policy(),
            n: told.n,
            permit,
            sample: told.sample,
            hold: told.hold,
            bill: Bill::default(),
            end: told.end,
            now: minute(0),
        }))
    };
    tell(permit, overloaded(1)).unwrap();
    let attempts = wait(store.run(run)).unwrap().unwrap().attempts;
    assert!(attempts[0].end.is_some());
    let error = wait(admit(&store, run, 2, minute(0))).unwrap_err();
    assert!(error.is_lasting(), "{error}");
    // What a newer version wrote is not ours to pass over.
    sql(folder.path(), "DELETE FROM guards");
    let permit = wait(admit(&store, run, 2, minute(0))).unwrap().unwrap();
    sql(folder.path(), "UPDATE guards SET state = '{\"v\":3}'");
    let error = tell(permit, overloaded(2)).unwrap_err();
    assert!(error.is_lasting(), "{error}");
}

#[test]
fn damaged_guard_row_hides_no_other_group_and_is_named() {
    // One damaged row failed the listing of all groups, and with it the very command that mends the row.
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    assert!(wait(admit(&store, RunId(1), 1, minute(0))).unwrap().is_ok());
    sql(
        folder.path(),
        "INSERT INTO guards VALUES ('aside', 'once upon a time', 0), ('later', '{\"v\":3}', 0)",
    );
    let readable = wait(store.guards()).unwrap();
    assert_eq!(
        readable.into_iter().map(|it| it.0).collect::<Vec<_>>(),
        [main_group()]
    );
    let damaged = wait(store.damaged_guards()).unwrap();
    let [(aside, mendable), (later, newer)] = damaged.as_slice() else {
        panic!("{damaged:?}");
    };
    assert_eq!((aside.as_str(), later.as_str()), ("aside", "later"));
    assert!(mendable.contains("`offpeak resume aside`"), "{mendable}");
    assert!(newer.contains("use a newer offpeak"), "{newer}");
    wait(store.resume(aside.clone(), minute(1))).unwrap();
    assert_eq!(wait(store.guards()).unwrap().len(), 2);
    assert_eq!(wait(store.damaged_guards()).unwrap().len(), 1);
}

#[test]
fn guard_row_of_a_newer_version_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    sql(
        folder.path(),
        "INSERT INTO guards VALUES ('main', '{\"v\":3}', 0)",
    );
    for error in [
        wait(admit(&store, RunId(1), 1, minute(0))).unwrap_err(),
        wait(store.resume(main_group(), minute(1))).unwrap_err(),
    ] {
        assert!(error.to_string().contains("format 3"), "{error}");
    }
}

#[test]
fn column_with_a_word_that_nobody_writes_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    for (statement, column) in [
        (
            "UPDATE runs SET origin = 'by owl'",
            "`origin` holds `by owl`",
        ),
        (
            "UPDATE runs SET origin = 'manual', outcome = 'lost'",
            "`outcome` holds `lost: `",
        ),
        (
            "UPDATE runs SET outcome = NULL, started_at = 9223372036854775807",
            "`started_at`",
        ),
    ] {
        sql(folder.path(), statement);
        let error = wait(store.history(HistoryFilter::default())).unwrap_err();
        assert!(error.to_string().contains(column), "{error}");
    }
}
