"""Tasks judged by the rows that stand afterwards: what a person asks, the calls that do it and what must be told."""
