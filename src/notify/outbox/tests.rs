use super::*;
use crate::clock::SystemClock;
use crate::engine::alert::News;
use crate::guard::{Hold, HoldCause};
use crate::job::GroupId;
use crate::notify::fixture::{Logged, Manner, Receiver, Standing};
use crate::sim::VirtualClock;
use chrono::DateTime;

fn held() -> Alert {
    Alert {
        group: GroupId::new("main"),
        news: News::Held(Hold {
            cause: HoldCause::Billing,
            until: None,
            since: DateTime::UNIX_EPOCH,
            note: "pay".to_owned(),
        }),
        at: DateTime::UNIX_EPOCH,
    }
}

fn entry(way: Way) -> Entry {
    Entry {
        name: "ops".to_owned(),
        way,
        on: Change::ALL.into(),
        timeout: Duration::from_secs(10),
    }
}

fn webhook(receiver: &Receiver, format: Format) -> Entry {
    entry(Way::Webhook(receiver.address(), format))
}

/// Puts one alert in and waits until the task has done what it can.
async fn deliver(entry: Entry, clock: Arc<dyn Clock>) {
    let mut tasks = JoinSet::new();
    let outbox = Outbox::open(entry, clock, &mut tasks);
    outbox.put(&held());
    drop(outbox);
    tasks.join_next().await.unwrap().unwrap();
}

#[tokio::test]
async fn a_webhook_gets_what_it_asked_for() {
    let receiver = Receiver::start(Manner::Takes);
    deliver(webhook(&receiver, Format::Json), Standing::clock()).await;
    deliver(webhook(&receiver, Format::Slack), Standing::clock()).await;
    let mut only_failures = webhook(&receiver, Format::Json);
    only_failures.on = [Change::Failed].into();
    deliver(only_failures, Standing::clock()).await;
    let posted = [body::json(&held()), body::slack(&held())];
    assert_eq!(
        receiver.heard(),
        posted.map(|body| ("POST".to_owned(), body))
    );
}

#[tokio::test]
async fn a_receiver_that_refuses_is_asked_twice_and_no_line_holds_its_address() {
    for (status, problem) in [
        (500, "status 500"),
        (404, "status 404"),
        (302, "status 302"),
    ] {
        let logged = Logged::start();
        let receiver = Receiver::start(Manner::Answers(status));
        deliver(webhook(&receiver, Format::Json), Standing::clock()).await;
        assert_eq!(receiver.heard().len(), 2);
        let text = logged.text();
        assert_eq!(text.matches("nobody was told").count(), 1, "{text}");
        assert!(text.contains(problem), "{text}");
    }
}

#[tokio::test]
async fn a_receiver_that_is_not_there_is_one_line() {
    let logged = Logged::start();
    let receiver = Receiver::start(Manner::Takes);
    let gone = webhook(&receiver, Format::Json);
    drop(receiver);
    // The socket is closed once its task is.
    tokio::task::yield_now().await;
    deliver(gone, Standing::clock()).await;
    let text = logged.text();
    assert!(text.contains("there is no connection"), "{text}");
}

#[tokio::test]
async fn silence_ends_with_the_timeout() {
    let logged = Logged::start();
    let receiver = Receiver::start(Manner::Silent);
    let clock = VirtualClock::new(DateTime::UNIX_EPOCH);
    let delivered = deliver(webhook(&receiver, Format::Json), Arc::new(clock.clone()));
    let passing = async {
        loop {
            let _ = clock.advance();
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = delivered => {}
        () = passing => {}
    }
    // Two tries and the pause between them.
    assert_eq!(clock.elapsed(), Duration::from_secs(22));
    assert!(logged.text().contains("nothing came back within 10s"));
}

#[tokio::test]
async fn a_full_queue_drops_what_comes_on_top_and_never_waits() {
    let logged = Logged::start();
    let receiver = Receiver::start(Manner::Silent);
    let mut tasks = JoinSet::new();
    let outbox = Outbox::open(
        webhook(&receiver, Format::Json),
        Standing::clock(),
        &mut tasks,
    );
    for _ in 0..QUEUE + 3 {
        outbox.put(&held());
    }
    assert_eq!(logged.text().matches("is too slow").count(), 3);
}

fn command(script: &str, folder: &std::path::Path) -> Entry {
    entry(Way::Command {
        argv: ["sh", "-c", script].map(str::to_owned).into(),
        folder: folder.to_owned(),
        without: vec!["CARGO_MANIFEST_DIR".to_owned()],
    })
}

#[tokio::test]
async fn a_program_gets_the_json_and_no_secret_variable() {
    let folder = tempfile::tempdir().unwrap();
    let script = "cat > alert.json; env > variables";
    let clock = Arc::new(SystemClock::new());
    deliver(command(script, folder.path()), clock).await;
    let read = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("alert.json"), body::json(&held()));
    let variables = read("variables");
    assert!(variables.contains("PATH="), "{variables}");
    assert!(!variables.contains("CARGO_MANIFEST_DIR="), "{variables}");
}

#[tokio::test]
async fn a_program_that_fails_is_tried_twice_and_its_complaint_is_logged() {
    let logged = Logged::start();
    let folder = tempfile::tempdir().unwrap();
    let script = "echo x >> tries; echo out of paper >&2; exit 3";
    deliver(command(script, folder.path()), Standing::clock()).await;
    let tries = std::fs::read_to_string(folder.path().join("tries")).unwrap();
    assert_eq!(tries, "x\nx\n");
    let text = logged.text();
    assert!(
        text.contains("nobody was told") && text.contains("out of paper"),
        "{text}"
    );
}
