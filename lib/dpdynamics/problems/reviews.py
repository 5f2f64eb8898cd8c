"""Real text from files that the reader has: movie reviews, and tagged questions.

Both come as training and test data in the form of :mod:`~dpdynamics.problems.text`, so that they
take the place of the synthetic `movie_reviews` and `stack_overflow`: a column per word, a last
column for the bias, and rows of ones or of Euclidean norm 1.
"""

import os
import pickle
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, load_npz

from ..arguments import one_of, whole
from .text import ROWS, TextData, indicators

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
PARTS = ("train", "test")
REVIEWS = (
    "Unpack aclImdb_v1.tar.gz (https://ai.stanford.edu/~amaas/data/sentiment/) and give the folder "
    "aclImdb, or give the file imdb.npz of Keras, as path or in the environment variable "
    "DPDYNAMICS_IMDB. Without them: the synthetic movie_reviews."
)
POSTS = (
    "Give a folder with train.svm and test.svm (svmlight), or with train.npz, train_labels.npy, "
    "test.npz and test_labels.npy, as path or in the environment variable "
    "DPDYNAMICS_STACKOVERFLOW. Without them: the synthetic stack_overflow."
)

PathLike = str | os.PathLike[str]
Indices = NDArray[np.int64]


def load_reviews(
    path: PathLike | None = None,
    *,
    vocabulary: int = 10_000,
    rows: str = "multi-hot",
    index_from: int = 0,
) -> tuple[TextData, TextData]:
    """Load the movie reviews of Maas et al. (25,000 for training, 25,000 for tests).

    The columns are the words with the most occurrences in the training part, most frequent first
    (of two equally frequent ones the alphabetically first), whatever their number; other words are
    dropped. Class 1 is a positive review.

    Parameters
    ----------
    path : path, optional
        The folder ``aclImdb`` (or the one around it): ``train/pos``, ``train/neg``, ``test/pos``,
        ``test/neg`` hold one UTF-8 text ``*.txt`` per review. A word is a run of letters, in lower
        case, apostrophes inside it included; line breaks of HTML count as spaces.

        Or Keras' file ``imdb.npz``: lists of word ranks, 1 the most frequent word, under
        ``x_train``, ``x_test``, and labels 0 and 1 under ``y_train``, ``y_test``. Its lists are
        pickled; they are read without executing anything, by an unpickler that knows arrays alone.

        Default: the environment variable ``DPDYNAMICS_IMDB``.
    vocabulary : int
        Number of words, at least 1.
    rows : {"multi-hot", "unit"}
        Ones for the words that occur and for the bias, or the same divided by the Euclidean norm
        of the row.
    index_from : int
        For an ``imdb.npz``: what was added to the ranks. 0 in the file as Keras distributes it; 3
        in arrays that came out of ``keras.datasets.imdb.load_data``, where 0, 1 and 2 stand for
        padding, start and words left out.

    Returns
    -------
    train, test : TextData
        `vocabulary` + 1 columns.

    Raises
    ------
    FileNotFoundError
        If the path, or a part of the folder, is not there; says how to get it.
    ValueError
        If a file is malformed.

    References
    ----------
    Maas, Daly, Pham, Huang, Ng, Potts, "Learning word vectors for sentiment analysis", ACL 2011.
    """
    vocabulary, rows = whole("vocabulary", vocabulary, 1), one_of("rows", rows, ROWS)
    index_from = whole("index_from", index_from, 0)
    place = _place(path, "DPDYNAMICS_IMDB", REVIEWS)
    if place.is_dir():
        features, labels = _read_folder(place, vocabulary)
    else:
        features, labels = _read_keras(place, vocabulary, index_from)
    return _finish(features, labels, 2, rows, "movie reviews (IMDB)")


def load_posts(
    path: PathLike | None = None, *, rows: str = "multi-hot"
) -> tuple[TextData, TextData]:
    """Load tagged questions, or any other sparse data of several classes.

    Parameters
    ----------
    path : path, optional
        A folder with ``train.svm`` and ``test.svm``, text in the svmlight format: a line
        ``label index:value index:value ...`` per document, indices from 1, ``#`` before comments.

        Or a folder with ``train.npz`` and ``test.npz``, written by ``scipy.sparse.save_npz``, and
        ``train_labels.npy`` and ``test_labels.npy``, written by ``numpy.save``.

        Labels are integers from 0 on. Default: the environment variable
        ``DPDYNAMICS_STACKOVERFLOW``.
    rows : {"multi-hot", "unit"}
        As in :func:`load_reviews`: a value counts as present when it is not 0.

    Returns
    -------
    train, test : TextData
        A column per column of the larger part, and the bias; classes up to the largest label.

    Raises
    ------
    FileNotFoundError
        If the path or a file is not there.
    ValueError
        If a file is malformed.
    """
    rows = one_of("rows", rows, ROWS)
    folder = _place(path, "DPDYNAMICS_STACKOVERFLOW", POSTS)
    features, labels = [], []
    for part in PARTS:
        text = folder / f"{part}.svm"
        read, label = _read_svmlight(text) if text.is_file() else _read_sparse(folder, part)
        features.append(read)
        labels.append(label)
    width = max(read.shape[1] for read in features)
    for read in features:
        read.resize((read.shape[0], width))
    classes = 1 + max(int(label.max()) for label in labels)
    return _finish(features, labels, max(classes, 2), rows, "tagged questions")


def _place(path: PathLike | None, variable: str, advice: str) -> Path:
    given = os.environ.get(variable) if path is None else path
    if not given:
        raise FileNotFoundError(f"path is not given and {variable} is not set. {advice}")
    place = Path(given).expanduser()
    if not place.exists():
        raise FileNotFoundError(f"there is no {place}. {advice}")
    return place


def _finish(
    features: Sequence[Any], labels: Sequence[Indices], classes: int, rows: str, name: str
) -> tuple[TextData, TextData]:
    """Return both parts with ones for what is present, the bias, and rows as asked for."""
    parts = []
    for part, read, label in zip(PARTS, features, labels, strict=True):
        read.sum_duplicates()
        read.eliminate_zeros()
        words = read.shape[1]
        columns = np.insert(read.indices, read.indptr[1:], words)
        ones = indicators(np.diff(read.indptr) + 1, columns, words + 1, rows)
        description = f"Real: {name}, {part} part, {words} words and a bias, {rows}."
        parts.append(TextData(ones, label, classes, f"{name}, {rows} rows", description, False))
    return parts[0], parts[1]


def _pattern(documents: Iterable[Indices], width: int) -> Any:
    """Return the matrix with a one for every column in 0..width-1 that occurs in a document."""
    kept = [np.unique(columns[(columns >= 0) & (columns < width)]) for columns in documents]
    return indicators(np.array([*map(len, kept)]), np.concatenate(kept), width, "multi-hot")


def _read_folder(place: Path, vocabulary: int) -> tuple[list[Any], list[Indices]]:
    root = place if (place / "train").is_dir() else place / "aclImdb"
    texts: dict[str, list[Path]] = {part: [] for part in PARTS}
    labels: dict[str, list[int]] = {part: [] for part in PARTS}
    for part in PARTS:
        for label, side in enumerate(("neg", "pos")):
            folder = root / part / side
            if not folder.is_dir():
                raise FileNotFoundError(f"there is no folder {folder}. {REVIEWS}")
            files = sorted(folder.glob("*.txt"))
            if not files:
                raise ValueError(f"{folder} must hold reviews, *.txt, and holds none")
            texts[part] += files
            labels[part] += [label] * len(files)
    numbers: defaultdict[str, int] = defaultdict(count().__next__)  # in order of sight
    parts = [
        [np.array([numbers[word] for word in _words(file)], dtype=np.int64) for file in files]
        for files in texts.values()
    ]
    words, counts = list(numbers), np.bincount(np.concatenate(parts[0])).tolist()
    order = sorted(range(len(counts)), key=lambda number: (-counts[number], words[number]))
    column = np.full(len(words), -1)
    column[order[:vocabulary]] = np.arange(min(len(order), vocabulary))
    features = [_pattern((column[text] for text in part), vocabulary) for part in parts]
    return features, [np.array(part) for part in labels.values()]


def _words(file: Path) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} must be UTF-8 text: {error}") from None
    return WORD.findall(re.sub(r"<br\s*/?>", " ", text).lower())


def _read_keras(file: Path, vocabulary: int, index_from: int) -> tuple[list[Any], list[Indices]]:
    if not zipfile.is_zipfile(file):
        raise ValueError(f"{file} must be a folder or an .npz file. {REVIEWS}")
    features, labels = [], []
    with zipfile.ZipFile(file) as archive:
        for part in PARTS:
            texts = [_integers(file, text) for text in _member(archive, f"x_{part}")]
            label = _integers(file, _member(archive, f"y_{part}"))
            if not texts or len(texts) != len(label) or not np.isin(label, (0, 1)).all():
                raise ValueError(f"{file} must hold a label 0 or 1 for every review of {part}")
            if index_from == 0 and all(len(text) and text[0] == 1 for text in texts):
                raise ValueError(f"{file}: every review starts with 1, give index_from=3")
            lowest = min((int(text.min()) for text in texts if len(text)), default=1)
            if lowest < (0 if index_from else 1):
                raise ValueError(f"{file} must hold ranks of words, from 1, in x_{part}")
            features.append(_pattern((text - index_from - 1 for text in texts), vocabulary))
            labels.append(label)
    return features, labels


def _integers(file: Path, values: ArrayLike) -> Indices:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(f"{file} must hold lists of integers, got {array.dtype}, {array.shape}")
    return array.astype(np.int64)


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return an array of an archive; of objects only through the unpickler of arrays."""
    headers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        with archive.open(f"{name}.npy") as stream:
            shape, _, dtype = headers[npy.read_magic(stream)](stream)
            array = _Arrays(stream).load() if dtype.hasobject else None
        if array is None:
            with archive.open(f"{name}.npy") as stream:
                array = npy.read_array(stream, allow_pickle=False)
        if not isinstance(array, np.ndarray) or array.shape != shape:
            raise ValueError("not an array of the shape that it announces")
    except Exception as error:
        raise ValueError(
            f"{archive.filename} must hold the array {name}, and it cannot be read: {error}"
        ) from error
    return array


class _Arrays(pickle.Unpickler):
    """Unpickles lists, numbers and arrays, and refuses the name of anything else."""

    def find_class(self, module: str, name: str) -> Any:
        rebuild = np.empty(0).__reduce__()[0]
        known = {"ndarray": np.ndarray, "dtype": np.dtype, "_reconstruct": rebuild}
        if module in ("numpy", "numpy.core.multiarray", "numpy._core.multiarray") and name in known:
            return known[name]
        if (module, name) == ("_codecs", "encode"):  # how pickles of protocol 2 write bytes
            return lambda text, _: text.encode("latin-1")
        raise pickle.UnpicklingError(f"{module}.{name} is not part of an array of lists")


def _read_svmlight(file: Path) -> tuple[Any, Indices]:
    labels: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    start = [0]
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            fields = line.partition("#")[0].split()
            if not fields:
                continue
            try:
                labels.append(int(fields[0]))
                for field in fields[1:]:
                    column, _, value = field.partition(":")
                    columns.append(int(column) - 1)
                    values.append(float(value))
                if labels[-1] < 0 or min(columns[start[-1] :], default=0) < 0:
                    raise ValueError("labels are at least 0, indices at least 1")
                if not np.isfinite(values[start[-1] :]).all():
                    raise ValueError("values are finite")
            except ValueError as error:
                raise ValueError(
                    f"{file}, line {number}, must be `label index:value ...`: {error}"
                ) from None
            start.append(len(columns))
    if not columns:
        raise ValueError(f"{file} must hold documents, and holds none")
    shape = (len(labels), max(columns) + 1)
    return csr_array((np.array(values), np.array(columns), start), shape=shape), np.array(labels)


def _read_sparse(folder: Path, part: str) -> tuple[Any, Indices]:
    matrix, labels = folder / f"{part}.npz", folder / f"{part}_labels.npy"
    for file in (matrix, labels):
        if not file.is_file():
            raise FileNotFoundError(f"there is no {file}. {POSTS}")
    try:
        features = csr_array(load_npz(matrix))
        label = _integers(labels, np.load(labels, allow_pickle=False))
    except Exception as error:
        raise ValueError(f"{matrix} or {labels} cannot be read: {error}") from error
    if features.shape[0] != len(label) or not len(label) or label.min() < 0:
        raise ValueError(f"{labels} must hold a label, at least 0, for each row of {matrix}")
    return features, label
