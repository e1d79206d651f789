"""Runs on this host: prepared, executed trial by trial, journaled and recorded."""
