"""Clean frames, files and command lines: no question, no warning, no note but users left out."""

import pytest

import recframe
from clean_frames import CLEAN, make_frames
from noted import run_evaluate

METRICS = ["precision@5", "recall@5", "ndcg@5", "mrr", "auc"]
LEFT_OUT = {"undefined"}


def save(name, folder, ending):
    """Return the path of a file of the rows, and the options with truth as another."""
    frame, truth = make_frames(name)
    options = dict(CLEAN[name].options)
    for part, one in (("rows", frame), ("truth", truth)):
        if one is not None:
            options[part] = folder / f"{part}.{ending}"
            getattr(one, f"to_{ending}")(options[part], index=False)
    return options.pop("rows"), options


@pytest.mark.parametrize("name", CLEAN)
def test_frames(name):
    """Means, intervals and lists say nothing, whichever columns stand beside the roles."""
    frame, truth = make_frames(name)
    rec = frame.rec(**CLEAN[name].options, **({} if truth is None else {"truth": truth}))
    tables = [rec.mean(METRICS), rec.summary(METRICS)]
    if len(tables[0]) > 1:
        tables.append(rec.compare(METRICS))

    assert LEFT_OUT >= {note.kind for table in tables for note in table.notes}


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("name", CLEAN)
def test_files(name, ending, tmp_path):
    """Files say as little as frames; those of text too, where times are text."""
    path, options = save(name, tmp_path, ending)
    means = recframe.scan(path, **options).mean(METRICS)

    assert LEFT_OUT >= {note.kind for note in means.notes}


@pytest.mark.parametrize("name", CLEAN)
def test_the_command_line(name, tmp_path):
    """It prints the table alone, and at most a sentence on users left out."""
    frame, truth = make_frames(name)
    options = {**CLEAN[name].options, **({} if truth is None else {"truth": truth})}
    out, said = run_evaluate(frame, options, METRICS, tmp_path)

    assert "precision@5" in out
    assert all(" means leave out " in line for line in said.splitlines())


def test_there_are_fifty():
    """Each of a few hundred rows, so that all are made and read in seconds."""
    assert 50 == len(CLEAN)
    assert all(100 < len(make_frames(name)[0]) < 1_000 for name in CLEAN)
