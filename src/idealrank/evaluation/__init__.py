"""What measures say of a run: values by query, what they cover, the hits behind them; and how alike two runs are."""
