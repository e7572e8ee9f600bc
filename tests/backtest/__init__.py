"""The backtest: what was recorded, how it is played again, what is made of it."""
