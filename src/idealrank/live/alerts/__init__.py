"""Alarms of a monitor: rules that read rounds, states that open and close alarms, and channels that
carry the messages.
"""
