"""What a confined program says to its door, as source that runs inside."""

ASKING = '''
import http.client, urllib.error, urllib.request
def fetch(url):
    return urllib.request.urlopen(url, timeout=20).read().decode()
def knock(text):
    """Say something to the door itself, and return the first line of what it answers."""
    with socket.create_connection(("127.0.0.1", 3128), 20) as end:
        end.sendall(text.encode("latin-1"))
        return end.makefile("rb").readline().decode().strip()
def tunnel(place):
    line = knock(f"CONNECT {place} HTTP/1.1\\r\\n\\r\\n")
    if " 200 " not in line:
        raise PermissionError(line)
    return line
'''
