"""Property tests are unhurried (the machine may be shared) and the same on every run."""

import hypothesis

hypothesis.settings.register_profile("unhurried", deadline=None, derandomize=True)
hypothesis.settings.load_profile("unhurried")
