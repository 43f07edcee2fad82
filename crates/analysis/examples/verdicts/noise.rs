//! Simulated boots.

use std::f64::consts::TAU;

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
    /// Normal, and told by a clock that ticks once a σ.
    Ticks,
    /// Normal, but for 5 % of the boots, which are 10 to 30 σ late.
    Outliers,
    /// Normal, and correlated so much with the boot before.
    Following(f64),
    /// Normal, and all boots of the second session so many σ slower.
    Offset(f64),
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
            Noise::Ticks => "in ticks of 1 σ".to_owned(),
            Noise::Outliers => "5 % outliers".to_owned(),
            Noise::Following(by) => format!("correlated, {by}"),
            Noise::Offset(by) => format!("second session {by} σ slower"),
            Noise::Linear(by) => format!("drifting by {by} σ"),
            Noise::Walk(by) => format!("random walk, {by} σ a boot"),
        }
    }
}

/// The machine that boots, as time goes on.
pub(crate) struct Machine<'a> {
    noise: Noise,
    /// What is added to each boot after the change, σ.
    shift: f64,
    /// How much wider the times are after it.
    width: f64,
    random: &'a mut Random,
    /// Boots of both sides after which a linear drift is complete.
    boots: u32,
    walked: f64,
    made: u32,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(noise: Noise, shift: f64, boots: u32, random: &'a mut Random) -> Self {
        let walked = random.normal();
        Self {
            noise,
            shift,
            width: 1.0,
            random,
            boots,
            walked: if let Noise::Following(_) = noise {
                walked
            } else {
                0.0
            },
            made: 0,
        }
    }

    pub(crate) fn wider(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// A boot of each side, in an order that is drawn.
    pub(crate) fn pair(&mut self) -> (i64, i64) {
        if self.random.uniform() < 0.5 {
            let before = self.boot(false);
            return (before, self.boot(true));
        }
        let after = self.boot(true);
        (self.boot(false), after)
    }

    /// A session of each side, one after the other.
    pub(crate) fn sessions(&mut self, sizes: [u32; 2]) -> [Vec<i64>; 2] {
        let before = (0..sizes[0]).map(|_| self.boot(false)).collect();
        [before, (0..sizes[1]).map(|_| self.boot(true)).collect()]
    }

    pub(crate) fn boot(&mut self, changed: bool) -> i64 {
        let z = self.random.normal();
        self.made += 1;
        let noise = match self.noise {
            Noise::Normal | Noise::Ticks => z,
            Noise::LogNormal => {
                // Standard deviation of e^(¾ z); the median lies at 0.
                let variance: f64 = 0.75 * 0.75;
                let deviation = (variance.exp() - 1.0).sqrt() * (variance / 2.0).exp();
                ((0.75 * z).exp() - 1.0) / deviation
            }
            Noise::Bimodal => {
                let late = self.random.uniform() < 0.3;
                z + if late { 6.0 } else { 0.0 }
            }
            Noise::Outliers => {
                let late = self.random.uniform() < 0.05;
                z + if late {
                    10.0 + 20.0 * self.random.uniform()
                } else {
                    0.0
                }
            }
            Noise::Following(by) => {
                self.walked = by * self.walked + (1.0 - by * by).sqrt() * z;
                self.walked
            }
            Noise::Offset(by) => z + if changed { by } else { 0.0 },
            Noise::Linear(by) => z + by * f64::from(self.made) / f64::from(self.boots),
            Noise::Walk(by) => {
                self.walked += by * self.random.normal();
                z + self.walked
            }
        };
        let (shift, width) = if changed {
            (self.shift, self.width)
        } else {
            (0.0, 1.0)
        };
        let told = width * noise + shift;
        // A clock shows where between its ticks a boot began as little as
        // where it ended.
        let told = if self.noise == Noise::Ticks {
            (told + 0.4).floor()
        } else {
            told
        };
        (BOOT_NS + SIGMA_NS * told).round() as i64
    }
}
