"""Packages that a check reads with: fetched through pip, once, with pinned hashes."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile


def unpacked(cache, name, requirements, options=(), unpack=None):
    """The folder `name` in `cache`, with what is in the wheels of the file
    `requirements`; fetched the first time. `unpack(wheel, file, folder)` takes
    out what is needed where that is not all.
    """
    folder = cache / name
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        work = pathlib.Path(work)
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            + ["--disable-pip-version-check", "--require-hashes"]
            + ["--only-binary=:all:", *options]
            + ["--dest", work, "--requirement", requirements],
            check=True,
            stdout=sys.stderr,
        )
        new = work / "unpacked"
        for wheel in work.glob("*.whl"):
            with zipfile.ZipFile(wheel) as file:
                if unpack is None:
                    file.extractall(new)
                else:
                    unpack(wheel.name, file, new)
        try:
            new.rename(folder)
        except OSError:
            # Another test was faster.
            shutil.rmtree(new, ignore_errors=True)
    return folder
