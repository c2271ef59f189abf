"""A real graph recommender has the same metrics by tensors and by recframe."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "examples" / "lightgcn.py"


@pytest.mark.graph
def test_s5_lightgcn(capsys):
    """The means of LightGCN's recommendations equal those computed on tensors."""
    reason = "the extra 'graph' is not installed: pip install '.[graph]'"
    for name in ("torch", "torch_geometric"):
        pytest.importorskip(name, reason=reason)
    script = runpy.run_path(str(SCRIPT), run_name="lightgcn")
    tensors, frames = script["main"]()

    assert tensors == pytest.approx(frames, rel=1e-12)
    assert min(tensors.values()) > 0
    assert "r_precision" in capsys.readouterr().out
