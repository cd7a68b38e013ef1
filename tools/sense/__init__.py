"""The parts of `tools/build_models.py`."""
