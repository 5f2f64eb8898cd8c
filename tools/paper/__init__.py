"""The book on paper: its pages joined into one document, printed, finished and checked.

``assemble``  makes chapters of the rendered pages of ``_build/html``, solutions at the end;
``typeset``   lets a headless Chromium set the formulas and print, twice, for the page numbers;
``finish``    joins the prints, adds bookmarks, and makes the file light and repeatable;
``check``     opens a PDF and compares it with the pages it was made from.
"""
