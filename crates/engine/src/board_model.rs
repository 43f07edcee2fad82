//! `[board]` of a target, as predictions need it.

use bootlap_analysis::{Board, PhaseName, Prediction, Speed, predict};
use bootlap_model::Timeline;
use bootlap_product::BoardModel;

/// The phases by the names that `[board]` has for them.
const PHASES: [(&str, PhaseName); 6] = [
    ("firmware", PhaseName::Firmware),
    ("bootloader", PhaseName::Bootloader),
    ("kernel", PhaseName::Kernel),
    ("initramfs", PhaseName::Initramfs),
    ("userspace", PhaseName::Userspace),
    ("application", PhaseName::Application),
];

/// What a boot would take on the board; `None` if it was not simulated, or if memory takes
/// time there: what misses which cache no sum knows, and a boot in modelled time does.
pub fn predicted(timeline: &Timeline, model: &BoardModel) -> Option<Prediction> {
    match model.memory {
        Some(_) => None,
        None => predict(timeline, &board(model)),
    }
}

fn board(model: &BoardModel) -> Board {
    let speed = |name| {
        Some(Speed {
            insns_per_s: model.instructions_per_second.of(name)?,
            storage_bytes_per_s: model.storage_bandwidth.of(name),
            storage_latency_s: model.storage_latency.of(name).unwrap_or(0.0),
            error: model.error.of(name)?,
        })
    };
    let speeds = PHASES.iter();
    Board {
        name: model.name.clone(),
        baud: model.baud,
        speeds: speeds
            .filter_map(|(name, phase)| Some((*phase, speed(name)?)))
            .collect(),
    }
}
