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
    place(
        Path::new("/home/x"),
        ("output.file", pattern),
        &variables(job),
    )
    .map(|target| target.path.display().to_string())
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

/// A file that may be anywhere.
fn anywhere(path: &Path) -> Target {
    Target {
        path: path.to_owned(),
        reach: Reach::Anywhere,
    }
}

/// A file that must be in this folder.
fn within(folder: &Path, pattern: &str) -> Target {
    place(folder, ("output.file", pattern), &variables("a")).unwrap()
}

fn put(target: &Target, text: &str) -> Result<(), String> {
    let write = |file: &mut File| file.write_all(text.as_bytes());
    replace(target, Previous::Replace, write).map_err(|error| error.to_string())
}

fn write(path: &Path, previous: Previous, text: &str) -> Result<(), WorkspaceError> {
    replace(&anywhere(path), previous, |file| {
        file.write_all(text.as_bytes())
    })
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
        let beside = anywhere(Path::new(output)).beside(at, None);
        assert_eq!(beside, anywhere(Path::new(expected)));
    }
    let shared = anywhere(Path::new("/o/a.md")).beside(at, Some("line 7"));
    let expected = "/o/a.incomplete-20261204T200000Z-line 7.md";
    assert_eq!(shared, anywhere(Path::new(expected)));
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
        let error = replace(&anywhere(&path), previous, |file| {
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

/// A hidden file as a killed writer leaves it, this old.
fn left_behind(folder: &TempDir, name: &str, age: Duration) {
    let file = File::create(folder.path().join(name)).unwrap();
    let modified_at = file.metadata().unwrap().modified().unwrap();
    file.set_modified(modified_at - age).unwrap();
}

#[test]
fn what_killed_writers_left_goes_once_it_is_old() {
    // Cause: the guard that removes a half-written file dies with its process, and nobody looked again.
    let folder = tempfile::tempdir().unwrap();
    left_behind(&folder, ".offpeak-old.tmp", Duration::from_mins(61));
    left_behind(&folder, ".offpeak-new.tmp", Duration::from_mins(59));
    left_behind(&folder, ".offpeak-notes.md", Duration::from_mins(61));
    write(&folder.path().join("a.md"), Previous::Replace, "new").unwrap();
    assert_eq!(
        names(&folder),
        [".offpeak-new.tmp", ".offpeak-notes.md", "a.md"]
    );
}

#[test]
fn second_name_of_an_old_output_is_left_alone_until_the_output_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.md");
    left_behind(&folder, "b.md", Duration::from_mins(61));
    fs::hard_link(&path, folder.path().join(".offpeak-link.tmp")).unwrap();
    write(&folder.path().join("a.md"), Previous::Replace, "new").unwrap();
    assert_eq!(names(&folder), [".offpeak-link.tmp", "a.md", "b.md"]);
    write(&path, Previous::Replace, "new").unwrap();
    assert_eq!(names(&folder), ["a.md", "b.md"]);
}

// A `..` anywhere in a pattern counted as its consent, also one inside of a tag.
#[test]
fn only_the_beginning_of_a_pattern_says_outright_that_it_leads_out() {
    for pattern in [
        "out/../../x.md",
        "{{ '/../' }}x.md",
        "{{ '..' }}/x.md",
        "{{ '/etc' }}/x.md",
        "{% if job %}/etc/x{% endif %}.md",
    ] {
        let error = placed(pattern, "a").unwrap_err();
        assert!(
            error.ends_with("leads out of the working folder"),
            "{error}"
        );
    }
    assert_eq!(placed("out/../x.md", "a").unwrap(), "/home/x/x.md");
    assert_eq!(placed("./../x.md", "a").unwrap(), "/home/x/./../x.md");
    let error = placed("../{{ job }}/x.md", "..").unwrap_err();
    assert!(
        error.ends_with("leads further up than its beginning says"),
        "{error}"
    );
}

#[test]
fn control_character_in_a_path_is_refused() {
    for pattern in [
        "a{{ '\\u0000' }}.md",
        "a{{ '\\n' }}.md",
        "a{{ '\\u001b' }}.md",
    ] {
        let error = placed(pattern, "a").unwrap_err();
        assert!(error.ends_with("holds a control character"), "{error}");
    }
}

// An output followed a link wherever it led.
#[test]
fn link_that_leads_out_of_the_folder_is_refused() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = inside.path();
    fs::write(outside.path().join("a.md"), "theirs").unwrap();
    symlink(outside.path(), folder.join("out")).unwrap();
    symlink(outside.path().join("a.md"), folder.join("link.md")).unwrap();
    for pattern in ["out/a.md", "out/new.md", "out/deep/new.md", "link.md"] {
        let error = put(&within(folder, pattern), "ours").unwrap_err();
        assert!(
            error.contains("a symbolic link leads out of the working folder to "),
            "{error}"
        );
    }
    let at = Utc.with_ymd_and_hms(2026, 12, 4, 20, 0, 0).unwrap();
    put(&within(folder, "out/a.md").beside(at, None), "ours").unwrap_err();
    assert_eq!(names(&outside), ["a.md"]);
    assert_eq!(
        fs::read_to_string(outside.path().join("a.md")).unwrap(),
        "theirs"
    );
    // Written outright, the same place is meant.
    let outright = outside.path().join("a.md").display().to_string();
    put(&within(folder, &outright), "ours").unwrap();
    assert_eq!(
        fs::read_to_string(outside.path().join("a.md")).unwrap(),
        "ours"
    );
}

#[test]
fn links_inside_the_folder_and_a_folder_that_is_itself_a_link_are_followed() {
    let real = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().join("work");
    symlink(real.path(), &folder).unwrap();
    fs::create_dir(real.path().join("notes")).unwrap();
    symlink("notes", real.path().join("out")).unwrap();
    put(&within(&folder, "out/a.md"), "new").unwrap();
    assert_eq!(
        fs::read_to_string(real.path().join("notes/a.md")).unwrap(),
        "new"
    );
}

#[test]
fn link_without_an_end_is_replaced_as_a_file_and_refused_as_a_folder() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let gone = outside.path().join("gone");
    for name in ["a.md", "out"] {
        symlink(&gone, inside.path().join(name)).unwrap();
    }
    put(&within(inside.path(), "a.md"), "new").unwrap();
    assert!(
        fs::symlink_metadata(inside.path().join("a.md"))
            .unwrap()
            .is_file()
    );
    put(&within(inside.path(), "out/a.md"), "new").unwrap_err();
    assert_eq!(names(&outside), [""; 0]);
}

#[test]
fn other_names_of_an_output_keep_the_old_text() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let theirs = outside.path().join("theirs.md");
    fs::write(&theirs, "theirs").unwrap();
    fs::hard_link(&theirs, inside.path().join("a.md")).unwrap();
    put(&within(inside.path(), "a.md"), "ours").unwrap();
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    assert_eq!(
        fs::read_to_string(inside.path().join("a.md")).unwrap(),
        "ours"
    );
}

#[test]
fn pipe_and_device_are_refused_and_stay() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("a.md");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let error = put(&within(folder.path(), "a.md"), "x").unwrap_err();
    assert!(
        error.contains("it is there and is not a regular file"),
        "{error}"
    );
    assert!(!fs::symlink_metadata(&pipe).unwrap().is_file());
    let error = put(&within(folder.path(), "/dev/null"), "x").unwrap_err();
    assert!(
        error.contains("it is there and is not a regular file"),
        "{error}"
    );
}

#[test]
fn name_that_no_file_system_takes_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = put(&within(folder.path(), &"x".repeat(5000)), "x").unwrap_err();
    assert!(error.contains("File name too long"), "{error}");
    assert_eq!(names(&folder), [""; 0]);
}
