//! `steps`: what is read, and what is said about mistakes.

use offpeak::config::load;
use offpeak::job::{Job, SystemBlock, TextSource};

use super::{Folder, wrong_job};

const HEAD: &str = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\n";

/// What follows the schedule of a job, and everything wrong with it.
const MISTAKES: &[(&str, &str)] = &[
    (
        "steps: { id: a }",
        "3:1: bad-field: `steps`: expected a list of steps, found a map",
    ),
    (
        "steps:\n  - { id: a, prompt: { text: x } }",
        "3:1: bad-field: `steps`: 1 found, 2 to 5 expected; write a single call as `prompt`",
    ),
    (
        "steps: [1, 2, 3, 4, 5, 6]",
        "3:1: bad-field: `steps`: 6 found, 2 to 5 expected; let one prompt do the work of several steps",
    ),
    (
        "prompt: { text: x }\nsteps: []",
        "4:1: bad-field: `prompt` and `steps` exclude each other; keep one of them: what `prompt` says can be the first step",
    ),
    (
        "inputs: {}",
        "1:1: bad-field: the field `prompt` is missing; write `prompt: { file: PATH }` or `prompt: { text: … }`",
    ),
    (
        "steps:\n  - x\n  - { id: b, prompt: { text: x } }",
        "4:5: bad-field: `steps`: expected a step such as `{ id: outline, prompt: { file: outline.md } }`, found `x`",
    ),
    (
        "steps:\n  - { prompt: { text: x } }\n  - { id: b }",
        "4:7: bad-field: the field `id` is missing; name the step: later ones find its answer by that name, as in `id: outline`\n5:7: bad-field: the field `prompt` is missing; write `prompt: { file: PATH }` or `prompt: { text: … }`",
    ),
    (
        "steps:\n  - { id: a, prompt: { text: x }, efort: high }\n  - { id: b, prompt: { text: x } }",
        "4:35: bad-field: unknown field `efort`; known here: `id`, `model`, `max_tokens`, `system` and `prompt`",
    ),
    (
        "steps:\n  - { id: my-step, prompt: { text: x } }\n  - { id: item, prompt: { text: x } }",
        "4:11: bad-field: `my-step` is no name for a step; expected letters, digits and `_`; write `my_step`\n5:11: bad-field: the step `item` would hide the built-in variable of that name; give it another name",
    ),
    (
        "steps:\n  - { id: a, prompt: { text: x } }\n  - { id: a, prompt: { text: x } }",
        "5:11: bad-field: two steps are named `a`; rename one of them",
    ),
    (
        "inputs: { a: { command: [date] } }\nsteps:\n  - { id: a, prompt: { text: x } }\n  - { id: b, prompt: { text: x } }",
        "5:11: bad-field: the step `a` would hide the input of that name; rename one of them",
    ),
    (
        "steps:\n  - { id: a, prompt: { text: \"{{ b }}\" } }\n  - { id: b, prompt: { text: \"{{ a }}{{ b }}\" } }",
        "4:34: unknown-variable: nothing fills the variable `b`; known here: `date`, `slot`, `week` and `job`\n5:41: unknown-variable: nothing fills the variable `b`; known here: `date`, `slot`, `week`, `job` and `a`",
    ),
    (
        "system: { text: \"{{ a }}\" }\nsteps:\n  - { id: a, prompt: { text: x } }\n  - { id: b, prompt: { text: x } }",
        "3:21: unknown-variable: nothing fills the variable `a`; known here: `date`, `slot`, `week` and `job`",
    ),
    (
        "request: { stream: false }\nsteps:\n  - { id: a, prompt: { text: x }, max_tokens: 30000 }\n  - { id: b, prompt: { text: x } }",
        "3:20: bad-field: `stream`: an answer of up to 30000 tokens must be streamed: networks drop a silent connection after ten minutes; remove it, or set `max_tokens` to 21333 at most",
    ),
    (
        "steps:\n  - { id: a, prompt: { text: x } }\n  - { id: b, prompt: { text: x } }\noutput: { file: \"out/{{ a }}.md\" }",
        "6:25: unknown-variable: nothing fills the variable `a`; known here: `date`, `slot`, `week` and `job`",
    ),
];

#[test]
fn each_mistake_has_its_place_and_a_way_out() {
    for (text, expected) in MISTAKES {
        let expected: Vec<String> = expected
            .lines()
            .map(|line| format!("jobs/a.yaml:{line}"))
            .collect();
        assert_eq!(wrong_job(&format!("{HEAD}{text}")), expected, "{text}");
    }
}

fn read(text: &str) -> Job {
    let folder = Folder::new(&[("jobs/a.yaml", &format!("{HEAD}{text}"))]);
    let config = load(&folder.options()).expect("a right job");
    config.plan.jobs.values().next().unwrap().job.clone()
}

const CHAIN: &str = "
model: claude-haiku-4-5
max_tokens: 1000
system: { text: Be brief. }
effort: low
answer_schema: { type: object }
steps:
  - { id: outline, prompt: { text: Make an outline. } }
  - id: draft
    prompt: { text: \"Write it from {{ outline }}\" }
    model: claude-opus-5-5
    max_tokens: 8000
    system: { text: \"Long: {{ outline }}\" }
  - { id: check, prompt: { text: \"{{ outline }}{{ draft }}\" } }
";

#[test]
fn a_step_takes_from_the_job_what_it_does_not_say() {
    let job = read(CHAIN);
    let found: Vec<_> = job
        .chain()
        .map(|step| (step.name.as_deref().unwrap(), &*step.model, step.max_tokens))
        .collect();
    let expected = [
        ("outline", "claude-haiku-4-5", 1000),
        ("draft", "claude-opus-5-5", 8000),
        ("check", "claude-haiku-4-5", 1000),
    ];
    assert_eq!(found, expected);
    let system = |text: &str| [SystemBlock::plain(TextSource::Inline(text.to_owned()))];
    let systems: Vec<_> = job.chain().map(|step| &step.system[..]).collect();
    let (brief, long) = (system("Be brief."), system("Long: {{ outline }}"));
    assert_eq!(systems, [&brief[..], &long[..], &brief[..]]);
}

#[test]
fn only_the_last_step_is_asked_for_the_schema() {
    let job = read(CHAIN);
    let config = |step: &offpeak::job::Template| step.extra[0].1.clone();
    let found: Vec<String> = job.chain().map(config).collect();
    let effort = r#"{"effort":"low"}"#;
    let whole = r#"{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}}"#;
    assert_eq!(found, [effort, effort, whole]);
    assert!(job.check.schema.is_some());
}

#[test]
fn the_job_with_one_prompt_has_a_chain_of_one_step_without_a_name() {
    let job = read("prompt: { text: x }");
    assert!(job.then.is_empty() && job.template.name.is_none());
}
