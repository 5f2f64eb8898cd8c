"""The command ``dpdynamics`` (:mod:`dpdynamics.desk.command`) as ``python -m dpdynamics``."""

import sys

from .desk.command import main

if __name__ == "__main__":
    sys.exit(main())
