"""A reader's own copies of the notebooks: made, looked at, begun afresh, and never overwritten.

Only the standard library is imported here: the launcher makes copies before anything else is known to work.
"""
