"""What programs do with their words: the subcommands they have, the commands they run, the damage they do."""
