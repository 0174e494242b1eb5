//! What comes in from outside while the engine serves: signals, changed files, notices.
//!
//! Each has a loop of its own, so that a reload that takes long keeps no stop
//! signal waiting, and no sign of life of the engine.

use std::cell::Cell;
use std::time::Duration;

use tokio::signal::unix::Signal;
use tokio::sync::{mpsc, watch};
use tracing::info;

use super::bulletin::{Bulletin, FilesState};
use super::changes::Changes;
use super::chores::Running;
use super::reload::Reloader;
use super::telling::Teller;
use super::{Exit, logging, memory, signals};
use crate::engine::pulse::Beat;
use crate::engine::{Notice, Stop};

/// How long a plan that was taken over is waited for: a store that fails keeps it from standing.
const STANDS_WITHIN: Duration = Duration::from_secs(10);

/// How often the stop signal came.
#[derive(Debug, Clone, Copy)]
pub enum Told {
    /// Never.
    Never,
    /// Once: a drain is wanted.
    Once(Exit),
    /// Again: an end at once is wanted.
    Again(Exit),
}

/// What comes in from outside while the engine serves.
#[derive(Debug)]
pub struct Doors {
    /// Where the engine hears of the stop signal.
    pub stop: watch::Sender<Stop>,
    /// SIGTERM and SIGINT.
    pub stops: signals::Stops,
    /// SIGHUP.
    pub hangups: Signal,
    /// Changed files.
    pub changes: Changes,
    /// What the engine says.
    pub heard: mpsc::UnboundedReceiver<Notice>,
    /// Its signs of life.
    pub beats: watch::Receiver<Beat>,
}

impl Told {
    /// How the process ends if so many runs stayed open.
    #[must_use]
    pub const fn exit(self, unclosed: usize) -> Exit {
        match self {
            Self::Once(exit) if unclosed > 0 => exit,
            Self::Never | Self::Once(_) => Exit::Done,
            Self::Again(exit) => exit,
        }
    }

    const fn and(self, exit: Exit) -> Self {
        match self {
            Self::Never => Self::Once(exit),
            Self::Once(_) | Self::Again(_) => Self::Again(exit),
        }
    }
}

impl Doors {
    /// Logs notices, takes changed files over, passes stop signals on; ends when the engine has.
    pub async fn attend(
        self,
        reloader: &Reloader<'_>,
        bulletin: &Bulletin,
        chores: &Running,
    ) -> Told {
        let Self {
            stop,
            mut stops,
            hangups,
            changes,
            heard,
            beats,
        } = self;
        let told = Cell::new(Told::Never);
        let mut stopped = stop.subscribe();
        let stopping = async {
            loop {
                let exit = stops.next(&stop).await;
                told.set(told.get().and(exit));
                bulletin.stopping();
            }
        };
        let reloading = async {
            // Files that are being read when the stop signal comes are of no use any more.
            tokio::select! {
                _ = stopped.wait_for(|stop| *stop != Stop::Running) => {}
                () = reload(hangups, changes, reloader, bulletin) => {}
            }
        };
        tokio::select! {
            () = listen(heard, beats, reloader.teller, bulletin, chores) => {}
            () = async { tokio::join!(stopping, reloading); } => {}
        }
        told.get()
    }
}

/// Passes on what the engine says, until it has ended.
async fn listen(
    mut heard: mpsc::UnboundedReceiver<Notice>,
    mut beats: watch::Receiver<Beat>,
    teller: &Teller,
    bulletin: &Bulletin,
    chores: &Running,
) {
    loop {
        tokio::select! {
            biased;
            notice = heard.recv() => {
                let Some(notice) = notice else { return };
                logging::write(&notice);
                teller.hear(&notice);
                bulletin.hear(&notice);
                match notice {
                    Notice::Planned { .. } => memory::give_back(),
                    Notice::SteppedBack { .. } => chores.begin_anew().await,
                    _ => {}
                }
            }
            Ok(()) = beats.changed() => {
                let beat = beats.borrow_and_update().clone();
                bulletin.feel(beat).await;
            }
            () = bulletin.ask_again() => {}
        }
    }
}

/// Reads the files again at SIGHUP and when they change; never ends by itself.
async fn reload(
    mut hangups: Signal,
    mut changes: Changes,
    reloader: &Reloader<'_>,
    bulletin: &Bulletin,
) {
    let mut planned = bulletin.planned();
    // Whoever waits for us to be ready waits for the first plan. A sender that is gone would end the daemon too.
    let _ = planned.wait_for(|count| *count > 0).await;
    // What was written since the files were read is seen now.
    let mut is_wanted = reloader.has_changed().await;
    loop {
        if is_wanted {
            bulletin.reloading();
            planned.mark_unchanged();
            let files = reloader.reload().await;
            if files == FilesState::Taken {
                stand(&mut planned, reloader).await;
            }
            bulletin.reloaded(files);
        }
        let begun_at = reloader.clock.elapsed();
        if let Some(watched) = reloader.watched().await {
            changes.listen_in(watched.folders);
        }
        changes.rest_after(reloader.clock.elapsed().saturating_sub(begun_at));
        is_wanted = tokio::select! {
            _ = hangups.recv() => true,
            () = changes.next(&*reloader.clock) => reloader.has_changed().await,
        };
    }
}

/// Waits until the engine stands by the new plan.
async fn stand(planned: &mut watch::Receiver<u64>, reloader: &Reloader<'_>) {
    tokio::select! {
        _ = planned.changed() => {}
        () = reloader.clock.sleep(STANDS_WITHIN) => {
            info!("the new plan stands as soon as the store works");
        }
    }
}
