//! Any bytes as a job file, from the parser to the drawn report.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    offpeak_fuzz::read_files(&[("jobs/a.yaml", bytes)]);
});
