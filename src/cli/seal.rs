//! Keeps what this process holds in memory to itself: keys, addresses, prompts.
//!
//! A core file, a debugger of another process and the message of a panic would
//! each carry out what no log line may hold.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic::{self, Location};

use rustix::process::{Resource, Rlimit, setrlimit};

/// Forbids core files, closes the memory to other processes, and keeps texts out of the messages of panics.
///
/// For the beginning of a program. What it starts inherits that there are no core files.
pub fn seal() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Everybody may lower a limit; if not, the work is worth more than the precaution.
    let _ = setrlimit(Resource::Core, none);
    // The limit says nothing to a program that the kernel feeds cores to; and with this, the programs that we start
    // cannot read our environment and memory either, unless they are root's.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    panic::set_hook(Box::new(|panicked| {
        let trace = Backtrace::capture();
        let told = told(panicked.payload(), panicked.location());
        let mut err = std::io::stderr();
        let _ = match trace.status() {
            BacktraceStatus::Captured => writeln!(err, "{told}\n{trace}"),
            _ => writeln!(err, "{told}"),
        };
    }));
}

/// What is said of a panic: where it was, and its text only if that is part of the program.
fn told(payload: &dyn Any, place: Option<&Location<'_>>) -> String {
    // A text made at the time may quote what was worked on: a key, an answer.
    let text = payload.downcast_ref::<&'static str>();
    let text = text.unwrap_or(&"its text is left out, because it may hold a secret");
    let place = place.map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    format!("offpeak has a mistake, please report it: panic at {place}: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_tells_its_place_and_no_text_that_was_made_at_the_time() {
        // A byte inside a character makes the library quote the whole text.
        let key = "sk-ant-p\u{e9}lanted";
        let quoting = panic::catch_unwind(|| key[..9].len()).unwrap_err();
        let quoted = quoting.downcast_ref::<String>().unwrap();
        assert!(quoted.contains(key), "{quoted}");
        let said = told(&*quoting, Some(Location::caller()));
        assert!(said.contains("panic at src/cli/seal.rs:"), "{said}");
        assert!(said.contains("its text is left out"), "{said}");
        assert!(
            !said.contains("sk-ant") && !said.contains("lanted"),
            "{said}"
        );
        let own = panic::catch_unwind(|| panic!("a text of the program")).unwrap_err();
        assert!(told(&*own, None).ends_with("an unknown place: a text of the program"));
    }
}
