"""The sandbox: what stands between a tool and the machine."""
