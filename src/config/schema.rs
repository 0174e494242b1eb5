//! JSON Schemas of what users write, for editors.
//!
//! They help while typing; the decoders decide. The schemas are never stricter: a test plants unknown fields, words,
//! bounds and mistakes, and compares the two.

/// The schema of a job file: one job, or a list of `jobs`. JSON Schema draft 07.
pub const JOB_SCHEMA: &str = include_str!("../../schemas/job.schema.json");

/// The schema of `offpeak.yaml`. JSON Schema draft 07.
pub const SETTINGS_SCHEMA: &str = include_str!("../../schemas/settings.schema.json");
