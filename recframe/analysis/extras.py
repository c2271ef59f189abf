"""The libraries of the extras, imported when they are needed."""

import importlib
from types import ModuleType


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Return a module that an extra installs, or raise `ImportError` naming the extra."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {module.partition('.')[0]}, which could not be imported ({error}); "
            f"install it with pip install 'recframe[{extra}]'"
        ) from error
