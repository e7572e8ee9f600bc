"""Mail from end to end over real servers: out by SMTP, read and answered by people, back by IMAP."""
