//! Every test that docs/reliability.md names is there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::scenario::repository;

/// The sources, each with the module that it is.
fn sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for root in ["src", "tests/it"] {
        let root = repository().join(root);
        let mut open = vec![root.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|it| it == "rs") {
                    found.push((module(&root, &path), fs::read_to_string(&path).unwrap()));
                }
            }
        }
    }
    found
}

fn module(root: &Path, path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(root).unwrap().with_extension("");
    let parts: Vec<_> = path
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    parts.join("::")
}

/// Whether a name of the page, `module::test*`, is a test or a module with tests.
fn is_there(sources: &[(String, String)], name: &str) -> bool {
    let (module, test) = name.rsplit_once("::").unwrap_or(("", name));
    // Tests that stand below the code of their file.
    let parent = module.strip_suffix("::tests").unwrap_or(module);
    let function = format!("fn {}", test.trim_end_matches('*'));
    sources.iter().any(|(known, text)| {
        let is_inside = |module: &str| known == module || known.starts_with(&format!("{module}::"));
        let is_test = text.contains("#[test]") || text.contains("#[tokio::test]");
        let is_contract = known.ends_with("contract");
        (is_inside(module) || is_inside(parent))
            && (is_test || is_contract)
            && (test == "*" || text.contains(&function))
    })
}

#[test]
fn every_test_that_the_page_names_is_there() {
    let page = fs::read_to_string(repository().join("docs/reliability.md")).unwrap();
    let sources = sources();
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let tests = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    let names: Vec<&str> = tests
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|name| name.contains("::"))
        .collect();
    assert!(names.len() > 50, "{} names", names.len());
    let lost: Vec<&&str> = names
        .iter()
        .filter(|name| !is_there(&sources, name))
        .collect();
    assert!(lost.is_empty(), "named and not there: {lost:#?}");
}

#[test]
fn a_name_that_is_not_there_is_found_out() {
    let sources = sources();
    assert!(is_there(&sources, "store::lock::tests::*"));
    for name in ["store::lock::tests::no_such_test", "no_such_module::*"] {
        assert!(!is_there(&sources, name), "{name}");
    }
}
