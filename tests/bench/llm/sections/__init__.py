"""Each module measures one subject: measure(k, threads) gives its rows."""
