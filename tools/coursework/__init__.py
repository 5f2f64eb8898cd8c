"""The course: student versions of the assignments, and the grading of what comes back.

=============  ==========================================================================
``sources``    solution notebooks, the mistakes that their tests must catch, and what is secret
``trial``      the tests of an assignment without nbgrader: which cells fail, with which words
``preparing``  what nbgrader does to a submission before and while it is run
``feedback``   the page that a student gets back
``release``    student versions and their archive
``grading``    collect, grade, mark, export
=============  ==========================================================================

The first two need nothing beyond the book's packages; the others need nbgrader (extra ``course``).
"""
