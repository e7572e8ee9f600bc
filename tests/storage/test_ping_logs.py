"""What runs wrote by `/log`: kept in order for each run, and dropped after a while."""

from datetime import UTC, datetime, timedelta

from storage.opening import SqlStorage

NOW = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)


def test_pieces_of_a_run_are_kept_in_their_order_and_apart_from_others(storage: SqlStorage) -> None:
    for text in ("one", "two"):
        storage.keep_log(job="cron/load", run_id="ping__a", text=text, at=NOW)
    storage.keep_log(job="cron/load", run_id="ping__b", text="other", at=NOW)
    storage.keep_log(job="cron/else", run_id="ping__a", text="else", at=NOW)

    assert storage.kept_log(job="cron/load", run_id="ping__a") == "one\ntwo"
    assert storage.kept_log(job="cron/load", run_id="ping__c") == ""


def test_old_pieces_are_dropped(storage: SqlStorage) -> None:
    storage.keep_log(job="cron/load", run_id="old", text="old", at=NOW - timedelta(days=8))
    storage.keep_log(job="cron/load", run_id="new", text="new", at=NOW)

    assert storage.prune_logs(now=NOW, lasts=timedelta(days=7)) == 1
    assert storage.kept_log(job="cron/load", run_id="old") == ""
    assert storage.kept_log(job="cron/load", run_id="new") == "new"
