"""Real mail servers on loopback for the tests, and the people who read and answer what comes through them. No test is here."""
