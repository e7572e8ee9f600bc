"""Policies files that several tests read."""

from pathlib import Path

ENV = {
    "AIRFLOW_TOKEN": "airflow-t0ken",
    "MAESTRO_QUEUE_URL": "https://queue.example.com/secret-queue",
    "INHOUSE_SECRET": "inhouse-s3cret",
}

SKETCH = Path(__file__).with_name("sketch.yaml").read_text()
