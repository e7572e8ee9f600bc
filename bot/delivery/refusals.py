"""What a mail server says of an address, as delivery must know it. It sends nothing and marks nothing."""

from bot.ports import SendFailed


class RecipientRefused(SendFailed):
    """The mail server will never take a mail for this address: nothing is wrong with the mail, the address leads nowhere."""

    def __init__(self, code: str) -> None:
        super().__init__(code, permanent=True)
