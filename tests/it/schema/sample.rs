//! Files that are right and say everything, and the two judges of a changed one.

use std::sync::LazyLock;

use jsonschema::Validator;
use offpeak::config::{DEFAULTS, JOB_SCHEMA, SETTINGS_SCHEMA};
use serde_json::{Value, json};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `offpeak.yaml`.
    Settings,
    /// One job.
    Job,
    /// A job in a list.
    Listed,
}

/// A job that says everything, for lists too.
const JOB: &str = r#"
description: Morning digest
enabled: true
cron: "0 5 * * *"
timezone: Asia/Tokyo
key: main
model: claude-sonnet-5-5
max_tokens: 4000
timeout: 10m
missed: once
delivery: direct
max_cost: 0.5
defer: { to: own_slot, max: 1, expires_after: 2h, on_exhausted: fail }
retry: { max_attempts: 2, base_delay: 0s, max_delay: 1h, jitter_ratio: 0.5 }
system: { text: Be brief., cache: 1h }
inputs:
  log: { command: [date], max_bytes: 60k, timeout: 5s, optional: true }
  feed: { url: "https://example.org/feed.xml", header_env: { Authorization: FEED_TOKEN }, timeout: 5s }
for_each:
  lines: { url: "https://example.org/list", header_env: { Authorization: FEED_TOKEN }, timeout: 5s, optional: true }
  changed_since: last_success
  limit: 20
concurrency: 1
on_empty_input: skip
steps: [{ id: outline, prompt: { text: hello }, model: claude-sonnet-5-5, max_tokens: 4000, system: { text: Be brief. } }, { id: draft, prompt: { text: hello } }]
output:
  file: "out/{{ date }}-{{ item.name }}.md"
  keep_previous: true
  append: log/digest.md
  front_matter: true
  command: [mail, me]
  webhook_env: ANSWERS_URL
check: { min_chars: 200, contains: [Summary] }
notify: ops
thinking: { budget_tokens: 2000 }
effort: high
answer_schema: { file: digest.schema.json }
tools: [web_search]
service_tier: standard_only
request: { stop_sequences: [END], stream: true, output_config: { zzz: 1 } }
accept: { key-gap: staging key }
"#;

/// Settings that say everything that the built-in ones leave out; the first wait may be as long as any.
const SETTINGS: &str = r#"
keys: { main: { env: A, group: main } }
notify: { ops: { webhook_env: OPS_WEBHOOK_URL, format: json, on: [failed], timeout: 10s } }
deadman: { url_env: DEADMAN_URL, timeout: 10s }
rules: { peaks: { days: mon-fri }, severity: { key-gap: warn } }
retry: { base_delay: 0s, max_delay: 1h }
budget: { dollars: { day: 2.5, month: 40 } }
prices: { claude-foo-9: { input: 3, output: 15, cache_write_5m: 3.75, cache_write_1h: 6, cache_read: 0.3, as_of: 2026-11-01, over: { prompt_tokens: 100000, input: 6, output: 30, cache_write_5m: 7.5, cache_write_1h: 12, cache_read: 0.6 } } }
breaker: { cooldown: 1s, stale_after: 7d }
defer: { pickup: { main: ["30 5 * * *"] } }
defaults: { timezone: Asia/Tokyo }
"#;

/// The settings beside a job: it may only be tighter.
const BESIDE: &str = "keys: { main: { env: A } }\nnotify: { ops: { webhook_env: OPS_WEBHOOK_URL } }\nretry: { base_delay: 1h, max_delay: 1h }\n";

/// The files that examples name.
const FILES: [(&str, &str); 4] = [
    ("notes.md", "Be brief."),
    ("prompts/digest.md", "Be brief."),
    ("prompts/house-style.md", "Be brief."),
    ("digest.schema.json", "{}"),
];

static VALIDATORS: LazyLock<[Validator; 2]> = LazyLock::new(|| {
    [SETTINGS_SCHEMA, JOB_SCHEMA].map(|text| {
        let schema: Value = serde_json::from_str(text).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    })
});

static SAMPLES: LazyLock<[Value; 2]> = LazyLock::new(|| {
    let mut settings = json_of(DEFAULTS);
    merge(&mut settings, json_of(SETTINGS));
    [settings, json_of(JOB)]
});

impl Kind {
    /// Every kind of file.
    pub const ALL: [Self; 3] = [Self::Settings, Self::Job, Self::Listed];

    /// The map that the schema of this kind describes, right and with every field but those that exclude another.
    pub fn sample(self) -> Value {
        let [settings, job] = &*SAMPLES;
        match self {
            Self::Settings => settings.clone(),
            Self::Job => job.clone(),
            Self::Listed => {
                let mut job = job.clone();
                job["id"] = json!("digest");
                job
            }
        }
    }

    /// The whole file around such a map.
    pub fn document(self, map: Value) -> Value {
        match self {
            Self::Settings | Self::Job => map,
            Self::Listed => json!({ "jobs": [map] }),
        }
    }

    fn validator(self) -> &'static Validator {
        match self {
            Self::Settings => &VALIDATORS[0],
            Self::Job | Self::Listed => &VALIDATORS[1],
        }
    }
}

fn merge(lower: &mut Value, upper: Value) {
    match (lower, upper) {
        (Value::Object(lower), Value::Object(upper)) => {
            for (name, value) in upper {
                merge(lower.entry(name).or_insert(Value::Null), value);
            }
        }
        (lower, upper) => *lower = upper,
    }
}

/// YAML as an editor reads it: `yes` and `off` are texts.
pub fn json_of(text: &str) -> Value {
    yaml(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// As [`json_of`]; the error is the parser's.
pub fn yaml(text: &str) -> Result<Value, String> {
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(text, options).map_err(|error| error.to_string())
}

/// What the decoder says about a file.
pub fn wrong_in(kind: Kind, document: &Value) -> Vec<String> {
    wrong_in_text(kind, &document.to_string())
}

/// What the decoder says about a text.
pub fn wrong_in_text(kind: Kind, text: &str) -> Vec<String> {
    let right = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nkey: main\nprompt: { text: hello }\n";
    let (settings, job) = match kind {
        Kind::Settings => (text, right),
        Kind::Job | Kind::Listed => (BESIDE, text),
    };
    let mut files = vec![("offpeak.yaml", settings), ("jobs/digest.yaml", job)];
    let named = FILES.map(|(file, text)| (format!("jobs/{file}"), text));
    files.extend(named.iter().map(|(file, text)| (file.as_str(), *text)));
    crate::config::wrong(&files)
}

/// Whether the schema takes a file.
pub fn is_valid(kind: Kind, document: &Value) -> bool {
    kind.validator().is_valid(document)
}

/// What the schema says about a file.
pub fn errors(kind: Kind, document: &Value) -> Vec<String> {
    let errors = kind.validator().iter_errors(document);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn the_samples_are_right() {
    for kind in Kind::ALL {
        let document = kind.document(kind.sample());
        assert_eq!(wrong_in(kind, &document), [""; 0]);
        assert_eq!(errors(kind, &document), [""; 0]);
    }
}
