"""Sphinx extension: the links that exist only once the book is published somewhere.

The address is given once, as ``[project.urls] Repository`` in ``pyproject.toml``; the environment
variable ``BOOK_REPOSITORY`` replaces it for one build. With an address every page gets links to
the repository, to its own source ("suggest edit") and to the issues, and every notebook gets
launch buttons: Binder, Colab (GitHub only), and a JupyterHub when ``[project.urls] JupyterHub``
names one. Without an address there is none of them, so no link is dead.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

FORGES = ("github", "gitlab", "bitbucket")
BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"


def published_urls(root: Path) -> dict[str, str]:
    """``[project.urls]`` of a book's ``pyproject.toml``, with the environment's replacement."""
    file = root / "pyproject.toml"
    project = tomllib.loads(file.read_text("utf-8"))["project"] if file.is_file() else {}
    urls = {key: url.strip().rstrip("/") for key, url in project.get("urls", {}).items()}
    if "BOOK_REPOSITORY" in os.environ:
        urls["Repository"] = os.environ["BOOK_REPOSITORY"].strip().rstrip("/")
    return urls


def theme_options(address: str, hub: str = "") -> dict[str, Any]:
    """Options of the theme for ``https://HOST/OWNER/REPOSITORY``; none for an empty address."""
    if not address:
        return {}
    scheme, _, rest = address.partition("://")
    host, *path = rest.split("/")
    if scheme not in {"https", "http"} or not host or len(path) < 2 or not all(path):
        raise ConfigError(
            "[project.urls] Repository in pyproject.toml must be "
            f"https://HOST/OWNER/REPOSITORY, got {address!r}"
        )
    if not any(forge in host for forge in FORGES):  # links to one page differ from forge to forge
        link = {"name": "Repository", "url": address, "icon": "fa-solid fa-code-branch"}
        return {"icon_links": [link]}
    launch = {"notebook_interface": "jupyterlab", "binderhub_url": BINDER}
    if "github" in host:
        launch["colab_url"] = COLAB
    if hub:
        launch["jupyterhub_url"] = hub
    return {
        "repository_url": address,
        "repository_branch": "main",
        "use_repository_button": True,
        "use_edit_page_button": True,
        "use_issues_button": True,
        "launch_buttons": launch,
    }


def set_theme_options(app: Sphinx, config: Config) -> None:
    """Add the options to the theme's, unless the configuration sets them itself."""
    urls = published_urls(Path(app.confdir))
    given = {**config.html_theme_options}
    extra = theme_options(urls.get("Repository", ""), urls.get("JupyterHub", ""))
    config.html_theme_options = {**given, **extra}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("config-inited", set_theme_options)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
