"""The documentation site: Markdown of this tree and what is written from the code, built by zensical.

`python -m deploy.docs_site [FOLDER]` builds it into `FOLDER/site`. It needs a checkout and the extra `docs`.
"""
