"""Pages of results: facts first, then Markdown and HTML made of them."""
