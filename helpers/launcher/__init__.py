"""From a fresh clone to a running course: .venv, JupyterLab, the test run.

Only the standard library is imported here, since these modules run before anything is installed.
"""
