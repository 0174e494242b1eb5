//! Secrets that jobs send elsewhere: a header of an input, the address of a webhook.

use super::mark::Mark;
use super::unsaid;
use crate::hostile::Hostile;
use crate::scenario::Scenario;

/// A folder whose job sends the mark to both, with a log at its most verbose.
fn folder(mark: &Mark, [feed, upstream, webhook]: [&Hostile; 3]) -> Scenario {
    let settings = format!(
        "upstream: {{ base_url: \"{}\" }}\nretry: {{ max_attempts: 1 }}\nrules: {{ peaks: {{ windows: [] }} }}\n",
        upstream.url()
    );
    let job = format!(
        "cron: \"0 5 29 2 *\"\ntimezone: UTC\ninputs: {{ feed: {{ url: \"{}\", header_env: {{ Authorization: FEED_TOKEN }} }}, seen: {{ command: [env] }} }}\n\
         prompt: {{ text: \"{{{{ feed }}}} {{{{ seen }}}}\" }}\noutput: {{ command: [env], webhook_env: ANSWERS_URL }}\n",
        feed.url()
    );
    Scenario::new()
        .file("offpeak.yaml", &settings)
        .file("jobs/digest.yaml", &job)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("RUST_LOG", "trace")
        .env("ANTHROPIC_API_KEY", "test-key-1234")
        .env("FEED_TOKEN", &mark.key)
        .env("ANSWERS_URL", &format!("{}/{}", webhook.url(), mark.key))
}

#[test]
fn what_a_job_sends_elsewhere_is_told_nowhere() {
    let mark = Mark::new();
    let servers = [Hostile::start(), Hostile::start(), Hostile::start()];
    let [feed, upstream, webhook] = &servers;
    let scenario = folder(&mark, [feed, upstream, webhook]);
    upstream.answer("hello");
    for (fed, posted, code) in [
        ("200 OK", "200 OK", 0),
        ("200 OK", "500 No", 1),
        ("403 No", "200 OK", 1),
    ] {
        feed.reply(format!("{fed}\r\nx-told: {0}\r\n\r\n{0}", mark.key));
        webhook.reply(format!("{posted}\r\nx-told: {0}\r\n\r\n{0}", mark.key));
        for format in ["human", "json"] {
            let done = scenario.run(&["run", "digest", "--format", format]);
            unsaid(&mark, &format!("{fed}, {posted}"), done).exits(code);
        }
    }
    // If nothing had been sent, nothing would be proved.
    let sent = servers.each_ref().map(Hostile::requests);
    assert_eq!(sent.each_ref().map(Vec::len), [6, 4, 4]);
    for request in &sent[0] {
        assert!(
            request.contains(&format!("authorization: {}\r\n", mark.key)),
            "{request}"
        );
    }
    for request in &sent[1] {
        mark.is_not_in("a prompt", request.as_bytes());
    }
    let path = mark.key.replace('"', "%22");
    for request in &sent[2] {
        assert!(request.starts_with(&format!("POST /{path} ")), "{request}");
    }
    for args in [
        &["history", "--text"][..],
        &["status"],
        &["dry-run", "digest"],
        &["validate"],
        &["config"],
    ] {
        unsaid(&mark, &format!("{args:?}"), scenario.run(args).exits(0));
    }
    mark.is_in_no_file_below(scenario.path());
}
