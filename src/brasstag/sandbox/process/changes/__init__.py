"""What a job changed in the workspace, read from its layer or its copy, and staged to be judged."""
