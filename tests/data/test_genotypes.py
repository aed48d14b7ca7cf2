"""Genotypes: the counts of a PLINK file in blocks of columns, named and aligned by variant and allele."""

import os
import pickle
import sys
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eigenwood.data.blocks import blocks
from eigenwood.data.genotypes import BLOCK_BYTES, default_block_variants, genotypes
from eigenwood.errors import MissingExtraError, TableError
from tests.models.crafting import assert_one_sentence

bed_reader = pytest.importorskip("bed_reader", reason="needs bed-reader: pip install 'eigenwood[genetics]'")

N_PEOPLE, N_VARIANTS = 13, 29  # neither fills its last byte
LETTERS = np.array(["A", "C", "G", "T"])


def counts(n_people=N_PEOPLE, n_variants=N_VARIANTS, seed=0):
    """Return random counts, some of them missing."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n_people, n_variants)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def write(path, X, **properties):
    """Write counts as a PLINK file; variant j counts the letter j and has the next letter as its other allele."""
    n_people, n_variants = X.shape
    letters = np.arange(n_variants) % 4
    described = {
        "iid": [f"P{i}" for i in range(n_people)],
        "sid": [f"rs{j}" for j in range(n_variants)],
        "allele_1": LETTERS[letters],
        "allele_2": LETTERS[letters - 1],
    }
    bed_reader.to_bed(path, X, properties=described | properties)
    return path


@pytest.fixture
def study(tmp_path):
    return write(tmp_path / "study.bed", counts())


# --- reading -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_variants", [1, 7, N_VARIANTS, 500, None])
def test_every_block_width_gives_the_same_counts(study, block_variants):
    stream = genotypes(study, block_variants=block_variants)
    width = stream.block_variants
    for _ in range(2):  # each loop starts again at the first variant
        got = list(stream)
        assert [block.shape[1] for block in got[:-1]] == [width] * (len(got) - 1)
        assert all(0 < block.shape[1] <= width for block in got)
        assert all(block.flags.c_contiguous and block.dtype == np.float32 for block in got)
        assert_array_equal(np.hstack(got), counts())
    assert stream.shape == (stream.n_people, stream.n_variants) == (N_PEOPLE, N_VARIANTS)
    assert stream.dtype == np.float32


def test_a_column_is_named_by_its_variant_and_the_counted_allele(study):
    stream = genotypes(str(study))
    assert stream.people[:2] == ("P0", "P1")
    assert stream.columns[:5] == ("rs0_A", "rs1_C", "rs2_G", "rs3_T", "rs4_A")


def test_the_counted_allele_is_the_first_of_the_bim_file(tmp_path):
    """By the bits of PLINK's own description: 00 twice A1, 01 missing, 10 once, 11 twice A2; first person lowest."""
    (tmp_path / "four.bed").write_bytes(b"\x6c\x1b\x01" + bytes([0b11_10_01_00]))
    (tmp_path / "four.bim").write_text("1 rs7 0 100 T C\n")
    (tmp_path / "four.fam").write_text("".join(f"f{i} i{i} 0 0 0 -9\n" for i in range(4)))
    stream = genotypes(tmp_path / "four.bed")
    assert stream.columns == ("rs7_T",)
    assert_array_equal(next(iter(stream)), [[2], [np.nan], [1], [0]])


@pytest.mark.parametrize("people", [[4], [12, 0, 5], np.array([3, 3, 1], dtype=np.uint8), range(2, 9)])
def test_people_by_place(study, people):
    stream = genotypes(study, people=people, block_variants=10)
    assert stream.people == tuple(f"P{i}" for i in people)
    assert_array_equal(np.hstack(list(stream)), counts()[list(people)])


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda ids: np.array(ids, dtype=object)])
def test_people_by_id(study, make):
    stream = genotypes(study, people=make(["P11", "P2"]))
    assert stream.people == ("P11", "P2")
    assert stream.shape == (2, N_VARIANTS)
    assert_array_equal(np.hstack(list(stream)), counts()[[11, 2]])


def test_words_that_confuse_readers_of_text(tmp_path):
    """Ids may hold #, alleles may be long; fields may be cut by blanks, and .fam may have more phenotypes."""
    path = write(tmp_path / "odd.bed", counts(2, 2))
    path.with_suffix(".bim").write_text(f"1 rs#1 0 5 {'ACGT' * 50} A\n\n1  rs_2_x\t0 6 <DEL> G\n")
    path.with_suffix(".fam").write_text("f #1 0 0 0 -9 1.5 7\nf Ä2 0 0 0 -9 2.5 8\n")
    stream = genotypes(path, people=["Ä2"])
    assert stream.columns == ("rs#1_" + "ACGT" * 50, "rs_2_x_<DEL>")
    assert_array_equal(next(iter(stream.aligned(["rs_2_x_G"]))), 2 - counts(2, 2)[1:, 1:])


def test_two_loops_at_once_and_a_copy_in_another_process(study):
    stream = genotypes(study, block_variants=5)
    for first, second in zip(stream, pickle.loads(pickle.dumps(stream)), strict=True):
        assert_array_equal(first, second)
        first[:] = -1  # blocks are copies
    assert_array_equal(np.hstack(list(stream)), counts())


# --- memory ------------------------------------------------------------------------------------------


def test_only_a_block_is_read_at_a_time(study, monkeypatch):
    read = bed_reader.open_bed.read
    shapes = []

    def watched(self, *args, **kwargs):
        block = read(self, *args, **kwargs)
        shapes.append(block.shape)
        return block

    monkeypatch.setattr(bed_reader.open_bed, "read", watched)
    stream = genotypes(study, block_variants=10)
    assert shapes == []
    next(iter(stream))
    assert shapes == [(N_PEOPLE, 10)]
    list(stream.aligned(stream.columns[::-1]))
    assert shapes[1:] == [(N_PEOPLE, 10), (N_PEOPLE, 10), (N_PEOPLE, 9)]


def test_memory_is_bounded_by_the_block(tmp_path):
    n_people, n_variants, width = 1_001, 4_000, 100
    path = write(tmp_path / "wide.bed", counts(n_people, n_variants))
    others = [f"rs{j}_{LETTERS[j % 4 - 1]}" for j in range(n_variants)]
    stream = genotypes(path, block_variants=width).aligned(others)
    tracemalloc.start()
    for block in stream:
        assert block.shape[1] <= width
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert block.nbytes < peak < 3 * block.nbytes  # the block given out and the next one


def test_the_default_block_fits_the_budget_and_is_never_empty(study):
    assert genotypes(study).block_variants == BLOCK_BYTES // (4 * N_PEOPLE)
    assert genotypes(study, people=[1, 2]).block_variants == BLOCK_BYTES // 8
    assert default_block_variants(50_000_000) == 1


# --- alignment ---------------------------------------------------------------------------------------


def test_aligned_puts_variants_in_order_and_swaps_where_the_other_allele_is_counted(tmp_path, study):
    """The same people in a second file, variants in another order, every third with its alleles swapped."""
    order = np.random.default_rng(1).permutation(N_VARIANTS)
    swapped = order % 3 == 0
    X = counts()[:, order]
    X[:, swapped] = 2 - X[:, swapped]
    first, second = LETTERS[order % 4], LETTERS[order % 4 - 1]
    other = write(
        tmp_path / "other.bed",
        X,
        sid=[f"rs{j}" for j in order],
        allele_1=np.where(swapped, second, first),
        allele_2=np.where(swapped, first, second),
    )
    wanted = genotypes(study).columns
    stream = genotypes(other, block_variants=4).aligned(wanted)
    assert stream.columns == wanted
    assert next(iter(stream)).shape == (N_PEOPLE, 4)
    assert_array_equal(np.hstack(list(stream)), counts())
    back = stream.aligned(genotypes(other).columns)  # from the file, whatever was picked before
    assert_array_equal(np.hstack(list(back)), X)


def test_aligned_takes_some_columns_and_both_alleles_of_a_variant(study):
    stream = genotypes(study, people=["P3", "P1"]).aligned(["rs5_C", "rs0_A", "rs5_A"])
    assert stream.shape == (2, 3)
    X = counts()[[3, 1]]
    assert_array_equal(next(iter(stream)), np.column_stack([X[:, 5], X[:, 0], 2 - X[:, 5]]))


def test_strands_are_not_guessed(tmp_path, study):
    """A, T against T, A is a swap at its word; A, G against T, C (the other strand) is absent."""
    path = write(tmp_path / "strand.bed", counts(3, 2), allele_1=["T", "T"], allele_2=["A", "C"])
    stream = genotypes(path)
    assert_array_equal(next(iter(stream.aligned(["rs0_A"]))), 2 - counts(3, 2)[:, :1])
    with pytest.raises(TableError, match="got none for 1, the first is 'rs1_A'"):
        stream.aligned(["rs1_A"])


def test_a_variant_with_one_allele_twice_counts_the_first(tmp_path):
    path = write(tmp_path / "empty.bed", counts(3, 1), allele_1=["0"], allele_2=["0"])
    assert_array_equal(next(iter(genotypes(path).aligned(["rs0_0"]))), counts(3, 1))


# --- as rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_rows", [1, 5, N_PEOPLE, 100, None])
def test_blocks_of_people(study, block_rows):
    stream = blocks(study, block_rows=block_rows)
    for _ in range(2):
        got = list(stream)
        assert all(len(block) == stream.block_rows for block in got[:-1])
        assert all(block.flags.c_contiguous and block.dtype == np.float32 for block in got)
        assert_array_equal(np.concatenate(got), counts())
    assert stream.columns == genotypes(study).columns
    assert (stream.n_rows, stream.n_columns, stream.dtype) == (N_PEOPLE, N_VARIANTS, np.float32)


def test_blocks_of_people_with_columns_and_dtype(study):
    stream = blocks(study, columns=["rs6_G", "rs0_A"], block_rows=4, dtype=np.float64)
    got = list(stream)
    assert {block.dtype for block in got} == {np.dtype(np.float64)}
    assert_array_equal(np.concatenate(got), counts()[:, [6, 0]])
    with pytest.raises(TableError, match=r"study.bed: column must be one of 'rs0_A'.*; got 'rs6_C'"):
        blocks(study, columns=["rs6_C"])


# --- errors ------------------------------------------------------------------------------------------


def sentence(function, *args, **kwargs):
    with pytest.raises(TableError) as caught:
        function(*args, **kwargs)
    assert_one_sentence(str(caught.value))
    return str(caught.value)


PEOPLE_ARE = "genotypes: people must be a list of places or of ids, not empty; got "


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"block_variants": 0}, "genotypes: block_variants must be an integer above 0; got 0."),
        ({"block_variants": 2.5}, "genotypes: block_variants must be an integer above 0; got 2.5."),
        ({"block_variants": True}, "genotypes: block_variants must be an integer above 0; got True."),
        ({"people": [0, 13]}, "genotypes: people must be places from 0 to 12; got 13."),
        ({"people": np.array([-1])}, "genotypes: people must be places from 0 to 12; got -1."),
        (
            {"people": ["P1", "PP10"]},
            "genotypes: people must be among the 13 ids of the file; got 'PP10' (did you mean 'P10'?).",
        ),
        ({"people": []}, PEOPLE_ARE + "[]."),
        ({"people": 3}, PEOPLE_ARE + "3."),
        ({"people": "P1"}, PEOPLE_ARE + "'P1'."),
        ({"people": [1.0]}, PEOPLE_ARE + "[1.0]."),
        ({"people": [1, "P1"]}, PEOPLE_ARE + "[1, 'P1']."),
        ({"people": [[1], [2, 3]]}, PEOPLE_ARE + "[[1], [2, 3]]."),
        ({"people": np.array([True, False])}, PEOPLE_ARE + "array([ True, False])."),
        ({"people": [None] * 99}, PEOPLE_ARE + "[" + "None, " * 9 + "None, …."),
    ],
)
def test_a_bad_option_is_one_sentence(study, options, expected):
    assert sentence(genotypes, study, **options) == expected


def test_an_id_that_two_people_have(tmp_path):
    path = write(tmp_path / "twins.bed", counts(3, 2), iid=["a", "b", "a"])
    assert genotypes(path, people=["b"]).people == ("b",)
    assert genotypes(path).people == ("a", "b", "a")
    assert sentence(genotypes, path, people=["b", "a"]) == (
        "genotypes: people must be places where an id is not unique; got 'a', which the file has 2 times."
    )


def test_columns_that_cannot_be_aligned(study):
    stream = genotypes(study)
    assert sentence(stream.aligned, ["rs0_A", "rs1_G", "rs99_A"]) == (
        "study.bed: must have a variant and an allele for each of the 3 columns; got none for 2, the first is 'rs1_G'."
    )
    assert sentence(stream.aligned, []) == "study.bed: must have at least one column; got none."
    assert sentence(stream.aligned, ["rs0_A", "rs0_A"]) == ("study.bed: column names must differ; got 'rs0_A' 2 times.")


def test_variants_with_one_id_are_refused_with_the_cure(tmp_path):
    path = write(tmp_path / "dots.bed", counts(3, 4), sid=["rs1", ".", ".", "."])
    expected = "dots.bim: ids of variants must differ (plink2 --set-all-var-ids makes new ones); got '.' 3 times."
    assert sentence(genotypes, path) == expected
    assert sentence(blocks, path) == expected


@pytest.mark.parametrize("read", [genotypes, blocks])
@pytest.mark.parametrize("ending", [".bed", ".bim", ".fam"])
def test_a_missing_file_is_named(study, ending, read):
    study.with_suffix(ending).unlink()
    assert sentence(read, study).startswith(f"study{ending}: must be an existing file; got nothing of that name in ")


@pytest.mark.parametrize("read", [genotypes, blocks])
def test_a_file_that_was_cut_or_belongs_to_others(study, read):
    whole = study.read_bytes()
    expected = "study.bed: must have 119 bytes for the 13 people of .fam and the 29 variants of .bim; got {}."
    study.write_bytes(whole[:-1])
    assert sentence(read, study) == expected.format(118)
    study.write_bytes(whole + b"\0")
    assert sentence(read, study) == expected.format(120)


@pytest.mark.parametrize(
    ("begin", "got"), [(b"", "none"), (b"\x6c\x1b", "6c1b"), (b"\x6c\x1b\x00", "6c1b00"), (b"chr1\t10\t20\n", "636872")]
)
def test_a_file_that_is_not_plinks_or_lies_person_by_person(study, begin, got):
    study.write_bytes(begin)
    assert sentence(genotypes, study) == (
        "study.bed: must be a PLINK 1 file that lies variant by variant, which begins with the bytes 6c1b01; "
        f"got {got}."
    )


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("study.bim", b"", "study.bim: must have at least one variant; got none."),
        ("study.fam", b"\n\n", "study.fam: must have at least one person; got none."),
        ("study.bim", b"1 rs1 0 1 A C\n1 rs2 0 1 A\n", "study.bim: row 2 must have 6 words; got 5."),
        ("study.fam", b"P1\n", "study.fam: row 1 must have 6 words; got 1."),
        ("study.fam", b"f \xff 0 0 0 0\n", "study.fam: row 1 must be UTF-8 text; got the byte 0xff."),
    ],
)
def test_bad_files_beside(study, name, content, expected):
    study.with_name(name).write_bytes(content)
    assert sentence(genotypes, study) == expected


def test_a_file_that_changes_between_two_blocks(study):
    loop = iter(genotypes(study, block_variants=10))
    next(loop)
    os.truncate(study, 50)
    assert sentence(next, loop).endswith(
        "must have 119 bytes for the 13 people of .fam and the 29 variants of .bim; got 50."
    )
    loop = iter(genotypes(write(study, counts())))
    study.unlink()
    assert sentence(next, loop).startswith("study.bed: must be an existing file; got nothing")


def test_without_bed_reader_the_cure_is_said(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "bed_reader", None)
    for read in (genotypes, blocks):
        with pytest.raises(MissingExtraError) as caught:
            read(study)
        assert_one_sentence(str(caught.value))
        assert str(caught.value) == (
            "genotypes: bed-reader must be installed to read .bed files; pip install 'eigenwood[genetics]'."
        )


# --- real people -------------------------------------------------------------------------------------


@pytest.mark.data
def test_hapmap3_and_the_1000_genomes(loaded):
    """The overlap file counts the other allele of 3,368 SNPs; it must give the same people the same genotypes."""
    data = loaded("hapmap3")
    people, overlap, guests = (genotypes(data.X[name]) for name in ("hapmap3", "hapmap3_overlap", "genomes_overlap"))
    assert people.shape == (957, 14_389)
    assert overlap.shape == (957, 14_079)
    assert guests.shape == (1_092, 14_079)
    assert people.people == tuple(data.row_labels["person"])

    same = people.aligned(overlap.columns)
    assert same.swapped.sum() == 3_368
    assert_array_equal(np.hstack(list(same)), np.hstack(list(overlap)))

    assert guests.columns != overlap.columns
    assert set(guests.columns) == set(overlap.columns)
    europeans = genotypes(data.X["hapmap3_overlap"], people=np.flatnonzero(data.y == "CEU"))
    visitors = np.flatnonzero(data.extras["genomes_populations"] == "CEU")
    again = genotypes(data.X["genomes_overlap"], people=visitors).aligned(europeans.columns)
    frequencies = [np.hstack([np.nanmean(block, axis=0) for block in stream]) for stream in (europeans, again)]
    assert np.corrcoef(frequencies)[0, 1] > 0.95
