"""Checks of what people watch: route monitors, flight and delay alerts, hotel prices, standing orders."""
