"""The workspace as one call sees it: the disk, with what the call has staged on top."""
