use rusqlite::TransactionState;

use super::*;

type Answer<T> = oneshot::Receiver<Result<T, StoreError>>;

/// A file with one counter at zero, and a table whose rows are checked at the commit.
struct Desk {
    store: Connection,
    writes: Vec<Write>,
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Connection::open(folder.path().join("a.db")).unwrap();
        let schema = "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON;
            CREATE TABLE counter (n INTEGER NOT NULL); INSERT INTO counter VALUES (0);
            CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);";
        store.execute_batch(schema).unwrap();
        Self {
            store,
            writes: Vec::new(),
            folder,
        }
    }

    fn push<T: Send + 'static>(
        &mut self,
        change: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Answer<T> {
        let (answer, answered) = oneshot::channel();
        self.writes.push(write(change, answer));
        answered
    }

    /// Adds one and answers the sum.
    fn count(&mut self) -> Answer<i64> {
        self.push(add_one)
    }

    fn commit(&mut self) {
        let writes = mem::take(&mut self.writes);
        commit(&mut self.store, writes, || Ok(()), Path::new("a.db"));
    }

    /// What another process reads.
    fn on_file(&self) -> i64 {
        let other = Connection::open(self.folder.path().join("a.db")).unwrap();
        n(&other).unwrap()
    }
}

fn n(store: &Connection) -> Result<i64, Fault> {
    Ok(store.query_one("SELECT n FROM counter", [], |row| row.get(0))?)
}

fn add_one(store: &Connection) -> Result<i64, Fault> {
    store.execute("UPDATE counter SET n = n + 1", [])?;
    n(store)
}

fn told<T>(mut answer: Answer<T>) -> Result<T, StoreError> {
    answer.try_recv().unwrap()
}

#[test]
fn writes_that_wait_together_are_seen_together() {
    let mut desk = Desk::new();
    let first = desk.count();
    let path = desk.folder.path().join("a.db");
    let seen_elsewhere = desk.push(move |_| n(&Connection::open(path).unwrap()));
    let third = desk.count();
    desk.commit();
    assert_eq!((told(first).unwrap(), told(third).unwrap()), (1, 2));
    assert_eq!(told(seen_elsewhere).unwrap(), 0, "nobody sees half of it");
    assert_eq!(desk.on_file(), 2);
}

#[test]
fn each_write_finds_what_those_before_it_did() {
    let mut desk = Desk::new();
    let answers: Vec<_> = (0..5).map(|_| desk.count()).collect();
    desk.commit();
    let sums: Vec<i64> = answers.into_iter().map(|it| told(it).unwrap()).collect();
    assert_eq!(sums, [1, 2, 3, 4, 5]);
}

#[test]
fn nobody_is_answered_before_all_of_it_is_on_disk() {
    let mut desk = Desk::new();
    let mut first = desk.count();
    let (tell, heard) = std::sync::mpsc::channel();
    let last = desk.push(move |_| {
        tell.send(first.try_recv().is_err()).unwrap();
        Ok(())
    });
    desk.commit();
    told(last).unwrap();
    assert!(heard.recv().unwrap());
}

#[test]
fn write_that_fails_in_the_middle_takes_back_its_own_statements_only() {
    let mut desk = Desk::new();
    let before = desk.count();
    let broken = desk.push(|store| {
        add_one(store)?;
        Ok(store.execute("UPDATE nowhere SET n = 1", []).map(drop)?)
    });
    let after = desk.count();
    desk.commit();
    assert_eq!((told(before).unwrap(), told(after).unwrap()), (1, 2));
    let error = told(broken).unwrap_err();
    assert!(error.to_string().contains("nowhere"), "{error}");
    assert_eq!(desk.on_file(), 2);
}

#[test]
fn write_that_panics_in_the_middle_takes_back_its_own_statements_only() {
    let mut desk = Desk::new();
    let before = desk.count();
    let mut broken = desk.push(|store| -> Result<(), Fault> {
        add_one(store)?;
        panic!("a write that is broken on purpose");
    });
    let after = desk.count();
    desk.commit();
    assert_eq!((told(before).unwrap(), told(after).unwrap()), (1, 2));
    assert_eq!(
        broken.try_recv().unwrap_err(),
        oneshot::error::TryRecvError::Closed
    );
    assert_eq!(desk.on_file(), 2);
}

#[test]
fn commit_that_fails_is_told_to_all_and_nothing_is_done() {
    let mut desk = Desk::new();
    let first = desk.count();
    let orphan = desk.push(|store| Ok(store.execute("INSERT INTO child VALUES (7)", [])?));
    let broken = desk.push(|store| Ok(store.execute("UPDATE nowhere SET n = 1", [])?));
    desk.commit();
    for error in [
        told(first).unwrap_err().to_string(),
        told(orphan).unwrap_err().to_string(),
    ] {
        assert!(error.contains("FOREIGN KEY"), "{error}");
    }
    let error = told(broken).unwrap_err().to_string();
    assert!(error.contains("nowhere"), "its own reason: {error}");
    assert_eq!(desk.on_file(), 0);
    let again = desk.count();
    desk.commit();
    assert_eq!(told(again).unwrap(), 1, "the next ones go on");
}

#[test]
fn transaction_that_the_library_takes_back_is_lost_for_all_before_and_the_rest_goes_on() {
    let mut desk = Desk::new();
    let before = desk.count();
    // As on a full disk: the library rolls back by itself.
    let broken = desk.push(|store| -> Result<(), Fault> {
        store.execute_batch("ROLLBACK")?;
        Err(StoreError::Failed("the disk is full".to_owned()).into())
    });
    let after = desk.count();
    desk.commit();
    let error = told(before).unwrap_err().to_string();
    assert!(error.contains("shared the transaction"), "{error}");
    let error = told(broken).unwrap_err().to_string();
    assert!(error.contains("the disk is full"), "{error}");
    assert_eq!(told(after).unwrap(), 1);
    assert_eq!(desk.on_file(), 1);
}

#[test]
fn lock_that_is_not_to_be_had_is_told_to_all() {
    let mut desk = Desk::new();
    desk.store.busy_timeout(std::time::Duration::ZERO).unwrap();
    let other = Connection::open(desk.folder.path().join("a.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answers = [desk.count(), desk.count()];
    desk.commit();
    for answer in answers {
        let error = told(answer).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
    }
    other.execute_batch("ROLLBACK").unwrap();
    let later = desk.count();
    desk.commit();
    assert_eq!(told(later).unwrap(), 1);
}

#[test]
fn file_that_was_replaced_gets_no_write() {
    let mut desk = Desk::new();
    let answer = desk.count();
    let gone = || Err(StoreError::Failed("the file is gone".to_owned()));
    let writes = mem::take(&mut desk.writes);
    commit(&mut desk.store, writes, gone, Path::new("a.db"));
    assert!(told(answer).is_err());
    assert_eq!(desk.on_file(), 0);
}

#[test]
fn writes_that_all_fail_leave_no_transaction_open() {
    let mut desk = Desk::new();
    let broken = desk.push(|store| Ok(store.execute("UPDATE nowhere SET n = 1", [])?));
    desk.commit();
    assert!(told(broken).is_err());
    assert_eq!(
        desk.store.transaction_state(None::<&str>).unwrap(),
        TransactionState::None
    );
}
