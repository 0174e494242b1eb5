//! `report --html`: the page, where it goes, and when there is none.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::cli_report::{answered, folder, report, sql};
use crate::scenario::Scenario;

const PAGE: [&str; 2] = ["--html", "page.html"];

/// A fortnight of a run a day, each with a failed attempt before its answer.
fn fortnight() -> Scenario {
    let scenario = folder();
    for day in 0..14 {
        let minutes = day * 24 * 60;
        answered(
            &scenario,
            day + 1,
            "digest",
            minutes,
            &[300, 2000 + day * 100],
        );
    }
    scenario
}

/// What lies in the folder beside the page of a write that was cut short.
fn leftovers(scenario: &Scenario) -> Vec<String> {
    let files = scenario.files(".").into_iter();
    files.filter(|file| file.contains(".tmp")).collect()
}

#[test]
fn page_is_written_beside_the_report_and_again() {
    let scenario = fortnight();
    let path = scenario.path().canonicalize().unwrap().join("page.html");
    let plain = scenario.run(&report(&[])).exits(0).stdout;
    for _ in 0..2 {
        let done = scenario.run(&report(&PAGE)).exits(0);
        assert_eq!(
            done.stdout,
            format!("{plain}\nwrote the page {}\n", path.display())
        );
    }
    let page = scenario.read("page.html");
    assert!(page.starts_with("<!doctype html>\n<html lang=\"en\">") && page.ends_with("</html>\n"));
    assert_eq!(leftovers(&scenario), [""; 0]);
}

#[test]
fn page_has_the_pictures_with_their_numbers_and_the_advice() {
    let scenario = fortnight();
    answered(&scenario, 20, "links", 2, &[300, 8000]);
    scenario.run(&report(&PAGE)).exits(0);
    let page = scenario.read("page.html");
    for name in ["latency", "clock", "counts"] {
        assert!(
            page.contains(&format!("<title id=\"{name}-picture-wide-title\">")),
            "{name}: {page}"
        );
        assert!(
            page.contains(&format!("<caption id=\"{name}-table\">")),
            "{name}"
        );
    }
    // Fourteen runs at five in the morning in Japan, the first on the fifth.
    assert!(page.contains("<bdi>2026-12-05</bdi>") && page.contains("<bdi>2026-12-18</bdi>"));
    assert!(page.contains(
        "<bdi>2026-12-05 05:00:00</bdi></th><td class=\"n\">300ms</td><td><bdi>failed</bdi></td>"
    ));
    assert!(page.contains("peak windows 07:00-09:00, 18:00-23:00"));
    assert!(
        page.contains("jobs/digest.yaml:1</bdi>: <code>cron</code>"),
        "{page}"
    );
}

#[test]
fn windows_are_those_of_the_settings_in_their_own_zone() {
    let scenario = fortnight();
    let settings = scenario.read("offpeak.yaml");
    scenario.write(
        "offpeak.yaml",
        format!("{settings}rules: {{ peaks: {{ timezone: UTC, windows: [\"03:00-05:30\"] }} }}\n"),
    );
    scenario.run(&report(&PAGE)).exits(0);
    assert!(
        scenario
            .read("page.html")
            .contains("peak windows 12:00-14:30")
    );
}

#[test]
fn dash_prints_the_page_in_place_of_the_report() {
    let scenario = fortnight();
    let done = scenario.run(&report(&["--html", "-"])).exits(0);
    assert!(done.stdout.starts_with("<!doctype html>") && done.stdout.ends_with("</html>\n"));
    assert!(!scenario.path().join("-").exists());
}

#[test]
fn page_goes_to_its_file_and_the_format_to_standard_output() {
    let scenario = fortnight();
    for format in ["json", "csv"] {
        let plain = scenario.run(&report(&["--format", format])).exits(0).stdout;
        let both = [&report(&PAGE)[..], &["--format", format]].concat();
        assert_eq!(scenario.run(&both).exits(0).stdout, plain);
        assert!(scenario.read("page.html").starts_with("<!doctype html>"));
        fs::remove_file(scenario.path().join("page.html")).unwrap();
        scenario
            .run(&report(&["--html", "-", "--format", format]))
            .exits(2)
            .complains("standard output can take one of --html - and --format json or csv");
    }
}

#[test]
fn comparison_stands_on_the_page() {
    let scenario = folder();
    answered(&scenario, 1, "digest", -15 * 24 * 60, &[300, 300, 4000]);
    answered(&scenario, 2, "digest", 0, &[2000]);
    let span = [
        "report",
        "--since",
        "2026-12-01",
        "--until",
        "2026-12-15",
        "--compare",
        "14d",
    ];
    scenario
        .run(&[&span[..], &PAGE].concat())
        .exits(0)
        .says("wrote the page");
    let page = scenario.read("page.html");
    assert!(page.contains(
        "<bdi>latency p99</bdi></th><td class=\"n\">4.0s</td><td class=\"n\">2.0s</td><td class=\"n\">-50 %</td>"
    ));
    // Nothing now is something to tell beside what was before.
    sql(
        &scenario,
        "DELETE FROM attempts WHERE call = 2; DELETE FROM calls WHERE id = 2; DELETE FROM runs WHERE id = 2",
    );
    scenario
        .run(&[&span[..], &PAGE].concat())
        .exits(0)
        .says("wrote the page");
    let page = scenario.read("page.html");
    assert!(
        page.contains("<h2 id=\"comparison\">") && !page.contains("<svg"),
        "{page}"
    );
}

#[test]
fn nothing_to_report_writes_no_page_and_leaves_the_old_one() {
    let none = Scenario::new().job("digest", "0 5 * * *");
    none.run(&["report", "--html", "page.html"])
        .exits(0)
        .says("nothing to report: no work was due from")
        .says("\nno page was written\n");
    assert!(!none.path().join("page.html").exists() && !none.path().join(".offpeak").exists());
    let scenario = fortnight();
    scenario.run(&report(&PAGE)).exits(0);
    let old = scenario.read("page.html");
    let long_ago = ["report", "--since", "2026-01-01", "--until", "2026-02-01"];
    for format in ["human", "json", "csv"] {
        scenario
            .run(&[&long_ago[..], &PAGE, &["--format", format]].concat())
            .exits(0);
        assert_eq!(scenario.read("page.html"), old, "{format}");
    }
    let printed = scenario
        .run(&[&long_ago[..], &["--html", "-"]].concat())
        .exits(0)
        .stdout;
    assert!(
        printed.starts_with("nothing to report") && !printed.contains('<'),
        "{printed}"
    );
}

#[test]
fn one_sample_is_told_as_that_on_the_page() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[700]);
    scenario.run(&report(&PAGE)).exits(0);
    let page = scenario.read("page.html");
    assert!(page.contains(">few samples: 1 attempt</text>"), "{page}");
    assert!(page.contains("Few samples: 1 attempt in all. Percentiles of so few say little."));
}

#[test]
fn file_that_must_not_be_replaced_is_refused_and_stays() {
    let scenario = fortnight();
    scenario.write("notes.txt", "mine");
    scenario.write("other.html", "<!doctype html><p>mine</p>");
    fs::create_dir(scenario.path().join("folder")).unwrap();
    for (path, told) in [
        (
            "jobs/digest.yaml",
            "--html jobs/digest.yaml: jobs and settings have such names",
        ),
        (
            "notes.txt",
            "--html notes.txt: it is there and holds no page of offpeak",
        ),
        (
            "other.html",
            "--html other.html: it is there and holds no page of offpeak",
        ),
        ("folder", "--html folder: it is a folder"),
        (
            "none/page.html",
            "--html none/page.html: there is no such folder",
        ),
    ] {
        let args = ["report", "--since", "2026-12-01", "--html", path];
        let done = scenario.run(&args).exits(2).complains(told);
        assert_eq!(done.stdout, "", "{path}");
    }
    assert_eq!(scenario.read("notes.txt"), "mine");
    assert_eq!(scenario.read("other.html"), "<!doctype html><p>mine</p>");
}

#[test]
fn page_that_cannot_be_written_is_told_with_its_path() {
    let scenario = fortnight();
    let locked = scenario.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    // Permissions do not bind root.
    if fs::write(locked.join("probe"), "").is_err() {
        let done = scenario
            .run(&report(&["--html", "locked/page.html"]))
            .exits(2);
        assert!(
            done.stderr.contains("locked/page.html: "),
            "{}",
            done.stderr
        );
        assert_eq!(done.stdout, "");
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    // No system lets anybody make a file there.
    let done = scenario
        .run(&report(&["--html", "/proc/page.html"]))
        .exits(2);
    assert!(done.stderr.contains("/proc/page.html: "), "{}", done.stderr);
    assert_eq!(done.stdout, "");
}

#[test]
fn names_in_the_store_bring_no_markup() {
    let scenario = folder();
    answered(&scenario, 1, "digest", 0, &[300, 9000]);
    let long = "x".repeat(3000);
    for (id, name) in [
        (2, "<script>alert(1)</script>"),
        (3, "\"><img src=x onerror=alert(1)>"),
        (4, "\u{202e}\u{5e2}\u{5d1}\u{5e8}"),
        (5, long.as_str()),
    ] {
        answered(&scenario, id, "links", id, &[300, 9000]);
        rusqlite::Connection::open(scenario.path().join(".offpeak/offpeak.db"))
            .unwrap()
            .execute(
                "UPDATE runs SET job = ?1, grp = ?1, model = ?1 WHERE id = ?2",
                (name, id),
            )
            .unwrap();
    }
    scenario.run(&report(&PAGE)).exits(0);
    let page = scenario.read("page.html");
    assert!(
        !page.contains("<script") && !page.contains("<img"),
        "{page}"
    );
    assert!(page.contains("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>"));
    assert!(page.contains("<bdi>\u{202e}\u{5e2}\u{5d1}\u{5e8}</bdi>") && page.contains(&long));
}

#[test]
fn page_of_a_store_that_cannot_be_read_is_not_written() {
    let scenario = fortnight();
    sql(&scenario, "PRAGMA user_version = 99");
    scenario.run(&report(&PAGE)).exits(2).complains("99");
    assert!(!scenario.path().join("page.html").exists());
}

/// The store would take a file of one of its names for its own, and a link or a device is no file to replace.
#[test]
fn page_never_goes_into_the_store_nor_where_there_is_no_file_to_replace() {
    let scenario = fortnight();
    let link = scenario.path().join("link.html");
    std::os::unix::fs::symlink("nowhere.html", &link).unwrap();
    for (file, obstacle) in [
        (".offpeak/offpeak.db-wal", "the store keeps its files there"),
        (
            ".offpeak/offpeak.db-journal",
            "the store keeps its files there",
        ),
        (".offpeak/page.html", "the store keeps its files there"),
        ("link.html", "it is a link that leads nowhere"),
        ("/dev/page.html", "the system keeps that folder"),
        ("/proc/page.html", "the system keeps that folder"),
    ] {
        scenario
            .run(&report(&["--html", file]))
            .exits(2)
            .complains(obstacle);
    }
    let is_link = fs::symlink_metadata(&link).unwrap().is_symlink();
    assert!(is_link && !scenario.path().join("nowhere.html").exists());
    assert!(!scenario.path().join(".offpeak/page.html").exists());
    scenario.run(&report(&PAGE)).exits(0);
}
