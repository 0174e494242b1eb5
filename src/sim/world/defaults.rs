//! What holds where a world file says nothing: the numbers of `default.yaml`, which a test holds to these.

use std::time::Duration;

use super::model::{
    AnswerModel, BatchModel, CongestionModel, FaultModel, InputModel, LatencyModel, LimitModel,
    OverloadModel, PeakModel, TailModel,
};

impl Default for LatencyModel {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_millis(1200),
            per_1k_cold: Duration::from_millis(60),
            per_1k_cached: Duration::from_millis(5),
            bend_over: 12_000,
            bend: 2.0,
            output_per_second: 60.0,
            spread: 0.3,
            tail: TailModel::default(),
        }
    }
}

impl Default for TailModel {
    fn default() -> Self {
        Self {
            share: 0.01,
            factor: 4.0,
        }
    }
}

impl Default for AnswerModel {
    fn default() -> Self {
        Self {
            share_of_max: 0.4,
            spread: 0.4,
        }
    }
}

impl Default for InputModel {
    fn default() -> Self {
        Self { tokens: 1500 }
    }
}

impl Default for PeakModel {
    fn default() -> Self {
        Self {
            timezone: "Asia/Tokyo".to_owned(),
            windows: vec!["07:00-09:00".to_owned(), "18:00-23:00".to_owned()],
            spread: 3.5,
            overload: 3.0,
            congestion: 2.0,
        }
    }
}

impl Default for LimitModel {
    fn default() -> Self {
        Self {
            requests: 50,
            input_tokens: 400_000,
            per: Duration::from_mins(1),
            hint: true,
        }
    }
}

impl Default for CongestionModel {
    fn default() -> Self {
        Self {
            per_day: 0.5,
            lasts: Duration::from_mins(10),
            spread: 0.8,
            part: 0.1,
        }
    }
}

impl Default for OverloadModel {
    fn default() -> Self {
        Self {
            per_day: 1.0,
            lasts: Duration::from_mins(4),
            spread: 0.9,
            failure_ratio: 0.8,
            slowdown: 1.5,
        }
    }
}

impl Default for FaultModel {
    fn default() -> Self {
        Self {
            server_error: 0.003,
            cut: 0.002,
            silence: 0.0005,
            refused: 0.0005,
        }
    }
}

impl Default for BatchModel {
    fn default() -> Self {
        Self {
            lasts: Duration::from_mins(30),
        }
    }
}
