//! From options to a configuration: reads every file, reports every mistake.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::engine::{GroupPlan, Plan};
use crate::job::JobId;

use super::checked::{Config, StoreConfig};
use super::context::{Context, shown_path};
use super::crowd;
use super::decode_job::DecodedJob;
use super::decode_rules::Accepted;
use super::decode_settings::{Settings, settings};
use super::fields::Field;
use super::files::{self, Document};
use super::mistakes::{ConfigErrors, Mistake, Unreadable};
use super::options::Options;
use super::read_jobs::Jobs;
use super::source::Source;
use super::sources::{JobPlaces, Sources};
use super::weigh::weigh;
use super::zoneinfo::ZoneShelf;
use super::{DEFAULTS, decode_keys};

/// What could be read, and everything that is wrong.
#[derive(Debug)]
pub struct Reading {
    /// Every job whose schedule could be read. It is there to be linted: only without mistakes is it to be run.
    pub config: Config,
    /// What is wrong, in the order of the files.
    pub mistakes: Vec<Mistake>,
    /// What the settings or a job say is no error.
    pub advice: Vec<Mistake>,
    /// Files and folders that could not be read, or are no YAML.
    pub unreadable: Vec<Unreadable>,
    /// The first mistake that may hide a firing or a rule, listed or not: what is meant there is not known.
    pub hides: Option<Mistake>,
    /// Where jobs and cron expressions stand.
    pub sources: Sources,
    /// The settings file, if there is one.
    pub settings_file: Option<PathBuf>,
}

/// Reads a configuration that is to be run.
///
/// # Errors
///
/// Everything that is wrong, in one go.
pub fn load(options: &Options) -> Result<Config, ConfigErrors> {
    let reading = read(options);
    if reading.mistakes.is_empty() && reading.unreadable.is_empty() {
        return Ok(reading.config);
    }
    Err(reading.into_errors())
}

impl Reading {
    /// What is wrong in the settings file, without its advice.
    pub fn of_settings(&self) -> impl Iterator<Item = &Mistake> {
        let is_there = |mistake: &&Mistake| {
            self.settings_file.as_deref() == Some(mistake.place.source().path())
        };
        self.mistakes.iter().filter(is_there)
    }

    /// Whether the settings file could be read, or there is none.
    #[must_use]
    pub fn are_settings_read(&self) -> bool {
        let path = shown_path(&self.config.settings_file, &self.config.folder);
        self.unreadable.iter().all(|it| it.path != path)
    }

    /// What is wrong, apart from what could be read.
    #[must_use]
    pub fn into_errors(self) -> ConfigErrors {
        ConfigErrors {
            unreadable: self.unreadable,
            mistakes: self.mistakes,
        }
    }
}

/// Reads what can be read.
#[must_use]
pub fn read(options: &Options) -> Reading {
    let folder = files::absolute(&options.folder);
    let mut cx = Context::new(&folder, ZoneShelf::open(&options.zoneinfo));
    let mut unreadable = Vec::new();
    let settings = read_settings(&mut cx, options, &folder, &mut unreadable);
    let mut jobs = Jobs::new(&settings);
    let (paths, failures) = files::find_jobs(&options.jobs, &folder);
    unreadable.extend(failures);
    for path in paths {
        match masked(files::read(&path, &folder, &options.edited)) {
            Ok(document) => jobs.read(&mut cx, &document),
            Err(failure) => unreadable.push(failure),
        }
    }
    let store = options.store_folder(&folder, &settings.store.0);
    let jobs = jobs.finish(&mut cx, &store);
    let Context {
        mistakes,
        zones,
        crowd: found,
        ..
    } = cx;
    unreadable.extend(found.into_overfull());
    let (config, sources) = assemble(options, &folder, settings, zones, jobs);
    let (mistakes, advice): (Vec<Mistake>, _) = weigh(mistakes, &config, &sources)
        .into_iter()
        .partition(Mistake::is_stopping);
    let hides = mistakes.iter().find(|mistake| mistake.may_hide()).cloned();
    Reading {
        config,
        mistakes: crowd::listed(mistakes),
        advice: crowd::listed(advice),
        unreadable,
        hides,
        sources,
        settings_file: settings_path(options, &folder),
    }
}

/// The settings file: the one that is named, else the usual one if it is there.
fn settings_path(options: &Options, folder: &Path) -> Option<PathBuf> {
    let is_named = options.config_file.is_some();
    Some(options.settings_file(folder)).filter(|path| is_named || files::is_there(path))
}

/// A file without the texts that may be secrets in the wrong place.
fn masked(read: Result<Document, Unreadable>) -> Result<Document, Unreadable> {
    let document = read?;
    match decode_keys::masked(&document.source, &document.tree) {
        Some(masked) => files::parse(masked),
        None => Ok(document),
    }
}

fn read_settings(
    cx: &mut Context<'_>,
    options: &Options,
    folder: &Path,
    unreadable: &mut Vec<Unreadable>,
) -> Settings {
    let base = Source::new(
        "defaults.yaml".into(),
        "built-in defaults",
        DEFAULTS.to_owned(),
    );
    let base = files::parse(base).expect("a test parses defaults.yaml");
    let user = settings_path(options, folder).and_then(|path| {
        let read = masked(files::read(&path, folder, &options.edited));
        read.map_err(|failure| unreadable.push(failure)).ok()
    });
    let base_start = base.start();
    let base_field = Field {
        name: "defaults",
        key: &base_start,
        node: &base.tree,
    };
    let Some(user) = user else {
        return settings(cx, None, base_field, folder);
    };
    cx.report_secrets(&user.source);
    let user_start = user.start();
    let user_field = Field {
        name: "offpeak.yaml",
        key: &user_start,
        node: &user.tree,
    };
    settings(cx, Some(user_field), base_field, user.folder())
}

fn assemble(
    options: &Options,
    folder: &Path,
    settings: Settings,
    zones: ZoneShelf<'_>,
    jobs: Vec<(JobId, DecodedJob)>,
) -> (Config, Sources) {
    let mut sources = Sources::default();
    let mut groups = BTreeMap::new();
    for key in settings.keys.values() {
        let pickup = settings.pickup.get(&key.group);
        if let Some((_, places)) = pickup {
            sources.add_pickup(key.group.clone(), places.clone());
        }
        let plan = GroupPlan {
            guard: settings.guard,
            pickup: pickup.map(|(timetable, _)| timetable.clone()),
        };
        groups.insert(key.group.clone(), plan);
    }
    let (mut planned, mut accepted) = (Vec::with_capacity(jobs.len()), BTreeMap::new());
    for (id, decoded) in jobs {
        let (mut reasons, mut accepts) = (BTreeMap::new(), BTreeMap::new());
        for (rule, Accepted { reason, place }) in decoded.accepted {
            reasons.insert(rule, reason);
            accepts.insert(rule, place);
        }
        if !reasons.is_empty() {
            accepted.insert(id.clone(), reasons);
        }
        let places = JobPlaces {
            start: decoded.place,
            crons: decoded.crons,
            accepts,
            asking: decoded.asking,
        };
        sources.add_job(id.clone(), places);
        planned.push((id, decoded.planned));
    }
    let (store, keep) = &settings.store;
    let config = Config {
        folder: folder.to_owned(),
        store: StoreConfig {
            path: options.store_folder(folder, store),
            keep: *keep,
        },
        settings_file: options.settings_file(folder),
        job_folders: files::job_folders(&options.jobs, folder),
        keys: settings.keys,
        upstream: settings.upstream,
        comfortable_gap: settings.rules.comfortable_gap,
        levels: settings.rules.levels,
        accepted,
        guard: settings.guard,
        prices: settings.prices,
        expires_after: settings.defer.expires_after,
        plan: Arc::new(Plan {
            jobs: planned.into_iter().collect(),
            groups,
            peaks: settings.rules.peaks,
            min_gap: settings.rules.min_gap,
            grace: settings.grace,
            edge: None,
        }),
        notify: settings.notify,
        deadman: settings.deadman,
        zone_release: zones.release().to_owned(),
        zones: zones.into_zones(),
    };
    (config, sources)
}
