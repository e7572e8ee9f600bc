"""A report of delivery as mail systems write it, about a mail that came back. It judges nothing."""


def report(token: str | None, recipient: str, *, action: str = "failed", status: str = "5.1.1", to: str = "") -> bytes:
    """A report as mail systems write it, with the headers of the mail that came back."""
    returned = f"Message-ID: <ontrack+{token}@bot.example.com>\r\n" if token else "Subject: something\r\n"
    lines = [
        "Return-Path: <>",
        "From: Mail Delivery System <MAILER-DAEMON@mx.example.org>",
        f"To: {to or 'ontrack@bot.example.com'}",
        "Subject: Undelivered Mail Returned to Sender",
        "Auto-Submitted: auto-replied",
        f"Message-ID: <{token}.{recipient}.{action}@mx.example.org>",
        "MIME-Version: 1.0",
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b1"',
        "",
        "--b1",
        "Content-Type: text/plain",
        "",
        "The mail could not be delivered.",
        "--b1",
        "Content-Type: message/delivery-status",
        "",
        "Reporting-MTA: dns; mx.example.org",
        "",
        f"Final-Recipient: rfc822; {recipient}",
        f"Action: {action}",
        f"Status: {status}",
        "--b1",
        "Content-Type: text/rfc822-headers",
        "",
        returned,
        "--b1--",
        "",
    ]
    return "\r\n".join(lines).encode()
