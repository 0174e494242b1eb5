//! Any bytes as a status, headers and a body that is no answer, from the client to the guard's verdict.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    offpeak_fuzz::upstream::refusal(bytes);
});
