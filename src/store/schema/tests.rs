use rusqlite::{Connection, ErrorCode};

use super::*;

const FIRST: &str = "CREATE TABLE notes (text TEXT NOT NULL); INSERT INTO notes VALUES ('old');";
const SECOND: &str = "ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 3;";

fn open(folder: &tempfile::TempDir) -> Connection {
    Connection::open(folder.path().join("offpeak.db")).unwrap()
}

fn stars(connection: &Connection) -> Vec<(String, i64)> {
    let mut select = connection
        .prepare("SELECT text, stars FROM notes ORDER BY rowid")
        .unwrap();
    let rows = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn new_file_goes_through_every_migration() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, Path::new("a.db"), &[FIRST, SECOND]).unwrap();
    assert_eq!(version(&connection).unwrap(), 2);
    assert_eq!(stars(&connection), [("old".to_owned(), 3)]);
}

#[test]
fn older_file_keeps_its_rows_and_goes_through_the_rest_once() {
    let folder = tempfile::tempdir().unwrap();
    migrate(&mut open(&folder), Path::new("a.db"), &[FIRST]).unwrap();
    open(&folder)
        .execute_batch("INSERT INTO notes VALUES ('from version 1')")
        .unwrap();
    for _ in 0..2 {
        migrate(&mut open(&folder), Path::new("a.db"), &[FIRST, SECOND]).unwrap();
    }
    let rows = [("old".to_owned(), 3), ("from version 1".to_owned(), 3)];
    assert_eq!(stars(&open(&folder)), rows);
}

#[test]
fn failing_migration_leaves_the_older_file_whole() {
    let folder = tempfile::tempdir().unwrap();
    migrate(&mut open(&folder), Path::new("a.db"), &[FIRST]).unwrap();
    let broken = "INSERT INTO notes (text) VALUES ('half'); INSERT INTO nowhere VALUES (1);";
    let fault = migrate(
        &mut open(&folder),
        Path::new("a.db"),
        &[FIRST, SECOND, broken],
    )
    .unwrap_err();
    assert!(fault.at(Path::new("a.db")).to_string().contains("nowhere"));
    let connection = open(&folder);
    assert_eq!(version(&connection).unwrap(), 1);
    let columns: i64 = connection
        .query_one(
            "SELECT count(*) FROM pragma_table_info('notes')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(columns, 1, "the second migration was undone with the third");
}

#[test]
fn newer_file_is_refused_with_both_versions() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, Path::new("a.db"), &[FIRST, SECOND]).unwrap();
    let fault = migrate(&mut connection, Path::new("a.db"), &[FIRST]).unwrap_err();
    let error = fault.at(Path::new("a.db"));
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
    connection.pragma_update(None, "user_version", -1).unwrap();
    assert!(
        migrate(&mut connection, Path::new("a.db"), &[FIRST]).is_err(),
        "no version of ours"
    );
}

#[test]
fn two_processes_that_migrate_at_once_do_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let migrate_patiently = || {
        let mut connection = open(&folder);
        connection
            .busy_timeout(std::time::Duration::from_secs(10))
            .unwrap();
        migrate(&mut connection, Path::new("a.db"), &[FIRST, SECOND]).unwrap();
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(migrate_patiently);
        }
    });
    assert_eq!(stars(&open(&folder)).len(), 1);
}

#[test]
fn schema_refuses_values_of_the_wrong_kind_and_attempts_of_no_call() {
    let mut connection = Connection::open_in_memory().unwrap();
    connection
        .pragma_update(None, "foreign_keys", "ON")
        .unwrap();
    migrate(&mut connection, Path::new("a.db"), MIGRATIONS).unwrap();
    for statement in [
        "UPDATE meta SET watermark = 'noon'",
        "INSERT INTO meta (only) VALUES (2)",
        "INSERT INTO attempts (call, n, started_at, wait_ms) VALUES (7, 1, 0, 0)",
    ] {
        let error = connection.execute(statement, []).unwrap_err();
        assert_eq!(
            error.sqlite_error_code(),
            Some(ErrorCode::ConstraintViolation),
            "{statement}"
        );
    }
}
