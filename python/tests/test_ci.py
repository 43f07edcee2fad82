"""The recipes for CI servers: their own scripts, run as these servers run them, as far as that goes
without the servers."""

import http.server
import os
import pathlib
import re
import subprocess
import threading

import pytest
import yaml

import bootlap

ROOT = pathlib.Path(__file__).resolve().parents[2]
CI = ROOT / "ci"


@pytest.fixture
def job(tmp_path, log):
    """Runs a script in a folder with a budget that is kept or broken; what came of it."""
    path, ready = log
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/bootlap").symlink_to(bootlap.program())
    bootlap.run("check", path, "--ready", ready, "--budget", tmp_path / "kept.toml", "--init")
    kept = (tmp_path / "kept.toml").read_text()
    (tmp_path / "broken.toml").write_text(re.sub(r"(?m)^total = .*", 'total = "2 s"', kept))

    def run(shell, script, budget, **env):
        env = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HOME": str(tmp_path), "CI": "true",
               "TARGET": str(path), "OPTIONS": f"--ready {ready}", "BUDGET": budget, **env}
        return subprocess.run([*shell, script], cwd=tmp_path, env=env, capture_output=True,
                              text=True, check=False)

    return run


def reports(folder, *names):
    for name in names:
        assert (folder / "bootlap-report" / name).stat().st_size > 300, name


def test_github_action(job, tmp_path):
    action = yaml.safe_load((CI / "github/action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    steps = {step["name"]: step for step in action["runs"]["steps"]}
    # What is run takes no input but through the environment: a branch's name is no shell.
    assert not any("${{" in step.get("run", "") for step in steps.values())
    summary = tmp_path / "summary.md"
    summary.write_text("")
    # As Actions start it.
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    kept = job(shell, steps["check"]["run"], "kept.toml", GITHUB_STEP_SUMMARY=str(summary))
    assert kept.returncode == 0, kept.stderr
    assert "keeps its budget" in summary.read_text()
    reports(tmp_path, "boot.xml", "boot.html", "boot.svg", "comment.md")
    broken = job(shell, steps["check"]["run"], "broken.toml", GITHUB_STEP_SUMMARY=str(summary))
    assert broken.returncode == 3
    assert "::error file=broken.toml" in broken.stdout
    assert "breaks 1 of" in summary.read_text()
    for step in steps.values():
        if "run" in step:
            subprocess.run(["bash", "-n", "-c", step["run"]], check=True)


class Forge(http.server.BaseHTTPRequestHandler):
    """Takes an upload and a note, as GitLab's API does."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, self.headers["PRIVATE-TOKEN"], body))
        self.send_response(201)
        self.end_headers()
        self.wfile.write(b'{"markdown":"![boot](/uploads/1/boot.svg)","id":7}')

    def log_message(self, *_):
        pass


@pytest.fixture
def forge():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forge) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_gitlab_template(job, tmp_path, forge):
    template = yaml.safe_load((CI / "gitlab/bootlap.yml").read_text())[".bootlap"]
    [script] = template["script"]
    shell = ["sh", "-ec"]
    kept = job(shell, script, "kept.toml")
    assert kept.returncode == 0, kept.stderr
    reports(tmp_path, "boot.xml", "boot.html", "boot.svg", "comment.md")
    assert job(shell, script, "broken.toml").returncode == 3
    assert forge.asked == []
    commented = job(shell, script, "broken.toml", BOOTLAP_TOKEN="secret", CI_MERGE_REQUEST_IID="5",
                    CI_PROJECT_ID="9", CI_API_V4_URL=f"http://127.0.0.1:{forge.server_port}/api/v4")
    assert commented.returncode == 3, commented.stderr
    (upload, token, file), (note, _, body) = forge.asked
    assert (upload, token) == ("/api/v4/projects/9/uploads", "secret")
    assert b"<svg" in file
    assert note == "/api/v4/projects/9/merge_requests/5/notes"
    assert b"breaks+1+of" in body or b"breaks%201%20of" in body
    assert b"uploads%2F1%2Fboot.svg" in body
    for line in template["before_script"]:
        subprocess.run(["sh", "-nc", line], check=True)


def test_jenkins_pipeline(job, tmp_path):
    script = re.search(r"sh '''(.*?)'''", (CI / "jenkins/Jenkinsfile").read_text(), re.S)[1]
    # It has no options for logs: the target says what ready is.
    script = script.replace("bootlap check", "bootlap check $OPTIONS").replace("\\\\\n", "\\\n")
    assert job(["sh", "-xe", "-c"], script, "kept.toml").returncode == 0
    reports(tmp_path, "boot.xml", "boot.html", "boot.svg", "verdict.md")
    assert job(["sh", "-xe", "-c"], script, "broken.toml").returncode == 3


def test_lava_script(job, tmp_path):
    log = ROOT / "tests/fixtures/lava/2024.05/boot/input"
    client = tmp_path / "bin/lavacli"
    client.write_text(f'#!/bin/sh\ncase $2 in logs) cat "{log}" ;; esac\n')
    client.chmod(0o755)
    budget = tmp_path / "lava.toml"
    bootlap.run("check", log, "--ready", "APP_READY", "--budget", budget, "--init")
    script = f'exec "{CI}/lava/boot.sh" 4711 lava.toml APP_READY'
    kept = job(["sh", "-c"], script, "")
    assert kept.returncode == 0, kept.stderr
    reports(tmp_path, "boot.xml", "boot.html", "verdict.md")
