//! The workspace of a real folder, through the engine's port: files, programs, outputs.

mod delivery;
mod items;
mod unruly;
mod web;

use std::fs;
use std::future::{pending, ready};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::answer::{Answer, StopReason};
use offpeak::engine::ports::{Clock, Parcel, Pending, Reached, Unready, Workspace};
use offpeak::job::{
    CacheTtl, Check, Delivery, FrontMatter, GroupId, Handing, Input, InputSource, Job, JobId,
    JobState, KeyId, OnEmptyInput, Output, Presence, Previous, Request, Schedule, SystemBlock,
    Template, TextSource,
};
use offpeak::outcome::FailReason;
use offpeak::schedule::Zones;
use offpeak::slot::Slot;
use offpeak::workspace::Prepared;
use offpeak::workspace::{Files, RunCommands};
use tempfile::TempDir;

/// A clock for timeouts alone: sleeps end at once, or never.
enum Timeouts {
    Never,
    AtOnce,
}

impl Clock for Timeouts {
    fn now(&self) -> DateTime<Utc> {
        slot().fire_at
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn sleep(&self, _span: Duration) -> Pending<'_, ()> {
        match self {
            Self::Never => Box::pin(pending()),
            Self::AtOnce => Box::pin(ready(())),
        }
    }
}

/// A working folder, a job, and what becomes of them.
struct Bench {
    folder: TempDir,
    job: Job,
    timeouts: Timeouts,
}

impl Bench {
    fn new(prompt: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            job: job(prompt),
            timeouts: Timeouts::Never,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn input(mut self, name: &str, source: InputSource) -> Self {
        let presence = Presence::Required;
        self.job.inputs.push(Input {
            name: name.to_owned(),
            source,
            presence,
            max_bytes: 100,
        });
        self
    }

    fn file_input(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.write(name, text);
        self.input(name, InputSource::File(path))
    }

    fn command_input(self, name: &str, argv: &[&str]) -> Self {
        let (argv, folder) = (words(argv), self.folder.path().to_owned());
        self.input(
            name,
            InputSource::Command {
                argv,
                folder,
                timeout: Duration::from_secs(7),
            },
        )
    }

    fn optional(mut self) -> Self {
        self.job.inputs.last_mut().unwrap().presence = Presence::Optional;
        self
    }

    fn output(mut self, file: Option<&str>, command: Option<&[&str]>) -> Self {
        let (file, command) = (file.map(str::to_owned), command.map(words));
        self.job.output = Some(Output {
            file,
            previous: Previous::Replace,
            append: None,
            front_matter: FrontMatter::None,
            command,
            webhook_env: None,
        });
        self
    }

    fn files(&self) -> Files {
        let clock: Arc<dyn Clock> = match self.timeouts {
            Timeouts::Never => Arc::new(Timeouts::Never),
            Timeouts::AtOnce => Arc::new(Timeouts::AtOnce),
        };
        Files::new(self.folder.path().to_owned(), Zones::bundled(), clock)
    }

    async fn prepare(&self) -> Prepared {
        let files = self.files();
        files
            .preview(&self.job, &slot(), RunCommands::Yes, None)
            .await
            .prepared
    }

    async fn request(&self) -> Request {
        match self.prepare().await {
            Prepared::Ready(request) => *request,
            other => panic!("{other:?}"),
        }
    }

    async fn failure(&self) -> String {
        match self.prepare().await {
            Prepared::Failed(Unready {
                reason: FailReason::Input,
                message,
            }) => message,
            other => panic!("{other:?}"),
        }
    }

    async fn deliver(&self, text: &str) -> Result<Option<PathBuf>, String> {
        let answer = answer(text);
        let delivered = self.files().deliver(self.parcel(&answer)).await;
        delivered.map_err(|lost| lost.message)
    }

    async fn keep_beside(&self, text: &str) -> Result<Option<PathBuf>, String> {
        let answer = answer(text);
        self.files().keep_beside(self.parcel(&answer)).await
    }

    fn parcel<'a>(&'a self, answer: &'a Answer) -> Parcel<'a> {
        Parcel {
            job: &self.job,
            slot: slot_ref(),
            item: None,
            answer,
            reached: nowhere(),
            newer: &[],
        }
    }
}

/// That an answer has reached no place yet; each its own.
fn nowhere() -> &'static Reached {
    Box::leak(Box::default())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn answer(text: &str) -> Answer {
    Answer {
        id: "msg_1".to_owned(),
        model: "claude-sonnet-5-5".to_owned(),
        text: text.to_owned(),
        stop_reason: StopReason::EndTurn,
        usage: None,
        paused: None,
        tool_errors: Vec::new(),
    }
}

fn slot_ref() -> &'static Slot {
    static SLOT: std::sync::LazyLock<Slot> = std::sync::LazyLock::new(slot);
    &SLOT
}

/// 05:00 on Saturday in Tokyo, still Friday in UTC.
fn slot() -> Slot {
    Slot {
        fire_at: "2026-12-04T20:00:00Z".parse().unwrap(),
        job: JobId::new("digest"),
    }
}

fn job(prompt: &str) -> Job {
    Job {
        then: Vec::new(),
        for_each: None,
        concurrency: 1,
        handing: Handing::Direct,
        fallback_model: None,
        max_cost: None,
        id: JobId::new("digest"),
        description: None,
        state: JobState::Enabled,
        key: KeyId::new("main"),
        group: GroupId::new("main"),
        schedule: Schedule {
            crons: words(&["0 5 * * *"]),
            zone: "Asia/Tokyo".to_owned(),
        },
        template: Template {
            name: None,
            model: "claude-sonnet-5-5".to_owned(),
            max_tokens: 4000,
            system: Vec::new(),
            prompt: TextSource::Inline(prompt.to_owned()),
            delivery: Delivery::Stream,
            extra: vec![("temperature".to_owned(), "0.2".to_owned())],
        },
        inputs: Vec::new(),
        on_empty_input: OnEmptyInput::Skip,
        output: None,
        check: Check::default(),
        timeout: Duration::from_mins(10),
        notify: None,
    }
}

#[tokio::test]
async fn template_becomes_the_request_with_the_slots_own_date() {
    let mut bench = Bench::new("{{ date }} {{ slot }} {{ week }} {{ job }}");
    bench.job.template.system = vec![SystemBlock {
        text: TextSource::Inline("for {{ job }}".to_owned()),
        cache: Some(CacheTtl::OneHour),
    }];
    let expected = Request {
        key: KeyId::new("main"),
        model: "claude-sonnet-5-5".to_owned(),
        max_tokens: 4000,
        system: vec![SystemBlock {
            text: "for digest".to_owned(),
            cache: Some(CacheTtl::OneHour),
        }],
        prompt: "2026-12-05 2026-12-05T05:00:00+09:00 2026-W49 digest".to_owned(),
        so_far: Vec::new(),
        delivery: Delivery::Stream,
        extra: vec![("temperature".to_owned(), "0.2".to_owned())],
        timeout: Duration::from_mins(10),
    };
    assert_eq!(bench.request().await, expected);
}

#[tokio::test]
async fn iso_week_belongs_to_the_year_of_its_thursday() {
    let bench = Bench::new("{{ date }} {{ week }}");
    for (at, expected) in [
        ("2026-12-31T20:00:00Z", "2027-01-01 2026-W53"),
        ("2027-01-03T20:00:00Z", "2027-01-04 2027-W01"),
    ] {
        let slot = Slot {
            fire_at: at.parse().unwrap(),
            job: JobId::new("digest"),
        };
        let Prepared::Ready(request) = bench
            .files()
            .preview(&bench.job, &slot, RunCommands::Yes, None)
            .await
            .prepared
        else {
            panic!("{at}")
        };
        assert_eq!(request.prompt, expected);
    }
}

#[tokio::test]
async fn prompt_and_system_files_are_read_anew_for_each_run() {
    let mut bench = Bench::new("");
    bench.job.template.prompt = TextSource::File(bench.write("p.md", "one {{ job }}"));
    let source = TextSource::File(bench.write("s.md", "sys"));
    bench.job.template.system = vec![
        SystemBlock {
            text: source,
            cache: Some(CacheTtl::OneHour),
        },
        SystemBlock::plain(TextSource::Inline("always".to_owned())),
    ];
    assert_eq!(bench.request().await.prompt, "one digest");
    bench.write("p.md", "two");
    bench.write("s.md", " \n");
    let request = bench.request().await;
    // The API refuses a blank text block, so the first one is left out with its breakpoint.
    assert_eq!(request.prompt, "two");
    assert_eq!(request.system, [SystemBlock::plain("always".to_owned())]);
}

#[tokio::test]
async fn input_text_is_a_value_and_never_expanded() {
    let hostile = "{{ job }}{% for i in x %}<&>\u{1f319}";
    let bench = Bench::new("[{{ notes }}]").file_input("notes", hostile);
    assert_eq!(bench.request().await.prompt, format!("[{hostile}]"));
}

#[tokio::test]
async fn long_input_is_cut_with_a_visible_mark() {
    let bench = Bench::new("{{ log }}").file_input("log", "x".repeat(250));
    let expected = format!("{}\n[cut: 100 of 250 bytes shown]\n", "x".repeat(100));
    assert_eq!(bench.request().await.prompt, expected);
}

#[tokio::test]
async fn input_that_is_no_text_is_replaced() {
    let bench = Bench::new("{{ log }}").file_input("log", b"a\xffb");
    assert_eq!(bench.request().await.prompt, "a\u{fffd}b");
}

#[tokio::test]
async fn missing_input_file_fails_the_run_unless_it_is_optional() {
    let bench = Bench::new("p{{ notes }}");
    let gone = bench.path("gone.md");
    let bench = bench.input("notes", InputSource::File(gone.clone()));
    let message = bench.failure().await;
    assert_eq!(
        message,
        format!(
            "input `notes`: cannot read {}: No such file or directory (os error 2)",
            gone.display()
        )
    );
    let mut bench = bench.optional();
    bench.job.on_empty_input = OnEmptyInput::Send;
    assert_eq!(bench.request().await.prompt, "p");
}

#[tokio::test]
async fn optional_input_that_is_a_folder_is_still_a_mistake() {
    let bench = Bench::new("p");
    let folder = bench.folder.path().to_owned();
    let bench = bench.input("notes", InputSource::File(folder)).optional();
    assert!(bench.failure().await.ends_with("it is not a regular file"));
}

#[tokio::test]
async fn empty_inputs_skip_fail_or_send_as_the_job_says() {
    let mut bench = Bench::new("p")
        .file_input("a", " \n")
        .command_input("b", &["true"]);
    assert_eq!(bench.prepare().await, Prepared::Empty);
    bench.job.on_empty_input = OnEmptyInput::Fail;
    let note = "every input is empty, and the job says `on_empty_input: fail`".to_owned();
    assert_eq!(
        bench.prepare().await,
        Prepared::Failed(Unready {
            reason: FailReason::EmptyInput,
            message: note,
        })
    );
    bench.job.on_empty_input = OnEmptyInput::Send;
    assert_eq!(bench.request().await.prompt, "p");
}

#[tokio::test]
async fn one_input_with_text_is_enough_to_send() {
    let bench = Bench::new("{{ a }}{{ b }}")
        .file_input("a", "")
        .file_input("b", "x");
    assert_eq!(bench.request().await.prompt, "x");
}

#[tokio::test]
async fn job_without_inputs_is_sent() {
    assert_eq!(Bench::new("p").request().await.prompt, "p");
}

#[tokio::test]
async fn unknown_variable_names_file_line_and_the_known_ones() {
    let mut bench = Bench::new("").file_input("log", "x");
    let path = bench.write("p.md", "one\n{{ lgo }}");
    bench.job.template.prompt = TextSource::File(path.clone());
    let known = "the variables are `date`, `job`, `log`, `slot`, `week`";
    assert_eq!(
        bench.failure().await,
        format!("{}:2: nothing fills `lgo`; {known}", path.display())
    );
}

#[tokio::test]
async fn prompt_that_fills_in_to_nothing_fails() {
    let bench = Bench::new(" {% if log %}{% endif %}\n").file_input("log", "x");
    assert_eq!(
        bench.failure().await,
        "prompt: the prompt is empty after its variables were filled in"
    );
}

#[tokio::test]
async fn prompt_file_that_is_gone_is_named() {
    let mut bench = Bench::new("");
    let path = bench.path("gone.md");
    bench.job.template.prompt = TextSource::File(path.clone());
    let message = bench.failure().await;
    assert!(
        message.starts_with(&format!("cannot read {}: No such file", path.display())),
        "{message}"
    );
}

#[tokio::test]
async fn unknown_zone_fails_with_its_name() {
    let mut bench = Bench::new("p");
    bench.job.schedule.zone = "Mars/Olympus".to_owned();
    assert!(
        bench
            .failure()
            .await
            .contains("unknown time zone `Mars/Olympus`")
    );
}

#[tokio::test]
async fn command_runs_in_its_folder_without_a_shell() {
    let bench = Bench::new("{{ a }}{{ b }}")
        .command_input("a", &["pwd", "-P"])
        .command_input("b", &["echo", "$HOME; *"]);
    let folder = fs::canonicalize(bench.folder.path()).unwrap();
    assert_eq!(
        bench.request().await.prompt,
        format!("{}\n$HOME; *\n", folder.display())
    );
}

#[tokio::test]
async fn relative_program_starts_at_its_folder() {
    let bench = Bench::new("{{ a }}").command_input("a", &["./tool", "x"]);
    std::os::unix::fs::symlink("/bin/echo", bench.path("tool")).unwrap();
    assert_eq!(bench.request().await.prompt, "x\n");
}

#[tokio::test]
async fn command_has_no_standard_input_and_its_errors_stay_out() {
    let bench =
        Bench::new("{{ a }}").command_input("a", &["sh", "-c", "cat; echo out; echo err >&2"]);
    assert_eq!(bench.request().await.prompt, "out\n");
}

#[tokio::test]
async fn failing_command_fails_the_run_with_what_it_said() {
    let bench = Bench::new("p").command_input(
        "log",
        &["sh", "-c", "echo got; echo 'no  such\nunit' >&2; exit 3"],
    );
    assert_eq!(
        bench.failure().await,
        "input `log`: `sh` ended with exit status: 3: no such unit"
    );
    let mut bench = bench.optional();
    bench.job.on_empty_input = OnEmptyInput::Send;
    assert_eq!(bench.request().await.prompt, "p");
}

#[tokio::test]
async fn program_that_is_not_there_is_named() {
    let bench = Bench::new("p").command_input("log", &["no-such-program-anywhere"]);
    let message = bench.failure().await;
    assert!(
        message.starts_with("input `log`: cannot run `no-such-program-anywhere` in "),
        "{message}"
    );
}

#[tokio::test]
async fn command_that_prints_for_ever_is_stopped_and_cut() {
    let bench = Bench::new("{{ log }}").command_input("log", &["yes", "123456789"]);
    let prompt = bench.request().await.prompt;
    let lines = "123456789\n".repeat(10);
    assert_eq!(
        prompt,
        format!("{lines}[cut: 100 of more than 67108864 bytes shown]\n")
    );
}

#[tokio::test]
async fn command_over_its_time_is_ended() {
    let mut bench = Bench::new("p").command_input("log", &["sleep", "600"]);
    bench.timeouts = Timeouts::AtOnce;
    assert_eq!(
        bench.failure().await,
        "input `log`: `sleep` did not end within 7s and was ended"
    );
}

/// A child of a shell once outlived the shell's timeout: only the whole process group may be ended.
#[tokio::test]
async fn children_of_a_command_over_its_time_are_ended_too() {
    child_is_ended("sleep 600 & echo $! > child; echo started; wait").await;
}

/// The child that a script starts and names in `child` is ended when the run is dropped.
async fn child_is_ended(script: &str) {
    let bench = Bench::new("p").command_input("log", &["sh", "-c", script]);
    let child = bench.path("child");
    let files = bench.files();
    let (job, slot) = (bench.job.clone(), slot());
    tokio::select! {
        _ = files.gather(&job, &slot) => panic!("nobody waited for the child"),
        () = is_written(&child) => {}
    }
    // The future of the run is dropped here, as at a stop.
    let pid = fs::read_to_string(&child).unwrap();
    let limit = Duration::from_secs(10);
    tokio::time::timeout(limit, is_gone(pid.trim()))
        .await
        .expect("the child was ended");
}

async fn is_written(path: &Path) {
    while !fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n')) {
        tokio::task::yield_now().await;
    }
}

/// Ends when a process no longer runs.
async fn is_gone(pid: &str) {
    let stat = Path::new("/proc").join(pid).join("stat");
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn answer_is_delivered_where_the_pattern_says() {
    let bench = Bench::new("p").output(Some("out/{{ job }}/{{ date }}.md"), None);
    let path = bench.deliver("the answer").await.unwrap();
    assert_eq!(path, Some(bench.path("out/digest/2026-12-05.md")));
    assert_eq!(bench.read("out/digest/2026-12-05.md"), "the answer");
}

#[tokio::test]
async fn previous_answer_is_kept_when_asked() {
    let mut bench = Bench::new("p").output(Some("a.md"), None);
    bench.job.output.as_mut().unwrap().previous = Previous::Keep;
    bench.deliver("one").await.unwrap();
    bench.deliver("two").await.unwrap();
    assert_eq!(
        (bench.read("a.md"), bench.read("a.md.previous")),
        ("two".to_owned(), "one".to_owned())
    );
}

#[tokio::test]
async fn job_without_output_delivers_nowhere() {
    let bench = Bench::new("p");
    assert_eq!(bench.deliver("x").await, Ok(None));
    assert_eq!(bench.keep_beside("x").await, Ok(None));
}

#[tokio::test]
async fn output_that_cannot_be_written_says_why() {
    let bench = Bench::new("p").output(Some("out/a.md"), None);
    bench.write("out", "a file in the place of the folder");
    let message = bench.deliver("x").await.unwrap_err();
    assert!(
        message.starts_with(&format!(
            "cannot write {}: ",
            bench.path("out/a.md").display()
        )),
        "{message}"
    );
    assert!(
        message.ends_with("an earlier output is untouched"),
        "{message}"
    );
}

/// A kernel folder takes no new file, even from root: what a read-only folder does to everyone else.
#[tokio::test]
async fn folder_that_takes_no_files_is_an_error() {
    let bench = Bench::new("p").output(Some("/proc/offpeak.md"), None);
    let message = bench.deliver("x").await.unwrap_err();
    assert!(
        message.starts_with("cannot write /proc/offpeak.md: "),
        "{message}"
    );
}

#[tokio::test]
async fn incomplete_answer_stays_beside_the_good_one() {
    let bench = Bench::new("p").output(Some("out/{{ date }}.md"), None);
    bench.deliver("good").await.unwrap();
    let path = bench.keep_beside("half").await.unwrap();
    let name = "out/2026-12-05.incomplete-20261204T200000Z.md";
    assert_eq!(path, Some(bench.path(name)));
    assert_eq!(
        (bench.read("out/2026-12-05.md"), bench.read(name)),
        ("good".to_owned(), "half".to_owned())
    );
}

#[tokio::test]
async fn output_command_takes_the_answer_on_standard_input() {
    let bench = Bench::new("p").output(None, Some(&["sh", "-c", "cat > got"]));
    let text = "line\n".repeat(100_000);
    assert_eq!(bench.deliver(&text).await, Ok(None));
    assert_eq!(bench.read("got"), text);
    assert_eq!(bench.keep_beside("half").await, Ok(None));
}

#[tokio::test]
async fn output_command_may_leave_the_answer_unread() {
    let bench = Bench::new("p").output(Some("a.md"), Some(&["true"]));
    let text = "line\n".repeat(100_000);
    assert_eq!(bench.deliver(&text).await, Ok(Some(bench.path("a.md"))));
}

#[tokio::test]
async fn failing_output_command_is_an_error_after_the_file() {
    let bench = Bench::new("p").output(Some("a.md"), Some(&["sh", "-c", "echo full >&2; exit 1"]));
    assert_eq!(
        bench.deliver("x").await.unwrap_err(),
        "`sh` ended with exit status: 1: full"
    );
    assert_eq!(bench.read("a.md"), "x");
}

#[tokio::test]
async fn output_command_over_its_time_is_ended() {
    let mut bench = Bench::new("p").output(None, Some(&["sleep", "600"]));
    bench.timeouts = Timeouts::AtOnce;
    assert_eq!(
        bench.deliver("x").await.unwrap_err(),
        "`sleep` did not end within 60s and was ended"
    );
}

/// Prints two variables that every test run has, or a dash in place of each.
const PRINT_TWO: &str = r#"printf '%s %s' "${CARGO_MANIFEST_DIR--}" "${CARGO_PKG_NAME--}""#;

// Commands inherited the whole environment, so that `env` as an input sent the API key away.
#[tokio::test]
async fn input_command_does_not_inherit_the_named_variables() {
    let bench = Bench::new("[{{ log }}]").command_input("log", &["/bin/sh", "-c", PRINT_TWO]);
    let files = bench
        .files()
        .without(words(&["CARGO_MANIFEST_DIR", "NOT_SET_AT_ALL"]));
    match files
        .preview(&bench.job, &slot(), RunCommands::Yes, None)
        .await
        .prepared
    {
        Prepared::Ready(request) => assert_eq!(request.prompt, "[- offpeak]"),
        other => panic!("{other:?}"),
    }
    assert!(!bench.request().await.prompt.starts_with("[- "));
}

#[tokio::test]
async fn output_command_does_not_inherit_the_named_variables() {
    let script = format!("{PRINT_TWO} > seen");
    let bench = Bench::new("hi").output(None, Some(&["/bin/sh", "-c", &script]));
    let files = bench.files().without(words(&["CARGO_MANIFEST_DIR"]));
    files.deliver(bench.parcel(&answer("hello"))).await.unwrap();
    assert_eq!(bench.read("seen"), "- offpeak");
}

#[tokio::test]
async fn preview_runs_no_command_unless_asked() {
    let bench = Bench::new("{{ log }}")
        .command_input("log", &["sh", "-c", "touch ran; echo hello"])
        .output(Some("out/{{ date }}.md"), None);
    let shown = bench
        .files()
        .preview(&bench.job, &slot(), RunCommands::No, None)
        .await;
    let Prepared::Ready(request) = shown.prepared else {
        panic!("{shown:?}")
    };
    assert_eq!(
        request.prompt,
        "[command not run: sh -c touch ran; echo hello]\n"
    );
    assert_eq!(shown.output, Some(Ok(bench.path("out/2026-12-05.md"))));
    assert!(!bench.path("ran").exists());
    assert!(!bench.path("out").exists(), "a preview writes nothing");

    let shown = bench
        .files()
        .preview(&bench.job, &slot(), RunCommands::Yes, None)
        .await;
    let Prepared::Ready(request) = shown.prepared else {
        panic!("{shown:?}")
    };
    assert_eq!(request.prompt, "hello\n");
}

#[tokio::test]
async fn preview_tells_a_bad_output_apart_from_the_prompt() {
    let bench = Bench::new("p").output(Some("{{ log }}.md"), None);
    let shown = bench
        .files()
        .preview(&bench.job, &slot(), RunCommands::No, None)
        .await;
    assert!(matches!(shown.prepared, Prepared::Ready(_)));
    assert!(
        shown
            .output
            .unwrap()
            .unwrap_err()
            .starts_with("output.file:1: nothing fills `log`")
    );
}
