//! Any bytes as `offpeak.yaml`, beside one right job.

#![no_main]

use libfuzzer_sys::fuzz_target;
use offpeak_fuzz::JOB;

fuzz_target!(|bytes: &[u8]| {
    offpeak_fuzz::read_files(&[("offpeak.yaml", bytes), ("jobs/a.yaml", JOB.as_bytes())]);
});
