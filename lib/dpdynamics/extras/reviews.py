"""Loaders for readers who have the real texts.

Movie reviews and tagged questions come as training and test data in the form of
:mod:`dpdynamics.problems`, as the synthetic `movie_reviews` do: a column per word, a last one for
the bias, rows of ones or of Euclidean norm 1.
"""

import os
import pickle
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, load_npz

from ..arguments import one_of, whole
from ..problems import TextData
from ..problems.text import ROWS, indicators

WORD = r"[^\W\d_]+(?:'[^\W\d_]+)*"
PARTS = ("train", "test")
REVIEWS = (
    "Unpack aclImdb_v1.tar.gz (https://ai.stanford.edu/~amaas/data/sentiment/) and give the folder "
    "aclImdb, or give the file imdb.npz of Keras, as path or in the environment variable "
    "DPDYNAMICS_IMDB. Without them: the synthetic movie_reviews."
)
POSTS = (
    "Give a folder with train.svm and test.svm (svmlight), or with train.npz, train_labels.npy, "
    "test.npz and test_labels.npy, as path or in the environment variable "
    "DPDYNAMICS_STACKOVERFLOW."
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
        ``x_train``, ``x_test``, and labels 0 and 1 under ``y_train``, ``y_test``. Its pickled lists
        are read without executing anything.

        Default: the environment variable ``DPDYNAMICS_IMDB``.
    vocabulary : int
        Number of words, at least 1: `vocabulary` + 1 columns.
    rows : {"multi-hot", "unit"}
        Ones for the words that occur and for the bias, or the same divided by the Euclidean norm
        of the row.
    index_from : int
        For an ``imdb.npz``: what was added to the ranks. 0 in the file as Keras distributes it; 3
        in arrays that came out of ``keras.datasets.imdb.load_data``, where 0, 1 and 2 stand for
        padding, start and words left out.

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
        parts = _read_folder(place, vocabulary)
    else:
        parts = _read_keras(place, vocabulary, index_from)
    return _finish(parts, vocabulary, 2, rows, "movie reviews (IMDB)")


def load_posts(
    path: PathLike | None = None, *, rows: str = "multi-hot"
) -> tuple[TextData, TextData]:
    """Load tagged questions, or any other sparse data of several classes.

    Parameters
    ----------
    path : path, optional
        A folder with ``train.svm`` and ``test.svm`` in the svmlight format: a line
        ``label index:value index:value ...`` per document, indices from 1, increasing.

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
    parts = [_read_posts(folder, part) for part in PARTS]
    width = max(features.shape[1] for features, _ in parts)
    classes = 1 + max(int(labels.max()) for _, labels in parts)
    return _finish(parts, width, max(classes, 2), rows, "tagged questions")


def _place(path: PathLike | None, variable: str, advice: str) -> Path:
    given = os.environ.get(variable) if path is None else path
    if not given:
        raise FileNotFoundError(f"path is not given and {variable} is not set. {advice}")
    place = Path(given).expanduser()
    if not place.exists():
        raise FileNotFoundError(f"there is no {place}. {advice}")
    return place


def _finish(
    parts: Sequence[tuple[csr_array, Indices]], words: int, classes: int, rows: str, name: str
) -> tuple[TextData, TextData]:
    """Return both parts with ones for what is present, the bias, and rows as asked for."""
    finished = []
    for features, labels in parts:
        features.resize((features.shape[0], words))
        features.sum_duplicates()
        features.eliminate_zeros()
        columns = np.insert(features.indices, features.indptr[1:], words)
        ones = indicators(np.diff(features.indptr) + 1, columns, words + 1, rows)
        finished.append(TextData(ones, labels, classes, f"{name}, {rows} rows"))
    return finished[0], finished[1]


def _read_folder(place: Path, vocabulary: int) -> list[tuple[csr_array, Indices]]:
    from sklearn.feature_extraction.text import CountVectorizer

    root = place if (place / "train").is_dir() else place / "aclImdb"
    files, labels = [], []
    for part in PARTS:
        sides = [sorted((root / part / side).glob("*.txt")) for side in ("neg", "pos")]
        if not all(sides):
            raise FileNotFoundError(
                f"there is no review, neg/*.txt or pos/*.txt, in {root / part}. {REVIEWS}"
            )
        files.append([file for side in sides for file in side])
        labels.append(np.repeat([0, 1], [len(side) for side in sides]))
    words = CountVectorizer(preprocessor=_text, token_pattern=WORD)
    counts = [csr_array(words.fit_transform(files[0])), csr_array(words.transform(files[1]))]
    order = np.argsort(-counts[0].sum(axis=0), kind="stable")[:vocabulary]  # of sorted words
    return [(count[:, order], label) for count, label in zip(counts, labels, strict=True)]


def _text(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} must be UTF-8 text: {error}") from None
    return re.sub(r"<br\s*/?>", " ", text).lower()


def _read_keras(file: Path, vocabulary: int, index_from: int) -> list[tuple[csr_array, Indices]]:
    if not zipfile.is_zipfile(file):
        raise ValueError(f"{file} must be a folder or an .npz file. {REVIEWS}")
    parts = []
    with zipfile.ZipFile(file) as archive:
        for part in PARTS:
            texts = [_integers(file, text) for text in _member(archive, f"x_{part}")]
            labels = _integers(file, _member(archive, f"y_{part}"))
            if not texts or len(texts) != len(labels) or not np.isin(labels, (0, 1)).all():
                raise ValueError(f"{file} must hold a label 0 or 1 for every review of {part}")
            if index_from == 0 and all(len(text) and text[0] == 1 for text in texts):
                raise ValueError(f"{file}: every review starts with 1, give index_from=3")
            ranks = np.concatenate(texts)
            if ranks.min(initial=1) < (0 if index_from else 1):
                raise ValueError(f"{file} must hold ranks of words, from 1, in x_{part}")
            entries = np.repeat(np.arange(len(texts)), [len(text) for text in texts]), ranks
            kept = (ranks > index_from) & (ranks <= index_from + vocabulary)
            row, rank = (entry[kept] for entry in entries)
            place, shape = (row, rank - index_from - 1), (len(texts), vocabulary)
            parts.append((csr_array((np.ones(row.size), place), shape=shape), labels))
    return parts


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
            shape, fortran, dtype = headers[npy.read_magic(stream)](stream)
            if dtype.hasobject:
                array = _Arrays(stream).load()
            else:
                array = np.frombuffer(stream.read(), dtype)
                array = array.reshape(shape, order="F" if fortran else "C")
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


def _read_posts(folder: Path, part: str) -> tuple[csr_array, Indices]:
    from sklearn.datasets import load_svmlight_file

    files = [folder / f"{part}.svm"]
    if not files[0].is_file():
        files = [folder / f"{part}.npz", folder / f"{part}_labels.npy"]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"there is no {file}. {POSTS}")
    try:
        if len(files) == 1:
            features, labels = load_svmlight_file(str(files[0]), zero_based=False)
        else:
            features, labels = load_npz(files[0]), np.load(files[1], allow_pickle=False)
        features = csr_array(features)
        if not features.nnz or not np.isfinite(features.data).all():
            raise ValueError("there must be entries, all finite")
        if labels.shape != features.shape[:1] or np.any((labels < 0) | (labels % 1 != 0)):
            raise ValueError("there must be a label, an integer from 0 on, for each row")
    except Exception as error:
        names = " or ".join(str(file) for file in files)
        raise ValueError(f"{names} cannot be read: {error}") from error
    return features, labels.astype(np.int64)
