"""Words by mail and by link, from the bytes of a mail to the record and the answer; nothing is sent, the outbox is looked at."""
