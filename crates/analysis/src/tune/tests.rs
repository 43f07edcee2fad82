use std::cell::RefCell;

use proptest::prelude::*;

use super::*;
use crate::stats::Stage;

/// A target whose boot time is a formula: what each change saves, and what
/// pairs of them cost or save together.
struct Model {
    kinds: Vec<usize>,
    alone_ns: Vec<i64>,
    together_ns: BTreeMap<(usize, usize), i64>,
    broken: Set,
    /// Pairs that cannot be put together.
    apart: BTreeSet<(usize, usize)>,
    /// The first of a pair applies only on top of the second.
    on_top: BTreeSet<(usize, usize)>,
    orders_left: usize,
    seen: RefCell<BTreeSet<Set>>,
}

const BOOT_NS: i64 = 10_000_000_000;
const MARGIN_NS: i64 = 5_000_000;

impl Model {
    fn of(alone_ms: &[i64]) -> Self {
        Self {
            kinds: (0..alone_ms.len()).collect(),
            alone_ns: alone_ms.iter().map(|ms| ms * 1_000_000).collect(),
            together_ns: BTreeMap::new(),
            broken: Set::new(),
            apart: BTreeSet::new(),
            on_top: BTreeSet::new(),
            orders_left: usize::MAX,
            seen: RefCell::default(),
        }
    }

    fn boot_ns(&self, set: &Set) -> i64 {
        let alone: i64 = set.iter().map(|c| self.alone_ns[*c]).sum();
        let pairs = self.together_ns.iter();
        let pairs = pairs.filter(|((a, b), _)| set.contains(a) && set.contains(b));
        BOOT_NS - alone - pairs.map(|(_, ns)| ns).sum::<i64>()
    }

    fn fate(&self, from: &Set, to: &Set) -> Fate {
        if !to.is_disjoint(&self.broken) {
            return Fate::Broken("panic".into());
        }
        let both = |(a, b): &(usize, usize)| to.contains(a) && to.contains(b);
        if self.apart.iter().any(both) {
            return Fate::Refused("not both".into());
        }
        let alone = |(a, b): &(usize, usize)| to.contains(a) && !to.contains(b);
        if self.on_top.iter().any(alone) {
            return Fate::Refused("only with the other".into());
        }
        self.seen.borrow_mut().insert(to.clone());
        let shift_ns = self.boot_ns(to) - self.boot_ns(from);
        Fate::Measured(Effect {
            shift_ns,
            interval_ns: [shift_ns; 2],
            verdict: match shift_ns {
                ns if ns < -MARGIN_NS => Verdict::Faster,
                ns if ns > MARGIN_NS => Verdict::Slower,
                _ => Verdict::Equivalent,
            },
            ..EFFECT
        })
    }

    fn candidates(&self) -> Vec<Candidate> {
        let all = self.kinds.iter().enumerate();
        let all = all.map(|(c, kind)| Candidate {
            name: format!("k{kind}=v{c}"),
            kind: format!("k{kind}"),
        });
        all.collect()
    }

    /// The best set there is, by trying all.
    fn best_ns(&self) -> i64 {
        let n = self.kinds.len();
        let sets = (0..1usize << n).map(|bits| (0..n).filter(|c| bits >> c & 1 == 1).collect());
        let allowed = sets.filter(|set: &Set| {
            let kinds: BTreeSet<usize> = set.iter().map(|c| self.kinds[*c]).collect();
            kinds.len() == set.len() && set.is_disjoint(&self.broken)
        });
        allowed.map(|set| self.boot_ns(&set)).min().unwrap()
    }

    fn search(&mut self) -> (Found, bool) {
        let candidates = self.candidates();
        let mut search = Search::new(&candidates);
        let complete = search.run(self).is_ok();
        (search.found(), complete)
    }
}

const EFFECT: Effect = Effect {
    shift_ns: 0,
    interval_ns: [0; 2],
    p: 0.001,
    verdict: Verdict::Unknown,
    margin_ns: MARGIN_NS,
    samples: [8; 2],
    confidence: 0.95,
    stage: Stage::Only,
    sessions: None,
};

impl Bench for Model {
    type Stop = ();

    fn compare(&mut self, from: &Set, to: &[Set], _: Depth) -> Result<Vec<Fate>, ()> {
        self.orders_left = self.orders_left.checked_sub(1).ok_or(())?;
        Ok(to.iter().map(|set| self.fate(from, set)).collect())
    }

    fn step(&mut self, _: &Step<'_>) {}
}

#[test]
fn what_applies_only_on_top_of_another_is_found() {
    let mut model = Model::of(&[100, 400, 50]);
    model.on_top.insert((1, 0));
    let candidates = model.candidates();
    let mut search = Search::new(&candidates);
    assert!(search.run(&mut model).is_ok());
    let found = search.found();
    assert_eq!(found.set, Set::from([0, 1, 2]));
    // And not before that.
    let place = |c: usize| found.order.iter().position(|at| *at == c);
    assert!(place(0) < place(1));
}

#[test]
fn what_applies_on_top_of_one_is_taken_in_one_round() {
    let mut model = Model::of(&[1000, 400, 350, 300, 250, 200, 150, 100]);
    model.on_top.extend((1..8).map(|c| (c, 0)));
    let (found, complete) = model.search();
    assert!(complete);
    assert_eq!(found.set, (0..8).collect());
    // The start, the first, each on top of it, each of them but the best on top of those
    // before, and each left out at the end; a round for each would be 28 instead of 13.
    let seen = model.seen.borrow().len();
    assert!(seen <= 1 + 7 + 6 + 8, "{seen}");
}

#[test]
fn what_helps_is_kept_and_what_does_not_is_left_out() {
    let mut model = Model::of(&[2000, 500, 0, -300, 40]);
    let (found, complete) = model.search();
    assert!(complete);
    assert_eq!(found.set, Set::from([0, 1, 4]));
    assert_eq!(found.without[&0].shift_ns, 2_000_000_000);
    assert!(matches!(found.out[&2], Out::NoGain(Some(_))));
    assert!(matches!(found.out[&3], Out::NoGain(Some(e)) if e.shift_ns == 300_000_000));
}

#[test]
fn what_pays_only_with_another_is_found_and_the_better_of_a_kind_wins() {
    // 1 and 2 are two values of one kind; 2 costs alone, and is best with 0.
    let mut model = Model::of(&[1000, 400, -100]);
    model.kinds = vec![0, 1, 1];
    model.together_ns.insert((0, 2), 900_000_000);
    let (found, _) = model.search();
    assert_eq!(found.set, Set::from([0, 2]));
    assert_eq!(found.out[&1], Out::Replaced(2));
}

#[test]
fn of_two_that_exclude_each_other_the_better_one_is_found() {
    // 1 saves less than 2 alone, but more with 0, and both do not go together.
    let mut model = Model::of(&[1000, 400, 500]);
    model.apart.insert((1, 2));
    model.together_ns.insert((0, 1), 300_000_000);
    let (found, _) = model.search();
    assert_eq!(found.set, Set::from([0, 1]));
    assert_eq!(found.out[&2], Out::Replaced(1));
}

#[test]
fn a_change_that_another_makes_useless_is_dropped() {
    // Both remove the same second.
    let mut model = Model::of(&[1000, 900]);
    model.together_ns.insert((0, 1), -900_000_000);
    let (found, _) = model.search();
    assert_eq!(found.set, Set::from([0]));
}

#[test]
fn what_did_nothing_is_looked_at_together() {
    // The last saves something only with the first; the others do nothing at all.
    let mut model = Model::of(&[2000, 0, 0, 0, 0, 0, 0, 0, 0]);
    model.together_ns.insert((0, 8), 300_000_000);
    let (found, complete) = model.search();
    assert!(complete);
    assert_eq!(found.set, Set::from([0, 8]));
    // Each alone, and with the first: all eight, and then by halves the one that helps.
    assert!(
        model.seen.borrow().len() <= 9 + 7 + 3,
        "{}",
        model.seen.borrow().len()
    );
}

#[test]
fn what_breaks_the_target_is_out_with_its_reason() {
    let mut model = Model::of(&[1000, 5000, 100]);
    model.broken = Set::from([1]);
    let (found, _) = model.search();
    assert_eq!(found.set, Set::from([0, 2]));
    assert_eq!(found.out[&1], Out::Broken("panic".into()));
}

#[test]
fn a_search_that_is_stopped_has_the_best_so_far() {
    let mut best = i64::MAX;
    for orders in 0..8 {
        let mut model = Model::of(&[2000, 500, 300, 100]);
        model.orders_left = orders;
        let (found, complete) = model.search();
        let ns = model.boot_ns(&found.set);
        assert!(ns <= best, "{orders} orders gave a slower boot than fewer");
        best = ns;
        assert_eq!(complete, orders >= 6, "{orders}");
    }
    assert_eq!(best, Model::of(&[2000, 500, 300, 100]).best_ns());
}

proptest! {
    /// Without interactions the best set is found, with a few boots per change.
    #[test]
    fn independent_changes_give_the_best_set(alone_ms in prop::collection::vec(-500..2000i64, 1..9)) {
        let mut model = Model::of(&alone_ms);
        let (found, complete) = model.search();
        prop_assert!(complete);
        let lost_ns = model.boot_ns(&found.set) - model.best_ns();
        let small = alone_ms.len() as i64 * MARGIN_NS;
        prop_assert!((0..=small).contains(&lost_ns), "{lost_ns}");
        prop_assert!(model.seen.borrow().len() <= 4 * alone_ms.len() + 1);
    }

    /// With any interactions it ends, and no single step from its set helps.
    #[test]
    fn whatever_interacts_the_search_ends_where_no_step_helps(
        alone_ms in prop::collection::vec(-500..2000i64, 2..7),
        kinds in prop::collection::vec(0..4usize, 7),
        pairs in prop::collection::btree_map((0..6usize, 0..6usize), -800..800i64, 0..8),
    ) {
        let mut model = Model::of(&alone_ms);
        let n = alone_ms.len();
        model.kinds = kinds[..n].to_vec();
        let pairs = pairs.into_iter().filter(|((a, b), _)| a < b && *b < n);
        model.together_ns = pairs.map(|(pair, ms)| (pair, ms * 1_000_000)).collect();
        let (found, complete) = model.search();
        prop_assert!(complete);
        let ns = model.boot_ns(&found.set);
        for candidate in 0..n {
            let mut other = found.set.clone();
            if !other.remove(&candidate) {
                other.retain(|c| model.kinds[*c] != model.kinds[candidate]);
                other.insert(candidate);
            }
            prop_assert!(model.boot_ns(&other) >= ns - MARGIN_NS, "{candidate} from {:?}", found.set);
        }
        prop_assert_eq!(&found.order.iter().copied().collect::<Set>(), &found.set);
        prop_assert_eq!(found.order.len(), found.set.len());
        for candidate in &found.set {
            prop_assert_eq!(found.without[candidate].verdict, Verdict::Slower);
        }
    }
}
