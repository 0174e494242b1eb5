//! What is known offline of a job's prompt.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::job::{
    CacheTtl, Check, Delivery, GroupId, Handing, JobState, KeyId, OnEmptyInput, Presence, Schedule,
    SystemBlock,
};

fn job(name: &str, system: Option<&str>, prompt: &str) -> Job {
    Job {
        then: Vec::new(),
        for_each: None,
        concurrency: 1,
        handing: Handing::Direct,
        fallback_model: None,
        max_cost: None,
        id: JobId::new(name),
        description: None,
        state: JobState::Enabled,
        key: KeyId::new("main"),
        group: GroupId::new("main"),
        schedule: Schedule {
            crons: Vec::new(),
            zone: "UTC".to_owned(),
        },
        template: Template {
            name: None,
            model: "claude-haiku-5-5".to_owned(),
            max_tokens: 100,
            system: system.map(cached).into_iter().collect(),
            prompt: TextSource::Inline(prompt.to_owned()),
            delivery: Delivery::Stream,
            extra: Vec::new(),
        },
        inputs: Vec::new(),
        on_empty_input: OnEmptyInput::Send,
        output: None,
        check: Check::default(),
        timeout: Duration::from_mins(1),
        notify: None,
    }
}

fn cached(text: &str) -> SystemBlock<TextSource> {
    SystemBlock {
        text: TextSource::Inline(text.to_owned()),
        cache: Some(CacheTtl::OneHour),
    }
}

fn input(name: &str, source: InputSource, max_bytes: usize) -> Input {
    Input {
        name: name.to_owned(),
        source,
        presence: Presence::Optional,
        max_bytes,
    }
}

fn file(path: impl Into<PathBuf>) -> InputSource {
    InputSource::File(path.into())
}

fn prompts() -> Prompts {
    Prompts::new(Models::embedded())
}

fn prompt(job: &Job) -> Prompt {
    prompts().of(job).unwrap()
}

fn identity(system: &str) -> Identity {
    prompt(&job("a", Some(system), "hi"))
        .prefixes
        .remove(0)
        .identity
}

#[test]
fn texts_count_by_their_estimate_and_the_system_prompt_is_the_prefix() {
    let whole = prompt(&job(
        "a",
        Some(&"word ".repeat(700)),
        &"word ".repeat(1_400),
    ));
    assert_eq!((whole.tokens, whole.more_tokens), (3_000, 0));
    let prefix = &whole.prefixes[0];
    assert_eq!(
        (prefix.tokens, prefix.cache),
        (1_000, Some(CacheTtl::OneHour))
    );
    assert_eq!(prompt(&job("a", None, "hi")).prefixes, []);
}

#[test]
fn files_count_by_their_size_up_to_the_cut_and_everything_else_may_add_as_much() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.md");
    std::fs::write(&path, [b'x'; 7_000]).unwrap();
    let mut job = job("a", None, "");
    job.inputs = vec![
        input("whole", file(&path), 7_000),
        input("cut", file(&path), 3_500),
        input("missing", file(folder.path().join("none.md")), 700),
        input(
            "command",
            InputSource::Command {
                argv: vec!["true".to_owned()],
                folder: folder.path().to_owned(),
                timeout: Duration::from_secs(1),
            },
            70,
        ),
    ];
    let prompt = prompt(&job);
    assert_eq!((prompt.tokens, prompt.more_tokens), (3_000, 220));
}

#[test]
fn prompt_file_is_read_once_and_one_that_is_missing_leaves_nothing_to_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.md");
    let mut job = job("a", None, "");
    job.template.prompt = TextSource::File(path.clone());
    let mut prompts = prompts();
    assert_eq!(prompts.of(&job), None);
    std::fs::write(&path, "word ".repeat(7)).unwrap();
    assert_eq!(prompts.of(&job), None, "what was found is kept");
    assert_eq!(self::prompts().of(&job).unwrap().tokens, 10);
}

#[test]
fn text_without_variables_is_the_same_at_every_slot() {
    assert!(matches!(identity("be brief"), Identity::Steady(_)));
    assert!(matches!(
        identity("a literal {{ '{{' }}"),
        Identity::Steady(_)
    ));
    assert!(matches!(identity("on {{ date }}"), Identity::Loose(_)));
    assert!(matches!(
        identity("{% if week %}x{% endif %}"),
        Identity::Loose(_)
    ));
    assert_eq!(identity("at {{ slot }}"), Identity::Fleeting);
    assert_eq!(identity("be brief"), identity("be brief"));
    assert_ne!(identity("be brief"), identity("be long"));
}

#[test]
fn job_name_makes_a_prompt_the_jobs_own() {
    let of = |name| {
        let job = job(name, Some("you are {{ job }}"), "hi");
        prompt(&job).prefixes.remove(0).identity
    };
    assert!(matches!(of("a"), Identity::Steady(_)));
    assert_eq!(of("a"), of("a"));
    assert_ne!(of("a"), of("b"));
}

#[test]
fn fields_before_the_system_prompt_belong_to_the_prefix() {
    let with = |field: &str, value: &str| {
        let mut job = job("a", Some("be brief"), "hi");
        job.template.extra = vec![(field.to_owned(), value.to_owned())];
        prompt(&job)
    };
    let plain = prompt(&job("a", Some("be brief"), "hi"));
    let tools = with("tools", "[{}]");
    assert_eq!(tools.tokens, plain.tokens + 2);
    let (plain, tools) = (&plain.prefixes[0], &tools.prefixes[0]);
    assert_eq!(tools.tokens, plain.tokens + 2);
    assert_ne!(tools.identity, plain.identity);
    assert_eq!(&with("temperature", "1").prefixes[0], plain);
}

#[test]
fn input_in_the_system_prompt_counts_to_the_prefix_by_the_most_it_may_be() {
    let mut job = job("a", Some("{{ log }}"), "hi");
    job.inputs = vec![input("log", file("/nowhere/log"), 7_000)];
    let prefix = &prompt(&job).prefixes[0];
    assert_eq!(prefix.tokens, 2_000 + estimate_tokens("{{ log }}"));
    assert!(matches!(prefix.identity, Identity::Loose(_)));
}

#[test]
fn every_breakpoint_ends_a_prefix_and_without_one_the_whole_system_prompt_is_one() {
    let blocks = |caches: [Option<CacheTtl>; 3]| {
        let mut job = job("a", None, "hi");
        let words = [700, 1_400, 350].map(|count| "word ".repeat(count));
        let blocks = words.into_iter().zip(caches);
        job.template.system = blocks
            .map(|(text, cache)| SystemBlock {
                text: TextSource::Inline(text),
                cache,
            })
            .collect();
        prompt(&job)
    };
    let (short, long) = (Some(CacheTtl::FiveMinutes), Some(CacheTtl::OneHour));
    let told = |caches| {
        let prefixes = blocks(caches).prefixes.into_iter();
        let told = prefixes.map(|it| (it.tokens, it.own_tokens, it.cache, it.block));
        told.collect::<Vec<_>>()
    };
    assert_eq!(
        told([long, None, short]),
        [
            (1_000, 1_000, long, Some(1)),
            (3_500, 2_500, short, Some(3))
        ]
    );
    assert_eq!(told([None, long, None]), [(3_000, 3_000, long, Some(2))]);
    assert_eq!(told([None; 3]), [(3_500, 3_500, None, Some(3))]);
    // A first block that a job of one block has is the same prefix; two blocks are not the text of both in one.
    let single = prompt(&job("b", Some(&"word ".repeat(700)), "hi"));
    let double = prompt(&job("b", Some(&"word ".repeat(2_100)), "hi"));
    let prefixes = blocks([long, long, None]).prefixes;
    assert_eq!(single.prefixes[0].identity, prefixes[0].identity);
    assert_ne!(double.prefixes[0].identity, prefixes[1].identity);
}

#[test]
fn long_prompt_has_its_own_price() {
    let models = Models::embedded();
    let fresh = |tokens| {
        model(&models, "claude-haiku-5-5", tokens)
            .price
            .unwrap()
            .fresh
    };
    assert!(fresh(100_000) < fresh(100_001));
    let mut prompts = prompts();
    let of = |prompts: &mut Prompts, words| {
        let job = job("a", None, &"word ".repeat(words));
        prompts.of(&job).unwrap().model.price.unwrap().fresh
    };
    assert!(of(&mut prompts, 70) < of(&mut prompts, 140_000));
    assert!(of(&mut prompts, 70) < of(&mut prompts, 140_000));
}

#[test]
fn model_that_is_not_in_the_table_may_have_a_near_name() {
    let models = Models::embedded();
    let known = |id: &str| model(&models, id, 0).known;
    assert_eq!(known("claude-sonnet-5-5"), Known::Yes);
    assert_eq!(known("claude-sonnet-4-5-20250929"), Known::Yes);
    assert_eq!(
        known("claude-sonet-5-5"),
        Known::Near("claude-sonnet-5-5".to_owned())
    );
    assert_eq!(
        known("claude-sonnet-55"),
        Known::Near("claude-sonnet-5-5".to_owned())
    );
    // A version that came out after this build is no mistake.
    assert_eq!(known("claude-sonnet-6-5"), Known::No);
    assert_eq!(known("my-own-gateway"), Known::No);
}

#[test]
fn end_and_successor_come_from_the_table() {
    let ended = model(&Models::embedded(), "claude-sonnet-4-5", 0);
    assert_eq!(ended.ends_on.unwrap().to_string(), "2026-11-30");
    assert_eq!(ended.successor.as_deref(), Some("claude-sonnet-5-5"));
    assert_eq!(ended.min_cacheable_tokens, Some(1_024));
}
