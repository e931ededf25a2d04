"""When jobs will start: futures of a moment played many times, and how good that is."""

from forebay._predict._answer import Prediction
from forebay._predict._predict import predict
from forebay._predict._reliability import Reliability, reliability

__all__ = ["Prediction", "Reliability", "predict", "reliability"]
