"""`kernpack slim`: a wheel without the code for GPUs that its users don't have. Host code stays byte for byte, which is proved."""
