//! Where a disk can be made full: a small one of its own, or a limit on the length of files.
//!
//! A test runs again as a child of itself. In a namespace of its own it may mount a small disk, which gives the real
//! error; where namespaces are not permitted, and beside them, a limit on the length of files makes every write fail
//! that needs room.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a child learns where it is.
const ROOM: &str = "OFFPEAK_TEST_ROOM";

/// A disk that can be made full and read-only.
pub enum Disk {
    /// A small one, mounted over a folder.
    Small(PathBuf),
    /// A limit on the files of one process.
    Limited,
}

/// Runs the ignored test `part` where files have a limit, and on a small disk too if this user may mount one.
#[track_caller]
pub fn in_each_room(part: &str) {
    // Both at once: what such a test does is to wait for a daemon that waits for the disk.
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([part, "--exact", "--ignored", "--nocapture"])
        .env(ROOM, "limited")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if may_mount() {
        in_small_room(part);
    }
    assert_passed(&limited.wait_with_output().unwrap());
}

/// Runs the ignored test `part` where it may mount.
#[track_caller]
pub fn in_small_room(part: &str) {
    let small = Command::new("unshare")
        .arg("-rm")
        .arg(std::env::current_exe().unwrap())
        .args([part, "--exact", "--ignored", "--nocapture"])
        .env(ROOM, "small")
        .output();
    assert_passed(&small.unwrap());
}

/// Whether this user may have a namespace with mounts of its own; never a reason to be silent in CI.
pub fn may_mount() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mount = Command::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "none"])
        .arg(folder.path())
        .output();
    let may_mount = mount.is_ok_and(|done| done.status.success());
    #[expect(clippy::disallowed_methods, reason = "a test asks where it runs")]
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(may_mount || !is_ci, "CI must permit mounts in a namespace");
    if !may_mount {
        let why = "no small disk: `unshare -rm mount` is not permitted here\n";
        let _ = std::io::stderr().write_all(why.as_bytes());
    }
    may_mount
}

#[track_caller]
fn assert_passed(done: &std::process::Output) {
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {done:?}");
}

impl Disk {
    /// The disk of the room that this child is in, under a folder.
    #[expect(
        clippy::disallowed_methods,
        reason = "a child learns its room from the environment"
    )]
    pub fn under(folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        match std::env::var(ROOM).as_deref() {
            Ok("small") => {
                let mut mount = Command::new("mount");
                succeeds(
                    mount
                        .args(["-t", "tmpfs", "-o", "size=1m", "none"])
                        .arg(folder),
                );
                Self::Small(folder.to_owned())
            }
            Ok("limited") => Self::Limited,
            other => panic!("not in a room: {other:?}"),
        }
    }

    /// Leaves no room for what a process writes.
    pub fn fill(&self, process: u32) {
        match self {
            Self::Small(folder) => {
                let mut filler = fs::File::create(folder.join("filler")).unwrap();
                while filler.write_all(&[0; 512]).is_ok() {}
            }
            Self::Limited => limit(process, "1:"),
        }
    }

    /// Gives the room back.
    pub fn free(&self, process: u32) {
        match self {
            Self::Small(folder) => fs::remove_file(folder.join("filler")).unwrap(),
            Self::Limited => limit(process, "unlimited:"),
        }
    }
}

/// Sets how long a file may become that a process writes, in bytes; the hard limit stays.
fn limit(process: u32, bytes: &str) {
    succeeds(
        Command::new("prlimit")
            .args(["--pid", &process.to_string()])
            .arg(format!("--fsize={bytes}")),
    );
}
