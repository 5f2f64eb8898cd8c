"""dpdynamics: the shared library of the book *Private Dynamics*.

Three floors of rooms; a room imports only rooms on lower floors:

1. :mod:`~dpdynamics.problems` (what is trained) and
   :mod:`~dpdynamics.accounting` (what a release costs);
2. :mod:`~dpdynamics.dynamics` (how iterates move);
3. :mod:`~dpdynamics.verification` (claims, checks, controls, verdicts) and
   :mod:`~dpdynamics.display` (figures, explorers).

All of them stand on :mod:`~dpdynamics.arguments`, the checks of arguments and the form of results.
"""

__version__ = "0.2.0"
