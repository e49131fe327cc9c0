"""Programs that run confined and answer questions over data; nothing here is imported where calls are judged."""
