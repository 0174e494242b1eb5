//! What is taken for what jobs send.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::anthropic::estimate::estimate_tokens;
use crate::cli::args::{Format, Global};
use crate::config::Environment;
use crate::job::{CacheTtl, JobId};
use crate::money::Dollars;

const GUESS: Guess = Guess {
    unread_tokens: 1_500,
    answer_share: 0.4,
};

/// A working folder, and what is made of it.
struct Folder(TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn config(&self) -> (Context, Config) {
        let global = Global {
            folder: self.0.path().to_owned(),
            config: None,
            store: None,
            format: Format::Human,
        };
        let context = Context::new(global).within(self.0.path(), Environment::default());
        let config = context.read(&[]).config;
        (context, config)
    }

    fn read(&self) -> (Workload, Vec<String>) {
        let (context, config) = self.config();
        let at = "2026-12-01T00:14:00Z".parse().unwrap();
        let mut assumed = Assumed::default();
        let workload = workload(&context, &config, (GUESS, at), &mut assumed).unwrap();
        (workload, assumed.lines(&GUESS))
    }

    /// What the job `a` sends, and what was assumed.
    fn job(&self) -> (JobLoad, Vec<String>) {
        let (workload, assumed) = self.read();
        (workload.jobs[&JobId::new("a")].clone(), assumed)
    }
}

/// A job file with more fields.
fn job(more: &str) -> String {
    format!("cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\n{more}\n")
}

/// The one step of the job `a`, and what was assumed.
fn step(more: &str, files: &[(&str, &str)]) -> (crate::sim::trial::StepLoad, Vec<String>) {
    let text = job(more);
    let all = [&[("jobs/a.yaml", text.as_str())], files].concat();
    let (load, assumed) = Folder::with(&all).job();
    assert_eq!(load.steps.len(), 1);
    (load.steps[0].clone(), assumed)
}

/// A text of so many tokens.
fn words(tokens: usize) -> String {
    "x ".repeat(tokens * 7 / 4)
}

#[test]
fn a_stand_in_counts_as_many_tokens_as_it_stands_for() {
    for tokens in [0, 1, 2, 7, 1_499, 1_500] {
        assert_eq!(estimate_tokens(&stand_in(tokens)), tokens);
    }
    // A guess beyond all reason takes no more memory than a request may.
    assert_eq!(stand_in(u64::MAX).len(), (32 << 20) - 2);
}

#[test]
fn a_prompt_alone_needs_no_guess() {
    let (load, assumed) = step("prompt: { text: \"1234567\" }\nmax_tokens: 500", &[]);
    assert_eq!((load.input_tokens, load.max_tokens), (2, 500));
    assert_eq!(load.cached, None);
    assert_eq!(load.estimate.output_max, 500);
    assert!(load.estimate.cost > Some(Dollars::ZERO));
    assert!(assumed.is_empty(), "{assumed:?}");
}

#[test]
fn files_are_read_and_commands_are_not_run() {
    let inputs = "inputs:\n  notes: { file: notes.md }\n  log: { command: [touch, ran] }\n\
                  prompt: { text: \"{{ notes }}{{ log }}{{ log }}\" }";
    let text = job(inputs);
    let folder = Folder::with(&[("jobs/a.yaml", &text), ("jobs/notes.md", &words(200))]);
    let (load, assumed) = folder.job();
    assert_eq!(load.steps[0].input_tokens, 200 + 2 * 1_500);
    assert!(!folder.0.path().join("ran").exists());
    assert!(!folder.0.path().join("jobs/ran").exists());
    assert_eq!(
        assumed,
        ["a command that is not run, or an address, brings 1,500 tokens: `log` of `a`"]
    );
}

#[test]
fn input_that_cannot_be_read_counts_as_one_that_was_not() {
    let inputs = "inputs: { notes: { file: gone.md } }\nprompt: { text: \"{{ notes }}\" }";
    let (load, assumed) = step(inputs, &[]);
    assert_eq!(load.input_tokens, 1_500);
    assert_eq!(
        assumed,
        ["a file that cannot be read holds 1,500 tokens: `notes` of `a`"]
    );
}

#[test]
fn prompt_that_cannot_be_read_is_a_request_of_unknown_text() {
    let (load, assumed) = step("prompt: { file: gone.md }", &[]);
    assert_eq!((load.input_tokens, load.cached), (1_500, None));
    assert_eq!(
        assumed,
        ["a request that cannot be made now has 1,500 tokens and no cached part: `a`"]
    );
}

#[test]
fn optional_input_that_is_not_there_is_empty_and_so_is_the_slot() {
    let inputs = "inputs: { notes: { file: gone.md, optional: true } }\n\
                  prompt: { text: \"1234567{{ notes }}\" }";
    let (load, _) = step(&format!("{inputs}\non_empty_input: send"), &[]);
    assert_eq!(load.input_tokens, 2);
    let (load, assumed) = step(inputs, &[]);
    assert_eq!(load.input_tokens, 1_502);
    assert_eq!(
        assumed,
        ["inputs that are all empty now hold 1,500 tokens each at a slot: `a`"]
    );
}

#[test]
fn stand_in_is_cut_where_the_input_would_be() {
    let inputs =
        "inputs: { log: { command: [date], max_bytes: 700 } }\nprompt: { text: \"{{ log }}\" }";
    let (load, _) = step(inputs, &[]);
    assert_eq!(load.input_tokens, 200);
}

#[test]
fn a_prefix_is_cached_from_the_least_size_of_its_model_on() {
    let of = |tokens: usize| {
        let system = format!(
            "model: claude-sonnet-5-5\nsystem: {{ text: \"{}\", cache: 1h }}\nprompt: {{ text: hello }}",
            words(tokens)
        );
        step(&system, &[]).0.cached
    };
    let models = Models::embedded();
    let least = models
        .find("claude-sonnet-5-5")
        .and_then(|model| model.min_cacheable_tokens);
    let least = usize::try_from(least.unwrap()).unwrap();
    assert_eq!(of(least - 2), None);
    let cached = of(least + 2).unwrap();
    assert!(cached.tokens >= least as u64);
    assert_eq!(cached.ttl, CacheTtl::OneHour);
}

#[test]
fn equal_prefixes_of_one_group_share_a_mark_and_others_do_not() {
    let text = |ending: &str| {
        job(&format!(
            "system: {{ text: \"{}{ending}\", cache: 5m }}\nprompt: {{ text: hello }}",
            words(9_000)
        ))
    };
    let (one, other) = (text("one"), text("two"));
    let folder = Folder::with(&[
        ("jobs/a.yaml", &one),
        ("jobs/b.yaml", &one),
        ("jobs/c.yaml", &other),
    ]);
    let (workload, _) = folder.read();
    let mark = |name: &str| {
        let cached = workload.jobs[&JobId::new(name)].steps[0].cached;
        cached.unwrap().mark
    };
    assert_eq!(mark("a"), mark("b"));
    assert_ne!(mark("a"), mark("c"));
}

#[test]
fn prefix_that_names_its_slot_is_never_read_and_one_that_names_its_day_is() {
    let of = |variable: &str| {
        let system = format!(
            "system: {{ text: \"{}{{{{ {variable} }}}}\", cache: 1h }}\nprompt: {{ text: hello }}",
            words(9_000)
        );
        step(&system, &[])
    };
    let (load, assumed) = of("slot");
    assert_eq!(load.cached, None);
    assert_eq!(
        assumed,
        [
            "a cached part that is another at each slot or item, or cannot be told, is never read: `a`"
        ]
    );
    let (load, assumed) = of("date");
    assert!(load.cached.is_some() && assumed.is_empty(), "{assumed:?}");
}

#[test]
fn prefix_beside_an_item_that_cannot_be_read_is_taken_for_another() {
    let system = format!(
        "for_each: {{ files: \"docs/*.md\" }}\nsystem: {{ text: \"{}\", cache: 1h }}\nprompt: {{ text: \"{{{{ item.text }}}}\" }}",
        words(9_000)
    );
    let text = job(&system);
    let folder = Folder::with(&[
        ("jobs/a.yaml", &text),
        ("jobs/docs/a.md", "one"),
        ("jobs/docs/b.md", "two"),
    ]);
    assert!(folder.job().0.steps[0].cached.is_some());
    fs::write(folder.0.path().join("jobs/docs/a.md"), [0xFF]).unwrap();
    let (load, assumed) = folder.job();
    assert_eq!(load.steps[0].cached, None);
    let line =
        "a cached part that is another at each slot or item, or cannot be told, is never read: `a`";
    assert!(assumed.contains(&line.to_owned()), "{assumed:?}");
}

#[test]
fn items_are_counted_up_to_the_limit_and_the_middle_one_is_sent() {
    let list = "for_each: { files: \"docs/*.md\", changed_since: last_success, limit: 2 }\nprompt: { text: \"{{ item.text }}\" }";
    let text = job(list);
    let sizes = [10, 5_000, 300].map(words);
    let files = [
        ("jobs/a.yaml", &text),
        ("jobs/docs/a.md", &sizes[0]),
        ("jobs/docs/b.md", &sizes[1]),
        ("jobs/docs/c.md", &sizes[2]),
    ]
    .map(|(name, text)| (name, text.as_str()));
    let (load, assumed) = Folder::with(&files).job();
    assert_eq!(load.items, Some(2));
    assert_eq!(load.steps[0].input_tokens, 300);
    assert_eq!(
        assumed,
        [
            "all items have changed at each slot, up to the limit: `a`",
            "all items are as large as the middle one: `a`"
        ]
    );
}

#[test]
fn items_that_only_a_command_knows_are_ten() {
    let list = "for_each: { lines: { command: [ls] } }\nprompt: { text: \"{{ item.text }}\" }";
    let text = job(list);
    let (load, assumed) = Folder::with(&[("jobs/a.yaml", &text)]).job();
    assert_eq!(load.items, Some(10));
    assert_eq!(load.steps[0].input_tokens, 1_500);
    assert_eq!(
        assumed,
        ["items that are not known before a slot are 10: `a`"]
    );
}

#[test]
fn job_without_an_item_now_has_none() {
    let list = "for_each: { lines: { file: list.txt } }\nprompt: { text: \"{{ item.text }}\" }";
    let text = job(list);
    let (load, assumed) = Folder::with(&[("jobs/a.yaml", &text), ("jobs/list.txt", "\n")]).job();
    assert_eq!(load.items, Some(0));
    assert_eq!(load.steps.len(), 1);
    assert!(
        assumed.contains(&"a job without an item now has none at any slot: `a`".to_owned()),
        "{assumed:?}"
    );
}

#[test]
fn later_step_repeats_a_share_of_the_answers_before_it() {
    let steps = "max_tokens: 1000\nsteps:\n  - { id: draft, prompt: { text: hello } }\n  \
                 - { id: mend, prompt: { text: \"{{ draft }}\" } }";
    let text = job(steps);
    let (load, assumed) = Folder::with(&[("jobs/a.yaml", &text)]).job();
    let tokens: Vec<u64> = load.steps.iter().map(|step| step.input_tokens).collect();
    assert_eq!(tokens, [2, 400]);
    assert_eq!(
        assumed,
        ["an answer that a later step repeats has 0.4 of its `max_tokens`: `a`"]
    );
}

#[test]
fn disabled_job_sends_nothing() {
    let text = job("enabled: false\nprompt: { text: hello }");
    let other = job("prompt: { text: hello }");
    let (workload, _) = Folder::with(&[("jobs/a.yaml", &text), ("jobs/b.yaml", &other)]).read();
    let names: Vec<&str> = workload.jobs.keys().map(JobId::as_str).collect();
    assert_eq!(names, ["b"]);
}

#[test]
fn names_beyond_the_fourth_are_counted() {
    let mut assumed = Assumed::default();
    for name in ["a", "b", "c", "d", "e", "f"] {
        assumed.note(Kind::NoItem, &JobId::new(name), None);
    }
    let line = "a job without an item now has none at any slot: `a`, `b`, `c`, `d`, and 2 more";
    assert_eq!(assumed.lines(&GUESS), [line]);
}
