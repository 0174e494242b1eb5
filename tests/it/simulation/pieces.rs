//! Runs of many calls: items, chains, answers that pause, and the fallback model.

use std::collections::VecDeque;
use std::time::Duration;

use offpeak::answer::{SendFailure, StopReason};
use offpeak::engine::PlannedJob;
use offpeak::guard::BudgetPolicy;
use offpeak::job::{ForEach, ItemSource, Which};
use offpeak::outcome::Outcome;
use offpeak::piece::Item;
use offpeak::sim::{Scripted, SimPlan, SimUpstream};

use super::harness::{House, job, rotation, seconds, single};

fn items(names: &[(&str, &str)]) -> Vec<Item> {
    let item = |(name, mark): &(&str, &str)| Item {
        name: (*name).to_owned(),
        key: (*name).to_owned(),
        mark: (*mark).to_owned(),
        text: None,
    };
    names.iter().map(item).collect()
}

fn each(which: Which, limit: Option<u32>) -> impl FnOnce(&mut PlannedJob) {
    move |planned| {
        planned.job.for_each = Some(ForEach {
            source: ItemSource::Files {
                folder: "/docs".into(),
                pattern: "*.md".to_owned(),
            },
            which,
            limit,
        });
    }
}

fn chain_of(planned: &mut PlannedJob, steps: usize) {
    let template = planned.job.template.clone();
    planned.job.then = vec![template; steps - 1];
}

/// `item@HH:MM:SS` of each request; the simulated folder writes the item into the prompt.
fn asked(house: &House) -> Vec<String> {
    let sent = house.upstream.sent().into_iter();
    sent.map(|sent| {
        let prompt = &sent.request.prompt;
        let item = prompt.split_once('[').and_then(|it| it.1.split_once(']'));
        let item = item.map_or("-", |(name, _)| name);
        format!("{item}@{}", sent.at.format("%H:%M:%S"))
    })
    .collect()
}

fn with_items(plan: SimPlan, names: &[(&str, &str)], list: Vec<Scripted>) -> House {
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::scripted(clock, list)
    });
    house.workspace.set_items(&job("a"), items(names));
    house
}

fn answer() -> Scripted {
    Scripted::answer(seconds(1), "a complete answer")
}

fn refused() -> Scripted {
    Scripted::status(400, "invalid_request_error", None)
}

fn overloaded() -> Scripted {
    Scripted::status(529, "overloaded_error", None)
}

fn hint_of_minutes() -> Scripted {
    Scripted::status(429, "rate_limit_error", Some(Duration::from_mins(5)))
}

const ABC: [(&str, &str); 3] = [("a.md", "1"), ("b.md", "1"), ("c.md", "1")];

#[test]
fn each_item_is_asked_for_in_order_and_delivered_by_itself() {
    let plan = single().with_job("a", each(Which::All, None));
    let house = with_items(plan, &ABC, Vec::new());
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        asked(&house),
        ["a.md@17:00:00", "b.md@17:00:01", "c.md@17:00:02"]
    );
    assert_eq!(house.workspace.delivered().len(), 3);
    let run = house.store.runs().remove(0);
    assert_eq!(run.outcome, Some(Outcome::Succeeded));
    let note = "3 of 3 items succeeded in this run";
    assert_eq!(run.note.as_deref(), Some(note));
    let tokens = run.usage.map(|usage| usage.input_tokens);
    assert_eq!(tokens, Some(300), "what the calls used is added up");
    house.audit();
}

#[test]
fn items_side_by_side_are_as_many_as_the_job_says() {
    let plan = single()
        .with_job("a", each(Which::All, None))
        .with_job("a", |planned| planned.job.concurrency = 2);
    let house = with_items(plan, &ABC, Vec::new());
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        asked(&house),
        ["a.md@17:00:00", "b.md@17:00:00", "c.md@17:00:01"]
    );
    house.audit();
}

#[test]
fn items_that_yield_are_picked_up_by_the_next_slot_and_the_rest_is_done() {
    let plan = rotation().with_job("a", each(Which::All, None));
    let house = with_items(plan, &ABC, vec![answer(), hint_of_minutes()]);
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        asked(&house),
        [
            "a.md@17:00:00",
            "b.md@17:00:01",
            "-@17:45:00",
            "b.md@17:45:01",
            "c.md@17:45:02"
        ]
    );
    assert_eq!(
        house.runs(),
        [
            "a scheduled: yielded: hint",
            "b scheduled: succeeded",
            "a deferred: succeeded"
        ]
    );
    let note = house.store.runs()[0].note.clone().unwrap();
    let head = "1 of 3 items succeeded in this run, 2 left; `b.md`: status 429 rate_limit_error";
    assert!(note.starts_with(head), "{note}");
    house.check_rows();
}

#[test]
fn a_list_is_taken_once_for_a_slot_whatever_the_folder_holds_later() {
    let plan = rotation().with_job("a", each(Which::All, None));
    let house = with_items(plan, &ABC, vec![answer(), hint_of_minutes()]);
    house.live_until("2026-12-01T17:30");
    house
        .workspace
        .set_items(&job("a"), items(&[("z.md", "1")]));
    house.live_until("2026-12-01T18:00");
    assert_eq!(asked(&house)[3..], ["b.md@17:45:01", "c.md@17:45:02"]);
}

#[test]
fn an_item_that_fails_keeps_no_other_back_and_decides_the_outcome() {
    let plan = single().with_job("a", each(Which::All, None));
    let house = with_items(plan, &ABC, vec![answer(), refused()]);
    house.live_until("2026-12-01T18:00");
    assert_eq!(house.runs(), ["a scheduled: failed: fatal"]);
    assert_eq!(asked(&house).len(), 3);
    assert_eq!(house.workspace.delivered().len(), 2);
    let note = house.store.runs()[0].note.clone().unwrap();
    let head = "2 of 3 items succeeded in this run; `b.md`: failed: fatal, status 400";
    assert!(note.starts_with(head), "{note}");
}

#[test]
fn an_exhausted_item_goes_on_once_and_fails_the_second_time() {
    let plan = rotation().with_job("a", each(Which::All, None));
    let mut list = vec![answer()];
    list.extend(std::iter::repeat_with(overloaded).take(3));
    list.extend([answer(), answer()]);
    list.extend(std::iter::repeat_with(overloaded).take(3));
    let house = with_items(plan, &ABC, list);
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        house.runs(),
        [
            "a scheduled: exhausted",
            "b scheduled: succeeded",
            "a deferred: failed: exhausted"
        ]
    );
    let of_b = asked(&house)
        .iter()
        .filter(|it| it.starts_with("b.md"))
        .count();
    assert_eq!(of_b, 6, "three attempts in each of two slots");
    house.check_rows();
}

#[test]
fn only_what_changed_since_it_succeeded_is_asked_for() {
    let plan = single().with_job("a", each(Which::ChangedSinceSuccess, None));
    let house = with_items(plan, &ABC, vec![answer(), refused()]);
    house.live_until("2026-12-01T18:00");
    let now = [("a.md", "2"), ("b.md", "1"), ("c.md", "1"), ("d.md", "1")];
    house.workspace.set_items(&job("a"), items(&now));
    house.live_until("2026-12-02T18:00");
    // What failed as it is comes after what was never tried.
    let second: Vec<String> = asked(&house)[3..].to_vec();
    assert_eq!(second, ["a.md@17:00:00", "d.md@17:00:01", "b.md@17:00:02"]);
    house.live_until("2026-12-03T18:00");
    assert_eq!(house.runs()[2..], ["a scheduled: skipped: empty_input"]);
}

#[test]
fn a_limit_takes_the_rest_in_later_slots() {
    let plan = single().with_job("a", each(Which::ChangedSinceSuccess, Some(2)));
    let house = with_items(plan, &ABC, Vec::new());
    house.live_until("2026-12-02T18:00");
    assert_eq!(
        asked(&house),
        ["a.md@17:00:00", "b.md@17:00:01", "c.md@17:00:00"]
    );
}

#[test]
fn a_run_of_many_items_waits_for_its_budget_instead_of_refusing_itself() {
    let names: Vec<String> = (0..9).map(|n| format!("{n}.md")).collect();
    let names: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let plan = single()
        .with_job("a", each(Which::All, None))
        .with_guards(|guard| guard.budget = BudgetPolicy::new(5, seconds(60)).unwrap());
    for concurrency in [1, 3] {
        let plan = plan
            .clone()
            .with_job("a", |planned| planned.job.concurrency = concurrency);
        let house = with_items(plan, &names, Vec::new());
        house.live_until("2026-12-01T18:00");
        assert_eq!(house.runs(), ["a scheduled: succeeded"], "{concurrency}");
        assert_eq!(asked(&house).len(), 9);
        house.check_budgets();
    }
}

#[test]
fn a_crash_between_items_does_none_of_them_twice() {
    for second in 1..6 {
        let plan = rotation().with_job("a", each(Which::All, None));
        let house = with_items(plan, &ABC, Vec::new());
        house.live_for(Duration::from_mins(10) + Duration::from_millis(second * 700));
        house.live_until("2026-12-01T18:30");
        let mut delivered: Vec<String> = asked(&house);
        delivered.retain(|it| !it.starts_with('-'));
        let under_way = house.store.runs()[0].outcome != Some(Outcome::Succeeded);
        // What was under way may have been billed, and is asked for once more.
        assert!(
            delivered.len() <= 3 + usize::from(under_way),
            "{delivered:?}"
        );
        let of_a = house.workspace.delivered().into_iter();
        let of_a = of_a.filter(|(slot, _)| slot.job == job("a")).count();
        assert_eq!(of_a, 3, "after {second}");
        house.check_rows();
    }
}

#[test]
fn a_chain_hands_each_answer_to_the_next_step() {
    let plan = single().with_job("a", |planned| chain_of(planned, 3));
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        let texts = ["outline", "draft", "final"];
        SimUpstream::scripted(clock, texts.map(|it| Scripted::answer(seconds(1), it)))
    });
    house.live_until("2026-12-01T18:00");
    let prompts: Vec<String> = house
        .upstream
        .sent()
        .iter()
        .map(|sent| sent.request.prompt.clone())
        .collect();
    assert!(
        prompts[2].ends_with("\n> outline\n> draft"),
        "{}",
        prompts[2]
    );
    let delivered = house.workspace.delivered();
    assert_eq!(delivered.len(), 1);
    assert_eq!(delivered[0].1, "final");
    let steps: Vec<u32> = house.store.runs()[0]
        .attempts
        .iter()
        .map(|attempt| attempt.call.step)
        .collect();
    assert_eq!(steps, [1, 2, 3]);
}

#[test]
fn a_step_that_yields_goes_on_there() {
    let plan = rotation().with_job("a", |planned| chain_of(planned, 2));
    let answers = vec![
        Scripted::answer(seconds(1), "outline"),
        hint_of_minutes(),
        answer(),
        Scripted::answer(seconds(1), "final"),
    ];
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::scripted(clock, answers)
    });
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        house.sends(),
        ["a@17:00:00", "a@17:00:01", "b@17:45:00", "a@17:45:01"]
    );
    let final_call = house.upstream.sent().pop().unwrap();
    assert!(final_call.request.prompt.ends_with("\n> outline"));
    let of_a = house.workspace.delivered().pop().unwrap();
    assert_eq!(of_a.1, "final");
    house.check_rows();
}

#[test]
fn a_step_whose_answer_is_cut_ends_the_chain() {
    let plan = single().with_job("a", |planned| chain_of(planned, 2));
    let cut = Scripted::stopped(seconds(1), "half", StopReason::MaxTokens);
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::scripted(clock, [cut])
    });
    house.live_until("2026-12-01T18:00");
    assert_eq!(house.runs(), ["a scheduled: incomplete: truncated"]);
    assert_eq!(house.sends().len(), 1);
    assert_eq!(house.workspace.beside().len(), 1);
}

fn paused(text: &str, blocks: &str) -> Scripted {
    let mut scripted = Scripted::stopped(seconds(1), text, StopReason::PauseTurn);
    if let Ok(reply) = &mut scripted.result {
        reply.answer.paused = Some(blocks.to_owned());
    }
    scripted
}

#[test]
fn an_answer_that_pauses_is_asked_to_go_on_and_is_one() {
    let list = vec![
        paused("one ", r#"[{"type":"a"}]"#),
        paused("two ", r#"[{"type":"b"}]"#),
        Scripted::answer(seconds(1), "three"),
    ];
    let house = House::new("2026-12-01T16:50", single().build(), |clock| {
        SimUpstream::scripted(clock, list)
    });
    house.live_until("2026-12-01T18:00");
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    assert_eq!(house.workspace.delivered()[0].1, "one two three");
    let so_far = house.upstream.sent()[2].request.so_far.clone();
    assert_eq!(so_far, [r#"[{"type":"a"}]"#, r#"[{"type":"b"}]"#]);
    let run = house.store.runs().remove(0);
    assert_eq!(run.usage.map(|usage| usage.input_tokens), Some(300));
    house.audit();
}

#[test]
fn a_model_that_pauses_for_ever_is_given_up() {
    let house = House::new("2026-12-01T16:50", single().build(), |clock| {
        SimUpstream::new(clock, |_, _| paused("on ", "[]"))
    });
    house.live_until("2026-12-01T18:00");
    assert_eq!(house.runs(), ["a scheduled: incomplete: unfinished"]);
    assert_eq!(house.sends().len(), 6);
}

fn gone() -> Scripted {
    Scripted::status(404, "not_found_error", None)
}

/// The models that were asked, in order, with a fallback.
fn models(list: Vec<Scripted>) -> (Vec<String>, House) {
    let plan = single().with_job("a", |planned| {
        planned.job.fallback_model = Some("claude-other".to_owned());
    });
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::scripted(clock, list)
    });
    house.live_until("2026-12-01T18:00");
    let sent = house.upstream.sent().into_iter();
    (sent.map(|sent| sent.request.model).collect(), house)
}

#[test]
fn the_fallback_model_is_asked_when_the_first_is_gone() {
    let (asked, house) = models(vec![gone()]);
    assert_eq!(asked, ["claude-sim", "claude-other"]);
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    let note = house.store.runs()[0].note.clone().unwrap();
    assert!(
        note.starts_with("`claude-other` was asked in place of `claude-sim`"),
        "{note}"
    );
    let parts: Vec<u32> = house.store.runs()[0]
        .attempts
        .iter()
        .map(|attempt| attempt.call.part)
        .collect();
    assert_eq!(parts, [1, 2]);
}

#[test]
fn the_fallback_model_is_asked_after_overload_to_the_last_attempt() {
    let list = std::iter::repeat_with(overloaded).take(3).collect();
    let (asked, house) = models(list);
    let expected = ["claude-sim", "claude-sim", "claude-sim", "claude-other"];
    assert_eq!(asked, expected);
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
}

#[test]
fn the_fallback_model_is_asked_once_and_for_nothing_else() {
    let (asked, _) = models(vec![gone(), gone()]);
    assert_eq!(asked, ["claude-sim", "claude-other"]);
    let (asked, _) = models(vec![refused()]);
    assert_eq!(asked, ["claude-sim"]);
    let cut = || Scripted {
        latency: seconds(1),
        result: Err(SendFailure::new(offpeak::answer::FailureKind::Cut, "cut")),
    };
    let list: VecDeque<Scripted> = [cut(), cut(), cut()].into();
    let (asked, house) = models(list.into());
    assert_eq!(asked, ["claude-sim"; 3]);
    assert_eq!(house.runs(), ["a scheduled: exhausted"]);
}

#[test]
fn a_step_whose_model_is_the_fallback_does_not_ask_it_again() {
    let plan = single().with_job("a", |planned| {
        chain_of(planned, 2);
        planned.job.then[0].model = "claude-other".to_owned();
        planned.job.fallback_model = Some("claude-other".to_owned());
    });
    let list = vec![gone(), answer(), gone()];
    let house = House::new("2026-12-01T16:50", plan.build(), |clock| {
        SimUpstream::scripted(clock, list)
    });
    house.live_until("2026-12-01T18:00");
    let sent = house.upstream.sent().into_iter();
    let asked: Vec<String> = sent.map(|sent| sent.request.model).collect();
    assert_eq!(asked, ["claude-sim", "claude-other", "claude-other"]);
    assert_eq!(house.runs(), ["a scheduled: failed: fatal"]);
}

#[test]
fn items_of_a_list_that_was_rewritten_are_not_lost_to_the_jobs_own_next_slot() {
    // The later slot took the work over, and lines that stood in no file any more were never sent.
    let plan = SimPlan::new("Asia/Tokyo")
        .unwrap()
        .job("a", "main", &["0 2 * * *", "0 4 * * *"])
        .unwrap()
        .with_job("a", each(Which::ChangedSinceSuccess, None));
    let house = with_items(plan, &ABC, vec![answer(), hint_of_minutes()]);
    house.live_until("2026-12-01T17:30");
    let rewritten = [("c.md", "1"), ("z.md", "1")];
    house.workspace.set_items(&job("a"), items(&rewritten));
    house.live_until("2026-12-01T19:30");
    // The later slot does what it finds, and then what is left of the earlier one and not done by it.
    assert_eq!(
        asked(&house)[2..],
        ["c.md@19:00:00", "z.md@19:00:01", "b.md@19:00:02"]
    );
    house.check_rows();
}

#[test]
fn a_run_that_ends_what_an_earlier_one_left_tells_of_its_failures() {
    let plan = rotation().with_job("a", each(Which::All, None));
    let house = with_items(plan, &ABC, vec![refused(), hint_of_minutes()]);
    house.live_until("2026-12-01T18:00");
    assert_eq!(
        house.runs(),
        [
            "a scheduled: yielded: hint",
            "b scheduled: succeeded",
            "a deferred: failed: fatal"
        ]
    );
    let note = house.store.runs()[2].note.clone().unwrap();
    let head = "2 of 3 items succeeded in this run; before it one ended as failed: fatal";
    assert_eq!(note, head);
}

#[test]
fn a_list_in_which_nothing_changed_says_so() {
    let plan = single().with_job("a", each(Which::ChangedSinceSuccess, None));
    let plan = plan.with_job("a", |planned| {
        planned.job.on_empty_input = offpeak::job::OnEmptyInput::Fail;
    });
    let house = with_items(plan, &ABC, Vec::new());
    house.live_until("2026-12-02T18:00");
    assert_eq!(house.runs()[1..], ["a scheduled: skipped: empty_input"]);
    let note = house.store.runs()[1].note.clone().unwrap();
    assert_eq!(note, "none of 3 items has changed since it was done");
}
