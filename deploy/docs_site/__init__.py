"""The documentation site: Markdown of this tree and pages generated from the code, built by zensical.

`python -m deploy.docs_site [FOLDER]` builds it into `FOLDER/site`. It needs a checkout and the extra `docs`.
"""
