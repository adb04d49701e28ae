# Writes a wheel with the program: python3 wheel.py VERSION PLATFORM PROGRAM REPOSITORY FOLDER.
import base64, hashlib, pathlib, sys, zipfile

version, platform, program, repository, folder = sys.argv[1:]
repository = pathlib.Path(repository)
info = f"cwnd-{version}.dist-info"
tag = f"py3-none-{platform}"
metadata = f"""Metadata-Version: 2.4
Name: cwnd
Version: {version}
Summary: A laboratory for TCP congestion control
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
Requires-Python: >=3.7
Description-Content-Type: text/markdown

{(repository / "README.md").read_text(encoding="utf-8")}"""
wheel = f"Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\nTag: {tag}\n"
files = [
    (f"cwnd-{version}.data/scripts/cwnd", pathlib.Path(program).read_bytes(), 0o755),
    (f"{info}/licenses/LICENSE-MIT", (repository / "LICENSE-MIT").read_bytes(), 0o644),
    (f"{info}/licenses/LICENSE-APACHE", (repository / "LICENSE-APACHE").read_bytes(), 0o644),
    (f"{info}/METADATA", metadata.encode(), 0o644),
    (f"{info}/WHEEL", wheel.encode(), 0o644),
]
record = ""
with zipfile.ZipFile(pathlib.Path(folder) / f"cwnd-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as archive:
    def add(name, data, mode):
        # The same time each time, so that equal input gives equal bytes.
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | mode) << 16
        archive.writestr(entry, data)

    for name, data, mode in files:
        add(name, data, mode)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    add(f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644)
