"""The paper's table made again with one command, and the judging of suggestions.

    cli/reproduce ─▶ results.reproduce ─▶ plan           which steps, from a dataset and settings
                                       ─▶ runner         runs each step once, in its own process
                                       │    └▶ actions, case_studies    what a step does
                                       └▶ suggestions, coverage, bootstrap    judge what was made
                  ─▶ write.write_results ─▶ results.summarise   results.json
                                         ─▶ tables, plots       README.md, tables.tex, figures
    cli/evaluate  ─▶ suggestions, bootstrap

`config` holds the settings, `paper` what the paper prints and claims.
"""
