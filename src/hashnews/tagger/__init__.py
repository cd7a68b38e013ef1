"""Training of the tagger: hand-labelled tweets and silver-labelled news to a model directory.

A MiniLM encoder gets an embedding of case shapes and a BIO head and is trained whole. Posts are
written in lower case or shouted as often as not, so whole sentences change their case at random;
because the vocabulary is uncased, that touches the shapes only. A moving average of the weights
is what is measured and kept. A run can be stopped at any time and resumes after its last epoch.

This package needs torch and onnx: it is imported by the training command and nowhere else.
"""
