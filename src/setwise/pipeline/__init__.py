"""FROM A FILE TO SETS: tables in, label sets with confidence out, as one object that is stored.

| file | what |
|---|---|
| table.py, read_rows.py, write_rows.py, parquet.py, in_order.py | rows of files, some at a time |
| cells.py, roles.py, encoders.py, table_encoder.py | columns as features |
| label_columns.py, grouping.py | columns as labels, and as groups of rows |
| settings.py, build.py, fitting.py | what to fit, and fitting it |
| candidates.py, choose.py, judging.py | what "auto" compares, and by what |
| compared.py, averaging.py, reranking.py | and how it chooses |
| named_sets.py | models that name sets, given probabilities |
| table_model.py | the fitted whole |
| auto_model.py, row_scale.py | the same for features and label sets as arrays |
| evaluation.py, bootstrap.py, reasons.py | how good it is, and why it says what it says |
"""

from setwise.pipeline.auto_model import AutoModel
from setwise.pipeline.fitting import fit_table
from setwise.pipeline.read_rows import Reading, read_table, tables_of
from setwise.pipeline.settings import FitSettings, read_settings
from setwise.pipeline.table import Table
from setwise.pipeline.table_model import Predictions, TableModel, load_model
from setwise.pipeline.write_rows import rows_to

__all__ = [
    "AutoModel",
    "FitSettings",
    "Predictions",
    "Reading",
    "Table",
    "TableModel",
    "fit_table",
    "load_model",
    "read_settings",
    "read_table",
    "rows_to",
    "tables_of",
]
