"""The plugin in a pytest of its own, as users have it."""

import re

TEST = """
def test_fast_enough(boot):
    assert boot.ready < {limit}
"""


def run(pytester, log, limit, *options):
    path, ready = log
    pytester.makepyfile(TEST.format(limit=limit))
    # In two words pytest takes the path for where its tests are, and leaves its cache there.
    return pytester.runpytest_subprocess(f"--boot={path}", f"--boot-ready={ready}", *options)


def test_a_boot_within_its_limit_passes(pytester, log):
    run(pytester, log, 14).assert_outcomes(passed=1)


def test_a_boot_above_its_limit_fails_and_says_both(pytester, log):
    result = run(pytester, log, 2)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 13.578* < 2*"])


def test_junit_and_page(pytester, log):
    run(pytester, log, 14, "--junitxml=out.xml", "--boot-page=pages").assert_outcomes(passed=1)
    xml = (pytester.path / "out.xml").read_text()
    assert re.search(r'name="boot.ready_s" value="13\.578', xml), xml
    page = re.search(r'name="boot.page" value="([^"]*)"', xml)
    assert (pytester.path / page[1]).stat().st_size > 100_000


def test_nothing_named_is_skipped(pytester):
    pytester.makepyfile(TEST.format(limit=1))
    pytester.runpytest_subprocess().assert_outcomes(skipped=1)
