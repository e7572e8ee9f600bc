"""Airflow 3 by its REST API: it is asked for reruns and pauses, and its runs are read by polling."""
