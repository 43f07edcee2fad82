//! What systemd prints, torn and shuffled: no panic, every line accounted
//! for, the same in any chunks.

use std::io::BufReader;

use crate::support::dump::dump;
use crate::support::read_bytes;
use bootlap_sources::{Hints, named};
use proptest::prelude::*;

/// Pieces that the two sources know, so that chance gets somewhere.
const PIECES: [&str; 40] = [
    "\n",
    "\n\n",
    "Startup finished in 1.2s (firmware) + 3s (kernel) + 4min 5ms (userspace) = 5min\n",
    "a.target reached after 1min 2s in userspace.\n",
    "9223372036854775807y a.service\n",
    " 12.5s b.service\n",
    "The time when unit became active or started is printed after the \"@\" character.\n",
    "a.service @1.2s +3ms\n",
    "└─",
    "  ├─b.service @7us\n",
    "...\n",
    "[{\"name\":\"a.service\",\"activated\":5,\"activating\":9223372036854775807,",
    "\"time\":-3,\"deactivated\":9,\"deactivating\":9}",
    "{\"name\":\"b.service\",\"activating\":1}]\n",
    "NAME ACTIVATED ACTIVATING TIME DEACTIVATED DEACTIVATING\n",
    "a.service 1s 2s 3s 4s 5s\n",
    "<?xml version=\"1.0\"?>\n<svg>\n",
    "<text class=\"sec\" x=\"0.001\" y=\"1\">9999999.0s</text>\n",
    "<rect class=\"activating\" x=\"99999999999.5\" width=\"-3\"/>\n",
    "<rect class=\"kernel\" x=\"0\" width=\"9\"/>\n<text>kernel</text>\n",
    "<text class=\"left\">a.service (5ms)</text>\n",
    "<title>a.service:\nActivating: 1.5\nAfter:\n b.service\n</title>\n",
    "</svg>\n",
    "digraph systemd {\n",
    "\"a.service\"->\"b.service\" [color=\"green\"];\n",
    "Id=a.service\nInactiveExitTimestampMonotonic=5\n",
    "ActiveEnterTimestampMonotonic=9223372036854775807\nAfter=b.service\n",
    "FirmwareTimestampMonotonic=9223372036854775807\nFinishTimestampMonotonic=7\n",
    "{\"__MONOTONIC_TIMESTAMP\":\"9223372036854775\",\"_BOOT_ID\":\"a\",\"MESSAGE\":\"x\"}\n",
    "{\"__MONOTONIC_TIMESTAMP\":\"5\",\"__REALTIME_TIMESTAMP\":\"7\",\"_SOURCE_MONOTONIC_TIMESTAMP\":\"9\",\"_BOOT_ID\":\"b\"",
    ",\"MESSAGE\":[72,300],\"_TRANSPORT\":\"kernel\",\"SYSLOG_IDENTIFIER\":\"kernel\"}",
    "{\"__MONOTONIC_TIMESTAMP\":\"9\",\"_PID\":\"1\",\"SYSLOG_IDENTIFIER\":\"systemd\",\"MESSAGE\":\"Starting x...\"}\n",
    "__CURSOR=s=1\n__MONOTONIC_TIMESTAMP=7\n",
    "MESSAGE\n\u{3}\0\0\0\0\0\0\0abc\n",
    "[    0.000000] host kernel: Linux version 1\n",
    "[    9.000000] host systemd[1]: Starting a.service - A...\n",
    "[    1.000000] host systemd[1]: Started a.service - A.\n",
    "Feb 29 23:59:60 host systemd[1]: Startup finished in 1s.\n",
    "Mon 2026-04-27 19:48:56.842914 UTC [s=1;b=2;m=7fffffffffffffff;t=1]\n    MESSAGE=x\n",
    "-- Reboot --\n",
];

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => prop::sample::select(&PIECES[..]).prop_map(|p| p.as_bytes().to_vec()),
        1 => (prop::sample::select(&PIECES[..]), 0..40usize)
            .prop_map(|(p, n)| p.as_bytes()[..n.min(p.len())].to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_order_of_what_systemd_prints(bytes in text()) {
        for name in ["systemd", "journal"] {
            let source = named(name).unwrap();
            source.sniff(&bytes);
            let whole = read_bytes(source, &bytes[..], &Hints::default());
            for file in &whole.files {
                prop_assert_eq!(file.usage.used + file.usage.skipped, file.usage.total);
                prop_assert!(file.usage.skipped == 0 || !whole.notices.is_empty());
            }
            let in_threes = BufReader::with_capacity(3, &bytes[..]);
            let in_threes = read_bytes(source, in_threes, &Hints::default());
            prop_assert_eq!(dump(&whole, true), dump(&in_threes, true));
        }
    }
}
