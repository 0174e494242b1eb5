//! `init`: a working folder with two jobs that pass.

use std::io::Write;
use std::path::Path;

use super::{CliError, Context, Exit, args};

/// The files of a new working folder; the jobs keep 45 minutes apart and off-peak.
const FILES: [(&str, &str); 3] = [
    ("jobs/daily-digest.yaml", DAILY_DIGEST),
    ("jobs/weekly-review.yaml", WEEKLY_REVIEW),
    ("jobs/prompts/digest.md", DIGEST_PROMPT),
];

const DAILY_DIGEST: &str = r#"description: Morning digest of my notes
cron: "0 5 * * *"                        # quotes: YAML takes an unquoted * for something else
timezone: Asia/Tokyo
inputs:
  notes: { file: notes.md, optional: true, max_bytes: 40k }
on_empty_input: skip                     # no notes, no call
prompt: { file: prompts/digest.md }
output: { file: "out/digest/{{ date }}.md" }
check: { min_chars: 80 }                 # a shorter answer is kept beside, never over a good one
"#;

const WEEKLY_REVIEW: &str = r#"description: Sunday's look back
cron: "45 5 * * sun"                     # 45 minutes after the digest: the two share a key
timezone: Asia/Tokyo
prompt:
  text: |
    Week {{ week }} is over. Ask me five short questions that help me plan the next one.
output: { file: "out/review/{{ week }}.md" }
"#;

const DIGEST_PROMPT: &str = "\
Today is {{ date }}. Sum up the notes below in five lines; name what is due today.

{{ notes }}
";

/// Makes the folder; refuses to touch a file that is there.
pub fn run(context: &Context, args: &args::Init, out: &mut dyn Write) -> Result<Exit, CliError> {
    let folder = args.target.as_ref().map_or_else(
        || context.global.folder.clone(),
        |target| context.path(target),
    );
    let folder = folder.strip_prefix(".").unwrap_or(&folder);
    if let Some((name, _)) = FILES.iter().find(|(name, _)| folder.join(name).exists()) {
        return Err(CliError::Refused {
            what: format!(
                "{} is there already; nothing was written",
                folder.join(name).display()
            ),
            help: "name another folder: offpeak init DIR".to_owned(),
        });
    }
    for (name, text) in FILES {
        write_new(&folder.join(name), text)?;
        writeln!(out, "wrote {}", folder.join(name).display())?;
    }
    let place = if folder == Path::new("") {
        String::new()
    } else {
        format!(" -C {}", folder.display())
    };
    writeln!(
        out,
        "\nNext:\n  offpeak{place} validate               is the schedule safe?"
    )?;
    writeln!(
        out,
        "  offpeak{place} dry-run weekly-review  what would be sent?"
    )?;
    writeln!(out, "  ANTHROPIC_API_KEY=… offpeak{place} daemon")?;
    Ok(Exit::Done)
}

fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |source| CliError::File {
        path: path.to_owned(),
        source,
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}
