"""The notebooks run, from their first cell to their last."""

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    for library in ("matplotlib", "duckdb"):
        pytest.importorskip(library)
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs and all(output.output_type != "error" for output in outputs)


def test_there_are_notebooks_with_their_pictures() -> None:
    assert len(NOTEBOOKS) >= 5
    with_pictures = [path for path in NOTEBOOKS if "image/png" in path.read_text()]
    assert len(with_pictures) >= 4
    assert all(path.stat().st_size < 300_000 for path in NOTEBOOKS)
