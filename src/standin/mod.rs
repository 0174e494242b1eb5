//! A stand-in for the API: real HTTP on the loopback interface, answers without a model, faults by script.
//!
//! `demo`, `mock` and the edge tests serve it. It answers `POST /v1/messages`
//! (as a stream or whole), `POST /v1/messages/count_tokens` and
//! `GET /v1/models`, under any path prefix; and message batches: they are handed
//! in, looked at, collected (results in the reverse order) and cancelled. The same prompt gets the same
//! text, and latencies and chances come from a seed, drawn for each body and
//! its repetition: so they do not depend on which request arrives first. All
//! waiting passes on the injected clock.
//!
//! # Scripts
//!
//! Rules are tried in the order of the file; the first whose `when` holds and
//! whose `times` are not used up decides. Every part of `when` is optional.
//!
//! ```
//! let script = offpeak::standin::Script::from_yaml(r#"
//! latency: { median: 12s, spread: 0.5, max: 90s }   # log-normal; without it answers come at once
//! rules:
//!   - when: { first: 3, last: 4 }                   # by number of the request, counted from 1
//!     then: { error: { status: 529 } }
//!   - when: { contains: digest }                    # in the prompt, the system prompt or the raw body
//!     times: 1
//!     then: { error: { status: 429, retry_after: 20, code: ramp_limit_exceeded } }
//!   - when: { from: "2026-11-30T17:00:00Z", until: "2026-11-30T17:10:00Z" }
//!     then: { error: { status: 503, shape: html } }
//!   - when: { after: 10m, before: 20m }             # since the start of the stand-in
//!     then: { hang_up: {} }
//!   - when: { model: claude-haiku-5-5, share: 0.1 } # one in ten, by seed
//!     then: { cut: { after: 5 } }                   # after five events
//!   - when: { contains: draft }
//!     times: 1
//!     then: { slow: { first_byte: 40s, gap: 2s } }
//!   - when: { first: 20 }
//!     times: 1
//!     then: { silence: { after: 3 } }               # `silence: {}` is silent from the start
//!   - when: { first: 21 }
//!     times: 1
//!     then: { stream_error: { after: 4, type: overloaded_error } }
//!   - when: { first: 22 }
//!     times: 1
//!     then: { body: { status: 200, content_type: text/html, text: "<title>Login</title>" } }
//!   - when: { first: 23 }
//!     times: 1
//!     then: { redirect: { to: "http://127.0.0.1:9/" } }
//!   - when: { first: 24 }
//!     times: 1
//!     then: { answer: { stop_reason: max_tokens } } # `text` replaces the text
//!   - when: { contains: research }
//!     times: 2
//!     then: { pause: {} }                           # goes on when its blocks are sent back unchanged
//!   - when: { contains: news }
//!     then: { tool_error: { tool: web_search, code: max_uses_exceeded } }
//!   - when: { endpoint: batches }                   # or `messages`, or `parts` of a batch
//!     times: 1
//!     then: { error: { status: 529 } }
//!   - times: 1
//!     then: { batch: { looks: 2, span: 10m } }      # found under way twice, and for ten minutes
//!   - times: 1
//!     then: { never_ends: {} }                      # until its parts expire, after a day
//!   - when: { contains: chapter 3 }
//!     then: { part: { outcome: errored, type: invalid_request_error } } # or expired, canceled, broken
//!   - when: { endpoint: models }                    # or `count_tokens`; each has numbers of its own
//!     then: { error: { status: 503 } }
//! models:
//!   gone: [claude-sonnet-4-5]                       # not listed; whoever asks it gets 404
//!   retires: { claude-opus-4-5: "2027-01-22T00:00:00Z" }
//!   page: 5                                         # the most models on a page of the list
//! "#)?;
//! assert_eq!(script.rules.len(), 18);
//! # Ok::<(), offpeak::standin::ScriptError>(())
//! ```

mod api;
mod ask;
mod batch;
mod catalog;
pub mod fault;
mod ledger;
mod reply;
pub mod script;
mod server;
mod span;
mod text;
mod tools;

pub use fault::{Endpoint, Fault};
pub use ledger::Seen;
pub use script::{Latency, Offered, Rule, Script, ScriptError, When};
pub use server::Standin;
