//! Answers on their way to several places: order, resumption, what stands above them, and the look ahead.

use std::os::unix::fs::symlink;

use offpeak::answer::Usage;
use offpeak::engine::ports::{Gathered, Place, Reached, Undelivered};
use offpeak::piece::Item;
use offpeak::workspace::Reserved;

use super::web::{Web, knowing};
use super::*;

const COUNT: &[&str] = &["sh", "-c", "cat >> taken"];

/// A webhook's path is its secret.
const PLANTED: &str = "/planted-7Zq9x";

/// A job with these places.
fn bench(file: Option<&str>, append: Option<&str>) -> Bench {
    let mut bench = Bench::new("p").output(file, None);
    bench.job.output.as_mut().unwrap().append = append.map(str::to_owned);
    bench
}

impl Bench {
    fn webhook(mut self) -> Self {
        self.job.output.as_mut().unwrap().webhook_env = Some("ANSWERS_URL".to_owned());
        self
    }

    fn front_matter(mut self) -> Self {
        self.job.output.as_mut().unwrap().front_matter = FrontMatter::Yaml;
        self
    }

    async fn post(&self, url: &str, reached: &Reached) -> Result<Option<PathBuf>, Undelivered> {
        let answer = answer("the answer");
        let files = knowing(self.files(), &[("ANSWERS_URL", url)]);
        let parcel = Parcel {
            reached,
            ..self.parcel(&answer)
        };
        files.deliver(parcel).await
    }

    async fn post_first(&self, url: &str) -> Result<Option<PathBuf>, Undelivered> {
        self.post(url, &Reached::default()).await
    }

    async fn gather(&self) -> Gathered {
        self.files().gather(&self.job, slot_ref()).await
    }
}

fn item() -> Item {
    Item {
        name: "docs/a: \"b\"\n.md".to_owned(),
        key: "k".to_owned(),
        mark: "m".to_owned(),
        text: None,
    }
}

fn counted() -> Answer {
    Answer {
        usage: Some(Usage {
            input_tokens: 1,
            cache_write_5m_tokens: 2,
            cache_write_1h_tokens: 3,
            cache_read_tokens: 4,
            output_tokens: 5,
            ..Usage::default()
        }),
        ..answer("text\n")
    }
}

#[tokio::test]
async fn entries_are_parted_by_one_blank_line() {
    let bench = bench(None, Some("log/{{ job }}.md"));
    let path = bench.path("log/digest.md");
    for text in ["one", "two\n", "three\n\n\n"] {
        assert_eq!(bench.deliver(text).await, Ok(Some(path.clone())));
    }
    assert_eq!(bench.read("log/digest.md"), "one\n\ntwo\n\nthree\n");
    for (before, expected) in [
        ("", "x\n"),
        ("\n", "\nx\n"),
        ("a", "a\n\nx\n"),
        ("a\n\n", "a\n\nx\n"),
    ] {
        bench.write("log/digest.md", before);
        bench.deliver("x").await.unwrap();
        assert_eq!(bench.read("log/digest.md"), expected);
    }
}

#[tokio::test]
async fn nothing_is_appended_behind_a_link_that_leads_out_or_nowhere() {
    let bench = bench(None, Some("log.md"));
    let outside = tempfile::tempdir().unwrap();
    let theirs = outside.path().join("theirs.md");
    symlink(&theirs, bench.path("log.md")).unwrap();
    let message = bench.deliver("x").await.unwrap_err();
    assert_eq!(
        message,
        format!(
            "cannot append to {}: it is a symbolic link that leads nowhere",
            bench.path("log.md").display()
        )
    );
    assert!(!theirs.exists());
    fs::write(&theirs, "theirs").unwrap();
    let message = bench.deliver("x").await.unwrap_err();
    let expected = "a symbolic link leads out of the working folder to ";
    assert!(message.contains(expected), "{message}");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
}

#[tokio::test]
async fn nothing_is_appended_to_what_offpeak_reads() {
    let bench = bench(None, Some("link.md"));
    let settings = bench.write("offpeak.yaml", "");
    symlink("offpeak.yaml", bench.path("link.md")).unwrap();
    let files = bench.files().sparing(Reserved {
        files: vec![settings],
        ..Reserved::default()
    });
    let lost = files.deliver(bench.parcel(&answer("x"))).await.unwrap_err();
    assert!(
        lost.message.ends_with("which is a file that offpeak reads"),
        "{}",
        lost.message
    );
    assert!(!lost.may_work_later);
    assert_eq!(bench.read("offpeak.yaml"), "");
}

#[tokio::test]
async fn delivery_goes_on_where_it_stopped() {
    let web = Web::start()
        .at(PLANTED, "500 No\r\n\r\n")
        .at(PLANTED, "200 OK\r\n\r\n");
    let mut bench = bench(Some("a.md"), Some("log.md")).webhook();
    bench.job.output.as_mut().unwrap().command = Some(words(COUNT));
    let reached = Reached::default();
    let lost = bench.post(&web.url(PLANTED), &reached).await.unwrap_err();
    let expected = Undelivered {
        message: "the webhook of `ANSWERS_URL` did not take the answer: the answer has status 500"
            .to_owned(),
        output: Some(bench.path("a.md")),
        may_work_later: true,
    };
    assert_eq!(lost, expected);
    assert!(reached.has(Place::Command) && !reached.has(Place::Webhook));
    bench.write("a.md", "changed since");
    let path = bench.post(&web.url(PLANTED), &reached).await.unwrap();
    assert_eq!(path, Some(bench.path("a.md")));
    let files = ["a.md", "log.md", "taken"].map(|name| bench.read(name));
    assert_eq!(files, ["changed since", "the answer\n", "the answer"]);
    assert_eq!(web.requests().len(), 2);
}

#[tokio::test]
async fn every_place_is_counted_that_has_the_answer() {
    let mut bench = bench(Some("a.md"), Some("log.md"));
    bench.write("log.md/x", "a folder in its place");
    bench.job.output.as_mut().unwrap().command = Some(words(COUNT));
    let reached = Reached::default();
    let lost = bench.post("", &reached).await.unwrap_err();
    assert_eq!(
        (reached.bits(), lost.output, lost.may_work_later),
        (1, Some(bench.path("a.md")), true)
    );
    fs::remove_dir_all(bench.path("log.md")).unwrap();
    fs::remove_file(bench.path("a.md")).unwrap();
    bench.post("", &reached).await.unwrap();
    assert_eq!(
        (bench.path("a.md").exists(), bench.read("taken")),
        (false, "the answer".to_owned())
    );
    // With every place served there is nothing left to do.
    bench.post("", &reached).await.unwrap();
    assert_eq!(bench.read("taken"), "the answer");
}

#[tokio::test]
async fn output_that_is_edited_meanwhile_gets_what_it_has_not_got() {
    // Only how many places had the answer was known: a new one counted as served, or an old one was served twice.
    let mut bench = bench(None, Some("log.md"));
    bench.job.output.as_mut().unwrap().command = Some(words(&["false"]));
    let reached = Reached::default();
    bench.post("", &reached).await.unwrap_err();
    let output = bench.job.output.as_mut().unwrap();
    output.file = Some("a.md".to_owned());
    output.command = Some(words(COUNT));
    bench.post("", &reached).await.unwrap();
    let files = ["a.md", "log.md", "taken"].map(|name| bench.read(name));
    assert_eq!(files, ["the answer", "the answer\n", "the answer"]);
}

#[tokio::test]
async fn older_answer_never_takes_the_place_of_a_newer_one() {
    let bench = bench(Some("a.md"), Some("log.md"));
    bench.write("a.md", "of a later slot");
    let (answer, newer) = (answer("of an older slot"), [bench.path("a.md")]);
    let parcel = Parcel {
        newer: &newer,
        ..bench.parcel(&answer)
    };
    bench.files().deliver(parcel).await.unwrap();
    assert_eq!(bench.read("a.md"), "of a later slot");
    assert_eq!(bench.read("log.md"), "of an older slot\n");
}

#[tokio::test]
async fn program_or_webhook_that_is_not_there_fails_before_anything_is_sent() {
    let mut bench = bench(Some("a.md"), None);
    bench.job.output.as_mut().unwrap().command = Some(words(&["bin/no-such-program-here"]));
    let Gathered::Failed(unready) = bench.gather().await else {
        panic!("it would be paid for");
    };
    assert_eq!(unready.reason, FailReason::Output);
    assert!(
        unready.message.contains("no-such-program-here"),
        "{unready:?}"
    );
    let bench = Bench::new("p").output(None, None).webhook();
    let Gathered::Failed(unready) = bench.gather().await else {
        panic!("it would be paid for");
    };
    assert!(unready.message.contains("ANSWERS_URL"), "{unready:?}");
}

#[tokio::test]
async fn webhook_gets_all_that_is_known() {
    let web = Web::start().at(PLANTED, "204 OK\r\n\r\n");
    let bench = Bench::new("p").output(None, None).webhook();
    let files = knowing(bench.files(), &[("ANSWERS_URL", &web.url(PLANTED))]);
    let (answer, item) = (counted(), item());
    let parcel = Parcel {
        item: Some(&item),
        ..bench.parcel(&answer)
    };
    assert_eq!(files.deliver(parcel).await, Ok(None));
    bench.post_first(&web.url(PLANTED)).await.unwrap();
    let requests = web.requests();
    let bodies: Vec<_> = requests
        .iter()
        .map(|request| request.split_once("\r\n\r\n").unwrap())
        .collect();
    let head = bodies[0].0.to_ascii_lowercase();
    assert!(head.starts_with("post "), "{head}");
    assert!(
        head.contains("\r\ncontent-type: application/json"),
        "{head}"
    );
    assert_eq!(
        bodies[0].1,
        r#"{"job":"digest","slot":"2026-12-05T05:00:00+09:00","item":"docs/a: \"b\"\n.md","model":"claude-sonnet-5-5","text":"text\n","stop_reason":"end_turn","usage":{"input_tokens":1,"cache_write_5m_tokens":2,"cache_write_1h_tokens":3,"cache_read_tokens":4,"output_tokens":5}}"#
    );
    assert_eq!(
        bodies[1].1,
        r#"{"job":"digest","slot":"2026-12-05T05:00:00+09:00","model":"claude-sonnet-5-5","text":"the answer","stop_reason":"end_turn"}"#
    );
}

#[tokio::test]
async fn webhook_that_refuses_is_asked_again_only_if_that_may_help() {
    let other = Web::start().at("/", "200 OK\r\n\r\n");
    let away = format!("302 Found\r\nlocation: {}\r\n\r\n", other.url("/"));
    let web = Web::start()
        .at("/400", "400 No\r\n\r\n")
        .at("/429", "429 No\r\n\r\n")
        .at("/302", away);
    let bench = Bench::new("p").output(None, None).webhook();
    for (path, may_work_later) in [("/400", false), ("/429", true), ("/302", true)] {
        let lost = bench.post_first(&web.url(path)).await.unwrap_err();
        let status = &path[1..];
        assert_eq!(
            (lost.message, lost.may_work_later),
            (
                format!(
                    "the webhook of `ANSWERS_URL` did not take the answer: the answer has status {status}"
                ),
                may_work_later
            )
        );
    }
    assert_eq!(other.requests(), [""; 0]);
}

#[tokio::test]
async fn webhook_without_an_address_or_an_answer_says_so_and_shows_no_address() {
    let web = Web::start();
    let mut bench = Bench::new("p").output(None, None).webhook();
    for (url, expected) in [
        ("", "the environment variable `ANSWERS_URL` is not set"),
        (
            "planted",
            "the webhook of `ANSWERS_URL`: it holds no http or https URL",
        ),
    ] {
        let lost = bench.post_first(url).await.unwrap_err();
        assert_eq!(
            (lost.message.as_str(), lost.may_work_later),
            (expected, true)
        );
    }
    bench.timeouts = Timeouts::AtOnce;
    let lost = bench.post_first(&web.url(PLANTED)).await.unwrap_err();
    assert_eq!(
        lost.message,
        "the webhook of `ANSWERS_URL` did not answer within 30s"
    );
    assert!(lost.may_work_later);
}

#[tokio::test]
async fn front_matter_stands_above_the_answer_in_files_alone() {
    let mut bench = bench(Some("a.md"), Some("log.md")).front_matter();
    bench.job.output.as_mut().unwrap().command = Some(words(COUNT));
    let (answer, item) = (counted(), item());
    let parcel = Parcel {
        item: Some(&item),
        ..bench.parcel(&answer)
    };
    bench.files().deliver(parcel).await.unwrap();
    let expected = "---\njob: \"digest\"\nslot: \"2026-12-05T05:00:00+09:00\"\nitem: \"docs/a: \\\"b\\\"\\n.md\"\nmodel: \"claude-sonnet-5-5\"\nmessage: \"msg_1\"\nusage:\n  input_tokens: 1\n  cache_write_5m_tokens: 2\n  cache_write_1h_tokens: 3\n  cache_read_tokens: 4\n  output_tokens: 5\n---\n\ntext\n";
    let files = ["a.md", "log.md", "taken"].map(|name| bench.read(name));
    assert_eq!(files, [expected, expected, "text\n"]);
    bench.deliver("bare").await.unwrap();
    assert_eq!(
        bench.read("a.md"),
        "---\njob: \"digest\"\nslot: \"2026-12-05T05:00:00+09:00\"\nmodel: \"claude-sonnet-5-5\"\nmessage: \"msg_1\"\n---\n\nbare"
    );
}

#[tokio::test]
async fn incomplete_answer_is_kept_beside_the_file_that_is_appended_to() {
    let bench = bench(None, Some("log/{{ job }}.md"));
    let path = bench.keep_beside("half").await.unwrap();
    let name = "log/digest.incomplete-20261204T200000Z.md";
    assert_eq!(path, Some(bench.path(name)));
    assert_eq!(bench.read(name), "half");
    assert!(!bench.path("log/digest.md").exists());
}

#[tokio::test]
async fn place_that_cannot_take_the_answer_is_found_before_anything_is_sent() {
    for (file, append) in [
        (Some("taken/a.md"), None),
        (Some("taken/deep/a.md"), None),
        (Some("folder"), None),
        (None, Some("taken/a.md")),
        (None, Some("folder")),
        (Some("fine/a.md"), Some("folder")),
        (Some("key"), None),
    ] {
        let bench = bench(file, append);
        bench.write("taken", "a file in the place of a folder");
        fs::create_dir(bench.path("folder")).unwrap();
        let files = bench.files().sparing(Reserved {
            files: vec![bench.path("key")],
            ..Reserved::default()
        });
        let gathered = files.gather(&bench.job, slot_ref()).await;
        let Gathered::Failed(Unready { reason, message }) = gathered else {
            panic!("{file:?} {append:?}: {gathered:?}")
        };
        assert_eq!(reason, FailReason::Output);
        assert!(message.starts_with("nothing was sent: "), "{message}");
        assert!(!bench.path("fine").exists(), "a look makes nothing");
    }
}

#[tokio::test]
async fn place_that_can_take_the_answer_lets_the_run_go_on() {
    for (file, append) in [
        (Some("new/deep/a.md"), Some("log.md")),
        (Some("old.md"), Some("old.md")),
        (None, None),
    ] {
        let bench = bench(file, append);
        bench.write("old.md", "old");
        assert_eq!(bench.gather().await, Gathered::Ready(Vec::new()));
        assert!(!bench.path("new").exists() && !bench.path("log.md").exists());
    }
}

#[tokio::test]
async fn nothing_to_send_is_no_failure_of_the_output() {
    let bench = bench(Some("taken/a.md"), None).file_input("empty.md", " ");
    bench.write("taken", "");
    assert_eq!(bench.gather().await, Gathered::Empty);
}
