"""The canonical form: idempotent, and written in one step."""

from __future__ import annotations

import nbformat
import pytest

from nb.normalise import normalise, read, text_of, write


def test_normalise_is_idempotent_and_keeps_what_matters() -> None:
    notebook = nbformat.v4.new_notebook(metadata={"widgets": {"x": 1}, "dpdynamics": {"y": 2}})
    stream = nbformat.v4.new_output("stream", name="stdout", text="a\n")
    result = nbformat.v4.new_output(
        "execute_result", data={"text/plain": "1"}, metadata={"dpdynamics": {"claim": "a"}}
    )
    cell = nbformat.v4.new_code_cell(
        "1\n\n",
        execution_count=4,
        outputs=[stream, nbformat.from_dict(stream), result],
        metadata={"tags": ["hide-input"], "execution": {"iopub.execute_input": "now"}},
    )
    notebook.cells = [nbformat.v4.new_markdown_cell("# T", metadata={"tags": []}), cell]
    normalise(notebook)
    once = text_of(notebook)
    normalise(notebook)
    assert text_of(notebook) == once
    assert notebook.metadata["dpdynamics"] == {"y": 2}
    assert "widgets" not in notebook.metadata
    assert notebook.cells[0].metadata == {}
    assert cell.metadata == {"tags": ["hide-input"]}
    assert (cell.source, cell.execution_count) == ("1", 4)
    assert [o.get("text") for o in cell.outputs] == ["a\na\n", None]
    assert cell.outputs[1].execution_count == 4
    assert cell.outputs[1].metadata == {"dpdynamics": {"claim": "a"}}


def test_an_interrupted_write_leaves_the_file_alone(plant, monkeypatch) -> None:
    path = plant("1")
    before = path.read_bytes()
    notebook = read(path)
    notebook.cells[0].source = "# Other"

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(notebook, path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]
