"""The engine: advances State and Truth from instant to instant, and applies what a policy decides."""
