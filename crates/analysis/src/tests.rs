//! What holds for every answer.

use proptest::prelude::*;

use crate::build::wild_boot;
use crate::*;

proptest! {
    #[test]
    fn no_boot_makes_an_analysis_panic(a in wild_boot(), b in wild_boot()) {
        let (a, b) = (&a.timeline, &b.timeline);
        for timeline in [a, b] {
            phases(timeline);
            gaps(timeline, i64::MIN);
            costs(timeline, 10);
        }
        compare(a, b);
        trial("x", &[a, b], &[b, a], 1_000, 1);
    }

    #[test]
    fn the_same_boot_gives_the_same_bytes(a in wild_boot(), b in wild_boot()) {
        let answer = || {
            let (a, b) = (&a.timeline, &b.timeline);
            let all = (phases(a), gaps(a, 1), costs(a, 10), compare(a, b));
            serde_json::to_string(&all).unwrap()
        };
        prop_assert_eq!(answer(), answer());
    }
}
