"""The DAG files of the company that is played, as their authors would write them. Texts only; nothing is run here.

What goes wrong in them goes wrong in the run of the day, `TODAY`; the run of the day before is good, so that Airflow and
ontrack know what is usual. Files in `PLACE` are the world around them.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

HEAD = """
import time
from datetime import datetime
from pathlib import Path

from airflow.sdk import Asset, dag, get_current_context, task

PLACE = Path({place!r})
TODAY = datetime.fromisoformat({today!r})
LEDGER = Asset("ledger")
SETTINGS = {{"start_date": datetime.fromisoformat({start!r}), "max_active_runs": 1, "default_args": {{"owner": "finance"}}}}


def is_today():
    return get_current_context()["logical_date"] >= TODAY


def wait_for(name):
    while not (PLACE / name).exists():
        time.sleep(0.2)

"""

FLAKY = """
@dag(dag_id="finance.flaky", schedule={cron!r}, catchup=True, **SETTINGS)
def flaky():
    @task
    def fetch():
        met = PLACE / "flaky.met"
        if is_today() and not met.exists():
            met.touch()
            raise ConnectionResetError(104, "Connection reset by peer")

    fetch()


flaky()
"""

MART = """
@dag(dag_id="finance.mart", schedule={cron!r}, catchup=True, **SETTINGS)
def mart():
    @task
    def load():
        met = PLACE / "mart.met"
        if is_today() and not met.exists():
            met.touch()
            raise ConnectionResetError(104, "Connection reset by peer")
        if is_today():
            (PLACE / "mart.runs").touch()
            wait_for("mart.go")

    load()


mart()
"""

BROKEN_LINE = 'amounts = [row["amount"] for row in rows]'
MENDED_LINE = 'amounts = [row["amount_eur"] for row in rows]'
LEDGER = """
@dag(dag_id="finance.ledger", schedule={cron!r}, catchup=True, **SETTINGS)
def ledger():
    @task(outlets=[LEDGER])
    def book():
        rows = [{{"amount_eur": 1}}] if is_today() else [{{"amount": 1, "amount_eur": 1}}]
        amounts = [row["amount"] for row in rows]
        print(sum(amounts))

    book()


ledger()
"""
CHECKED = """
    @task
    def check():
        print("the books are in balance")

    book() >> check()
"""

PACK = """
@dag(dag_id="board.pack", schedule=[LEDGER], **SETTINGS)
def pack():
    @task
    def print_it():
        wait_for("pack.go")

    print_it()


pack()
"""

PRICES = """
@dag(dag_id="finance.prices", schedule={cron!r}, catchup=True, **SETTINGS)
def prices():
    @task
    def compare():
        if is_today():
            raise ValueError("price of article 4711 is negative")

    compare()


prices()
"""

RATES = """
@dag(dag_id="finance.rates", schedule={cron!r}, catchup=True, **SETTINGS)
def rates():
    @task
    def read():
        if is_today():
            (PLACE / "rates.csv").read_text()

    read()


rates()
"""

CLOSE = """
@dag(dag_id="finance.close", schedule={cron!r}, catchup=False, **SETTINGS)
def close():
    @task
    def lock():
        if is_today():
            wait_for("close.go")

    lock()


close()
"""

STOCK = """
@dag(dag_id="finance.stock", schedule={cron!r}, catchup=False, **SETTINGS)
def stock():
    @task
    def count():
        print(get_current_context()["data_interval_end"])

    count()


stock()
"""

NAMES: Mapping[str, str] = {
    "finance.flaky": FLAKY,
    "finance.mart": MART,
    "finance.ledger": LEDGER,
    "board.pack": PACK,
    "finance.prices": PRICES,
    "finance.rates": RATES,
    "finance.close": CLOSE,
    "finance.stock": STOCK,
}


def text_of(dag: str, *, place: Path, due: datetime) -> str:
    """The file of this DAG, which is due each day at the time of day of `due`."""
    values = {
        "place": str(place),
        "today": due.isoformat(),
        "start": (due - timedelta(days=1, minutes=1)).isoformat(),
        "cron": f"{due.minute} {due.hour} * * *",
    }
    return (HEAD + NAMES[dag]).format(**values)


def mended(ledger: str) -> str:
    """The ledger's file as its owner leaves it: the column's new name, and one more task, which makes it a new version."""
    assert BROKEN_LINE in ledger

    return ledger.replace(BROKEN_LINE, MENDED_LINE).replace("\n    book()\n", CHECKED)
