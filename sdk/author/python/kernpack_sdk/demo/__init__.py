"""`kernpack demo`: a kernel is compiled and called from each framework that is installed, beside what the framework has for it."""
