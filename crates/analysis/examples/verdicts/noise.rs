//! Simulated boots.

use std::f64::consts::TAU;

use bootlap_analysis::Round;

/// One percent of a boot of two seconds, and the noise of one boot, ns.
pub(crate) const SIGMA_NS: f64 = 20e6;
const BOOT_NS: f64 = 2e9;

/// Random numbers from a seed: SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

/// How the times of equal boots differ. σ is the noise of one boot.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Noise {
    Normal,
    /// e^(N(0, ¾)): skewness 3.3, scaled to σ.
    LogNormal,
    /// 30 % of the boots are 6 σ later.
    Bimodal,
    /// Normal, and by the end of the longest experiment so many σ slower.
    Linear(f64),
    /// Normal, and from boot to boot a step of so many σ.
    Walk(f64),
}

impl Noise {
    pub(crate) fn text(self) -> String {
        match self {
            Noise::Normal => "normal".to_owned(),
            Noise::LogNormal => "skewed (log-normal)".to_owned(),
            Noise::Bimodal => "bimodal, 70 : 30, 6 σ apart".to_owned(),
            Noise::Linear(by) => format!("drifting by {by} σ"),
            Noise::Walk(by) => format!("random walk, {by} σ a boot"),
        }
    }
}

/// An experiment as it goes on: rounds of ABBA or BAAB, by lot.
pub(crate) struct Machine<'a> {
    pub(crate) noise: Noise,
    /// What is added to each boot after the change, σ.
    pub(crate) shift: f64,
    pub(crate) random: &'a mut Random,
    /// Boots of both sides after which a linear drift is complete.
    pub(crate) boots: u32,
    walked: f64,
    made: u32,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(noise: Noise, shift: f64, boots: u32, random: &'a mut Random) -> Self {
        Self {
            noise,
            shift,
            random,
            boots,
            walked: 0.0,
            made: 0,
        }
    }

    pub(crate) fn round(&mut self) -> Round {
        let starts = self.random.uniform() < 0.5;
        let mut round = Round::default();
        for changed in [starts, !starts, !starts, starts] {
            let ns = self.boot(changed);
            if changed {
                round.after.push(ns);
            } else {
                round.before.push(ns);
            }
        }
        round
    }

    fn boot(&mut self, changed: bool) -> i64 {
        let z = self.random.normal();
        self.made += 1;
        let noise = match self.noise {
            Noise::Normal => z,
            Noise::LogNormal => {
                // Standard deviation of e^(¾ z).
                let variance: f64 = 0.75 * 0.75;
                let deviation = (variance.exp() - 1.0).sqrt() * (variance / 2.0).exp();
                (0.75 * z).exp() / deviation
            }
            Noise::Bimodal => {
                let late = self.random.uniform() < 0.3;
                z + if late { 6.0 } else { 0.0 }
            }
            Noise::Linear(by) => z + by * f64::from(self.made) / f64::from(self.boots),
            Noise::Walk(by) => {
                self.walked += by * self.random.normal();
                z + self.walked
            }
        };
        let shift = if changed { self.shift } else { 0.0 };
        (BOOT_NS + SIGMA_NS * (noise + shift)).round() as i64
    }
}
