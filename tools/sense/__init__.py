"""The parts of `tools/build_sense.py`."""
