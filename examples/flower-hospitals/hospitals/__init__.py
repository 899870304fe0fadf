"""Hospitals that learn together: a logistic regression, made private on its way out."""
