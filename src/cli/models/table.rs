//! The models for people.

use std::io::{Result, Write};

use super::{Problem, Section, Standing};
use crate::anthropic::{Lifecycle, Listed, Models};
use crate::cli::{Context, linting};
use crate::report::{Align, lay_out};

/// What stands where nothing is known.
const UNKNOWN: &str = "-";

const HEAD: [&str; 7] = [
    "model",
    "lifecycle",
    "retires",
    "input",
    "output",
    "$ in / out",
    "jobs",
];

const ALIGNS: [Align; 7] = [
    Align::Left,
    Align::Left,
    Align::Left,
    Align::Right,
    Align::Right,
    Align::Left,
    Align::Left,
];

/// Prints every section, then what is wrong.
pub fn print(
    context: &Context,
    sections: &[Section<'_>],
    table: &Models,
    out: &mut dyn Write,
) -> Result<()> {
    for section in sections {
        let count = linting::counted(section.models.len(), "model");
        writeln!(
            out,
            "key {}, group {}: {count}\n",
            section.key, section.group
        )?;
        let rows = section
            .models
            .iter()
            .map(|model| row(section, model, table));
        let head = HEAD.map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = [head].into_iter().chain(rows).collect();
        writeln!(out, "{}", lay_out(&rows, &ALIGNS, context.screen.width))?;
    }
    writeln!(
        out,
        "input and output: the most tokens; $: dollars a million tokens, by the table of {}",
        table.as_of()
    )?;
    for section in sections {
        for problem in &section.problems {
            let word = if problem.standing.fails() {
                context.screen.styled("1;31", "error:")
            } else {
                context.screen.styled("1;33", "warning:")
            };
            writeln!(
                out,
                "\n{word} {}\n{}",
                words(section, problem),
                problem.help
            )?;
        }
    }
    Ok(())
}

fn row(section: &Section<'_>, model: &Listed, table: &Models) -> Vec<String> {
    let day = |at: chrono::DateTime<chrono::Utc>| at.date_naive().to_string();
    let word = model.lifecycle.as_ref().map(Lifecycle::as_str);
    let lifecycle = [word.map(str::to_owned), model.deprecated_at.map(day)];
    let lifecycle: Vec<String> = lifecycle.into_iter().flatten().collect();
    let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    vec![
        model.id.clone(),
        known((!lifecycle.is_empty()).then(|| lifecycle.join(" "))),
        known(model.retires_at.map(day)),
        known(model.max_input_tokens.map(tokens)),
        known(model.max_tokens.map(tokens)),
        known(price(&model.id, table)),
        section.jobs_of(model).join(", "),
    ]
}

/// `1M`, `128k`, or the number where it is not round.
fn tokens(count: u64) -> String {
    match count {
        0 => "0".to_owned(),
        _ if count.is_multiple_of(1_000_000) => format!("{}M", count / 1_000_000),
        _ if count.is_multiple_of(1_000) => format!("{}k", count / 1_000),
        _ => count.to_string(),
    }
}

/// `2 / 10`; with a step for long prompts `0.1 / 0.5, over 100k 0.5 / 2.5`.
fn price(id: &str, table: &Models) -> Option<String> {
    let model = table.find(id)?;
    let price = model.price?;
    let usual = format!("{} / {}", price.input.as_f64(), price.output.as_f64());
    Some(match model.long_prompt {
        None => usual,
        Some(long) => format!(
            "{usual}, over {} {} / {}",
            tokens(long.over_tokens),
            long.price.input.as_f64(),
            long.price.output.as_f64()
        ),
    })
}

/// What is wrong, in a sentence.
fn words(section: &Section<'_>, problem: &Problem<'_>) -> String {
    let Problem {
        job, field, model, ..
    } = problem;
    let key = section.key;
    let named = format!("job `{job}`: `{field}: {model}`");
    let end = problem.retires_at.map(|at| at.date_naive());
    match (problem.standing, end) {
        (Standing::NotAvailable, _) => format!("{named} is no model that key `{key}` can use"),
        (Standing::Retired, Some(end)) => format!("{named} has ended on {end}"),
        (Standing::Retired, None) => format!("{named} has ended"),
        (Standing::Deprecated, Some(end)) => format!("{named} is deprecated, and ends on {end}"),
        (Standing::Deprecated, None) => format!("{named} is deprecated"),
        (Standing::RetiresSoon, Some(end)) => format!("{named} ends on {end}"),
        (Standing::RetiresSoon, None) => format!("{named} ends soon"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_counts_are_short_and_others_whole() {
        let told = [0, 999, 1_000, 1_500, 128_000, 1_000_000, 1_048_576].map(tokens);
        assert_eq!(told, ["0", "999", "1k", "1500", "128k", "1M", "1048576"]);
    }

    #[test]
    fn price_knows_the_step_for_long_prompts() {
        let table = Models::embedded();
        let price = |id| price(id, &table);
        assert_eq!(price("claude-sonnet-5-5").as_deref(), Some("2 / 10"));
        let haiku = price("claude-haiku-5-5");
        assert_eq!(haiku.as_deref(), Some("0.1 / 0.5, over 100k 0.5 / 2.5"));
        assert_eq!(price("claude-fable-5-2"), None);
        assert_eq!(price("claude-next-9"), None);
    }
}
