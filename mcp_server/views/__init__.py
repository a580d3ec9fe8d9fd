"""Result models and the functions that fill them from rows, one module for each noun of the tools."""
