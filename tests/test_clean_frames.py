"""Clean frames, files and command lines give no question, warning or note except users left out."""

import pytest

import recframe
from clean_frames import CLEAN, make_frames
from note_cases import run_evaluate

METRICS = ["precision@5", "recall@5", "ndcg@5", "mrr", "auc"]
LEFT_OUT = {"undefined"}


def save(name, folder, ending):
    """Return the path of a file with the rows, and the options with truth as another file."""
    frame, truth = make_frames(name)
    options = dict(CLEAN[name].options)
    for part, one in (("rows", frame), ("truth", truth)):
        if one is not None:
            options[part] = folder / f"{part}.{ending}"
            getattr(one, f"to_{ending}")(options[part], index=False)
    return options.pop("rows"), options


@pytest.mark.parametrize("name", CLEAN)
def test_frames(name):
    """Means, intervals and comparisons of clean frames have no other note."""
    frame, truth = make_frames(name)
    rec = frame.rec(**CLEAN[name].options, **({} if truth is None else {"truth": truth}))
    tables = [rec.mean(METRICS), rec.summary(METRICS)]
    if len(tables[0]) > 1:
        tables.append(rec.compare(METRICS))

    assert LEFT_OUT >= {note.kind for table in tables for note in table.notes}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("name", CLEAN)
def test_files(name, ending, tmp_path):
    """Files of clean frames have no other note, also text files with times as text."""
    path, options = save(name, tmp_path, ending)
    means = recframe.scan(path, **options).mean(METRICS)

    assert LEFT_OUT >= {note.kind for note in means.notes}


@pytest.mark.parametrize("name", CLEAN)
def test_the_command_line(name, tmp_path):
    """The command line prints the table alone, and at most a sentence about users left out."""
    frame, truth = make_frames(name)
    options = {**CLEAN[name].options, **({} if truth is None else {"truth": truth})}
    out, said = run_evaluate(frame, options, METRICS, tmp_path)

    assert "precision@5" in out
    assert all(" means leave out " in line for line in said.splitlines())


def test_there_are_fifty():
    """The collection has 50 frames of a few hundred rows each, so that tests take seconds."""
    assert 50 == len(CLEAN)
    assert all(100 < len(make_frames(name)[0]) < 1_000 for name in CLEAN)
