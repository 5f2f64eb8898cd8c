"""nbgrader's settings for this course; ``make course`` and ``make grade`` use them.

For nbgrader's own commands and its Formgrader, ``make course`` leaves a file of the same name in
the course's folder, which loads this one.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from coursework.sources import STUB, TEXT_STUB

c = get_config()  # noqa: F821  (given by whoever loads this file)
c.CourseDirectory.course_id = "private-dynamics"
c.ClearSolutions.code_stub = {"python": STUB}
c.ClearSolutions.text_stub = TEXT_STUB

# A whole assignment takes some seconds: a cell that runs for a minute is lost, and interrupted.
c.Execute.timeout = 60
c.Execute.interrupt_on_timeout = True
c.Execute.iopub_timeout = 30
c.Execute.kernel_manager_class = "coursework.confined.ConfinedKernel"
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--IPKernelApp.log_level=40"]

c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "coursework.preparing.RestoreCells",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "coursework.preparing.RunSubmission",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# The page for the student shows neither tests nor outputs.
c.GenerateFeedback.preprocessors = ["nbgrader.preprocessors.GetGrades"]
c.GenerateFeedback.exporter_class = "coursework.feedback.StudentFeedback"
