//! What holds for every answer.

use bootlap_model::{LinkKind, TrackKind};
use proptest::prelude::*;

use crate::build::wild_boot;
use crate::stats::Question;
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
        trial("x", &[a, b], &[b, a], &Question::once(1_000));
    }

    #[test]
    fn links_of_any_kind_make_no_path_panic(
        mut boot in wild_boot(),
        links in prop::collection::vec((0..12usize, 0..12usize), 0..20),
    ) {
        let ids: Vec<_> = boot.timeline.span_ids().collect();
        for (from, to) in links {
            if let (Some(from), Some(to)) = (ids.get(from), ids.get(to)) {
                boot.timeline.link(*from, *to, LinkKind::After);
            }
        }
        let names = boot.timeline.spans_of(TrackKind::Unit).map(|s| s.name);
        let names: std::collections::HashSet<_> = names.collect();
        prop_assert_eq!(units(&boot.timeline).len(), names.len());
        if let Some(path) = critical_path(&boot.timeline) {
            prop_assert!(path.own_ns() >= 0 && path.gaps_ns() >= 0);
        }
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
