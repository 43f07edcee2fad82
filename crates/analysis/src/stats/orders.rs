//! How Brunner and Munzel's statistic falls when nothing changed.
//!
//! Count the pairs of a boot before and a boot after in which the second is
//! longer (Mann–Whitney's U), and divide what is more than half of them by the
//! deviation that the boots themselves show: by how much the place of each
//! among the other side varies. So a side that varies more than the other, or
//! has more boots, is not mistaken for a change, as the plain rank sum does.
//!
//! If nothing changed, every order of the boots is as likely as any other, so
//! how the statistic falls follows from the numbers of boots alone (Neubert
//! and Brunner 2007). Few orders are counted, many are drawn: the same ones
//! each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::random::{Random, below};
use super::student;

/// Up to so many orders are counted one by one: 10 and 10 boots have 184 756.
const COUNTED: u128 = 200_000;
/// So many are drawn where there are more.
const DRAWN: usize = 40_000;
/// Of the drawn ones, the rarest so many are too few to tell how rare they are.
const RAREST: usize = 40;
/// With more boots than this on each side the statistic is Student's.
const MANY: usize = 60;
/// Nulls are kept for the next question, but not more than this.
const KEPT: usize = 64;

/// p values are compared with a share of slack for the last bits of a float.
const SLACK: f64 = 1.0 + 1e-9;

/// Whether `p` is as small as `alpha` demands.
pub(super) fn at_most(p: f64, alpha: f64) -> bool {
    p <= alpha * SLACK
}

/// What one order of the boots of both sides says.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Score {
    /// Sums of the places among the other side, and of their squares, of the
    /// boots before and of those after. A place is how many are shorter.
    pub(super) sums: [f64; 2],
    pub(super) squares: [f64; 2],
}

impl Score {
    /// Adds a boot of a side that has `place` shorter ones on the other.
    pub(super) fn add(&mut self, side: usize, place: usize) {
        let place = place as f64;
        self.sums[side] += place;
        self.squares[side] += place * place;
    }

    /// The statistic for so many boots on each side: above 0 if the second is
    /// longer. It never falls when a boot after moves past one before (tested
    /// for all orders of a few), so shifts that are not ruled out are one
    /// interval.
    pub(super) fn statistic(&self, sizes: [usize; 2]) -> f64 {
        let [n, m] = sizes.map(|n| n as f64);
        let of_side = |side: usize| {
            let n = sizes[side] as f64;
            let sum = self.squares[side] - self.sums[side] * self.sums[side] / n;
            if n > 1.0 { n * sum / (n - 1.0) } else { 0.0 }
        };
        // Where the sides do not overlap at all nothing varies: as much as if
        // one boot changed places with the next.
        let variance = (of_side(0) + of_side(1)).max(2.0);
        (self.sums[1] - n * m / 2.0) / variance.sqrt()
    }
}

/// The distribution of the statistic if both sides are the same thing.
pub(super) struct Null {
    /// The boots of the smaller side.
    few: usize,
    /// How likely the rarest order and its mirror image are.
    least: f64,
    /// The size of the statistic in each order that was counted or drawn, the
    /// largest first; none where it is Student's.
    sizes: Vec<f32>,
    drawn: bool,
}

impl Null {
    /// For so many boots before and after.
    pub(super) fn of(sizes: [usize; 2]) -> Arc<Self> {
        static KNOWN: Mutex<Option<HashMap<[usize; 2], Arc<Null>>>> = Mutex::new(None);
        let sizes = [sizes[0].min(sizes[1]), sizes[0].max(sizes[1])];
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        if let Some(null) = known.get(&sizes) {
            return Arc::clone(null);
        }
        if known.len() >= KEPT {
            known.clear();
        }
        let null = Arc::new(Self::new(sizes));
        known.insert(sizes, Arc::clone(&null));
        null
    }

    fn new([few, many]: [usize; 2]) -> Self {
        let orders = orders(few, many);
        let counted = orders.is_some_and(|orders| orders <= COUNTED);
        let mut sizes: Vec<f32> = match () {
            () if few == 0 || few > MANY => Vec::new(),
            () if counted => {
                let mut sizes = Vec::new();
                count([few, many], [0, 0], Score::default(), &mut sizes);
                sizes
            }
            () => draw([few, many]),
        };
        sizes.sort_unstable_by(|a, b| b.total_cmp(a));
        Self {
            few,
            least: orders.map_or(f64::MIN_POSITIVE, |orders| (2.0 / orders as f64).min(1.0)),
            drawn: !counted,
            sizes,
        }
    }

    /// How likely the statistic is at least so far from 0, either way. In
    /// (0, 1].
    pub(super) fn p(&self, statistic: f64) -> f64 {
        let t = statistic.abs();
        let student = |t: f64| student::two_sided(t, (self.few.max(2) - 1) as f64);
        if self.sizes.is_empty() {
            let p = if self.few == 0 { 1.0 } else { student(t) };
            return p.max(self.least);
        }
        let reached = |t: f64| {
            self.sizes
                .partition_point(|&size| f64::from(size) >= t * 0.999_999)
        };
        let all = self.sizes.len() as f64;
        let rare = f64::from(self.sizes[RAREST.min(self.sizes.len()) - 1]);
        let p = match self.drawn && t > rare {
            // As heavy a tail as the smaller side can have.
            true => RAREST as f64 / all * student(t) / student(rare),
            false => reached(t) as f64 / all,
        };
        p.clamp(self.least, 1.0)
    }
}

/// The statistic's size in every order of what is `left` on each side.
fn count(all: [usize; 2], placed: [usize; 2], score: Score, sizes: &mut Vec<f32>) {
    if placed == all {
        sizes.push(score.statistic(all).abs() as f32);
        return;
    }
    for side in [0, 1] {
        if placed[side] < all[side] {
            let (mut score, mut next) = (score, placed);
            score.add(side, placed[1 - side]);
            next[side] += 1;
            count(all, next, score, sizes);
        }
    }
}

/// The statistic's size in orders drawn by lot.
fn draw(all: [usize; 2]) -> Vec<f32> {
    let mut random = Random::new(0);
    let mut one = || {
        let (mut score, mut placed) = (Score::default(), [0, 0]);
        while placed != all {
            let left = [all[0] - placed[0], all[1] - placed[1]];
            let side = usize::from(below(random.next(), left[0] + left[1]) >= left[0]);
            score.add(side, placed[1 - side]);
            placed[side] += 1;
        }
        score.statistic(all).abs() as f32
    };
    (0..DRAWN).map(|_| one()).collect()
}

/// Ways to put `few` and `many` values in order, if the number fits.
fn orders(few: usize, many: usize) -> Option<u128> {
    let mut total = 1u128;
    for i in 1..=few as u128 {
        total = total.checked_mul(many as u128 + i)? / i;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The score of an order; true is a boot after.
    fn score(order: &[bool]) -> Score {
        let (mut score, mut placed) = (Score::default(), [0, 0]);
        for &after in order {
            let side = usize::from(after);
            score.add(side, placed[1 - side]);
            placed[side] += 1;
        }
        score
    }

    #[test]
    fn the_statistic_never_falls_when_a_boot_after_moves_up() {
        for (n, m) in [
            (2, 2),
            (1, 7),
            (2, 9),
            (4, 4),
            (4, 8),
            (8, 4),
            (6, 6),
            (7, 6),
        ] {
            let sizes = [n, m];
            for bits in 0_u32..1 << (n + m) {
                let mut order: Vec<bool> = (0..n + m).map(|at| bits >> at & 1 == 1).collect();
                if bits.count_ones() as usize != m {
                    continue;
                }
                let before = score(&order).statistic(sizes);
                for at in 1..order.len() {
                    if order[at - 1] && !order[at] {
                        order.swap(at - 1, at);
                        let after = score(&order).statistic(sizes);
                        assert!(after >= before - 1e-12, "{order:?} {before} {after}");
                        order.swap(at - 1, at);
                    }
                }
            }
        }
    }

    #[test]
    fn few_orders_are_counted() {
        // 4 and 4: 70 orders, two of them without overlap.
        let null = Null::of([4, 4]);
        assert_eq!(null.sizes.len(), 70);
        let apart = score(&[false, false, false, false, true, true, true, true]);
        assert!((null.p(apart.statistic([4, 4])) - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!(null.p(0.0), 1.0);
        assert_eq!(Null::of([0, 9]).p(0.0), 1.0);
        assert!((Null::of([3, 3]).least - 0.1).abs() < 1e-12);
    }

    #[test]
    fn drawn_orders_and_students_t_go_on_where_counting_ends() {
        // 2.0 is at 5 to 7 % wherever it is asked.
        for sizes in [[10, 10], [11, 11], [40, 40], [MANY + 1, 100]] {
            let p = Null::of(sizes).p(2.0);
            assert!((0.045..0.07).contains(&p), "{sizes:?}: {p}");
        }
        let null = Null::of([16, 16]);
        let steps: Vec<f64> = (0..400).map(|i| null.p(f64::from(i) * 0.05)).collect();
        assert!(steps.windows(2).all(|p| p[0] >= p[1] && p[1] > 0.0));
        assert!(null.p(1e9) <= 2.0 / 6e8);
    }
}
