"""Connections to people's accounts elsewhere: connect, synchronise, export, disconnect."""
