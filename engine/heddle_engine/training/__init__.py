"""Jobs and their gradient steps, on what the folders beside this file hold."""
