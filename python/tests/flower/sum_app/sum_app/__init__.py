"""Sites that train as mfpg run does: what they send in secure sums must make the same model."""
