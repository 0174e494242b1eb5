//! The settings of the upstream, from offpeak.yaml and the environment to the wire.

use std::sync::Arc;

use offpeak::clock::SystemClock;
use offpeak::standin::{Script, Seen, Standin};

use crate::scenario::Scenario;

fn standin() -> Standin {
    let clock = Arc::new(SystemClock::new());
    Standin::start(Script::default(), clock, 1).unwrap()
}

fn asking(upstream: &str) -> Scenario {
    Scenario::new()
        .job("a", "0 5 * * *")
        .file("offpeak.yaml", &format!("upstream: {{ {upstream} }}\n"))
        .env("ANTHROPIC_API_KEY", "test-key-1234")
}

fn only(standin: &Standin) -> Seen {
    let mut seen = standin.requests();
    assert_eq!(seen.len(), 1, "{seen:?}");
    seen.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn header_of_the_key_version_and_path_are_as_the_settings_say() {
    for (more, key, absent, version) in [
        ("", "x-api-key", "authorization", "2023-06-01"),
        (
            ", auth: bearer, version: \"2026-10-21\"",
            "authorization",
            "x-api-key",
            "2026-10-21",
        ),
    ] {
        let standin = standin();
        let base = format!("base_url: \"{}/gateway/\"", standin.base_url());
        asking(&(base + more)).run(&["run", "a"]).exits(0);
        let seen = only(&standin);
        assert_eq!(seen.path, "/gateway/v1/messages");
        assert_eq!(seen.header("anthropic-version"), Some(version));
        assert!(seen.header(key).is_some(), "{:?}", seen.headers);
        assert_eq!(seen.header(absent), None);
    }
}

/// 0.0.0.0 reaches this machine and is not taken for it, so that a proxy is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn proxy_of_the_environment_is_used_but_for_what_no_proxy_names_and_for_this_machine() {
    let (api, proxy) = (standin(), standin());
    let outside = api.base_url().replace("127.0.0.1", "0.0.0.0");
    let through = |base: &str, variable: &str| {
        let scenario = asking(&format!("base_url: \"{base}\""));
        scenario.env(variable, &proxy.base_url())
    };
    for (number, variable) in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"].iter().enumerate() {
        through(&outside, variable).run(&["run", "a"]).exits(0);
        assert_eq!(proxy.requests().len(), number + 1, "{variable}");
    }
    assert_eq!(api.requests().len(), 0);
    let past = through(&outside, "HTTP_PROXY").env("NO_PROXY", "0.0.0.0");
    past.run(&["run", "a"]).exits(0);
    let own = through(&api.base_url(), "HTTP_PROXY");
    own.run(&["run", "a"]).exits(0);
    assert_eq!((api.requests().len(), proxy.requests().len()), (2, 3));
}
