"""The network: what is fetched from the web, and from nowhere inside.

addresses   which addresses are public
locations   URLs, read once and strictly
headers     what a caller may say in a request
resolving   names into addresses
wire        one request, to exactly the addresses that were judged
inflating   compressed bodies, within a limit
guard       all of that in order, again for each redirect
texts       bytes as text
pages       HTML as Markdown, in a process of its own
engines     search engines
web         what a room hands to its tools

The client itself (httpcore2) is imported when something is fetched for the first time.
"""
