//! The store: one contract for both implementations, then what only a file can go through.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod contract;
mod damage;
mod file;
mod person;
mod pieces_contract;
mod processes;
mod spending;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use offpeak::answer::{Answer, Geo, Speed, StopReason, Tier, Usage};
use offpeak::engine::again::{Again, Dropping, NotAgain, NotDropped};
use offpeak::engine::audit::{Scope, UnderWay, audit};
use offpeak::engine::keep::{DeferralRecord, DeferralState};
use offpeak::engine::pause::{Pause, PauseTarget};
use offpeak::engine::ports::{
    Ask, Claim, Claimed, Fate, Finish, NewDeferral, PickupAt, Store, StoreError, Taken, Tick, Told,
};
use offpeak::guard::{
    Bill, BreakerPolicy, BudgetPolicy, GuardPolicy, Hold, Permit, Refusal, Sample,
};
use offpeak::job::{GroupId, JobId};
use offpeak::money::Dollars;
use offpeak::outcome::{AttemptEnd, Class, Outcome, Run, RunId, YieldReason};
use offpeak::piece::CallName;
use offpeak::schedule::{DeferRule, Zones};
use offpeak::sim::store::MemoryStore;
use offpeak::slot::{Origin, Slot};
use offpeak::store::{HistoryFilter, SqliteStore};

/// Runs each contract against both stores.
macro_rules! both_stores {
    ($($contract:ident)*) => {
        mod memory {
            $(#[test] fn $contract() { super::contract::$contract(&super::Bench::memory()); })*
        }
        mod sqlite {
            $(#[test] fn $contract() { super::contract::$contract(&super::Bench::sqlite()); })*
        }
    };
}

both_stores! {
    slot_knows_how_the_worst_of_its_items_ended
    item_whose_answer_is_on_its_way_counts_as_not_delivered_until_it_is_there
    item_whose_answer_is_on_its_way_is_not_asked_for_by_the_next_slot
    item_that_another_slot_has_done_as_it_is_is_left_out
    persons_run_that_was_killed_leaves_no_item_behind
    run_that_waits_for_a_batch_is_left_open_by_a_crash
    answer_of_a_batch_is_taken_down_once_and_owed
    answers_of_many_calls_are_added_up
    answers_of_steps_are_known_to_later_runs_and_dropped_at_the_end
    slot_is_split_once
    item_that_succeeded_as_it_is_is_not_taken_again
    items_that_a_run_leaves_for_good_have_its_outcome
    items_that_were_left_go_first_in_the_next_slot_and_are_merged_into_none
    answer_is_owed_from_its_record_on
    delivered_answer_amends_run_slot_and_item
    answer_that_is_given_up_stays_in_the_store
    answer_whose_record_failed_is_owed_from_the_end_of_its_run
    slot_recorded_ahead_is_claimed_anew_once_the_clock_was_set_back
    rewind_goes_back_to_what_the_clock_ahead_decided_and_frees_what_waits
    starts_of_schedules_are_skipped_ahead_and_never_back
    new_store_knows_nothing
    schedule_starts_when_it_is_first_seen_or_edited
    schedule_that_was_gone_starts_anew
    slot_is_claimed_once
    watermark_moves_forward_until_it_is_rewound
    skipped_slot_ends_at_once
    missed_slot_becomes_deferred_work
    missed_slot_takes_over_the_ripe_deferrals_of_its_job
    firing_slot_takes_over_the_ripe_deferrals_of_its_job
    own_run_ends_its_slot_and_leaves_its_work
    deferral_goes_to_a_later_slot_of_its_group
    own_slot_deferral_waits_for_its_job
    open_slot_deferral_waits_for_its_promise
    oldest_slot_is_taken_first
    taken_deferral_is_nobody_elses
    carried_work_that_yields_again_waits_in_its_row
    carried_work_ends_with_its_run
    run_ends_once
    run_cannot_end_a_deferral_that_it_does_not_carry
    answer_is_kept_whole_unless_it_went_to_a_file
    crash_defers_what_was_running
    crash_of_a_carrying_run_counts_one_carry
    runs_that_go_on_are_not_recovered
    manual_run_is_given_up_after_its_lease
    manual_runs_of_one_instant_are_two_slots
    attempt_is_on_record_before_it_is_sent
    attempt_ends_once
    refused_attempt_leaves_no_trace
    attempt_that_waited_for_the_row_counts_from_when_it_had_it
    clock_that_was_set_back_is_believed
    failing_samples_open_the_breaker_to_one_probe
    cancelled_attempt_gives_its_probe_back
    hold_is_placed_with_the_record
    what_became_of_a_deferral_is_on_record
    attempt_of_no_run_spends_nothing
    nothing_is_sent_for_a_run_that_has_ended
    pause_is_on_record_after_its_end
    second_pause_takes_the_place_of_the_first
    claim_in_a_pause_is_skipped
    paused_work_is_not_taken
    pause_of_another_group_holds_nothing
    failed_slot_is_pending_again
    work_that_is_done_waiting_or_under_way_is_not_pending_again
    dropped_work_has_failed
    only_pending_work_is_dropped
}

/// A store and a way to read its runs back.
struct Bench {
    store: Arc<dyn Store>,
    shelf: Shelf,
}

enum Shelf {
    Memory(Arc<MemoryStore>),
    Sqlite {
        store: Arc<SqliteStore>,
        _folder: tempfile::TempDir,
    },
}

impl Bench {
    fn memory() -> Self {
        let store = Arc::new(MemoryStore::new());
        Self {
            store: store.clone(),
            shelf: Shelf::Memory(store),
        }
    }

    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(folder.path()).unwrap());
        Self {
            store: store.clone(),
            shelf: Shelf::Sqlite {
                store,
                _folder: folder,
            },
        }
    }

    fn runs(&self) -> Vec<Run> {
        match &self.shelf {
            Shelf::Memory(store) => store.runs(),
            Shelf::Sqlite { store, .. } => wait(store.history(HistoryFilter::default())).unwrap(),
        }
    }

    fn run(&self, id: RunId) -> Run {
        self.runs()
            .into_iter()
            .find(|run| run.id == id)
            .expect("the run exists")
    }

    fn answer(&self, id: RunId) -> Option<String> {
        match &self.shelf {
            Shelf::Memory(store) => store.answer(id),
            Shelf::Sqlite { store, .. } => wait(store.answer(id)).unwrap(),
        }
    }

    /// The outcome of a claimed slot; `None` while its run goes on.
    fn slot_end(&self, slot: &Slot) -> Option<Outcome> {
        match &self.shelf {
            Shelf::Memory(store) => {
                let found = store
                    .slots()
                    .into_iter()
                    .find(|(claimed, _)| claimed == slot);
                found.expect("the slot is claimed").1
            }
            Shelf::Sqlite { store, .. } => {
                let found = wait(store.slot(slot.clone())).unwrap();
                found.expect("the slot is claimed").outcome
            }
        }
    }

    fn all_deferrals(&self) -> Vec<DeferralRecord> {
        match &self.shelf {
            Shelf::Memory(store) => store.all_deferrals(),
            Shelf::Sqlite { store, .. } => wait(store.all_deferrals()).unwrap(),
        }
    }

    fn claim(&self, now: DateTime<Utc>, slots: Vec<Claim>) -> Vec<Claimed> {
        wait(self.store.claim(Tick {
            now,
            watermark: now,
            slots,
        }))
        .unwrap()
    }

    /// Claims one slot that fires at its own instant.
    fn fire(&self, job: &str, fire_at: DateTime<Utc>) -> RunId {
        let claimed = self.claim(fire_at, vec![claim(job, fire_at, Fate::Fire)]);
        claimed.first().expect("the slot was free").run
    }

    /// Fires a slot whose run yields with this wait.
    fn defer(&self, job: &str, fire_at: DateTime<Utc>, wait: NewDeferral) -> RunId {
        let run = self.fire(job, fire_at);
        let deferral = Some(wait);
        self.finish(Finish {
            deferral,
            ..ended(run, Outcome::Yielded(YieldReason::Budget), fire_at)
        });
        run
    }

    fn take(&self, job: Option<&str>, fire_at: DateTime<Utc>) -> Option<Taken> {
        self.take_but(job, fire_at, &[])
    }

    fn take_but(&self, job: Option<&str>, fire_at: DateTime<Utc>, skip: &[i64]) -> Option<Taken> {
        let (group, job) = (main_group(), job.map(JobId::new));
        let pickup = PickupAt {
            group: &group,
            home: &group,
            job: job.as_ref(),
            fire_at,
            skip,
        };
        wait(self.store.take_deferral(pickup, fire_at)).unwrap()
    }

    fn pause(&self, pause: Pause) {
        match &self.shelf {
            Shelf::Memory(store) => store.pause(pause),
            Shelf::Sqlite { store, .. } => wait(store.pause(pause)).unwrap(),
        }
    }

    fn lift_pause(&self, target: &PauseTarget, now: DateTime<Utc>) -> Option<Pause> {
        match &self.shelf {
            Shelf::Memory(store) => store.lift_pause(target, now),
            Shelf::Sqlite { store, .. } => wait(store.lift_pause(target.clone(), now)).unwrap(),
        }
    }

    fn retry(&self, again: Again) -> Result<Slot, NotAgain> {
        match &self.shelf {
            Shelf::Memory(store) => store.retry(again),
            Shelf::Sqlite { store, .. } => wait(store.retry(again)).unwrap(),
        }
    }

    fn drop_deferrals(&self, dropping: Dropping) -> Result<Vec<Slot>, NotDropped> {
        match &self.shelf {
            Shelf::Memory(store) => store.drop_deferrals(&dropping),
            Shelf::Sqlite { store, .. } => wait(store.drop_deferrals(dropping)).unwrap(),
        }
    }

    /// What the rows say by themselves must hold.
    fn audit(&self) {
        let ledger = match &self.shelf {
            Shelf::Memory(store) => store.ledger(),
            Shelf::Sqlite { store, .. } => wait(store.ledger()).unwrap(),
        };
        let zones = Zones::bundled();
        let scope = Scope {
            zones: &zones,
            kept_from: DateTime::<Utc>::MIN_UTC,
            under_way: UnderWay::Allowed,
        };
        assert_eq!(audit(&ledger, scope), []);
    }

    fn finish(&self, finish: Finish) {
        wait(self.store.finish(finish)).unwrap();
    }

    fn admit(&self, run: RunId, n: u32, now: DateTime<Utc>) -> Result<Permit, Refusal> {
        wait(admit(&*self.store, run, n, now)).unwrap()
    }

    fn record(&self, run: RunId, permit: Permit, now: DateTime<Utc>, told: Tell) {
        wait(self.store.record(Told {
            run,
            call: &CallName::only(),
            answer: None,
            batch: None,
            cost_usd: None,
            group: &main_group(),
            policy: &policy(),
            n: told.n,
            permit,
            sample: told.sample,
            hold: told.hold,
            bill: Bill::default(),
            end: told.end,
            now,
        }))
        .unwrap();
    }
}

/// What an attempt says of itself.
struct Tell {
    n: u32,
    sample: Option<Sample>,
    hold: Option<Hold>,
    end: AttemptEnd,
}

/// Five sends in ten seconds; the breaker opens at two failures.
fn policy() -> GuardPolicy {
    let breaker = BreakerPolicy {
        min_samples: 2.try_into().unwrap(),
        failure_ratio: 0.5,
        window: Duration::from_mins(2),
        cooldown: Duration::from_mins(1),
        stale_after: Duration::from_mins(10),
    };
    GuardPolicy {
        budget: BudgetPolicy::new(5, Duration::from_secs(10)).unwrap(),
        breaker: breaker.checked().unwrap(),
    }
}

async fn admit(
    store: &dyn Store,
    run: RunId,
    n: u32,
    now: DateTime<Utc>,
) -> Result<Result<Permit, Refusal>, StoreError> {
    let (group, policy) = (main_group(), policy());
    let (wait, lease) = (Duration::from_millis(1500), Duration::from_secs(30));
    store
        .admit(Ask {
            run,
            call: &CallName::only(),
            model: "claude-test",
            group: &group,
            policy: &policy,
            n,
            wait,
            lease,
            reserve: None,
            now,
        })
        .await
}

/// An attempt that was told to slow down.
fn overloaded(n: u32) -> Tell {
    let end = AttemptEnd {
        latency: Duration::from_millis(840),
        first_byte: Some(Duration::from_millis(700)),
        status: Some(529),
        class: Some(Class::Retryable),
        error_type: Some("overloaded_error".to_owned()),
        error_code: Some("overloaded".to_owned()),
        request_id: Some("req_7".to_owned()),
        hint: Some(Duration::from_secs(4)),
        message: Some("Overloaded".to_owned()),
        usage: Some(Usage {
            input_tokens: 21,
            cache_write_5m_tokens: 22,
            cache_write_1h_tokens: 23,
            cache_read_tokens: 24,
            output_tokens: 25,
            web_searches: 26,
            tier: Tier::Priority,
            geo: Geo::Us,
            speed: Speed::Fast,
        }),
    };
    Tell {
        n,
        sample: Some(Sample::Failure),
        hold: None,
        end,
    }
}

/// An attempt that we cancelled ourselves.
fn cancelled(n: u32) -> Tell {
    let end = AttemptEnd {
        latency: Duration::from_millis(20),
        first_byte: None,
        status: None,
        class: None,
        error_type: None,
        error_code: None,
        request_id: None,
        hint: None,
        message: None,
        usage: None,
    };
    Tell {
        n,
        sample: None,
        hold: None,
        end,
    }
}

fn ended(run: RunId, outcome: Outcome, now: DateTime<Utc>) -> Finish {
    Finish {
        run,
        outcome,
        note: None,
        answer: None,
        cost_usd: None,
        delivery: None,
        output: None,
        deferral: None,
        carried: None,
        now,
    }
}

fn answer(text: &str) -> Answer {
    let usage = Usage {
        input_tokens: 11,
        cache_write_5m_tokens: 12,
        cache_write_1h_tokens: 13,
        cache_read_tokens: 14,
        output_tokens: 15,
        web_searches: 16,
        tier: Tier::Batch,
        geo: Geo::Us,
        speed: Speed::Fast,
    };
    Answer {
        id: "msg_1".to_owned(),
        model: "claude-sonnet-5-5".to_owned(),
        text: text.to_owned(),
        stop_reason: StopReason::EndTurn,
        usage: Some(usage),
        paused: None,
        tool_errors: Vec::new(),
    }
}

/// Work that any slot may take from an instant on.
fn next_slot(not_before: DateTime<Utc>) -> NewDeferral {
    NewDeferral {
        not_before,
        to: None,
        carries: 1,
        rule: DeferRule::NextSlot,
        reason: YieldReason::Budget,
        origin: Origin::Deferred,
    }
}

fn claim(job: &str, fire_at: DateTime<Utc>, fate: Fate) -> Claim {
    Claim {
        slot: slot(job, fire_at),
        group: main_group(),
        model: format!("model-of-{job}"),
        fate,
    }
}

fn slot(job: &str, fire_at: DateTime<Utc>) -> Slot {
    Slot {
        fire_at,
        job: JobId::new(job),
    }
}

fn main_group() -> GroupId {
    GroupId::new("main")
}

/// An instant of the night of the tests, in minutes after 02:00 JST.
fn minute(minutes: i64) -> DateTime<Utc> {
    let two_in_the_morning = DateTime::from_timestamp(1_792_602_000, 0).unwrap();
    two_in_the_morning + TimeDelta::minutes(minutes)
}

/// As [`minute`], in seconds.
fn second(seconds: i64) -> DateTime<Utc> {
    minute(0) + TimeDelta::seconds(seconds)
}

fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Statements straight into the file, as another program might run them.
fn sql(folder: &Path, statements: &str) {
    rusqlite::Connection::open(folder.join("offpeak.db"))
        .unwrap()
        .execute_batch(statements)
        .unwrap();
}
