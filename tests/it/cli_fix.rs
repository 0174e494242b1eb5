//! `validate --fix` as its users see it: which bytes change, what is printed, what is refused.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use offpeak::config::{self, Options, Reading, WriteError};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::Change;

use crate::cli_formats::conforms;
use crate::scenario::{Done, Scenario};

const REST: &str = "timezone: Asia/Tokyo\nprompt: { text: hi }\n";

fn validate(scenario: &Scenario, more: &[&str]) -> Done {
    scenario.run(&[&["validate", "--from", "2026-12-01"], more].concat())
}

/// A folder where `a` stays at 05:00 and `b` moves from 05:05 to 05:45.
fn with_b(text: &str) -> Scenario {
    let scenario = Scenario::new().job("a", "0 5 * * *");
    scenario.write("jobs/b.yaml", text);
    scenario
}

#[track_caller]
fn assert_fixed(before: &str, after: &str) {
    let scenario = with_b(before);
    let a = scenario.read("jobs/a.yaml");
    let done = validate(&scenario, &["--fix"]).exits(0);
    assert_eq!(scenario.read("jobs/b.yaml"), after, "\n{}", done.stdout);
    assert_eq!(scenario.read("jobs/a.yaml"), a);
    done.says("b: 5 5 * * * → 45 5 * * *\n1 change in 1 file written\n")
        .says("2 jobs in 1 group: no collision and no peak firing before 20");
    let again = validate(&scenario, &["--fix"])
        .exits(0)
        .says("nothing to mend\n");
    assert!(!again.stdout.contains("---"), "{}", again.stdout);
    assert_eq!(scenario.read("jobs/b.yaml"), after);
}

#[test]
fn only_the_bytes_of_the_expression_change_in_whatever_way_it_is_written() {
    for (before, after) in [
        (
            "cron: \"5 5 * * *\"  # early, \"early\"",
            "cron: \"45 5 * * *\"  # early, \"early\"",
        ),
        ("cron:   '5 5 * * *'", "cron:   '45 5 * * *'"),
        ("cron: 5 5 * * *   # plain", "cron: 45 5 * * *   # plain"),
        (
            "\"cron\" : \"\\x35\\t5 * * *\"",
            "\"cron\" : \"45 5 * * *\"",
        ),
        (
            "cron: [ \"5 5 * * *\" , '0 12 * * sun' ] # two",
            "cron: [ \"45 5 * * *\" , '0 12 * * sun' ] # two",
        ),
        (
            "cron: [0 12 * * sun, 5 5 * * *]",
            "cron: [0 12 * * sun, 45 5 * * *]",
        ),
        (
            "cron:\n  # noon\n  - 0 12 * * sun\n  # early\n  - '5 5 * * *' # x",
            "cron:\n  # noon\n  - 0 12 * * sun\n  # early\n  - '45 5 * * *' # x",
        ),
        ("cron: &early \"5 5 * * *\"", "cron: &early \"45 5 * * *\""),
        ("cron: !!str '5 5 * * *'", "cron: !!str '45 5 * * *'"),
        ("cron: >-\n  5 5\n  * * *", "cron: >-\n  45 5 * * *"),
        (
            "cron: | # block\n\n    5 5 * * *",
            "cron: | # block\n\n    45 5 * * *",
        ),
        ("cron:\n  5 5\n  * * *", "cron:\n  45 5 * * *"),
        ("cron: \"5 5\n  * * *\"", "cron: \"45 5 * * *\""),
    ] {
        assert_fixed(&format!("{before}\n{REST}"), &format!("{after}\n{REST}"));
    }
}

#[test]
fn line_ends_marks_and_a_missing_last_break_stay() {
    let rest = "timezone: Asia/Tokyo # é\r\nprompt: { text: hi }";
    for start in ["", "\u{feff}", "# é\r\n---\r\n"] {
        assert_fixed(
            &format!("{start}cron: \"5 5 * * *\"\r\n{rest}"),
            &format!("{start}cron: \"45 5 * * *\"\r\n{rest}"),
        );
    }
    let flow = |cron| format!("{{cron: {cron}, timezone: Asia/Tokyo, prompt: {{text: hi}}}}");
    assert_fixed(&flow("5 5 * * *"), &flow("45 5 * * *"));
}

#[test]
fn expression_without_quotes_that_needs_them_gets_double_quotes() {
    // 03:00, 09:00, 15:00 and 21:00: two of them lie in a window.
    let scenario = Scenario::new().file("jobs/a.yaml", &format!("cron: 0 3-21/6 * * *\n{REST}"));
    validate(&scenario, &["--fix"]).exits(0);
    let text = scenario.read("jobs/a.yaml");
    assert_eq!(text, format!("cron: \"0 5,11,17,23 * * *\"\n{REST}"));
}

fn list_of(one: &str, two: &str) -> String {
    let rest = "timezone: Asia/Tokyo\n    prompt: { text: hi }\n";
    format!("jobs:\n  - id: a\n    cron: {one}\n    {rest}  - id: b\n    cron: {two}\n    {rest}")
}

#[track_caller]
fn assert_list_fixed(before: (&str, &str), after: (&str, &str)) {
    let scenario = Scenario::new().file("jobs/all.yaml", &list_of(before.0, before.1));
    validate(&scenario, &["--fix"]).exits(0);
    assert_eq!(scenario.read("jobs/all.yaml"), list_of(after.0, after.1));
}

#[test]
fn jobs_of_a_list_are_edited_where_they_stand() {
    assert_list_fixed(
        ("'0 5 * * *'", "'0 5 * * *'"),
        ("'0 5 * * *'", "'45 5 * * *'"),
    );
}

#[test]
fn alias_is_replaced_by_the_expression_and_its_definition_stays() {
    assert_list_fixed(
        ("&x '0 5 * * *'", "*x # same"),
        ("&x '0 5 * * *'", "\"45 5 * * *\" # same"),
    );
}

#[test]
fn definition_that_moves_leaves_the_old_expression_to_its_aliases() {
    // `b` moves; it holds the definition.
    let scenario = Scenario::new().file(
        "jobs/all.yaml",
        &format!(
            "jobs:\n  - {{ id: b, cron: &x '0 5 * * *', {0} }}\n  - {{ id: a, cron: *x, {0} }}\n",
            "timezone: Asia/Tokyo, prompt: { text: hi }"
        ),
    );
    validate(&scenario, &["--fix"]).exits(0);
    let text = scenario.read("jobs/all.yaml");
    assert!(text.contains("id: b, cron: &x '45 5 * * *',"), "{text}");
    assert!(text.contains("id: a, cron: \"0 5 * * *\","), "{text}");
}

#[test]
fn expression_that_two_jobs_share_through_a_merge_key_is_not_edited() {
    let job = "timezone: Asia/Tokyo, prompt: { text: hi }";
    let shared =
        format!("jobs:\n  - &a {{ id: a, cron: '0 5 * * *', {job} }}\n  - {{ <<: *a, id: b }}\n");
    let scenario = Scenario::new().file("jobs/all.yaml", &shared);
    validate(&scenario, &["--fix"]).exits(1).says(
        "group `main`: `a` has to move and cannot be edited; nothing in this group was changed: \
         jobs/all.yaml:3:11: it is written once for several places, through `*a`; write it out in each",
    );
    assert_eq!(scenario.read("jobs/all.yaml"), shared);
}

#[test]
fn what_cannot_be_edited_stays_and_another_job_goes() {
    let job = "timezone: Asia/Tokyo, prompt: { text: hi }";
    let shared = format!(
        "jobs:\n  - &y {{ id: y, cron: '0 5 * * *', {job} }}\n  - {{ <<: *y, id: z, key: other }}\n"
    );
    let scenario = Scenario::new()
        .job("a", "1 5 * * *")
        .file("jobs/all.yaml", &shared)
        .file(
            "offpeak.yaml",
            "keys: { main: { env: ANTHROPIC_API_KEY }, other: { env: OTHER } }\n",
        );
    validate(&scenario, &["--fix"])
        .exits(0)
        .says("a: 1 5 * * * → 45 5 * * *");
    assert_eq!(scenario.read("jobs/all.yaml"), shared);
}

#[test]
fn pickup_slots_move_in_the_settings() {
    let scenario = Scenario::new().job("a", "0 5 * * *").file(
        "offpeak.yaml",
        "# mine\ndefer:\n  pickup: ['30 2 * * *', \"5 5 * * *\"] # two\n",
    );
    validate(&scenario, &["--fix"])
        .exits(0)
        .says("pickup:main: 5 5 * * * → 45 5 * * *");
    let text = "# mine\ndefer:\n  pickup: ['30 2 * * *', \"45 5 * * *\"] # two\n";
    assert_eq!(scenario.read("offpeak.yaml"), text);
}

#[test]
fn pickup_slots_of_several_groups_in_one_list_stay_and_the_jobs_go() {
    let settings = |pickup: &str| {
        format!(
            "keys: {{ main: {{ env: ONE }}, other: {{ env: TWO }} }}\ndefer: {{ pickup: {pickup} }}\n"
        )
    };
    let shared = settings("['5 5 * * *']");
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .file("offpeak.yaml", &shared);
    validate(&scenario, &["--fix"])
        .exits(0)
        .says("a: 0 5 * * * → 20 4 * * *");
    assert_eq!(scenario.read("offpeak.yaml"), shared);
    let own = settings("{ main: '5 5 * * *', other: '5 5 * * *' }");
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .file("offpeak.yaml", &own);
    validate(&scenario, &["--fix"]).exits(0);
    let moved = settings("{ main: '45 5 * * *', other: '5 5 * * *' }");
    assert_eq!(scenario.read("offpeak.yaml"), moved);
}

#[test]
fn diff_shows_names_lines_and_three_lines_around() {
    let scenario = with_b(&format!("# 1\n# 2\n# 3\n# 4\ncron: '5 5 * * *'\n{REST}"));
    let done = validate(&scenario, &["--fix", "--dry-run"]).exits(1);
    let expected = "--- jobs/b.yaml\n+++ jobs/b.yaml\n@@ -2,6 +2,6 @@\n # 2\n # 3\n # 4\n\
                    -cron: '5 5 * * *'\n+cron: '45 5 * * *'\n timezone: Asia/Tokyo\n prompt: { text: hi }\n\n\
                    b: 5 5 * * * → 45 5 * * *\n1 change in 1 file not written: --dry-run\n";
    assert!(done.stdout.starts_with(expected), "{}", done.stdout);
}

#[test]
fn diff_of_two_changes_far_apart_has_two_hunks_and_marks_a_missing_last_break() {
    let scenario = Scenario::new().file(
        "jobs/all.yaml",
        &format!(
            "jobs:\n- id: a\n  cron: >\n    0\n    5 * * *\n  {0}\n# 1\n# 2\n# 3\n# 4\n# 5\n# 6\n- id: b\n  {0}\n  cron: \"1 5 * * *\"",
            "timezone: Asia/Tokyo\n  prompt: { text: hi }"
        ),
    );
    let folder = scenario.path().to_owned();
    let reading = config::read(&Options::new(&folder));
    let changes = [
        change("a", "0 5 * * *", "0 4 * * *"),
        change("b", "1 5 * * *", "0 6 * * *"),
    ];
    let edits = config::edits(&reading.sources, &changes).unwrap();
    let lines: Vec<String> = edits[0].diff().into_iter().map(|line| line.text).collect();
    assert_eq!(
        lines[2..],
        [
            "@@ -1,8 +1,7 @@",
            " jobs:",
            " - id: a",
            "   cron: >",
            "-    0",
            "-    5 * * *",
            "+    0 4 * * *",
            "   timezone: Asia/Tokyo",
            "   prompt: { text: hi }",
            " # 1",
            "@@ -14,4 +13,4 @@",
            " - id: b",
            "   timezone: Asia/Tokyo",
            "   prompt: { text: hi }",
            "-  cron: \"1 5 * * *\"",
            "\\ No newline at end of file",
            "+  cron: \"0 6 * * *\"",
            "\\ No newline at end of file",
        ]
    );
}

#[test]
fn dry_run_writes_nothing_and_shows_the_verdict_after_the_changes() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let path = scenario.path().join("jobs/b.yaml");
    let before = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap());
    validate(&scenario, &["--fix", "--dry-run"])
        .exits(1)
        .says("\nwith these changes: 2 jobs in 1 group: no collision")
        .says("Wed 2026-12-02 05:45 JST");
    let after = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap());
    assert_eq!(before.0, after.0);
    assert_eq!(before.1.modified().unwrap(), after.1.modified().unwrap());
    assert_eq!(before.1.ino(), after.1.ino());
    validate(&scenario, &[]).exits(1);
    // Nothing to change: the verdict is that of the files.
    let scenario = with_b(&format!("cron: '45 5 * * *'\n{REST}"));
    let done = validate(&scenario, &["--fix", "--dry-run"]).exits(0);
    done.says("nothing to mend\n")
        .says("\n2 jobs in 1 group: no collision");
}

#[test]
fn dry_run_alone_is_wrong_usage_and_names_fix() {
    validate(&with_b("cron: '5 5 * * *'\n"), &["--dry-run"])
        .exits(2)
        .complains("--fix");
}

#[test]
fn json_has_the_changes_and_whether_they_are_written() {
    for (more, written) in [(&["--fix"][..], true), (&["--fix", "--dry-run"][..], false)] {
        let scenario = with_b(&format!("# x\ncron: '5 5 * * *'\n{REST}"));
        let done = validate(&scenario, &[more, &["--format", "json"]].concat());
        // The files as they are pass only once they are written.
        let done = done.exits(i32::from(!written));
        let verdict = done.json();
        conforms(&verdict);
        assert_eq!(verdict["ok"], written);
        assert_eq!(verdict["findings"], serde_json::json!([]));
        assert_eq!(verdict["stuck"], serde_json::json!([]));
        assert!(verdict.get("not_changed").is_none());
        assert_eq!(verdict["written"], written);
        let change = serde_json::json!({ "job": "b", "file": "jobs/b.yaml", "line": 2, "from": "5 5 * * *", "to": "45 5 * * *" });
        assert_eq!(verdict["changes"], serde_json::json!([change]));
    }
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let verdict = validate(&scenario, &["--format", "json"]).exits(1).json();
    assert!(verdict.get("changes").is_none() && verdict.get("written").is_none());
}

#[test]
fn saturated_group_says_so_and_changes_nothing() {
    let scenario = Scenario::new()
        .file(
            "offpeak.yaml",
            "rules: { peaks: { timezone: Asia/Tokyo, windows: [] } }\n",
        )
        .job("all", "*/15 * * * *")
        .job("more", "5 5 * * *")
        .job("twin", "5 5 * * mon");
    let before = scenario.read("jobs/twin.yaml");
    validate(&scenario, &["--fix"])
        .exits(1)
        .says("group `main`: no legal time is left for `")
        .says("`; nothing in this group was changed: move a job to another key or drop firings\n");
    assert_eq!(scenario.read("jobs/twin.yaml"), before);
}

#[test]
fn mistake_beyond_those_that_are_listed_keeps_everything_where_it_is() {
    let variables: Vec<String> = (0..101).map(|at| format!("{{{{ v{at} }}}} ")).collect();
    let variables = variables.concat();
    let all = format!(
        "jobs:\n- {{ id: many, cron: '0 3 * * *', timezone: Asia/Tokyo, prompt: {{ text: '{variables}' }} }}\n\
         - {{ id: hidden, cron: '0 27 * * *', timezone: Asia/Tokyo, prompt: {{ text: hi }} }}\n"
    );
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}")).file("jobs/many.yaml", &all);
    let before = scenario.read("jobs/b.yaml");
    let why = "what is meant at jobs/many.yaml:3:26 is not known (bad-cron); mend that first";
    validate(&scenario, &["--fix"])
        .exits(1)
        .says(&format!("nothing was changed: {why}"));
    assert_eq!(scenario.read("jobs/b.yaml"), before);
    let done = validate(&scenario, &["--fix", "--format", "json"]).exits(1);
    let verdict = done.json();
    conforms(&verdict);
    assert_eq!(verdict["not_changed"], why);
    scenario
        .run(&["plan", "--spread", "--from", "2026-12-01"])
        .exits(1)
        .says(&format!("nothing is proposed: {why}"));
}

#[test]
fn json_names_the_groups_that_stay() {
    let scenario = Scenario::new().job("dense", "*/5 2 * * *");
    let done = validate(&scenario, &["--fix", "--format", "json"]).exits(1);
    let verdict = done.json();
    conforms(&verdict);
    let reason = "no move makes `dense` legal, not even alone: \
                  drop firings that are too close together or too near a peak window";
    let stuck = serde_json::json!([{ "group": "main", "job": "dense", "reason": reason }]);
    assert_eq!(verdict["stuck"], stuck);
    assert_eq!(verdict["changes"], serde_json::json!([]));
}

#[test]
fn job_that_no_move_saves_says_so() {
    let scenario = Scenario::new().job("dense", "*/5 2 * * *");
    validate(&scenario, &["--fix"]).exits(1).says(
        "group `main`: no move makes `dense` legal, not even alone; nothing in this group was changed: \
         drop firings that are too close together or too near a peak window\n",
    );
}

#[test]
fn twenty_jobs_at_one_instant_end_legal() {
    let mut scenario = Scenario::new();
    for n in 0..20 {
        scenario = scenario.job(&format!("j{n:02}"), "0 5 * * *");
    }
    validate(&scenario, &["--fix"])
        .exits(0)
        .says("19 changes in 19 files written");
    validate(&scenario, &[]).exits(0);
}

#[test]
fn secrets_survive_and_are_never_printed() {
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let settings = |minute: u8| {
        format!(
            "# {secret}\ndefer: {{ pickup: ['{minute} 5 * * *'] }}\n\
             keys: {{ main: {{ env: ANTHROPIC_API_KEY, token: hünter-2 }} }}\n"
        )
    };
    let scenario = Scenario::new()
        .file(
            "jobs/b.yaml",
            &format!("# {secret}\ncron: '0 5 * * *' # {secret}\n{REST}"),
        )
        .file("offpeak.yaml", &settings(5));
    let done = validate(&scenario, &["--fix"]).exits(1);
    assert_eq!(scenario.read("offpeak.yaml"), settings(45));
    let shown = format!("{}{}", done.stdout, done.stderr);
    assert!(
        shown.contains("+defer: { pickup: ['45 5 * * *'] }"),
        "{shown}"
    );
    assert!(
        !shown.contains("abcdefghij") && !shown.contains("nter-2"),
        "{shown}"
    );
}

#[test]
fn nothing_is_written_while_a_file_cannot_be_read_or_a_job_is_not_known() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let before = scenario.read("jobs/b.yaml");
    scenario.write("jobs/c.yaml", "cron: [\n");
    validate(&scenario, &["--fix"])
        .exits(2)
        .says("nothing was changed: jobs/c.yaml could not be read\n");
    scenario.write("jobs/c.yaml", format!("cron: '0 27 * * *'\n{REST}"));
    validate(&scenario, &["--fix"])
        .exits(1)
        .says("nothing was changed: what is meant at jobs/c.yaml:1:10 is not known (bad-cron); mend that first\n");
    assert_eq!(scenario.read("jobs/b.yaml"), before);
    scenario.write(
        "jobs/c.yaml",
        "cron: '0 3 * * *'\ntimezone: Asia/Tokyo\nprompt: { text: \"{{ nope }}\" }\n",
    );
    validate(&scenario, &["--fix"])
        .exits(1)
        .says("1 change in 1 file written");
}

#[test]
fn read_only_files_and_folders_are_named_and_no_other_file_is_written() {
    for (locked, mode, reason) in [
        (
            "jobs/c.yaml",
            0o444,
            "jobs/c.yaml cannot be written: it is read-only",
        ),
        (
            "more",
            0o555,
            "more/c.yaml cannot be written: its folder is read-only",
        ),
    ] {
        let file = if locked == "more" {
            "more/c.yaml"
        } else {
            locked
        };
        let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"))
            .file(file, &format!("cron: '5 5 * * *'\n{REST}"));
        let before = scenario.read("jobs/b.yaml");
        let path = scenario.path().join(locked);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        validate(&scenario, &["--fix", "jobs", file])
            .exits(2)
            .complains(&format!("{reason}; nothing was written"));
        assert_eq!(scenario.read("jobs/b.yaml"), before);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn link_stays_a_link_and_permissions_stay() {
    let scenario = with_b(&format!("cron: '0 3 * * *'\n{REST}"));
    scenario.write("real/target.yaml", format!("cron: '5 5 * * *'\n{REST}"));
    let (target, link) = (
        scenario.path().join("real/target.yaml"),
        scenario.path().join("jobs/c.yaml"),
    );
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../real/target.yaml", &link).unwrap();
    validate(&scenario, &["--fix"])
        .exits(0)
        .says("+++ jobs/c.yaml");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        fs::metadata(&target).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert!(
        scenario
            .read("real/target.yaml")
            .starts_with("cron: '45 5 * * *'\n")
    );
}

fn change(job: &str, from: &str, to: &str) -> Change {
    Change {
        job: JobId::new(job),
        group: GroupId::new("main"),
        cron: 0,
        from: from.to_owned(),
        to: to.to_owned(),
    }
}

fn reading(scenario: &Scenario) -> Reading {
    config::read(&Options::new(scenario.path()))
}

#[test]
fn file_that_is_read_under_two_names_is_not_written() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let jobs = scenario.path().join("jobs");
    std::os::unix::fs::symlink("b.yaml", jobs.join("c.yaml")).unwrap();
    let before = scenario.read("jobs/b.yaml");
    let done = scenario.run(&["validate", "--from", "2026-12-01", "--fix"]);
    done.exits(2)
        .complains("are one file; nothing was written: keep one of the names");
    assert_eq!(scenario.read("jobs/b.yaml"), before);
}

#[test]
fn file_with_a_second_hard_name_is_not_written() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let path = |name: &str| scenario.path().join(name);
    for name in ["jobs/a.yaml", "jobs/b.yaml"] {
        std::fs::hard_link(path(name), path(&format!("{name}.bak"))).unwrap();
    }
    let before = [scenario.read("jobs/a.yaml"), scenario.read("jobs/b.yaml")];
    let done = scenario.run(&["validate", "--from", "2026-12-01", "--fix"]);
    done.exits(2).complains("a second name (a hard link)");
    assert_eq!(
        before,
        [scenario.read("jobs/a.yaml"), scenario.read("jobs/b.yaml")]
    );
}

#[test]
fn what_a_killed_process_left_is_swept_and_what_a_living_one_has_is_not() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let mut gone = std::process::Command::new("true").spawn().unwrap();
    let id = gone.id();
    gone.wait().unwrap();
    let (dead, living) = (
        format!("jobs/.offpeak-{id}-x.tmp"),
        format!("jobs/.offpeak-{}-x.tmp", std::process::id()),
    );
    scenario.write(&dead, "cron: old");
    scenario.write(&living, "cron: new");
    scenario
        .run(&["validate", "--from", "2026-12-01", "--fix"])
        .exits(0);
    let files = scenario.files("jobs");
    assert!(!files.contains(&dead), "{files:?}");
    assert!(files.contains(&living), "{files:?}");
}

#[test]
fn file_that_changed_since_it_was_read_is_not_written_and_neither_is_another() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let reading = reading(&scenario);
    let changes = [
        change("a", "0 5 * * *", "0 4 * * *"),
        change("b", "5 5 * * *", "0 6 * * *"),
    ];
    let edits = config::edits(&reading.sources, &changes).unwrap();
    let a = scenario.read("jobs/a.yaml");
    let meanwhile = format!("cron: '6 5 * * *'\n{REST}");
    scenario.write("jobs/b.yaml", &meanwhile);
    let error = config::write(&edits, &reading.sources).unwrap_err();
    assert_eq!(
        error.to_string(),
        "jobs/b.yaml has changed since it was read; nothing was written: run the command again"
    );
    assert_eq!(scenario.read("jobs/b.yaml"), meanwhile);
    assert_eq!(scenario.read("jobs/a.yaml"), a);
    assert_eq!(scenario.files("jobs"), ["jobs/a.yaml", "jobs/b.yaml"]);
}

#[test]
fn new_file_takes_the_place_of_the_old_one_in_one_step() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let path = scenario.path().join("jobs/b.yaml");
    // Whoever has the old file open keeps all of it: it is never written into.
    let (old, ino) = (
        fs::File::open(&path).unwrap(),
        fs::metadata(&path).unwrap().ino(),
    );
    validate(&scenario, &["--fix"]).exits(0);
    let kept = std::io::read_to_string(old).unwrap();
    assert_eq!(kept, format!("cron: '5 5 * * *'\n{REST}"));
    assert_ne!(fs::metadata(&path).unwrap().ino(), ino);
    assert_eq!(scenario.files("jobs"), ["jobs/a.yaml", "jobs/b.yaml"]);
}

#[test]
fn two_names_of_one_file_are_refused() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    symlink("b.yaml", scenario.path().join("jobs/c.yaml")).unwrap();
    let changes = [
        change("b", "5 5 * * *", "0 4 * * *"),
        change("c", "5 5 * * *", "0 6 * * *"),
    ];
    let reading = reading(&scenario);
    let edits = config::edits(&reading.sources, &changes).unwrap();
    let error = config::write(&edits, &reading.sources).unwrap_err();
    let message =
        "jobs/b.yaml and jobs/c.yaml are one file; nothing was written: keep one of the names";
    assert_eq!(error.to_string(), message);
}

#[test]
fn change_that_does_not_fit_the_file_is_refused() {
    let scenario = with_b(&format!("cron: '5 5 * * *'\n{REST}"));
    let reading = reading(&scenario);
    let reason = |change: Change| {
        let refused = config::edits(&reading.sources, &[change]).unwrap_err();
        refused[0].reason.clone()
    };
    assert_eq!(
        reason(change("b", "6 5 * * *", "0 4 * * *")),
        "its place in the file was not found"
    );
    assert_eq!(
        reason(change("z", "6 5 * * *", "0 4 * * *")),
        "its place is not known"
    );
    assert_eq!(
        reason(change("b", "5 5 * * *", "0 4'")),
        "the file would not read the same after the change; write the expression in quotes, on a line of its own"
    );
}

#[test]
fn files_written_before_one_that_fails_are_named() {
    let error = |written: &[&str]| WriteError::Partly {
        file: "jobs/c.yaml".to_owned(),
        reason: "no space left on device".to_owned(),
        written: written.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(
        error(&["jobs/a.yaml", "jobs/b.yaml"]).to_string(),
        "jobs/c.yaml cannot be replaced: no space left on device; written before that: jobs/a.yaml, jobs/b.yaml"
    );
    assert!(
        error(&[])
            .to_string()
            .ends_with("written before that: nothing")
    );
}
