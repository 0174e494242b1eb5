//! The newest zone data at hand: the system's when it is newer than the bundled one.
//!
//! Governments change clocks with weeks of notice; a system that is kept up to
//! date knows before a binary that was built last year.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::schedule::{Zone, ZoneError, Zones};

/// Where systems keep compiled zone data.
pub const SYSTEM_ZONEINFO: &str = "/usr/share/zoneinfo";
/// The largest `TZif` files have some four thousand bytes; a device or a log is no zone.
const MAX_TZIF_BYTES: u64 = 256 * 1_024;

/// Zone data, with the system's newer files laid over it as zones are asked for.
#[derive(Debug)]
pub struct ZoneShelf<'o> {
    zones: Zones,
    newer: Option<Newer<'o>>,
    seen: BTreeSet<String>,
}

#[derive(Debug)]
struct Newer<'o> {
    root: &'o Path,
    release: String,
}

impl<'o> ZoneShelf<'o> {
    /// Compares the release under a folder with the bundled one.
    #[must_use]
    pub fn open(root: &'o Path) -> Self {
        Self::newer_than(root, Zones::bundled_release())
    }

    fn newer_than(root: &'o Path, bundled: &str) -> Self {
        // A release is a year and letters, `2025b`: the order of texts is the order of releases.
        let newer = release(root)
            .filter(|release| release.as_str() > bundled)
            .map(|release| Newer { root, release });
        Self {
            zones: Zones::bundled(),
            newer,
            seen: BTreeSet::new(),
        }
    }

    /// The release that zones are taken from.
    #[must_use]
    pub fn release(&self) -> &str {
        self.newer
            .as_ref()
            .map_or(Zones::bundled_release(), |newer| &newer.release)
    }

    /// The data as it is now: what was laid over stays.
    #[must_use]
    pub fn into_zones(self) -> Zones {
        self.zones
    }

    /// The zone of a name.
    ///
    /// # Errors
    ///
    /// No data has the name. A file of the system that is no zone data counts as not there.
    pub fn get(&mut self, name: &str) -> Result<Zone, ZoneError> {
        if let Some(newer) = self.newer.as_ref().filter(|_| is_zone_path(name))
            && self.seen.insert(name.to_owned())
            && let Some(tzif) = read_tzif(&newer.root.join(name))
        {
            // The bundled data stands in for a file that is broken.
            let _broken = self.zones.overlay(name, &tzif).is_err();
        }
        self.zones.get(name)
    }
}

/// The IANA release under a folder, such as `2026b`.
fn release(root: &Path) -> Option<String> {
    let first_line = |name: &str| {
        let mut line = String::new();
        BufReader::new(File::open(root.join(name)).ok()?.take(256))
            .read_line(&mut line)
            .ok()?;
        let word = line.trim().trim_start_matches("# version ").to_owned();
        is_release(&word).then_some(word)
    };
    // `tzdata.zi` comes with the data itself; `+VERSION` is what BSD and macOS have.
    first_line("tzdata.zi").or_else(|| first_line("+VERSION"))
}

fn is_release(word: &str) -> bool {
    let (year, letters) = word.split_at_checked(4).unwrap_or_default();
    year.bytes().all(|byte| byte.is_ascii_digit())
        && (1..=2).contains(&letters.len())
        && letters.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a name can be joined to a folder without leaving it.
fn is_zone_path(name: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+');
    name.len() <= 64
        && name.split('/').all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic()) && part.chars().all(inside)
        })
}

fn read_tzif(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_TZIF_BYTES).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(b"TZif").then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{DateTime, Utc};

    /// A `TZif` file of version 2 with one offset for ever, two hours east, named `XYZ`.
    fn two_hours_east() -> Vec<u8> {
        let block = |version: u8| {
            let mut bytes = b"TZif".to_vec();
            bytes.push(version);
            bytes.extend([0; 15]);
            // isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt
            for count in [0_u32, 0, 0, 0, 1, 4] {
                bytes.extend(count.to_be_bytes());
            }
            bytes.extend(7_200_i32.to_be_bytes());
            bytes.extend([0, 0]);
            bytes.extend(b"XYZ\0");
            bytes
        };
        let mut bytes = block(b'2');
        bytes.extend(block(b'2'));
        bytes.extend(b"\nXYZ-2\n");
        bytes
    }

    fn folder(release_line: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tzdata.zi"), release_line).unwrap();
        std::fs::create_dir(folder.path().join("Asia")).unwrap();
        std::fs::write(folder.path().join("Asia/Tokyo"), two_hours_east()).unwrap();
        std::fs::write(folder.path().join("Asia/Seoul"), "no zone data").unwrap();
        folder
    }

    fn offset(shelf: &mut ZoneShelf<'_>, name: &str) -> i32 {
        let at = DateTime::<Utc>::from_timestamp(1_800_000_000, 0).unwrap();
        shelf.get(name).unwrap().offset_at(at)
    }

    #[test]
    fn newer_system_data_wins_zone_by_zone() {
        let folder = folder("# version 2099b\nR …\n");
        let mut shelf = ZoneShelf::open(folder.path());
        assert_eq!(shelf.release(), "2099b");
        assert_eq!(offset(&mut shelf, "Asia/Tokyo"), 7_200);
        assert_eq!(
            offset(&mut shelf, "Asia/Seoul"),
            32_400,
            "a broken file leaves the bundled zone"
        );
        assert_eq!(
            offset(&mut shelf, "Asia/Kathmandu"),
            20_700,
            "a missing file leaves the bundled zone"
        );
    }

    #[test]
    fn older_or_equal_system_data_is_left_alone() {
        for line in [
            "# version 2019a",
            "no release",
            "",
            &format!("# version {}", Zones::bundled_release()),
        ] {
            let folder = folder(line);
            let mut shelf = ZoneShelf::open(folder.path());
            assert_eq!(shelf.release(), Zones::bundled_release(), "{line}");
            assert_eq!(offset(&mut shelf, "Asia/Tokyo"), 32_400, "{line}");
        }
    }

    #[test]
    fn a_version_file_alone_names_the_release_too() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("+VERSION"), "2098c\n").unwrap();
        assert_eq!(ZoneShelf::open(folder.path()).release(), "2098c");
    }

    #[test]
    fn a_folder_that_is_not_there_leaves_the_bundled_data() {
        let mut shelf = ZoneShelf::open(Path::new("/nonexistent/zoneinfo"));
        assert_eq!(offset(&mut shelf, "Asia/Tokyo"), 32_400);
    }

    #[test]
    fn a_name_never_leaves_the_folder() {
        for name in [
            "../etc/passwd",
            "/etc/passwd",
            "Asia/../../x",
            "",
            "Asia//Tokyo",
            "Asia/",
            "a\0b",
            ".hidden",
        ] {
            assert!(!is_zone_path(name), "{name:?}");
        }
        for name in [
            "Asia/Tokyo",
            "Etc/GMT+9",
            "America/Port-au-Prince",
            "America/Argentina/Buenos_Aires",
            "UTC",
        ] {
            assert!(is_zone_path(name), "{name:?}");
        }
    }
}
