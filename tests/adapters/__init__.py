"""What goes out to chat and mail, against peers on loopback that misbehave on purpose."""
