//! Random schedules of every cron form.

use std::time::Duration;

use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Effort, Level, Rule, Rules, Subject};
use offpeak::schedule::{CronExpr, PeakWindow, PeakWindows, Timetable, Zones};

/// Half hours, quarters of an hour, the south, no clock changes, half an hour
/// of summer time, a change at midnight, and two changes a month apart.
pub const ZONES: [&str; 16] = [
    "UTC",
    "Asia/Tokyo",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Europe/Berlin",
    "Europe/London",
    "America/New_York",
    "America/Los_Angeles",
    "America/St_Johns",
    "America/Santiago",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Pacific/Auckland",
    "Pacific/Chatham",
    "Africa/Casablanca",
    "Africa/Cairo",
];

/// A seeded sequence of numbers (splitmix64).
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: i64) -> i64 {
        i64::try_from(self.next() % bound.unsigned_abs()).unwrap()
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(i64::try_from(from.len()).unwrap())).unwrap()]
    }
}

pub fn rules(chance: &mut Chance, zones: &Zones) -> Rules {
    let zone = chance.pick(&[
        "Asia/Tokyo",
        "Asia/Tokyo",
        "Europe/Berlin",
        "Australia/Lord_Howe",
        "America/New_York",
    ]);
    let weekdays = [true, true, true, true, true, false, false];
    let windows = match chance.below(4) {
        0 => vec![],
        1 => vec![PeakWindow {
            start: 90,
            end: 150,
            days: [true; 7],
        }],
        2 => vec![
            PeakWindow {
                start: 22 * 60,
                end: 1440,
                days: weekdays,
            },
            PeakWindow {
                start: 0,
                end: 125,
                days: [false, true, true, true, true, true, false],
            },
        ],
        _ => vec![
            PeakWindow {
                start: 420,
                end: 540,
                days: [true; 7],
            },
            PeakWindow {
                start: 1080,
                end: 1380,
                days: weekdays,
            },
        ],
    };
    let minutes = |minutes: u64| Duration::from_mins(minutes);
    let mut rules = Rules::new(
        minutes(chance.pick(&[0, 1, 10, 15, 15, 15, 40, 150])),
        minutes(chance.pick(&[0, 20, 45, 45, 60, 1500])),
        PeakWindows::new(zones.get(zone).unwrap(), windows),
    );
    for rule in WALKED {
        match chance.below(24) {
            0 => rules.levels.set(rule, Level::Off),
            1 => rules.levels.set(rule, Level::Warn),
            2 => rules.levels.set(rule, Level::Error),
            _ => {}
        }
    }
    rules
}

/// The rules that a walk over every firing can check.
pub const WALKED: [Rule; 6] = [
    Rule::KeyGap,
    Rule::ComfortableGap,
    Rule::PeakWindow,
    Rule::NeverFires,
    Rule::ClockChange,
    Rule::Overrun,
];

/// Lets one job in three accept rules at random.
fn accept(chance: &mut Chance, subject: &mut Subject) {
    if chance.below(3) == 0 {
        for _ in 0..=chance.below(2) {
            let rule = chance.pick(&WALKED);
            subject
                .accepted
                .insert(rule, format!("reason of {}", subject.job));
        }
    }
}

pub fn subjects(chance: &mut Chance, zones: &Zones) -> Vec<Subject> {
    let usual = chance.pick(&ZONES);
    let dates: fn(&mut Chance) -> [String; 3] = if chance.below(2) == 0 {
        any_dates
    } else {
        dates_of_clock_changes
    };
    let mut subjects = Vec::new();
    for index in 0..2 + chance.below(5) {
        let zone = if chance.below(3) == 0 {
            chance.pick(&ZONES)
        } else {
            usual
        };
        let exprs = (0..=chance.pick(&[0, 0, 0, 1, 2]))
            .map(|_| expression(chance, dates))
            .collect();
        let name = format!("job-{}", (b'z' - u8::try_from(index).unwrap()) as char);
        let group = GroupId::new(chance.pick(&["main", "main", "archive"]));
        let timetable = Timetable::new(exprs, zones.get(zone).unwrap());
        let worst_case = Duration::from_secs(chance.pick(&[0, 60, 620, 1_860, 7_300]));
        subjects.push(Subject::new(JobId::new(name), group, timetable).lasting(worst_case));
    }
    if chance.below(6) == 0 {
        let mut twin = subjects[0].clone();
        twin.job = JobId::new("job-twin");
        subjects.push(twin);
    }
    if chance.below(8) == 0 {
        let exprs = vec![expression(chance, dates)];
        let timetable = Timetable::new(exprs, zones.get(usual).unwrap());
        let (name, group) = (JobId::new("pickup:main"), GroupId::new("main"));
        let mut pickup = Subject::new(name, group, timetable);
        pickup.effort = Effort::NONE;
        subjects.push(pickup);
    }
    for subject in &mut subjects {
        accept(chance, subject);
    }
    subjects
}

fn expression(chance: &mut Chance, dates: fn(&mut Chance) -> [String; 3]) -> CronExpr {
    if chance.below(12) == 0 {
        return CronExpr::parse(
            chance.pick(&["@daily", "@weekly", "@monthly", "@yearly", "@hourly"]),
        )
        .unwrap();
    }
    loop {
        let [day, month, weekday] = dates(chance);
        let fields = [minute(chance), hour(chance), day, month, weekday];
        if let Ok(expr) = CronExpr::parse(&fields.join(" ")) {
            return expr;
        }
    }
}

fn any_dates(chance: &mut Chance) -> [String; 3] {
    [day(chance), month(chance), weekday(chance)]
}

/// So few dates that a clock change is often the first thing to happen.
fn dates_of_clock_changes(chance: &mut Chance) -> [String; 3] {
    let months = ["3", "10", "3,10", "4,9", "2-4,9-11", "11", "*"];
    let weekdays = ["0L", "0#1", "0#2", "6L", "5L", "6#1", "0", "6,0"];
    ["*", chance.pick(&months), chance.pick(&weekdays)].map(str::to_owned)
}

fn minute(chance: &mut Chance) -> String {
    let (one, two) = (chance.below(60), chance.below(60));
    match chance.below(10) {
        0 => format!("{},{}", one.min(two), one.max(two)),
        5 => format!("{}-{},{}-59/9", one / 3, one / 3 + 2, 30 + two / 3),
        1 => format!("*/{}", chance.pick(&[7, 15, 20, 30, 45])),
        2 => format!("{}-59/{}", one / 2, chance.pick(&[11, 25, 40])),
        3 => "0".to_owned(),
        4 => "30".to_owned(),
        _ => one.to_string(),
    }
}

/// Most hours are those in which clocks change.
fn hour(chance: &mut Chance) -> String {
    let (one, two) = (chance.below(24), chance.below(5));
    match chance.below(10) {
        0 => "*".to_owned(),
        1 => format!("*/{}", chance.pick(&[5, 6, 8, 12])),
        2 => format!("{two}-{}", two + chance.below(4)),
        3 => format!("{two},{}", two + 1 + one / 2),
        4 => one.to_string(),
        _ => two.to_string(),
    }
}

fn day(chance: &mut Chance) -> String {
    let one = 1 + chance.below(31);
    match chance.below(14) {
        0 => "L".to_owned(),
        7 => "15,L".to_owned(),
        8 => format!("1-{}/3,31", 20 + one / 3),
        1 => format!("{}W", 1 + chance.below(28)),
        2 => "LW".to_owned(),
        3 => format!("{},{}", one.min(15), one.max(16)),
        4 => format!("*/{}", 2 + chance.below(9)),
        5 => format!("{}-{}", one.min(20), one.min(20) + chance.below(9)),
        6 => one.to_string(),
        _ => "*".to_owned(),
    }
}

fn month(chance: &mut Chance) -> String {
    match chance.below(9) {
        0 => chance.pick(&["FEB", "mar", "Oct", "NOV"]).to_owned(),
        3 => chance
            .pick(&["jan-MAR,dec", "apr,10", "2/2", "1-12/5"])
            .to_owned(),
        1 => "2-4,9-11".to_owned(),
        2 => "*/3".to_owned(),
        _ => "*".to_owned(),
    }
}

fn weekday(chance: &mut Chance) -> String {
    match chance.below(14) {
        0 => "mon-fri".to_owned(),
        6 => chance
            .pick(&["SUN,wed", "5-7", "tue-THU,0", "*/3"])
            .to_owned(),
        7 => chance
            .pick(&["mon#1", "FRI#5", "SunL", "1#2,3#4"])
            .to_owned(),
        1 => "0,6".to_owned(),
        2 => format!("{}#{}", chance.below(7), 1 + chance.below(5)),
        3 => format!("{}L", chance.below(7)),
        4 => "7".to_owned(),
        5 => chance.below(7).to_string(),
        _ => "*".to_owned(),
    }
}
