//! The normal distribution.

use std::f64::consts::{PI, SQRT_2};

/// Where the series of the middle gives way to the fraction of the tails.
const TAIL: f64 = 3.0;

/// P(Z ≤ z), to about twelve digits, also far out in the lower tail.
pub(super) fn below(z: f64) -> f64 {
    if z.is_nan() {
        return 1.0;
    }
    if z > 0.0 { 1.0 - upper(z) } else { upper(-z) }
}

/// P(Z > z) for z ≥ 0.
fn upper(z: f64) -> f64 {
    if z < TAIL {
        // erf(x) = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (1·3·…·(2n+1))
        let x = z / SQRT_2;
        let (mut term, mut sum, mut odd) = (x, x, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= 2.0 * x * x / odd;
            sum += term;
        }
        return 0.5 - sum * (-x * x).exp() / PI.sqrt();
    }
    // Laplace's fraction: φ(z) / (z + 1/(z + 2/(z + 3/(z + …))))
    let fraction = (1..=80).rev().fold(z, |inner, n| z + f64::from(n) / inner);
    (-z * z / 2.0).exp() / (2.0 * PI).sqrt() / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_agree() {
        // scipy.stats.norm.cdf
        for (z, p) in [
            (0.0, 0.5),
            (-1.0, 0.158_655_253_931_457_07),
            (-1.959_963_984_540_054, 0.025),
            (-2.999, 0.001_354_336_533_727_105_7),
            (-3.001, 0.001_345_472_825_084_965_3),
            (-6.0, 9.865_876_450_376_946e-10),
            (2.0, 0.977_249_868_051_820_8),
        ] {
            let ours = below(z);
            assert!((ours / p - 1.0).abs() < 1e-10, "{z}: {ours} {p}");
        }
        assert_eq!(below(f64::NEG_INFINITY), 0.0);
        assert_eq!(below(f64::INFINITY), 1.0);
    }
}
