//! Mistakes that people make: what the schema refuses, the decoder refuses too, and most of it the other way round.

use super::sample::{Kind, errors, json_of, wrong_in_text};

/// Who sees a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Schema and decoder.
    Both,
    /// The decoder alone: it knows the grammar, the calendar, the other files.
    Decoder,
}
use Seen::{Both, Decoder};

/// A line that a job gets besides `timezone: Asia/Tokyo`.
const JOBS: &[(&str, Seen)] = &[
    ("prompt: { text: a }", Both),
    ("cron: '0 5 * * *'", Both),
    ("cron: '0 5 * *'\nprompt: { text: a }", Both),
    ("cron: '0 0 5 * * *'\nprompt: { text: a }", Both),
    ("cron: '0, 30 5 * * *'\nprompt: { text: a }", Both),
    ("cron: '@reboot'\nprompt: { text: a }", Both),
    ("cron: '@dayly'\nprompt: { text: a }", Both),
    ("cron: '0 27 * * *'\nprompt: { text: a }", Both),
    ("cron: '60 5 * * *'\nprompt: { text: a }", Both),
    ("cron: '0 5 ? * *'\nprompt: { text: a }", Both),
    ("cron: 5\nprompt: { text: a }", Both),
    ("cron: []\nprompt: { text: a }", Both),
    ("cron: ['0 5 * * *', '']\nprompt: { text: a }", Both),
    ("cron: '0 5 32 * *'\nprompt: { text: a }", Decoder),
    ("cron: '0 5 * * monday'\nprompt: { text: a }", Decoder),
    ("cron: '50-10 5 * * *'\nprompt: { text: a }", Decoder),
    ("cron: '0 5 * * *'\nprompt: hello", Both),
    ("cron: '0 5 * * *'\nprompt: { text: a, file: b.md }", Both),
    ("cron: '0 5 * * *'\nprompt: {}", Both),
    ("cron: '0 5 * * *'\nprompt: { text: '  ' }", Both),
    ("cron: '0 5 * * *'\nprompt: { text: '{{ lgo }}' }", Decoder),
    ("cron: '0 5 * * *'\nprompt: { file: gone.md }", Decoder),
];

/// A line that a right job gets.
const LINES: &[(&str, Seen)] = &[
    ("timezone: JST", Both),
    ("timezone: +09:00", Both),
    ("timezone: Asia/Tokio", Decoder),
    ("key: a b", Both),
    ("key: nobody", Decoder),
    ("notify: nobody", Decoder),
    ("modle: claude-sonnet-5-5", Both),
    ("model: claude sonnet", Both),
    ("model: [a]", Both),
    ("id: digest", Both),
    ("jobs: []", Both),
    ("enabled: yes", Both),
    ("description: 7", Both),
    ("max_tokens: many", Both),
    ("max_tokens: 0.5", Both),
    ("timeout: 10", Both),
    ("timeout:", Both),
    ("missed: onc", Both),
    ("system: { file: gone.md, cache: 2h }", Both),
    ("system: { cache: 1h }", Both),
    ("inputs: [notes.md]", Both),
    ("inputs: { notes: notes.md }", Both),
    (
        "inputs: { notes: { file: notes.md, command: [cat] } }",
        Both,
    ),
    ("inputs: { notes: { optional: true } }", Both),
    ("inputs: { notes: { file: notes.md, timeout: 5s } }", Both),
    ("inputs: { my-notes: { file: notes.md } }", Both),
    ("inputs: { date: { file: notes.md } }", Both),
    ("inputs: { log: { command: journalctl -n 5 } }", Both),
    ("inputs: { log: { command: [] } }", Both),
    ("inputs: { log: { command: [''] } }", Decoder),
    ("output: out.md", Both),
    ("output: { keep_previous: true }", Both),
    ("output: { command: [mail], keep_previous: true }", Both),
    ("output: { file: out/ }", Decoder),
    ("check: 200", Both),
    ("check: { contains: [a, 1] }", Both),
    ("retry: { max_attempts: 4 }", Both),
    ("retry: { max_delay: 2h }", Both),
    ("defer: { to: next }", Both),
    ("defer: { pickup: ['30 5 * * *'] }", Both),
    ("request: { model: x }", Both),
    ("request: { messages: [] }", Both),
    ("max_tokens: 30000\nrequest: { stream: false }", Decoder),
    ("accept: { bad-cron: it is fine }", Both),
    ("accept: { key-gap: }", Both),
    ("accept: [key-gap]", Both),
    ("for_each: {}", Both),
    ("for_each: '*.md'", Both),
    (
        "for_each: { files: '*.md', lines: { file: notes.md } }",
        Both,
    ),
    ("for_each: { files: '[' }", Decoder),
    ("for_each: { files: '*.md', limit: 3 }", Both),
    (
        "for_each: { files: '*.md', changed_since: yesterday }",
        Both,
    ),
    (
        "for_each: { lines: { file: notes.md, max_bytes: 3 } }",
        Both,
    ),
    (
        "for_each: { lines: { file: notes.md, header_env: { A: B } } }",
        Both,
    ),
    (
        "for_each: { records: { url: https://me:pass@example.org } }",
        Both,
    ),
    ("delivery: later", Both),
    ("delivery: batch\nfallback_model: claude-opus-5-5", Both),
    ("concurrency: 2", Both),
    ("for_each: { files: '*.md' }\nconcurrency: 17", Both),
    ("for_each: { files: '*.md' }\non_empty_input: send", Decoder),
    ("max_cost: 0", Both),
    ("max_cost: $1", Both),
    ("max_cost: 1000001", Both),
    ("steps: [{ prompt: { text: a } }]", Both),
    ("fallback_model: claude haiku", Both),
    ("fallback_model: claude-sonnet-5-5", Decoder),
];

const SETTINGS: &[(&str, Seen)] = &[
    ("budget: { dollars: { day: 0 } }", Both),
    ("budget: { dollars: 2.50 }", Both),
    ("budget: { dollars: { week: 3 } }", Both),
    ("prices: { a: { input: 3 } }", Both),
    ("prices: { a: { input: 3, output: -1 } }", Both),
    (
        "prices: { a: { input: 3, output: 1, over: { input: 3, output: 1 } } }",
        Both,
    ),
    ("prices: { a: { input: 3, output: 1, as_of: soon } }", Both),
    ("[]", Both),
    ("key: { main: { env: A } }", Both),
    ("keys: {}", Both),
    ("keys: { main: sk-ant-api03-abc }", Both),
    ("keys: { main: { env: A, file: b } }", Both),
    ("keys: { main: {} }", Both),
    ("keys: { main: { key: abc } }", Both),
    ("keys: { main: { env: sk-ant-api03-abc } }", Both),
    ("keys: { 'a b': { env: A } }", Both),
    ("keys: { main: { env: A, credential: b } }", Both),
    ("keys: { main: { credential: ../b } }", Both),
    ("keys: { main: { credential: .. } }", Both),
    ("keys: { main: { credential: '' } }", Both),
    ("keys: { main: { env: A, allow_exposed: true } }", Both),
    ("keys: { main: { file: b, allow_exposed: 1 } }", Both),
    ("upstream: { base_url: api.anthropic.com }", Both),
    ("upstream: { base_url: 'http://host/?a=b' }", Both),
    ("upstream: { base_url: 'http://me:pw@host' }", Decoder),
    ("upstream: { version: 2023-6-1 }", Both),
    ("upstream: { version: '2023- 6- 1' }", Both),
    ("upstream: { version: 2023-13-01 }", Decoder),
    ("upstream: { auth: basic }", Both),
    ("upstream: { timeout: 5m }", Both),
    ("upstream: { max_answer_bytes: 33m }", Decoder),
    ("upstream: { max_answer_bytes: 5x }", Both),
    ("rules: { min_gap: 15 }", Both),
    ("rules: { peaks: { timezone: JST } }", Both),
    ("rules: { peaks: { days: monday } }", Both),
    ("rules: { peaks: { days: 1-5 } }", Both),
    ("rules: { peaks: { days: mon-fry } }", Decoder),
    ("rules: { peaks: { windows: ['7-9'] } }", Both),
    ("rules: { peaks: { windows: ['07:60-08:00'] } }", Both),
    ("rules: { peaks: { windows: ['07:00-07:00'] } }", Decoder),
    ("rules: { severity: { key-gap: warning } }", Both),
    ("rules: { severity: { key-gap: false } }", Both),
    ("rules: { severity: { bad-cron: off } }", Both),
    ("rules: { severity: off }", Both),
    ("retry: { base_delay: 2m, max_delay: 1m }", Decoder),
    ("breaker: { cooldown: 5m, stale_after: 5m }", Decoder),
    ("budget: 30", Both),
    ("defer: { pickup: }", Both),
    ("defer: { pickup: { main: [] } }", Both),
    ("defer: { pickup: { nobody: '30 5 * * *' } }", Decoder),
    ("defer: { pickup: daily }", Both),
    ("defaults: { cron: '0 5 * * *' }", Both),
    ("defaults: { inputs: { optional: true } }", Both),
    ("store: .offpeak", Both),
    ("notify: { ops: { url: 'https://example.com' } }", Both),
    ("notify: { ops: https://example.com }", Both),
    ("notify: { ops: { webhook_env: A, command: [b] } }", Both),
    ("notify: { ops: { command: [b], format: json } }", Both),
    ("notify: { ops: { command: [] } }", Both),
    ("notify: { ops: { command: b } }", Both),
    ("notify: { ops: { webhook_env: A, on: [] } }", Both),
    ("notify: { ops: { webhook_env: A, on: [paused] } }", Both),
    ("notify: { ops: { webhook_env: A, on: failed } }", Both),
    ("notify: { ops: { webhook_env: A, timeout: 0s } }", Both),
    ("notify: { ops: { format: json } }", Both),
    ("deadman: https://example.com", Both),
    ("deadman: { url: 'https://example.com' }", Both),
    ("deadman: { url_env: 'https://example.com' }", Both),
];

#[test]
fn what_the_schema_refuses_the_decoder_refuses() {
    let base = "cron: '0 5 * * *'\nprompt: { text: hello }\n";
    let whole = JOBS
        .iter()
        .map(|(text, seen)| (Kind::Job, format!("timezone: Asia/Tokyo\n{text}\n"), *seen));
    let lines = LINES.iter().map(|(line, seen)| {
        let zone = ["", "timezone: Asia/Tokyo\n"][usize::from(!line.starts_with("timezone"))];
        (Kind::Job, format!("{base}{zone}{line}\n"), *seen)
    });
    let settings = SETTINGS
        .iter()
        .map(|(text, seen)| (Kind::Settings, (*text).to_owned(), *seen));
    for (kind, text, seen) in whole.chain(lines).chain(settings) {
        let wrong = wrong_in_text(kind, &text);
        assert!(!wrong.is_empty(), "the decoder takes it: {text}");
        let errors = errors(kind, &json_of(&text));
        let both = !errors.is_empty();
        assert_eq!(both, seen == Both, "{text}: {errors:?}");
    }
}

// Whether `defaults` name a zone stands in another file, which the schema of a job does not see.
#[test]
fn a_job_without_a_zone_is_right_beside_settings_that_name_one() {
    let job = "cron: '0 5 * * *'\nprompt: { text: hello }\n";
    let settings = "defaults: { timezone: Asia/Tokyo }\n";
    let wrong = crate::config::wrong(&[("offpeak.yaml", settings), ("jobs/digest.yaml", job)]);
    assert_eq!(wrong, [""; 0]);
    assert_eq!(errors(Kind::Job, &json_of(job)), [""; 0]);
    assert_eq!(wrong_in_text(Kind::Job, job).len(), 1);
}

#[test]
fn an_empty_section_changes_nothing_for_both() {
    let sections =
        "keys upstream rules retry budget breaker defer defaults store daemon notify deadman";
    let settings = sections.split(' ').map(|name| (Kind::Settings, name, ""));
    let base = "cron: '0 5 * * *'\nprompt: { text: hello }\ntimezone: Asia/Tokyo\nkey: main\n";
    let job = ["inputs", "check", "retry", "defer", "request", "accept"];
    let job = job.map(|name| (Kind::Job, name, base));
    for (kind, name, before) in settings.chain(job) {
        let text = format!("{before}{name}:\n");
        assert_eq!(wrong_in_text(kind, &text), [""; 0], "{text}");
        let errors = errors(kind, &json_of(&text));
        assert!(errors.is_empty(), "{text}: {errors:?}");
    }
}
