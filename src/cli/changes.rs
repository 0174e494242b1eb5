//! Hears when the files of a configuration may have changed.
//!
//! The system's notices come fast and in pieces: an editor writes a new file
//! and renames it, a checkout touches a hundred. So a change counts once it
//! has been quiet for a moment. Where the system gives no notice, as on some
//! network disks, a look takes its place: once a minute, or less often where it
//! takes long.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tracing::{debug, warn};

use crate::config::is_yaml;
use crate::engine::ports::Clock;

/// How long it must be quiet. An editor's two steps are milliseconds apart.
const QUIET: Duration = Duration::from_millis(300);
/// How often the quiet is waited for: something that never rests must not keep a change away for ever.
const MOST_WAITS: u32 = 10;
/// How often we look without a notice.
const LOOK: Duration = Duration::from_mins(1);
/// And how much longer than a look we rest after it, as ten thousand files take a tenth of a second, twice each time: so
/// at most a thousandth of the time goes into looking.
const REST: u32 = 2_000;
/// However long a look takes.
const LONGEST_REST: Duration = Duration::from_mins(10);

/// Hears changes in some folders.
#[derive(Debug)]
pub struct Changes {
    /// Its notices end when it is dropped; `None` if the system has none to give.
    watcher: Option<RecommendedWatcher>,
    folders: BTreeSet<PathBuf>,
    heard: UnboundedReceiver<()>,
    /// A change that was heard and not yet told: whoever waited was called away.
    pending: bool,
    /// How long until we look without a notice.
    rest: Duration,
}

impl Changes {
    /// Begins to listen; nothing is told of what is there already.
    #[must_use]
    pub fn listen() -> Self {
        let (tell, heard) = unbounded_channel();
        let watcher = notify::recommended_watcher(move |event| tell_if_yaml(&tell, event));
        let watcher = watcher
            .inspect_err(|error| warn!(%error, "no notice of changed files; they are looked at once a minute"))
            .ok();
        Self {
            watcher,
            folders: BTreeSet::new(),
            heard,
            pending: false,
            rest: LOOK,
        }
    }

    /// Takes note of how long a look took.
    pub fn rest_after(&mut self, look: Duration) {
        self.rest = look.saturating_mul(REST).clamp(LOOK, LONGEST_REST);
    }

    /// Listens in these folders from here on. A folder that took the place of another of its name is a new one.
    pub fn listen_in(&mut self, folders: BTreeSet<PathBuf>) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        for folder in &self.folders {
            // A folder that is gone is no longer listened in.
            let _ = watcher.unwatch(folder);
        }
        for folder in &folders {
            if let Err(error) = watcher.watch(folder, RecursiveMode::NonRecursive) {
                debug!(folder = %folder.display(), %error, "no notice of changes in this folder");
            }
        }
        self.folders = folders;
    }

    /// Waits until something may have changed and it has been quiet since. May be dropped while it waits.
    pub async fn next(&mut self, clock: &dyn Clock) {
        if !self.pending {
            tokio::select! {
                Some(()) = self.heard.recv() => {}
                () = clock.sleep(self.rest) => {}
            }
            self.pending = true;
        }
        for _ in 0..MOST_WAITS {
            tokio::select! {
                Some(()) = self.heard.recv() => while self.heard.try_recv().is_ok() {},
                () = clock.sleep(QUIET) => break,
            }
        }
        self.pending = false;
    }
}

/// Outputs and logs may lie in the same folder; they say nothing about the configuration.
fn tell_if_yaml(tell: &UnboundedSender<()>, event: notify::Result<Event>) {
    let counts = match event {
        // To read a file is no change of it; we do so ourselves.
        Ok(event) if event.kind.is_access() => false,
        Ok(event) => event.need_rescan() || event.paths.iter().any(|path| may_count(path)),
        // Something was lost: look.
        Err(_) => true,
    };
    if counts {
        // Whoever listened may be gone.
        let _ = tell.send(());
    }
}

/// A YAML file, or something without an extension: a folder may have come or gone.
fn may_count(path: &Path) -> bool {
    path.extension().is_none() || is_yaml(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    fn wait<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn written_yaml_file_is_heard_once_it_is_quiet_and_another_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut changes = Changes::listen();
        changes.listen_in(BTreeSet::from([folder.path().to_owned()]));
        std::fs::write(folder.path().join("a.md"), "x").unwrap();
        std::fs::write(folder.path().join("a.yaml"), "x").unwrap();
        wait(changes.next(&SystemClock::new()));
        assert!(!changes.pending);
        assert!(changes.heard.try_recv().is_err());
    }

    // Ten thousand files were looked at every minute, which alone took more of a core than an idle daemon may.
    #[test]
    fn looks_that_take_long_are_rarer() {
        let mut changes = Changes::listen();
        for (look, rest) in [(0, 60), (30, 60), (100, 200), (60_000, 600)] {
            changes.rest_after(Duration::from_millis(look));
            assert_eq!(changes.rest, Duration::from_secs(rest), "{look} ms");
        }
    }

    #[test]
    fn only_what_may_be_yaml_counts() {
        for (path, counts) in [
            ("jobs/a.yaml", true),
            ("jobs/a.YML", true),
            ("jobs", true),
            ("out/a.md", false),
            ("offpeak.db-wal", false),
            (".a.yaml.swp", false),
        ] {
            assert_eq!(may_count(Path::new(path)), counts, "{path}");
        }
    }

    #[test]
    fn change_that_was_heard_outlives_whoever_waited_for_it() {
        let (tell, heard) = unbounded_channel();
        let mut changes = Changes {
            watcher: None,
            folders: BTreeSet::new(),
            heard,
            pending: false,
            rest: LOOK,
        };
        tell.send(()).unwrap();
        let clock = SystemClock::new();
        wait(async {
            tokio::select! {
                biased;
                () = changes.next(&clock) => unreachable!("the quiet is waited for"),
                () = std::future::ready(()) => {}
            }
            assert!(changes.pending);
            changes.next(&clock).await;
        });
        assert!(!changes.pending);
    }
}
