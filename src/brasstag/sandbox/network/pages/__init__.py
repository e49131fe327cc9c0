"""Web pages as text, and the search engines that find them."""
