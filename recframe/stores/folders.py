"""The folders of a store; where the store can, one request lists all that is below one."""

from collections.abc import Callable
from functools import partial
from glob import has_magic
from typing import Any
from urllib.parse import unquote

from recframe.disk import MARKS, NOTE, Entry
from recframe.stores.store import Place, Store


class StoreFolders:
    """A store as a tree of folders, as this machine is one too; it keeps its listings."""

    def __init__(self, store: Store) -> None:
        self.store, self.show, self.identify = store, store.show, partial(Place, store)
        self._folders: dict[str, dict[tuple[str, bool], Entry]] = {}  # by name and whether a file

    def look_up(self, path: str) -> Entry | None:
        """Return the entry that a path leads to, None for a pattern; a folder is listed."""
        store, (folder, steps) = self.store, self.split(path)
        if not steps and store.is_web and not path.endswith("/"):
            return Entry("", path, is_folder=False)
        with store.reaching(path):
            if not steps and not store.is_web:
                info = store.filesystem.get_file_info([folder])[0]
                if info.type.name == "File":
                    return Entry("", path, is_folder=False, size=info.size)
                if info.type.name != "Directory":
                    raise FileNotFoundError
            if folder not in self._folders:
                self._list(folder, is_deep=len(steps) != 1 or store.is_web)
        if not steps:
            return Entry("", folder, is_folder=True)
        inside = self._folders.get(path.rpartition("/")[0] or folder, {})
        return inside.get((steps[-1], False)) or inside.get((steps[-1], True))  # named so

    def split(self, path: str) -> tuple[str, tuple[str, ...]]:
        """Return the folder that a path begins with, and the steps of a pattern below it."""
        path = path.partition("?")[0] if self.store.is_web else path  # there it begins the query
        names = path[len(self.store.root) :].split("/")
        n_plain = next((n for n, name in enumerate(names) if has_magic(name)), len(names))
        plain = self.store.root + "/".join(names[:n_plain])
        return plain.rstrip("/") or plain[:1], tuple(names[n_plain:])

    def list_folder(self, folder: str, is_meant: Callable[[str], object]) -> list[Entry]:
        """Return the entries of a folder whose names are meant, in order of names."""
        if folder not in self._folders:  # one is that it lies in
            listed = next(above for above in self.above(folder) if above in self._folders)
            with self.store.reaching(listed):
                self._list(listed, is_deep=True)
        entries = self._folders.get(folder, {}).values()
        return sorted(entry for entry in entries if is_meant(entry.name))

    def above(self, folder: str) -> list[str]:
        """Return a folder and those it lies in, the nearest first."""
        names = folder.split("/")
        paths = ["/".join(names[:n]) for n in range(len(names), 0, -1)]
        return [path for path in paths if path.strip("/")]

    def has_mark(self, asked: tuple[str, str]) -> bool:
        """Return whether a table of a kind has its mark in a folder."""
        kind, folder = asked
        mark = _below(folder, MARKS[kind])
        with self.store.reaching(mark):
            if self.store.is_web or folder in self._folders:  # the web has no folders to ask for
                is_there = (MARKS[kind], False) in self._folders.get(folder, {})
            else:
                is_there = self.store.filesystem.get_file_info([mark])[0].type.name == "Directory"
            if not is_there or kind != "Iceberg":
                return is_there
            is_listed = mark in self._folders
            inside = self._folders[mark] if is_listed else self._ask(mark, is_deep=False)
            return any(name.endswith(NOTE) for name, _ in inside)

    def _list(self, folder: str, *, is_deep: bool) -> None:
        """Take note of all entries below a folder, or only of those directly in it."""
        self._folders.setdefault(folder, {})
        for below, info in self._ask(folder, is_deep=is_deep):
            is_file, is_new = info.type.name == "File", True
            if is_deep and not is_file:
                self._folders.setdefault(_below(folder, below), {})
            while is_new:  # and so may be those that it lies in
                above, _, name = below.rpartition("/")
                parent = _below(folder, above) if above else folder
                is_new = parent not in self._folders
                entry = Entry(name, _below(parent, name), not is_file, info.path, info.size)
                self._folders.setdefault(parent, {}).setdefault((name, is_file), entry)
                below, is_file = above, False

    def _ask(self, folder: str, *, is_deep: bool) -> list[tuple[str, Any]]:
        """Return paths below a folder, each with the store's description of it."""
        from pyarrow.fs import FileInfo, FileSelector, FileType

        if self.store.of_fsspec is not None and self.store.is_web:  # pages name what they link to
            urls = self.store.of_fsspec.find(f"{folder}/")
            return [(unquote(url[len(folder) + 1 :]), FileInfo(url, FileType.File)) for url in urls]
        infos = self.store.filesystem.get_file_info(FileSelector(folder, recursive=is_deep))
        n_before = len(folder.strip("/")) + 1 if folder.strip("/") else 0
        return [(info.path.strip("/")[n_before:], info) for info in infos]


def _below(folder: str, name: str) -> str:
    """Return the path of an entry in a folder."""
    return f"{folder.rstrip('/')}/{name}" if folder.strip("/") else name
