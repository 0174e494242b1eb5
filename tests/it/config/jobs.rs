//! What right job files mean.

use std::path::Path;
use std::time::Duration;

use offpeak::config::{Options, embedded_jobs, load};
use offpeak::engine::PlannedJob;
use offpeak::job::{
    CacheTtl, Delivery, InputSource, JobId, JobState, OnEmptyInput, Presence, Previous,
    SystemBlock, TextSource,
};
use offpeak::schedule::defer::OnExhausted;
use offpeak::schedule::{DeferRule, Missed};

use super::{Folder, job};

fn only(folder: &Folder) -> PlannedJob {
    let config = load(&folder.options()).expect("one right job");
    assert_eq!(config.plan.jobs.len(), 1);
    let mut planned = config.plan.jobs.values().cloned();
    planned.next().expect("one right job")
}

/// A job that says everything.
const WHOLE_JOB: &str = r#"
description: Morning digest
enabled: false
cron: ["0 5 * * *", "0 6 * * sun"]
timezone: Europe/Berlin
key: archive
model: claude-haiku-4-5
max_tokens: 1234
timeout: 90s
missed: skip
defer: { to: own_slot, max: 1, expires_after: 2h, on_exhausted: fail }
retry: { max_attempts: 2, max_delay: 500ms }
system: { file: ../prompts/style.md, cache: 1h }
inputs:
  log:   { command: ["journalctl", "-n", 50, ""], max_bytes: 60k, timeout: 5s }
  notes: { file: /nonexistent/notes.md, optional: true }
on_empty_input: fail
prompt: { text: "{{ date }} {{ slot }} {{ week }} {{ job }} {{ log }} {{ notes }}" }
output: { file: "out/{{ date }}.md", keep_previous: true, command: ["mail", "me"] }
check: { min_chars: 200, contains: ["Summary"] }
notify: ops
thinking: adaptive
effort: low
answer_schema: { type: object }
tools: [web_search, { type: web_fetch_x, name: web_fetch, max_uses: 2 }]
service_tier: standard_only
request: { output_config: { zzz: 1 }, stop_sequences: [END], top: [1, 0.5, null, true], stream: false }
"#;

const WHOLE_JOB_SETTINGS: &str = "keys: { main: { env: A }, archive: { env: B, group: main } }\nnotify: { ops: { webhook_env: OPS } }\n";

fn whole_job() -> (Folder, PlannedJob) {
    let folder = Folder::new(&[
        ("offpeak.yaml", WHOLE_JOB_SETTINGS),
        ("jobs/digest.yaml", WHOLE_JOB),
        ("prompts/style.md", "Be brief."),
    ]);
    let planned = only(&folder);
    (folder, planned)
}

#[test]
fn a_job_says_who_it_is_and_when_it_fires() {
    let (_folder, planned) = whole_job();
    let job = &planned.job;
    assert_eq!(job.id, JobId::new("digest"));
    assert_eq!(job.description.as_deref(), Some("Morning digest"));
    assert_eq!(job.state, JobState::Disabled);
    assert_eq!((job.key.as_str(), job.group.as_str()), ("archive", "main"));
    assert_eq!(job.schedule.crons, ["0 5 * * *", "0 6 * * sun"]);
    assert_eq!(job.schedule.zone, "Europe/Berlin");
    let timetable = &planned.timetable;
    assert_eq!(
        (timetable.exprs().len(), timetable.zone().name()),
        (2, "Europe/Berlin")
    );
    assert_eq!(
        (job.timeout, job.notify.as_deref()),
        (Duration::from_secs(90), Some("ops"))
    );
}

#[test]
fn a_job_says_what_it_sends() {
    let (folder, planned) = whole_job();
    let jobs = folder.path().join("jobs");
    let template = &planned.job.template;
    assert_eq!(
        (template.model.as_str(), template.max_tokens),
        ("claude-haiku-4-5", 1234)
    );
    let style = jobs.join("../prompts/style.md");
    let block = SystemBlock {
        text: TextSource::File(style),
        cache: Some(CacheTtl::OneHour),
    };
    assert_eq!(template.system, [block]);
    assert!(
        matches!(&template.prompt, TextSource::Inline(text) if text.starts_with("{{ date }} {{ slot }}"))
    );
    assert_eq!(template.delivery, Delivery::Whole);
    let extra: Vec<String> = template
        .extra
        .iter()
        .map(|(name, json)| format!("{name}={json}"))
        .collect();
    assert_eq!(
        extra,
        [
            r#"thinking={"type":"adaptive"}"#,
            r#"output_config={"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}},"zzz":1}"#,
            r#"tools=[{"type":"web_search_20260318","name":"web_search"},{"type":"web_fetch_x","name":"web_fetch","max_uses":2}]"#,
            r#"service_tier="standard_only""#,
            r#"stop_sequences=["END"]"#,
            "top=[1,0.5,null,true]"
        ]
    );
    let [log, notes] = planned.job.inputs.as_slice() else {
        panic!("{:?}", planned.job.inputs)
    };
    assert_eq!(
        (log.name.as_str(), log.max_bytes, log.presence),
        ("log", 61_440, Presence::Required)
    );
    let argv = ["journalctl", "-n", "50", ""].map(str::to_owned).to_vec();
    assert_eq!(
        log.source,
        InputSource::Command {
            argv,
            folder: jobs,
            timeout: Duration::from_secs(5)
        }
    );
    assert_eq!(
        (notes.presence, &notes.source),
        (
            Presence::Optional,
            &InputSource::File("/nonexistent/notes.md".into())
        )
    );
    assert_eq!(planned.job.on_empty_input, OnEmptyInput::Fail);
}

#[test]
fn a_job_says_where_its_answer_goes_and_how_it_is_carried() {
    let (_folder, planned) = whole_job();
    let output = planned.job.output.as_ref().unwrap();
    assert_eq!(
        (output.file.as_deref(), output.previous),
        (Some("out/{{ date }}.md"), Previous::Keep)
    );
    assert_eq!(
        output.command.as_deref(),
        Some(&["mail".to_owned(), "me".to_owned()][..])
    );
    let check = &planned.job.check;
    assert_eq!(
        (check.min_chars, check.contains.as_slice()),
        (Some(200), &["Summary".to_owned()][..])
    );
    let retry = planned.retry;
    assert_eq!(
        (retry.max_attempts(), retry.max_delay()),
        (2, Duration::from_millis(500))
    );
    assert_eq!(
        retry.base_delay(),
        Duration::from_millis(500),
        "the cap lowers the first wait"
    );
    let defer = planned.defer;
    assert_eq!(
        (defer.rule, defer.max, defer.on_exhausted),
        (DeferRule::OwnSlot, 1, OnExhausted::Fail)
    );
    assert_eq!(defer.expires_after, Duration::from_hours(2));
    assert_eq!(planned.missed, Missed::Skip);
}

#[test]
fn what_a_job_does_not_say_comes_from_the_defaults() {
    let settings = "defaults: { timezone: UTC, model: m, max_tokens: 7, timeout: 3s, missed: skip, on_empty_input: send, inputs: { max_bytes: 9, timeout: 8s } }\n\
                    retry: { max_attempts: 2 }\ndefer: { max: 7 }\n";
    let text = "cron: \"0 5 * * *\"\ninputs: { a: { command: [x] } }\nprompt: { text: x }\n";
    let planned = only(&Folder::new(&[
        ("offpeak.yaml", settings),
        ("jobs/a.yaml", text),
    ]));
    let job = &planned.job;
    assert_eq!(job.schedule.zone, "UTC");
    assert_eq!(
        (
            job.template.model.as_str(),
            job.template.max_tokens,
            job.timeout
        ),
        ("m", 7, Duration::from_secs(3))
    );
    assert_eq!(
        (
            planned.missed,
            job.on_empty_input,
            planned.retry.max_attempts(),
            planned.defer.max
        ),
        (Missed::Skip, OnEmptyInput::Send, 2, 7)
    );
    assert_eq!(job.inputs[0].max_bytes, 9);
    assert!(
        matches!(job.inputs[0].source, InputSource::Command { timeout, .. } if timeout == Duration::from_secs(8))
    );
    assert_eq!(
        (
            job.state,
            job.template.delivery,
            job.output.as_ref(),
            job.notify.as_ref()
        ),
        (JobState::Enabled, Delivery::Stream, None, None)
    );
}

#[test]
fn anchors_and_merge_keys_share_fields() {
    let text = "jobs:\n  - &base { id: a, cron: \"0 4 * * *\", timezone: UTC, prompt: { text: x } }\n  - { <<: *base, id: b, cron: \"0 5 * * *\" }\n";
    let config = load(&Folder::new(&[("jobs/list.yaml", text)]).options()).unwrap();
    let crons: Vec<_> = config
        .plan
        .jobs
        .values()
        .map(|planned| {
            (
                planned.job.id.as_str(),
                planned.job.schedule.crons[0].as_str(),
            )
        })
        .collect();
    assert_eq!(crons, [("a", "0 4 * * *"), ("b", "0 5 * * *")]);
}

#[test]
fn job_files_are_those_directly_in_the_folder() {
    let folder = Folder::new(&[
        ("jobs/b.yml", &job("")),
        ("jobs/a.yaml", &job("")),
        ("jobs/.hidden.yaml", "no job"),
        ("jobs/notes.txt", "no job"),
        ("jobs/prompts/x.yaml", "no job"),
    ]);
    let names: Vec<String> = load(&folder.options())
        .unwrap()
        .plan
        .jobs
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn named_files_and_folders_take_the_place_of_the_jobs_folder() {
    let folder = Folder::new(&[
        ("jobs/a.yaml", "no job"),
        ("other/b.yaml", &job("")),
        ("c.txt", &job("")),
    ]);
    let path = |name: &str| folder.path().join(name);
    let options = Options {
        jobs: vec![path("other"), path("c.txt"), path("other/./b.yaml")],
        ..folder.options()
    };
    let names: Vec<String> = load(&options)
        .unwrap()
        .plan
        .jobs
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["b", "c"]);
}

#[test]
fn the_rotation_of_the_repository_is_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = load(&Options {
        jobs: vec![root.join("jobs")],
        ..Options::new(root)
    })
    .unwrap();
    let slots: Vec<_> = config
        .plan
        .jobs
        .values()
        .map(|planned| {
            (
                planned.job.schedule.crons[0].as_str(),
                planned.job.key.as_str(),
                planned.job.schedule.zone.as_str(),
            )
        })
        .collect();
    let tokyo = |cron| (cron, "main", "Asia/Tokyo");
    assert_eq!(
        slots,
        [
            tokyo("45 2 * * *"),
            tokyo("0 2 * * *"),
            tokyo("0 4 * * *"),
            tokyo("45 4 * * *")
        ]
    );
    let files = |source: &TextSource| matches!(source, TextSource::File(_));
    assert!(
        config
            .plan
            .jobs
            .values()
            .all(|planned| files(&planned.job.template.prompt))
    );
    // Its system prompt is shorter than what any model caches, so that a cache would be a false promise.
    let systems = config.plan.jobs.values().filter(|planned| {
        let is_plain_file =
            |block: &SystemBlock<TextSource>| files(&block.text) && block.cache.is_none();
        matches!(&planned.job.template.system[..], [block] if is_plain_file(block))
    });
    assert_eq!(systems.count(), 2);
}

#[test]
fn the_embedded_rotation_reads_like_the_folder() {
    let folder = Folder::new(embedded_jobs());
    let config = load(&folder.options()).unwrap();
    assert_eq!(config.plan.jobs.len(), 4);
}
