"""The network: what is fetched from the web, and from nowhere inside.

addresses   which addresses are public
locations   URLs, read once and strictly
headers     what a caller may say in a request
resolving   names into addresses
dialling    the first of them that answers
wire        one request, to exactly the addresses that were judged
inflating   compressed bodies, within a limit
guard       all of that in order, again for each redirect
texts       bytes as text
pages       HTML as Markdown, in a process of its own
engines     search engines
web         what a room hands to its tools
door        the way out for a confined run, to the hosts it was granted
asking      what the run asks of it
relaying    bytes, both ways
passages    who was reached, who was not, and how much may go through

The client itself (httpcore2) is imported when something is fetched for the first time.
"""
