"""Tables of the papers as data, in the papers' own order and units; ``-`` cells are None.

Data sets and methods that are not at hand are left out. Methods have the names that entries use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setwise.experiments.entry import Value

Row = Sequence[float | None]

#: Li 2016, Table 2 (Li 2019, Table 3.1), and Table 2 of the supplement, in per cent:
#: method -> set accuracy, Jaccard and Hamming loss on each data set
SETS_2016 = ("scene", "rcv1sub1", "tmc2007")
METHODS_2016: dict[str, tuple[Row, ...]] = {
    "BR": ((51.5, 40.4, 25.3), (58.4, 64.9, 52.2), (10.8, 1.4, 6.5)),
    "PowSet": ((68.1, 50.2, 28.2), (71.9, 67.2, 51.9), (9.5, 1.9, 6.8)),
    "CC": ((62.9, 48.2, 26.2), (67.5, 63.4, 52.4), (10.9, 1.6, 6.5)),
    "PCC": ((64.8, 48.3, 26.8), (69.4, 63.5, 52.8), (10.3, 1.6, 6.5)),
    "ECC-label": ((60.6, 46.5, 26.0), (65.6, 64.8, 52.1), (10.1, 1.4, 6.5)),
    "ECC-subset": ((63.1, 49.2, 25.9), (68.0, 67.4, 52.2), (10.3, 1.4, 6.5)),
    "CDN": ((59.9, 12.6, 16.8), (66.4, 50.9, 44.0), (10.9, 2.8, 8.5)),
    "pairCRF": ((68.8, 46.4, 28.1), (72.8, 64.6, 53.4), (9.2, 1.7, 6.5)),
    "CBM": ((69.7, 49.9, 28.7), (73.6, 69.5, 53.1), (8.9, 1.4, 6.7)),
    "BR boosted": ((59.3, 30.1, 25.4), (63.9, 55.8, 52.2), (8.3, 1.7, 6.7)),
    "PowSet boosted": ((70.5, 38.2, 23.1), (74.9, 51.3, 42.7), (8.6, 2.9, 9.0)),
    "CBM boosted": ((70.5, 43.0, 27.5), (75.2, 62.5, 52.8), (8.5, 1.8, 6.8)),
}

#: Li 2019, Tables 3.4, 3.5 and 3.6: measure -> decision -> CBM on each data set
DECISIONS_2019: dict[str, dict[str, Row]] = {
    "set_accuracy": {
        "set_accuracy": (0.6973, 0.4986, 0.2824),
        "f1": (0.5944, 0.4830, 0.2659),
        "hamming": (0.6279, 0.4730, 0.2724),
    },
    "instance_f1": {
        "set_accuracy": (0.7501, 0.7577, 0.6106),
        "f1": (0.7709, 0.7682, 0.6368),
        "hamming": (0.6762, 0.7406, 0.5993),
    },
    "hamming_loss": {
        "set_accuracy": (0.0891, 0.0138, 0.0671),
        "f1": (0.1018, 0.0139, 0.0690),
        "hamming": (0.0877, 0.0137, 0.0657),
    },
}
#: Li 2019, Table 3.3: Hamming loss of binary relevance
HAMMING_BR_2019: Row = (0.1015, 0.0143, 0.0649)

#: Li 2019, Table 3.2, F1 in per cent: method -> decision -> on each data set
SETS_F1 = ("bibtex", "ohsumed", "rcv1sub1")
F1_2019: dict[str, dict[str, Row]] = {
    "BR": {"f1": (48.1, 71.0, 76.1), "set_accuracy": (39.8, 63.6, 73.8)},
    "CRF": {"f1": (49.5, 70.5, 76.1), "set_accuracy": (46.5, 66.4, 74.4)},
    "CBM": {"f1": (50.4, 72.6, 78.7), "set_accuracy": (45.3, 69.5, 77.3)},
    "LIFT": {"f1": (31.5, 54.4, 70.2)},
    "SPEN": {"f1": (39.0, 61.7, 65.3)},
    "PDSparse": {"f1": (40.7, 67.3, 75.0)},
    "CFT": {"f1": (23.5, None, 53.5)},
    "CLEMS": {"f1": (42.5, 52.6, 72.4)},
    "LSF": {"f1": (43.9, 65.0, 73.6)},
}

#: Li 2019, Table 3.7, seconds on 48 threads: method -> training, then prediction; "<1" as 1
TIMES_2019: dict[str, tuple[Row, Row]] = {
    "BR": ((2, 19, 26), (1, 1, 1)),
    "PowSet": ((35, 3147, 38037), (1, 1, 1)),
    "CC": ((3, 509, 332), (1, 1, 1)),
    "PCC": ((3, 509, 332), (1, 3, 1)),
    "ECC-label": ((22, 4915, 3404), (1, 27, 15)),
    "ECC-subset": ((22, 4915, 3404), (1, 26, 18)),
    "CDN": ((4, 18417, 54253), (45, 213433, 596228)),
    "pairCRF": ((11, 2136, 215), (1, 1, 1)),
    "CBM": ((24, 182, 393), (1, 1, 1)),
}

#: Li 2019, Table 4.3, in per cent: method -> set accuracy, F1 on each data set
SETS_RERANK = ("bibtex", "ohsumed", "rcv1sub1", "tmc2007")
RERANK_2019: dict[str, tuple[Row, Row]] = {
    "BR": ((16.6, 36.6, 44.5, 30.4), (35.9, 62.9, 77.0, 65.8)),
    "BR-rerank": ((21.5, 42.0, 53.2, 33.3), (42.2, 67.5, 78.8, 66.8)),
    "2BR": ((16.1, 37.5, 42.3, 32.1), (36.7, 62.9, 77.5, 67.9)),
    "DBR": ((20.2, 37.6, 45.8, 31.7), (40.1, 61.5, 72.8, 66.1)),
    "CBM": ((22.9, 40.5, 55.3, 30.8), (45.3, 67.2, 80.3, 65.2)),
    "CRF": ((23.3, 40.4, 53.8, 28.2), (46.2, 65.6, 75.0, 64.4)),
    "SPEN": ((14.8, 29.1, 27.5, 26.7), (38.6, 58.8, 66.5, 66.2)),
    "PDSparse": ((16.1, 34.8, 40.8, 23.4), (40.4, 66.4, 76.7, 64.0)),
    "DVN": ((16.2, 18.6, 13.7, 20.3), (47.3, 60.0, 36.3, 65.5)),
    "PC": ((20.3, 29.5, 39.7, 23.0), (47.5, 60.5, 71.7, 61.7)),
    "PCC boosted": ((21.4, 38.0, 48.7, 31.3), (40.9, 61.7, 75.6, 64.9)),
    "RAkEL": ((18.3, 39.3, 46.0, 27.6), (38.3, 62.3, 76.1, 63.6)),
    "ML-kNN": ((8.4, 25.4, 46.2, 18.9), (23.0, 48.6, 72.3, 52.2)),
}
#: Li 2019, Table 4.4: seconds of training on 56 cores
RERANK_TIMES_2019: dict[str, Row] = {
    "BR": (4, 3, 7, 8),
    "BR-rerank": (9, 6, 10, 11),
    "CBM": (64, 210, 70, 224),
    "CRF": (353, 268, 1223, 771),
}

#: Li 2019, Tables E.3 and E.4, in per cent: calibrator -> set accuracy, F1 on SETS_RERANK
CALIBRATORS_2019: dict[str, tuple[Row, Row]] = {
    "boosting": ((21.5, 42.0, 53.2, 33.3), (42.2, 67.5, 78.8, 66.8)),
    "boosting, monotone": ((22.1, 41.9, 52.7, 32.9), (43.1, 67.2, 78.6, 66.6)),
    "boosting by KL": ((21.1, 41.1, 51.8, 33.0), (41.8, 66.8, 78.2, 66.4)),
    "boosting by KL, monotone": ((22.1, 41.4, 52.2, 33.1), (42.4, 67.1, 78.2, 66.5)),
}

#: Hong 2015, Tables 3 and 4: mean and deviation of each method over ten folds
METHODS_2015 = ("BR", "CTBN", "CC", "PCC", "ECC", "EPCC", "MCTBN", "MCC")
_EXACT_MATCH = """\
scene    .542±.028 .624±.035 .694±.023 .701±.028 .658±.027 .681±.030 .645±.028 .708±.028
emotions .265±.056 .334±.065 .341±.061 .343±.073 .288±.086 .344±.072 .370±.063 .356±.062
flags    .139±.042 .155±.069 .196±.067 .191±.075 .212±.089 .222±.062 .216±.063 .227±.071
yeast    .151±.024 .195±.026 .220±.027 .242±.023 .204±.024 .219±.015 .218±.025 .259±.026
medical  .641±.075 .667±.079 .688±.056 -         .701±.035 -         .712±.065 .711±.055
enron    .173±.024 .184±.016 .197±.032 -         .181±.030 -         .196±.023 .192±.026
"""
_CLL_LOSS = """\
scene    343.6±22.5 287.2±16.4 371.8±32.3 230.1±15.6 -         -         277.8±12.0 234.2±18.4
emotions 153.9±10.7 135.8±8.6 155.2±10.1 130.1±10.1 -         -         134.2±9.9 132.0±10.0
flags    68.6±11.5 66.5±11.2 80.9±19.7 57.6±11.4 -         -         66.6±12.1 66.3±9.1
yeast    1502.4±45.1 1075.3±46.5 2233.4±126.4 932.1±72.6 -         -         1077.5±52.7 915.7±38.6
medical  155.9±25.2 145.4±23.8 152.7±35.6 -         -         -         133.3±34.8 140.6±36.6
enron    1441.3±85.7 1316.4±78.6 1230.9±72.4 -         -         -         1127.4±63.8 1156.2±71.3
"""


def _with_deviations(text: str, measure: str, where: str) -> dict[tuple[str, ...], Value]:
    """(data set, method, measure) -> value, where, deviation."""
    found: dict[tuple[str, ...], Value] = {}
    for line in text.splitlines():
        data, *row = line.split()
        for method, cell in zip(METHODS_2015, row, strict=True):
            if cell != "-":
                mean, spread = cell.split("±")
                found[data, method, measure] = (float(mean), where, float(spread))
    return found


HONG_2015 = _with_deviations(_EXACT_MATCH, "set_accuracy", "Hong 2015, Table 3") | _with_deviations(
    _CLL_LOSS, "cll_loss", "Hong 2015, Table 4"
)


def cells(
    datasets: Sequence[str],
    rows: Mapping[Any, Row],
    key: Any,
    where: str,
    per_cent: bool = False,
) -> dict[tuple[str, ...], Value]:
    """Published values of an entry; ``key`` makes what follows the data set from a row's name.

    >>> cells(("a", "b"), {"BR": (51.5, None)}, lambda method: (method, "x"), "T", per_cent=True)
    {('a', 'BR', 'x'): (0.515, 'T')}
    """
    return {
        (data, *key(name)): (round(value / 100, 6) if per_cent else value, where)
        for name, row in rows.items()
        for data, value in zip(datasets, row, strict=True)
        if value is not None
    }
