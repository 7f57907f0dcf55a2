"""`kernpack demo`: compiles a kernel, calls it from each installed framework, and times it beside the framework's own way."""
