//! Advice on expressions, models and the cache as users of `validate` see it.

use crate::scenario::{Done, Scenario};

/// About 1,430 tokens: enough for the cache of the default model.
fn long_prompt() -> String {
    "Be brief. ".repeat(500)
}

fn validate(scenario: &Scenario) -> Done {
    scenario.run(&["validate", "--from", "2026-12-01"]).exits(0)
}

fn job(cron: &str, more: &str) -> String {
    format!("cron: \"{cron}\"\ntimezone: Asia/Tokyo\nprompt: {{ text: hi }}\n{more}")
}

fn sharing(cron: &str, cache: &str) -> String {
    job(cron, &format!("system: {{ file: style.md{cache} }}\n"))
}

#[test]
fn advice_on_an_expression_marks_it_and_names_a_way_out() {
    let cases = [
        (
            "0 5 1-7 * mon",
            "warning[either-day]: `0 5 1-7 * mon` of `a` fires on the 1st to the 7th, and also on every Monday",
            "for the first Monday of the month write `0 5 * * mon#1`",
        ),
        (
            "0 */5 * * *",
            "warning[uneven-step]: `0 */5 * * *` of `a` has a step of 5 hours",
            "write `*/4` or `*/6` in the hour field",
        ),
        (
            "0 5 29 2 *",
            "warning[leap-day]: `0 5 29 2 *` of `a` fires on 29 February only: next on 2028-02-29",
            "write `0 5 L 2 *`",
        ),
        (
            "0 5 31 * *",
            "warning[skips-months]: `0 5 31 * *` of `a` names the 31st, which February, April",
            "write `0 5 L * *`",
        ),
    ];
    for (cron, title, help) in cases {
        let scenario = Scenario::new().file("jobs/a.yaml", &job(cron, "")).file(
            "offpeak.yaml",
            "rules: { peaks: { windows: [] }, severity: { breaker-cannot-open: off } }\n",
        );
        validate(&scenario)
            .says(title)
            .says("jobs/a.yaml:1:7")
            .says(help)
            .says("1 warning");
    }
}

#[test]
fn instant_of_advice_is_told_in_the_jobs_zone() {
    let scenario = Scenario::new().file("jobs/a.yaml", &job("0 5 1,15 * mon", ""));
    validate(&scenario)
        .says("Mon 2026-12-07 suits the day of week alone")
        .says("first at Mon 2026-12-07 05:00 JST");
}

#[test]
fn advice_can_be_turned_off_and_accepted() {
    let off = Scenario::new()
        .file("jobs/a.yaml", &job("0 5 31 * *", ""))
        .file(
            "offpeak.yaml",
            "rules: { severity: { skips-months: off } }\n",
        );
    assert!(!validate(&off).stdout.contains("skips-months"));
    let accepted = job(
        "0 5 31 * *",
        "accept: { skips-months: quarter ends only }\n",
    );
    let accepted = Scenario::new().file("jobs/a.yaml", &accepted);
    validate(&accepted)
        .says("quarter ends only")
        .says("1 accepted");
}

#[test]
fn model_that_ends_is_told_with_the_one_that_follows() {
    let ended = Scenario::new().file(
        "jobs/a.yaml",
        &job("0 5 * * *", "model: claude-sonnet-4-5-20250929\n"),
    );
    validate(&ended)
        .says("warning[retired-model]: the model `claude-sonnet-4-5-20250929` of `a` has ended on 2026-11-30")
        .says("write `model: claude-sonnet-5-5`")
        .says("first at Wed 2026-12-02 05:00 JST");
    let ending = Scenario::new().file("jobs/a.yaml", &job("0 5 * * *", "model: claude-opus-4-5\n"));
    validate(&ending)
        .says("ends on 2027-01-22: 53 firings are left")
        .says("write `model: claude-opus-5-5`");
}

#[test]
fn model_with_a_near_name_is_asked_about_and_a_new_one_is_not() {
    let of = |model: &str| {
        Scenario::new().file(
            "jobs/a.yaml",
            &job("0 5 * * *", &format!("model: {model}\n")),
        )
    };
    validate(&of("claude-sonet-5-5"))
        .says("warning[unknown-model]: the model `claude-sonet-5-5` of `a` is not in the table of models")
        .says("did you mean `claude-sonnet-5-5`?");
    assert!(
        !validate(&of("claude-sonnet-7"))
            .stdout
            .contains("unknown-model")
    );
}

#[test]
fn cache_that_nothing_reads_is_told_with_its_price() {
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &sharing("0 5 * * *", ", cache: 1h"))
        .file("jobs/style.md", &long_prompt());
    validate(&scenario)
        .says("warning[cache-never-read]: `a` caches its system prompt of about 1,400 tokens")
        .says("jobs/a.yaml:1:1")
        .says("writing it costs about $1.04 a year")
        .says("remove `cache: 1h` from `system`");
}

#[test]
fn short_system_prompt_is_told_that_it_is_not_cached() {
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &sharing("0 5 * * *", ", cache: 5m"))
        .file("jobs/style.md", "Be brief.");
    validate(&scenario)
        .says(
            "it has about 3 tokens, and `claude-sonnet-5-5` caches from 512 on: nothing is cached",
        )
        .says("remove `cache: 5m` from `system`; it does nothing");
}

#[test]
fn cache_that_would_pay_is_told_with_its_saving_and_its_first_reader() {
    let of = |cache: &str| {
        Scenario::new()
            .file("jobs/a.yaml", &sharing("0 3 * * *", cache))
            .file("jobs/b.yaml", &sharing("45 3 * * *", cache))
            .file("jobs/c.yaml", &sharing("30 4 * * *", cache))
            .file("jobs/style.md", &long_prompt())
    };
    validate(&of(""))
        .says("warning[cache-saves]: `a`, `b` and `c` send the same system prompt of about 1,400 tokens")
        .says("with a 1h cache 730 of 1095 calls a year would read it, for about $0.94 less")
        .says("`b` fires here")
        .says("write `cache: 1h` in `system` of `a`, `b` and `c`");
    let done = validate(&of(", cache: 1h"));
    assert!(!done.stdout.contains("warning"), "{}", done.stdout);
}

#[test]
fn big_input_is_told_at_its_first_cold_slot() {
    let inputs = "inputs: { log: { file: log.txt, max_bytes: 60k } }\n";
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &job("0 5 * * *", inputs))
        .file("jobs/log.txt", &"line\n".repeat(9_000));
    validate(&scenario)
        .says("warning[large-cold-input]: `a` sends about 13,000 tokens with no cache entry alive")
        .says("first at Wed 2026-12-02 05:00 JST, 365 in the first 365 days")
        .says("lower `max_bytes`");
    let unknown = "inputs: { log: { command: [journalctl], max_bytes: 60k } }\n";
    let scenario = Scenario::new().file("jobs/a.yaml", &job("0 5 * * *", unknown));
    assert!(!validate(&scenario).stdout.contains("large-cold-input"));
}

#[test]
fn dry_run_tells_the_advice_on_its_job_and_counts_fields_before_the_system_prompt() {
    let tools = "tools: [{ name: look, input_schema: { type: object } }]\n";
    let text = sharing("0 5 * * *", ", cache: 5m") + tools;
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &text)
        .file("jobs/style.md", "Be brief.");
    let done = scenario
        .run(&["dry-run", "a", "--at", "2026-12-02T05:00:00+09:00"])
        .exits(0);
    done.says("lint      cache-never-read: job `a`: `a` asks for a cached system prompt")
        .says("cache     the system prompt has about 18 tokens; this model caches from 512 on, so nothing is cached");
}

#[test]
fn files_of_init_need_no_advice() {
    let scenario = Scenario::new();
    scenario.run(&["init"]).exits(0);
    let done = validate(&scenario);
    assert!(!done.stdout.contains("warning"), "{}", done.stdout);
}

#[cfg(unix)]
#[test]
fn prompt_that_is_a_pipe_is_a_mistake_and_waits_for_nobody() {
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &sharing("0 5 * * *", ", cache: 1h"))
        .file("jobs/b.yaml", &sharing("0 5 31 * *", ""));
    let pipe = scenario.path().join("jobs/style.md");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    scenario
        .run(&["validate", "--from", "2026-12-01"])
        .exits(1)
        .says("no regular file")
        .says("warning[skips-months]");
}
