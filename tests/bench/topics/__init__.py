"""One module a topic. Each has `measure(kit) -> list[Row]`."""
