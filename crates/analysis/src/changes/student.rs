//! Student's t test of two samples with one variance.

/// Two-sided p: how likely means this far apart are if nothing changed. Values
/// that do not vary at all are equal (1) or not (0); two values say nothing.
pub(super) fn t_test(left: &[f64], right: &[f64]) -> f64 {
    let (n, m) = (left.len() as f64, right.len() as f64);
    if left.is_empty() || right.is_empty() || n + m < 3.0 {
        return 1.0;
    }
    let freedom = n + m - 2.0;
    let apart = super::mean(left) - super::mean(right);
    let variance = (squares(left) + squares(right)) / freedom;
    // Sums of equal values round: what is below a float's precision is 0.
    let scale = left
        .iter()
        .chain(right)
        .fold(0.0, |a: f64, v| a.max(v.abs()));
    let tiny = scale * f64::EPSILON * 8.0;
    if apart.abs() <= tiny {
        return 1.0;
    }
    if variance.sqrt() <= tiny {
        return 0.0;
    }
    let t = apart / (variance * (1.0 / n + 1.0 / m)).sqrt();
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The sum of squared deviations from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = super::mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum()
}

/// The regularised incomplete beta function Iₓ(a, b), by its continued
/// fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on one side of the mean; the other mirrors it.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    front.exp() * fraction(x, a, b) / a
}

/// Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// ln Γ(x) for x > 0: Stirling's series, from far enough out.
fn ln_gamma(x: f64) -> f64 {
    let mut x = x;
    let mut shift = 0.0;
    while x < 15.0 {
        shift += x.ln();
        x += 1.0;
    }
    let i = 1.0 / x;
    let i2 = i * i;
    let series = i * (1.0 / 12.0 - i2 * (1.0 / 360.0 - i2 * (1.0 / 1260.0 - i2 / 1680.0)));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_is_that_of_scipy() {
        // scipy.stats.ttest_ind
        let near = |p: f64, expected: f64| assert!((p / expected - 1.0).abs() < 1e-9, "{p}");
        near(
            t_test(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0, 9.0]),
            0.136_145_287_826_930_1,
        );
        near(
            t_test(&[10.0, 10.1, 9.9, 10.05], &[12.0]),
            2.424_145_922_942_828e-4,
        );
        near(
            t_test(&[5.0, 5.5, 4.5, 5.2, 4.8, 5.1], &[5.0, 5.1, 4.9]),
            0.938_511_397_508_666_1,
        );
    }

    #[test]
    fn what_does_not_vary_is_equal_or_not() {
        assert_eq!(t_test(&[3.1; 4], &[3.1; 7]), 1.0);
        assert_eq!(t_test(&[0.1 + 0.2; 3], &[0.3; 3]), 1.0);
        assert_eq!(t_test(&[1.0; 4], &[2.0]), 0.0);
        assert_eq!(t_test(&[1.0], &[2.0]), 1.0);
        assert_eq!(t_test(&[], &[2.0, 3.0, 4.0]), 1.0);
    }
}
