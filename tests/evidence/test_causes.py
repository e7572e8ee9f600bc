"""Causes told apart: what passes by itself, and what stays, in the shapes in which each is met."""

import pytest

from bot.evidence import RetryHint, RuleSet
from tests.evidence.test_verdict import DIRECT, DURING, FRAMES, RESET, cause_of


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (FRAMES + RESET, "network.connection_reset"),
        (
            FRAMES + "psycopg.OperationalError: consuming input failed: SSL SYSCALL error: EOF detected",
            "network.connection_reset",
        ),
        (
            FRAMES
            + "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed "
            "connection without response'))",
            "network.connection_reset",
        ),
        (FRAMES + "socket.gaierror: [Errno -3] Temporary failure in name resolution", "network.dns_temporary"),
        (
            FRAMES + "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: https://x",
            "service.unavailable",
        ),
        (
            FRAMES + "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://x",
            "service.throttled",
        ),
        (
            FRAMES
            + "botocore.exceptions.ClientError: An error occurred (ThrottlingException) when calling the X operation: "
            + "Rate exceeded",
            "service.throttled",
        ),
        (
            FRAMES + "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) database is locked\n[SQL: INSERT]",
            "service.lock_conflict",
        ),
        (
            "ERROR 1213 (40001) at line 1: Deadlock found when trying to get lock; try restarting transaction\n",
            "service.lock_conflict",
        ),
        ('{"level":"error","msg":"loader failed","error":"pq: deadlock detected"}\n', "service.lock_conflict"),
        ("psql: error: connection failed: FATAL:  the database system is starting up\n", "service.database_restarting"),
        (
            FRAMES + "redis.exceptions.BusyLoadingError: Redis is loading the dataset in memory",
            "service.database_restarting",
        ),
        ("fatal: unable to access 'https://x/y.git/': The requested URL returned error: 503\n", "service.unavailable"),
        ("java.net.SocketException: Connection reset\n\tat java.net.X.read(X.java:210)\n", "network.connection_reset"),
        (
            "ERROR nextflow - Error executing process > 'A'\nCaused by:\n  Host EC2 (instance i-0abc) terminated.\n",
            "platform.spot_reclaimed",
        ),
        (
            "Query 2024_1 failed: No nodes available to run query\nerror code: NO_NODES_AVAILABLE\n",
            "platform.node_lost",
        ),
        (FRAMES + "kubernetes.ApiException: (503)\nReason: Service Unavailable\n", "service.unavailable"),
        (
            FRAMES + "google.BadRequest: 400 Transaction is aborted due to concurrent update against x",
            "service.lock_conflict",
        ),
        ("psql: error: FATAL:  sorry, too many clients already\n", "service.connections_exhausted"),
        (
            "dial tcp: lookup registry.example on 10.96.0.10:53: server misbehaving\n",
            "network.dns_temporary",
        ),
        (
            "java.net.UnknownHostException: metastore.prod: Temporary failure in name resolution\n",
            "network.dns_temporary",
        ),
        (
            "read tcp 10.0.0.2:4242->10.0.0.3:5432: read: connection reset by peer\n",
            "network.connection_reset",
        ),
        ("curl: (56) Recv failure: Connection reset by peer\n", "network.connection_reset"),
        ("npm ERR! code ECONNRESET\nnpm ERR! network aborted\n", "service.download_interrupted"),
        (
            'Failed to pull image "a:1": rpc error: code = Unknown desc = net/http: TLS handshake timeout\n',
            "service.download_interrupted",
        ),
        ("ERROR: The remote server returned an error: (503) Server Unavailable.\n", "service.unavailable"),
        (
            FRAMES
            + "databricks.sql.exc.RequestError: Error during request to server: HTTP 503 TEMPORARILY_UNAVAILABLE",
            "service.unavailable",
        ),
        (
            FRAMES
            + "snowflake.connector.errors.OperationalError: 250001 (08001): Failed to connect to DB: x.example:443. "
            + "HTTP 503: Service Unavailable",
            "service.unavailable",
        ),
        ("E: Failed to fetch http://deb.example/x.deb  503  Service Unavailable\n", "service.download_interrupted"),
        (
            'Error response from daemon: Get "https://registry.example/v2/": net/http: TLS handshake timeout\n',
            "service.download_interrupted",
        ),
        (
            "ERROR Cluster: a.SparkException: ExecutorLostFailure Reason: Container released on a *lost* node\n",
            "platform.node_lost",
        ),
        (
            FRAMES
            + "io.delta.MetadataChangedException: The metadata of the table has been changed by a concurrent update.",
            "service.commit_conflict",
        ),
    ],
)
def test_what_passes_by_itself_is_recognised(rules: RuleSet, log: str, expected: str) -> None:
    cause = cause_of(rules, log)

    assert (cause.id, cause.retry_hint, cause.ruled_out_by) == (expected, RetryHint.LIKELY, ())


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            FRAMES + "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://x",
            "config.credentials_invalid",
        ),
        (
            FRAMES + "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://x",
            "config.object_missing",
        ),
        (
            FRAMES + "botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the X operation",
            "config.permission_denied",
        ),
        (FRAMES + "socket.gaierror: [Errno -2] Name or service not known", "config.endpoint_wrong"),
        ("java.net.UnknownHostException: metastore.prod\n\tat a.B.c(D.java:1)\n", "config.endpoint_wrong"),
        ("dial tcp: lookup db.exmaple on 10.96.0.10:53: no such host\n", "config.endpoint_wrong"),
        (
            'Error from server (Forbidden): pods is forbidden: User "x" cannot list resource "pods"\n',
            "config.permission_denied",
        ),
        (
            FRAMES
            + "google.api_core.exceptions.Forbidden: 403 Quota exceeded: Your project exceeded quota for free query "
            "bytes scanned.",
            "quota.exhausted",
        ),
        (
            FRAMES + "ssl.SSLError: [SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1000)",
            "config.endpoint_wrong",
        ),
        (FRAMES + "FileNotFoundError: [Errno 2] No such file or directory: 'orders.csv'", "data.file_missing"),
        (FRAMES + "KeyError: 'net'", "code.exception"),
        (FRAMES + "ModuleNotFoundError: No module named 'x'", "code.dependency_conflict"),
        (FRAMES + RESET + DURING + FRAMES + "KeyError: 'status'", "code.exception"),
        (FRAMES + "KeyError: 'x'" + DIRECT + FRAMES + "RuntimeError: Connection reset by peer", "code.exception"),
        (
            FRAMES + "psycopg2.OperationalError: could not connect to server: Connection refused\n",
            "network.connection_refused",
        ),
        (
            "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n",
            "code.exception",
        ),
        (
            "thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: \"Connection reset by peer\"', x.rs:4:5\n",
            "code.exception",
        ),
        (
            "Error: Cannot find module 'express'\n    at Module._resolve (node:internal/x:1:15)\n",
            "code.dependency_conflict",
        ),
        (
            "Error in library(dplyr) : there is no package called 'dplyr'\nExecution halted\n",
            "code.dependency_conflict",
        ),
        ("./load.sh: line 3: foo: command not found\n", "code.dependency_conflict"),
        (
            'Exception in thread "main" a.b.JobException: aborted\n\tat a.b(C.java:1)\nCaused by: a.NullPointerException\n',
            "code.exception",
        ),
        ("12:00:01    Got 105 results, configured to fail if != 0\n", "data.quality_check_failed"),
        ("ERROR: toomanyrequests: You have reached your pull rate limit. 429 Too Many Requests\n", "quota.exhausted"),
    ],
)
def test_what_stays_is_told_apart(rules: RuleSet, log: str, expected: str) -> None:
    cause = cause_of(rules, log)

    assert cause.id == expected
    assert cause.retry_hint is not RetryHint.LIKELY
