//! The README's commands and YAML work as printed.

use std::fs;

use crate::scenario::{Scenario, repository};

fn readme() -> String {
    fs::read_to_string(repository().join("README.md")).unwrap()
}

/// The fenced blocks of a language.
pub fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info == language, String::new())),
            (Some(_), Some(_)) => {
                found.extend(open.take().filter(|block| block.0).map(|block| block.1));
            }
            (Some((_, text)), None) => text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    found
}

/// Commands of a console block, each with the output that stands below it.
fn commands(block: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => found.push((command.to_owned(), String::new())),
            None => found.last_mut().unwrap().1.extend([line, "\n"]),
        }
    }
    found
}

#[test]
fn the_commands_print_what_the_readme_shows() {
    let scenario = Scenario::new()
        .env("LANG", "C.UTF-8")
        .file("collision/jobs/legal-audit.yaml", &job("0 16 1 1,4,7,10 *"))
        .file("collision/jobs/seo-audit.yaml", &job("10 16 * * mon"));
    let mut shown = 0;
    for (command, expected) in blocks(&readme(), "console")
        .iter()
        .flat_map(|block| commands(block))
    {
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[0], "offpeak", "{command}");
        let done = scenario.run(&words[1..]);
        assert_eq!(
            done.stdout.trim_end(),
            expected.trim_end(),
            "$ {command}\n{}",
            done.stderr
        );
        shown += 1;
    }
    assert!(shown >= 4, "the README shows {shown} commands");
}

fn job(cron: &str) -> String {
    format!("cron: \"{cron}\"\ntimezone: UTC\nprompt: {{ text: Audit the site. }}\n")
}

#[test]
fn the_yaml_of_the_readme_passes() {
    let readme = readme();
    let yaml = blocks(&readme, "yaml");
    let scenario = Scenario::new()
        .file("jobs/digest.yaml", &yaml[0])
        .file("offpeak.yaml", &yaml[1])
        .file("jobs/prompts/house-style.md", "Be brief.")
        .file("jobs/prompts/digest.md", "{{ date }} {{ log }} {{ notes }}");
    scenario.run(&["validate", "--from", "2026-12-01"]).exits(0);
    Scenario::new()
        .job("other", "0 5 * * *")
        .file("offpeak.yaml", &yaml[2])
        .file("jobs/staging.yaml", &yaml[3])
        .run(&["validate", "--from", "2026-12-01"])
        .exits(0)
        .says("accepted: a staging key of its own soon");
}

#[test]
fn every_command_of_the_help_is_in_the_readme() {
    let readme = readme();
    let help = Scenario::new().run(&["--help"]).exits(0).stdout;
    let listed = help
        .split("Commands:")
        .nth(1)
        .unwrap()
        .split("Options:")
        .next()
        .unwrap();
    let mut count = 0;
    for line in listed
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
    {
        let name = line.split_whitespace().next().unwrap();
        assert!(
            readme.contains(&format!("| `{name}")) || readme.contains(&format!(", `{name}`")),
            "{name}"
        );
        count += 1;
    }
    assert!(count >= 12, "{help}");
}

#[test]
fn the_exit_codes_of_the_help_are_in_the_readme() {
    let readme = readme();
    for code in offpeak::cli::Exit::ALL {
        let code = code.code().to_string();
        assert!(
            readme
                .lines()
                .any(|line| line.starts_with("| ") && line.contains(&code)),
            "{code}"
        );
    }
}
