"""Finds where within a message an error begins to speak, so that patterns hold on to beginnings.

A phrase inside a value of data is no beginning, and must not become one.
"""

import re

MOST = 14
WIDTH = 800
INNER = 500
REACH = 600

_OPENING = re.compile(
    r"^(?:E|\*\*\*):? |^[\[(]{1,2}[\"']|^##\[error\]|^(?:npm|yarn) (?:ERR!|error) "
    r"|(?<![\w.])[A-Za-z][\w.]{0,80}(?:[Ee]rror|Exception|Timeout|Disconnected|Failure)(?:\("
    r"|: {0,2})[\[(\"'b]{0,3}(?:\d{1,6}[,:] [\"']?)?"
    r"|\(Caused by |\((?:[A-Za-z_]\w{0,40}(?:\.\w{1,60}){1,8}|\w{1,80}(?:Error|Exception))\) {0,2}\(?(?:\d{1,6}[,:] {1,2}[\"']?)?"
    r"|^\(?(?:\d{1,6}|[0-9A-Z]{5})(?: \(\w{1,12}\))?(?: at line \d{1,8})?[,:] {1,2}b?[\"']?"
    r"|(?<=: )(?:pq|pgx|db error|mysql|sql|driver): (?:ERROR: {1,2})?|(?<=[:;] )(?:ERROR|FATAL): {1,2}"
    r"|(?P<told>\b(?:message|error|reason|errmsg|details|desc|description|str|M)[\"']? ?[:=] ?[\"'(]{1,2}"
    r"|\b(?:[Rr]eason|[Ee]rror|[Cc]ause)=|(?=\bAn error occurred \())"
    r"|(?P<colon>: {1,3}[\"']?(?:\(?\d{1,6}[,:)] {1,2}[\"']?)?|\n {0,8})"
)
_DATA_WORD = re.compile(
    r"\b(?:row|record|values?|field|column|col|cell|line|key|data|text|string|comment|note|input|payload|body|content|item|user"
    r"|subject|expected|got|valid|invalid|validation|validate|pars(?:e|ing|er)|reject(?:ed|s)?|assert(?:ion)?|said|says|quality)\b",
    re.IGNORECASE,
)


def statements(message: str) -> tuple[str, ...]:
    """Return the message from each place where it, or an error that it quotes, begins; each on one line."""
    text = message[: WIDTH + REACH]
    flat = " ".join(text.split("\n"))
    first_data = found.start() if (found := _DATA_WORD.search(flat, 0, REACH)) is not None else REACH
    starts = [0]
    for found in _OPENING.finditer(text, 0, REACH):
        own = found["told"] is None and found["colon"] is None
        if not own and (found.end() > first_data or (found["colon"] and text.count('"', 0, found.start()) % 2)):
            continue
        starts.append(found.end())
        if len(starts) >= MOST:
            break
    return (flat[:WIDTH], *(flat[start : start + INNER] for start in dict.fromkeys(starts) if start))
