//! Answers that pause at the stand-in, and go on when they are sent back unchanged.

use offpeak::answer::{FailureKind, Reply, SendFailure, StopReason};
use offpeak::job::{Delivery, Request};
use offpeak::standin::{Script, Standin};

use super::clock::ManualClock;
use super::{meet, request, send, standin};

fn house(yaml: &str) -> Standin {
    standin(Script::from_yaml(yaml).unwrap(), &ManualClock::new())
}

async fn ask(standin: &Standin, request: &Request) -> Result<Reply, SendFailure> {
    send(&standin.base_url(), &ManualClock::new(), request).await
}

#[tokio::test]
async fn paused_answer_goes_on_when_it_is_sent_back() {
    for delivery in [Delivery::Stream, Delivery::Whole] {
        let standin = house("rules: [{ times: 2, then: { pause: {} } }]");
        let mut request = request(delivery);
        for pause in 1..=2 {
            let answer = ask(&standin, &request).await.unwrap().answer;
            assert_eq!(answer.stop_reason, StopReason::PauseTurn, "pause {pause}");
            assert_eq!(answer.text, "Let me look that up.\n");
            assert_eq!(answer.usage.unwrap().web_searches, 1);
            request.so_far.extend(answer.paused);
            assert_eq!(request.so_far.len(), pause);
        }
        let answer = ask(&standin, &request).await.unwrap().answer;
        assert_eq!(
            (answer.stop_reason, answer.paused),
            (StopReason::EndTurn, None)
        );
        assert!(
            answer.text.starts_with("# Summarise the night."),
            "only the new part"
        );
    }
}

#[tokio::test]
async fn changed_or_made_up_words_of_the_assistant_are_refused() {
    let standin = house("rules: [{ times: 1, then: { pause: {} } }]");
    let mut request = request(Delivery::Stream);
    let paused = ask(&standin, &request)
        .await
        .unwrap()
        .answer
        .paused
        .unwrap();
    for so_far in [
        paused.replace("look that up", "look it up"),
        r#"[{"type":"text","text":"I begin with"}]"#.to_owned(),
    ] {
        request.so_far = vec![so_far];
        let failure = ask(&standin, &request).await.unwrap_err();
        assert_eq!(
            (failure.kind, failure.status),
            (FailureKind::Status, Some(400))
        );
        assert!(failure.message.contains("assistant"), "{}", failure.message);
    }
    request.so_far = vec![paused];
    assert!(ask(&standin, &request).await.is_ok());
}

#[tokio::test]
async fn failed_tool_is_told_beside_the_text() {
    let script = Script::from_yaml(
        "rules: [{ then: { tool_error: { tool: web_search, code: max_uses_exceeded } } }]",
    );
    let fault = script.unwrap().rules.remove(0).then;
    for delivery in [Delivery::Stream, Delivery::Whole] {
        let answer = meet(fault.clone(), delivery).await.unwrap().answer;
        assert_eq!(answer.stop_reason, StopReason::EndTurn);
        assert_eq!(answer.tool_errors, ["web_search: max_uses_exceeded"]);
        assert!(answer.text.starts_with("# Summarise the night."));
    }
}

#[tokio::test]
async fn part_of_a_paused_answer_that_is_no_list_is_not_sent() {
    let standin = house("");
    let mut request = request(Delivery::Stream);
    request.so_far = vec!["{}".to_owned()];
    let failure = ask(&standin, &request).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unsendable);
    assert!(standin.requests().is_empty());
}
