"""Judges that grade documents: functions, programs and language models, their answers kept in a
cache.
"""
