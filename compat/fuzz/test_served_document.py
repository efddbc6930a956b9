"""schemathesis tests every operation of the OpenAPI document that a started server serves.

HEDDLE_FUZZ_CASES sets about how many cases are tried (20000 before a release), HEDDLE_FUZZ_SEED which ones.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

from known_things import store_everything
from started_server import started_server

HERE = Path(__file__).parent
CASES = int(os.environ.get("HEDDLE_FUZZ_CASES", "1000"))
WITH_BOUNDARIES = 20_000
SEED = os.environ.get("HEDDLE_FUZZ_SEED", "20261121")
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"]
# A slower answer is a failure, too.
SLOWEST_ANSWER_S = 20


def test_every_answer_is_in_the_document(tmp_path: Path) -> None:
    with started_server(HEDDLE_ENGINE="none", HEDDLE_LOG="error") as server:
        known = tmp_path / "known.json"
        known.write_text(json.dumps(store_everything(server)))
        arguments = [
            *("--header", f"Authorization: Bearer {server.key}"),
            *("--checks", ",".join(CHECKS)),
            *("--phases", _phases()),
            *("--max-examples", str(_cases_of_operation(server.url))),
            *("--max-response-time", str(SLOWEST_ANSWER_S)),
            *("--seed", SEED, "--no-shrink", "--continue-on-failure"),
            *("--suppress-health-check", "all", "--warnings", "off"),
        ]
        run = subprocess.run(
            [
                sys.executable,
                "-m",
                "schemathesis.cli",
                "--config-file",
                str(HERE / "schemathesis.toml"),
                "run",
                f"{server.url}/openapi.json",
                *arguments,
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "SCHEMATHESIS_HOOKS": "hooks",
                "PYTHONPATH": str(HERE),
                "HEDDLE_FUZZ_KNOWN": str(known),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    print(run.stdout[-2000:])
    found = re.search(r"(\d+) generated", run.stdout)
    assert run.returncode == 0, run.stdout + run.stderr
    assert found is not None
    # The total may be lower, because an operation without input has one case only.
    assert int(found[1]) >= CASES * 0.8


def _phases() -> str:
    """Phases to run. Only large runs have "coverage", whose 10,000 boundary cases are the same for every seed."""
    return "examples,coverage,fuzzing" if CASES >= WITH_BOUNDARIES else "examples,fuzzing"


def _cases_of_operation(url: str) -> int:
    with urlopen(f"{url}/openapi.json") as answer:
        paths = json.load(answer)["paths"]
    operations = sum(len(methods) for methods in paths.values())
    random_cases = CASES // 2 if CASES >= WITH_BOUNDARIES else CASES
    return max(1, -(-random_cases // operations))
