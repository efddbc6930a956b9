"""An engine as servers on other machines reach it: files by their content, base models by what this machine has."""
