"""Readers and writers: ARFF, svmlight, CSV and Parquet, plain or compressed."""
