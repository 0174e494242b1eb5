//! Items and chains through the engine's port: what is listed, what is sent, where answers go.

use offpeak::engine::ports::{Brief, Gathered};
use offpeak::job::{ForEach, ItemSource, WebInput, Which};
use offpeak::piece::Item;
use offpeak::workspace::Listing;

use super::web::{TOKEN, Web, knowing};
use super::*;

/// A list that must be there.
fn list_of(source: InputSource) -> Input {
    Input {
        name: "records".to_owned(),
        source,
        presence: Presence::Required,
        max_bytes: 100,
    }
}

impl Bench {
    fn for_each(mut self, source: ItemSource, which: Which) -> Self {
        self.job.for_each = Some(ForEach {
            source,
            which,
            limit: None,
        });
        self
    }

    /// Every file below `docs`.
    fn docs(self, which: Which) -> Self {
        let source = ItemSource::Files {
            folder: self.path("docs"),
            pattern: "**/*".to_owned(),
        };
        self.for_each(source, which)
    }

    fn records(self, text: &str) -> Self {
        let path = self.write("list.jsonl", text);
        let list = Box::new(list_of(InputSource::File(path)));
        self.for_each(ItemSource::Records(list), Which::All)
    }

    fn step(mut self, name: &str, prompt: &str) -> Self {
        self.job.then.push(Template {
            name: Some(name.to_owned()),
            prompt: TextSource::Inline(prompt.to_owned()),
            ..self.job.template.clone()
        });
        self
    }

    async fn list(&self) -> Vec<Item> {
        self.files().list(&self.job).await.unwrap()
    }

    async fn unlisted(&self) -> String {
        let unready = self.files().list(&self.job).await.unwrap_err();
        assert_eq!(unready.reason, FailReason::Input);
        let folder = self.folder.path().display().to_string();
        unready.message.replace(&folder, "")
    }

    async fn sent(&self, item: Option<&Item>, answers: &[&str]) -> Result<String, String> {
        let answers: Vec<String> = words(answers);
        let brief = Brief {
            job: &self.job,
            slot: &slot(),
            inputs: &[("log".to_owned(), "L".to_owned())],
            item,
            answers: &answers,
        };
        let filled = self.files().fill(brief).await;
        let folder = self.folder.path().display().to_string();
        filled
            .map(|request| request.prompt)
            .map_err(|unready| unready.message.replace(&folder, ""))
    }

    async fn written(&self, item: &Item) -> Result<String, String> {
        let answer = answer("done");
        let slot = slot();
        let parcel = Parcel {
            job: &self.job,
            slot: &slot,
            item: Some(item),
            answer: &answer,
            reached: nowhere(),
            newer: &[],
        };
        let delivered = self.files().deliver(parcel).await;
        let path = delivered.map_err(|undelivered| undelivered.message)?;
        let path = path.unwrap();
        let path = path.strip_prefix(self.folder.path()).unwrap();
        Ok(path.display().to_string())
    }
}

#[tokio::test]
async fn job_without_items_lists_none() {
    assert!(Bench::new("hello").list().await.is_empty());
}

#[tokio::test]
async fn only_a_job_that_goes_by_changes_has_its_files_marked() {
    let bench = Bench::new("hello").docs(Which::All);
    bench.write("docs/b/x.md", "x");
    bench.write("docs/a.md", "x");
    let plain = bench.list().await;
    let names: Vec<&str> = plain.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["a.md", "b/x.md"]);
    assert!(
        plain
            .iter()
            .all(|item| item.mark.is_empty() && item.text.is_none())
    );
    let bench = bench.docs(Which::ChangedSinceSuccess);
    let before = bench.list().await;
    bench.write("docs/a.md", "y");
    let after = bench.list().await;
    assert_ne!(before[0].mark, after[0].mark);
    assert_eq!(before[1], after[1]);
    assert_eq!(after[0].key, "a.md");
}

/// A file that cannot be read would otherwise hold up all others.
#[tokio::test]
async fn file_that_cannot_be_read_is_told_of_when_it_is_its_turn() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new("{{ item.text }}").docs(Which::ChangedSinceSuccess);
    let path = bench.write("docs/a.md", "x");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let items = bench.list().await;
    assert_eq!(items.len(), 1);
    // Whoever may read everything reads this too.
    if items[0].mark.is_empty() {
        let error = bench.sent(Some(&items[0]), &[]).await.unwrap_err();
        assert!(error.starts_with("cannot read /docs/a.md: "), "{error}");
    }
}

#[tokio::test]
async fn text_of_a_file_is_read_anew_at_each_call() {
    let prompt = "{{ item.name }} {{ item.stem }} {{ item.path }}: {{ item.text }} {{ log }}";
    let bench = Bench::new(prompt).docs(Which::All);
    let path = bench.write("docs/a/x.md", "one");
    let items = bench.list().await;
    let head = format!("a/x.md a/x {}: ", path.display());
    assert_eq!(
        bench.sent(Some(&items[0]), &[]).await,
        Ok(format!("{head}one L"))
    );
    bench.write("docs/a/x.md", "two {{ log }}");
    let expected = format!("{head}two {{{{ log }}}} L");
    assert_eq!(bench.sent(Some(&items[0]), &[]).await, Ok(expected));
    fs::remove_file(path).unwrap();
    let gone = "item `a/x.md`: /docs/a/x.md has gone since it was listed";
    assert_eq!(bench.sent(Some(&items[0]), &[]).await, Err(gone.to_owned()));
}

#[tokio::test]
async fn file_that_is_no_text_is_told_of() {
    let bench = Bench::new("{{ item.text }}").docs(Which::ChangedSinceSuccess);
    bench.write("docs/a.bin", b"ab\xff");
    let items = bench.list().await;
    let expected = "cannot use /docs/a.bin: byte 2 is not UTF-8 text";
    assert_eq!(
        bench.sent(Some(&items[0]), &[]).await,
        Err(expected.to_owned())
    );
}

#[tokio::test]
async fn file_item_of_a_job_that_has_no_files_any_more_is_told_of() {
    let bench = Bench::new("{{ item.text }}").docs(Which::All);
    bench.write("docs/a.md", "x");
    let items = bench.list().await;
    let bench = bench.records("1");
    let expected = "item `a.md`: it was a file, and the job's items are no files any more";
    assert_eq!(
        bench.sent(Some(&items[0]), &[]).await,
        Err(expected.to_owned())
    );
}

#[tokio::test]
async fn record_gives_its_fields() {
    let bench = Bench::new("{{ item.number }} {{ item.fields.name }} {{ item.fields.age }}")
        .records("{\"name\": \"Ada\", \"age\": 36}\n{\"name\": \"Bo\"}\n[1]\n");
    let items = bench.list().await;
    assert_eq!(
        bench.sent(Some(&items[0]), &[]).await,
        Ok("1 Ada 36".to_owned())
    );
    let missing = bench.sent(Some(&items[1]), &[]).await.unwrap_err();
    let known = "the variables are `date`, `job`, `log`, `slot`, `week`, `item.name`, `item.number`, `item.text`";
    assert_eq!(
        missing,
        format!("prompt:1: nothing fills `item.fields.age`; {known}, `item.fields.name`")
    );
    let none = bench.sent(Some(&items[2]), &[]).await.unwrap_err();
    let expected =
        format!("prompt:1: nothing fills `item.fields.age`, `item.fields.name`; {known}");
    assert_eq!(none, expected);
}

#[tokio::test]
async fn list_is_never_cut() {
    let bench = Bench::new("hello").records(&"1\n".repeat(51));
    let expected = "cannot use /list.jsonl: it holds more than 100 bytes";
    assert_eq!(bench.unlisted().await, expected);
    let list = list_of(InputSource::Command {
        argv: words(&["printf", "%0101d", "1"]),
        folder: bench.folder.path().to_owned(),
        timeout: Duration::from_secs(7),
    });
    let bench = bench.for_each(ItemSource::Lines(Box::new(list)), Which::All);
    assert_eq!(
        bench.unlisted().await,
        "`printf`: it printed more than 100 bytes"
    );
}

#[tokio::test]
async fn broken_record_is_told_of_with_its_place() {
    let bench = Bench::new("hello").records("{\"a\": 1}\n{\"a\": \n");
    let expected = "/list.jsonl:2:5: EOF while parsing a value; write one JSON value a line, or one list of them";
    assert_eq!(bench.unlisted().await, expected);
}

#[tokio::test]
async fn command_gives_the_items_unless_it_is_not_to_be_run() {
    let bench = Bench::new("hello");
    let command = |argv: &[&str], presence| {
        let source = InputSource::Command {
            argv: words(argv),
            folder: bench.folder.path().to_owned(),
            timeout: Duration::from_secs(7),
        };
        let list = Input {
            presence,
            ..list_of(source)
        };
        ItemSource::Lines(Box::new(list))
    };
    let two = command(&["printf", "a\\n\\nb\\n"], Presence::Required);
    let failing = command(&["false"], Presence::Optional);
    let bad = command(&["printf", "a\\377"], Presence::Required);
    let bench = bench.for_each(two, Which::All);
    let names: Vec<String> = bench.list().await.into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["line 1", "line 3"]);
    let listing = bench.files().items(&bench.job, RunCommands::No).await;
    assert_eq!(listing, Ok(Listing::NotRun));
    let bench = bench.for_each(failing, Which::All);
    assert!(bench.list().await.is_empty());
    let bench = bench.for_each(bad, Which::All);
    let expected = "`printf`: byte 1 of what it printed is not UTF-8 text";
    assert_eq!(bench.unlisted().await, expected);
}

#[tokio::test]
async fn two_items_of_one_output_are_refused_before_anything_is_sent() {
    let bench = Bench::new("hello").docs(Which::All);
    bench.write("docs/a/x.md", "x");
    bench.write("docs/b/x.md", "x");
    let bench = bench.output(Some("out/{{ item.stem }}.txt"), None);
    let items = bench.list().await;
    assert_eq!(bench.written(&items[0]).await, Ok("out/a/x.txt".to_owned()));
    assert_eq!(bench.written(&items[1]).await, Ok("out/b/x.txt".to_owned()));
    bench.write("docs/b/x.rst", "x");
    let expected = "item `b/x.rst`: its answer and that of `b/x.md` would have one file; \
                    use `{{ item.name }}` in the output's path";
    assert_eq!(bench.unlisted().await, expected);
}

#[tokio::test]
async fn answer_never_takes_the_place_of_the_file_that_it_is_made_from() {
    let bench = Bench::new("hello").docs(Which::All);
    bench.write("docs/a.md", "x");
    for pattern in ["docs/{{ item.name }}", "out/../docs/{{ item.name }}"] {
        let bench = Bench {
            job: Job {
                output: Some(Output {
                    file: Some(pattern.to_owned()),
                    previous: Previous::Replace,
                    append: None,
                    front_matter: FrontMatter::None,
                    command: None,
                    webhook_env: None,
                }),
                ..bench.job.clone()
            },
            folder: tempfile::tempdir().unwrap(),
            timeouts: Timeouts::Never,
        };
        bench.write("docs/a.md", "x");
        let bench = bench.docs(Which::All);
        let expected = "item `a.md`: the answer would take the place of the file itself; \
                        write into a folder of its own";
        assert_eq!(bench.unlisted().await, expected, "{pattern}");
    }
}

#[tokio::test]
async fn nothing_is_appended_to_what_an_item_reads_or_writes() {
    let bench = Bench::new("hello").docs(Which::All);
    bench.write("docs/a.md", "x");
    bench.write("docs/all.md", "x");
    let mut bench = bench.output(Some("out/{{ item.name }}"), None);
    let mut refused = async |append: &str| {
        bench.job.output.as_mut().unwrap().append = Some(append.to_owned());
        bench.unlisted().await
    };
    assert_eq!(
        refused("out/all.md").await,
        "item `a.md`: its answer would be appended to the file of `all.md`, which is written anew; \
         append to a file elsewhere"
    );
    assert_eq!(
        refused("docs/all.md").await,
        "item `all.md`: the answer would be appended to the file itself; write into a folder of its own"
    );
    bench.job.output.as_mut().unwrap().append = Some("log.md".to_owned());
    assert_eq!(bench.list().await.len(), 2);
}

#[tokio::test]
async fn value_of_a_record_neither_adds_nor_leaves_a_folder() {
    let at = |id: &str| {
        let record = serde_json::json!({ "id": id }).to_string();
        let bench = Bench::new("hello").records(&record);
        bench.output(Some("out/{{ item.fields.id }}/{{ item.name }}.md"), None)
    };
    let bench = at("a/../b");
    let items = bench.list().await;
    let expected = Ok("out/a-..-b/record 1.md".to_owned());
    assert_eq!(bench.written(&items[0]).await, expected);
    let expected = "item `record 1`: output `out/{{ item.fields.id }}/{{ item.name }}.md` becomes `out/../record 1.md`, \
                    which leads further up than its beginning says";
    assert_eq!(at("..").unlisted().await, expected);
}

#[tokio::test]
async fn incomplete_answer_is_kept_beside_the_output_of_its_item() {
    let bench = Bench::new("hello").docs(Which::All);
    bench.write("docs/a.md", "x");
    let bench = bench.output(Some("out/{{ item.name }}"), None);
    let items = bench.list().await;
    let (answer, slot) = (answer("half"), slot());
    let parcel = Parcel {
        job: &bench.job,
        slot: &slot,
        item: Some(&items[0]),
        answer: &answer,
        reached: nowhere(),
        newer: &[],
    };
    let kept = bench.files().keep_beside(parcel).await.unwrap().unwrap();
    let name = kept.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("a.incomplete-"), "{name}");
}

#[tokio::test]
async fn incomplete_answers_of_items_that_share_a_file_are_kept_apart() {
    let mut bench = Bench::new("hello").records("[1, 2]").output(None, None);
    bench.job.output.as_mut().unwrap().append = Some("log.md".to_owned());
    let slot = slot();
    let mut names = Vec::new();
    for item in bench.list().await {
        let answer = answer("half");
        let parcel = Parcel {
            job: &bench.job,
            slot: &slot,
            item: Some(&item),
            answer: &answer,
            reached: nowhere(),
            newer: &[],
        };
        let kept = bench.files().keep_beside(parcel).await.unwrap().unwrap();
        names.push(kept.file_name().unwrap().to_str().unwrap().to_owned());
    }
    assert!(names[0].ends_with("Z-record 1.md"), "{names:?}");
    assert!(names[1].ends_with("Z-record 2.md"), "{names:?}");
}

#[tokio::test]
async fn place_of_an_item_is_looked_at_before_its_first_step_is_sent() {
    let bench = Bench::new("hello").docs(Which::All);
    bench.write("docs/a.md", "x");
    bench.write("docs/b.md", "x");
    bench.write("out/a.md/in-the-way", "x");
    let bench = bench
        .output(Some("out/{{ item.name }}"), None)
        .step("last", "bye");
    let items = bench.list().await;
    let gathered = bench.files().gather(&bench.job, &slot()).await;
    assert_eq!(gathered, Gathered::Ready(Vec::new()));
    let message = bench.sent(Some(&items[0]), &[]).await.unwrap_err();
    let expected = "nothing was sent: the answer could not be put at /out/a.md: ";
    assert!(message.starts_with(expected), "{message}");
    let later = bench.sent(Some(&items[0]), &["one"]).await;
    assert_eq!(later, Ok("bye".to_owned()));
    let other = bench.sent(Some(&items[1]), &[]).await;
    assert_eq!(other, Ok("hello".to_owned()));
}

#[tokio::test]
async fn record_without_the_field_that_a_path_names_holds_up_no_other() {
    let bench = Bench::new("hello").records(r#"[{"id": "x"}, {"no": 1}]"#);
    let bench = bench.output(Some("out/{{ item.fields.id }}.md"), None);
    let items = bench.list().await;
    assert_eq!(
        bench.sent(Some(&items[0]), &[]).await,
        Ok("hello".to_owned())
    );
    let message = bench.sent(Some(&items[1]), &[]).await.unwrap_err();
    let expected = "nothing was sent: output.file:1: nothing fills `item.fields.id`";
    assert!(message.starts_with(expected), "{message}");
}

#[tokio::test]
async fn list_is_fetched_whole_or_not_at_all() {
    let page = |text: &str| format!("200 OK\r\n\r\n{text}");
    let web = Web::start()
        .at("/list?key=1", page("one\n\ntwo\n"))
        .at("/long", page(&"x".repeat(101)))
        .at("/binary", b"200 OK\r\n\r\na\xff")
        .at("/gone", "404 Not Found\r\n\r\n");
    let of = |path: &str| {
        let web = WebInput {
            address: web.url(path),
            header_env: vec![("authorization".to_owned(), "FEED_TOKEN".to_owned())],
            timeout: Duration::from_secs(7),
        };
        let list = list_of(InputSource::Url(Box::new(web)));
        Bench::new("hello").for_each(ItemSource::Lines(Box::new(list)), Which::All)
    };
    let bench = of("/list?key=1");
    let files = knowing(bench.files(), &[("FEED_TOKEN", TOKEN)]);
    let items = files.list(&bench.job).await.unwrap();
    let texts: Vec<_> = items.iter().filter_map(|it| it.text.as_deref()).collect();
    assert_eq!(texts, ["one", "two"]);
    assert!(web.requests()[0].contains(TOKEN));
    let not_run = files.items(&bench.job, RunCommands::No).await;
    assert_eq!(not_run, Ok(Listing::NotRun));
    for (path, expected) in [
        ("/long", "it brought more than 100 bytes"),
        ("/binary", "byte 1 of what it brought is not UTF-8 text"),
        ("/gone", "cannot fetch "),
    ] {
        let bench = of(path);
        let files = knowing(bench.files(), &[("FEED_TOKEN", TOKEN)]);
        let unready = files.list(&bench.job).await.unwrap_err();
        assert!(unready.message.contains(expected), "{}", unready.message);
    }
}

#[tokio::test]
async fn each_step_has_the_answers_before_it() {
    let mut bench = Bench::new("one {{ log }}")
        .step("draft", "two {{ outline }}")
        .step("last", "three {{ outline }} {{ draft }}");
    bench.job.template.name = Some("outline".to_owned());
    assert_eq!(bench.sent(None, &[]).await, Ok("one L".to_owned()));
    let first = "{{ log }}";
    assert_eq!(bench.sent(None, &[first]).await, Ok(format!("two {first}")));
    let third = bench.sent(None, &[first, "B"]).await;
    assert_eq!(third, Ok(format!("three {first} B")));
}

#[tokio::test]
async fn preview_shows_every_step_with_words_in_the_place_of_answers() {
    let mut bench = Bench::new("one")
        .step("draft", "two {{ outline }}")
        .step("last", "three {{ gone }}");
    bench.job.template.name = Some("outline".to_owned());
    let files = bench.files();
    let shown = files
        .preview(&bench.job, &slot(), RunCommands::Yes, None)
        .await;
    let then: Vec<_> = shown
        .then
        .iter()
        .map(|step| step.as_ref().map(|request| request.prompt.as_str()))
        .collect();
    assert_eq!(then[0], Ok("two [answer of outline]"));
    let error = then[1].as_ref().unwrap_err();
    assert!(error.message.contains("nothing fills `gone`"), "{error:?}");
}
