"""What a job is trained on: lines of its data file, and the token ids of what was sampled."""
