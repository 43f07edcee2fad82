"""What the checks read with: fetched through pip, once, with pinned hashes."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def packages(cache):
    """The folder of unpacked packages; fetched into `cache` the first time."""
    folder = cache / "patchset-2.19.0-14.1.0"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        work = pathlib.Path(work)
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            + ["--disable-pip-version-check", "--require-hashes"]
            + ["--only-binary=:all:", "--dest", work]
            + ["--requirement", HERE / "requirements.txt"],
            check=True,
            stdout=sys.stderr,
        )
        new = work / "unpacked"
        for wheel in work.glob("*.whl"):
            with zipfile.ZipFile(wheel) as file:
                file.extractall(new)
        try:
            new.rename(folder)
        except OSError:
            # Another test was faster.
            shutil.rmtree(new, ignore_errors=True)
    return folder
