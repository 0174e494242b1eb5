//! The page on the fortnight says what the example does.

use std::fs;
use std::path::Path;

use offpeak::sim::world::WorldModel;

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn frozen_world_of_the_example_can_be_read() {
    let world = WorldModel::from_yaml(&text("examples/two_weeks/world.yaml")).unwrap();
    assert_ne!(world, WorldModel::default());
}

/// Whoever changes the world makes the tables anew.
#[test]
fn page_quotes_the_frozen_world() {
    let (page, world) = (
        text("docs/two-weeks.md"),
        text("examples/two_weeks/world.yaml"),
    );
    let mut lines = 0;
    for line in world.lines().filter(|line| !line.starts_with('#')) {
        assert!(page.contains(line), "docs/two-weeks.md lacks `{line}`");
        lines += 1;
    }
    assert!(lines >= 5);
}

#[test]
fn page_has_a_verdict_for_each_statement() {
    let page = text("docs/two-weeks.md");
    let statements = text("examples/two_weeks/statements.rs");
    let quoted = statements.split('"').skip(1).step_by(2);
    let stated: Vec<&str> = quoted
        .filter(|text| page.contains(&format!("| {text} |")))
        .collect();
    assert!(stated.len() >= 12, "{stated:?}");
}
