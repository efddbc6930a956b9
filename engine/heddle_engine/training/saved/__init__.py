"""What jobs leave on disk: checkpoints, snapshots and records, whole or not at all."""
