//! `answer_schema`: what an answer must look like, written in the job or in a file of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::job::AnswerSchema;

use super::context::{Context, shown_path};
use super::fields::{Field, Fields, open_entries};
use super::json_schema::misfit;
use super::{decode_request, typed};

/// What may stand there.
const EXPECTED: &str = "a JSON schema such as `{ type: object, … }`, or `{ file: PATH }`";

/// A schema, and the file in which it stands.
#[derive(Debug)]
pub struct DecodedSchema {
    /// What the answer is compared with.
    pub schema: AnswerSchema,
    /// The schema as the body holds it.
    pub json: Json,
    /// Its file, absolute; `None` if it stands in the job.
    pub file: Option<PathBuf>,
}

/// Reads `answer_schema`; the file is read once, with the job.
pub fn answer_schema(
    cx: &mut Context<'_>,
    field: Field<'_>,
    folder: &Path,
) -> Option<DecodedSchema> {
    let entries = open_entries(cx, field, EXPECTED)?;
    if entries.is_empty() {
        cx.expected(field, EXPECTED);
        return None;
    }
    // No keyword of a schema is called so.
    let names_file = entries
        .iter()
        .filter_map(Field::of)
        .any(|entry| entry.name == "file");
    let (json, file) = if names_file {
        let mut fields = Fields::open(cx, field, EXPECTED)?;
        let file = fields.take("file");
        fields.close(cx);
        let (json, path) = from_file(cx, file?, folder)?;
        (json, Some(path))
    } else {
        (decode_request::json(cx, field, field.node)?, None)
    };
    Some(DecodedSchema {
        schema: compared_with(json.clone()),
        json,
        file,
    })
}

fn from_file(cx: &mut Context<'_>, field: Field<'_>, folder: &Path) -> Option<(Json, PathBuf)> {
    let path = folder.join(typed::text(cx, field)?);
    let shown = shown_path(&path, cx.folder);
    let source = match cx.read_text(&path) {
        Ok(source) => source,
        Err(reason) => {
            let reason = format!("{shown} cannot be read: {reason}");
            let help = "a relative path starts at the folder of the file that names it";
            cx.refuse(field, &reason, help);
            return None;
        }
    };
    match serde_json::from_str(source.text()) {
        Ok(json @ Json::Object(_)) => Some((json, path)),
        Ok(_) => {
            let help = "write a JSON schema: `{ \"type\": \"object\", … }`";
            cx.refuse(field, &format!("{shown} holds no JSON object"), help);
            None
        }
        Err(error) => {
            let help = "write a JSON schema: `{ \"type\": \"object\", … }`";
            cx.refuse(field, &format!("{shown} holds no JSON: {error}"), help);
            None
        }
    }
}

/// The schema with what compares an answer to it.
fn compared_with(schema: Json) -> AnswerSchema {
    let text = schema.to_string();
    let compare = move |answer: &str| match serde_json::from_str(answer) {
        Ok(value) => misfit(&schema, &value),
        Err(error) => Some(format!("the answer is no JSON: {error}")),
    };
    AnswerSchema::new(text, Arc::new(compare))
}
