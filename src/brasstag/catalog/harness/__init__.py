"""The harness: runs the test cases of a proposal, and checks what comes out."""
