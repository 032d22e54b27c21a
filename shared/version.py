"""Which version of the application this is."""

APP_VERSION = "0.1.0"  # as in pyproject.toml
