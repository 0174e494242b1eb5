use std::io::Write;
use std::os::unix::fs::symlink;

use chrono::TimeZone;
use tempfile::TempDir;

use super::*;
use crate::job::JobId;
use crate::schedule::Zones;

fn variables(job: &str) -> Variables {
    let zone = Zones::bundled().get("Asia/Tokyo").unwrap();
    Variables::of(
        &JobId::new(job),
        Utc.with_ymd_and_hms(2026, 12, 4, 20, 0, 0).unwrap(),
        &zone,
    )
}

fn placed(pattern: &str, job: &str) -> Result<String, String> {
    place(Path::new("/home/x"), pattern, &variables(job))
        .map(|path| path.display().to_string())
        .map_err(|error| error.to_string())
}

/// The names in a folder, sorted: what would show a forgotten file.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn write(path: &Path, previous: Previous, text: &str) -> Result<(), WorkspaceError> {
    replace(path, previous, |file| file.write_all(text.as_bytes()))
}

#[test]
fn pattern_is_filled_in_below_the_folder() {
    assert_eq!(
        placed("out/{{ job }}/{{ date }}.md", "a").unwrap(),
        "/home/x/out/a/2026-12-05.md"
    );
    assert_eq!(placed("{{ week }}.md", "a").unwrap(), "/home/x/2026-W49.md");
    assert_eq!(
        placed("{{ slot }}.md", "a").unwrap(),
        "/home/x/2026-12-05T05:00:00+09:00.md"
    );
}

#[test]
fn value_with_slashes_stays_one_name() {
    assert_eq!(
        placed("out/{{ job }}.md", "../../etc/x").unwrap(),
        "/home/x/out/..-..-etc-x.md"
    );
}

#[test]
fn value_never_leads_out_of_the_folder() {
    assert_eq!(
        placed("{{ job }}/x.md", "..").unwrap_err(),
        "output `{{ job }}/x.md` becomes `../x.md`, which leads out of the working folder"
    );
}

#[test]
fn pattern_that_leads_out_itself_goes_where_it_says() {
    assert_eq!(
        placed("/srv/{{ date }}.md", "a").unwrap(),
        "/srv/2026-12-05.md"
    );
    assert_eq!(
        placed("../{{ date }}.md", "a").unwrap(),
        "/home/x/../2026-12-05.md"
    );
}

#[test]
fn pattern_that_names_no_file_is_refused() {
    for pattern in ["out/", "out/.", "."] {
        assert!(
            placed(pattern, "a")
                .unwrap_err()
                .ends_with("names a folder"),
            "{pattern}"
        );
    }
    assert!(placed(" ", "a").unwrap_err().ends_with("names no file"));
}

#[test]
fn unknown_variable_in_a_pattern_is_an_error() {
    assert!(
        placed("{{ log }}.md", "a")
            .unwrap_err()
            .starts_with("output.file:1: nothing fills `log`")
    );
}

#[test]
fn incomplete_answer_is_named_after_output_and_slot() {
    let at = Utc.with_ymd_and_hms(2026, 12, 4, 20, 0, 0).unwrap();
    for (output, expected) in [
        ("/o/a.md", "/o/a.incomplete-20261204T200000Z.md"),
        ("/o/a.b.md", "/o/a.b.incomplete-20261204T200000Z.md"),
        ("/o/a", "/o/a.incomplete-20261204T200000Z"),
    ] {
        assert_eq!(beside(Path::new(output), at), Path::new(expected));
    }
}

#[test]
fn new_file_takes_the_place_of_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    write(&path, Previous::Replace, "old").unwrap();
    write(&path, Previous::Replace, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(&folder), ["a.md"]);
}

#[test]
fn missing_folders_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out/deep/a.md");
    write(&path, Previous::Keep, "new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn kept_output_of_the_run_before_is_the_only_one_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    for text in ["one", "two", "three"] {
        write(&path, Previous::Keep, text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "three");
    assert_eq!(
        fs::read_to_string(folder.path().join("a.md.previous")).unwrap(),
        "two"
    );
    assert_eq!(names(&folder), ["a.md", "a.md.previous"]);
}

#[test]
fn full_disk_leaves_the_old_output_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    write(&path, Previous::Replace, "old and good").unwrap();
    for previous in [Previous::Replace, Previous::Keep] {
        let error = replace(&path, previous, |file| {
            file.write_all(b"half of the n")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let expected = format!(
            "cannot write {}: no storage space; an earlier output is untouched",
            path.display()
        );
        assert_eq!(error.unwrap_err().to_string(), expected);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old and good");
        assert_eq!(names(&folder), ["a.md"]);
    }
}

#[test]
fn output_that_is_a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    fs::create_dir(&path).unwrap();
    let error = write(&path, Previous::Replace, "new")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("it is there and is not a regular file"),
        "{error}"
    );
    assert_eq!(names(&folder), ["a.md"]);
}

#[test]
fn previous_that_is_a_folder_leaves_the_old_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    write(&path, Previous::Keep, "old").unwrap();
    fs::create_dir(folder.path().join("a.md.previous")).unwrap();
    write(&path, Previous::Keep, "new").unwrap_err();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(&folder), ["a.md", "a.md.previous"]);
}

#[test]
fn file_in_the_place_of_a_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("out"), "").unwrap();
    write(&folder.path().join("out/a.md"), Previous::Replace, "new").unwrap_err();
    assert_eq!(names(&folder), ["out"]);
}

#[test]
fn link_keeps_pointing_where_it_points() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real.md"), folder.path().join("link.md"));
    fs::write(&real, "old").unwrap();
    symlink(&real, &link).unwrap();
    write(&link, Previous::Replace, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
}

#[test]
fn mode_of_the_old_output_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o604)).unwrap();
    write(&path, Previous::Replace, "new").unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o604
    );
}

#[test]
fn copy_of_an_output_that_cannot_be_linked_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    fs::write(&path, "old").unwrap();
    let second = copy(&path, folder.path()).unwrap();
    assert_eq!(fs::read_to_string(second.path()).unwrap(), "old");
}
