//! Programs, texts and folders that do not behave.

use std::os::unix::fs::symlink;

use super::*;

/// The program has ended, and its child keeps the output open: the wait for it would last as long as the child.
#[tokio::test]
async fn child_that_keeps_the_output_open_is_ended_with_the_run() {
    child_is_ended("echo started; (trap '' TERM HUP; sleep 600) & echo $! > child").await;
}

#[tokio::test]
async fn much_that_a_command_complains_of_neither_blocks_it_nor_is_kept() {
    let script = "head -c 10000000 /dev/zero >&2; echo out";
    let bench = Bench::new("{{ a }}").command_input("a", &["sh", "-c", script]);
    assert_eq!(bench.request().await.prompt, "out\n");
}

#[tokio::test]
async fn text_of_a_command_and_of_a_file_with_braces_in_its_name_is_never_expanded() {
    let text = "{{ job }}{% raw %}{{ b }}";
    let bench = Bench::new("[{{ a }}|{{ b }}]").command_input("a", &["printf", "%s", text]);
    let named = bench.write("{{ job }}.md", "{{ date }}");
    let bench = bench.input("b", InputSource::File(named));
    let request = bench.request().await;
    assert_eq!(request.prompt, format!("[{text}|{{{{ date }}}}]"));
}

#[tokio::test]
async fn answer_with_braces_is_written_and_handed_over_as_it_is() {
    let text = "{{ job }}{% if x %}";
    let bench = Bench::new("p").output(Some("a.md"), Some(&["sh", "-c", "cat > got"]));
    bench.deliver(text).await.unwrap();
    assert_eq!(
        (bench.read("a.md"), bench.read("got")),
        (text.to_owned(), text.to_owned())
    );
}

#[tokio::test]
async fn neither_answer_nor_half_an_answer_follows_a_link_out_of_the_folder() {
    let bench = Bench::new("p").output(Some("out/{{ date }}.md"), None);
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), bench.path("out")).unwrap();
    for result in [bench.deliver("x").await, bench.keep_beside("x").await] {
        let message = result.unwrap_err();
        let expected = "a symbolic link leads out of the working folder to ";
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// `/proc/kmsg` is a regular file by its kind, and its reader waits for ever: so did the run. Only root may open it;
/// the reader's own tests show the same of a file that anybody may have.
#[tokio::test]
async fn input_file_that_blocks_fails_the_run() {
    let device = PathBuf::from("/proc/kmsg");
    if fs::File::open(&device).is_err() {
        return;
    }
    let mut bench = Bench::new("{{ log }}").input("log", InputSource::File(device));
    bench.timeouts = Timeouts::AtOnce;
    assert_eq!(
        bench.failure().await,
        "input `log`: cannot read /proc/kmsg: the file did not answer in 60s"
    );
}
