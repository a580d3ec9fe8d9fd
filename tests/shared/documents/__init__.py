"""Tests of the documents this service makes."""
