"""Fills a store with a made-up history, so that the pages of the check have something to show."""

import random
import sqlite3
import sys
from datetime import datetime, timedelta, timezone

JST = timezone(timedelta(hours=9))
MODEL = "claude-sonnet-5-5"
PEAK = {7, 8, 18, 19, 20, 21, 22}
HOSTILE = [
    "<script>document.title='taken'</script>",
    "\"><img src=x onerror=alert(1)>",
    "a'b\"c&d</td></table>",
    "\u202e\u05e2\u05d1\u05e8\u05d9\u05ea-\u0639\u0631\u0628\u064a",
    "x" * 300,
]


class Store:
    """Rows in the order of their ids."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        for table in ("deferrals", "attempts", "calls", "runs"):
            self.db.execute(f"DELETE FROM {table}")
        self.id = 0

    def run(self, job, group, at, attempts, gate=None):
        """One run: attempts as pairs of milliseconds and whether they were answered; a gate makes it yield."""
        self.id += 1
        start = int(at.timestamp() * 1000)
        end = start + sum(took for took, _ in attempts) + 1000
        answered = bool(attempts) and attempts[-1][1]
        outcome = "succeeded" if answered else "yielded" if gate else "exhausted"
        self.db.execute(
            "INSERT INTO runs (id, job, fire_at, origin, grp, model, started_at, finished_at, outcome, reason)"
            " VALUES (?, ?, ?, 'scheduled', ?, ?, ?, ?, ?, ?)",
            (self.id, job, start, group, MODEL, start, end, outcome, gate if outcome == "yielded" else None),
        )
        tokens = (18000, 0, 0, 0, 400, 0.05) if answered else (None,) * 6
        self.db.execute(
            "INSERT INTO calls (id, run, model, stop_reason, input_tokens, cache_write_5m_tokens,"
            " cache_write_1h_tokens, cache_read_tokens, output_tokens, cost_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.id, self.id, MODEL, "end_turn" if answered else None, *tokens),
        )
        for n, (took, is_answered) in enumerate(attempts, start=1):
            self.db.execute(
                "INSERT INTO attempts (call, n, started_at, wait_ms, latency_ms, first_byte_ms, status, class)"
                " VALUES (?, ?, ?, 0, ?, ?, ?, ?)",
                (self.id, n, start, took, took // 3 if is_answered else None)
                + ((200, "success") if is_answered else (529, "retryable")),
            )
            start += took + 500


def nights(store, first, days, jobs):
    """Every day slots around the clock, the slower the fuller the hour."""
    dice = random.Random(7)
    for day in range(days):
        # Two days on which nothing happened.
        if days > 7 and day in (4, 5):
            continue
        for slot in range(40):
            at = first + timedelta(days=day, minutes=36 * slot + dice.randrange(20))
            base = 3000 if at.hour in PEAK else 1400
            spread = 1.1 if at.hour in PEAK else 0.45
            if dice.random() < 0.03:
                store.run(dice.choice(jobs), "main", at, [], dice.choice(["budget", "breaker", "breaker", "hint"]))
                continue
            fails = dice.choices([0, 1, 2], [80, 15, 5])[0]
            attempts = [(int(dice.lognormvariate(5.2, 0.6)), False) for _ in range(fails)]
            attempts.append((int(base * dice.lognormvariate(0.6, spread)), dice.random() < 0.99))
            store.run(dice.choice(jobs), dice.choice(["main", "main", "night"]), at, attempts)


def main():
    path, kind = sys.argv[1:]
    store = Store(path)
    first = datetime(2026, 12, 1, tzinfo=JST)
    if kind == "fortnight":
        nights(store, first - timedelta(days=14), 28, ["daily-digest", "note-gardener", "changelog-watch", "week-ahead"])
    elif kind == "one":
        store.run("daily-digest", "main", first + timedelta(hours=5), [(700, True)])
    elif kind == "yields":
        store.run("daily-digest", "main", first + timedelta(hours=5), [], "budget")
    elif kind == "long":
        nights(store, first - timedelta(days=400), 400, ["daily-digest", "note-gardener"])
    elif kind == "hostile":
        nights(store, first, 3, HOSTILE)
    store.db.commit()


if __name__ == "__main__":
    main()
