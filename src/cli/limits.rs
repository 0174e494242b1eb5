//! Room for the programs and sockets of many slots of one minute.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Five hundred input commands at once need about two thousand. Far more would only slow down programs of others that
/// close everything they might have inherited.
const OPEN_FILES: u64 = 16_384;

/// Raises the number of files that may be open, as far as the system lets us. The usual soft limit is 1,024.
pub fn raise() {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(OPEN_FILES).min(OPEN_FILES);
    if limit.current.is_some_and(|current| current < most) {
        let raised = Rlimit {
            current: Some(most),
            ..limit
        };
        // Without it fewer slots of one minute have room.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // With a usual soft limit a third of 500 slots with input commands failed for want of files.
    #[test]
    fn as_many_files_may_be_open_as_the_system_lets_us() {
        raise();
        let limit = getrlimit(Resource::Nofile);
        let most = limit.maximum.unwrap_or(OPEN_FILES).min(OPEN_FILES);
        assert!(limit.current.is_none_or(|current| current >= most));
    }
}
