"""Search: queries, ranking, snippets and the index behind them."""
