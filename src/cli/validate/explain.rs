//! `validate --explain`: what a rule means, without looking at any file.

use std::io::Write;

use serde_json::{Value, json};

use crate::cli::rulebook::{self, Section};
use crate::cli::{CliError, Context, Exit, linting};
use crate::lint::{Rule, Severity};

/// Prints the section of a rule, or a line for each rule.
pub fn run(context: &Context, asked: Option<&str>, out: &mut dyn Write) -> Result<Exit, CliError> {
    match asked {
        None => list(context, out)?,
        Some(name) => {
            let section = rulebook::section(name).ok_or_else(|| unknown(name))?;
            one(context, &section, out)?;
        }
    }
    Ok(Exit::Done)
}

fn unknown(name: &str) -> CliError {
    let known: Vec<&str> = rulebook::sections().map(|section| section.name).collect();
    CliError::Refused {
        what: format!("there is no rule `{name}`"),
        help: linting::nearest("rule", name, &known),
    }
}

fn one(context: &Context, section: &Section, out: &mut dyn Write) -> std::io::Result<()> {
    let text = rulebook::plain(section.body);
    if context.is_json() {
        return writeln!(out, "{}", twin(section, "text", &text));
    }
    let name = context.screen.styled("1", section.name);
    writeln!(out, "{name}\n\n{}", text.trim_end())
}

fn list(context: &Context, out: &mut dyn Write) -> std::io::Result<()> {
    if context.is_json() {
        let rules = rulebook::sections().map(|section| twin(&section, "summary", section.summary));
        let rules: Vec<Value> = rules.collect();
        return writeln!(out, "{}", json!({ "version": 1, "rules": rules }));
    }
    let names = rulebook::sections().map(|section| section.name.len());
    let width = names.max().unwrap_or_default();
    for section in rulebook::sections() {
        let severity = format!("{:<7}", section.severity().as_str());
        let style = match section.severity() {
            Severity::Error => "1;31",
            Severity::Warning => "1;33",
        };
        let severity = context.screen.styled(style, &severity);
        writeln!(
            out,
            "{severity}  {:<width$}  {}",
            section.name, section.summary
        )?;
    }
    Ok(())
}

fn twin(section: &Section, text_name: &str, text: &str) -> Value {
    let may = |question: fn(Rule) -> bool| section.rule().is_some_and(question);
    json!({
        "rule": section.name,
        "severity": section.severity().as_str(),
        "settable": may(Rule::is_settable),
        "acceptable": may(Rule::is_acceptable),
        text_name: text,
    })
}
