//! What jobs send, as far as it is known offline: models from the table, and estimated tokens of texts and files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use minijinja::Environment;

use crate::anthropic::Models;
use crate::anthropic::estimate::{estimate_tokens, field_tokens, prefix_fields};
use crate::config;
use crate::job::{Input, InputSource, Job, JobId, Template, TextSource};
use crate::lint::{Identity, InputPrice, Known, Model, Prefix, Prompt};
use crate::price::Price;

/// Variables that are another at every slot of a job, or at every call.
const FLEETING: [&str; 2] = ["slot", "item"];

/// What a text is estimated at without a look: two tokens for seven bytes, as [`estimate_tokens`] counts plain text.
const fn tokens_of_bytes(bytes: u64) -> u64 {
    bytes.saturating_mul(2).div_ceil(7)
}

/// What the table says of a model, at the prices for a prompt of this size.
#[must_use]
pub fn model(models: &Models, id: &str, prompt_tokens: u64) -> Model {
    let found = models.find(id);
    let price = found.and_then(|model| model.price_at(prompt_tokens));
    Model {
        id: id.to_owned(),
        known: match found {
            Some(_) => Known::Yes,
            None => near(models, id).map_or(Known::No, |near| Known::Near(near.to_owned())),
        },
        as_of: models.as_of(),
        ends_on: found.and_then(|model| model.ends_on),
        successor: models.successor(id).map(|model| model.id.clone()),
        min_cacheable_tokens: found.and_then(|model| model.min_cacheable_tokens),
        price: price.and_then(input_price),
    }
}

/// What input costs, in dollars for a million tokens; `None` if the price of a cache read is not known.
fn input_price(price: Price) -> Option<InputPrice> {
    Some(InputPrice {
        fresh: price.input.as_f64(),
        write_5m: price.cache_write_5m.as_f64(),
        write_1h: price.cache_write_1h.as_f64(),
        read: price.cache_read?.as_f64(),
    })
}

/// The model that was meant. A name that differs in its numbers only is a version that the table does not know yet.
fn near<'m>(models: &'m Models, id: &str) -> Option<&'m str> {
    let letters = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let near = config::nearest(id, models.all().iter().map(|model| model.id.as_str()))?;
    (letters(near) != letters(id)).then_some(near)
}

/// Reads what jobs send; each file and each model once.
#[derive(Debug)]
pub struct Prompts {
    models: Models,
    told: HashMap<(String, Option<u64>), Arc<Model>>,
    texts: HashMap<TextSource, Option<Arc<Text>>>,
    identities: HashMap<Arc<str>, Arc<str>>,
}

/// A template and what is known of it.
#[derive(Debug)]
struct Text {
    source: String,
    tokens: u64,
    /// The variables that it names.
    variables: Vec<String>,
}

impl Prompts {
    /// Nothing read yet.
    #[must_use]
    pub fn new(models: Models) -> Self {
        Self {
            models,
            told: HashMap::new(),
            texts: HashMap::new(),
            identities: HashMap::new(),
        }
    }

    /// The models of the later steps of a chain.
    pub fn later_models(&mut self, job: &Job) -> Vec<Arc<Model>> {
        let later = job.then.iter();
        later.map(|step| self.model(&step.model, 0)).collect()
    }

    /// What a job sends first; `None` if its prompt or system prompt cannot be read.
    pub fn of(&mut self, job: &Job) -> Option<Prompt> {
        let template = &job.template;
        let prompt = self.text(&template.prompt)?;
        let system = template.system.iter().map(|block| self.text(&block.text));
        let system: Vec<Arc<Text>> = system.collect::<Option<_>>()?;
        let (mut tokens, mut more_tokens) = (prompt.tokens, 0_u64);
        tokens += field_tokens(&template.extra);
        tokens += system.iter().map(|text| text.tokens).sum::<u64>();
        for input in &job.inputs {
            match size(input) {
                Size::Bytes(bytes) => tokens += tokens_of_bytes(bytes),
                Size::AtMost(bytes) => more_tokens += tokens_of_bytes(bytes),
            }
        }
        Some(Prompt {
            model: self.model(&template.model, tokens),
            tokens,
            more_tokens,
            prefixes: self.prefixes(job, &system),
        })
    }

    /// What the table says of a model, at the prices for a prompt of this size; each is looked up once.
    pub fn model(&mut self, id: &str, tokens: u64) -> Arc<Model> {
        let long = self.models.find(id).and_then(|model| model.long_prompt);
        let step = long
            .map(|long| long.over_tokens)
            .filter(|over| tokens > *over);
        let models = &self.models;
        let told = self
            .told
            .entry((id.to_owned(), step))
            .or_insert_with(|| Arc::new(model(models, id, tokens)));
        Arc::clone(told)
    }

    fn text(&mut self, source: &TextSource) -> Option<Arc<Text>> {
        if let Some(known) = self.texts.get(source) {
            return known.clone();
        }
        let read = match source {
            TextSource::Inline(text) => Some(text.clone()),
            TextSource::File(path) => config::read_bounded(path).ok(),
        };
        let text = read.map(|text| Arc::new(Text::new(text)));
        self.texts.insert(source.clone(), text.clone());
        text
    }

    /// The system prompt up to each of its breakpoints, or the whole of it if it has none.
    fn prefixes(&mut self, job: &Job, texts: &[Arc<Text>]) -> Vec<Prefix> {
        let blocks = &job.template.system;
        let is_single = blocks.len() == 1;
        let has_breakpoint = blocks.iter().any(|block| block.cache.is_some());
        let (mut prefixes, mut before) = (Vec::<Prefix>::new(), 0);
        let mut tokens = field_tokens(&job.template.extra);
        for (index, (block, text)) in blocks.iter().zip(texts).enumerate() {
            tokens += text.tokens + input_tokens_in(job, text);
            let is_last = index + 1 == blocks.len();
            if block.cache.is_some() || (is_last && !has_breakpoint) {
                prefixes.push(Prefix {
                    identity: self.identity(&job.id, &job.template, &texts[..=index]),
                    tokens,
                    own_tokens: tokens - before,
                    cache: block.cache,
                    block: (!is_single).then_some(index + 1),
                });
                before = tokens;
            }
        }
        prefixes
    }

    fn identity(&mut self, job: &JobId, template: &Template, system: &[Arc<Text>]) -> Identity {
        let variables = || system.iter().flat_map(|text| &text.variables);
        let names = |name: &str| variables().any(|variable| variable == name);
        if FLEETING.into_iter().any(names) {
            return Identity::Fleeting;
        }
        let mut parts = String::new();
        for (field, value) in prefix_fields(&template.extra) {
            parts.extend([field, "=", value, "\n"]);
        }
        if names("job") {
            parts.extend(["job=", job.as_str(), "\n"]);
        }
        for text in system {
            let source = text.source.as_str();
            parts.extend(["system ", &source.len().to_string(), "=", source]);
        }
        let text = self.shared(parts);
        if variables().all(|variable| variable == "job") {
            Identity::Steady(text)
        } else {
            Identity::Loose(text)
        }
    }

    /// One copy of equal texts.
    fn shared(&mut self, text: String) -> Arc<str> {
        let text: Arc<str> = text.into();
        Arc::clone(self.identities.entry(Arc::clone(&text)).or_insert(text))
    }
}

/// The tokens of the inputs that a block of the system prompt names. They count by the most that they may be: whether
/// too little can be cached is then sure.
fn input_tokens_in(job: &Job, text: &Text) -> u64 {
    let named = |input: &&Input| text.variables.contains(&input.name);
    let inputs = job.inputs.iter().filter(named);
    let tokens = inputs.map(|input| match size(input) {
        Size::Bytes(bytes) | Size::AtMost(bytes) => tokens_of_bytes(bytes),
    });
    tokens.sum()
}

impl Text {
    fn new(text: String) -> Self {
        Self {
            tokens: estimate_tokens(&text),
            variables: variables(&text),
            source: text,
        }
    }
}

/// The variables that a template names; of a text that is no template, none: it fails on its own.
fn variables(text: &str) -> Vec<String> {
    if !text.contains("{{") && !text.contains("{%") {
        return Vec::new();
    }
    let environment = Environment::empty();
    let template = environment.template_from_str(text);
    let names = template.map(|template| template.undeclared_variables(false));
    names.unwrap_or_default().into_iter().collect()
}

/// How long an input is.
enum Size {
    /// As it lies there now.
    Bytes(u64),
    /// Nobody knows before the slot.
    AtMost(u64),
}

fn size(input: &Input) -> Size {
    let most = u64::try_from(input.max_bytes).unwrap_or(u64::MAX);
    let length = |path: &Path| path.metadata().ok().filter(std::fs::Metadata::is_file);
    match &input.source {
        InputSource::File(path) => match length(path) {
            Some(file) => Size::Bytes(file.len().min(most)),
            None => Size::AtMost(most),
        },
        InputSource::Command { .. } | InputSource::Url(_) => Size::AtMost(most),
    }
}

#[cfg(test)]
mod tests;
