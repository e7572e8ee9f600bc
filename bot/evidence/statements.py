"""Finds where within a message an error begins to speak, so that patterns hold on to beginnings.

A phrase inside a value of data is no beginning, and must not become one.
"""

import re

MOST = 8
WIDTH = 800
REACH = 600

_OPENING = re.compile(
    r"^(?:E|npm ERR!|curl|psql|git|\*\*\*):? "
    r"|"
    r"[A-Za-z][\w.]{0,80}(?:[Ee]rror|Exception|Timeout|Disconnected|Failure)(?:\("
    r"|: {0,2})[\[(\"'b]{0,3}(?:\d{1,6}[,:] [\"']?)?"
    r"|\(Caused by |\([\w.]{1,80}(?:Error|Exception)\) {0,2}\(?(?:\d{1,6}[,:] {1,2}[\"']?)?"
    r"|\b(?P<words>(?:[\w'-]{1,30} ){0,6}(?:[Ee]rrors?|ERROR|FATAL|[Ff]atal|[Ff]ailed|FAILED|[Ff]ailure"
    r"|[Ee]xception|[Rr]eason|[Cc]aused? by|daemon|interrupted by an unexpected exception)"
    r"(?: [\w'-]{1,30}){0,4})(?: code)?(?:: {1,3}|=)[\"']?(?:\(?\d{1,6}[,:] {1,2}[\"']?)?"
    r"|^\(?(?:\d{1,6}|[0-9A-Z]{5})(?: \(\w{1,12}\))?(?: at line \d{1,8})?[,:] {1,2}b?[\"']?"
    r"|(?<=: )(?:pq|pgx|db error|mysql|sql|driver): (?:ERROR: {1,2})?|(?<=: )(?=(?:ERROR|FATAL): )"
)
_DATA_WORD = re.compile(
    r"\b(?:row|record|values?|field|column|col|cell|line|key|data|text|string|comment|note|input|payload|body|content|item|user"
    r"|subject|expected|got|valid|invalid|validation|validate|pars(?:e|ing|er)|reject(?:ed|s)?|assert(?:ion)?|said|says|quality)\b",
    re.IGNORECASE,
)


def statements(message: str) -> tuple[str, ...]:
    """Return the message from each place where it, or an error that it quotes, begins; each on one line."""
    flat = " ".join(message[: WIDTH + REACH].split("\n"))
    first_line = min(message.find("\n") % (REACH + 1), REACH) if "\n" in message else REACH
    starts = [0]
    for found in _OPENING.finditer(flat, 0, max(first_line, 1) + 1 if first_line < REACH else REACH):
        if found["words"] is not None and _DATA_WORD.search(flat, 0, found.end()):
            continue
        starts.append(found.end())
        if len(starts) >= MOST:
            break
    return tuple(flat[start : start + WIDTH] for start in dict.fromkeys(starts))
