"""The options of `mfpg solve`, generated from cli/solve_options.def."""

COSTS: dict[str, list[str]]
NUMBERS: dict[str, tuple[str, str]]
