//! What a job sends: its inputs, its items, and its prompt or its steps.

use std::collections::BTreeMap;
use std::path::Path;

use crate::job::{ForEach, Input, OnEmptyInput, SystemBlock, Template, TextSource};
use crate::lint::Rule;

use super::answer_schema::DecodedSchema;
use super::context::Context;
use super::decode_defaults::{JobDefaults, max_tokens, model, on_empty_input};
use super::decode_items::for_each;
use super::decode_request::{Asked, asked};
use super::decode_settings::Settings;
use super::decode_steps::{Step, steps};
use super::decode_text::{Surroundings, input_names, inputs, prompt, system};
use super::fields::{Field, Fields};
use super::item_variables::ItemKind;
use super::mistakes::Mistake;
use super::source::Place;
use super::templates::{self, Variables};

/// The fields of a job of which the API may refuse what they say together.
const ASKING: [&str; 6] = [
    "fallback_model",
    "max_tokens",
    "model",
    "system",
    "thinking",
    "tools",
];

/// What the job sends. A part with mistakes is left out: the configuration is not used then.
pub struct Content {
    /// Named texts, in the order of the file.
    pub inputs: Vec<Input>,
    /// What to do when every input is empty, or there is no item.
    pub on_empty_input: OnEmptyInput,
    /// What `item` holds in the job's templates; `None` if there is no `for_each`.
    pub item: Option<ItemKind>,
    /// What it makes a call for each.
    pub for_each: Option<ForEach>,
    /// The prompt, or the first step.
    pub template: Template,
    /// The further steps.
    pub then: Vec<Template>,
    /// The model that is asked after those of the steps.
    pub fallback_model: Option<String>,
    /// What the answer must look like.
    pub schema: Option<DecodedSchema>,
    /// Where the fields stand that say what is asked of the API.
    pub asking: BTreeMap<String, Place>,
}

/// Reads the fields of a job that say what it sends.
pub fn content(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    settings: &Settings,
    folder: &Path,
) -> Content {
    let defaults = &settings.defaults;
    let own = ASKING.iter().filter(|name| fields.has(name));
    let own: Vec<(String, Place)> = own
        .map(|name| ((*name).to_owned(), fields.place_of(name)))
        .collect();
    let inputs_field = fields.take("inputs");
    let names = inputs_field
        .map(|field| input_names(field.node))
        .unwrap_or_default();
    let inputs = inputs_field
        .map(|field| inputs(cx, field, folder, defaults))
        .unwrap_or_default();
    let items = fields.take("for_each");
    let item = items.map(|field| ItemKind::of(field.node));
    let for_each = items.and_then(|field| for_each(cx, field, folder, defaults));
    let on_empty_input = when_empty(cx, fields, defaults, item);
    let texts: Vec<&str> = templates::BUILT_IN.into_iter().chain(names).collect();
    let around = Surroundings {
        folder,
        variables: Variables {
            texts: &texts,
            item,
        },
    };
    let system = fields.read(cx, "system", |cx, f| system(cx, f, around));
    let steps = prompts(cx, fields, around);
    let shared = Shared {
        model: fields.read(cx, "model", model),
        max_tokens: fields
            .read(cx, "max_tokens", max_tokens)
            .unwrap_or(defaults.max_tokens),
        system: system.unwrap_or_default(),
    };
    let most_tokens = steps.iter().map(|step| shared.tokens_of(step)).max();
    let most_tokens = most_tokens.unwrap_or(shared.max_tokens);
    let mut asked = asked(cx, fields, folder, most_tokens);
    let places = std::mem::take(&mut asked.places);
    let of_steps: Vec<(String, Place)> = steps.iter().flat_map(Step::places).collect();
    let schema = asked.schema.take();
    let mut chain = templates(steps, &shared, &asked, defaults).into_iter();
    let template = chain.next().unwrap_or_else(|| {
        let nothing = Step::of_prompt(TextSource::Inline(String::new()));
        shared.template(nothing, defaults, (&asked, &asked.extra))
    });
    let then: Vec<Template> = chain.collect();
    let asked_first = [&template].into_iter().chain(&then);
    let asked_first: Vec<&str> = asked_first.map(|step| step.model.as_str()).collect();
    let fallback_model = fields.read(cx, "fallback_model", |cx, f| fallback(cx, f, &asked_first));
    Content {
        inputs,
        on_empty_input,
        item,
        for_each,
        template,
        then,
        fallback_model,
        schema,
        asking: own.into_iter().chain(places).chain(of_steps).collect(),
    }
}

/// The model that is asked in place of those of the steps; one that is each of them itself would be asked for nothing.
fn fallback(cx: &mut Context<'_>, field: Field<'_>, first: &[&str]) -> Option<String> {
    let fallback = model(cx, field)?;
    if first.iter().any(|model| *model != fallback) {
        return Some(fallback);
    }
    cx.bad_field(
        field.place(),
        format!("`fallback_model` is `{fallback}`, the model that the job asks first"),
        Some("name another model, or remove it".to_owned()),
    );
    None
}

/// What holds for every step that does not say otherwise.
struct Shared {
    model: Option<String>,
    max_tokens: u32,
    system: Vec<SystemBlock<TextSource>>,
}

impl Shared {
    fn tokens_of(&self, step: &Step) -> u32 {
        step.max_tokens.unwrap_or(self.max_tokens)
    }

    fn template(
        &self,
        step: Step,
        defaults: &JobDefaults,
        (asked, extra): (&Asked, &[(String, String)]),
    ) -> Template {
        let max_tokens = self.tokens_of(&step);
        let model = step.model.or_else(|| self.model.clone());
        Template {
            name: step.id,
            model: model.unwrap_or_else(|| defaults.model.clone()),
            max_tokens,
            system: step.system.unwrap_or_else(|| self.system.clone()),
            prompt: step.prompt,
            delivery: asked.delivery,
            extra: extra.to_vec(),
        }
    }
}

/// Every step as it is sent; only the last answer is the job's, so only there is the schema asked for.
fn templates(
    steps: Vec<Step>,
    shared: &Shared,
    asked: &Asked,
    defaults: &JobDefaults,
) -> Vec<Template> {
    let last = steps.len().saturating_sub(1);
    let steps = steps.into_iter().enumerate();
    let template = |(index, step)| {
        let extra = if index == last {
            &asked.extra
        } else {
            &asked.extra_between
        };
        shared.template(step, defaults, (asked, extra))
    };
    steps.map(template).collect()
}

/// Reads `prompt` or `steps`: one of them must be there.
fn prompts(cx: &mut Context<'_>, fields: &mut Fields<'_>, around: Surroundings<'_>) -> Vec<Step> {
    match (fields.take("prompt"), fields.take("steps")) {
        (Some(field), None) => {
            let source = prompt(cx, field, around);
            source.map(Step::of_prompt).into_iter().collect()
        }
        (None, Some(field)) => steps(cx, field, around),
        (Some(prompt), Some(steps)) => {
            let message = "`prompt` and `steps` exclude each other".to_owned();
            let mistake = Mistake::new(Rule::BadField, steps.key.clone(), message)
                .related(prompt.key.clone(), "`prompt` stands here")
                .help("keep one of them: what `prompt` says can be the first step");
            cx.report(mistake);
            Vec::new()
        }
        (None, None) => {
            cx.missing(
                fields.owner(),
                "prompt",
                "write `prompt: { file: PATH }` or `prompt: { text: … }`",
            );
            Vec::new()
        }
    }
}

/// What happens when there is nothing to work on. Without an item there is no call to make.
fn when_empty(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    defaults: &JobDefaults,
    item: Option<ItemKind>,
) -> OnEmptyInput {
    let own = fields.take("on_empty_input");
    let read = own.and_then(|field| on_empty_input(cx, field));
    let chosen = read.unwrap_or(defaults.on_empty_input);
    if chosen == OnEmptyInput::Send && item.is_some() {
        let place = fields.place_of(if own.is_some() {
            "on_empty_input"
        } else {
            "for_each"
        });
        let message =
            "`on_empty_input`: with `for_each` there is no call to `send` when there is no item";
        let help = "write `on_empty_input: skip` or `fail` in the job";
        cx.bad_field(place, message.to_owned(), Some(help.to_owned()));
    }
    chosen
}
