"""The scan: the workspace is compared with what is known of it, and each difference is recorded."""
