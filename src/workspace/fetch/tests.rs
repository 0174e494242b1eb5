use super::*;

fn led(from: &str, location: &str, headers: usize) -> Result<String, RedirectError> {
    let secret = (0..headers).map(|_| (ACCEPT, HeaderValue::from_static("planted")));
    let to = follow(&Url::parse(from).unwrap(), location, &secret.collect());
    to.map(|to| to.to_string())
}

#[test]
fn redirects_lead_up_and_around_but_not_down_or_in() {
    let end = |text: &str| Ok(text.to_owned());
    for (from, location, expected) in [
        ("http://a.example/x", "y?z", end("http://a.example/y?z")),
        (
            "http://a.example/",
            "https://b.example/",
            end("https://b.example/"),
        ),
        (
            "https://a.example/",
            "//b.example/",
            end("https://b.example/"),
        ),
        (
            "https://a.example/",
            "http://a.example/",
            Err(RedirectError::Unsafe),
        ),
        (
            "http://a.example/",
            "ftp://a.example/",
            Err(RedirectError::NoUrl),
        ),
        ("http://a.example/", "http://", Err(RedirectError::NoUrl)),
        (
            "http://a.example/",
            "http://me:pw@b.example/",
            Err(RedirectError::NoUrl),
        ),
        (
            "http://localhost/",
            "http://127.0.0.1/",
            end("http://127.0.0.1/"),
        ),
    ] {
        assert_eq!(led(from, location, 0), expected, "{from} to {location}");
    }
    for inside in [
        "localhost",
        "x.localhost",
        "127.9.9.9",
        "10.0.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "0x7f.1",
        "[::1]",
        "[::]",
        "[fd00::1]",
        "[fe80::1]",
        "[::ffff:10.0.0.1]",
    ] {
        let location = format!("http://{inside}/");
        let found = led("http://a.example/", &location, 0);
        assert_eq!(found, Err(RedirectError::Inward), "{inside}");
    }
}

#[test]
fn with_secrets_only_the_same_origin_is_led_to() {
    for (location, expected) in [
        ("/y", Ok("http://a.example/y".to_owned())),
        ("http://a.example:80/y", Ok("http://a.example/y".to_owned())),
        ("http://a.example:81/y", Err(RedirectError::Elsewhere)),
        ("https://a.example/y", Err(RedirectError::Elsewhere)),
        ("http://b.example/y", Err(RedirectError::Elsewhere)),
    ] {
        assert_eq!(
            led("http://a.example/x", location, 1),
            expected,
            "{location}"
        );
    }
}

#[test]
fn every_error_says_what_is_in_the_way() {
    for (error, text) in [
        (FetchError::NoUrl, "it is no http or https URL"),
        (
            FetchError::Redirect(RedirectError::NoUrl),
            "it is redirected to what is no plain http or https URL",
        ),
        (
            FetchError::Redirect(RedirectError::Unsafe),
            "it is redirected from https to http",
        ),
        (
            FetchError::Redirect(RedirectError::Inward),
            "it is redirected from outside to an address of this machine or its network",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
    assert!(FetchError::Client.to_string().contains("certificates"));
}

#[test]
fn query_and_fragment_are_not_shown() {
    for address in ["https://a/b?key=planted", "https://a/b#planted"] {
        assert_eq!(shown(address), "https://a/b?…");
    }
    assert_eq!(shown("https://a/b"), "https://a/b");
}

#[test]
fn text_that_becomes_shorter_still_shows_its_cut() {
    let head = Head {
        bytes: b"x planted-and-more-planted-and-more y".to_vec(),
        total: Total::Exactly(999),
    };
    let words = [SecretString::from("planted-and-more-planted-and-more")];
    let text = without(head, 30, &words).into_text(30);
    assert!(
        !text.contains("planted") && text.ends_with("[cut: 30 of 999 bytes shown]\n"),
        "{text}"
    );
}
