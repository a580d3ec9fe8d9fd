"""Tests of the rules that need neither storage nor network."""
