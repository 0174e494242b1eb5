//! `simulate`: what a schedule would do over many days, against a model of the upstream, in virtual time.
//!
//! Nothing is sent, nothing is run and nothing is written. Everything is repeatable: the same files, seeds and first
//! instant bring the same figures.

mod arms;
mod json;
mod judge;
mod loads;
mod schedule;
mod text;
mod world;

use std::io::Write;
use std::ops::Range;
use std::slice;

use super::{CliError, Context, Exit, args, validate};
use crate::sim::trial::Days;
use crate::sim::world::DEFAULT_WORLD;
use arms::{Arm, Effect};
use judge::Judged;
use loads::{Assumed, Guess};
use schedule::{Schedule, Which};
use world::World;

/// Lives through the days and prints; 0 done, 1 a condition holds or measured nothing, or the files have mistakes, 2
/// something could not be read.
pub fn run(
    context: &Context,
    args: &args::Simulate,
    out: &mut dyn Write,
) -> Result<Exit, CliError> {
    if args.print_world {
        out.write_all(DEFAULT_WORLD.as_bytes())?;
        return Ok(Exit::Done);
    }
    let from = args.from.unwrap_or_else(|| context.now());
    validate::provable(from)?;
    let world = World::read(context, args.world.as_deref())?;
    let days = Days {
        from,
        count: args.days,
    };
    let guess = Guess {
        unread_tokens: world.model.inputs.tokens,
        answer_share: world.model.answers.share_of_max,
    };
    let mut assumed = Assumed::default();
    let mut read =
        |which, files| Schedule::read(context, (which, files), (days, guess), &mut assumed);
    let new = read(Which::New, &args.jobs)?;
    let old = match &args.compare {
        Some(old) => Some(read(Which::Old, slice::from_ref(old))?),
        None => None,
    };
    let head = Head {
        days,
        seeds: args.seed..args.seed + args.seeds,
        world: &world,
    };
    let found = Trial::live(head, (new, old), args)?;
    let assumed = assumed.lines(&guess);
    let trial = Trial { assumed, ..found };
    let printed = if context.is_json() {
        writeln!(out, "{}", json::trial(&trial))
    } else {
        out.write_all(text::trial(&trial, context).as_bytes())
    };
    match printed {
        // A reader that has seen enough changes nothing about the verdict.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(trial.exit()),
    }
}

/// What holds for all arms.
#[derive(Debug)]
struct Head<'a> {
    days: Days,
    seeds: Range<u64>,
    world: &'a World,
}

/// Everything that is printed.
#[derive(Debug)]
struct Trial<'a> {
    head: Head<'a>,
    new: Schedule,
    old: Option<Schedule>,
    /// The daemon on the new schedule is the last one; none if there is no slot.
    arms: Vec<Arm>,
    effects: Vec<Effect>,
    assumed: Vec<String>,
    judged: Vec<Judged>,
}

impl<'a> Trial<'a> {
    fn live(
        head: Head<'a>,
        (new, old): (Schedule, Option<Schedule>),
        args: &args::Simulate,
    ) -> Result<Self, CliError> {
        let schedules = [Some(&new), old.as_ref()];
        let has_slots = schedules.into_iter().flatten().all(Schedule::has_slots);
        let arms = if has_slots {
            let lived = arms::live((&new, old.as_ref()), &head.world.model, &head.seeds);
            lived.map_err(|error| head.world.refused(&error))?
        } else {
            Vec::new()
        };
        let summary = arms.last().map(|arm| &arm.summary);
        let judged = args.fail_if.iter();
        let judged = judged.map(|condition| Judged::of(*condition, summary));
        Ok(Self {
            effects: arms::effects(&arms, head.seeds.start),
            judged: judged.collect(),
            head,
            new,
            old,
            arms,
            assumed: Vec::new(),
        })
    }

    /// The schedules, the old one first.
    fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        self.old.iter().chain([&self.new])
    }

    /// Whether no condition speaks against the schedule.
    fn is_ok(&self) -> bool {
        !self.judged.iter().any(Judged::fails)
    }

    fn exit(&self) -> Exit {
        if self.is_ok() { Exit::Done } else { Exit::No }
    }
}
