"""The course: student versions of the assignments, and the grading of what comes back.

=============  ==========================================================================
``sources``    solution notebooks, the mistakes that their tests must catch, and what is secret
``trial``      the tests of an assignment without nbgrader: which cells fail, with which words
``preparing``  what nbgrader does to a submission before and while it is run
``confined``   the process in which a submission runs
``guard``      what watches the tests inside it
``feedback``   the page that a student gets back
``reading``    which sections of the book it names
``release``    student versions and the archive for students
``grading``    collect, grade, mark, export
=============  ==========================================================================

``sources``, ``trial`` and ``guard`` need nothing beyond the book's packages; the others need
nbgrader (extra ``course``).
"""
