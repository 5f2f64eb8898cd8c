"""The book on paper: its pages joined into one document, printed, finished and checked.

``assemble``  joins the rendered pages of ``_build/html`` in the order of the table of contents;
``typeset``   lets a headless Chromium set the formulas and print, twice, for the page numbers;
``finish``    adds bookmarks and metadata and takes out what differs between two prints;
``check``     opens a PDF and compares it with the pages it was made from.
"""
