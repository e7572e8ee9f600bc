"""Plays against a real Airflow 3 on loopback: `make e2e-airflow`. No other run of the tests collects them."""
