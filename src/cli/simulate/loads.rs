//! What the jobs of a loaded configuration send, in sizes: files are read, nothing is run and nothing is fetched.

mod assumed;
mod items;
mod sizes;

pub use assumed::Assumed;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Timelike, Utc};

use crate::answer::Usage;
use crate::anthropic::Models;
use crate::anthropic::estimate::input_tokens;
use crate::cli::{CliError, Context, money};
use crate::clock::SystemClock;
use crate::config::Config;
use crate::engine::ports::{Brief, Gathered, Unready, Workspace};
use crate::job::{Input, InputSource, Job, JobState, OnEmptyInput, Request, Template};
use crate::piece::Item;
use crate::sim::trial::{JobLoad, Workload};
use crate::slot::Slot;
use crate::workspace::Files;
use assumed::Kind;
use items::Items;

/// More tokens than this no request can hold, with two of them for seven bytes; a guess beyond it is cut.
const MOST_TOKENS: u64 = (32 << 20) * 2 / 7;

/// What is taken for texts that are not at hand.
#[derive(Debug, Clone, Copy)]
pub struct Guess {
    /// Tokens of an input that is not read, and of an item that is not listed.
    pub unread_tokens: u64,
    /// How long an answer is that a later step repeats, as a part of its `max_tokens`.
    pub answer_share: f64,
}

/// Reads what every enabled job sends, and notes in `assumed` what had to be guessed.
///
/// Sizes are those of one slot at `at`; every slot is taken to be as large.
///
/// # Errors
///
/// The async runtime cannot be built.
pub fn workload(
    context: &Context,
    config: &Config,
    (guess, at): (Guess, DateTime<Utc>),
    assumed: &mut Assumed,
) -> Result<Workload, CliError> {
    let mut reader = Reader {
        files: context.files(config, Arc::new(SystemClock::new())),
        models: money::models(config),
        guess,
        assumed,
    };
    let jobs = config.plan.jobs.values().map(|planned| &planned.job);
    let enabled = jobs.filter(|job| job.state == JobState::Enabled);
    let loads = context.block_on(async {
        let mut loads = BTreeMap::new();
        for job in enabled {
            let slot = Slot {
                job: job.id.clone(),
                fire_at: at,
            };
            loads.insert(job.id.clone(), reader.load(job, &slot).await);
        }
        Ok(loads)
    })?;
    let models = reader.models;
    let prices = move |request: &Request, model: &str, usage: &Usage| {
        models.cost_of_answer(request, model, usage)
    };
    Ok(Workload {
        jobs: loads,
        prices: Arc::new(prices),
        first_byte_timeout: config.upstream.first_byte,
    })
}

/// Reads jobs one by one.
struct Reader<'a> {
    files: Files,
    models: Models,
    guess: Guess,
    assumed: &'a mut Assumed,
}

impl Reader<'_> {
    async fn load(&mut self, job: &Job, slot: &Slot) -> JobLoad {
        // Where answers go is no part of what is sent, and is not looked at.
        let job = &Job {
            output: None,
            ..job.clone()
        };
        let inputs = self.inputs(job, slot).await;
        let items = self.items(job).await;
        let turn = Turn {
            job,
            slot,
            inputs: &inputs,
        };
        let item = self.middle(turn, &items).await;
        let requests = self.chain(turn, item).await;
        let other = self.elsewhere(turn, &items, item).await;
        let steps = requests.iter().enumerate().map(|(step, request)| {
            let other = other.get(step).and_then(Option::as_ref);
            let load = sizes::step(&self.models, &job.group, (request, other));
            if load.cached.is_none() && sizes::asks_for_cache(&self.models, request) {
                self.assumed.note(Kind::Fleeting, &job.id, None);
            }
            load
        });
        JobLoad {
            steps: steps.collect(),
            items: items.count,
        }
    }

    /// The texts of a job's inputs; one that is not at hand is as long as was guessed.
    async fn inputs(&mut self, job: &Job, slot: &Slot) -> Vec<(String, String)> {
        let mut texts = Vec::with_capacity(job.inputs.len());
        for input in &job.inputs {
            let text = self.input(job, slot, input).await;
            texts.push((input.name.clone(), text));
        }
        let is_nothing = texts.iter().all(|(_, text)| text.trim().is_empty());
        if is_nothing && !texts.is_empty() && job.on_empty_input != OnEmptyInput::Send {
            // Such a slot sends nothing today; the days that count are those with something to do.
            self.assumed.note(Kind::Empty, &job.id, None);
            for ((_, text), input) in texts.iter_mut().zip(&job.inputs) {
                *text = self.unread(input);
            }
        }
        texts
    }

    async fn input(&mut self, job: &Job, slot: &Slot, input: &Input) -> String {
        match &input.source {
            InputSource::Command { .. } | InputSource::Url(_) => {
                self.assumed.note(Kind::NotRun, &job.id, Some(&input.name));
                return self.unread(input);
            }
            InputSource::File(_) => {}
        }
        let alone = Job {
            inputs: vec![input.clone()],
            on_empty_input: OnEmptyInput::Send,
            ..job.clone()
        };
        match self.files.gather(&alone, slot).await {
            Gathered::Ready(texts) => {
                let text = texts.into_iter().next();
                text.map(|(_, text)| text).unwrap_or_default()
            }
            Gathered::Empty => String::new(),
            Gathered::Failed(_) => {
                self.assumed
                    .note(Kind::Unreadable, &job.id, Some(&input.name));
                self.unread(input)
            }
        }
    }

    fn unread(&self, input: &Input) -> String {
        let mut text = stand_in(self.guess.unread_tokens);
        text.truncate(input.max_bytes);
        text
    }

    /// The item of middling size among some; `None` for a job without items.
    async fn middle<'i>(&self, turn: Turn<'_>, items: &'i Items) -> Option<&'i Item> {
        let mut sized = Vec::new();
        for item in items.some() {
            if let Ok(request) = self.fill(turn, Some(item), &[]).await {
                sized.push((input_tokens(&request), item));
            }
        }
        sized.sort_by_key(|(tokens, _)| *tokens);
        let middle = sized.get(sized.len() / 2).map(|(_, item)| *item);
        middle.or_else(|| items.some().next())
    }

    /// The requests of a chain, in order.
    async fn chain(&mut self, turn: Turn<'_>, item: Option<&Item>) -> Vec<Request> {
        let mut requests = Vec::new();
        let mut answers: Vec<String> = Vec::new();
        for template in turn.job.chain() {
            let request = if let Ok(request) = self.fill(turn, item, &answers).await {
                request
            } else {
                let step = template.name.as_deref();
                self.assumed.note(Kind::Unfilled, &turn.job.id, step);
                self.fallback(turn.job, template)
            };
            answers.push(stand_in(self.answer_tokens(request.max_tokens)));
            requests.push(request);
        }
        if requests.len() > 1 {
            self.assumed.note(Kind::Answers, &turn.job.id, None);
        }
        requests
    }

    async fn fill(
        &self,
        turn: Turn<'_>,
        item: Option<&Item>,
        answers: &[String],
    ) -> Result<Request, Unready> {
        self.files.fill(turn.brief(item, answers)).await
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of at most 1 of a number of 32 bits"
    )]
    fn answer_tokens(&self, max_tokens: u32) -> u64 {
        (f64::from(max_tokens) * self.guess.answer_share).round() as u64
    }

    /// The same chain at another slot of the same day and for another item: what differs there is cached in vain.
    async fn elsewhere(
        &self,
        turn: Turn<'_>,
        items: &Items,
        item: Option<&Item>,
    ) -> Vec<Option<Request>> {
        // Within a quarter of an hour no zone begins another day.
        let minutes = match turn.slot.fire_at.minute() % 15 {
            14 => -1,
            _ => 1,
        };
        let near = Slot {
            job: turn.slot.job.clone(),
            fire_at: turn.slot.fire_at + TimeDelta::minutes(minutes),
        };
        let turn = Turn {
            slot: &near,
            ..turn
        };
        let other = items.some().find(|other| Some(*other) != item).or(item);
        let mut requests = Vec::new();
        let mut answers = Vec::new();
        for template in turn.job.chain() {
            requests.push(self.fill(turn, other, &answers).await.ok());
            answers.push(stand_in(self.answer_tokens(template.max_tokens)));
        }
        requests
    }

    /// What is taken for a request that cannot be made.
    fn fallback(&self, job: &Job, template: &Template) -> Request {
        Request {
            key: job.key.clone(),
            model: template.model.clone(),
            max_tokens: template.max_tokens,
            system: Vec::new(),
            prompt: stand_in(self.guess.unread_tokens),
            so_far: Vec::new(),
            delivery: template.delivery,
            extra: template.extra.clone(),
            timeout: job.timeout,
        }
    }
}

/// A job at a slot, with its inputs.
#[derive(Debug, Clone, Copy)]
struct Turn<'a> {
    job: &'a Job,
    slot: &'a Slot,
    inputs: &'a [(String, String)],
}

impl<'a> Turn<'a> {
    fn brief(self, item: Option<&'a Item>, answers: &'a [String]) -> Brief<'a> {
        Brief {
            job: self.job,
            slot: self.slot,
            inputs: self.inputs,
            item,
            answers,
        }
    }
}

/// A text that counts so many tokens.
fn stand_in(tokens: u64) -> String {
    const LINE: &[u8] = b"words that stand for a text which is not at hand\n";
    let length = tokens.min(MOST_TOKENS) * 7 / 2;
    let letters = LINE.iter().cycle().map(|byte| char::from(*byte));
    letters
        .take(usize::try_from(length).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests;
