//! Inputs that are fetched: redirects, secrets, bounds of time and size.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard};
use std::thread;

use offpeak::job::WebInput;
use secrecy::SecretString;

use super::*;

/// What nobody may see who was not sent it.
pub const TOKEN: &str = "Bearer planted-7Zq9x-secret";

/// A server on loopback with a list of replies for each path; the last of a list is given again.
pub struct Web {
    place: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    replies: BTreeMap<String, Vec<Vec<u8>>>,
    requests: Vec<String>,
    /// Those that wait for ever.
    held: Vec<TcpStream>,
}

impl Web {
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let place = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for socket in listener.incoming() {
                // A client that goes in the middle is no matter.
                let _ = socket.and_then(|socket| serve(socket, &shared));
            }
        });
        Self { place, state }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.place)
    }

    /// One more reply at a path: the bytes after `HTTP/1.1 `. A path without one is silent.
    pub fn at(self, path: &str, reply: impl AsRef<[u8]>) -> Self {
        let reply = [b"HTTP/1.1 ", reply.as_ref()].concat();
        let path = path.to_owned();
        self.lock().replies.entry(path).or_default().push(reply);
        self
    }

    /// Everything it was sent so far: heads and bodies.
    pub fn requests(&self) -> Vec<String> {
        self.lock().requests.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

fn serve(mut socket: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(&socket);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let start = request.len();
        if reader.read_line(&mut request)? == 0 || request[start..].trim().is_empty() {
            break;
        }
        let line = request[start..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    request.push_str(&String::from_utf8_lossy(&body));
    let mut state = state.lock().unwrap();
    state.requests.push(request);
    match state.replies.get_mut(&path) {
        Some(replies) if replies.len() > 1 => socket.write_all(&replies.remove(0)),
        Some(replies) => socket.write_all(&replies[0]),
        None => {
            state.held.push(socket);
            Ok(())
        }
    }
}

/// The variables that jobs of these tests name.
pub fn knowing(files: Files, values: &[(&str, &str)]) -> Files {
    let values = values
        .iter()
        .map(|(name, value)| ((*name).to_owned(), SecretString::from(*value)));
    files.knowing(values.collect())
}

fn fetching(url: String) -> Bench {
    let input = WebInput {
        address: url,
        header_env: Vec::new(),
        timeout: Duration::from_secs(7),
    };
    Bench::new("[{{ feed }}]").input("feed", InputSource::Url(Box::new(input)))
}

fn with_secret(url: String) -> Bench {
    let input = WebInput {
        address: url,
        header_env: vec![("authorization".to_owned(), "FEED_TOKEN".to_owned())],
        timeout: Duration::from_secs(7),
    };
    Bench::new("[{{ feed }}]").input("feed", InputSource::Url(Box::new(input)))
}

/// What becomes of a job whose input sends the token.
async fn prepared(bench: &Bench, values: &[(&str, &str)]) -> Result<String, String> {
    let files = knowing(bench.files(), values);
    let shown = files
        .preview(&bench.job, &slot(), RunCommands::Yes, None)
        .await;
    match shown.prepared {
        Prepared::Ready(request) => Ok(request.prompt),
        Prepared::Failed(unready) => Err(unready.message),
        Prepared::Empty | Prepared::NotListed => Err("empty".to_owned()),
    }
}

#[tokio::test]
async fn address_is_asked_once_and_plainly() {
    let web = Web::start().at("/feed.xml?n=3", "200 OK\r\n\r\na\u{ff}{{ job }}\n");
    let bench = fetching(web.url("/feed.xml?n=3"));
    assert_eq!(prepared(&bench, &[]).await.unwrap(), "[a\u{ff}{{ job }}\n]");
    let requests = web.requests();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    let head = request.to_ascii_lowercase();
    assert!(head.starts_with("get /feed.xml?n=3 http/1.1\r\n"), "{head}");
    assert!(head.contains("\r\naccept-encoding: identity\r\n"), "{head}");
    assert!(!head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_replaced() {
    let web = Web::start().at("/", b"200 OK\r\n\r\na\xffb");
    let bench = fetching(web.url("/"));
    assert_eq!(prepared(&bench, &[]).await.unwrap(), "[a\u{fffd}b]");
}

#[tokio::test]
async fn long_page_is_cut_with_the_mark_of_every_input() {
    let long = "x".repeat(250);
    let web = Web::start()
        .at(
            "/told",
            format!("200 OK\r\ncontent-length: 250\r\n\r\n{long}"),
        )
        .at("/untold", format!("200 OK\r\n\r\n{long}"))
        .at("/whole", format!("200 OK\r\n\r\n{}", &long[..100]));
    let shown = &long[..100];
    for (path, expected) in [
        (
            "/told",
            format!("[{shown}\n[cut: 100 of 250 bytes shown]\n]"),
        ),
        (
            "/untold",
            format!("[{shown}\n[cut: 100 of more than 100 bytes shown]\n]"),
        ),
        ("/whole", format!("[{shown}]")),
    ] {
        let bench = fetching(web.url(path));
        assert_eq!(prepared(&bench, &[]).await.unwrap(), expected, "{path}");
    }
}

#[tokio::test]
async fn redirects_are_followed_also_to_another_origin_but_not_for_ever() {
    let other = Web::start().at("/end", "200 OK\r\n\r\nthe end");
    let away = format!("302 Found\r\nlocation: {}\r\n\r\n", other.url("/end"));
    let web = Web::start()
        .at("/a", "301 Moved\r\nlocation: b\r\n\r\n")
        .at("/b", "308 Moved\r\nlocation: /c\r\n\r\n")
        .at("/c", away)
        .at("/round", "307 Round\r\nlocation: /round\r\n\r\n");
    let bench = fetching(web.url("/a"));
    assert_eq!(prepared(&bench, &[]).await.unwrap(), "[the end]");
    let before = web.requests().len();
    let bench = fetching(web.url("/round"));
    let message = prepared(&bench, &[]).await.unwrap_err();
    assert!(
        message.ends_with("/round: it is redirected more than 5 times"),
        "{message}"
    );
    assert_eq!(web.requests().len() - before, 6);
}

#[tokio::test]
async fn secret_headers_stay_at_their_origin() {
    let other = Web::start().at("/", "200 OK\r\n\r\nstolen");
    let away = format!("302 Found\r\nlocation: {}\r\n\r\n", other.url("/"));
    let web = Web::start()
        .at("/near", "302 Found\r\nlocation: /end\r\n\r\n")
        .at("/end", "200 OK\r\n\r\nfor you")
        .at("/away", away);
    let token = [("FEED_TOKEN", TOKEN)];
    let bench = with_secret(web.url("/near"));
    assert_eq!(prepared(&bench, &token).await.unwrap(), "[for you]");
    for request in web.requests() {
        assert!(request.contains(&format!("authorization: {TOKEN}\r\n")));
    }
    let bench = with_secret(web.url("/away?key=private"));
    let web = web.at(
        "/away?key=private",
        format!("302 Found\r\nlocation: {}\r\n\r\n", other.url("/")),
    );
    let message = prepared(&bench, &token).await.unwrap_err();
    let expected = format!(
        "input `feed`: cannot fetch {}?…: it is redirected to another origin, which must not get the headers of `header_env`; write the address that it leads to",
        web.url("/away")
    );
    assert_eq!(message, expected);
    assert_eq!(other.requests(), [""; 0]);
}

#[tokio::test]
async fn secret_that_is_not_set_fails_even_an_optional_input() {
    let web = Web::start().at("/", "200 OK\r\n\r\nx");
    let bench = with_secret(web.url("/")).optional();
    for (values, expected) in [
        (&[][..], "is not set"),
        (&[("FEED_TOKEN", " ")], "is not set"),
        (
            &[("FEED_TOKEN", "plan\nted")],
            "holds what cannot stand in a header",
        ),
    ] {
        let message = prepared(&bench, values).await.unwrap_err();
        assert_eq!(
            message,
            format!("input `feed`: the environment variable `FEED_TOKEN` {expected}")
        );
    }
    assert_eq!(web.requests(), [""; 0]);
}

#[tokio::test]
async fn page_that_gives_the_secret_back_does_not_bring_it_into_the_prompt() {
    let (_, word) = TOKEN.split_once(' ').unwrap();
    let web = Web::start()
        .at("/", format!("200 OK\r\n\r\nyou sent {TOKEN}, {word}"))
        .at("/cut", format!("200 OK\r\n\r\n{}{TOKEN}", "x".repeat(90)))
        .at("/no", format!("403 {word}\r\nx: {word}\r\n\r\n{word}"));
    let token = [("FEED_TOKEN", TOKEN)];
    let bench = with_secret(web.url("/"));
    let prompt = prepared(&bench, &token).await.unwrap();
    assert!(
        !prompt.contains("planted") && prompt.contains("[redacted]"),
        "{prompt}"
    );
    let bench = with_secret(web.url("/cut"));
    let prompt = prepared(&bench, &token).await.unwrap();
    assert!(
        !prompt.contains("planted") && prompt.contains("[cut: "),
        "{prompt}"
    );
    let bench = with_secret(web.url("/no"));
    let message = prepared(&bench, &token).await.unwrap_err();
    assert!(
        message.ends_with("/no: the answer has status 403"),
        "{message}"
    );
}

#[tokio::test]
async fn what_brings_nothing_fails_the_run_unless_it_is_optional() {
    let web = Web::start()
        .at("/gone", "404 Gone\r\n\r\nplease")
        .at("/zip", "200 OK\r\ncontent-encoding: gzip\r\n\r\nx")
        .at("/half", "200 OK\r\ncontent-length: 9\r\n\r\nx");
    let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let nobody = format!("http://{}/", closed.local_addr().unwrap());
    drop(closed);
    for (url, expected) in [
        (web.url("/gone"), "the answer has status 404"),
        (
            web.url("/zip"),
            "the answer is compressed, although it was asked for plain",
        ),
        (web.url("/half"), "the connection broke"),
        (nobody, "there is no connection"),
    ] {
        let message = prepared(&fetching(url.clone()), &[]).await.unwrap_err();
        assert_eq!(
            message,
            format!("input `feed`: cannot fetch {url}: {expected}")
        );
        let mut bench = fetching(url).optional();
        bench.job.on_empty_input = OnEmptyInput::Send;
        assert_eq!(prepared(&bench, &[]).await.unwrap(), "[]");
    }
}

#[tokio::test]
async fn silent_server_is_waited_for_no_longer_than_the_timeout() {
    let web = Web::start();
    let mut bench = fetching(web.url("/"));
    bench.timeouts = Timeouts::AtOnce;
    let message = prepared(&bench, &[]).await.unwrap_err();
    assert!(
        message.ends_with(": it was not there within 7s"),
        "{message}"
    );
}

#[tokio::test]
async fn preview_fetches_nothing_unless_asked() {
    let web = Web::start();
    let bench = fetching(web.url("/?a"));
    let files = bench.files();
    let shown = files
        .preview(&bench.job, &slot(), RunCommands::No, None)
        .await;
    let Prepared::Ready(request) = shown.prepared else {
        panic!("{shown:?}")
    };
    assert_eq!(
        request.prompt,
        format!("[[not fetched: {}?…]\n]", web.url("/"))
    );
    assert_eq!(web.requests(), [""; 0]);
}
