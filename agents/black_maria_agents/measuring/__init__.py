"""Measuring on duplicate deals."""
